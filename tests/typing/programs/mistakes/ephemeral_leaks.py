"""A log travels into the new plan."""

from __future__ import annotations

from dataclasses import dataclass

from scratch import Launcher, compile_launcher

from ownership import Ephemeral, Fact, Transferable, materializer, plan


@plan
@dataclass(frozen=True)
class LoggedPlan:
    rows: Fact[int]
    fold: Transferable[Launcher]
    log: Ephemeral[list[str]]


@materializer
def lossy(prepared: LoggedPlan) -> LoggedPlan:
    return LoggedPlan(rows=prepared.rows, fold=prepared.fold, log=prepared.log)  # wrong


@materializer
def whole(prepared: LoggedPlan) -> LoggedPlan:
    return LoggedPlan(rows=prepared.rows, fold=prepared.fold, log=[])


def wrong() -> None:
    lossy(LoggedPlan(8, compile_launcher("fold"), []))


def right() -> None:
    whole(LoggedPlan(8, compile_launcher("fold"), []))
