"""Every way of writing a copy in every place where one may stand: right, with a carrier lost, with one made again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

__all__ = ["PLACES", "PLANS", "SPELLINGS", "Fault", "Program", "programs"]

Fault = Literal["none", "dropped", "rebuilt"]

HEAD = """\
from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast, overload

from shapes_plans import Engine, Kernel, Sample, Scratch, compiled, consume, plan_scratch
from ownership import Absent, transfer

S = TypeVar("S", bound=Scratch)
"""

PLANS = """\
from __future__ import annotations

from dataclasses import dataclass

from ownership import Absent, Fact, Transferable, plan


class Kernel: ...


def compiled() -> Kernel:
    return Kernel()


@plan
@dataclass(frozen=True)
class Scratch:
    rows: Fact[int]
    fold: Transferable[Kernel | Absent | None]
    pack: Transferable[Kernel | Absent | None]


@dataclass
class Sample:
    plan: Scratch


class Engine:
    def __init__(self, plan: Scratch) -> None:
        self.plan = plan
        self.plans = {1: plan}


def plan_scratch(rows: int) -> Scratch:
    return Scratch(rows, Absent("later"), Absent("later"))


def consume(scratch: Scratch) -> int:
    return scratch.rows
"""


def _sections(text: str) -> dict[str, str]:
    """What is under each `# headline`."""
    found = re.split(r"^# (.+)\n", text, flags=re.MULTILINE)[1:]
    return {name: lines.rstrip("\n") for name, lines in zip(found[::2], found[1::2], strict=True)}


#: Lines that make `made` of `old`. What is between bars is left out where the carrier is dropped; after a value and
#: `|None|`, that stands there instead.
SPELLINGS = _sections("""\
# replace
made = replace(plan_scratch(rows), fold=old.fold, |pack=PACK|)
# replace of a module
made = dataclasses.replace(plan_scratch(rows), fold=old.fold, |pack=PACK|)
# positions
made = Scratch(rows, old.fold, |PACK|None|)
# keywords
made = Scratch(rows=rows, fold=old.fold, pack=|PACK|None|)
# steps
made = plan_scratch(rows)
made = replace(made, fold=old.fold)
|made = replace(made, pack=PACK)|
# assignments
made = plan_scratch(rows)
object.__setattr__(made, 'fold', old.fold)
|object.__setattr__(made, 'pack', PACK)|
# locals
fold, pack = old.fold, PACK
made = replace(plan_scratch(rows), fold=fold, |pack=pack|)
# walrus
made = replace(plan_scratch(rows), fold=(first := old.fold), |pack=PACK|)
# a dict
given = {'fold': old.fold, |'pack': PACK|}
made = replace(plan_scratch(rows), **given)
# a dict that grows
given: dict[str, Any] = {'fold': old.fold}
|given['pack'] = PACK|
made = replace(plan_scratch(rows), **given)
# a function inside
def finish(fresh: Scratch) -> Scratch:
    return replace(fresh, fold=old.fold, |pack=PACK|)
made = finish(plan_scratch(rows))
# a lambda
finish = lambda fresh: replace(fresh, fold=old.fold, |pack=PACK|)
made = finish(plan_scratch(rows))
# either
made = (
    replace(plan_scratch(rows), fold=old.fold, |pack=PACK|)
    if rows
    else replace(plan_scratch(1), fold=old.fold, |pack=PACK|)
)
# unpacked
given = (rows, old.fold, |PACK|None|)
made = Scratch(*given)
# partial
make = functools.partial(Scratch, rows, fold=old.fold)
made = make(pack=|PACK|None|)
# getattr
made = replace(plan_scratch(rows), fold=getattr(old, 'fold'), |pack=PACK|)
# cast
made = cast(Scratch, replace(plan_scratch(rows), fold=cast(Any, old.fold), |pack=PACK|))
# copied and changed
made = replace(copy.copy(old), pack=|old.pack if rows else PACK|None|)
# names
made = replace(plan_scratch(rows), **{name: getattr(old, name) for name in ('fold', |'pack'|)})
# if and else
if rows:
    made = replace(plan_scratch(rows), fold=old.fold, |pack=PACK|)
else:
    made = replace(plan_scratch(1), fold=old.fold, |pack=PACK|)
# a loop
made = plan_scratch(rows)
for name in ('fold', |'pack'|):
    object.__setattr__(made, name, getattr(old, name))
# try
try:
    made = replace(plan_scratch(rows), fold=old.fold, |pack=PACK|)
except ValueError:
    raise RuntimeError from None
# transferred
made = replace(transfer(old, into=plan_scratch(rows)), pack=|old.pack if rows else PACK|None|)
# union
made = replace(plan_scratch(rows), **({'fold': old.fold} UNION {|'pack': PACK|}))
""")

#: Where a value of its own can stand for the carrier.
_REBUILT = {name for name, text in SPELLINGS.items() if "PACK" in text and "old.pack if" not in text}

#: Functions and classes around the lines; `LINES` stands for them, `NAME` for a name of its own.
PLACES = _sections("""\
# a function
def NAME(old: Scratch, rows: int) -> Scratch:
    LINES
    return made
# a coroutine
async def NAME(old: Scratch, rows: int) -> Scratch:
    LINES
    return made
# a generator
def NAME(old: Scratch, rows: int) -> Iterator[Scratch]:
    LINES
    yield made
# a method
class NAME:
    def run(self, old: Scratch, rows: int) -> Scratch:
        LINES
        return made
# a class method
class NAME:
    @classmethod
    def run(cls, old: Scratch, rows: int) -> Scratch:
        LINES
        return made
