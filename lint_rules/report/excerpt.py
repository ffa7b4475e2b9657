"""The source around a place, to be read beside a finding."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lint_rules.files import SourceTree
    from lint_rules.findings import Place

__all__ = ["Excerpts"]

_LINE_END = re.compile(r"\r\n|\r|\n")
#: Characters that would move the cursor or start a new line in a terminal.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


class Excerpts:
    """Reads lines of the files of a tree; what is not there, or is no text, has none."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._lines: dict[str, list[str]] = {}

    def lines(self, name: str) -> list[str]:
        """The lines of a file, without their ends."""
        if name not in self._lines:
            from lint_rules.index.source import SourceError, decode

            file = self._tree.files.get(name)
            try:
                self._lines[name] = _LINE_END.split(decode(file.data)) if file is not None else []
            except SourceError:
                self._lines[name] = []
        return self._lines[name]

    def around(self, place: Place, *, before: int = 0, after: int = 0, mark: bool = False) -> list[str]:
        """The line of the place and some of its neighbours, numbered; with `mark`, a caret below the column."""
        lines = self.lines(place.path)
        if not 0 < place.line <= len(lines):
            return []
        first, last = max(place.line - before, 1), min(place.line + after, len(lines))
        width = len(str(last))
        shown = []
        for number in range(first, last + 1):
            text = _CONTROL.sub("\ufffd", lines[number - 1]).expandtabs(4).rstrip()
            shown.append(f"{number:{width}} | {text}".rstrip())
            if mark and number == place.line:
                column = len(lines[number - 1][: place.column - 1].expandtabs(4))
                shown.append(f"{'':{width}} | {' ' * column}^")
        return shown
