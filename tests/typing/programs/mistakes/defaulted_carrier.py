"""A transferable field has a default."""

from __future__ import annotations

from dataclasses import dataclass

from scratch import Launcher

from ownership import Absent, Fact, Transferable, plan


@plan
@dataclass(frozen=True)
class DefaultedPlan:
    fold: Transferable[Launcher]
    pack: Transferable[Launcher | Absent] = Absent("not compiled yet")  # wrong
    rows: Fact[int] = 1
