"""A transferable field arrives, but as another object than the prepared one.

A carrier is carried by identity. One that is compiled again, copied, or made anew from the old one's keys is another
program: it is resolved while requests wait, it is loaded twice, and what the session retains is not what the plan
launches. The rule reports a copy of a plan in which a transferable field is given a value that was newly made although
the source has one, and a deep copy of a whole plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lint_rules.findings import Fix
from lint_rules.rules._wording import declared_at, made_by, quoted, site_findings
from lint_rules.rules.base import Context, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.findings import Finding
    from lint_rules.flow.sites import CopySite, Outcome

__all__ = ["RULE"]

CODE = "OWN004"


def run(context: Context) -> Iterator[Finding]:
    return site_findings(context.copy_sites(), CODE, "rebuilt", message, fixes)


def fixes(site: CopySite, outcomes: list[Outcome]) -> Iterator[Fix]:
    yield Fix("carry the prepared object instead of making another", "display")


def message(site: CopySite, outcomes: list[Outcome]) -> str:
    fields = [outcome.field for outcome in outcomes]
    places = ", ".join(dict.fromkeys(str(place) for place in declared_at(site, outcomes)))
    what = f"{quoted(fields)} of {site.plan.cls.qualname} (declared at {places})"
    source = quoted(site.sources) or "the prepared plan"
    if site.how == "deepcopy":
        return (
            f"a deep copy of {source} makes new objects of {what}; they must stay the same objects."
            " Use `copy.copy`, or `replace` with what changes."
        )
    made = made_by(site)
    how = "a copy" if outcomes[0].why == "copy" else "a new object"
    it = "it" if len(fields) == 1 else "them"
    return (
        f"{what} must stay the same object, but {made} puts {how} in its place although {source}"
        f" {'has' if len(site.sources) < 2 else 'have'} {it}."
        f" Carry {it} over, or give it up with `Dropped({fields[0]!r}, reason)`."
    )


_HEAD = """\
import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ownership import Absent, Fact, Transferable, materializer, plan


class Kernel:
    def __init__(self, symbol: str) -> None:
        self.symbol = symbol


def compile_kernel(symbol: str) -> Kernel:
    return Kernel(symbol)


@plan
@dataclass(frozen=True)
class HashPlan:
    buckets: Fact[int]
    insert: Transferable[Kernel | Absent]
    probes: Transferable[Mapping[int, Kernel] | Absent]
"""

RULE = Rule(
    code=CODE,
    name="rebuilt",
    summary="a transferable field is made anew instead of being carried over",
    explanation=__doc__ or "",
    bad=(
        _HEAD
        + """

@materializer
def materialize(prepared: HashPlan, buckets: int) -> HashPlan:
    return HashPlan(buckets, insert=compile_kernel("insert"), probes=prepared.probes)
""",
        _HEAD
        + """

@materializer
def materialize(prepared: HashPlan, buckets: int) -> HashPlan:
    return HashPlan(buckets, insert=prepared.insert, probes=dict(prepared.probes))
""",
        _HEAD
        + """

def independent(prepared: HashPlan) -> HashPlan:
    return copy.deepcopy(prepared)
""",
    ),
    good=(
        _HEAD
        + """

@materializer
def materialize(prepared: HashPlan, buckets: int) -> HashPlan:
    return HashPlan(buckets, insert=prepared.insert, probes=prepared.probes)
""",
    ),
    fix="Not offered: the call that made the new object may have effects.",
    run=run,
)
