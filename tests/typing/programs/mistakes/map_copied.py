"""A map of carriers is copied, so that the two plans have one each."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scratch import Launcher, compile_launcher

from ownership import Fact, Transferable, materializer, plan


@plan
@dataclass(frozen=True)
class MapPlan:
    rows: Fact[int]
    launchers: Transferable[dict[int, Launcher]]


@materializer
def lossy(prepared: MapPlan) -> MapPlan:
    return replace(prepared, launchers=dict(prepared.launchers))  # wrong


@materializer
def whole(prepared: MapPlan) -> MapPlan:
    return replace(prepared, launchers=prepared.launchers)


def wrong() -> None:
    lossy(MapPlan(8, {8: compile_launcher("fold")}))


def right() -> None:
    whole(MapPlan(8, {8: compile_launcher("fold")}))
