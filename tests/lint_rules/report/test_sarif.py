"""SARIF: valid by the official schema, and its fixes are what --fix does."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lint_rules.findings import Edit, Finding, Fix, Place
from lint_rules.fixes import apply_fixes
from lint_rules.report.model import Report
from lint_rules.report.sarif import _position, _replacement, render
from tests.lint_rules.report.reports import DROP, REPORT, SOURCE, drop
from tests.lint_rules.trees import tree_of

SCHEMA = Path(__file__).resolve().parents[2] / "data" / "sarif" / "sarif-2.1.0-rtm.5.json"


def run_of(report: Report) -> dict[str, Any]:
    run: dict[str, Any] = json.loads(render(report))["runs"][0]
    return run


def complaints(document: object) -> list[str]:
    """What the schema has against a document."""
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed; `make test` installs it")
    validator = jsonschema.Draft4Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    return [error.message for error in validator.iter_errors(document)]


@pytest.mark.parametrize(
    "report",
    [
        Report(tree_of({})),
        REPORT,
        replace(REPORT, findings=(), baselined=(DROP,), baseline="known.json"),
        replace(REPORT, findings=(Finding("XYZ001", Place("/elsewhere/ü b.py", 1), "", (), "m"),)),
    ],
)
def test_the_document_is_valid(report: Report) -> None:
    assert complaints(json.loads(render(report))) == []


def test_the_schema_would_see_a_mistake() -> None:
    document = json.loads(render(REPORT))
    document["runs"][0]["results"][0]["suppressions"] = [{"kind": "somewhere"}]
    assert complaints(document) == ["'somewhere' is not one of ['inSource', 'external']"]


def test_a_result_says_what_where_and_which_declaration() -> None:
    run = run_of(REPORT)
    result = run["results"][0]
    assert (result["ruleId"], result["message"]["text"]) == ("OWN001", DROP.message)
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "OWN001"
    physical = result["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "pkg/a.py", "uriBaseId": "%SRCROOT%"}
    assert physical["region"] == {"startLine": 4, "startColumn": 12}
    (related,) = result["relatedLocations"]
    assert related["message"]["text"] == "Plan.pack is declared here"
    assert run["originalUriBaseIds"]["%SRCROOT%"]["uri"] == "file:///project/"


def test_a_rule_is_described_by_its_own_text() -> None:
    (rule,) = run_of(REPORT)["tool"]["driver"]["rules"]
    assert (rule["id"], rule["name"]) == ("OWN001", "dropped")
    assert rule["help"]["markdown"].startswith(rule["fullDescription"]["text"])


def test_what_is_suppressed_is_there_with_its_reason() -> None:
    suppressed = run_of(REPORT)["results"][1]
    (mark,) = suppressed["suppressions"]
    assert (mark["kind"], mark["justification"]) == ("inSource", "measured <1>")


def test_what_the_baseline_has_is_external_and_unchanged() -> None:
    (result,) = run_of(replace(REPORT, findings=(), suppressed=(), baselined=(DROP,), baseline="known.json"))["results"]
    assert (result["baselineState"], result["suppressions"][0]["kind"]) == ("unchanged", "external")
    assert "known.json" in result["suppressions"][0]["justification"]


def test_problems_are_notifications_and_the_run_did_not_succeed() -> None:
    (invocation,) = run_of(REPORT)["invocations"]
    assert invocation["executionSuccessful"] is False
    told = invocation["toolExecutionNotifications"]
    assert [each["message"]["text"] for each in told] == [problem.message for problem in REPORT.problems]
    assert run_of(Report(tree_of({})))["invocations"][0]["executionSuccessful"] is True


def applied(text: str, replacement: dict[str, Any]) -> str:
    """The text with a replacement made, as a reader of SARIF would make it."""
    region = replacement["deletedRegion"]
    rows = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    head = rows[region["startLine"] - 1][: region["startColumn"] - 1]
    tail = rows[region["endLine"] - 1][region["endColumn"] - 1 :]
    before, after = rows[: region["startLine"] - 1], rows[region["endLine"] :]
    new = replacement["insertedContent"]["text"].replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join([*before, head + new + tail, *after])


def test_a_fix_is_what_the_option_fix_would_do() -> None:
    (fix,) = run_of(REPORT)["results"][0]["fixes"]
    (change,) = fix["artifactChanges"]
    (replacement,) = change["replacements"]
    assert (fix["description"]["text"], change["artifactLocation"]["uri"]) == ("carry it: pack=plan.pack", "pkg/a.py")
    assert replacement["insertedContent"]["text"] == ", pack=plan.pack"
    assert applied(SOURCE, replacement) == apply_fixes(REPORT.tree, [DROP], unsafe=False).texts["pkg/a.py"]


def test_a_fix_that_a_person_should_read_says_so_and_one_that_cannot_be_applied_is_left_out() -> None:
    place = Place("pkg/a.py", 4, 12)
    offered = (
        Fix("guess", "unsafe", (Edit(place, "pack", "plan.pack"),)),
        Fix("gone", "safe", (Edit(Place("pkg/a.py", 1, 1), "pack", "plan.pack"),)),
    )
    (result, _) = run_of(replace(REPORT, findings=(replace(drop(4, 12), fixes=offered),)))["results"]
    assert [fix["description"]["text"] for fix in result["fixes"]] == ["guess (to be read by a person)"]


TEXTS = st.text(alphabet="ab\n", max_size=12)


@given(TEXTS, TEXTS, st.sampled_from(["\n", "\r\n", "\r"]))
def test_a_replacement_turns_the_old_text_into_the_new_one(old: str, new: str, end: str) -> None:
    assert applied(old, _replacement(old.replace("\n", end), new.replace("\n", end))) == new


def test_positions_count_from_one() -> None:
    assert [_position("a\r\nbc\n", offset) for offset in (0, 1, 3, 4, 6)] == [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1)]


def test_a_finding_that_moved_keeps_its_fingerprint() -> None:
    moved = replace(
        REPORT,
        tree=tree_of({"pkg/a.py": "\n\n" + SOURCE}),
        findings=(replace(DROP, place=Place("pkg/a.py", 6, 12), fixes=()),),
        suppressed=(),
    )
    marks = [run_of(report)["results"][0]["partialFingerprints"] for report in (REPORT, moved)]
    assert marks[0] == marks[1]
    assert "materialize" in marks[0]["carryall/v1"]
