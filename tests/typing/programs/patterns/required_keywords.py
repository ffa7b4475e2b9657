"""Not enough: a function that requires every carrier as a keyword. Those who call it cannot forget one; nobody must."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ParamSpec, TypedDict, TypeVar

from typing_extensions import Unpack

from ownership import Absent, Fact, Transferable, plan

P = ParamSpec("P")
R = TypeVar("R")


class Launcher:
    def launch(self, rows: int) -> None: ...


@plan
@dataclass(frozen=True)
class ScratchPlan:
    rows: Fact[int]
    fused: Transferable[Launcher | Absent]
    route_pack: Transferable[Launcher | Absent]


class CarrierKeywords(TypedDict):
    fused: Launcher | Absent
    route_pack: Launcher | Absent


def plan_scratch(rows: int) -> ScratchPlan:
    pending = Absent("not compiled yet")
    return ScratchPlan(rows=rows, fused=pending, route_pack=pending)


def complete(fresh: ScratchPlan, **carriers: Unpack[CarrierKeywords]) -> ScratchPlan:
    return replace(fresh, fused=carriers["fused"], route_pack=carriers["route_pack"])


def complete_with(plan_class: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    return plan_class(*args, **kwargs)


# Right


def materialize(prepared: ScratchPlan) -> ScratchPlan:
    return complete(plan_scratch(prepared.rows), fused=prepared.fused, route_pack=prepared.route_pack)


def materialize_by_class(prepared: ScratchPlan) -> ScratchPlan:
    return complete_with(ScratchPlan, rows=3, fused=prepared.fused, route_pack=prepared.route_pack)


# Wrong


def forgets(prepared: ScratchPlan) -> ScratchPlan:
    return complete(plan_scratch(prepared.rows), fused=prepared.fused)  # error


def forgets_by_class(prepared: ScratchPlan) -> ScratchPlan:
    return complete_with(ScratchPlan, rows=3, fused=prepared.fused)  # error


def does_not_call_it(prepared: ScratchPlan) -> ScratchPlan:
    return replace(plan_scratch(prepared.rows), fused=prepared.fused)  # error: none
