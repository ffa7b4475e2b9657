"""From the parsed table to a `Config`, with a message for everything that is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from lint_rules.config.errors import ConfigError, UnknownKeyError, WrongValueError
from lint_rules.config.model import KINDS, Config, PlanDeclaration
from lint_rules.config.toml_lines import lines_outside_strings
from lint_rules.findings import Place

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Reader"]

_P = ParamSpec("_P")
_T = TypeVar("_T")
_D = TypeVar("_D")

_PLAN_KEYS = ("class", *KINDS)
#: `mypy` is the table of the mypy plugin, which reads it itself.
_KEYS = ("plan", "select", "ignore", "exclude", "materializers", "parse-all", "mypy")
_CODE = re.compile(r"[A-Z]+\d*\Z")


class Reader:
    """Turns the parsed table into a Config, and remembers where things stand for the messages."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._lines = lines_outside_strings(text)
        header = re.compile(rf"\s*\[\[{_dotted('tool', 'carryall', 'plan')}\]\]")
        self.errors: list[ConfigError] = []
        self._headers = [number for number, line in self._lines if header.match(line)]

    def config(self, table: Mapping[str, object], path: Path) -> Config:
        """The configuration; a value that is wrong is left out, and recorded in `errors`."""
        start = self._find(rf"\[{_dotted('tool', 'carryall')}\]") or 1
        for key in table:
            if key not in _KEYS:
                where = self._key_place(key, start)
                self.errors.append(UnknownKeyError(key, _KEYS, where, table="[tool.carryall]"))
        return Config(
            plans=self._plans(table.get("plan", []), start),
            select=self._or(None, self._codes, table, "select", start) if "select" in table else None,
            ignore=self._or((), self._codes, table, "ignore", start),
            exclude=self._or((), self._strings, table, "exclude", start, "a list of glob patterns"),
            materializers=self._or((), self._functions, table, start),
            parse_all=self._or(None, self._parse_all, table.get("parse-all", "auto"), start),
            path=path,
        )

    def _or(self, default: _D, read: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T | _D:
        try:
            return read(*args, **kwargs)
        except ConfigError as exc:
            self.errors.append(exc)
            return default

    def _plans(self, value: object, start: int) -> tuple[PlanDeclaration, ...]:
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            wanted = "an array of tables ([[tool.carryall.plan]])"
            self.errors.append(WrongValueError("plan", value, wanted, self._key_place("plan", start)))
            return ()
        plans: dict[str, PlanDeclaration] = {}
        for index, each in enumerate(value):
            plan = self._or(None, self._plan, each, self._origin(index, start))
            if plan is None:
                continue
            earlier = plans.setdefault(plan.class_name, plan)
            if earlier is not plan:
                first = f"first in line {earlier.origin.line}"
                message = f"{plan.class_name!r} is declared twice, {first}; merge the tables"
                self.errors.append(ConfigError(message, plan.origin))
        return tuple(plans.values())

    def _plan(self, table: Mapping[str, object], origin: Place) -> PlanDeclaration:
        for key in table:
            if key not in _PLAN_KEYS:
                where = self._key_place(key, origin.line)
                self.errors.append(UnknownKeyError(key, _PLAN_KEYS, where, table="[[tool.carryall.plan]]"))
        if "class" not in table:
            raise ConfigError("[[tool.carryall.plan]] without a 'class'; name the plan class", origin)
        class_name = table["class"]
        if not isinstance(class_name, str) or not _is_reference(class_name):
            wanted = 'a dotted name ("package.module.Name") or "path/to/file.py::Name"'
            raise WrongValueError("class", class_name, wanted, self._key_place("class", origin.line))
        kinds = {kind: self._fields(table, kind, origin.line) for kind in KINDS}
        seen: dict[str, str] = {}
        for kind, names in kinds.items():
            for each in names:
                if each in seen:
                    also = f"twice as {kind}" if seen[each] == kind else f"both {seen[each]} and {kind}"
                    where = self._key_place(kind, origin.line)
                    raise ConfigError(f"field {each!r} of {class_name!r} is declared {also}; keep one", where)
                seen[each] = kind
        if not seen:
            message = f"the declaration of {class_name!r} names no field; list them under 'transferable'"
            raise ConfigError(message, origin)
        return PlanDeclaration(class_name, **kinds, origin=origin)

    def _fields(self, table: Mapping[str, object], kind: str, start: int) -> tuple[str, ...]:
        names = self._strings(table, kind, start, "a list of field names")
        for each in names:
            if not each.isidentifier():
                raise WrongValueError(kind, each, "a list of field names", self._key_place(kind, start))
        return names

    def _codes(self, table: Mapping[str, object], key: str, start: int) -> tuple[str, ...]:
        wanted = 'a list of rule codes, such as ["OWN001"]'
        codes = self._strings(table, key, start, wanted)
        if key == "select" and not codes:
            raise WrongValueError(key, [], f"{wanted}, with one at least", self._key_place(key, start))
        for each in codes:
            if not _CODE.match(each):
                raise WrongValueError(key, each, wanted, self._key_place(key, start))
        return codes

    def _functions(self, table: Mapping[str, object], start: int) -> tuple[str, ...]:
        wanted = 'a list of functions, as "package.module.function" or "path/to/file.py::function"'
        names = self._strings(table, "materializers", start, wanted)
        for each in names:
            if not _is_reference(each):
                raise WrongValueError("materializers", each, wanted, self._key_place("materializers", start))
        return names

    def _parse_all(self, value: object, start: int) -> bool | None:
        if value == "auto":
            return None
        if not isinstance(value, bool):
            raise WrongValueError("parse-all", value, 'true, false or "auto"', self._key_place("parse-all", start))
        return value

    def _strings(self, table: Mapping[str, object], key: str, start: int, wanted: str) -> tuple[str, ...]:
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise WrongValueError(key, value, wanted, self._key_place(key, start))
        return tuple(value)

    def _origin(self, index: int, start: int) -> Place:
        if index < len(self._headers):
            return Place(self._name, self._headers[index])
        return self._key_place("plan", start)  # written as `plan = [{...}]`

    def _key_place(self, key: str, start: int) -> Place:
        return Place(self._name, self._find(rf"[\"']?{re.escape(key)}[\"']?\s*[=.]", start) or start)

    def _find(self, pattern: str, start: int = 1) -> int | None:
        wanted = re.compile(r"\s*" + pattern)
        return next((number for number, line in self._lines if number >= start and wanted.match(line)), None)


def _dotted(*parts: str) -> str:
    return r"\s*" + r"\s*\.\s*".join(rf"[\"']?{part}[\"']?" for part in parts) + r"\s*"


def _is_reference(name: str) -> bool:
    """Whether this is `package.module.Name` or `path/to/file.py::Name` (`Outer.Inner` for a nested class)."""
    if "::" in name:
        path, _, inner = name.partition("::")
        return path.endswith(".py") and _is_dotted(inner)
    return "." in name and _is_dotted(name)


def _is_dotted(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))
