"""Python 3.12 to 3.14 syntax rewritten for an older parser, place by place.

The result is only ever parsed, never run or shown: what counts is that names, calls and lines are where they were.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Mapping

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

__all__ = ["NotPythonError", "downlevel"]

_NEWLINE = re.compile(r"\r\n|\r|\n")


class NotPythonError(Exception):
    """Not even the newest grammar accepts this text."""

    def __init__(self, line: int | None) -> None:
        super().__init__(f"no Python grammar accepts line {line}")
        self.line: int | None = line


def downlevel(text: str) -> str:
    """`text` without syntax newer than Python 3.11.

    Raises NotPythonError when LibCST, which knows the newest grammar, cannot parse it either.
    """
    try:
        module = cst.parse_module(text)
        wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
        positions = wrapper.resolve(PositionProvider)
    except cst.ParserSyntaxError as exc:
        raise NotPythonError(exc.raw_line) from exc
    except RecursionError as exc:
        raise NotPythonError(None) from exc
    collector = _Collector(text, positions)
    module.visit(collector)
    return _replace(text, collector.edits)


def _replace(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    parts: list[str] = []
    done = 0
    for start, end, new in sorted(edits):
        if start < done:  # inside something that was replaced as a whole
            continue
        parts += (text[done:start], new)
        done = end
    return "".join((*parts, text[done:]))


class _Collector(cst.CSTVisitor):
    """Gathers (start, end, replacement) for what the running Python may not know."""

    def __init__(self, text: str, positions: Mapping[cst.CSTNode, CodeRange]) -> None:
        super().__init__()
        self._text = text
        self._positions = positions
        self._starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
        self.edits: list[tuple[int, int, str]] = []

    def _span(self, node: cst.CSTNode) -> tuple[int, int]:
        where = self._positions[node]
        return (
            self._starts[where.start.line - 1] + where.start.column,
            self._starts[where.end.line - 1] + where.end.column,
        )

    def visit_TypeParameters(self, node: cst.TypeParameters) -> bool:  # noqa: N802
        start, end = self._span(node)
        self.edits.append((start, end, _blank(self._text[start:end])))
        return False

    def visit_TypeAlias(self, node: cst.TypeAlias) -> bool:  # noqa: N802
        start, _ = self._span(node)
        name, behind = self._span(node.name)
        # The name moves to the front, since a statement cannot start with blanks that are no indentation.
        gap = _blank(self._text[start + len("type") : name])
        self.edits.append((start, behind, node.name.value + " " * len("type") + gap))
        return True

    def visit_ExceptHandler(self, node: cst.ExceptHandler) -> bool:  # noqa: N802
        self._parenthesise(node.type)
        return True

    def visit_ExceptStarHandler(self, node: cst.ExceptStarHandler) -> bool:  # noqa: N802
        self._parenthesise(node.type)
        return True

    def _parenthesise(self, caught: cst.BaseExpression | None) -> None:
        if not isinstance(caught, cst.Tuple) or caught.lpar:
            return
        start, end = self._span(caught)
        before = start - 1 if self._text[start - 1] in " \t" else start  # a blank makes room: the columns stay
        self.edits.append((before, start, "("))
        self.edits.append((end, end, ")"))

    def visit_FormattedString(self, node: cst.FormattedString) -> bool:  # noqa: N802
        start, end = self._span(node)
        literal = self._text[start:end]
        if not _parses(literal):
            self.edits.append((start, end, _plain_string(literal)))
        return False

    def visit_TemplatedString(self, node: cst.TemplatedString) -> bool:  # noqa: N802
        start, end = self._span(node)
        literal = self._text[start:end]
        quote = min(at for at in (literal.find('"'), literal.find("'")) if at >= 0)
        as_f = literal[:quote].replace("t", "f").replace("T", "F") + literal[quote:]
        self.edits.append((start, end, as_f if _parses(as_f) else _plain_string(literal)))
        return False


def _parses(literal: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(literal, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _width(text: str) -> int:
    """`ast` counts columns in UTF-8 bytes, so a replacement must be as wide in bytes."""
    return len(text.encode("utf-8", "surrogatepass"))


def _blank(text: str) -> str:
    """Blanks of the same extent; a line end inside becomes a continued line, as no bracket holds it any longer."""
    return "\\".join(_spread(text, " "))


def _plain_string(literal: str) -> str:
    """A string literal of the same extent, on the same lines."""
    body = "\\".join(_spread(literal, "_"))
    return '"' + body[1:-1] + '"'


def _spread(text: str, filler: str) -> list[str]:
    """Rows of filler; each but the first starts with the line end that precedes it."""
    rows: list[str] = []
    done = 0
    lead = ""
    for end in _NEWLINE.finditer(text):
        rows.append(lead + filler * _width(text[done : end.start()]))
        lead, done = end[0], end.end()
    rows.append(lead + filler * _width(text[done:]))
    return rows
