"""One line a finding, for lists that editors jump through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lint_rules.report.text import closing, headline

if TYPE_CHECKING:
    from lint_rules.report.model import Report

__all__ = ["render"]


def render(report: Report) -> str:
    """The findings, a line each, and a summary."""
    lines = [headline(finding, report.shown) for finding in report.findings]
    return "".join(f"{line}\n" for line in [*lines, *closing(report)])
