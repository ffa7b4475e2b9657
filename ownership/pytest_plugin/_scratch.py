"""Scratch memory that is never blank: filled with a pattern, between two guard zones that are verified later.

Scratch is the caller's, and its content is undefined before each use. A test that hands out zeroed buffers does not
say so; one that hands these out does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ownership.pytest_plugin._buffers import Memory, memory_class
from ownership.pytest_plugin._errors import PoisonDependenceError, ScratchOverrunError, ScratchRequestError
from ownership.pytest_plugin._results import Leaf, difference, leaves

__all__ = ["Pattern", "PoisonedScratch", "parsed_pattern"]

T = TypeVar("T")

#: A byte value, some bytes to repeat, or `"nan"`: a quiet NaN of the buffer's type.
Pattern = int | bytes | str


class PoisonedScratch:
    """Makes poisoned buffers and verifies that nobody wrote beside them; what the fixture `poisoned_scratch` gives.

    `pattern` is what buffers are filled with where a call does not say otherwise: a byte value (0xFF: NaN in every
    floating-point type, -1 in every signed integer), bytes that are repeated, or "nan".
    """

    def __init__(self, pattern: Pattern = 0xFF) -> None:
        self.pattern: Pattern = _checked(pattern)
        self._memories: list[Memory] = []

    def __call__(
        self,
        nbytes: int,
        *,
        dtype: Any = None,
        device: Any = None,
        alignment: int = 256,
        pattern: Pattern | None = None,
        guard: int = 256,
        library: str | None = None,
    ) -> Any:
        """A new buffer of `nbytes` bytes, in one dimension, filled with the pattern.

        Its first byte is at a multiple of `alignment` bytes (a power of two), and at none of a larger one; `guard`
        bytes before it and after it are verified when the test has run. Without `dtype` it consists of bytes.

        It is a `torch.Tensor` if a device or a torch dtype is given, a NumPy array for a NumPy dtype, a writable
        `memoryview` for a format character of `struct`, and otherwise the first of these whose library has been
        imported. `library` ("torch", "numpy", "bytes") says it outright.

        Raises:
            ScratchRequestError: sizes that do not fit, an unknown pattern, or a NaN of a type that has none.

        """
        for name, value, least in (("nbytes", nbytes, 0), ("alignment", alignment, 1), ("guard", guard, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ScratchRequestError(argument=name, given=value, wanted=f"a number of bytes, {least} or more")
        if alignment & (alignment - 1):
            raise ScratchRequestError(argument="alignment", given=alignment, wanted="a power of two")
        chosen = self.pattern if pattern is None else _checked(pattern)
        memory = memory_class(library, dtype, device)(
            nbytes, dtype=dtype, device=device, alignment=alignment, guard=guard, place=_caller()
        )
        memory.fill(_bytes_of(chosen, memory, dtype))
        self._memories.append(memory)
        return memory.buffer

    def check(self) -> None:
        """Verify the guard zones of all buffers made so far; waits for their devices. Done when the test has run.

        Raises:
            ScratchOverrunError: something was written outside a buffer. The guard zones are in order again then.

        """
        found = []
        for memory in self._memories:
            overruns = memory.overruns()
            if overruns:
                memory.restore()
                found += overruns
        if found:
            raise ScratchOverrunError(overruns=found)

    def same_for(self, function: Callable[[PoisonedScratch], T], patterns: Sequence[Pattern] = (0xFF, 0x00)) -> T:
        """Run `function(scratch)` once for each pattern; all results must be equal, bit for bit. Returns the last one.

        `scratch` makes buffers with that pattern. A result may be a tensor, an array, bytes, a number, a string, or
        lists, tuples, mappings and dataclasses of them; NaNs are equal if their bits are.

        Raises:
            PoisonDependenceError: two results differ, so something was read that was not written.
            ScratchOverrunError: something was written outside a buffer.

        """
        if len(patterns) < 2:
            raise ScratchRequestError(argument="patterns", given=tuple(patterns), wanted="two patterns or more")
        first, *others = patterns
        result, before = _once(function, first)
        for pattern in others:
            result, parts = _once(function, pattern)
            if (found := difference(before, parts)) is not None:
                path, words = found
                raise PoisonDependenceError(path=path, patterns=(first, pattern), difference=words)
        return result


def _once(function: Callable[[PoisonedScratch], T], pattern: Pattern) -> tuple[T, list[Leaf]]:
    scratch = PoisonedScratch(pattern)
    result = function(scratch)
    parts = list(leaves(result))
    scratch.check()
    return result, parts


def parsed_pattern(text: str) -> Pattern:
    """A pattern written in an ini file: a number such as `0xff` or `255`, or `nan`.

    Raises:
        ScratchRequestError: it is neither.

    """
    text = text.strip().lower()
    try:
        return _checked(text if text == "nan" else int(text, 0))
    except ValueError:
        raise ScratchRequestError(
            argument="poisoned_scratch_pattern", given=text, wanted="a byte such as 0xff, or nan"
        ) from None


def _checked(pattern: Pattern) -> Pattern:
    if isinstance(pattern, bool) or not (
        pattern == "nan"
        or (isinstance(pattern, int) and 0 <= pattern <= 0xFF)
        or (isinstance(pattern, bytes) and pattern)
    ):
        raise ScratchRequestError(
            argument="pattern", given=pattern, wanted="a byte value from 0 to 255, some bytes, or 'nan'"
        )
    return pattern


def _bytes_of(pattern: Pattern, memory: Memory, dtype: object) -> bytes:
    if isinstance(pattern, bytes):
        return pattern
    if isinstance(pattern, int):
        return bytes([pattern])
    nan = memory.nan()
    if nan is None:
        raise ScratchRequestError(
            argument="pattern", given=pattern, wanted=f"a byte value or bytes: {dtype or 'a byte'} has no NaN"
        )
    return nan


def _caller() -> str:
    """`file:line` of the nearest frame outside this package."""
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__", "").startswith("ownership.") and frame.f_back is not None:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
