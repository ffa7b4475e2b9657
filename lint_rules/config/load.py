"""Finds the configuration file and reads it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from lint_rules.config.errors import ConfigError, ConfigSyntaxError, UnreadableConfigError, WrongValueError
from lint_rules.config.model import Config
from lint_rules.findings import Place

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["find_config", "load_config", "read_config"]


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
    return _read_with_bases(path, name, ())


def _read_with_bases(path: Path, name: str, below: tuple[tuple[Path, str], ...]) -> tuple[Config, list[ConfigError]]:
    """The configuration in a file, with those that it extends; `below` are the files that led here."""
    try:
        text = _read(path, name, of=below[-1][1] if below else "")
        table = _tool_table(_parse_toml(text, name), name)
        if table is None:
            message = "has no [tool.carryall] and no [[tool.carryall.plan]]; add one"
            raise UnreadableConfigError(message, Place(name, 1))
    except ConfigError as exc:
        return Config(path=path), [exc]
    from lint_rules.config.merge import merged
    from lint_rules.config.reader import Reader

    reader = Reader(name, text)
    config = reader.config(table, path)
    errors = sorted(reader.errors, key=lambda error: error.place)
    chain = (*below, (path, name))
    bases = [each for given in reader.extends if (each := _base(given, chain, reader.place_of("extend"), errors))]
    # The last one that is named is the nearest: it wins over those before it.
    for base_path, base_name in reversed(bases):
        base, more = _read_with_bases(base_path, base_name, chain)
        config = merged(base, config)
        errors += more
    return config, errors


def _base(
    given: str, chain: tuple[tuple[Path, str], ...], place: Place, errors: list[ConfigError]
) -> tuple[Path, str] | None:
    """The path and the name of a file that is extended; None, and an error, where that would never end."""
    path, name = chain[-1]
    base = path.parent / given
    known = [os.path.realpath(each) for each, _ in chain]
    if os.path.realpath(base) in known:
        names = " -> ".join([*(each for _, each in chain), given])
        errors.append(ConfigError(f"'extend' leads in a circle: {names}; take one of them out", place))
        return None
    return base, os.path.normpath(os.path.join(os.path.dirname(name), given)).replace(os.sep, "/")


def find_config(start: Path) -> Path | None:
    """The nearest `pyproject.toml`, from `start` upward, with a `[tool.carryall]` in it.

    One that mentions carryall and is no TOML is returned too, since it can be meant: loading it raises.
    """
    for folder in (start, *start.parents):
        path = folder / "pyproject.toml"
        try:
            data = path.read_bytes()
        except OSError:
            if os.path.lexists(path) and not path.is_dir():
                return path  # it is there and cannot be read: loading it says so
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


def _read(path: Path, name: str, of: str = "") -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise ConfigSyntaxError(f"not UTF-8 at byte {exc.start}; TOML must be", Place(name, 1)) from exc
    except FileNotFoundError as exc:
        advice = f"check 'extend' in {of}" if of else "check the path given to --config"
        message = f"no such configuration file; {advice}"
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
