"""One JSON object a line for each finding. The keys are an interface: they are added to, never changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lint_rules.findings import Finding
    from lint_rules.report.model import Report

__all__ = ["finding_as_dict", "finding_line", "render"]


def render(report: Report) -> str:
    """A line for each finding and nothing else."""
    return "".join(f"{finding_line(each)}\n" for each in report.findings)


def finding_as_dict(finding: Finding) -> dict[str, Any]:
    """The finding as plain data, keys in the order in which they are printed."""
    place = finding.place
    return {
        "code": finding.code,
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "class": finding.class_name,
        "fields": list(finding.fields),
        "message": finding.message,
        "declared_at": [
            {"field": name, "path": where.path, "line": where.line}
            for name, where in zip(finding.fields, finding.declared_at, strict=False)
        ],
        "fixes": [
            {
                "title": fix.title,
                "safety": fix.safety,
                "edits": [
                    {
                        "path": edit.place.path,
                        "line": edit.place.line,
                        "column": edit.place.column,
                        "keyword": edit.keyword,
                        "expression": edit.expression,
                        "statement": edit.statement,
                        "old": edit.old,
                    }
                    for edit in fix.edits
                ],
            }
            for fix in finding.fixes
        ],
    }


def finding_line(finding: Finding, **more: object) -> str:
    """One line, without a line end; `more` is added behind the finding's own keys."""
    return json.dumps({**finding_as_dict(finding), **more})
