"""The checker's own suppressions: `# carryall: ignore[OWN001:field] -- reason` silences both of them.

On the line of the message or alone on the line above it. One without a reason does not count, as in the checker.
"""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path

__all__ = ["is_suppressed"]

_RULES = {
    "ownership-drop": "OWN001",
    "ownership-return": "OWN001",
    "ownership-unmarked": "OWN002",
    "ownership-default": "OWN003",
    "ownership-copy": "OWN004",
    "ownership-identity": "OWN004",
    "ownership-leak": "OWN012",
}
_COMMENT = re.compile(r"#\s*carryall:\s*ignore\[(?P<codes>[^\]]*)\](?:\s+until=(?P<until>\d{4}-\d\d-\d\d))?\s*--\s*\S")


def is_suppressed(path: str, line: int, code: str, message: str) -> bool:
    """Whether a message at this line of this file is silenced by a comment that gives a reason."""
    rule = _RULES.get(code)
    if rule is None:
        return False
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    own = lines[line - 1] if 0 < line <= len(lines) else ""
    above = lines[line - 2] if 1 < line <= len(lines) + 1 else ""
    return any(
        _silences(match, rule, message)
        for text in (own, above if above.lstrip().startswith("#") else "")
        if (match := _COMMENT.search(text)) is not None
    )


def _silences(match: re.Match[str], rule: str, message: str) -> bool:
    until = match["until"]
    try:
        if until is not None and dt.date.fromisoformat(until) < dt.datetime.now(dt.UTC).date():
            return False
    except ValueError:
        return False
    for item in match["codes"].split(","):
        code, _, field = item.strip().partition(":")
        if code == rule and (not field or f'"{field}"' in message):
            return True
    return False
