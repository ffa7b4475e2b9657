"""What the guard knows of a resolution: values that can be stored, compared and sent to another process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Action", "Difference", "FreezeInfo", "Mode", "Resolution", "Verdict"]

Mode = Literal["error", "warn", "record"]
Action = Literal["compile", "load", "resolve"]
Verdict = Literal["allowed", "recorded", "warned", "refused"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One argument (or launch option) in which the specialization asked for is not the prepared one."""

    argument: str
    asked: str
    prepared: str

    def __str__(self) -> str:
        return f"{self.argument}: {self.asked} where prepared: {self.prepared}"


@dataclass(frozen=True, slots=True)
class FreezeInfo:
    """A freeze, in words: why, where in the code (`file:line`), whose (`None`: everybody's), and how strict."""

    reason: str
    place: str
    owner: str | None
    mode: Mode

    def __str__(self) -> str:
        owner = "" if self.owner is None else f" of {self.owner}"
        return f"freeze{owner} {self.reason!r} at {self.place}"


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """One attempt to resolve a program: what, when, by whom, and what the guards said.

    `program` is the qualified name; `specialization` gives each argument and launch option in words; `thread` is the
    thread's name; `caller` is `file:line` of the nearest frame outside this package, Triton and torch; `started` is
    `time.time()`; `seconds` is `None` while it goes on, if it failed, and if it was refused. `freezes` are those that
    applied; `permit` is the reason of the permit that overruled them. `replay` is what a manifest needs, if it can.
    """

    resolver: str
    program: str
    specialization: Mapping[str, str] = field(hash=False)
    action: Action
    owner: str | None
    thread: str
    caller: str
    started: float
    seconds: float | None = None
    verdict: Verdict
    freezes: tuple[FreezeInfo, ...] = ()
    permit: str | None = None
    label: str | None = None
    nearest: Mapping[str, str] | None = field(default=None, hash=False)
    differences: tuple[Difference, ...] = ()
    plan_field: str | None = None
    replay: Mapping[str, str] | None = field(default=None, repr=False, hash=False)
