"""A carrier is compiled again in place of being carried."""

from __future__ import annotations

from dataclasses import replace

from scratch import ScratchPlan, compile_launcher, prepare

from ownership import materializer


@materializer
def lossy(prepared: ScratchPlan) -> ScratchPlan:
    return replace(prepared, fold=compile_launcher("fold"))  # wrong


@materializer
def whole(prepared: ScratchPlan) -> ScratchPlan:
    return replace(prepared, rows=4)


def wrong() -> None:
    lossy(prepare(8))


def right() -> None:
    whole(prepare(8))
