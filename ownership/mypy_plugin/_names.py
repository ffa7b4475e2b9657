"""Full names of functions that copy a record: the hooks ask for them, and so does the interpreter."""

from __future__ import annotations

__all__ = ["ASDICT", "COPY", "DEEPCOPY", "REPLACE"]

REPLACE = frozenset(
    {"dataclasses.replace", "copy.replace", "attr.evolve", "attrs.evolve", "attr.assoc", "attr._make.evolve"}
)
COPY = frozenset({"copy.copy"})
DEEPCOPY = frozenset({"copy.deepcopy"})
ASDICT = frozenset({"dataclasses.asdict", "attr.asdict", "attrs.asdict"})
