"""Declarations that `@plan` refuses at run time."""

from __future__ import annotations

from dataclasses import KW_ONLY, InitVar, dataclass, field
from typing import Annotated, ClassVar, NamedTuple, TypeVar

import ownership
from ownership import Absent, Fact, Kind, Transferable, plan

from cases.plans import Kernel

T = TypeVar("T")
Carrier = Transferable[T]
Launch = Transferable[Kernel]
Hidden = Annotated[Kernel, Kind.TRANSFERABLE]


@plan
@dataclass
class Fields:
    rows: int  # E: unmarked rows
    named: Launch  # E: unmarked named
    hidden: Hidden  # E: unmarked hidden
    generic: Carrier[Kernel | Absent]
    inside: Transferable[Kernel] | None  # E: unmarked inside
    fold: Transferable[Kernel | None] = None  # E: default fold
    written: Annotated[Kernel | None, Kind.TRANSFERABLE] = field(default_factory=lambda: None)  # E: default written
    limit: ClassVar[int] = 3
    given: InitVar[int] = 3
    _: KW_ONLY
    late: Transferable[Kernel | Absent] = field(init=False)
    name: Fact[str] = "x"


@ownership.plan()
@dataclass
class Called:
    rows: int  # E: unmarked rows
    fold: Transferable[Kernel]


@dataclass
class Traced:
    trace: list[str]


@plan
@dataclass
class Inherits(Traced):  # E: unmarked trace
    fold: Transferable[Kernel]


@plan
class Tuple(NamedTuple):
    rows: int  # E: unmarked rows
    fold: Transferable[Kernel | None] = None  # E: default fold
