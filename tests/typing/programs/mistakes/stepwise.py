"""The plan is completed step by step, and one step is missing."""

from __future__ import annotations

from dataclasses import replace

from scratch import ScratchPlan, plan_scratch, prepare

from ownership import materializer


@materializer
def lossy(prepared: ScratchPlan) -> ScratchPlan:
    half = replace(plan_scratch(1), fold=prepared.fold)  # wrong
    return replace(half, rows=prepared.rows)  # wrong


@materializer
def whole(prepared: ScratchPlan) -> ScratchPlan:
    half = replace(plan_scratch(1), fold=prepared.fold)
    return replace(half, rows=prepared.rows, pack=prepared.pack)


def wrong() -> None:
    lossy(prepare(8))


def right() -> None:
    whole(prepare(8))
