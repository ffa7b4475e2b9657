"""What the bundle leaves open: steps that are wrong and that not every type checker rejects.

`@materializer` rejects all of them at run time.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from ownership import Fact, Transferable, plan

C = TypeVar("C")


class Launcher: ...


@plan
@dataclass(frozen=True)
class Carriers:
    fused: Transferable[Launcher]
    route_pack: Transferable[Launcher]


@plan
@dataclass(frozen=True)
class ScratchPlan(Generic[C]):
    rows: Fact[int]
    carriers: Transferable[C]


def replaces_by_none(prepared: ScratchPlan[Carriers]) -> ScratchPlan[Carriers]:
    return replace(prepared, carriers=None)  # error: mypy, pyrefly


def replaces_in_the_bundle(prepared: ScratchPlan[Carriers]) -> Carriers:
    return replace(prepared.carriers, route_pack=None)  # error: mypy, pyrefly


def compiles_again(prepared: ScratchPlan[Carriers]) -> ScratchPlan[Carriers]:
    return ScratchPlan(rows=prepared.rows, carriers=Carriers(Launcher(), Launcher()))  # error: none


def copies(prepared: ScratchPlan[Carriers]) -> ScratchPlan[Carriers]:
    return copy.deepcopy(prepared)  # error: none


def swaps(prepared: ScratchPlan[Carriers]) -> Carriers:
    return Carriers(fused=prepared.carriers.route_pack, route_pack=prepared.carriers.fused)  # error: none
