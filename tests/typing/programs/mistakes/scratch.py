"""The plan that most of these programs lose a part of, and how it is made and prepared."""

from __future__ import annotations

from dataclasses import dataclass

from ownership import Absent, Fact, Transferable, carrier, plan

__all__ = ["Launcher", "ScratchPlan", "compile_launcher", "plan_scratch", "prepare"]


@carrier
@dataclass(frozen=True, eq=False)
class Launcher:
    name: str


def compile_launcher(name: str) -> Launcher:
    return Launcher(name)


@plan
@dataclass(frozen=True)
class ScratchPlan:
    rows: Fact[int]
    fold: Transferable[Launcher | Absent]
    pack: Transferable[Launcher | Absent]


def plan_scratch(rows: int) -> ScratchPlan:
    pending = Absent("not compiled yet")
    return ScratchPlan(rows=rows, fold=pending, pack=pending)


def prepare(rows: int) -> ScratchPlan:
    return ScratchPlan(rows=rows, fold=compile_launcher("fold"), pack=compile_launcher("pack"))
