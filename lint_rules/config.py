"""The configuration: `[tool.carryall]` in `pyproject.toml`, or in a file named with `--config`."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ParamSpec, TypeVar

from lint_rules.findings import Place

__all__ = [
    "Config",
    "ConfigError",
    "ConfigSyntaxError",
    "PlanDeclaration",
    "UnknownKeyError",
    "UnreadableConfigError",
    "WrongValueError",
    "find_config",
    "load_config",
    "read_config",
]

_P = ParamSpec("_P")
_T = TypeVar("_T")
_D = TypeVar("_D")

_KINDS = ("transferable", "fact", "derived", "borrowed", "ephemeral")
_PLAN_KEYS = ("class", *_KINDS)
_KEYS = ("plan", "select", "ignore", "exclude", "materializers", "parse-all")
_CODE = re.compile(r"[A-Z]+\d*\Z")


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

    def digest(self) -> str:
        """A key that changes with anything that can change a result; not with where the file is."""
        told = (self.plans, self.select, self.ignore, self.exclude, self.materializers, self.parse_all)
        return hashlib.blake2b(repr(told).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class ConfigError(Exception):
    """The configuration cannot be used. `place` says where, as far as known; the message is one line."""

    def __init__(self, message: str, place: Place) -> None:
        super().__init__(f"{place}: {message}")
        self.message: str = message
        self.place: Place = place


class UnreadableConfigError(ConfigError):
    """The file is not there, or cannot be read."""


class ConfigSyntaxError(ConfigError):
    """The file is not TOML."""


class UnknownKeyError(ConfigError):
    """A key that means nothing here. Carries the key and those that are known."""

    def __init__(self, key: str, known: Iterable[str], place: Place, *, table: str) -> None:
        self.key: str = key
        self.known: tuple[str, ...] = tuple(known)
        near = difflib.get_close_matches(key, self.known, n=1, cutoff=0.5)
        advice = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(self.known)}"
        super().__init__(f"unknown key {key!r} in {table}; {advice}", place)


class WrongValueError(ConfigError):
    """A key with a value of the wrong type or form. Carries the key, the value and what is accepted."""

    def __init__(self, key: str, value: object, wanted: str, place: Place) -> None:
        self.key: str = key
        self.value: object = value
        self.wanted: str = wanted
        shown = repr(value)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        super().__init__(f"{key!r} must be {wanted}, not {shown}", place)


def load_config(start: Path, explicit: Path | None) -> Config:
    """The configuration for a run on `start`: from `explicit`, or else from the nearest project file upward.

    A directory without any project file has the default configuration. Raises ConfigError, which names the file,
    the line as far as known, and what is accepted instead.
    """
    config, errors = read_config(start, explicit)
    if errors:
        raise errors[0]
    return config


def read_config(start: Path, explicit: Path | None) -> tuple[Config, list[ConfigError]]:
    """As `load_config`, but nothing is raised: what can be used of the configuration, and all that is wrong with it."""
    path = explicit if explicit is not None else find_config(start)
    if path is None:
        return Config(), []
    name = path.as_posix() if explicit is not None else path.name
    try:
        text = _read(path, name)
        table = _tool_table(_parse_toml(text, name), name)
        if table is None:
            message = "has no [tool.carryall] and no [[tool.carryall.plan]]; add one"
            raise UnreadableConfigError(message, Place(name, 1))
    except ConfigError as exc:
        return Config(path=path), [exc]
    reader = _Reader(name, text)
    config = reader.config(table, path)
    return config, sorted(reader.errors, key=lambda error: error.place)


def find_config(start: Path) -> Path | None:
    """The nearest `pyproject.toml`, from `start` upward, with a `[tool.carryall]` in it.

    One that mentions carryall and is no TOML is returned too, since it can be meant: loading it raises.
    """
    for folder in (start, *start.parents):
        path = folder / "pyproject.toml"
        try:
            data = path.read_bytes()
        except OSError:
            continue
        if b"carryall" not in data:
            continue
        try:
            if _tool_table(_parse_toml(data.decode(), path.name), path.name) is None:
                continue
        except (ConfigError, UnicodeDecodeError):
            pass
        return path
    return None


def _read(path: Path, name: str) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise ConfigSyntaxError(f"not UTF-8 at byte {exc.start}; TOML must be", Place(name, 1)) from exc
    except FileNotFoundError as exc:
        message = "no such configuration file; check the path given to --config"
        raise UnreadableConfigError(message, Place(name, 1)) from exc
    except OSError as exc:
        raise UnreadableConfigError(f"cannot be read: {exc.strerror or exc}", Place(name, 1)) from exc


def _parse_toml(text: str, name: str) -> dict[str, object]:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        at = re.search(r"\(at line (\d+), column (\d+)\)", str(exc))
        place = Place(name, int(at[1]), int(at[2])) if at else Place(name, text.count("\n") + 1)
        raise ConfigSyntaxError(f"not valid TOML: {str(exc).partition(' (at ')[0]}", place) from exc
    except RecursionError as exc:
        raise ConfigSyntaxError("not valid TOML: nested too deeply", Place(name, 1)) from exc


def _tool_table(document: Mapping[str, object], name: str) -> dict[str, object] | None:
    tool = document.get("tool")
    if not isinstance(tool, dict) or "carryall" not in tool:
        return None
    table = tool["carryall"]
    if not isinstance(table, dict):
        raise WrongValueError("tool.carryall", table, "a table", Place(name, 1))
    return table


class _Reader:
    """Turns the parsed table into a Config, and remembers where things stand for the messages."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._lines = _lines_outside_strings(text)
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
        kinds = {kind: self._fields(table, kind, origin.line) for kind in _KINDS}
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


def _lines_outside_strings(text: str) -> list[tuple[int, str]]:
    """The numbered lines of a TOML text that do not start inside a multi-line string.

    `tomllib` keeps no positions; this is enough to find a header or a key again.
    """
    lines: list[tuple[int, str]] = []
    within: str | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if within is None:
            lines.append((number, line))
        at = 0
        while True:
            if within is not None:
                at = line.find(within, at)
                if at < 0:
                    break
                at, within = at + 3, None
            opening = _STRING_START.match(line, at)
            if opening is None:
                break
            at, within = opening.end(), opening[1]
    return lines


# From anywhere outside a string to the next opening of a multi-line one, in the same line and not in a comment.
_STRING_START = re.compile(
    r"""(?:[^"'#]|"(?!"")(?:[^"\\]|\\.)*"|'(?!'')[^']*')*?(\"\"\"|''')""",
)


def _is_reference(name: str) -> bool:
    """Whether this is `package.module.Name` or `path/to/file.py::Name` (`Outer.Inner` for a nested class)."""
    if "::" in name:
        path, _, inner = name.partition("::")
        return path.endswith(".py") and _is_dotted(inner)
    return "." in name and _is_dotted(name)


def _is_dotted(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))
