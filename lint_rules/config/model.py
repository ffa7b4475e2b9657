"""What the configuration says, as data."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lint_rules.findings import Place

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["KINDS", "Config", "PlanDeclaration"]

#: The kinds that a declaration can give to fields, each a key of its table.
KINDS = ("transferable", "fact", "derived", "borrowed", "ephemeral")


@dataclass(frozen=True, slots=True)
class PlanDeclaration:
    """One `[[tool.carryall.plan]]`: a class that one may not edit, and the kinds of its fields.

    `class_name` is dotted (`package.module.Name`) or names a file (`path/to/file.py::Name`); `origin` is the
    table's first line.
    """

    class_name: str
    transferable: tuple[str, ...]
    fact: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    borrowed: tuple[str, ...] = ()
    ephemeral: tuple[str, ...] = ()
    origin: Place = field(default=Place("pyproject.toml", 1), kw_only=True)


@dataclass(frozen=True, slots=True)
class Config:
    """What `[tool.carryall]` says; the defaults are those of a project that says nothing.

    `select` is None for "all rules". `parse_all` is None for "auto": the prefilter decides which files are parsed
    in full. `path` is the file that was read, or None.
    """

    plans: tuple[PlanDeclaration, ...] = ()
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    materializers: tuple[str, ...] = ()
    parse_all: bool | None = None
    path: Path | None = None

    def chooses(self, code: str) -> bool:
        """Whether the rule with this code is asked for; `OWN0` stands for all that start with it."""
        if self.select is not None and not code.startswith(self.select):
            return False
        return not code.startswith(self.ignore)

    def digest(self) -> str:
        """A key that changes with anything that can change a result; not with where the file is."""
        told = (self.plans, self.select, self.ignore, self.exclude, self.materializers, self.parse_all)
        return hashlib.blake2b(repr(told).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
