"""Functions that are long, deep or wide are checked all the same, or named as not checked."""

from __future__ import annotations

from lint_rules.config import Config
from lint_rules.engine import analyze
from tests.lint_rules.flow.programs import RECORDS, check
from tests.lint_rules.trees import tree_of

_DROP = """
    return replace(plan_fresh(old.rows), fold=old.fold)  # OWN001: pack
"""


def test_many_statements_before_the_copy_do_not_hide_it() -> None:
    lines = "".join(f"    x{number} = old.rows + {number}\n" for number in range(4_000))
    check(f"def renew(old: Plan) -> Plan:\n{lines}{_DROP}")


def test_many_copies_before_the_drop_do_not_hide_it() -> None:
    lines = "".join(f"    step = replace(old, rows={number})\n" for number in range(1_000))
    check(f"def renew(old: Plan) -> Plan:\n{lines}{_DROP}")


def test_a_line_with_many_attributes_is_read() -> None:
    values = ", ".join(f"'k{number}': old.fold" for number in range(5_000))
    check(f"def renew(old: Plan) -> Plan:\n    values = {{{values}}}\n{_DROP}")


def test_an_expression_that_is_too_deep_is_named() -> None:
    deep = "not " * 900 + "old.rows"
    files = {
        "records.py": RECORDS,
        "use.py": f"from records import Plan\n\ndef renew(old: Plan) -> Plan:\n    x = {deep}\n"
        "    return Plan(old.rows, old.fold, None)\n",
    }
    (problem,) = analyze(tree_of(dict(files)), Config()).problems
    assert str(problem) == "use.py:3: `renew` is nested too deeply to be checked"
