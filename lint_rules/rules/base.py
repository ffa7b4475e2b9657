"""What a rule is, and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lint_rules.agreement.scope import Agreement
from lint_rules.flow.analysis import analyze_flow
from lint_rules.usage.collect import Usage

if TYPE_CHECKING:
    from lint_rules.config import Config
    from lint_rules.findings import Finding
    from lint_rules.flow.analysis import Flow
    from lint_rules.flow.sites import CopySite
    from lint_rules.index.plans import PlanTable
    from lint_rules.index.project import Project

__all__ = ["Context", "Rule"]


@dataclass(slots=True)
class Context:
    """The index that all rules of a run share; what rules share is worked out for the first that asks."""

    project: Project
    plans: PlanTable
    config: Config
    progress: Callable[[int, int], None] | None = None
    _flow: Flow | None = field(default=None)
    _usage: Usage | None = field(default=None)
    _agreement: Agreement | None = field(default=None)

    def flow(self) -> Flow:
        """What became of the plans, from one run of the functions that could copy or change them."""
        if self._flow is None:
            materializers = frozenset(self.config.materializers)
            self._flow = analyze_flow(self.project, self.plans, materializers, self.progress)
        return self._flow

    def copy_sites(self) -> Sequence[CopySite]:
        return self.flow().sites

    def usage(self) -> Usage:
        """The functions that speak of plans, walked once."""
        if self._usage is None:
            self._usage = Usage(self.project, self.plans)
        return self._usage

    def agreement(self) -> Agreement:
        """The functions about plans, and what they read, call and construct."""
        if self._agreement is None:
            self._agreement = Agreement(self.project, self.plans, self.config)
        return self._agreement


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: what it is called, why it is there, and how it is run.

    `explanation` is markdown. Each text of `bad` is a module in which the rule finds exactly one thing, each text of
    `good` one in which no rule finds anything; all of them are run as tests. `fix` says what can be mended and how
    safe that is.
    """

    code: str
    name: str
    summary: str
    explanation: str
    bad: tuple[str, ...]
    good: tuple[str, ...]
    fix: str
    run: Callable[[Context], Iterable[Finding]]
