"""Where in the user's code we are."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType

__all__ = ["frames", "place"]

#: Packages whose frames are machinery: the place that a user wants to see lies above them.
_MACHINERY = frozenset(
    {"ownership", "triton", "torch", "functools", "contextlib", "concurrent", "importlib", "threading", "asyncio"}
)


def frames() -> Iterator[FrameType]:
    """The frames of this thread, from the caller outwards."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def place() -> str:
    """`file:line` of the nearest frame that is not machinery."""
    last = "?"
    for frame in frames():
        name = frame.f_globals.get("__name__", "")
        last = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        if not isinstance(name, str) or name.partition(".")[0] not in _MACHINERY:
            return last
    return last
