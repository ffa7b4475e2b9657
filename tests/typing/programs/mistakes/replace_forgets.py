"""`replace` on a fresh plan forgets a carrier (the published bug)."""

from __future__ import annotations

from dataclasses import replace

from scratch import ScratchPlan, plan_scratch, prepare

from ownership import materializer


@materializer
def lossy(prepared: ScratchPlan) -> ScratchPlan:
    fresh = plan_scratch(prepared.rows)
    return replace(fresh, fold=prepared.fold)  # wrong


@materializer
def whole(prepared: ScratchPlan) -> ScratchPlan:
    fresh = plan_scratch(prepared.rows)
    return replace(fresh, fold=prepared.fold, pack=prepared.pack)


def wrong() -> None:
    lossy(prepare(8))


def right() -> None:
    whole(prepare(8))
