"""A small report to write in all formats."""

from __future__ import annotations

from lint_rules.findings import Edit, Finding, Fix, Place, Problem
from lint_rules.report.model import Report
from lint_rules.suppress import Suppressed, Suppression
from tests.lint_rules.trees import tree_of

__all__ = ["DROP", "REPORT", "SOURCE", "drop"]

SOURCE = """\
def materialize(plan):
    fresh = plan_scratch(plan.rows)
    # naïve, and short
    return replace(fresh, fold=plan.fold)


def again(plan):
    return replace(plan_scratch(1), fold=plan.fold)
"""
DECLARED = "class Plan:\n    fold: object\n    pack: object\n"


def drop(line: int, column: int, code: str = "OWN001", message: str = "`pack` is lost, 100 %, as: two") -> Finding:
    """A dropped field at a place of `SOURCE`."""
    place = Place("pkg/a.py", line, column)
    fix = Fix("carry it: pack=plan.pack", "safe", (Edit(place, "pack", "plan.pack"),))
    return Finding(
        code, place, "pkg.plans.Plan", ("pack",), message, (Place("pkg/plans.py", 3, 5),), (fix, Fix("drop", "display"))
    )


DROP = drop(4, 12)
REPORT = Report(
    tree=tree_of({"pkg/a.py": SOURCE, "pkg/plans.py": DECLARED, "bad.py": "x = (\n"}),
    findings=(DROP,),
    suppressed=(Suppressed(drop(8, 12), Suppression(Place("pkg/a.py", 8, 60), (("OWN001", None),), "measured <1>")),),
    problems=(Problem("syntax error: '(' was never closed", Place("bad.py", 1)), Problem("no such file")),
    plans=1,
    files=3,
)
