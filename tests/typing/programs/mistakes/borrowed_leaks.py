"""The caller's storage travels into the new plan."""

from __future__ import annotations

from dataclasses import dataclass

from scratch import Launcher, compile_launcher

from ownership import Borrowed, Fact, Transferable, materializer, plan


@plan
@dataclass(frozen=True)
class StoredPlan:
    rows: Fact[int]
    fold: Transferable[Launcher]
    storage: Borrowed[bytearray]


@materializer
def lossy(prepared: StoredPlan) -> StoredPlan:
    return StoredPlan(rows=prepared.rows, fold=prepared.fold, storage=prepared.storage)  # wrong


@materializer
def whole(prepared: StoredPlan) -> StoredPlan:
    return StoredPlan(rows=prepared.rows, fold=prepared.fold, storage=bytearray(8))


def wrong() -> None:
    lossy(StoredPlan(8, compile_launcher("fold"), bytearray(8)))


def right() -> None:
    whole(StoredPlan(8, compile_launcher("fold"), bytearray(8)))
