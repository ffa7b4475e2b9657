"""The words of names: what code says that it does."""

from __future__ import annotations

import re

__all__ = ["RESOLVING", "first_word", "words"]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

#: Words of functions that find, compile or load a program.
RESOLVING = frozenset({
    "compile", "recompile", "precompile", "jit", "resolve", "lower", "specialize", "autotune", "tune", "prepare",
    "warmup", "warm", "prewarm", "codegen",
})  # fmt: skip


def words(name: str) -> list[str]:
    """The words of a name in lower case, whichever way they are joined."""
    return [word.lower() for word in _WORD.findall(name)]


def first_word(name: str) -> str:
    """The first of them, or nothing."""
    found = words(name)
    return found[0] if found else ""
