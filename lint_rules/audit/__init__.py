"""Inference for code without marks: where a value seems to be lost, or two places do not agree that should.

What is found is a suggestion: it comes with its reason, how sure it is, and, where a class is concerned, with the marks
and the declaration that would make `carryall check` enforce it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lint_rules.agreement.constructions import constructions
from lint_rules.agreement.scope import Agreement
from lint_rules.agreement.siblings import disagreements
from lint_rules.audit.agreements import Agreements
from lint_rules.audit.copies import IncompleteCopies
from lint_rules.audit.flagged import FlaggedFields
from lint_rules.audit.loose import LooseAttributes
from lint_rules.audit.merges import merges_in
from lint_rules.audit.model import Suggestion
from lint_rules.audit.sisters import sibling_suggestion
from lint_rules.collector import without_collector
from lint_rules.index.plans import build_plan_table
from lint_rules.index.project import Project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lint_rules.agreement.constructions import Construction
    from lint_rules.config import Config
    from lint_rules.files import SourceTree
    from lint_rules.findings import Problem

__all__ = ["Suggestion", "audit"]

_ORDER = ("high", "medium", "low")


def audit(
    tree: SourceTree, config: Config, progress: Callable[[int, int], None] | None = None
) -> tuple[tuple[Suggestion, ...], tuple[Problem, ...]]:
    """Look for what is lost in classes and functions that are neither marked nor declared; the surest come first."""
    with without_collector():
        project = Project(tree)
        plans, problems = build_plan_table(project, config)
        found = list(_suggestions(Agreement(project, plans, config), tree, progress))
    wanted = {(each.finding.place, each.finding.code, each.finding.fields): each for each in found}
    chosen = [each for each in wanted.values() if config.chooses(each.finding.code)]
    order = sorted(chosen, key=lambda each: (_ORDER.index(each.confidence), each.finding.place, each.finding.code))
    return tuple(order), (*problems, *project.problems)


def _suggestions(
    agreement: Agreement, tree: SourceTree, progress: Callable[[int, int], None] | None
) -> Iterator[Suggestion]:
    project = agreement.project
    checked = {function.info for function in agreement.functions()}
    flagged = FlaggedFields(project, agreement.plans, agreement.bodies)
    rules, copies, loose = Agreements(agreement), IncompleteCopies(agreement), LooseAttributes(agreement)
    paths = [path for path in tree.files if path in tree.selected and b"def " in tree.files[path].data]
    for count, path in enumerate(paths):
        module = project.module_at(path)
        if module is not None:
            yield from flagged.in_module(module)
            made: list[Construction] = []
            for info in module.functions:
                made += agreement.look(info, constructions, project, agreement.bodies, info)
                yield from agreement.look(info, loose.look, info)
                yield from agreement.look(info, merges_in, agreement, info)
                if info not in checked:
                    yield from agreement.look(info, rules.in_function, info)
            for each in made:
                yield from copies.of(each)
            for disagreement in disagreements(project, agreement.bodies, made):
                if agreement.plans.of(disagreement.lacking.cls) is None:
                    yield sibling_suggestion(disagreement)
            yield from rules.in_module(module)
        if progress is not None:
            progress(count + 1, len(paths))
    yield from loose.suggestions()
    yield from rules.late_options()
