"""A transferable field has a default value.

With a default, code that makes the plan and was written before the field existed goes on working, without the carrier
and without an error: the default is what turns a forgotten field into a silent one. A transferable field is therefore
required, and absence is stated: `Absent(reason)`.

`field(init=False)` without a default is allowed, since it gives the field no value. Classes that are declared in the
configuration are not reported: one may not be able to edit them.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from lint_rules.findings import Finding, Fix
from lint_rules.rules.base import Context, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["RULE"]

CODE = "OWN003"


def run(context: Context) -> Iterator[Finding]:
    for plan in context.plans.direct.values():
        if plan.origin != "marked":
            continue
        for field in plan.fields.values():
            if field.owner is not plan.cls or field.kind != "Transferable" or field.info is None:
                continue
            default = field.info.default
            if default is None:
                continue
            yield Finding(
                code=CODE,
                place=field.place,
                class_name=plan.cls.full_name,
                fields=(field.name,),
                message=(
                    f"transferable `{field.name}` of plan {plan.cls.qualname} has the default `{ast.unparse(default)}`:"
                    " whoever forgets it gets a plan without its carrier and no error. Remove the default and pass"
                    " `Absent(reason)` where there is none."
                ),
                declared_at=(field.place,),
                fixes=(Fix("remove the default and state absence with Absent(reason)", "display"),),
            )


_HEAD = """\
from dataclasses import dataclass, field

from ownership import Absent, Fact, Transferable, plan


class Kernel: ...
"""

RULE = Rule(
    code=CODE,
    name="defaulted",
    summary="a transferable field has a default value",
    explanation=__doc__ or "",
    bad=(
        _HEAD
        + """

@plan
@dataclass(frozen=True)
class BlendPlan:
    rows: Fact[int]
    clamp: Transferable[Kernel | None] = None
""",
        _HEAD
        + """

@plan
@dataclass(frozen=True)
class BucketPlan:
    rows: Fact[int]
    launches: Transferable[dict[int, Kernel]] = field(default_factory=dict)
""",
    ),
    good=(
        _HEAD
        + """

@plan
@dataclass(frozen=True)
class BlendPlan:
    clamp: Transferable[Kernel | Absent]
    rows: Fact[int] = 8
""",
    ),
    fix="Not offered: the callers that relied on the default have to say what they mean.",
    run=run,
)
