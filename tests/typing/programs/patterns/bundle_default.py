"""The bundle with a default for the type parameter (PEP 696), so that serving code writes plain `ScratchPlan`.

Needs Python 3.13, or `typing_extensions`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from typing_extensions import TypeVar

from ownership import Fact, Transferable, plan


class Launcher:
    def launch(self, rows: int) -> None: ...


@plan
@dataclass(frozen=True)
class Carriers:
    fused: Transferable[Launcher]
    route_pack: Transferable[Launcher]


C = TypeVar("C", default=Carriers)


@plan
@dataclass(frozen=True)
class ScratchPlan(Generic[C]):
    rows: Fact[int]
    carriers: Transferable[C]


def plan_scratch(rows: int) -> ScratchPlan[None]:
    return ScratchPlan(rows=rows, carriers=None)


def run(ready: ScratchPlan) -> None:
    ready.carriers.fused.launch(ready.rows)


# Right


def prepare(planned: ScratchPlan[None]) -> ScratchPlan:
    return ScratchPlan(rows=planned.rows, carriers=Carriers(fused=Launcher(), route_pack=Launcher()))


def materialize(prepared: ScratchPlan, rows: int) -> ScratchPlan:
    return ScratchPlan(rows=rows, carriers=prepared.carriers)


def serve() -> None:
    run(materialize(prepare(plan_scratch(8)), 3))


# Wrong


def forgets(prepared: ScratchPlan) -> ScratchPlan:
    return ScratchPlan(rows=prepared.rows, carriers=Carriers(fused=prepared.carriers.fused))  # error


def returns_fresh(prepared: ScratchPlan) -> ScratchPlan:
    return plan_scratch(prepared.rows)  # error


def runs_unprepared() -> None:
    run(plan_scratch(8))  # error
