"""The engine on files in memory."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from lint_rules.config import Config, PlanDeclaration
from lint_rules.engine import analyze
from lint_rules.index.plans import PlanTable, build_plan_table
from lint_rules.index.project import Project
from tests.lint_rules.trees import tree_of

if TYPE_CHECKING:
    from lint_rules.engine import Analysis
    from lint_rules.findings import Finding, Problem

__all__ = ["analysis_of", "declare", "findings_in", "project_of", "table_of"]


def _dedented(files: dict[str, str]) -> dict[str, str | bytes]:
    return {name: textwrap.dedent(text) for name, text in files.items()}


def declare(class_name: str, *transferable: str) -> PlanDeclaration:
    """A `[[tool.carryall.plan]]`."""
    return PlanDeclaration(class_name, transferable)


def analysis_of(files: dict[str, str], *plans: PlanDeclaration) -> Analysis:
    """What the engine says of these files."""
    return analyze(tree_of(_dedented(files)), Config(plans=plans))


def findings_in(text: str, *plans: PlanDeclaration) -> tuple[Finding, ...]:
    """The findings in one file, `a.py`; there must be no problem."""
    analysis = analysis_of({"a.py": text}, *plans)
    assert analysis.problems == ()
    return analysis.findings


def project_of(files: dict[str, str]) -> Project:
    """The index of these files."""
    return Project(tree_of(_dedented(files)))


def table_of(files: dict[str, str], *plans: PlanDeclaration) -> tuple[PlanTable, list[Problem]]:
    """The plans of these files, and what is wrong with the declarations."""
    return build_plan_table(project_of(files), Config(plans=plans))
