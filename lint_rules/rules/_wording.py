"""Phrases that the messages of several rules share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lint_rules.findings import Place
    from lint_rules.flow.sites import CopySite, Outcome

__all__ = ["declared_at", "listed", "made_by", "quoted"]


def quoted(names: Sequence[str]) -> str:
    """`a`, `b` and `c`."""
    return listed([f"`{name}`" for name in names])


def listed(names: Sequence[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def made_by(site: CopySite) -> str:
    """What makes the plan at a site, as a reader would say it."""
    if site.how == "assign":
        return "this copy list"
    if site.how == "return":
        return "what is returned here"
    if site.how == "mapping":
        return "the mapping written here"
    if site.depth:
        return "the plan that this call makes"
    return f"this `{site.call}(...)`" if site.call else "this copy"


def declared_at(site: CopySite, outcomes: Sequence[Outcome]) -> tuple[Place, ...]:
    return tuple(site.plan.fields[outcome.field].place for outcome in outcomes)
