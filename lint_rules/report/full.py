"""Findings with the source that they are about, for reading away from an editor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lint_rules.report.excerpt import Excerpts
from lint_rules.report.text import advice_lines, closing, headline, label, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from lint_rules.findings import Finding
    from lint_rules.report.model import Report

__all__ = ["full_lines", "render"]


def render(report: Report) -> str:
    """The findings with excerpts, an empty line between them, and a summary."""
    excerpts = Excerpts(report.tree)
    lines = [line for finding in report.findings for line in full_lines(finding, excerpts, report.shown)]
    return "".join(f"{line}\n" for line in [*lines, *closing(report)])


def full_lines(
    finding: Finding,
    excerpts: Excerpts,
    shown: Callable[[str], str] = str,
    style: Callable[[str, str], str] = plain,
) -> list[str]:
    """The finding, the code that it is about, where its fields are declared, and its help; an empty line at the end."""
    source = excerpts.around(finding.place, before=2, after=2, mark=True)
    lines = [headline(finding, shown, style), *(f"    {row}" for row in source)]
    for name, place in zip(finding.fields, finding.declared_at, strict=False):
        if place != finding.place:
            lines.append(f"    {label(finding, name)} is declared at {shown(place.path)}:{place.line}")
            lines += [f"    {row}" for row in excerpts.around(place)]
    return [*lines, *advice_lines(finding, style), ""]
