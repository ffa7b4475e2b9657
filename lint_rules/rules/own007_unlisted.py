"""A list of a plan's carriers that is written by hand misses one of them.

What a session retains, loads ahead of the freeze, counts or evicts must be what a plan can launch. A tuple of fields, a
table of their names, or a `carriers()` method was complete on the day it was written; the field that was added later is
not in it. That program is collected while a plan still names it, or it is loaded in the middle of a request.

The rule reports tuples, lists, sets, dicts, generators, repeated calls (`keep(plan.a); keep(plan.b)`) and tables of
names that are walked with `getattr`, where they name more than half of the transferable fields of one plan and miss
others, and where a name says that they are meant to have all: the function's, the variable's or the callee's, such as
`carriers`, `_retained`, `PROGRAM_NAMES`, `load`. A word that narrows it down keeps the rule silent
(`prefill_kernels`), and so does a function that speaks of the missing field elsewhere.

`carriers(plan)` of `ownership`, or a walk over `dataclasses.fields`, finds later fields by itself.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from lint_rules.findings import Edit, Finding, Fix
from lint_rules.rules._wording import quoted
from lint_rules.rules.base import Context, Rule
from lint_rules.usage.enumerations import find_enumerations
from lint_rules.usage.views import text_of, text_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.index.plans import PlanInfo
    from lint_rules.usage.enumerations import Entry, Enumeration

__all__ = ["RULE"]

CODE = "OWN007"


def run(context: Context) -> Iterator[Finding]:
    for enumeration in find_enumerations(context.usage()):
        yield finding(enumeration)


def finding(found: Enumeration) -> Finding:
    plan = found.plan
    declared = tuple(plan.fields[name].place for name in found.missing)
    places = ", ".join(dict.fromkeys(map(str, declared)))
    it = "it" if len(found.missing) == 1 else "them"
    return Finding(
        code=CODE,
        place=found.module.place(found.node),
        class_name=plan.cls.full_name,
        fields=found.missing,
        message=(
            f"{quoted(found.missing)} of {plan.cls.qualname} (declared at {places}) {'is' if it == 'it' else 'are'}"
            f" missing here, where {quoted(found.named)} are listed: what works through this list leaves {it} out."
            f" Add {it}, or take the list from `carriers(plan)`, which cannot forget one."
        ),
        declared_at=declared,
        fixes=tuple(fixes(found)),
    )


def fixes(found: Enumeration) -> Iterator[Fix]:
    edits = [edit for name in found.missing for edit in _edits(name, found)]
    if len(edits) != len(found.missing):
        return
    same = all(_type_of(name, found.plan) == _type_of(found.named[0], found.plan) for name in found.plan.transferable)
    sure = same and _type_of(found.named[0], found.plan) is not None
    merged = _merged(edits)
    yield Fix(f"list {quoted(found.missing)} too", "safe" if sure else "unsafe", tuple(merged))


def _type_of(name: str, plan: PlanInfo) -> str | None:
    info = plan.fields[name].info
    return ast.unparse(info.annotation) if info is not None and info.annotation is not None else None


def _edits(name: str, found: Enumeration) -> Iterator[Edit]:
    """The entry for a field beside that of its neighbour in the order of declaration, written in the same way."""
    order = list(found.plan.transferable)
    before = [entry for entry in found.entries if order.index(entry.field) < order.index(name)]
    neighbour = max(before, key=lambda entry: order.index(entry.field)) if before else found.entries[0]
    text, entry = _written(neighbour, name, found)
    if not text:
        return
    if isinstance(neighbour.node, ast.stmt):
        yield Edit(found.module.place(neighbour.node), name, entry, statement=True)
        return
    gap = _gap(found)
    joined = f"{text},{gap}{entry}" if before else f"{entry},{gap}{text}"
    yield Edit(text_place(found.module, neighbour.key or neighbour.node), name, joined, old=text)


def _written(entry: Entry, name: str, found: Enumeration) -> tuple[str, str]:
    """The text of an entry, and that of one for another field; both empty where it cannot be told."""
    value = text_of(found.module, entry.node)
    own = rf"\b{re.escape(entry.field)}\b"
    if len(re.findall(own, value)) != 1:
        return "", ""
    other = re.sub(own, name, value)
    if entry.key is None:
        return value, other
    key, text = _key(entry), text_of(found.module, entry.key)
    if not text or key not in {entry.field, entry.field.strip("_")}:
        return "", ""
    is_bare = any(_key(each) != each.field for each in found.entries)
    return f"{text}: {value}", f"{text.replace(key, name.strip('_') if is_bare else name)}: {other}"


def _key(entry: Entry) -> str:
    """The key of an entry of a dict, where it is a text."""
    return str(entry.key.value) if isinstance(entry.key, ast.Constant) else ""


def _gap(found: Enumeration) -> str:
    """What stands between two entries: a blank, or a line end and the indentation."""
    nodes = [entry.key or entry.node for entry in found.entries]
    if nodes[0].lineno == nodes[1].lineno:
        return " "
    return "\n" + " " * nodes[1].col_offset


def _merged(edits: list[Edit]) -> list[Edit]:
    """Entries that go to one place as one edit; statements the last first, as each goes right behind the place."""
    if any(edit.statement for edit in edits):
        return edits[::-1]
    merged: dict[tuple[object, str], Edit] = {}
    for edit in edits:
        key = (edit.place, edit.old)
        known = merged.get(key)
        if known is None:
            merged[key] = edit
            continue
        added = edit.expression.removeprefix(edit.old)
        if added == edit.expression:  # it goes before the old entry
            head = known.expression.removesuffix(known.old)
            merged[key] = Edit(edit.place, edit.keyword, head + edit.expression, old=edit.old)
        else:
            merged[key] = Edit(edit.place, edit.keyword, known.expression + added, old=edit.old)
    return list(merged.values())


_HEAD = """\
from collections.abc import Iterator
from dataclasses import dataclass, fields

from ownership import Fact, Transferable, carriers, plan


class Program:
    def load(self) -> None: ...


@plan
@dataclass(frozen=True)
class LoomPlan:
    rows: Fact[int]
    warp: Transferable[Program]
    weft: Transferable[Program]
    comb: Transferable[Program]
"""

RULE = Rule(
    code=CODE,
    name="unlisted",
    summary="a hand-written list of a plan's carriers misses one of them",
    explanation=__doc__ or "",
    bad=(
        _HEAD
        + """
    def programs(self) -> tuple[Program, ...]:
        return (self.warp, self.comb)
""",
        _HEAD
        + """

class Session:
    def __init__(self) -> None:
        self._retained: list[Program] = []

    def publish(self, loom: LoomPlan) -> None:
        self._retained += [loom.warp, loom.weft]
""",
        _HEAD
        + """

_PROGRAM_NAMES = ("warp", "weft")


def load(loom: LoomPlan) -> None:
    for name in _PROGRAM_NAMES:
        getattr(loom, name).load()
""",
    ),
    good=(
        _HEAD
        + """
    def programs(self) -> tuple[Program, ...]:
        return (self.warp, self.weft, self.comb)
""",
        _HEAD
        + """

def load(loom: LoomPlan) -> None:
    for program in carriers(loom).values():
        program.load()
""",
        _HEAD
        + """

def thread_kernels(loom: LoomPlan) -> tuple[Program, ...]:
    return (loom.warp, loom.weft)
""",
    ),
    fix=(
        "The entry is added beside its neighbour in the order of declaration, written as that one is. Safe where all"
        " transferable fields have one type; otherwise unsafe, as the entry may have to be written in another way."
    ),
    run=run,
)
