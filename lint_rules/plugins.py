"""Rules of other packages: entry points of the group `carryall.rules`.

Each names a `Rule`, or a list of them. The installed packages are searched without `importlib.metadata`, which would
take longer to import than a warm run takes altogether.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.rules import Rule, RuleLoadError

__all__ = ["GROUP", "EntryPoint", "digest", "entry_points", "load_all"]

GROUP = "carryall.rules"
_CODE = re.compile(r"[A-Z]+\d+\Z")


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """One line of the group: `name = module:attribute`, and the package that has it."""

    package: str
    name: str
    value: str

    def __str__(self) -> str:
        return f"{self.value} (entry point {self.name!r} of {self.package})"


def entry_points() -> tuple[EntryPoint, ...]:
    """The entry points of the group in all installed packages; of two with one name, the first on `sys.path`."""
    found: list[EntryPoint] = []
    seen: set[str] = set()
    for folder in sys.path:
        for package, text in _declarations(folder or os.curdir):
            if package not in seen:
                seen.add(package)
                found += _parse(package, text)
    return tuple(found)


def _declarations(folder: str) -> Iterator[tuple[str, str]]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith((".dist-info", ".egg-info")))
    except OSError:
        return
    for name in names:
        try:
            with open(os.path.join(folder, name, "entry_points.txt"), "rb") as stream:
                data = stream.read()
        except OSError:
            continue
        if GROUP.encode() in data:
            yield name.rpartition(".")[0].partition("-")[0], data.decode("utf-8", "replace")


def _parse(package: str, text: str) -> Iterator[EntryPoint]:
    import configparser

    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names are case-sensitive
    try:
        parser.read_string(text)
    except configparser.Error as exc:
        yield EntryPoint(package, "?", " ".join(str(exc).split()))
        return
    if parser.has_section(GROUP):
        for name, value in parser.items(GROUP):
            yield EntryPoint(package, name, value.partition("[")[0].strip())


def load_all() -> tuple[tuple[Rule, ...], tuple[RuleLoadError, ...]]:
    """The rules of this package and of others, and an error for each that cannot be loaded."""
    from lint_rules.hygiene import HYGIENE
    from lint_rules.rules import RuleLoadError, load_rules

    own, failed = load_rules()
    rules, errors = list(own), list(failed)
    owners = {rule.code: "carryall" for rule in own} | dict.fromkeys(HYGIENE, "carryall")
    for point in entry_points():
        try:
            for rule in _load(point):
                if rule.code in owners:
                    raise ValueError(f"the code {rule.code} is taken by {owners[rule.code]}; choose another")
                owners[rule.code] = str(point)
                rules.append(rule)
        except (Exception, SystemExit) as error:  # noqa: BLE001  whatever a package raises, the other rules go on
            errors.append(RuleLoadError(str(point), error))
    return tuple(rules), tuple(errors)


def _load(point: EntryPoint) -> list[Rule]:
    from lint_rules.rules import Rule

    module, separator, attributes = point.value.partition(":")
    if not separator:
        raise ValueError("the entry point names no object; write it as module:RULE")
    found: object = import_module(module.strip())
    for attribute in attributes.strip().split("."):
        found = getattr(found, attribute)
    rules: list[Rule] = []
    for each in found if isinstance(found, list | tuple) else (found,):
        if not isinstance(each, Rule):
            raise TypeError(f"it is {type(each).__name__}, where a lint_rules.rules.Rule or a list of them is wanted")
        if not _CODE.match(each.code):
            raise ValueError(f"{each.code!r} is no rule code; use capital letters and digits, such as ABC001")
        rules.append(each)
    return rules


def digest() -> str:
    """Changes with the rules of other packages and with their source; empty where there are none."""
    points = entry_points()
    if not points:
        return ""
    state = hashlib.blake2b(digest_size=16)
    for point in points:
        state.update(f"{point}\n".encode())
    for top in sorted({point.value.partition(":")[0].partition(".")[0].strip() for point in points}):
        for path in _sources(top):
            try:
                state.update(f"{path}\n".encode("utf-8", "surrogatepass") + path.read_bytes())
            except OSError:
                state.update(b"?")
    return state.hexdigest()


def _sources(top: str) -> list[Path]:
    from importlib import util

    try:
        spec = util.find_spec(top)
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    folders = list(spec.submodule_search_locations or ())
    files = [path for folder in folders for path in Path(folder).rglob("*.py")]
    return sorted([*files, *([Path(spec.origin)] if spec.origin and not folders else [])])
