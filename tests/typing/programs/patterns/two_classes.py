"""Two classes: what planning returns has no carriers at all, and the finished plan requires them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ownership import Fact, Transferable, materializer, plan


class Launcher:
    def launch(self, rows: int) -> None: ...


@plan
@dataclass(frozen=True)
class PlannedScratch:
    rows: Fact[int]


@plan
@dataclass(frozen=True)
class PreparedScratch:
    rows: Fact[int]
    fused: Transferable[Launcher]
    route_pack: Transferable[Launcher]


def plan_scratch(rows: int) -> PlannedScratch:
    return PlannedScratch(rows=rows)


def run(ready: PreparedScratch) -> None:
    ready.route_pack.launch(ready.rows)


# Right


def prepare(planned: PlannedScratch) -> PreparedScratch:
    return PreparedScratch(rows=planned.rows, fused=Launcher(), route_pack=Launcher())


@materializer
def materialize(prepared: PreparedScratch, rows: int) -> PreparedScratch:
    fresh = plan_scratch(rows)
    return PreparedScratch(rows=fresh.rows, fused=prepared.fused, route_pack=prepared.route_pack)


# Wrong


def forgets(prepared: PreparedScratch, rows: int) -> PreparedScratch:
    fresh = plan_scratch(rows)
    return PreparedScratch(rows=fresh.rows, fused=prepared.fused)  # error


def returns_fresh(prepared: PreparedScratch) -> PreparedScratch:
    return plan_scratch(prepared.rows)  # error


def replaces_fresh(prepared: PreparedScratch) -> PreparedScratch:
    return replace(plan_scratch(prepared.rows), rows=prepared.rows)  # error


def runs_unprepared() -> None:
    run(plan_scratch(8))  # error
