"""`copy.deepcopy` of a whole plan."""

from __future__ import annotations

import copy

from scratch import ScratchPlan, prepare

from ownership import materializer


@materializer
def lossy(prepared: ScratchPlan) -> ScratchPlan:
    return copy.deepcopy(prepared)  # wrong


@materializer
def whole(prepared: ScratchPlan) -> ScratchPlan:
    return copy.copy(prepared)


def wrong() -> None:
    lossy(prepare(8))


def right() -> None:
    whole(prepare(8))
