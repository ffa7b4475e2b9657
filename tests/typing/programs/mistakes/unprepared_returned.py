"""A materializer returns a plan that was never prepared."""

from __future__ import annotations

from scratch import ScratchPlan, plan_scratch, prepare

from ownership import materializer, transfer


@materializer
def lossy(prepared: ScratchPlan) -> ScratchPlan:
    return plan_scratch(prepared.rows)  # wrong


@materializer
def whole(prepared: ScratchPlan) -> ScratchPlan:
    return transfer(prepared, into=plan_scratch(prepared.rows))


def wrong() -> None:
    lossy(prepare(8))


def right() -> None:
    whole(prepare(8))
