"""What the configuration says, as data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lint_rules.config.globs import belongs
from lint_rules.findings import Place

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["KINDS", "Config", "Option", "PathRules", "PlanDeclaration"]

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
class Option:
    """One option of one rule, from `[tool.carryall.options.CODE]` or the `options` of a per-path table."""

    code: str
    name: str
    value: bool | int | float | str | tuple[str, ...]
    origin: Place = field(default=Place("pyproject.toml", 1), kw_only=True, compare=False)


@dataclass(frozen=True, slots=True)
class PathRules:
    """One `[[tool.carryall.per-path]]`: what is different for the files that its patterns fit.

    `select` is None where the table has none. `origin` is the table's first line.
    """

    paths: tuple[str, ...]
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    origin: Place = field(default=Place("pyproject.toml", 1), kw_only=True, compare=False)

    def applies(self, name: str) -> bool:
        """Whether a file, by its name in the tree, is meant."""
        return belongs(name, self.paths)

    def chooses(self, code: str) -> bool:
        """Whether a rule stays on in those files."""
        return _chosen(code, self.select, self.ignore)


@dataclass(frozen=True, slots=True)
class Config:
    """What `[tool.carryall]` says; the defaults are those of a project that says nothing.

    `select` is None for "all rules". `parse_all` is None for "auto": the prefilter decides which files are parsed
    in full. `path` is the file that was read, or None; `extends` are those that it extends, nearest first. `origins`
    says where each key that was given stands.
    """

    plans: tuple[PlanDeclaration, ...] = ()
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    materializers: tuple[str, ...] = ()
    parse_all: bool | None = None
    per_path: tuple[PathRules, ...] = ()
    options: tuple[Option, ...] = ()
    baseline: Path | None = None
    path: Path | None = None
    extends: tuple[Path, ...] = ()
    origins: Mapping[str, Place] = field(default_factory=dict, compare=False, hash=False, repr=False)

    def chooses(self, code: str, name: str | None = None) -> bool:
        """Whether the rule with this code is asked for, in the file `name` if one is given.

        A code in the configuration stands for all that start with it: `OWN0`.
        """
        if not _chosen(code, self.select, self.ignore):
            return False
        return name is None or all(each.chooses(code) for each in self.per_path if each.applies(name))

    def option(self, code: str, name: str, path: str | None = None) -> Option | None:
        """The option of a rule, in the file `path` if one is given; None where nothing is configured."""
        found = [each for each in self.options if (each.code, each.name) == (code, name)]
        for table in self.per_path:
            if path is not None and table.applies(path):
                found += [each for each in table.options if (each.code, each.name) == (code, name)]
        return found[-1] if found else None

    def digest(self) -> str:
        """A key that changes with anything that can change a result; not with where the file is."""
        told = (
            self.plans,
            self.select,
            self.ignore,
            self.exclude,
            self.materializers,
            self.parse_all,
            [(each.paths, each.select, each.ignore, _values(each.options)) for each in self.per_path],
            _values(self.options),
        )
        return hashlib.blake2b(repr(told).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _chosen(code: str, select: tuple[str, ...] | None, ignore: tuple[str, ...]) -> bool:
    return (select is None or code.startswith(select)) and not code.startswith(ignore)


def _values(options: tuple[Option, ...]) -> list[tuple[str, str, object]]:
    return [(each.code, each.name, each.value) for each in options]
