"""A field that must not be carried over was carried over all the same.

`Ephemeral` fields (counters, caches, logs) belong to one plan: two plans that share one answer for each other.
`Borrowed` fields are the caller's storage for one call: the next binding must be given its own. `Derived` fields are
computed from facts: when a fact changes, the old value is stale. The rule reports a copy that takes such a field from
the old plan by name; for a derived field only where a fact changes in the same copy.

A base that keeps its fields (`replace(plan, stream=s)`) is reported in a materializer, where the run-time check refuses
an ephemeral or borrowed object that is shared; plain values such as `Ephemeral[int]` are no such objects. Elsewhere it
is not reported, and a derived field never is: which of them depend on which facts is not written down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lint_rules.findings import Finding, Fix
from lint_rules.rules._wording import declared_at, made_by, quoted
from lint_rules.rules.base import Context, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.flow.sites import CopySite, Outcome

__all__ = ["RULE"]

CODE = "OWN012"

_WHY = {
    "ephemeral": "it is ephemeral and belongs to that plan alone. Leave it at its start value.",
    "borrowed": "it is storage that was borrowed for one call. Pass the storage of this one.",
    "derived": "it is derived from facts, and a fact changes here. Compute it again.",
}


def run(context: Context) -> Iterator[Finding]:
    for site in context.copy_sites():
        for outcome in site.outcomes:
            if outcome.what in {"leaked", "stale"}:
                yield finding(site, outcome)


def finding(site: CopySite, outcome: Outcome) -> Finding:
    (place,) = declared_at(site, [outcome])
    source = quoted(site.sources) or "another plan"
    return Finding(
        code=CODE,
        place=site.place,
        class_name=site.plan.cls.full_name,
        fields=(outcome.field,),
        message=(
            f"{made_by(site)} takes `{outcome.field}` of {site.plan.cls.qualname} (declared at {place}) over from"
            f" {source}; {_WHY[outcome.why]}"
        ),
        declared_at=(place,),
        fixes=(Fix(f"do not carry {outcome.field}", "display"),),
    )


_HEAD = """\
from dataclasses import dataclass, field, replace

from ownership import Borrowed, Derived, Ephemeral, Fact, Transferable, materializer, plan


class Kernel: ...


def grid(rows: int) -> int:
    return -(-rows // 16)


@plan
@dataclass(frozen=True)
class TallyPlan:
    rows: Fact[int]
    blocks: Derived[int]
    count: Transferable[Kernel]
    seen: Ephemeral[dict[int, int]] = field(default_factory=dict)
"""

RULE = Rule(
    code=CODE,
    name="leaked",
    summary="a field that belongs to one plan, or to one call, is carried over",
    explanation=__doc__ or "",
    bad=(
        _HEAD
        + """

@materializer
def materialize(prepared: TallyPlan, rows: int) -> TallyPlan:
    return TallyPlan(rows, blocks=grid(rows), count=prepared.count, seen=prepared.seen)
""",
        _HEAD
        + """

@materializer
def materialize(prepared: TallyPlan, rows: int) -> TallyPlan:
    return TallyPlan(rows, blocks=prepared.blocks, count=prepared.count)
""",
        _HEAD
        + """

@materializer
def on_stream(prepared: TallyPlan, rows: int) -> TallyPlan:
    return replace(prepared, rows=rows, blocks=grid(rows))
""",
    ),
    good=(
        _HEAD
        + """

@materializer
def materialize(prepared: TallyPlan, rows: int) -> TallyPlan:
    return TallyPlan(rows, blocks=grid(rows), count=prepared.count)
""",
    ),
    fix="Not offered: the right value is the author's to choose.",
    run=run,
)
