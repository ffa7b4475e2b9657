"""Every field of a plan has a kind."""

from __future__ import annotations

from dataclasses import dataclass

from scratch import Launcher

from ownership import Fact, Transferable, plan


@plan
@dataclass(frozen=True)
class MarkedPlan:
    rows: Fact[int]
    fold: Transferable[Launcher]
    pack: Transferable[Launcher]
