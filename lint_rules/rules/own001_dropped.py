"""A plan is made from another object, and a transferable field of it does not arrive.

The compiled programs of a plan (its *carriers*) are prepared once. When the plan is made again, from the same facts or
for another size, each of them has to be put back by hand. One that is forgotten stays at its default; the slow path
behind that default compiles the kernel again, the numbers stay right, and no test fails. In production, after kernel
resolution was frozen, the same call stalls or dies.

The rule looks at every place where a plan comes from another object: `replace` in all its spellings, constructors,
copy lists (`new.a = old.a`), `__copy__` and `clone`, helpers that it follows, and functions marked `@materializer`.
There, every transferable field that the source can supply must arrive, or be given up with `Dropped(field, reason)`.

A class that is marked or declared is also compared with itself: where two functions of one file whose names start with
the same word (`bind_arena`, `bind_workspace`) construct it from the same object, and one leaves a field at its default
that the other takes from there, the field is reported, be it a carrier, an option or a capacity.

A base that has the carriers already keeps them: `replace(plan, rows=8)` is silent. So is a place that takes no carrier
from anywhere, such as a planner or a test factory.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from lint_rules.agreement.constructions import constructions
from lint_rules.agreement.siblings import disagreements
from lint_rules.findings import Edit, Finding, Fix
from lint_rules.index.build import last_name
from lint_rules.rules._wording import declared_at, made_by, quoted, site_findings
from lint_rules.rules.base import Context, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.agreement.siblings import Disagreement
    from lint_rules.findings import Place
    from lint_rules.flow.sites import Carry, CopySite, Outcome

__all__ = ["RULE"]

CODE = "OWN001"

#: Kinds that another construction may well leave out: they are recomputed, lent or lost.
_RECOMPUTED = frozenset({"Derived", "Borrowed", "Ephemeral"})


def run(context: Context) -> Iterator[Finding]:
    told: set[Place] = set()
    for found in site_findings(context.copy_sites(), CODE, "dropped", message, fixes):
        told.add(found.place)
        yield found
    yield from siblings(context, told)


def siblings(context: Context, told: set[Place]) -> Iterator[Finding]:
    """Constructions of plans that lack what a sibling has, where the flow of values alone does not show a drop."""
    agreement = context.agreement()
    functions = [info for module in agreement.modules() for info in module.functions]
    made = [
        each
        for info in functions
        for each in agreement.look(info, constructions, agreement.project, agreement.bodies, info)
        if agreement.plans.of(each.cls) is not None
    ]
    for found in disagreements(agreement.project, agreement.bodies, made):
        plan = agreement.plans.of(found.lacking.cls)
        if plan is not None and all(plan.kind(name) not in _RECOMPUTED for name in found.field_names(found.names)):
            finding = sibling_finding(found)
            if finding.place not in told:
                yield finding


def sibling_finding(found: Disagreement) -> Finding:
    """The finding for a construction that lacks what its sibling takes from an object that both have."""
    lacking, giving = found.lacking, found.giving
    names = tuple(found.field_names(found.names))
    one = len(names) == 1
    places = tuple(lacking.cls.fields[name].place for name in names if name in lacking.cls.fields)
    declared = f" (declared at {', '.join(dict.fromkeys(map(str, places)))})" if places else ""
    there = giving.function.module.place(giving.call)
    given = ", ".join(f"{name}={found.expression(name)}" for name in found.names)
    text = (
        f"{quoted(names)} of {lacking.cls.qualname}{declared} {'is' if one else 'are'} left at"
        f" {'its default' if one else 'the defaults'} by `{lacking.function.qualname}`, while its sibling"
        f" `{giving.function.qualname}` passes `{given}` ({there}), and `{found.source}` is here too. Pass `{given}`."
    )
    place = lacking.function.module.place(lacking.call)
    callee = last_name(lacking.call.func) if isinstance(lacking.call, ast.Call) else ""
    edits = tuple(Edit(place, name, found.expression(name), callee) for name in found.names)
    return Finding(CODE, place, lacking.cls.full_name, names, text, places, (Fix(f"pass {given}", "unsafe", edits),))


def message(site: CopySite, outcomes: list[Outcome]) -> str:
    fields = [outcome.field for outcome in outcomes]
    verb = "is" if len(fields) == 1 else "are"
    places = ", ".join(dict.fromkeys(str(place) for place in declared_at(site, outcomes)))
    name = site.plan.cls.qualname
    text = f"{quoted(fields)} of {name} (declared at {places}) {verb} not carried over: {_state(site, outcomes)}"
    others = [field for field in site.carried if field not in fields]
    if others and site.sources:
        text += f", while {quoted(others)} {'comes' if len(others) == 1 else 'come'} from {quoted(site.sources)}"
    elif site.sources:
        have = "has" if len(site.sources) == 1 else "have"
        text += f", although {quoted(site.sources)} {have} {'it' if len(fields) == 1 else 'them'}"
    return f"{text}. {advice(site, outcomes)}"


def _state(site: CopySite, outcomes: list[Outcome]) -> str:
    it = "it" if len(outcomes) == 1 else "them"
    why = outcomes[0].why
    made = made_by(site)
    if site.how == "return":
        return f"{made} has {it} blank"
    if why == "misnamed":
        return f"{made} gives {it} a `Dropped` that names another field"
    if why == "none":
        return f"{made} gives {it} an empty value"
    if why == "absent":
        return f"{made} gives {it} `Absent`, which a materializer may not do with a carrier that was prepared"
    if why == "one path":
        return f"on one path {made} leaves {it} unset"
    if why == "base":
        return f"{made} leaves {it} at the blank value of its fresh base"
    if site.how == "mapping":
        return f"{made} does not have {it} under the name that is read"
    return f"{made} leaves {it} blank"


def advice(site: CopySite, outcomes: list[Outcome]) -> str:
    first = outcomes[0]
    if first.carry is not None and first.carry.target:
        do = f"Add `{assignment(first.field, first.carry)}`"
    elif first.carry is not None:
        given = ", ".join(f"{o.field}={o.carry.expression}" for o in outcomes if o.carry is not None)
        do = f"Pass `{given}`"
    elif site.how == "assign":
        do = "Assign it too" if len(outcomes) == 1 else "Assign them too"
    elif site.how == "mapping":
        do = "Write it under that name" if len(outcomes) == 1 else "Write them under those names"
    elif site.how == "return":
        do = "Return the plan that `transfer(...)` makes"
    else:
        do = f"Pass `{', '.join(f'{o.field}=...' for o in outcomes)}`"
    return f"{do}, or give it up with `Dropped({first.field!r}, reason)`."


def fixes(site: CopySite, outcomes: list[Outcome]) -> Iterator[Fix]:
    reachable = [outcome for outcome in outcomes if outcome.carry is not None]
    if site.how == "assign" and reachable:
        # Each goes right behind the first assignment of the list, so the last field goes first.
        edits = tuple(
            Edit(site.place, o.field, assignment(o.field, o.carry), statement=True)
            for o in reversed(reachable)
            if o.carry is not None
        )
        sure = all(o.carry is not None and o.carry.sure for o in reachable)
        lines = "; ".join(edit.expression for edit in reversed(edits))
        yield Fix(f"carry it: {lines}", "safe" if sure else "unsafe", edits)
    elif site.is_call and reachable and not any(o.carry is not None and o.carry.given for o in reachable):
        edits = tuple(
            Edit(site.place, keyword(site, o.field), o.carry.expression, site.call)
            for o in reachable
            if o.carry is not None
        )
        given = ", ".join(f"{edit.keyword}={edit.expression}" for edit in edits)
        sure = all(o.carry is not None and o.carry.sure for o in reachable)
        yield Fix(f"carry it: {given}", "safe" if sure else "unsafe", edits)
    for outcome in outcomes:
        yield Fix(f'declare the drop: {outcome.field}=Dropped("{outcome.field}", "<reason>")', "display")


def assignment(field: str, carry: Carry) -> str:
    """The statement that a copy list lacks."""
    return f"{carry.target}.{field} = {carry.expression}"


def keyword(site: CopySite, field: str) -> str:
    """The name under which the constructor takes a field."""
    info = site.plan.fields[field].info
    return info.init_name if info is not None and site.plan.cls.flavor == "attrs" else field


_HEAD = """\
from dataclasses import dataclass, replace