# a static method
class NAME:
    @staticmethod
    def run(old: Scratch, rows: int) -> Scratch:
        LINES
        return made
# a property
class NAME:
    def __init__(self, plan: Scratch) -> None:
        self.plan = plan

    @property
    def run(self) -> Scratch:
        old, rows = self.plan, 3
        LINES
        return made
# an attribute
class NAME:
    def __init__(self, old: Scratch, rows: int) -> None:
        LINES
        self.plan = made
# an engine's plan
def NAME(engine: Engine, rows: int) -> Scratch:
    old = engine.plan
    LINES
    return made
# a table
def NAME(engine: Engine, rows: int) -> Scratch:
    old = engine.plans[rows]
    LINES
    return made
# a loop
def NAME(plans: Sequence[Scratch], rows: int) -> list[Scratch]:
    found = []
    for old in plans:
        LINES
        found.append(made)
    return found
# a while
def NAME(old: Scratch, rows: int) -> Scratch:
    while True:
        LINES
        return made
# with
def NAME(old: Scratch, rows: int) -> Scratch:
    with contextlib.nullcontext():
        LINES
        return made
# finally
def NAME(old: Scratch, rows: int) -> Scratch:
    try:
        LINES
        return made
    finally:
        print(rows)
# match
def NAME(old: Scratch, rows: int) -> Scratch:
    match rows:
        case 1:
            return old
        case _:
            LINES
            return made
# optional
def NAME(old: Scratch | None, rows: int) -> Scratch:
    if old is None:
        return plan_scratch(rows)
    LINES
    return made
# a type variable
def NAME(old: S, rows: int) -> Scratch:
    LINES
    return made
# used here
def NAME(old: Scratch, rows: int) -> int:
    LINES
    return consume(made)
# in a tuple
def NAME(old: Scratch, rows: int) -> tuple[Scratch, int]:
    LINES
    return made, rows
# in a record
def NAME(old: Scratch, rows: int) -> Sample:
    LINES
    return Sample(made)
# a function inside
def NAME(old: Scratch, rows: int) -> Callable[[], Scratch]:
    def inner() -> Scratch:
        LINES
        return made
    return inner
# cached
@functools.lru_cache(maxsize=None)
def NAME(old: Scratch, rows: int) -> Scratch:
    LINES
    return made
# a context manager
@contextlib.contextmanager
def NAME(old: Scratch, rows: int) -> Iterator[Scratch]:
    LINES
    yield made
# overloaded
@overload
def NAME(old: Scratch, rows: int) -> Scratch: ...
@overload
def NAME(old: Scratch, rows: str) -> str: ...
def NAME(old: Scratch, rows: Any) -> Any:
    LINES
    return made
# without annotations
def NAME(old, rows):  # type: ignore[no-untyped-def]
    LINES
    return made
# dispatched
@functools.singledispatch
def NAME(old: object, rows: int) -> object:
    return old

@NAME.register
def NAME_of(old: Scratch, rows: int) -> object:
    LINES
    return made
# a cached property
class NAME:
    def __init__(self, plan: Scratch) -> None:
        self.plan = plan

    @functools.cached_property
    def run(self) -> Scratch:
        old, rows = self.plan, 3
        LINES
        return made
# an early return
def NAME(old: Scratch, rows: int) -> Scratch:
    if rows == old.rows:
        return old
    LINES
    return made
# asserted
def NAME(thing: object, rows: int) -> Scratch:
    assert isinstance(thing, Engine)
    old = thing.plan
    LINES
    return made
# the module
NAME_engine = Engine(plan_scratch(1))
old, rows = NAME_engine.plan, 3
LINES
NAME = made
# keywords
def NAME(*, old: Scratch, rows: int = 3, **more: object) -> Scratch:
    LINES
    return made
# the parameter again
def NAME(old: Scratch, rows: int) -> Scratch:
    LINES
    old = made
    return old
# asynchronous
async def NAME(olds: AsyncIterator[Scratch], rows: int) -> Scratch:
    async for old in olds:
        LINES
        return made
    raise ValueError
""")


@dataclass(frozen=True)
class Program:
    """One module, and what is wrong with it."""

    name: str
    spelling: str
    place: str
    fault: Fault
    text: str


def programs() -> Iterator[Program]:
    """Every spelling in every place, with each fault that it can have."""
    faults: tuple[Fault, ...] = ("none", "dropped", "rebuilt")
    for place_number, (place, around) in enumerate(PLACES.items()):
        for number, (spelling, lines) in enumerate(SPELLINGS.items()):
            for fault in faults:
                if fault == "rebuilt" and spelling not in _REBUILT:
                    continue
                name = f"shape_{place_number}_{number}_{fault}"
                text = _placed(around, _faulty(lines, fault)).replace("NAME", name)
                yield Program(name, spelling, place, fault, f"{HEAD}\n\n{text}\n")


def _faulty(lines: str, fault: Fault) -> str:
    """The lines with that fault."""
    dropped = fault == "dropped"
    lines = re.sub(r"\|([^|\n]*)\|None\|", "None" if dropped else r"\1", lines)
    lines = re.sub(r"\|([^|\n]+)\|", "" if dropped else r"\1", lines)
    kept = "\n".join(line for line in lines.split("\n") if line.strip())
    return kept.replace(" UNION ", " | ").replace("PACK", "compiled()" if fault == "rebuilt" else "old.pack")


def _placed(around: str, lines: str) -> str:
    found = []
    for line in around.split("\n"):
        if line.strip() == "LINES":
            indent = line[: len(line) - len(line.lstrip())]
            found += [indent + each for each in lines.split("\n")]
        else:
            found.append(line)
    return "\n".join(found)
