from __future__ import annotations

import json

from lint_rules.findings import Edit, Finding, Fix, Place
from lint_rules.report.jsonl import finding_line

FINDING = Finding(
    "OWN001",
    Place("pkg/a.py", 3, 7),
    "pkg.a.Plan",
    ("x", "ÿ"),
    'the "text"',
    (Place("pkg/b.py", 1), Place("pkg/b.py", 2, 5)),
    (
        Fix("carry it", "safe", (Edit(Place("pkg/a.py", 3, 7), "x", "plan.x", "replace"),)),
        Fix("declare the drop", "display"),
    ),
)


def test_a_finding_is_one_object_with_these_keys_in_this_order() -> None:
    line = finding_line(FINDING)
    assert "\n" not in line
    data = json.loads(line)
    assert list(data) == [
        "code",
        "path",
        "line",
        "column",
        "class",
        "fields",
        "message",
        "declared_at",
        "fixes",
    ]
    assert data == {
        "code": "OWN001",
        "path": "pkg/a.py",
        "line": 3,
        "column": 7,
        "class": "pkg.a.Plan",
        "fields": ["x", "ÿ"],
        "message": 'the "text"',
        "declared_at": [
            {"field": "x", "path": "pkg/b.py", "line": 1},
            {"field": "ÿ", "path": "pkg/b.py", "line": 2},
        ],
        "fixes": [
            {
                "title": "carry it",
                "safety": "safe",
                "edits": [
                    {
                        "path": "pkg/a.py",
                        "line": 3,
                        "column": 7,
                        "keyword": "x",
                        "expression": "plan.x",
                        "statement": False,
                        "old": "",
                    }
                ],
            },
            {"title": "declare the drop", "safety": "display", "edits": []},
        ],
    }


def test_more_keys_come_last() -> None:
    assert list(json.loads(finding_line(FINDING, reason="why")))[-1] == "reason"