from ownership import Absent, Dropped, Fact, Transferable, materializer, plan


class Kernel: ...


@plan
@dataclass(frozen=True)
class MoePlan:
    rows: Fact[int]
    fused: Transferable[Kernel | Absent]
    route_pack: Transferable[Kernel | Absent | Dropped]


def plan_moe(rows: int) -> MoePlan:
    later = Absent("planned, not prepared")
    return MoePlan(rows, fused=later, route_pack=later)
"""

RULE = Rule(
    code=CODE,
    name="dropped",
    summary="a transferable field does not reach the plan that is made from a prepared one",
    explanation=__doc__ or "",
    bad=(
        _HEAD
        + """

@materializer
def materialize(prepared: MoePlan, rows: int) -> MoePlan:
    return replace(plan_moe(rows), fused=prepared.fused)
""",
        _HEAD
        + """

def grow(old: MoePlan, rows: int) -> MoePlan:
    grown = plan_moe(rows)
    object.__setattr__(grown, "fused", old.fused)
    return grown
""",
    ),
    good=(
        _HEAD
        + """

@materializer
def materialize(prepared: MoePlan, rows: int) -> MoePlan:
    return replace(plan_moe(rows), fused=prepared.fused, route_pack=prepared.route_pack)
""",
        _HEAD
        + """

def resize(prepared: MoePlan, rows: int) -> MoePlan:
    return replace(prepared, rows=rows)
""",
        _HEAD
        + """

@materializer
def single(prepared: MoePlan) -> MoePlan:
    gone = Dropped("route_pack", "one row is never packed")
    return replace(plan_moe(1), fused=prepared.fused, route_pack=gone)
""",
    ),
    fix=(
        "Safe where the source has the field under the same name and type: the keyword, or the assignment that a copy"
        " list lacks, is added."
    ),
    run=run,
)
