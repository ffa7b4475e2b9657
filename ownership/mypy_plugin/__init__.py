"""The mypy plugin: what the checker says about plans, where mypy knows the types.

    [tool.mypy]
    plugins = ["ownership.mypy_plugin"]

Bodies of functions without annotations are looked at only with `check_untyped_defs = true`, which is mypy's rule. The
codes are `ownership-drop`, `-return`, `-copy`, `-rebind`, `-identity`, `-unmarked`, `-default` and `-leak`; the usual
`# type: ignore[ownership-drop]` and `disable_error_code` apply. Needs `pip install 'carryall[mypy]'`.
"""

from __future__ import annotations

from ownership.mypy_plugin._plugin import OwnershipPlugin

__all__ = ["OwnershipPlugin", "plugin"]


def plugin(version: str) -> type[OwnershipPlugin]:
    """The entry point that mypy asks for, with its own version as the argument."""
    return OwnershipPlugin
