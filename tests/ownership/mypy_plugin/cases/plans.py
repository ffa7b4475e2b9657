"""The plans of the cases: a flat one, a binding of it, one that must be told what it borrows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from ownership import Absent, Borrowed, Derived, Ephemeral, Fact, Kind, Transferable, plan


class Kernel:
    def __init__(self, name: str) -> None:
        self.name = name


def compile_kernel(name: str) -> Kernel:
    return Kernel(name)


@plan
@dataclass(frozen=True)
class Scratch:
    rows: Fact[int]
    size: Derived[int]
    fold: Transferable[Kernel | Absent]
    pack: Transferable[Kernel | Absent]


def plan_scratch(rows: int) -> Scratch:
    later = Absent("not prepared")
    return Scratch(rows, rows * 64, fold=later, pack=later)


@plan
@dataclass
class Binding:
    fold: Transferable[Kernel | Absent]
    pack: Transferable[Kernel | Absent]
    stream: Borrowed[object]
    seen: Ephemeral[dict[int, int]] = field(default_factory=dict)
    calls: Ephemeral[int] = 0


@plan
@dataclass(frozen=True)
class Launches:
    rows: Fact[int]
    table: Transferable[Mapping[int, Kernel]]


@plan
@dataclass(frozen=True)
class Written:
    """Marks written out, and in strings."""

    rows: Annotated[int, Kind.FACT]
    fold: Annotated[Kernel | Absent, Kind.TRANSFERABLE]
    pack: "Transferable[Kernel | Absent]"


@plan
class Programs(NamedTuple):
    rows: Fact[int]
    fold: Transferable[Kernel | Absent]
    pack: Transferable[Kernel | Absent]


def plan_written(rows: int) -> Written:
    return Written(rows, Absent("not prepared"), Absent("not prepared"))
