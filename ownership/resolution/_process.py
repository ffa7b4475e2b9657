"""Which guards are in force in this process, and what is told when that changes.

A signal handler or a finalizer may freeze or lift at any point, in the middle of another freeze too. So the state is in
dictionaries that change in one step and are read without a lock, and installing and removing adapters, which takes many
steps, starts over when it was interrupted.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ownership.resolution import _adapters
from ownership.resolution._history import history
from ownership.resolution.errors import CannotWatchError
from ownership.resolution.events import FreezeInfo, Resolution

__all__ = ["Entry", "Process", "process"]

_GONE: Any = object()


@dataclass(frozen=True, eq=False)
class Entry:
    """Something in force: a freeze, or a watch (`info` is `None`)."""

    info: FreezeInfo | None


class Process:
    """The guards in force, in the order in which they came, who listens, and the labels."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.listeners: dict[object, Callable[[Resolution], None]] = {}
        self.labels: dict[object, str] = {}
        self._entries: dict[Entry, None] = {}
        self._busy = False
        self._again = False

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What is in force."""
        return tuple(self._entries)

    def enter(self, entry: Entry) -> None:
        """Put a guard in force, once; when a library cannot be watched, nothing has changed."""
        with self.lock:
            if entry in self._entries:
                return
            self._entries[entry] = None
            try:
                self.look()
            except BaseException:
                self.leave(entry)
                raise

    def leave(self, entry: Entry) -> None:
        """End a guard, if it is in force, and no other one."""
        with self.lock:
            if self._entries.pop(entry, _GONE) is _GONE:
                return
            # A library that was imported meanwhile and cannot be watched has been complained of already.
            with contextlib.suppress(CannotWatchError):
                self.look()

    def look(self) -> None:
        """Have the adapters in place if anything is in force, and away if not."""
        with self.lock:
            self._again = True
            while self._again and not self._busy:
                self._busy, self._again = True, False
                try:
                    if self._entries:
                        _adapters.install()
                    else:
                        _adapters.uninstall()
                finally:
                    self._busy = False

    def applying(self, owner: str | None, program: str) -> tuple[FreezeInfo, ...]:
        """The freezes that apply to a resolution, in the order in which they came.

        A resolution that nobody was named for belongs to the packages that its program is in.
        """
        infos = (entry.info for entry in tuple(self._entries))
        return tuple(
            info
            for info in infos
            if info is not None
            and (info.owner in (None, owner) or (owner is None and program.startswith(f"{info.owner}.")))
        )


#: The state of this process.
process = Process()


def _acquire() -> None:
    # No guard may be half entered in the child.
    process.lock.acquire()


def _release() -> None:
    process.lock.release()


def _renew() -> None:
    # What was resolved before is the parent's to report, and nobody here will release the parent's locks.
    process.lock = threading.RLock()
    history.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_acquire, after_in_parent=_release, after_in_child=_renew)
