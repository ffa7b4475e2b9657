"""Whether a file belongs to a list of patterns."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from lint_rules.walk import excluder

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["belongs"]


def belongs(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether a file, or a folder that it is in, fits one of the patterns; `!` before a pattern means all others.

    Patterns are those of `exclude`: from the top of the project, or at any depth if there is no slash in them.
    """
    return any(_fits(name, each[1:]) is False if each.startswith("!") else _fits(name, each) for each in patterns)


def _fits(name: str, pattern: str) -> bool:
    matches = _matcher(pattern)
    while name:
        if matches(name):
            return True
        name = name.rpartition("/")[0]
    return False


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> Callable[[str], bool]:
    return excluder([pattern])
