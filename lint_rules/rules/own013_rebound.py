"""A carrier of a finished plan is replaced in place.

A plan is shared: by bindings, by captured graphs, by the session that retains its programs. Who sets a transferable
field of a plan that it was given changes it under all of them. What was prepared is no longer reachable, and what is
launched from now on is not what was retained.

The rule reports an assignment (also by `setattr` or `object.__setattr__`) to a transferable field of a plan that the
function did not make, where the value is certainly a new object, or nothing. Not reported are constructors, functions
whose first word says that they prepare, what a plan does with its own fields in its methods, a value that says `Absent`
or `Dropped`, a field that the same path has found to be empty, and a helper that is seen to complete a plan which its
caller has just made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lint_rules.findings import Finding, Fix
from lint_rules.rules.base import Context, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.flow.rebinds import Rebinding

__all__ = ["RULE"]

CODE = "OWN013"


def run(context: Context) -> Iterator[Finding]:
    for rebinding in context.flow().rebindings:
        yield finding(rebinding)


def finding(found: Rebinding) -> Finding:
    place = found.plan.fields[found.field].place
    target = f"`{found.target}`" if found.target else "the plan"
    how = "emptied" if found.emptied else "set to another object"
    return Finding(
        code=CODE,
        place=found.place,
        class_name=found.plan.cls.full_name,
        fields=(found.field,),
        message=(
            f"`{found.field}` of {found.plan.cls.qualname} (declared at {place}) is {how} in {target}, which this"
            " function was given: what was prepared is lost to all who share that plan."
            " Make a new plan with `replace(...)` or `transfer(...)`."
        ),
        declared_at=(place,),
        fixes=(Fix(f"make a new plan: replace({found.target or 'plan'}, {found.field}=...)", "display"),),
    )


_HEAD = """\
from dataclasses import dataclass, replace

from ownership import Absent, Fact, Transferable, plan


class Kernel: ...


def compile_kernel(symbol: str) -> Kernel:
    return Kernel()


@plan
@dataclass
class FoldPlan:
    rows: Fact[int]
    fold: Transferable[Kernel | Absent]
"""

RULE = Rule(
    code=CODE,
    name="rebound",
    summary="a carrier of a plan that the function was given is replaced in place",
    explanation=__doc__ or "",
    bad=(
        _HEAD
        + """

def swap(bound: FoldPlan) -> None:
    bound.fold = compile_kernel("fold")
""",
        _HEAD
        + """

def forget(bound: FoldPlan) -> None:
    object.__setattr__(bound, "fold", None)
""",
    ),
    good=(
        _HEAD
        + """

def complete(planned: FoldPlan) -> None:
    planned.fold = compile_kernel("fold")


def prepare(rows: int) -> FoldPlan:
    planned = FoldPlan(rows, fold=Absent("planned"))
    complete(planned)
    return planned
""",
        _HEAD
        + """

def close(bound: FoldPlan) -> None:
    bound.fold = Absent("closed")
""",
    ),
    fix="Not offered: those who share the plan have to be given the new one, wherever they are.",
    run=run,
)
