"""Bundled carriers: a plan that was never prepared is launched."""

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


def prepare(planned: BundlePlan[None]) -> BundlePlan[Carriers]:
    made = Carriers(fold=compile_launcher("fold"), pack=compile_launcher("pack"))
    return BundlePlan(rows=planned.rows, carriers=made)


def run(ready: BundlePlan[Carriers]) -> str:
    return ready.carriers.pack.name


def wrong() -> None:
    run(plan_bundle(8))  # wrong


def right() -> None:
    run(prepare(plan_bundle(8)))
