"""One run of the checker: from a source tree and a configuration to findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lint_rules.collector import without_collector
from lint_rules.findings import Place, Problem
from lint_rules.index.plans import build_plan_table
from lint_rules.index.project import Project
from lint_rules.index.source import SourceError, decode, has_valid_syntax, parse
from lint_rules.parts import concerns
from lint_rules.rules import Context, all_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lint_rules.config import Config
    from lint_rules.files import SourceTree
    from lint_rules.findings import Finding
    from lint_rules.rules import Rule

__all__ = ["Analysis", "analyze"]

#: Trees with more source than this many bytes are parsed only where a plan is spoken of, unless `parse-all` is set.
_PARSE_ALL_BELOW = 16_000_000


@dataclass(frozen=True, slots=True)
class Analysis:
    """The result of a run. `plans` counts the plan classes that are marked or declared, `files` what was read."""

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    plans: int
    files: int


def analyze(
    tree: SourceTree,
    config: Config,
    *,
    rules: Sequence[Rule] | None = None,
    progress: Callable[[int, int], None] | None = None,
    valid: set[str] | None = None,
) -> Analysis:
    """Run the rules over a tree.

    Findings are those of the selected files, and those about classes that a selected file declares. Suppressions are
    not applied here. `valid` has the hashes of contents that are known to be valid Python, and gets those that are
    found to be. Raises `RuleLoadError` where a rule cannot be imported.
    """
    chosen = [rule for rule in (all_rules() if rules is None else rules) if config.chooses(rule.code)]
    with without_collector():
        project = Project(tree)
        plans, problems = build_plan_table(project, config)
        context = Context(project, plans, config, progress)
        found = [finding for rule in chosen for finding in rule.run(context)]
        problems += _syntax_problems(project, tree, config, set() if valid is None else valid)
        problems += project.problems
    wanted = [each for each in found if concerns(each, tree.selected) and config.chooses(each.code, each.place.path)]
    findings = sorted({_key(each): each for each in wanted}.values(), key=_key)
    return Analysis(tuple(findings), tuple(sorted(set(problems), key=_problem_key)), len(plans), len(tree.files))


def _key(finding: Finding) -> tuple[Place, str, tuple[str, ...], str]:
    return finding.place, finding.code, finding.fields, finding.class_name


def _problem_key(problem: Problem) -> tuple[str, int, str]:
    place = problem.place
    return (place.path, place.line, problem.message) if place is not None else ("", 0, problem.message)


def _syntax_problems(project: Project, tree: SourceTree, config: Config, valid: set[str]) -> Iterator[Problem]:
    """Find out whether the files that nobody needed to parse can be parsed.

    They have no plan in them, but a file that is no Python must not pass as clean. Past a certain size of the tree
    this would cost more than all the rest, and only the bytes are looked at.
    """
    size = sum(len(file.data) for file in tree.files.values())
    in_full = config.parse_all if config.parse_all is not None else size <= _PARSE_ALL_BELOW
    for name in tree.files:
        file = tree.files[name]
        if name not in tree.selected or project.is_read(name) or file.digest in valid:
            continue
        try:
            text = decode(file.data)
            if in_full:
                if not has_valid_syntax(text):
                    parse(text, name)
                valid.add(file.digest)
        except SourceError as error:
            yield Problem(error.message, Place(name, error.line or 1))
