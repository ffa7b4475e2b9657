"""How far a long job is: a callback that loading, preparing and encoding take."""

from __future__ import annotations

import sys
import time
from typing import Protocol, TextIO

__all__ = ["Progress", "ProgressLine", "silent"]


class Progress(Protocol):
    """Called as a job proceeds."""

    def __call__(self, done: int, total: int, what: str, /) -> None:
        """`done` of `total` steps are finished, the last of them `what`."""


def silent(_done: int, _total: int, _what: str, /) -> None:
    """Report nothing."""


class ProgressLine:
    """Writes a line now and then, and none at all for a job that is over within the first interval.

    Args:
        title: What the job is.
        stream: Where to write; standard error where nothing is given.
        interval: Seconds between two lines.

    """

    def __init__(self, title: str, stream: TextIO | None = None, interval: float = 2.0) -> None:
        self._title, self._stream, self._interval = title, stream, interval
        self._start = self._last = time.monotonic()

    def __call__(self, done: int, total: int, what: str, /) -> None:
        """Write a line if the last one is old enough."""
        now = time.monotonic()
        if now - self._last < self._interval:
            return
        self._last = now
        spent = now - self._start
        left = spent / done * (total - done) if done else float("inf")
        line = f"{self._title}: {done} of {total} ({what}), {spent:.0f} s, about {left:.0f} s left"
        print(line, file=self._stream or sys.stderr, flush=True)
