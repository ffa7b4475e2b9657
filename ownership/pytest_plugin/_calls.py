"""A test whose function must not resolve anything."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import TracebackType

import pytest

from ownership.resolution import FreezeInfo, Resolution, ResolutionFrozenError, permit, subscribe
from ownership.resolution.guard import Freeze

__all__ = ["NoKernelCompile", "guard_for"]

_MACHINERY = frozenset({"ownership", "torch", "triton", "contextlib", "functools"})


class NoKernelCompile:
    """Refuses to resolve kernels while a test function runs; what the fixture `no_kernel_compile` gives."""

    def __init__(self, item: pytest.Item, why: str) -> None:
        path, line, _ = item.location
        place = f"{path}:{(line or 0) + 1}"
        self._info = FreezeInfo(reason=f"{why}: {item.nodeid}", place=place, owner=None, mode="error")
        self._events: list[Resolution] = []

    @property
    def events(self) -> tuple[Resolution, ...]:
        """What was resolved since the test function began, refused or let through, in any thread."""
        return tuple(self._events)

    def allow(self, reason: str) -> AbstractContextManager[None]:
        """A context manager in which this thread may resolve; the reason appears in the events and the report."""
        return permit(reason)

    def calling(self) -> Iterator[None]:
        """Freeze at the first step, until the next; then fail if something was refused, also if that was caught."""
        self._events.clear()
        with _listening(self._events.append), Freeze(self._info):
            try:
                yield
            except ResolutionFrozenError as error:
                error.__traceback__ = _shortened(error.__traceback__)
                raise
        hidden = [event for event in self._events if self._refused(event)]
        if hidden:
            lines = "".join(
                f"\n  {event.caller}, thread {event.thread}: {ResolutionFrozenError.of(event)}" for event in hidden
            )
            pytest.fail(
                f"The test went on after kernels were refused ({self._info.reason.partition(':')[0]}); something has "
                f"caught the error, or it was raised in another thread:{lines}",
                pytrace=False,
            )

    def _refused(self, event: Resolution) -> bool:
        """Whether it was this freeze alone that refused: a test may well try out one of its own."""
        strict = [freeze for freeze in event.freezes if freeze.mode == "error"]
        return event.verdict == "refused" and strict == [self._info]


def guard_for(item: pytest.Item, *, strict: bool) -> NoKernelCompile | None:
    """The guard that the markers of a test ask for, or the mode "error" (`strict`) does.

    Raises:
        pytest.UsageError: `allow_kernel_compile` without a reason.

    """
    allowed = item.get_closest_marker("allow_kernel_compile")
    if allowed is not None:
        reason = allowed.args[0] if allowed.args else allowed.kwargs.get("reason")
        if not isinstance(reason, str) or not reason.strip():
            raise pytest.UsageError(f"{item.nodeid}: allow_kernel_compile wants a reason: allow_kernel_compile('...')")
    if item.get_closest_marker("no_kernel_compile") is not None:
        return NoKernelCompile(item, "no_kernel_compile")
    return NoKernelCompile(item, "--kernel-compiles=error") if strict and allowed is None else None


@contextlib.contextmanager
def _listening(listener: Callable[[Resolution], None]) -> Iterator[None]:
    unsubscribe = subscribe(listener)
    try:
        yield
    finally:
        unsubscribe()


def _shortened(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback up to the line of the user's that asked for the kernel."""
    kept: list[TracebackType] = []
    length = 0
    while traceback is not None:
        kept.append(traceback)
        module = traceback.tb_frame.f_globals.get("__name__", "")
        if not isinstance(module, str) or module.partition(".")[0] not in _MACHINERY:
            length = len(kept)
        traceback = traceback.tb_next
    shortened: TracebackType | None = None
    for entry in reversed(kept[: length or len(kept)]):
        shortened = TracebackType(shortened, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return shortened
