"""Bundled carriers: a materializer returns the fresh plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from scratch import Launcher, compile_launcher

from ownership import Fact, Transferable, materializer, plan

C = TypeVar("C")


@plan
@dataclass(frozen=True)
class Carriers:
    fold: Transferable[Launcher]
    pack: Transferable[Launcher]


@plan
@dataclass(frozen=True)
class BundlePlan(Generic[C]):
    rows: Fact[int]
    carriers: Transferable[C]


def plan_bundle(rows: int) -> BundlePlan[None]:
    return BundlePlan(rows=rows, carriers=None)


@materializer
def lossy(prepared: BundlePlan[Carriers]) -> BundlePlan[Carriers]:
    return plan_bundle(prepared.rows)  # wrong


@materializer
def whole(prepared: BundlePlan[Carriers]) -> BundlePlan[Carriers]:
    return BundlePlan(rows=prepared.rows, carriers=prepared.carriers)


def prepared_plan() -> BundlePlan[Carriers]:
    return BundlePlan(rows=8, carriers=Carriers(fold=compile_launcher("fold"), pack=compile_launcher("pack")))


def wrong() -> None:
    lossy(prepared_plan())


def right() -> None:
    whole(prepared_plan())
