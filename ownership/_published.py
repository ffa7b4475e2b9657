"""Which plan field holds which carrier, for whoever has the program and asks where a plan should have had it.

The table keeps nothing alive: not a carrier, not a plan, not a plan class. A carrier that cannot be referred to weakly
is found again through its plan; where the plan cannot be either (slots, named tuples), it is not listed.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Published", "note", "places", "retract"]

_Find = Callable[[object, str], object]
_Key = tuple[int, int, str, int]


class Published(NamedTuple):
    """One carrier of a published plan, and where it stands."""

    carrier: object
    #: The plan's class.
    plan: type
    #: The path from the plan to the carrier, as `carriers()` spells it.
    path: str


class _Entry:
    __slots__ = ("carrier", "find", "holder", "path", "plan", "times")

    def __init__(self, plan: type, path: str, find: _Find | None) -> None:
        self.carrier: weakref.ref[object] | None = None
        self.holder: weakref.ref[object] | None = None
        self.plan = weakref.ref(plan)
        self.path = path
        self.find = find
        self.times = 1

    def is_of(self, carrier: object, holder: object) -> bool:
        """Whether it was made for these objects, and not for others that had their places in memory."""
        of_carrier = self.carrier is None or self.carrier() is carrier
        return of_carrier and (self.holder is None or self.holder() is holder)

    def read(self) -> Published | None:
        holder = self.holder() if self.holder is not None else None
        if self.holder is not None and holder is None:
            return None
        carrier = self.carrier() if self.carrier is not None else None
        if self.carrier is None and holder is not None and self.find is not None:
            carrier = self.find(holder, self.path)
        plan = self.plan()
        return None if carrier is None or plan is None else Published(carrier, plan, self.path)


_entries: dict[_Key, _Entry] = {}
#: Keys of objects that died. A collector may run in the middle of anything, so a callback takes no lock: it queues.
_dead: deque[tuple[_Key, weakref.ref[object]]] = deque()
_lock = threading.RLock()


def note(carrier: object, *, plan: type, path: str, holder: object | None = None, find: _Find | None = None) -> None:
    """Remember that a plan of the class `plan` has `carrier` at `path`, for as long as both live.

    `holder` is the plan itself, if it is at hand, and `find(holder, path)` what stands there: by them, a carrier is
    found that cannot be referred to weakly. A place noted twice is listed once, and takes two `retract`s.
    """
    with _lock:
        _bury()
        key = _key(carrier, plan, path, holder)
        known = _entries.get(key)
        if known is not None and known.is_of(carrier, holder):
            known.times += 1
            return
        entry = _Entry(plan, path, find)
        entry.carrier = _weak(carrier, key)
        entry.holder = None if holder is None else _weak(holder, key)
        if entry.carrier is not None or (entry.holder is not None and find is not None):
            _entries[key] = entry


def retract(carrier: object, *, plan: type, path: str, holder: object | None = None) -> None:
    """Take back one `note` of the same arguments; nothing happens if it is not known."""
    with _lock:
        _bury()
        key = _key(carrier, plan, path, holder)
        known = _entries.get(key)
        if known is not None and known.is_of(carrier, holder):
            known.times -= 1
            if not known.times:
                del _entries[key]


def places() -> tuple[Published, ...]:
    """Every place that was noted and still exists, once, in the order in which they were noted."""
    with _lock:
        _bury()
        entries = list(_entries.values())
    found: dict[tuple[int, int, str], Published] = {}
    for entry in entries:
        place = entry.read()
        if place is not None:
            found.setdefault((id(place.carrier), id(place.plan), place.path), place)
    return tuple(found.values())


def _key(carrier: object, plan: type, path: str, holder: object | None) -> _Key:
    return id(carrier), id(plan), path, id(holder)


def _weak(value: object, key: _Key) -> weakref.ref[object] | None:
    try:
        return weakref.ref(value, lambda ref: _dead.append((key, ref)))
    except TypeError:
        return None


def _bury() -> None:
    while _dead:
        key, ref = _dead.popleft()
        entry = _entries.get(key)
        # The place in memory may belong to another object by now, which has been noted under the same key.
        if entry is not None and (entry.carrier is ref or entry.holder is ref):
            del _entries[key]


def _renew_lock() -> None:
    global _lock  # noqa: PLW0603
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    # Another thread may hold the lock at the moment of a fork, and does not exist in the child.
    os.register_at_fork(after_in_child=_renew_lock)
