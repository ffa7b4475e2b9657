"""`plan.pack or compile()`: where the carrier is missing, it is compiled in silence."""

from __future__ import annotations

from scratch import Launcher, ScratchPlan, compile_launcher, plan_scratch, prepare

from ownership import Absent


def lossy(prepared: ScratchPlan) -> Launcher | Absent:
    return prepared.pack or compile_launcher("pack")  # wrong


def whole(prepared: ScratchPlan) -> Launcher:
    if isinstance(prepared.pack, Absent):
        raise LookupError(prepared.pack.reason)
    return prepared.pack


def wrong() -> None:
    lossy(plan_scratch(8))


def right() -> None:
    whole(prepare(8))
