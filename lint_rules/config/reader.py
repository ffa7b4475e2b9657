"""From the parsed table to a `Config`, with a message for everything that is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from lint_rules.config.errors import ConfigError, UnknownKeyError, WrongValueError
from lint_rules.config.model import KINDS, Config, Option, PathRules, PlanDeclaration
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
_KEYS = (
    "plan", "select", "ignore", "exclude", "materializers", "parse-all", "per-path", "options", "baseline", "extend",
    "mypy",
)  # fmt: skip
_PATH_KEYS = ("paths", "select", "ignore", "options")
_CODE = re.compile(r"[A-Z]+\d*\Z")


class Reader:
    """Turns the parsed table into a Config, and remembers where things stand for the messages."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._lines = lines_outside_strings(text)
        self.errors: list[ConfigError] = []
        #: The files that are to be read before this one, as written.
        self.extends: tuple[str, ...] = ()
        self._origins: dict[str, Place] = {}
        self._headers = self._tables("plan")
        self._path_headers = self._tables("per-path")

    def _tables(self, name: str) -> list[int]:
        header = re.compile(rf"\s*\[\[{_dotted('tool', 'carryall', name)}\]\]")
        return [number for number, line in self._lines if header.match(line)]

    def place_of(self, key: str) -> Place:
        """Where a key of the main table stands."""
        return self._origins.get(key, Place(self._name, 1))

    def config(self, table: Mapping[str, object], path: Path) -> Config:
        """The configuration; a value that is wrong is left out, and recorded in `errors`."""
        start = self._find(rf"\[{_dotted('tool', 'carryall')}\]") or 1
        for key in table:
            if key not in _KEYS:
                where = self._key_place(key, start)
                self.errors.append(UnknownKeyError(key, _KEYS, where, table="[tool.carryall]"))
        self._origins = {key: self._key_place(key, start) for key in table if key in _KEYS}
        self.extends = self._or((), self._extends, table, start)
        return Config(
            plans=self._plans(table.get("plan", []), start),
            select=self._or(None, self._codes, table, "select", start) if "select" in table else None,
            ignore=self._or((), self._codes, table, "ignore", start),
            exclude=self._or((), self._strings, table, "exclude", start, "a list of glob patterns"),
            materializers=self._or((), self._functions, table, start),
            parse_all=self._or(None, self._parse_all, table.get("parse-all", "auto"), start),
            per_path=self._per_path(table.get("per-path", []), start),
            options=self._options(table.get("options", {}), start, "[tool.carryall.options]"),
            baseline=self._or(None, self._baseline, table, start, path),
            path=path,
            origins=self._origins,
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

    def _per_path(self, value: object, start: int) -> tuple[PathRules, ...]:
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            wanted = "an array of tables ([[tool.carryall.per-path]])"
            self.errors.append(WrongValueError("per-path", value, wanted, self._key_place("per-path", start)))
            return ()
        found = []
        for index, each in enumerate(value):
            given = index < len(self._path_headers)
            origin = Place(self._name, self._path_headers[index]) if given else self._key_place("per-path", start)
            rules = self._or(None, self._path_rules, each, origin)
            if rules is not None:
                found.append(rules)
        return tuple(found)

    def _path_rules(self, table: Mapping[str, object], origin: Place) -> PathRules:
        title = "[[tool.carryall.per-path]]"
        for key in table:
            if key not in _PATH_KEYS:
                where = self._key_place(key, origin.line)
                self.errors.append(UnknownKeyError(key, _PATH_KEYS, where, table=title))
        paths = self._strings(table, "paths", origin.line, "a list of glob patterns")
        if not paths:
            raise ConfigError(f"{title} without 'paths'; list the patterns of the files that it is for", origin)
        if not table.keys() - {"paths"}:
            raise ConfigError(f"{title} changes nothing; add 'ignore', 'select' or 'options'", origin)
        return PathRules(
            paths,
            select=self._codes(table, "select", origin.line) if "select" in table else None,
            ignore=self._codes(table, "ignore", origin.line),
            options=self._options(table.get("options", {}), origin.line, f"the options of {title}"),
            origin=origin,
        )

    def _options(self, value: object, start: int, title: str) -> tuple[Option, ...]:
        """`CODE = {name = value}`; whether the rule has such an option is known only when the rules are loaded."""
        if not isinstance(value, dict):
            wanted = "a table for each rule, such as [tool.carryall.options.OWN005]"
            self.errors.append(WrongValueError("options", value, wanted, self._key_place("options", start)))
            return ()
        found = []
        for code, table in value.items():
            where = self._key_place("options", start)
            if not re.fullmatch(r"[A-Z]+\d+", code) or not isinstance(table, dict):
                message = f"{title} has {code!r}; each of its keys is a rule code with a table"
                self.errors.append(ConfigError(message, where))
                continue
            header = self._find(rf"\[{_dotted('tool', 'carryall', 'options', code)}\]")
            for name, each in table.items():
                place = self._key_place(name, header or where.line)
                listed = isinstance(each, list) and all(isinstance(item, str) for item in each)
                if not listed and not isinstance(each, bool | int | float | str):
                    wanted = "a number, a text, true or false, or a list of texts"
                    self.errors.append(WrongValueError(name, each, wanted, place))
                    continue
                found.append(Option(code, name, tuple(each) if isinstance(each, list) else each, origin=place))
        return tuple(found)

    def _baseline(self, table: Mapping[str, object], start: int, path: Path) -> Path | None:
        value = table.get("baseline")
        if value is None:
            return None
        if not isinstance(value, str) or not value:
            wanted = "the path of a file, from the folder of this one"
            raise WrongValueError("baseline", value, wanted, self._key_place("baseline", start))
        return path.parent / value

    def _extends(self, table: Mapping[str, object], start: int) -> tuple[str, ...]:
        value = table.get("extend", [])
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, list) or not all(isinstance(each, str) and each for each in names):
            wanted = "the path of a TOML file, or a list of them"
            raise WrongValueError("extend", value, wanted, self._key_place("extend", start))
        return tuple(names)

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
