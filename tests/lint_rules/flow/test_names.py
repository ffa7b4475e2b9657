"""Names: aliases, re-exports, imports of every kind, and annotations that are not there at run time."""

from __future__ import annotations

import pytest

from tests.lint_rules.flow.programs import RECORDS, check_files

#: A package `app` with the plan in `app.core.records`.
PACKAGE = {
    "app/__init__.py": "from app.core import Plan as Exported, plan_fresh\n",
    "app/core/__init__.py": "from .records import *\n",
    "app/core/records.py": RECORDS,
    "app/deep/__init__.py": "",
    "app/deep/below/__init__.py": "",
}

IMPORTS = {
    "absolute": "from app.core.records import Plan, plan_fresh",
    "alias": "from app.core.records import Plan as Stage, plan_fresh as plan_fresh\nPlan = Stage",
    "module": "import app.core.records\nPlan = app.core.records.Plan\nplan_fresh = app.core.records.plan_fresh",
    "module alias": "import app.core.records as r\nPlan = r.Plan\nplan_fresh = r.plan_fresh",
    "from package import module": "from app.core import records\nPlan = records.Plan\nplan_fresh = records.plan_fresh",
    "through a star": "from app.core import Plan, plan_fresh",
    "star": "from app.core.records import *",
    "star of a star": "from app.core import *",
    "re-export under another name": "from app import Exported as Plan, plan_fresh",
    "relative, two levels up": "from ...core.records import Plan, plan_fresh",
    "relative package": "from ...core import Plan, plan_fresh",
    "relative module": "from ...core import records as r\nPlan = r.Plan\nplan_fresh = r.plan_fresh",
    "relative root": "from ... import Exported as Plan, plan_fresh",
    "optional": "try:\n    from app.core.records import Plan, plan_fresh\nexcept ImportError:\n    Plan = None",
}

_RENEW = """
from dataclasses import replace

{imported}

def renew(old: Plan) -> Plan:
    return replace(plan_fresh(old.rows), fold=old.fold)  # OWN001: pack

def rebuild(old):
    return Plan(old.rows, old.fold, None)  # OWN001: pack

def renew_all(old: Plan) -> Plan:
    return replace(plan_fresh(old.rows), fold=old.fold, pack=old.pack)
"""


@pytest.mark.parametrize("imported", IMPORTS.values(), ids=IMPORTS)
def test_imports_of_every_kind_lead_to_the_class(imported: str) -> None:
    check_files({**PACKAGE, "app/deep/below/use.py": _RENEW.format(imported=imported)})


def test_names_imported_for_the_type_checker_alone_still_tell_the_class() -> None:
    check_files(
        {
            **PACKAGE,
            "app/deep/use.py": """
            from __future__ import annotations
            from dataclasses import replace
            from typing import TYPE_CHECKING, Optional

            if TYPE_CHECKING:
                from app.core.records import Plan

            def make_fresh(rows: int) -> Plan:
                from app.core.records import plan_fresh
                return plan_fresh(rows)

            def renew(old: Plan) -> Plan:
                return replace(make_fresh(old.rows), fold=old.fold)  # OWN001: pack

            def renew_quoted(old: "Plan") -> "Plan":
                return replace(make_fresh(old.rows), fold=old.fold)  # OWN001: pack

            def shrink(old: "Optional[Plan]") -> "Plan | None":
                return replace(old, pack=None)  # OWN001: pack

            def shrink_too(old: "Plan | None") -> "Plan | None":
                return replace(old, pack=None)  # OWN001: pack

            def resize(old: Plan) -> Plan:
                return replace(old, rows=2)
            """,
        }
    )


def test_names_imported_inside_the_function_lead_to_the_class() -> None:
    check_files(
        {
            **PACKAGE,
            "app/use.py": """
            def renew(old):
                from app.core.records import Plan
                return Plan(old.rows, old.fold, None)  # OWN001: pack

            def renew_relative(old):
                from .core.records import Plan as Stage
                return Stage(old.rows, old.fold, None)  # OWN001: pack

            def renew_module(old):
                from .core import records
                return records.Plan(old.rows, old.fold, None)  # OWN001: pack
            """,
        }
    )


def test_an_unrelated_class_of_the_same_name_is_silent() -> None:
    check_files(
        {
            **PACKAGE,
            "app/other.py": """
            from dataclasses import dataclass

            @dataclass
            class Plan:
                rows: int
                fold: object = None
                pack: object = None

            def renew(old: Plan) -> Plan:
                return Plan(old.rows, old.fold)
            """,
        }
    )


def test_a_parameter_that_hides_the_class_is_not_the_class() -> None:
    check_files(
        {
            **PACKAGE,
            "app/use.py": """
            from app.core.records import Plan

            def renew(old, Plan):
                return Plan(old.rows, old.fold, None)
            """,
        }
    )


def test_a_class_inside_a_class_and_inside_a_function_is_a_plan() -> None:
    check_files(
        {
            "use.py": """
            from __future__ import annotations
            from dataclasses import dataclass, replace
            from ownership import Absent, Fact, Transferable, plan

            class Kernels:
                @plan
                @dataclass
                class Plan:
                    rows: Fact[int]
                    fold: Transferable[object]
                    pack: Transferable[object]

                def renew(self, old: Kernels.Plan) -> Kernels.Plan:
                    return Kernels.Plan(old.rows, old.fold, None)  # OWN001: pack

            def renew(old: Kernels.Plan) -> Kernels.Plan:
                return Kernels.Plan(old.rows, old.fold, None)  # OWN001: pack
            """
        }
    )
