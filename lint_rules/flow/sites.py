"""What the flow analysis reports: the places where a plan is copied, and what became of each field there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from lint_rules.findings import Place
    from lint_rules.index.plans import PlanInfo

__all__ = ["Carry", "CopySite", "Outcome"]


@dataclass(frozen=True, slots=True)
class Carry:
    """How a missing value can be written where the copy is made: `expression`, valid in that scope.

    `sure` says that the source is a plan with a field of this name and the same annotation. `target` is the object
    that a copy list assigns to, and empty where the copy is a call. `given` says that the call has another value for
    the field already, or may have one among arguments that are expanded: a keyword more would be one too many.
    """

    expression: str
    sure: bool
    target: str = ""
    given: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one field. `carry` is the value that is in reach, where there is one."""

    field: str
    what: Literal["dropped", "rebuilt", "leaked", "stale"]
    why: str
    carry: Carry | None = None


@dataclass(slots=True)
class CopySite:
    """A plan that was made from another object.

    `place` is the call or statement in the analysed function, `origin` the one that made the object (in a helper,
    maybe) and `depth` the number of calls between them. `sources` describes the objects that it was made from.
    """

    plan: PlanInfo
    function: str
    place: Place
    origin: Place
    depth: int
    how: str
    call: str
    is_call: bool
    sources: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    outcomes: list[Outcome] = field(default_factory=list)
