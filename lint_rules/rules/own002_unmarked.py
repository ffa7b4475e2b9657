"""A field of a marked plan does not say what it is.

There is no default kind. A field without one is neither carried nor recomputed by anything that works from the marks
(`transfer`, `carriers`, the checks), and nobody who reads the class can tell whether that is intended. Fields that a
plan inherits from a class without marks count too, and so does a mark that only stands behind a non-generic alias
(`Launch = Transferable[Kernel]`), because type checkers lose it there.

Class variables, `InitVar`, `KW_ONLY` and properties are no fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lint_rules.findings import Finding, Fix
from lint_rules.rules.base import Context, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.index.plans import PlanField, PlanInfo

__all__ = ["RULE"]

CODE = "OWN002"


def run(context: Context) -> Iterator[Finding]:
    for plan in context.plans.direct.values():
        if plan.origin != "marked":
            continue
        for field in plan.fields.values():
            inherited = field.owner is not plan.cls
            if inherited and context.plans.of(field.owner) is not None:
                continue  # the base is a plan itself and reported there
            if field.alias or field.kind is None:
                yield finding(plan, field, inherited=inherited)


def finding(plan: PlanInfo, field: PlanField, *, inherited: bool) -> Finding:
    name = plan.cls.qualname
    if field.alias:
        text = (
            f"the kind of `{field.name}` in plan {name} is hidden behind the alias `{field.alias}`, where type checkers"
            f" lose it. Write `{field.name}: {field.kind}[...]`, or make the alias generic."
        )
    elif inherited:
        text = (
            f"plan {name} inherits `{field.name}` from {field.owner.full_name} (declared at {field.place}), where it"
            " has no kind. Mark it there as Transferable, Fact, Derived, Borrowed or Ephemeral."
        )
    else:
        text = (
            f"`{field.name}` of plan {name} has no kind. Mark it as Transferable, Fact, Derived, Borrowed or Ephemeral."
        )
    return Finding(
        code=CODE,
        place=plan.cls.place if inherited else field.place,
        class_name=plan.cls.full_name,
        fields=(field.name,),
        message=text,
        declared_at=(field.place,),
        fixes=(Fix(f"mark it: {field.name}: Transferable[...]", "display"),),
    )


_HEAD = """\
from dataclasses import dataclass

from ownership import Fact, Transferable, plan


class Kernel: ...
"""

RULE = Rule(
    code=CODE,
    name="unmarked",
    summary="a field of a marked plan has no kind",
    explanation=__doc__ or "",
    bad=(
        _HEAD
        + """

@plan
@dataclass(frozen=True)
class PackPlan:
    rows: Fact[int]
    pack: Transferable[Kernel]
    unpack: Kernel
""",
        _HEAD
        + """

Launch = Transferable[Kernel]


@plan
@dataclass(frozen=True)
class PackPlan:
    rows: Fact[int]
    pack: Launch
""",
    ),
    good=(
        _HEAD
        + """

@plan
@dataclass(frozen=True)
class PackPlan:
    rows: Fact[int]
    pack: Transferable[Kernel]
    unpack: Transferable[Kernel]
""",
    ),
    fix="Not offered: only the author knows which kind is meant.",
    run=run,
)
