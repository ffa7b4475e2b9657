"""The examples in the rules are what they say: each bad one has one finding, the good ones have none."""

from __future__ import annotations

import pytest

from lint_rules.rules import all_rules
from tests.lint_rules.checking import findings_in

RULES = all_rules()


def cases(attribute: str) -> list[object]:
    return [
        pytest.param(rule.code, text, id=f"{rule.code}-{number}")
        for rule in RULES
        for number, text in enumerate(getattr(rule, attribute), 1)
    ]


@pytest.mark.parametrize(("code", "text"), cases("bad"))
def test_a_bad_example_has_exactly_one_finding_of_its_rule(code: str, text: str) -> None:
    assert [finding.code for finding in findings_in(text)] == [code]


@pytest.mark.parametrize(("code", "text"), cases("good"))
def test_a_good_example_has_no_finding_of_any_rule(code: str, text: str) -> None:
    assert findings_in(text) == ()


@pytest.mark.parametrize("rule", RULES, ids=[rule.code for rule in RULES])
def test_a_rule_explains_itself(rule: object) -> None:
    explanation = rule.explanation  # type: ignore[attr-defined]
    assert explanation.strip().split("\n")[0].endswith(".")
    assert rule.bad  # type: ignore[attr-defined]
    assert rule.good  # type: ignore[attr-defined]


def test_codes_are_unique_and_in_order() -> None:
    codes = [rule.code for rule in RULES]
    assert codes == sorted(set(codes))
