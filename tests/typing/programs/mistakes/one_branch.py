"""The plan is completed in one branch only."""

from __future__ import annotations

from dataclasses import replace

from scratch import ScratchPlan, plan_scratch, prepare

from ownership import materializer


@materializer
def lossy(prepared: ScratchPlan) -> ScratchPlan:
    fresh = plan_scratch(prepared.rows)
    if prepared.rows > 16:
        fresh = replace(fresh, fold=prepared.fold, pack=prepared.pack)
    return fresh  # wrong


@materializer
def whole(prepared: ScratchPlan) -> ScratchPlan:
    fresh = plan_scratch(prepared.rows)
    if prepared.rows > 16:
        return replace(fresh, fold=prepared.fold, pack=prepared.pack)
    return replace(fresh, pack=prepared.pack, fold=prepared.fold)


def wrong() -> None:
    lossy(prepare(8))


def right() -> None:
    whole(prepare(8))
