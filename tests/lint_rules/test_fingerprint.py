"""What a finding is known by: the same after its lines moved or were laid out anew, another for other code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lint_rules.findings import Finding, Place
from lint_rules.fingerprint import enclosing, fingerprints, normalized
from lint_rules.report.excerpt import Excerpts
from tests.lint_rules.trees import tree_of

CALL = "replace(fresh, fold=plan.fold)"


def context(text: str, line: int = 1, column: int = 1) -> str:
    return normalized(text.split("\n"), Place("a.py", line, column))


@pytest.mark.parametrize(
    "text",
    [
        "replace(fresh,fold=plan.fold)",
        "replace(\n    fresh,\n    fold=plan.fold,\n)",
        "replace(  # fresh\n    fresh, fold = plan . fold)  # the end",
        "replace(fresh, \\\n    fold=plan.fold)",
        "replace(fresh, fold=plan.fold)\nmore()",
    ],
)
def test_layout_and_comments_do_not_count(text: str) -> None:
    assert context(text) == context(CALL)


@pytest.mark.parametrize(
    "text",
    [
        "replace(fresh, fold=plan.fold, pack=1)",
        "replace(fresh, pack=plan.fold)",
        "replace(fresh, fold=plan.fold).bind()",
        "replace(fresh, fold='plan.fold')",
        "replacefresh, fold=plan.fold)",
    ],
)
def test_other_code_is_other(text: str) -> None:
    assert context(text) != context(CALL)


def test_words_stay_apart_and_strings_stay_as_they_are() -> None:
    assert context("return  not x") == "return not x"
    assert context('f(\'a  # b\', """c\n\n d""")') == 'f(\'a  # b\',"""c\n\n d""")'
    assert context("x = 'never closed\ny") == "x='never closed"


def test_a_call_inside_a_statement_ends_where_its_bracket_does() -> None:
    assert context("wrap(replace(a), b)", column=6) == "replace(a),b"


NESTED = """\
class Engine:
    def prepare(
        self,
        rows,
    ) -> Plan:
        def inner():
            pass

        if (
            rows
        ):
            # a note
            text = '''
            x
'''
            return wrap(
                replace(fresh)
            )

top = replace(fresh)
"""


@pytest.mark.parametrize(
    ("needle", "name"),
    [
        ("return wrap", "Engine.prepare"),
        ("replace(fresh)\n            )", "Engine.prepare"),
        ("pass", "Engine.prepare.inner"),
        ("top", ""),
    ],
)
def test_the_function_is_the_one_around_it(needle: str, name: str) -> None:
    line = NESTED[: NESTED.index(needle)].count("\n") + 1
    assert enclosing(NESTED.split("\n"), Place("a.py", line)) == name


def test_each_field_has_its_own() -> None:
    finding = Finding("OWN001", Place("a.py", 2, 5), "a.Plan", ("fold", "pack"), "m")
    marks = fingerprints(finding, Excerpts(tree_of({"a.py": f"def f():\n    {CALL}\n"})))
    assert [(name, mark.field, mark.function) for name, mark in marks.items()] == [
        ("fold", "fold", "f"),
        ("pack", "pack", "f"),
    ]
    assert len({mark.context for mark in marks.values()}) == 1


def test_a_finding_about_no_field_has_one_too_and_so_has_one_in_a_file_that_is_gone() -> None:
    excerpts = Excerpts(tree_of({}))
    assert list(fingerprints(Finding("OWN900", Place("a.py", 9, 5), "", (), "m"), excerpts)) == [""]


@given(st.text(alphabet="ab ()[]'\"#\\\n\t=,", max_size=40), st.integers(1, 5), st.integers(1, 9))
def test_any_text_has_a_context_and_empty_lines_above_change_nothing(text: str, line: int, column: int) -> None:
    rows = text.split("\n")
    place, moved = Place("a.py", line, column), Place("a.py", line + 2, column)
    assert normalized(rows, place) == normalized(["", "", *rows], moved)
    assert enclosing(rows, place) == enclosing(["", "", *rows], moved)
