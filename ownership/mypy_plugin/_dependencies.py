"""What the daemon must check again: the functions that were judged, when a plan that they handle changes.

mypy itself does not connect a function that copies a plan with the plan's other fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mypy.server.trigger import make_trigger

if TYPE_CHECKING:
    from mypy.nodes import TypeInfo

__all__ = ["depend_on"]

#: Members whose types change with every field and every mark.
_CONSTRUCTORS = ("__init__", "__new__", "__mypy-replace", "__attrs_init__")


def depend_on(api: Any, info: TypeInfo) -> None:
    """Make the function that is being checked depend on the fields of a class and of its bases."""
    target = api.tscope.current_target()
    known: dict[str, set[str]] = api.tree.plugin_deps
    for base in info.mro[:-1]:
        names = [name for name in base.names if not name.startswith("__")]
        for name in ("", *(f".{each}" for each in (*_CONSTRUCTORS, *names))):
            known.setdefault(make_trigger(f"{base.fullname}{name}"), set()).add(target)
