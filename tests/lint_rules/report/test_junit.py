from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from lint_rules.report.junit import render
from lint_rules.report.model import Report
from tests.lint_rules.report.reports import REPORT, drop
from tests.lint_rules.trees import tree_of


def test_findings_fail_suppressed_ones_are_skipped_and_problems_are_errors() -> None:
    top = ET.fromstring(render(REPORT))
    assert (top.tag, top.attrib) == (
        "testsuites",
        {"name": "carryall", "tests": "4", "failures": "1", "errors": "2", "skipped": "1"},
    )
    assert {suite.get("name"): suite.get("tests") for suite in top} == {"pkg/a.py": "2", "carryall": "2"}
    (failed,) = [case for case in top.iter("testcase") if case.find("failure") is not None]
    assert failed.attrib == {"name": "OWN001 line 4", "classname": "pkg/a.py", "file": "pkg/a.py", "line": "4"}
    failure = failed.find("failure")
    assert failure is not None
    assert failure.get("type") == "OWN001"
    assert str(failure.text).startswith("pkg/a.py:4:12: OWN001 ")
    assert [each.get("message") for each in top.iter("skipped")] == ["measured <1>"]
    assert [each.text for each in top.iter("error")] == ["bad.py:1: syntax error: '(' was never closed", "no such file"]


def test_a_clean_run_is_one_case_that_passed() -> None:
    top = ET.fromstring(render(Report(tree_of({}))))
    assert (top.get("tests"), top.get("failures")) == ("1", "0")


@given(st.text())
def test_any_message_makes_well_formed_xml(message: str) -> None:
    ET.fromstring(render(Report(tree_of({}), (drop(1, 1, message=message),))))
