"""The rules about suppressions themselves: which comments do not do what they seem to do."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EXPIRED", "HYGIENE", "NO_REASON", "UNUSED", "Hygiene"]

#: Rule codes of the suppressions' own hygiene: without a reason or unreadable, expired, and hiding nothing.
NO_REASON = "OWN900"
EXPIRED = "OWN901"
UNUSED = "OWN902"


@dataclass(frozen=True, slots=True)
class Hygiene:
    """What is to be said about one of the codes above."""

    name: str
    summary: str
    explanation: str
    bad: str
    good: str


HYGIENE = {
    NO_REASON: Hygiene(
        "unexplained",
        "a suppression has no reason or cannot be read, so that it does not count",
        "Whoever meets the comment next year must be able to tell whether it still holds. A comment that looks like a\n"
        "suppression and is none would hide nothing, and nobody would notice.",
        "return CoolPlan(plan.rows)  # carryall: ignore[OWN001:vent]",
        "return CoolPlan(plan.rows)  # carryall: ignore[OWN001:vent] -- a sealed loop has no vent",
    ),
    EXPIRED: Hygiene(
        "expired",
        "the date of a suppression has passed, so that it does not count any longer",
        "`until=YYYY-MM-DD` is the last day on which the suppression holds.",
        "return CoolPlan(plan.rows)  # carryall: ignore[OWN001:vent] until=2020-01-31 -- vents come in January",
        "return CoolPlan(plan.rows, vent=plan.vent)",
    ),
    UNUSED: Hygiene(
        "unused",
        "a suppression hides nothing",
        "The mistake was mended, or was never there. A comment that is left behind would hide the next one, with a\n"
        "reason that was given for another. Only codes of rules that were run count, and only where everything could\n"
        "be read: with `--select OWN001`, or beside a file that is no Python, nothing is said of a suppression of\n"
        "OWN004. `--fix` takes away the comment, or those of its codes that hide nothing.",
        "return CoolPlan(plan.rows, vent=plan.vent)  # carryall: ignore[OWN001:vent] -- a sealed loop has no vent",
        "return CoolPlan(plan.rows, vent=plan.vent)",
    ),
}
