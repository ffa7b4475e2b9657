"""Running mypy with the plugin, and reading what is expected from the comments of a program.

`# E: drop fold, drop pack` at the end of a line expects these messages there, and no others: the code without its
prefix, and the field that the message names (left out for a deep copy, which names them all).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from mypy.build import build
from mypy.fscache import FileSystemCache
from mypy.main import process_options

from ownership.mypy_plugin._config import CONFIG_VARIABLE

__all__ = ["ROOT", "Message", "check", "configured", "expected", "found"]

ROOT = Path(__file__).resolve().parents[3]

_EXPECTATION = re.compile(r"# E: (?P<all>[a-z][\w, ]*?)\s*(?:#|$)")
_MESSAGE = re.compile(r"(?P<path>[^:]+):(?P<line>\d+): error: (?P<text>.*)  \[ownership-(?P<code>\w+)\]$")
_FIELD = re.compile(r'[Ff]ield "(\w+)"')

#: File, line, code and field.
Message = tuple[str, int, str, str]


def configured(folder: Path, *more: str) -> Path:
    """A configuration of mypy with the plugin in it."""
    path = folder / "mypy.ini"
    lines = ["[mypy]", "plugins = ownership.mypy_plugin", "check_untyped_defs = True", f"mypy_path = {ROOT}", *more]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def check(config: Path, *arguments: str) -> list[str]:
    """What mypy says; the plugin reads `pyproject.toml` beside the configuration, if there is one."""
    options = ["--config-file", str(config), "--namespace-packages", "--explicit-package-bases", *arguments]
    # Not the settings of this repository: they exclude the tests.
    declarations = config.with_name("pyproject.toml")
    declarations.touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CONFIG_VARIABLE, str(declarations))
        return _build(options)


def _build(options: list[str]) -> list[str]:
    fscache = FileSystemCache()
    sources, parsed = process_options(options, fscache=fscache)
    return build(sources, parsed, fscache=fscache).errors


def found(lines: Sequence[str]) -> Counter[Message]:
    """The messages of the plugin, of all that mypy said."""
    messages: Counter[Message] = Counter()
    for line in lines:
        match = _MESSAGE.match(line)
        if match is not None:
            field = _FIELD.search(match["text"])
            place = (match["path"], int(match["line"]))
            messages[*place, match["code"], field[1] if field and match["code"] != "copy" else ""] += 1
    return messages


def expected(root: Path, paths: Sequence[Path]) -> Counter[Message]:
    """The messages that the comments of the files ask for."""
    messages: Counter[Message] = Counter()
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = _EXPECTATION.search(line)
            for each in match["all"].split(", ") if match is not None else ():
                code, _, field = each.strip().partition(" ")
                messages[path.relative_to(root).as_posix(), number, code, field] += 1
    return messages
