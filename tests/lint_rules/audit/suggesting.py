"""The audit on files in memory."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from lint_rules.audit import audit
from lint_rules.config import Config
from tests.lint_rules.trees import tree_of

if TYPE_CHECKING:
    from lint_rules.audit import Suggestion
    from lint_rules.config import PlanDeclaration

__all__ = ["suggested", "suggestions"]


def suggestions(text: str, *plans: PlanDeclaration, **files: str) -> tuple[Suggestion, ...]:
    """What the audit suggests for `a.py`, and for other files by name; there must be no problem."""
    texts: dict[str, str | bytes] = {f"{name}.py": textwrap.dedent(each) for name, each in {"a": text, **files}.items()}
    found, problems = audit(tree_of(texts), Config(plans=plans))
    assert problems == ()
    return found


def suggested(text: str, *plans: PlanDeclaration, **files: str) -> list[tuple[str, tuple[str, ...]]]:
    """Code and fields of each suggestion."""
    return [(each.finding.code, each.finding.fields) for each in suggestions(text, *plans, **files)]
