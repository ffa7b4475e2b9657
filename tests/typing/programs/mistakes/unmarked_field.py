"""A field of a plan has no kind."""

from __future__ import annotations

from dataclasses import dataclass

from scratch import Launcher

from ownership import Fact, Transferable, plan


@plan
@dataclass(frozen=True)
class UnmarkedPlan:
    rows: Fact[int]
    fold: Transferable[Launcher]
    pack: Launcher  # wrong
