"""`object.__setattr__` gets around a frozen class."""

from __future__ import annotations

from scratch import ScratchPlan, compile_launcher, prepare

from ownership import materializer


@materializer
def lossy(prepared: ScratchPlan) -> ScratchPlan:
    object.__setattr__(prepared, "fold", compile_launcher("fold"))  # wrong
    return prepared


@materializer
def whole(prepared: ScratchPlan) -> ScratchPlan:
    object.__setattr__(prepared, "rows", 4)
    return prepared


def wrong() -> None:
    lossy(prepare(8))


def right() -> None:
    whole(prepare(8))
