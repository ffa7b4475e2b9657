"""Workflow commands of GitHub Actions: each finding becomes a note beside the line of the pull request."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lint_rules.report.text import advice_lines

if TYPE_CHECKING:
    from lint_rules.findings import Place
    from lint_rules.report.model import Report

__all__ = ["render"]

#: What would end the message or one of its properties.
_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}


def render(report: Report) -> str:
    """An `::error` for each finding and each problem."""
    top = os.environ.get("GITHUB_WORKSPACE") or os.getcwd()
    lines = []
    for finding in report.findings:
        help_lines = [line.strip() for line in advice_lines(finding)]
        text = "\n".join([f"{finding.code} {finding.message}", *help_lines])
        lines.append(_command(text, finding.place, f"carryall {finding.code}", report, top))
    lines += [_command(each.message, each.place, "carryall", report, top) for each in report.problems]
    return "".join(f"{line}\n" for line in lines)


def _command(message: str, place: Place | None, title: str, report: Report, top: str) -> str:
    properties = {"title": title}
    if place is not None:
        properties = {"file": _path(place.path, report, top), "line": str(place.line), "col": str(place.column)}
        properties["title"] = title
    listed = ",".join(f"{key}={_escaped(value, _PROPERTY)}" for key, value in properties.items())
    return f"::error {listed}::{_escaped(message, _DATA)}"


def _path(name: str, report: Report, top: str) -> str:
    """The file from the top of the repository, which is what GitHub knows it by."""
    path = os.path.join(report.tree.root, name)
    above = os.path.join(top, "")
    return path.removeprefix(above).replace(os.sep, "/") if path.startswith(above) else name


def _escaped(text: str, table: dict[str, str]) -> str:
    return "".join(table.get(char, char) for char in text)
