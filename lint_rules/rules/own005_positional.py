"""Four or more carriers are told apart by their position alone.

Compiled programs are all of one type, so no checker notices when two of them change places: the plan is complete, it is
even the same objects, and it launches the wrong program. One that is added in the middle later moves all that follow.

The rule reports three places: a constructor of a plan that is given four or more transferable fields by position; a
call that hands four or more carriers of one plan to a function by position; and an assignment that unpacks four or more
values which another place has put in order, where they then become carriers of a plan, or were carriers of one.

Facts by position are a matter of taste, a tuple of carriers that is only walked over has no order to get wrong, and
what is put in order and unpacked in one line shows both.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from lint_rules.findings import Edit, Finding, Fix
from lint_rules.index.build import last_name
from lint_rules.rules._wording import quoted
from lint_rules.rules.base import Context, Rule
from lint_rules.usage.bundles import find_bundles
from lint_rules.usage.views import text_of, text_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.usage.bundles import Bundle, Slot

__all__ = ["RULE"]

CODE = "OWN005"


def run(context: Context) -> Iterator[Finding]:
    for bundle in find_bundles(context.usage()):
        yield finding(bundle)


def finding(bundle: Bundle) -> Finding:
    fields = tuple(dict.fromkeys(slot.field for slot in bundle.slots))
    declared = tuple(bundle.plan.fields[name].place for name in fields)
    return Finding(
        code=CODE,
        place=bundle.view.module.place(bundle.node),
        class_name=bundle.plan.cls.full_name,
        fields=fields,
        message=message(bundle, fields),
        declared_at=declared,
        fixes=tuple(fixes(bundle)),
    )


def message(bundle: Bundle, fields: tuple[str, ...]) -> str:
    places = ", ".join(dict.fromkeys(str(bundle.plan.fields[name].place) for name in fields))
    what = f"{quoted(fields)} of {bundle.plan.cls.qualname} (declared at {places})"
    if bundle.how == "unpack":
        text = f"{what} are unpacked here by position from values that another place has put in order"
        do = "Let that place name them: return a mapping, a small class, or the plan itself."
    else:
        called = last_name(bundle.node.func) if isinstance(bundle.node, ast.Call) else ""
        text = f"{what} are given to `{called}(...)` by position"
        do = "Give each of them by keyword."
    crossed = [slot for slot in bundle.slots if _is_crossed(slot, bundle)]
    if crossed and bundle.how != "unpack":
        slot = crossed[0]
        receiving = slot.field if bundle.how == "construct" else slot.keyword
        return (
            f"{text}, and `{receiving}` is given `{ast.unparse(slot.value)}`, which has the name of another one. {do}"
        )
    return f"{text}; nothing would tell that two of them had changed places. {do}"


def _is_crossed(slot: Slot, bundle: Bundle) -> bool:
    """Whether a value bears the name of another carrier than the one that it becomes."""
    given = last_name(slot.value)
    own = (slot.field if bundle.how == "construct" else slot.keyword).strip("_")
    others = {name.strip("_") for name in bundle.plan.transferable} - {own}
    if bundle.how == "call":
        others &= {other.keyword.strip("_") for other in bundle.trailing}
    return given.strip("_") in others


def fixes(bundle: Bundle) -> Iterator[Fix]:
    module = bundle.view.module
    edits: list[Edit] = []
    for slot in bundle.trailing:
        old = text_of(module, slot.value)
        if not old:
            return
        new = f"{slot.keyword}={old}"
        edits.append(Edit(text_place(module, slot.value), slot.keyword, new, old=old))
    if edits:
        crossed = any(_is_crossed(slot, bundle) for slot in bundle.slots)
        given = ", ".join(f"{edit.expression}" for edit in edits)
        yield Fix(f"give them by keyword, as they are now: {given}", "unsafe" if crossed else "safe", tuple(edits))


_HEAD = """\
from collections.abc import Callable
from dataclasses import dataclass

from ownership import Fact, Transferable, plan

Program = Callable[[int], int]


@plan
@dataclass(frozen=True)
class TilePlan:
    rows: Fact[int]
    load: Transferable[Program]
    merge: Transferable[Program]
    attend: Transferable[Program]
    store: Transferable[Program]
"""

RULE = Rule(
    code=CODE,
    name="positional",
    summary="four or more carriers are told apart by position alone",
    explanation=__doc__ or "",
    bad=(
        _HEAD
        + """

def bundle(rows: int, load: Program, merge: Program, attend: Program, store: Program) -> TilePlan:
    return TilePlan(rows, load, attend, merge, store)
""",
        _HEAD
        + """

def compile_all(rows: int) -> tuple[Program, Program, Program, Program]:
    return abs, int, round, hash


def prepare(rows: int) -> TilePlan:
    load, merge, attend, store = compile_all(rows)
    return TilePlan(rows, load=load, merge=merge, attend=attend, store=store)
""",
    ),
    good=(
        _HEAD
        + """

def bundle(rows: int, load: Program, merge: Program, attend: Program, store: Program) -> TilePlan:
    return TilePlan(rows, load=load, merge=merge, attend=attend, store=store)


def programs(tile: TilePlan) -> tuple[Program, ...]:
    return tile.load, tile.merge, tile.attend, tile.store
""",
    ),
    fix=(
        "Each argument from the first carrier on gets its keyword, in the order as it is: safe. Where a value bears the"
        " name of another carrier that order is likely the mistake, so the fix is unsafe. Unpacking gets none."
    ),
    run=run,
)
