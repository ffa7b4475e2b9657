"""Bundled carriers: one is forgotten."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from scratch import Launcher, compile_launcher

from ownership import Fact, Transferable, plan

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


def lossy(planned: BundlePlan[None]) -> BundlePlan[Carriers]:
    return BundlePlan(rows=planned.rows, carriers=Carriers(fold=compile_launcher("fold")))  # wrong


def whole(planned: BundlePlan[None]) -> BundlePlan[Carriers]:
    made = Carriers(fold=compile_launcher("fold"), pack=compile_launcher("pack"))
    return BundlePlan(rows=planned.rows, carriers=made)


def wrong() -> None:
    lossy(plan_bundle(8))


def right() -> None:
    whole(plan_bundle(8))
