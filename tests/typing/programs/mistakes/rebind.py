"""A carrier of the prepared plan is assigned anew (the class is not frozen)."""

from __future__ import annotations

from dataclasses import dataclass

from scratch import Launcher, compile_launcher

from ownership import Fact, Transferable, materializer, plan


@plan
@dataclass
class OpenPlan:
    rows: Fact[int]
    fold: Transferable[Launcher]


@materializer
def lossy(prepared: OpenPlan) -> OpenPlan:
    prepared.fold = compile_launcher("fold")  # wrong
    return prepared


@materializer
def whole(prepared: OpenPlan) -> OpenPlan:
    prepared.rows = 4
    return prepared


def wrong() -> None:
    lossy(OpenPlan(8, compile_launcher("fold")))


def right() -> None:
    whole(OpenPlan(8, compile_launcher("fold")))
