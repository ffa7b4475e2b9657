"""Not enough: a type parameter that only names the state. The constructor can claim any state.

The fields are there in both states, so `None` has to be allowed, and a carrier that is missing is one more `None`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from ownership import Absent, Fact, Transferable, plan


class Planned: ...


class Prepared: ...


S = TypeVar("S", Planned, Prepared)


class Launcher:
    def launch(self, rows: int) -> None: ...


@plan
@dataclass(frozen=True)
class ScratchPlan(Generic[S]):
    rows: Fact[int]
    fused: Transferable[Launcher | Absent]
    route_pack: Transferable[Launcher | Absent]


def plan_scratch(rows: int) -> ScratchPlan[Planned]:
    pending = Absent("not compiled yet")
    return ScratchPlan(rows=rows, fused=pending, route_pack=pending)


def run(ready: ScratchPlan[Prepared]) -> None:
    print(ready.route_pack)


# Wrong


def returns_fresh(prepared: ScratchPlan[Prepared]) -> ScratchPlan[Prepared]:
    return plan_scratch(prepared.rows)  # error


def runs_unprepared() -> None:
    run(plan_scratch(8))  # error


def forges(prepared: ScratchPlan[Prepared]) -> ScratchPlan[Prepared]:
    pending = Absent("not compiled yet")
    return ScratchPlan(rows=prepared.rows, fused=prepared.fused, route_pack=pending)  # error: none
