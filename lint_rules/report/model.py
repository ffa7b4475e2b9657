"""What a run gave, as the formats need it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lint_rules.files import SourceTree
    from lint_rules.findings import Finding, Problem
    from lint_rules.suppress import Suppressed

__all__ = ["Report"]


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of a run with what belongs to them, each list sorted by place.

    `suppressed` are those that a comment hides, `baselined` those that the baseline has (`baseline` names its file, and
    is empty if there is none). `problems` are all of the run: with one of them it never counts as clean. `shown` turns
    a name in the tree into a path that the reader can open.
    """

    tree: SourceTree
    findings: tuple[Finding, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    baselined: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    plans: int = 0
    files: int = 0
    baseline: str = ""
    shown: Callable[[str], str] = str
