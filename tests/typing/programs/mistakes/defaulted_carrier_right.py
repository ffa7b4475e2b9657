"""Only a fact has a default."""

from __future__ import annotations

from dataclasses import dataclass

from scratch import Launcher

from ownership import Absent, Fact, Transferable, plan


@plan
@dataclass(frozen=True)
class PlainPlan:
    fold: Transferable[Launcher]
    pack: Transferable[Launcher | Absent]
    rows: Fact[int] = 1
