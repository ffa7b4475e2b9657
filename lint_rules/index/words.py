"""The words of names: what code says that it does."""

from __future__ import annotations

import re

__all__ = ["RESOLVING", "is_preparing", "words"]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

#: Words of functions that find, compile or load a program.
RESOLVING = frozenset({
    "compile", "recompile", "precompile", "jit", "resolve", "lower", "specialize", "autotune", "tune", "prepare",
    "warmup", "warm", "prewarm", "codegen",
})  # fmt: skip

_PREPARING = RESOLVING | {"build", "complete"}


def words(name: str) -> list[str]:
    """The words of a name in lower case, whichever way they are joined."""
    return [word.lower() for word in _WORD.findall(name)]


def is_preparing(name: str) -> bool:
    """Whether a function says by its first word that preparing is its business; `get_or_compile` does not."""
    found = words(name)
    return bool(found) and found[0] in _PREPARING
