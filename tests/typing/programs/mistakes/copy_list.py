"""A list of names, written by hand, misses a carrier."""

from __future__ import annotations

from dataclasses import dataclass

from scratch import Launcher, compile_launcher

from ownership import Absent, Fact, Transferable, materializer, plan


@plan
@dataclass
class ListedPlan:
    rows: Fact[int]
    fold: Transferable[Launcher | Absent]
    pack: Transferable[Launcher | Absent]


def blank(rows: int) -> ListedPlan:
    return ListedPlan(rows, Absent("not compiled yet"), Absent("not compiled yet"))


@materializer
def lossy(prepared: ListedPlan) -> ListedPlan:
    fresh = blank(prepared.rows)
    for name in ("fold",):  # wrong
        setattr(fresh, name, getattr(prepared, name))  # wrong
    return fresh  # wrong


@materializer
def whole(prepared: ListedPlan) -> ListedPlan:
    fresh = blank(prepared.rows)
    for name in ("fold", "pack"):
        setattr(fresh, name, getattr(prepared, name))
    return fresh


def wrong() -> None:
    lossy(ListedPlan(8, compile_launcher("fold"), compile_launcher("pack")))


def right() -> None:
    whole(ListedPlan(8, compile_launcher("fold"), compile_launcher("pack")))
