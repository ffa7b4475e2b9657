"""`Absent` stands where the source has a carrier."""

from __future__ import annotations

from scratch import ScratchPlan, prepare

from ownership import Absent, Dropped, materializer


@materializer
def lossy(prepared: ScratchPlan) -> ScratchPlan:
    return ScratchPlan(rows=prepared.rows, fold=prepared.fold, pack=Absent("not needed here"))  # wrong


@materializer
def whole(prepared: ScratchPlan) -> ScratchPlan:
    return ScratchPlan(rows=prepared.rows, fold=prepared.fold, pack=Dropped("pack", "a single rank packs nothing"))


def wrong() -> None:
    lossy(prepare(8))


def right() -> None:
    whole(prepare(8))
