"""The formats for people that are written as a whole: concise, text and full."""

from __future__ import annotations

from dataclasses import replace

from lint_rules.findings import Finding, Place
from lint_rules.report import concise, full, text
from lint_rules.report.excerpt import Excerpts
from lint_rules.report.formats import FORMATS, TEXTS, render
from lint_rules.report.model import Report
from tests.lint_rules.report.reports import DROP, REPORT
from tests.lint_rules.trees import tree_of

LAST = "1 finding in 1 plan class in 3 files, 1 suppressed; 1 can be mended with --fix."


def test_concise_is_a_line_a_finding_and_a_summary() -> None:
    assert concise.render(REPORT).splitlines() == [f"pkg/a.py:4:12: OWN001 {DROP.message}", LAST]


def test_text_has_the_help_too() -> None:
    assert text.render(REPORT).splitlines() == [
        f"pkg/a.py:4:12: OWN001 {DROP.message}",
        "    Plan.pack is declared at pkg/plans.py:3",
        "    help: carry it: pack=plan.pack [--fix]",
        "    help: drop",
        LAST,
    ]


def test_full_shows_the_code_with_the_place_marked_and_the_declaration() -> None:
    assert full.render(REPORT).splitlines() == [
        f"pkg/a.py:4:12: OWN001 {DROP.message}",
        "    2 |     fresh = plan_scratch(plan.rows)",
        "    3 |     # naïve, and short",
        "    4 |     return replace(fresh, fold=plan.fold)",
        "      |            ^",
        "    5 |",
        "    6 |",
        "    Plan.pack is declared at pkg/plans.py:3",
        "    3 |     pack: object",
        "    help: carry it: pack=plan.pack [--fix]",
        "    help: drop",
        "",
        LAST,
    ]


def test_what_a_terminal_would_obey_is_not_printed_as_it_is() -> None:
    excerpts = Excerpts(tree_of({"a.py": "\tx = '\x1b[31m\u2028'\n"}))
    assert excerpts.around(Place("a.py", 1, 2), mark=True) == ["1 |     x = '\ufffd[31m\ufffd'", "  |     ^"]


def test_a_place_that_is_not_there_has_no_source() -> None:
    excerpts = Excerpts(tree_of({"a.py": "x = 1\n", "b.py": b"\xff\n"}))
    assert [excerpts.around(Place(name, line)) for name, line in (("a.py", 9), ("b.py", 1), ("gone.py", 1))] == [[]] * 3
    assert full.full_lines(Finding("OWN900", Place("gone.py", 7), "", (), "m"), excerpts) == [
        "gone.py:7:1: OWN900 m",
        "",
    ]


def test_with_a_problem_and_no_finding_nothing_sounds_like_clean() -> None:
    report = replace(REPORT, findings=())
    assert [render(name, report) for name in TEXTS] == ["", "", ""]


def test_every_format_can_write_an_empty_report() -> None:
    empty = Report(tree_of({}))
    assert {name: isinstance(render(name, empty), str) for name in FORMATS} == dict.fromkeys(FORMATS, True)
