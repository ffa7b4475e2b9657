from __future__ import annotations

import json
from dataclasses import replace

from lint_rules.report.statistics import statistics_lines, statistics_objects
from tests.lint_rules.report.reports import drop

FINDINGS = [drop(1, 1), replace(drop(2, 1, code="OWN004"), fixes=()), *(drop(line, 1) for line in range(3, 12))]
NAMES = {"OWN001": "dropped", "OWN004": "rebuilt"}


def test_the_most_frequent_rule_comes_first() -> None:
    assert statistics_lines(FINDINGS, NAMES) == ["10  OWN001  dropped  10 with --fix", " 1  OWN004  rebuilt"]


def test_a_program_gets_objects() -> None:
    assert [json.loads(line) for line in statistics_objects(FINDINGS, NAMES)] == [
        {"code": "OWN001", "name": "dropped", "count": 10, "fixable": 10},
        {"code": "OWN004", "name": "rebuilt", "count": 1, "fixable": 0},
    ]


def test_without_findings_there_is_nothing_to_count() -> None:
    assert statistics_lines([], NAMES) == statistics_objects([], NAMES) == []
