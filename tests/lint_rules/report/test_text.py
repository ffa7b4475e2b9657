from __future__ import annotations

import pytest

from lint_rules.findings import Edit, Finding, Fix, Place, Problem
from lint_rules.report.text import finding_lines, nothing_declared, problem_line, summary

EDIT = Edit(Place("a.py", 3, 7), "x", "plan.x")


def finding(*fixes: Fix, message: str = "`x` is not carried over.") -> Finding:
    return Finding("OWN001", Place("a.py", 3, 7), "pkg.a.Plan", ("x",), message, (Place("b.py", 9),), fixes)


def test_the_first_line_is_one_that_editors_can_jump_to() -> None:
    assert finding_lines(finding()) == [
        "a.py:3:7: OWN001 `x` is not carried over.",
        "    Plan.x is declared at b.py:9",
    ]


def test_a_place_that_the_message_names_already_is_not_named_again() -> None:
    assert len(finding_lines(finding(message="`x` (declared at b.py:9) is lost."))) == 1


@pytest.mark.parametrize(
    ("fix", "line"),
    [
        (Fix("carry it", "safe", (EDIT,)), "    help: carry it [--fix]"),
        (Fix("carry it", "unsafe", (EDIT,)), "    help: carry it [--fix --unsafe-fixes]"),
        (Fix("declare the drop", "display"), "    help: declare the drop"),
    ],
)
def test_a_fix_says_how_it_is_applied(fix: Fix, line: str) -> None:
    assert finding_lines(finding(fix))[-1] == line


def test_paths_are_shown_as_the_reader_can_open_them() -> None:
    lines = finding_lines(finding(), lambda name: f"sub/{name}")
    assert lines[0].startswith("sub/a.py:3:7: ")
    assert lines[1].endswith(" sub/b.py:9")


def test_the_roles_reach_the_style() -> None:
    lines = finding_lines(finding(Fix("f", "display")), style=lambda text, role: f"<{role}>{text}")
    assert lines[0].startswith("<place>a.py:3:7: <code>OWN001 ")
    assert lines[-1].startswith("<advice>")


def test_a_problem_is_one_line_whatever_it_says() -> None:
    assert problem_line(Problem("two\nlines", Place("a.py", 4))) == "error: a.py:4: two lines"
    assert problem_line(Problem("no place")) == "error: no place"


def test_the_summary_counts_in_words_that_agree_with_the_numbers() -> None:
    assert summary([], plans=1, files=1, suppressed=0) == "No findings in 1 plan class in 1 file."
    assert summary([], plans=2, files=3, suppressed=1) == "No findings in 2 plan classes in 3 files, 1 suppressed."
    two = [finding(Fix("carry", "safe", (EDIT,))), finding(Fix("carry", "unsafe", (EDIT,)))]
    assert summary(two, plans=1, files=2, suppressed=0) == (
        "2 findings in 1 plan class in 2 files; 1 can be mended with --fix."
    )


def test_where_nothing_is_declared_it_says_how_to_start() -> None:
    line = nothing_declared(3)
    assert "\n" not in line
    assert all(word in line for word in ("3 files", "@plan", "[[tool.carryall.plan]]", "carryall audit"))
    assert "No Python files" in nothing_declared(0)
