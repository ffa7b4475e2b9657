"""SARIF 2.1.0: for code scanning services, and for editors that show its fixes.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lint_rules.fingerprint import fingerprints
from lint_rules.report.excerpt import Excerpts
from lint_rules.report.text import label

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lint_rules.findings import Finding, Fix, Place, Problem
    from lint_rules.report.model import Report

__all__ = ["render"]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"
_BLANK_LINE = "\n\n"


def render(report: Report) -> str:
    """One run with its rules, results, fixes and suppressions; problems are notifications of the tool."""
    hidden = [each.finding for each in report.suppressed]
    rules = _rules({each.code for each in (*report.findings, *hidden, *report.baselined)})
    writer = _Writer(report, {rule["id"]: index for index, rule in enumerate(rules)})
    results = [writer.result(each) for each in report.findings]
    for suppressed in report.suppressed:
        mark = {
            "kind": "inSource",
            "status": "accepted",
            "justification": suppressed.by.reason,
            "location": _location(suppressed.by.place),
        }
        results.append({**writer.result(suppressed.finding), "suppressions": [mark]})
    for finding in report.baselined:
        mark = {"kind": "external", "status": "accepted", "justification": f"in the baseline {report.baseline}"}
        results.append({**writer.result(finding), "suppressions": [mark], "baselineState": "unchanged"})
    run = {
        "tool": {"driver": {"name": "carryall", "semanticVersion": _version(), "rules": rules}},
        "originalUriBaseIds": {_ROOT: {"uri": report.tree.root.as_uri().rstrip("/") + "/"}},
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "invocations": [
            {
                "executionSuccessful": not report.problems,
                "toolExecutionNotifications": [_notification(each) for each in report.problems],
            }
        ],
        "results": results,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("carryall")
    except metadata.PackageNotFoundError:
        return "0.0.0"


def _rules(codes: Iterable[str]) -> list[dict[str, Any]]:
    """What the results refer to, from the rules' own texts."""
    from lint_rules.plugins import load_all
    from lint_rules.suppress import HYGIENE

    known, _ = load_all()
    texts = {code: (each.name, each.summary, each.explanation) for code, each in HYGIENE.items()}
    texts |= {rule.code: (rule.name, rule.summary, rule.explanation) for rule in known}
    described = []
    for code in sorted(codes):
        name, about, explanation = texts.get(code, (code, "", ""))
        entry: dict[str, Any] = {"id": code, "name": name, "defaultConfiguration": {"level": "error"}}
        if about:
            entry["shortDescription"] = {"text": about}
            entry["fullDescription"] = {"text": explanation.strip().partition(_BLANK_LINE)[0]}
            entry["help"] = {"text": explanation.strip(), "markdown": explanation.strip()}
        described.append(entry)
    return described


class _Writer:
    """Results of one run."""

    def __init__(self, report: Report, indices: dict[str, int]) -> None:
        self._report = report
        self._indices = indices
        self._excerpts = Excerpts(report.tree)

    def result(self, finding: Finding) -> dict[str, Any]:
        location = _location(finding.place)
        if finding.class_name:
            location["logicalLocations"] = [{"fullyQualifiedName": finding.class_name}]
        result: dict[str, Any] = {
            "ruleId": finding.code,
            "ruleIndex": self._indices[finding.code],
            "level": "error",
            "message": {"text": finding.message},
            "locations": [location],
            "partialFingerprints": {"carryall/v1": self._fingerprint(finding)},
        }
        related = [
            {**_location(place), "message": {"text": f"{label(finding, name)} is declared here"}}
            for name, place in zip(finding.fields, finding.declared_at, strict=False)
        ]
        if related:
            result["relatedLocations"] = related
        fixes = [written for fix in finding.fixes if (written := self._fix(finding, fix)) is not None]
        if fixes:
            result["fixes"] = fixes
        return result

    def _fingerprint(self, finding: Finding) -> str:
        marks = fingerprints(finding, self._excerpts)
        first = next(iter(marks.values()))
        return ":".join([first.code, first.class_name, first.function, "+".join(marks), first.context])

    def _fix(self, finding: Finding, fix: Fix) -> dict[str, Any] | None:
        """The fix as replacements; None for advice, and where it cannot be applied."""
        if not fix.edits or fix.safety == "display":
            return None
        from lint_rules.fixes import apply_fixes
        from lint_rules.index.source import decode

        tree = self._report.tree
        texts = apply_fixes(tree, [replace(finding, fixes=(fix,))], unsafe=True).texts
        if not texts:
            return None
        changes = [
            {"artifactLocation": _artifact(name), "replacements": [_replacement(decode(tree.files[name].data), text)]}
            for name, text in texts.items()
        ]
        title = fix.title if fix.safety == "safe" else f"{fix.title} (to be read by a person)"
        return {"description": {"text": title}, "artifactChanges": changes}


def _replacement(old: str, new: str) -> dict[str, Any]:
    """From the first character that differs to the last one."""
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    longest = shorter - head
    tail = next((at for at in range(longest) if old[-1 - at] != new[-1 - at]), longest)
    head -= old[head - 1 : head + 1] == "\r\n"  # a position between the two would be in neither line
    tail -= tail > 0 and old[len(old) - tail - 1 : len(old) - tail + 1] == "\r\n"
    start, end = _position(old, head), _position(old, len(old) - tail)
    region = {"startLine": start[0], "startColumn": start[1], "endLine": end[0], "endColumn": end[1]}
    return {"deletedRegion": region, "insertedContent": {"text": new[head : len(new) - tail]}}


def _position(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def _location(place: Place) -> dict[str, Any]:
    region = {"startLine": place.line, "startColumn": place.column}
    return {"physicalLocation": {"artifactLocation": _artifact(place.path), "region": region}}


def _artifact(name: str) -> dict[str, str]:
    if name.startswith("/"):
        return {"uri": f"file://{quote(name)}"}
    return {"uri": quote(name), "uriBaseId": _ROOT}


def _notification(problem: Problem) -> dict[str, Any]:
    notification: dict[str, Any] = {"level": "error", "message": {"text": problem.message}}
    if problem.place is not None:
        notification["locations"] = [_location(problem.place)]
    return notification
