"""What `pyproject.toml` says to the plugin: the declarations of the checker, and `[tool.carryall.mypy]`.

    [[tool.carryall.plan]]
    class = "package.module.Name"          # or "path/to/file.py::Name"
    transferable = ["fold", "pack"]

    [tool.carryall]
    materializers = ["package.module.materialize"]

    [tool.carryall.mypy]
    ignore = ["ownership-rebind"]          # codes that are not wanted
    exclude = ["tests"]                    # files the plugin says nothing about; `[tool.carryall] exclude` counts, too

`CARRYALL_CONFIG` names another file to read.
"""

from __future__ import annotations

import fnmatch
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ownership.errors import OwnershipError
from ownership.kinds import Kind
from ownership.mypy_plugin._codes import CODES, UNCHECKED

if TYPE_CHECKING:
    from mypy.nodes import TypeInfo

__all__ = ["CONFIG_VARIABLE", "PluginConfigError", "Settings", "load_settings"]

#: The environment variable that names the file to read, in place of the nearest `pyproject.toml`.
CONFIG_VARIABLE = "CARRYALL_CONFIG"

_KEYS = ("exclude", "ignore")
_KIND_KEYS = tuple(kind.value for kind in Kind)


class PluginConfigError(OwnershipError, ValueError):
    """The configuration of the plugin cannot be read, or says something that it does not understand."""

    def __init__(self, *, path: str, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"{path}: {problem}")


@dataclass(frozen=True, slots=True)
class Settings:
    """The configuration as data; the defaults are those of a project that says nothing.

    `classes` has the declared kinds by dotted class name, `files` by (path in the project, class name).
    """

    classes: Mapping[str, Mapping[str, Kind]] = field(default_factory=dict)
    files: Mapping[tuple[str, str], Mapping[str, Kind]] = field(default_factory=dict)
    materializers: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    exclude: tuple[str, ...] = ()
    root: str = ""

    def kinds_of(self, info: TypeInfo) -> Mapping[str, Kind]:
        """The kinds that are declared for the own fields of a class."""
        found = self.classes.get(info.fullname)
        if found is not None or not self.files:
            return found or {}
        inner = info.fullname.removeprefix(f"{info.module_name}.")
        module = info.module_name.replace(".", "/")
        for (path, name), kinds in self.files.items():
            stem = path.removesuffix(".py").removesuffix("/__init__")
            # A module may be named from any folder above it, and a file from any root: the shorter is the longer's end.
            if name == inner and (f"/{stem}".endswith(f"/{module}") or f"/{module}".endswith(f"/{stem}")):
                return kinds
        return {}

    def is_excluded(self, path: str) -> bool:
        """Whether nothing is to be said about this file."""
        if not self.exclude:
            return False
        name = Path(os.path.relpath(path, self.root) if self.root else path).as_posix()
        parts = name.split("/")
        return any(
            fnmatch.fnmatch(name, pattern) or fnmatch.fnmatch("/".join(parts[:count]), pattern)
            for pattern in self.exclude
            for count in range(1, len(parts) + 1)
        )

    def digest(self) -> str:
        """Text that changes with anything that can change a message."""
        return repr(
            (
                sorted((name, sorted((f, k.value) for f, k in kinds.items())) for name, kinds in self.classes.items()),
                sorted((key, sorted((f, k.value) for f, k in kinds.items())) for key, kinds in self.files.items()),
                sorted(self.materializers),
                sorted(self.ignored),
                self.exclude,
            )
        )


def load_settings(config_file: str | None) -> Settings:
    """The settings that apply to a run of mypy with this configuration file.

    Raises:
        PluginConfigError: the file is no TOML, or a key or value is none that is known.

    """
    path = _find(config_file)
    if path is None:
        return Settings()
    try:
        document = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as exc:
        raise PluginConfigError(path=str(path), problem=f"cannot be read: {exc.strerror or exc}") from exc
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise PluginConfigError(path=str(path), problem=f"not valid TOML: {exc}") from exc
    tool = document.get("tool", {})
    table = tool.get("carryall", {}) if isinstance(tool, dict) else {}
    return _Reader(path).settings(table)


def _find(config_file: str | None) -> Path | None:
    named = os.environ.get(CONFIG_VARIABLE)
    if named:
        return Path(named)
    start = Path(config_file).resolve().parent if config_file else Path.cwd()
    for folder in dict.fromkeys((start, *start.parents, Path.cwd(), *Path.cwd().parents)):
        path = folder / "pyproject.toml"
        try:
            data = path.read_bytes()
        except OSError:
            continue
        if re.search(rb"tool\s*\.\s*carryall|carryall\s*[.=]", data):
            return path
    return None


class _Reader:
    """Reads the tables and refuses what it does not know: a misspelt key would be a check that never happens."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def settings(self, table: Any) -> Settings:
        if not isinstance(table, dict):
            raise self._error("[tool.carryall] must be a table")
        own = table.get("mypy", {})
        if not isinstance(own, dict):
            raise self._error("[tool.carryall.mypy] must be a table")
        for key in own:
            if key not in _KEYS:
                raise self._error(f"[tool.carryall.mypy] has no key {key!r}; it has {', '.join(_KEYS)}")
        known = [code.code for code in (*CODES, UNCHECKED)]
        ignored = self._strings(own, "ignore")
        for code in ignored:
            if code not in known:
                raise self._error(f"ignore = [{code!r}]: no such code; there are {', '.join(known)}")
        classes: dict[str, dict[str, Kind]] = {}
        files: dict[tuple[str, str], dict[str, Kind]] = {}
        plans = table.get("plan", [])
        if not isinstance(plans, list) or not all(isinstance(each, dict) for each in plans):
            raise self._error("plan must be an array of tables, [[tool.carryall.plan]]")
        for each in plans:
            name, kinds = self._declaration(each)
            path, separator, inner = name.partition("::")
            if separator:
                files[path.removeprefix("./"), inner] = kinds
            else:
                classes[name] = kinds
        return Settings(
            classes=classes,
            files=files,
            materializers=frozenset(self._strings(table, "materializers")),
            ignored=frozenset(ignored),
            exclude=(*self._strings(table, "exclude"), *self._strings(own, "exclude")),
            root=str(self._path.resolve().parent),
        )

    def _declaration(self, table: dict[str, Any]) -> tuple[str, dict[str, Kind]]:
        name = table.get("class")
        if not isinstance(name, str) or not name:
            raise self._error("[[tool.carryall.plan]] without a 'class'; name the plan class")
        kinds: dict[str, Kind] = {}
        for key in table:
            if key != "class" and key not in _KIND_KEYS:
                raise self._error(f"the declaration of {name!r} has no key {key!r}; it has {', '.join(_KIND_KEYS)}")
        for kind in Kind:
            for each in self._strings(table, kind.value):
                if each in kinds:
                    raise self._error(f"field {each!r} of {name!r} is declared twice; keep one")
                kinds[each] = kind
        return name, kinds

    def _strings(self, table: dict[str, Any], key: str) -> list[str]:
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self._error(f"{key} = {value!r}: wanted a list of strings")
        return value

    def _error(self, problem: str) -> PluginConfigError:
        return PluginConfigError(path=self._path.name, problem=problem)
