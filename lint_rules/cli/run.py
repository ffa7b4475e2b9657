"""One check: the tree as it is now, what it gives, and what was mended on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lint_rules.cli.terminal import Progress, shown_path
from lint_rules.report.model import Report
from lint_rules.suppress import Suppressed, sort_out

if TYPE_CHECKING:
    from lint_rules.baseline import Stale
    from lint_rules.cache import Outcome
    from lint_rules.cli.session import Session
    from lint_rules.files import SourceTree
    from lint_rules.findings import Finding, Problem

__all__ = ["Run"]

#: A fix can only bring a new finding to light so often; more rounds than this would be a fault of a rule.
_ROUNDS = 10


@dataclass
class Run:
    """The state of one check: the tree as it is now, what it gives, and what was mended on the way."""

    session: Session
    progress: Progress
    use_cache: bool
    kept: list[Finding] = field(default_factory=list)
    suppressed: list[Suppressed] = field(default_factory=list)
    baselined: list[Finding] = field(default_factory=list)
    stale: tuple[Stale, ...] = ()
    fixed: list[Finding] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tree: SourceTree = self.session.tree
        self.outcome: Outcome | None = None

    def analyze(self) -> None:
        """Findings for the tree as it is now."""
        self.outcome = self.session.analyze(self.tree, self.progress, use_cache=self.use_cache)
        wanted = self.tree.selected if self.session.only is not None else self.tree.files.keys()
        found = [each for each in self.outcome.findings if each.place.path in wanted]
        kept, self.suppressed = sort_out(found, self.tree, self._ran)
        chosen = [each for each in kept if self.session.config.chooses(each.code, each.place.path)]
        baseline = self.session.baseline
        if baseline is None:
            self.kept = chosen
        else:
            self.kept, self.baselined = baseline.subtract(chosen, self.tree)
            self.stale = baseline.stale(chosen, self.tree, self._ran)

    def _ran(self, code: str, name: str) -> bool:
        """Whether a rule had its say about a file: not if it was left out, or something was in its way."""
        assert self.outcome is not None
        session = self.session
        hindered = self.outcome.problems or session.config_problems or session.tree.problems
        return not hindered and session.config.chooses(code, name)

    def mend(self, *, unsafe: bool) -> None:
        """Apply fixes to the tree in memory, until there is nothing more to apply."""
        from lint_rules.fixes import apply_fixes
        from lint_rules.rewrite import with_texts

        for _ in range(_ROUNDS):
            changes = apply_fixes(self.tree, filter(self._is_mendable, self.kept), unsafe=unsafe)
            if not changes.texts:
                return
            self.fixed += changes.fixed
            self.tree = with_texts(self.tree, changes.texts)
            self.analyze()

    def _is_mendable(self, finding: Finding) -> bool:
        """Whether its fixes stay in the file that an editor asks about."""
        only = self.session.only
        return only is None or all(edit.place.path == only for fix in finding.fixes for edit in fix.edits)

    def write(self) -> None:
        """Write what was mended. A file that cannot be written keeps its findings."""
        from lint_rules.rewrite import with_originals, write

        failed = write(self.session.tree, self.tree)
        if failed:
            self.problems += failed.values()
            self.fixed = [each for each in self.fixed if each.place.path not in failed]
            self.tree = with_originals(self.tree, self.session.tree, failed)
            self.analyze()

    def changed_files(self) -> int:
        """How many files differ from what they were."""
        before = self.session.tree.files
        return sum(1 for name, file in self.tree.files.items() if file.data != before[name].data)

    def report(self) -> Report:
        """What there is to tell."""
        assert self.outcome is not None
        session = self.session
        problems = (*session.config_problems, *session.tree.problems, *self.outcome.problems, *self.problems)
        return Report(
            tree=self.tree,
            findings=tuple(self.kept),
            suppressed=tuple(self.suppressed),
            baselined=tuple(self.baselined),
            baseline=session.baseline.name if session.baseline is not None else "",
            problems=problems,
            plans=self.outcome.plans,
            files=self.outcome.files,
            shown=shown_path(self.tree),
        )
