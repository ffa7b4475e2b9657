"""A plan that lacks a carrier gets one compiled on the spot, and nobody is told.

`plan.pack or compile_pack()` looks like caution. It is how a carrier that was lost on the way goes unnoticed: the
numbers stay right, the tests pass, and after the freeze the call that should have launched a program compiles one, or
dies. A prepared plan never holds the right to resolve: the path that compiles is another function, asked for by name.

The rule reports a resolution that stands in for a transferable field of a plan, or for an entry of such a field: behind
`or`, in the branch where the field is `None` or `Absent`, in the handler of a failed lookup, as the default of `get`,
`getattr` or `setdefault`. A resolution is a call whose name says so (`compile`, `jit`, `build`, `resolve`, `prepare`,
`warmup`, ...), a function of the project that calls one, a function marked `@resolver`, or the class of the carrier.

Not reported: functions that say by their first word that they resolve (`prepare`, `compile_missing`), classes made for
it (`PackCompiler`), constructors, and a value that completes a new plan outside of materializers. Facts may have
defaults.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lint_rules.findings import Finding, Fix
from lint_rules.index.build import last_name
from lint_rules.rules.base import Context, Rule
from lint_rules.usage.fallbacks import find_fallbacks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.usage.fallbacks import Fallback

__all__ = ["RULE"]

CODE = "OWN006"


def run(context: Context) -> Iterator[Finding]:
    for fallback in find_fallbacks(context.usage()):
        yield finding(fallback)


def finding(fallback: Fallback) -> Finding:
    plan, name = fallback.carrier.plan, fallback.carrier.name
    place = plan.fields[name].place
    return Finding(
        code=CODE,
        place=fallback.view.module.place(fallback.call),
        class_name=plan.cls.full_name,
        fields=(name,),
        message=(
            f"where a {plan.cls.qualname} lacks `{name}` (declared at {place}), `{last_name(fallback.call.func)}(...)`"
            " stands in for it, so a carrier that was lost is compiled in silence while requests wait."
            " Raise an error here, and resolve in a function of its own that is called before the freeze."
        ),
        declared_at=(place,),
        fixes=(Fix(f"raise an error where `{name}` is missing", "display"),),
    )


_HEAD = """\
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ownership import Absent, Fact, Transferable, plan

Program = Callable[[int], int]


def compile_pack(width: int) -> Program:
    return abs


@plan
@dataclass(frozen=True)
class PackPlan:
    width: Fact[int]
    label: Fact[str | None]
    pack: Transferable[Program | Absent]
    by_rows: Transferable[Mapping[int, Program]]
"""

RULE = Rule(
    code=CODE,
    name="fallback",
    summary="where a plan lacks a carrier, one is compiled in silence",
    explanation=__doc__ or "",
    bad=(
        _HEAD
        + """

def run(bound: PackPlan, rows: int) -> int:
    pack = bound.pack
    if isinstance(pack, Absent):
        pack = compile_pack(bound.width)
    return pack(rows)
""",
        _HEAD
        + """

def run(bound: PackPlan, rows: int) -> int:
    launch = bound.by_rows.get(rows) or compile_pack(rows)
    return launch(rows)
""",
        _HEAD
        + """

def run(bound: PackPlan, rows: int) -> int:
    try:
        return bound.by_rows[rows](rows)
    except KeyError:
        return compile_pack(rows)(rows)
""",
    ),
    good=(
        _HEAD
        + """

def run(bound: PackPlan, rows: int) -> int:
    if isinstance(bound.pack, Absent):
        raise LookupError(f"the plan was not prepared: {bound.pack}")
    return bound.pack(rows)
""",
        _HEAD
        + """

def prepare(planned: PackPlan) -> PackPlan:
    pack = planned.pack
    if isinstance(pack, Absent):
        pack = compile_pack(planned.width)
    return replace(planned, pack=pack)
""",
        _HEAD
        + """

def describe(bound: PackPlan) -> str:
    return bound.label or f"pack<{bound.width}>"
""",
    ),
    fix="Not offered: whether the plan should have had the carrier, and what to say if not, is the author's to tell.",
    run=run,
)
