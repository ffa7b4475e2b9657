"""A round trip through `dataclasses.asdict`."""

from __future__ import annotations

from dataclasses import asdict

from scratch import ScratchPlan, prepare

from ownership import materializer


@materializer
def lossy(prepared: ScratchPlan) -> ScratchPlan:
    return ScratchPlan(**asdict(prepared))  # wrong


@materializer
def whole(prepared: ScratchPlan) -> ScratchPlan:
    return ScratchPlan(**vars(prepared))


def wrong() -> None:
    lossy(prepare(8))


def right() -> None:
    whole(prepare(8))
