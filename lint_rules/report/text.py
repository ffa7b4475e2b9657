"""Findings for a person: a line that editors can jump to, and what helps to act on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lint_rules.findings import Finding, Fix, Problem
    from lint_rules.report.model import Report

__all__ = [
    "advice_lines",
    "closing",
    "count",
    "finding_lines",
    "headline",
    "label",
    "nothing_declared",
    "plain",
    "problem_line",
    "render",
    "summary",
]


def plain(text: str, role: str) -> str:
    """No style: what is not a terminal gets the bare text. Roles are "place", "code", "advice" and "error"."""
    return text


def render(report: Report) -> str:
    """The findings with their help, and a summary."""
    lines = [line for finding in report.findings for line in finding_lines(finding, report.shown)]
    return "".join(f"{line}\n" for line in [*lines, *closing(report)])


def closing(report: Report, *, mended: bool = False) -> list[str]:
    """The last line of a report for people; none where "no findings" would sound like "clean" and is not."""
    if report.problems and not report.findings:
        return []
    if not report.plans and not report.findings and not report.problems:
        return [nothing_declared(report.files)]
    told = summary(
        report.findings,
        plans=report.plans,
        files=report.files,
        suppressed=len(report.suppressed),
        baselined=len(report.baselined),
    )
    return [told.partition(";")[0].rstrip(".") + "." if mended else told]


def finding_lines(
    finding: Finding, shown: Callable[[str], str] = str, style: Callable[[str, str], str] = plain
) -> list[str]:
    """The finding and its help; `shown` turns a name in the tree into a path that the reader can open."""
    lines = [headline(finding, shown, style)]
    for name, declared in zip(finding.fields, finding.declared_at, strict=False):
        if str(declared) not in finding.message:
            lines.append(f"    {label(finding, name)} is declared at {shown(declared.path)}:{declared.line}")
    return lines + advice_lines(finding, style)


def headline(finding: Finding, shown: Callable[[str], str] = str, style: Callable[[str, str], str] = plain) -> str:
    """Place, code and message in a line that editors can jump to."""
    place = finding.place
    where = style(f"{shown(place.path)}:{place.line}:{place.column}", "place")
    return f"{where}: {style(finding.code, 'code')} {finding.message}"


def advice_lines(finding: Finding, style: Callable[[str, str], str] = plain) -> list[str]:
    """A line for each fix."""
    return [style(f"    {_advice(fix)}", "advice") for fix in finding.fixes]


def label(finding: Finding, name: str) -> str:
    """A field of the finding with the class that has it: `Plan.pack`."""
    owner = finding.class_name.rpartition(".")[2]
    return f"{owner}.{name}" if owner else name


def _advice(fix: Fix) -> str:
    if not fix.edits or fix.safety == "display":
        return f"help: {fix.title}"
    option = "--fix" if fix.safety == "safe" else "--fix --unsafe-fixes"
    return f"help: {fix.title} [{option}]"


def problem_line(problem: Problem, shown: Callable[[str], str] = str, style: Callable[[str, str], str] = plain) -> str:
    """One line, whatever the message holds."""
    message = " ".join(problem.message.split())
    if problem.place is not None:
        message = f"{shown(problem.place.path)}:{problem.place.line}: {message}"
    return f"{style('error', 'error')}: {message}"


def summary(findings: Iterable[Finding], *, plans: int, files: int, suppressed: int, baselined: int = 0) -> str:
    """The last line of a report."""
    findings = list(findings)
    hidden = f", {suppressed} suppressed" if suppressed else ""
    hidden += f", {baselined} in the baseline" if baselined else ""
    checked = f"{count(plans, 'plan class', 'plan classes')} in {count(files, 'file')}"
    if not findings:
        return f"No findings in {checked}{hidden}."
    safe = sum(1 for each in findings if any(fix.edits and fix.safety == "safe" for fix in each.fixes))
    mend = f"; {safe} can be mended with --fix" if safe else ""
    return f"{count(len(findings), 'finding')} in {checked}{hidden}{mend}."


def nothing_declared(files: int) -> str:
    """How to start, in one line."""
    if not files:
        return "No Python files here, so nothing was checked."
    return (
        f"Nothing is declared in {count(files, 'file')}: mark a plan class with @plan, or add [[tool.carryall.plan]] "
        "to pyproject.toml; `carryall audit` suggests both."
    )


def count(number: int, singular: str, plural: str | None = None) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"
