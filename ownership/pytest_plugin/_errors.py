"""What can be wrong with poisoned scratch: with the request for it, or with the code that used it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ownership.errors import OwnershipError, shown

__all__ = ["Overrun", "PoisonDependenceError", "ScratchOverrunError", "ScratchRequestError"]

_SHOWN_BYTES = 16


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"


@dataclass(frozen=True, slots=True)
class Overrun:
    """Bytes that were changed beside a buffer.

    `offset` is counted from the buffer's first byte: negative before it, from `nbytes` on behind it. `found` has the
    bytes from the first changed one to the last changed one of that guard zone. `place` is where the buffer was made.
    """

    nbytes: int
    place: str
    offset: int
    found: bytes
    values: str = ""

    def __str__(self) -> str:
        if self.offset < 0:
            end = self.offset + len(self.found)
            where = f"{_bytes(-self.offset)} before its start" + (f" to {-end} before" if end < 0 else "")
        else:
            where = f"{_bytes(self.offset - self.nbytes)} after its end"
        text = self.found[:_SHOWN_BYTES].hex(" ") + (" ..." if len(self.found) > _SHOWN_BYTES else "")
        values = f", as elements: {self.values}" if self.values else ""
        return (
            f"the buffer of {_bytes(self.nbytes)} made at {self.place}: {_bytes(len(self.found))} written from {where} "
            f"(offset {self.offset}): {text}{values}"
        )


class ScratchRequestError(OwnershipError, ValueError):
    """A poisoned buffer, or a comparison, was asked for that cannot be had."""

    def __init__(self, *, argument: str, given: object, wanted: str) -> None:
        self.argument = argument
        self.given = given
        self.wanted = wanted
        super().__init__(f"poisoned_scratch was given {argument}={shown(given)}; wanted: {wanted}.")


class ScratchOverrunError(OwnershipError, AssertionError):
    """Something was written outside a poisoned buffer. `overruns` has each damaged guard zone."""

    def __init__(self, *, overruns: Iterable[Overrun]) -> None:
        self.overruns = tuple(overruns)
        lines = "".join(f"\n  {overrun}" for overrun in self.overruns)
        super().__init__(f"Written outside of poisoned scratch:{lines}\nCheck the extents and the masks of the writer.")


class PoisonDependenceError(OwnershipError, AssertionError):
    """A result changes with what was in scratch before: something is read that was never written."""

    def __init__(self, *, path: str, patterns: tuple[object, object], difference: str) -> None:
        self.path = path
        self.patterns = patterns
        self.difference = difference
        first, second = (f"{pattern:#04x}" if isinstance(pattern, int) else repr(pattern) for pattern in patterns)
        super().__init__(
            f"{path} depends on what was in scratch before: {difference} (first value: scratch filled with {first}, "
            f"second: with {second}). Something is read before it is written, or beyond what was written."
        )
