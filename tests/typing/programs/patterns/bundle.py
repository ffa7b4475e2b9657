"""Recommended: the carriers are one value, and the plan is generic in its type.

A forgotten carrier is a missing argument, and a plan that was never prepared is of another type than one that was.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from ownership import Dropped, Fact, Transferable, materializer, plan

C = TypeVar("C")


class Launcher:
    def launch(self, rows: int) -> None: ...


@plan
@dataclass(frozen=True)
class Carriers:
    fused: Transferable[Launcher]
    topk_sum: Transferable[Launcher]
    route_pack: Transferable[Launcher | Dropped]


@plan
@dataclass(frozen=True)
class ScratchPlan(Generic[C]):
    rows: Fact[int]
    carriers: Transferable[C]


def plan_scratch(rows: int) -> ScratchPlan[None]:
    return ScratchPlan(rows=rows, carriers=None)


def run(ready: ScratchPlan[Carriers]) -> None:
    ready.carriers.fused.launch(ready.rows)


# Right


def prepare(planned: ScratchPlan[None]) -> ScratchPlan[Carriers]:
    made = Carriers(fused=Launcher(), topk_sum=Launcher(), route_pack=Launcher())
    return ScratchPlan(rows=planned.rows, carriers=made)


@materializer
def materialize(prepared: ScratchPlan[Carriers], rows: int) -> ScratchPlan[Carriers]:
    return ScratchPlan(rows=rows, carriers=prepared.carriers)


@materializer
def with_fewer_rows(prepared: ScratchPlan[Carriers]) -> ScratchPlan[Carriers]:
    return replace(prepared, rows=1)


def from_programs(fused: Launcher, topk_sum: Launcher) -> Carriers:
    return Carriers(fused=fused, topk_sum=topk_sum, route_pack=Dropped("route_pack", "one expert: nothing to pack"))


def serve() -> None:
    run(materialize(prepare(plan_scratch(8)), 3))


# Wrong: the shape of the published bug, and what is close to it


def forgets(programs: Carriers, rows: int) -> ScratchPlan[Carriers]:
    fresh = plan_scratch(rows)
    kept = Carriers(fused=programs.fused, topk_sum=programs.topk_sum)  # error
    return ScratchPlan(rows=fresh.rows, carriers=kept)


def forgets_in_prepare() -> Carriers:
    return Carriers(fused=Launcher(), topk_sum=Launcher())  # error


def gives_none(programs: Carriers) -> Carriers:
    return Carriers(fused=programs.fused, topk_sum=programs.topk_sum, route_pack=None)  # error


def returns_fresh(prepared: ScratchPlan[Carriers]) -> ScratchPlan[Carriers]:
    return plan_scratch(prepared.rows)  # error


def replaces_fresh(prepared: ScratchPlan[Carriers]) -> ScratchPlan[Carriers]:
    return replace(plan_scratch(prepared.rows), rows=prepared.rows)  # error


def completes_in_one_branch(prepared: ScratchPlan[Carriers]) -> ScratchPlan[Carriers]:
    fresh = plan_scratch(prepared.rows)
    if prepared.rows > 16:
        return ScratchPlan(rows=fresh.rows, carriers=prepared.carriers)
    return fresh  # error


def leaves_the_bundle_out(prepared: ScratchPlan[Carriers]) -> ScratchPlan[Carriers]:
    return ScratchPlan(rows=prepared.rows)  # error


def puts_none_in(prepared: ScratchPlan[Carriers]) -> ScratchPlan[Carriers]:
    return ScratchPlan(rows=prepared.rows, carriers=None)  # error


def runs_unprepared() -> None:
    run(plan_scratch(8))  # error


def launches_unprepared(planned: ScratchPlan[None]) -> None:
    planned.carriers.fused.launch(planned.rows)  # error


def assigns(prepared: ScratchPlan[Carriers]) -> None:
    prepared.carriers.fused = Launcher()  # error
