"""What the rules over copy sites share: one finding a site, and the phrases of its message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lint_rules.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lint_rules.findings import Fix, Place
    from lint_rules.flow.sites import CopySite, Outcome

__all__ = ["declared_at", "listed", "made_by", "quoted", "site_findings"]


def site_findings(
    sites: Iterable[CopySite],
    code: str,
    what: str,
    message: Callable[[CopySite, list[Outcome]], str],
    fixes: Callable[[CopySite, list[Outcome]], Iterable[Fix]],
) -> Iterator[Finding]:
    """One finding for each site that has outcomes of this sort, about all of their fields."""
    for site in sites:
        outcomes = [outcome for outcome in site.outcomes if outcome.what == what]
        if outcomes:
            yield Finding(
                code=code,
                place=site.place,
                class_name=site.plan.cls.full_name,
                fields=tuple(outcome.field for outcome in outcomes),
                message=message(site, outcomes),
                declared_at=declared_at(site, outcomes),
                fixes=tuple(fixes(site, outcomes)),
            )


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
