"""`report()`: what was resolved in this process, when, how long it took, and by whom."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field

from ownership.resolution._history import BUCKETS, Key, Total, history
from ownership.resolution._process import process
from ownership.resolution.errors import CannotWatchError
from ownership.resolution.events import FreezeInfo, Resolution
from ownership.resolution.guard import freezes

__all__ = ["Report", "report"]

_VERDICTS = ("allowed", "recorded", "warned", "refused")


@dataclass(frozen=True)
class Report:
    """What was resolved in this process while a guard was in force, as of `taken` (`time.time()`).

    `resolutions` are the latest ones, in the order in which they began; `forgotten` older ones are only in the totals.
    """

    taken: float
    resolutions: tuple[Resolution, ...]
    freezes: tuple[FreezeInfo, ...]
    forgotten: int
    _totals: Mapping[Key, Total] = field(repr=False)
    _buckets: Mapping[tuple[str, str], tuple[int, ...]] = field(repr=False)

    def count(self, verdict: str | None = None) -> int:
        """How many there were, of one verdict ("allowed", "recorded", "warned", "refused") or in all."""
        return sum(total.begun for key, total in self._totals.items() if verdict in (None, key.verdict))

    def text(self) -> str:
        """A table for people."""
        counts = ", ".join(f"{self.count(verdict)} {verdict}" for verdict in _VERDICTS if self.count(verdict))
        lines = [f"{self.count()} resolutions{f': {counts}' if counts else ''}."]
        lines += [f"In force: {freeze} ({freeze.mode})." for freeze in self.freezes]
        if self.forgotten:
            lines.append(f"The first {self.forgotten} are not listed.")
        lines += _table(self.resolutions)
        return "\n".join(lines) + "\n"

    def json(self) -> str:
        """All of it, for programs; a JSON object with `resolutions`, `totals` and `freezes`."""
        content = {
            "version": 1,
            "taken": self.taken,
            "freezes": [asdict(freeze) for freeze in self.freezes],
            "forgotten": self.forgotten,
            "totals": [{**key._asdict(), **total._asdict()} for key, total in self._totals.items()],
            "resolutions": [_as_json(resolution) for resolution in self.resolutions],
        }
        return json.dumps(content, indent=1, allow_nan=False)

    def prometheus(self) -> str:
        """The text exposition format of Prometheus, version 0.0.4.

        `kernel_resolutions_total` by resolver, program, action, verdict and owner; the histogram
        `kernel_resolution_seconds` by resolver and action; the gauge `kernel_resolution_freezes` by owner and mode.
        """
        name = "kernel_resolutions_total"
        lines = [f"# HELP {name} Programs compiled, loaded or resolved, or refused.", f"# TYPE {name} counter"]
        lines += [f"{name}{_labels(key._asdict())} {total.begun}" for key, total in sorted(self._totals.items())]
        name = "kernel_resolution_seconds"
        lines += [f"# HELP {name} How long it took, where it finished.", f"# TYPE {name} histogram"]
        for (resolver, action), counts in sorted(self._buckets.items()):
            labels = {"resolver": resolver, "action": action}
            running = 0
            for bound, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
                running += count
                lines.append(f"{name}_bucket{_labels({**labels, 'le': bound})} {running}")
            seconds = sum(t.seconds for k, t in self._totals.items() if (k.resolver, k.action) == (resolver, action))
            lines += [f"{name}_sum{_labels(labels)} {seconds!r}", f"{name}_count{_labels(labels)} {running}"]
        name = "kernel_resolution_freezes"
        lines += [f"# HELP {name} Freezes in force.", f"# TYPE {name} gauge"]
        in_force: dict[tuple[str, str], int] = {}
        for freeze in self.freezes:
            owner = (freeze.owner or "", freeze.mode)
            in_force[owner] = in_force.get(owner, 0) + 1
        lines += [f"{name}{_labels({'owner': o, 'mode': m})} {n}" for (o, m), n in sorted(in_force.items())]
        return "\n".join(lines) + "\n"


def report() -> Report:
    """What was resolved in this process while a guard was in force. A forked child starts with nothing.

    The latest 4096 resolutions are kept in full, and totals for as many programs; beyond that, programs are counted
    together as `(other)`.
    """
    with contextlib.suppress(CannotWatchError):
        process.look()
    kept = history.snapshot()
    return Report(
        taken=time.time(),
        resolutions=kept.resolutions,
        freezes=freezes(),
        forgotten=kept.forgotten,
        _totals=kept.totals,
        _buckets=kept.buckets,
    )


def _as_json(resolution: Resolution) -> dict[str, object]:
    content = asdict(resolution)
    del content["replay"]
    return content


def _table(resolutions: Iterable[Resolution]) -> list[str]:
    rows: list[tuple[str, ...]] = [("when", "ms", "verdict", "action", "program", "by", "what differs")]
    for one in resolutions:
        when = time.strftime("%H:%M:%S", time.localtime(one.started))
        taken = "" if one.seconds is None else f"{one.seconds * 1000:.1f}"
        verdict = one.verdict if one.permit is None else f"permitted: {one.permit}"
        by = " ".join(part for part in (one.owner, one.thread, one.caller, one.label) if part)
        differs = "; ".join(map(str, one.differences))
        row = (when, taken, verdict, one.action, f"{one.program} ({one.resolver})", by, differs)
        rows.append(tuple(" ".join(cell.split()) for cell in row))
    if len(rows) == 1:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _labels(labels: Mapping[str, str]) -> str:
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{pairs}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
