"""The comments of a source text, and how to replace one of them without touching anything else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tokenize
    from collections.abc import Iterator

__all__ = ["CommentTokens", "replacing"]

_LINE_END = re.compile(r"\r\n|\r|\n")
#: Where the comment of another tool starts in the same line; it stays.
_OTHERS = re.compile(
    r"\s+#\s*(?:noqa|nosec|(?:type|mypy|pyright|ty|pylint|ruff|pragma|fmt|isort|carryall|yapf)\s*:)", re.IGNORECASE
)


class CommentTokens:
    """What the tokenizer says about comments and statements; strings never count, whatever they hold.

    `comments` are (line, column from 0, text); `comment_only` are the lines with nothing else on them.
    """

    def __init__(self, text: str) -> None:
        import tokenize

        self.comments: list[tuple[int, int, str]] = []
        self.comment_only: set[int] = set()
        #: The first line of its logical line, for every line that is not its own first.
        self.statement_starts: dict[int, int] = {}
        silent = {tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
        start: int | None = None
        code_lines: set[int] = set()
        for token in _tokens(text):
            first, last = token.start[0], token.end[0]
            if token.type == tokenize.COMMENT:
                self.comments.append((first, token.start[1], token.string))
                self.comment_only.add(first)
            if token.type in silent:
                continue
            if token.type == tokenize.NEWLINE:
                if start is not None:
                    self.statement_starts.update(dict.fromkeys(range(start + 1, first + 1), start))
                start = None
                continue
            code_lines.update(range(first, last + 1))
            if start is None:
                start = first
        self.comment_only -= code_lines


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    import io
    import tokenize

    try:
        yield from tokenize.generate_tokens(io.StringIO(text, newline=None).readline)
    except (tokenize.TokenError, SyntaxError):
        return  # the file is no Python, which is reported elsewhere; what was read so far counts


def replacing(text: str, line: int, column: int, new: str) -> tuple[int, str, str]:
    """How to put a new comment in place of the one at a line and column, or nothing: (column, old text, new text).

    Columns count from 1. Without a new comment the blanks before the old one go too, and its line if nothing else
    stands there. What another tool reads behind it is kept.
    """
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    start = starts[line - 1]
    at = start + column - 1
    ending = _LINE_END.search(text, start)
    end = ending.start() if ending is not None else len(text)
    others = _OTHERS.search(text, at, end)
    if new:
        return column, text[at : others.start() if others is not None else end], new
    if others is not None:
        stop = text.index("#", others.start())
        return column, text[at:stop], ""
    before = text[start:at].rstrip(" \t")
    if before:
        return len(before) + 1, text[start + len(before) : end], ""
    return 1, text[start : ending.end() if ending is not None else end], ""
