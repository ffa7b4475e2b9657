"""The mypy plugin: what the checker says about plans, where mypy knows the types.

    [tool.mypy]
    plugins = ["ownership.mypy_plugin"]

Bodies of functions without annotations are looked at only with `check_untyped_defs = true`, which is mypy's rule. The
codes are `ownership-drop`, `-return`, `-copy`, `-rebind`, `-identity`, `-unmarked`, `-default` and `-leak`; the usual
`# type: ignore[ownership-drop]` and `disable_error_code` apply. A ninth, `ownership-unchecked`, says that a function
could not be looked at: it is too large, or the plugin is wrong. Needs `pip install 'carryall[mypy]'`.

Out of reach: bodies of functions in other modules, which mypy may have from its cache without a body, so that an
explicit `Absent` in a helper elsewhere is taken to be on purpose; round trips through `to_dict`, `__getstate__` and
their like; the keys that the filter of a comprehension lets pass; one single attribute that is put into a plan from an
object without a type. A carrier that is made anew under `if other_carrier is None` is reported, as by the checker.
"""

from __future__ import annotations

from ownership.mypy_plugin._plugin import OwnershipPlugin

__all__ = ["OwnershipPlugin", "plugin"]


def plugin(version: str) -> type[OwnershipPlugin]:
    """The entry point that mypy asks for, with its own version as the argument."""
    return OwnershipPlugin
