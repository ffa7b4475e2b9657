"""What the commands share towards the reader: colours, paths that can be opened, progress."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Self

import click

from lint_rules.report.text import plain, problem_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from lint_rules.files import SourceTree
    from lint_rules.findings import Problem

__all__ = ["Progress", "print_problems", "shown_path", "style"]

_COLOURS: dict[str, dict[str, bool | str]] = {
    "place": {"bold": True},
    "code": {"fg": "red", "bold": True},
    "error": {"fg": "red", "bold": True},
    "advice": {"fg": "cyan"},
}


def style(text: str, role: str) -> str:
    """Colour for a terminal; `click.echo` takes it out of what goes elsewhere."""
    if os.environ.get("NO_COLOR"):
        return plain(text, role)
    colour = _COLOURS[role]
    return click.style(text, fg=str(colour["fg"]) if "fg" in colour else None, bold=bool(colour.get("bold")) or None)


def shown_path(tree: SourceTree) -> Callable[[str], str]:
    """From a name in the tree to what opens that file from the current folder, if it is in or below it."""
    here = os.path.join(os.getcwd(), "")
    above = os.path.join(tree.root, "")
    if here == above:
        return str

    def shown(name: str) -> str:
        if name not in tree.files:
            return name
        path = os.path.join(above, name)
        return path.removeprefix(here).replace(os.sep, "/") if path.startswith(here) else name

    return shown


def print_problems(problems: Iterable[Problem], shown: Callable[[str], str] = str) -> None:
    """One line each, on standard error, whatever the format of the findings is."""
    for problem in problems:
        click.echo(problem_line(problem, shown, style), err=True)


class Progress:
    """Shows how far a long run is, on a terminal only; the first second passes in silence.

    Use it as a context manager: at its end the line is taken away again.
    """

    def __init__(self, label: str) -> None:
        self._label = label
        self._start = time.monotonic()
        self._shown_at = 0.0
        self._terminal: bool = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        """Report a state; as often as one likes."""
        now = time.monotonic()
        if self._terminal and now - self._start > 1.0 and now - self._shown_at > 0.1:
            self._shown_at = now
            sys.stderr.write(f"\r\x1b[K{self._label} {done}/{total}")
            sys.stderr.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown_at:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
