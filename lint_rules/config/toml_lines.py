"""Where things stand in a TOML text: `tomllib` keeps no positions."""

from __future__ import annotations

import re

__all__ = ["lines_outside_strings"]

# From anywhere outside a string to the next opening of a multi-line one, in the same line and not in a comment.
_STRING_START = re.compile(
    r"""(?:[^"'#]|"(?!"")(?:[^"\\]|\\.)*"|'(?!'')[^']*')*?(\"\"\"|''')""",
)


def lines_outside_strings(text: str) -> list[tuple[int, str]]:
    """The numbered lines of a TOML text that do not start inside a multi-line string.

    Enough to find a header or a key again.
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
