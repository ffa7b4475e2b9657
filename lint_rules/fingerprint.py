"""What a finding is known by when lines move: the function that it stands in and its code, instead of a number.

Everything is read off the text around the place, never off a syntax tree: a file with findings may be large.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lint_rules.findings import Finding, Place
    from lint_rules.report.excerpt import Excerpts

__all__ = ["Fingerprint", "enclosing", "fingerprints", "normalized"]

_DEFINITION = re.compile(r"[ \t]*(?:async[ \t]+def|def|class)[ \t]+(?P<name>\w+)")
_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
      | (?P<string>(?:[A-Za-z]{1,2})?(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''
            |"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
      | (?P<end>\n)
      | (?P<blank>[ \t\f]+|\\\n)
      | (?P<open>[(\[{])
      | (?P<close>[)\]}])
      | (?P<word>\w+)
      | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
#: A statement longer than this is told apart by its beginning.
_LONGEST = 400


@dataclass(frozen=True, order=True, slots=True)
class Fingerprint:
    """One field of a finding (empty where it is about none), and where it is, without a line number."""

    path: str
    code: str
    class_name: str
    function: str
    field: str
    context: str


def fingerprints(finding: Finding, excerpts: Excerpts) -> dict[str, Fingerprint]:
    """The fingerprint of each field of a finding."""
    lines = excerpts.lines(finding.place.path)
    function = enclosing(lines, finding.place)
    context = hashlib.blake2b(normalized(lines, finding.place).encode("utf-8", "surrogatepass"), digest_size=8)
    return {
        field: Fingerprint(finding.place.path, finding.code, finding.class_name, function, field, context.hexdigest())
        for field in finding.fields or ("",)
    }


def enclosing(lines: Sequence[str], place: Place) -> str:
    """The dotted name of the function or class around a place, as its indentation tells; empty at the top level."""
    if not 0 < place.line <= len(lines):
        return ""
    names: list[str] = []
    depth = _indent(lines[place.line - 1])
    for line in reversed(lines[: place.line - 1]):
        if depth == 0:
            break
        start = line.lstrip()[:1]
        # What closes a bracket or a string stands further left than the statement that it belongs to.
        if not start or start in "#)]}\"'" or _indent(line) >= depth:
            continue
        depth = _indent(line)
        definition = _DEFINITION.match(line)
        if definition is not None:
            names.insert(0, definition["name"])
    return ".".join(names)


def _indent(line: str) -> int:
    expanded = line.expandtabs(8)
    return len(expanded) - len(expanded.lstrip())


def normalized(lines: Sequence[str], place: Place) -> str:
    """The code from a place to the end of its statement, without comments, line breaks and trailing commas."""
    if not 0 < place.line <= len(lines):
        return ""
    text = "\n".join([lines[place.line - 1][place.column - 1 :], *lines[place.line : place.line + _LONGEST]])
    parts: list[str] = []
    depth = 0
    spaced = False
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "end" and depth == 0:
            break
        if kind in {"comment", "end", "blank"}:
            spaced = True
            continue
        if kind == "open":
            depth += 1
        if kind == "close":
            depth -= 1
            if parts and parts[-1] == "," and len(parts) > 1 and depth >= 0:
                parts.pop()
            if depth < 0:
                break
        if kind == "word" and spaced and parts and (parts[-1][-1].isalnum() or parts[-1][-1] == "_"):
            parts.append(" ")
        parts.append(token.group())
        spaced = False
    return "".join(parts)
