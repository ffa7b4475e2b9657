"""JUnit XML, which most CI servers show as test results."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from lint_rules.report.text import finding_lines

if TYPE_CHECKING:
    from lint_rules.report.model import Report

__all__ = ["render"]

#: Characters that XML 1.0 cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report) -> str:
    """A suite for each file with findings: a failed case for each of them, a skipped one for what is suppressed.

    Problems are errors in a suite of their own. With nothing to tell there is one case that passed, since an empty
    file counts as a failure for some servers.
    """
    suites: dict[str, list[ET.Element]] = defaultdict(list)
    for finding in report.findings:
        case = _case(f"{finding.code} line {finding.place.line}", finding.place.path, finding.place.line)
        failure = ET.SubElement(case, "failure", {"type": finding.code, "message": _clean(finding.message)})
        failure.text = _clean("\n".join(finding_lines(finding)))
        suites[finding.place.path].append(case)
    for each in report.suppressed:
        place = each.finding.place
        case = _case(f"{each.finding.code} line {place.line}", place.path, place.line)
        ET.SubElement(case, "skipped", {"message": _clean(each.by.reason)})
        suites[place.path].append(case)
    for problem in report.problems:
        where = problem.place
        case = _case("run", where.path if where is not None else "carryall", where.line if where is not None else None)
        error = ET.SubElement(case, "error", {"type": "problem", "message": _clean(problem.message)})
        error.text = _clean(str(problem))
        suites["carryall"].append(case)
    if not suites:
        suites["carryall"].append(_case("no findings", "carryall", None))
    top = ET.Element("testsuites", {"name": "carryall"})
    for name, cases in sorted(suites.items()):
        suite = ET.SubElement(top, "testsuite", {"name": _clean(name)})
        suite.extend(cases)
        _count(suite)
    _count(top)
    ET.indent(top)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(top, encoding="unicode") + "\n"


def _case(name: str, path: str, line: int | None) -> ET.Element:
    attributes = {"name": name, "classname": _clean(path)}
    if line is not None:
        attributes |= {"file": _clean(path), "line": str(line)}
    return ET.Element("testcase", attributes)


def _count(element: ET.Element) -> None:
    for key, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(key, str(sum(1 for _ in element.iter(tag))))


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
