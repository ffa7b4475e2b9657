"""What was resolved in this process: the latest in full, all of it in totals, in bounded memory."""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from typing import NamedTuple

from ownership.resolution.events import Resolution

__all__ = ["BUCKETS", "History", "Key", "Snapshot", "Total", "history"]

#: Upper bounds of the histogram, in seconds.
BUCKETS = (0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0)
#: Stands for the programs beyond the limit.
OTHER = "(other)"


class Key(NamedTuple):
    """What totals are kept for."""

    resolver: str
    program: str
    action: str
    verdict: str
    owner: str


class Total(NamedTuple):
    """How many began, how many of them finished, and how long those took together."""

    begun: int = 0
    finished: int = 0
    seconds: float = 0.0


class Snapshot(NamedTuple):
    """A copy of the history at one moment. `buckets` are not cumulative; the last one is unbounded."""

    resolutions: tuple[Resolution, ...]
    totals: dict[Key, Total]
    buckets: dict[tuple[str, str], tuple[int, ...]]
    forgotten: int
    replays: tuple[dict[str, str], ...]


class History:
    """The latest `limit` resolutions, totals for as many keys, and what a manifest needs."""

    def __init__(self, limit: int = 4096) -> None:
        self.limit = limit
        self.renew()

    def renew(self) -> None:
        """Start with nothing, and with a lock that nobody holds."""
        # Reentrant: a signal handler or a finalizer may ask for a report in the middle of anything.
        self._lock = threading.RLock()
        self._numbers = itertools.count()
        self._records: OrderedDict[int, Resolution] = OrderedDict()
        self._totals: dict[Key, Total] = {}
        self._buckets: dict[tuple[str, str], list[int]] = {}
        self._replays: OrderedDict[tuple[tuple[str, str], ...], None] = OrderedDict()
        self._forgotten = 0

    def add(self, resolution: Resolution) -> int:
        """Keep a resolution that begins (or was refused), and give it a number."""
        with self._lock:
            number = next(self._numbers)
            self._records[number] = resolution
            if len(self._records) > self.limit:
                self._records.popitem(last=False)
                self._forgotten += 1
            key = self._key(resolution)
            total = self._totals.get(key, Total())
            self._totals[key] = total._replace(begun=total.begun + 1)
        return number

    def finish(self, number: int, resolution: Resolution) -> None:
        """Note that it is done; `seconds` is set."""
        seconds = resolution.seconds or 0.0
        with self._lock:
            if number in self._records:
                self._records[number] = resolution
            key = self._key(resolution)
            total = self._totals.get(key, Total())
            self._totals[key] = Total(total.begun, total.finished + 1, total.seconds + seconds)
            counts = self._buckets.setdefault((resolution.resolver, resolution.action), [0] * (len(BUCKETS) + 1))
            counts[sum(seconds > bound for bound in BUCKETS)] += 1
            if resolution.replay is not None:
                self._replays[tuple(sorted(resolution.replay.items()))] = None
                if len(self._replays) > 4 * self.limit:
                    self._replays.popitem(last=False)

    def snapshot(self) -> Snapshot:
        """All of it, as it is now."""
        with self._lock:
            return Snapshot(
                resolutions=tuple(self._records.values()),
                totals=dict(self._totals),
                buckets={key: tuple(counts) for key, counts in self._buckets.items()},
                forgotten=self._forgotten,
                replays=tuple(dict(pairs) for pairs in self._replays),
            )

    def prepared(self, resolver: str, program: str) -> list[Resolution]:
        """The resolutions of a program that were let through, the latest first."""
        with self._lock:
            records = list(self._records.values())
        return [
            record
            for record in reversed(records)
            if record.program == program and record.resolver == resolver and record.seconds is not None
        ]

    def _key(self, resolution: Resolution) -> Key:
        key = Key(
            resolution.resolver, resolution.program, resolution.action, resolution.verdict, resolution.owner or ""
        )
        if key in self._totals or len(self._totals) < self.limit:
            return key
        return key._replace(program=OTHER, owner="")


#: The history of this process.
history = History()
