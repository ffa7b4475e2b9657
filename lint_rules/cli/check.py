"""`carryall check`: report, and mend if asked to."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lint_rules.cli.options import codes, config_option, format_option, paths_argument
from lint_rules.cli.session import Session, open_session
from lint_rules.cli.terminal import Progress, print_problems, shown_path, style
from lint_rules.report.text import count, finding_lines, nothing_declared, summary
from lint_rules.suppress import sort_out

if TYPE_CHECKING:
    from lint_rules.cache import Outcome
    from lint_rules.files import SourceTree
    from lint_rules.findings import Finding, Problem

__all__ = ["check"]

#: A fix can only bring a new finding to light so often; more rounds than this would be a fault of a rule.
_ROUNDS = 10


@click.command()
@paths_argument
@config_option
@format_option
@click.option("--fix", is_flag=True, help="Mend what can be mended safely; report what remains.")
@click.option("--diff", is_flag=True, help="Print what --fix would change, and change nothing.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: also those that a person should read.")
@click.option(
    "--select", multiple=True, metavar="CODES", callback=codes, help="Only these rules, such as OWN001,OWN004."
)
@click.option("--ignore", multiple=True, metavar="CODES", callback=codes, help="Not these rules.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write .carryall_cache.")
@click.pass_context
def check(
    ctx: click.Context,
    paths: tuple[Path, ...],
    config_path: Path | None,
    output: str,
    fix: bool,
    diff: bool,
    unsafe_fixes: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    no_cache: bool,
) -> None:
    """Check plans in PATHS (default: the current folder) and everything that copies them.

    The whole project is read, since a plan and the code that loses a part of it are seldom in one file; findings
    outside PATHS are reported if they are about a class in PATHS.
    """
    if diff and output == "json":
        raise click.UsageError("--diff prints a diff, so it does not go with --format json; leave one out.")
    if unsafe_fixes and not (fix or diff):
        raise click.UsageError("--unsafe-fixes says what to mend; add --fix or --diff.")
    session = open_session(paths, config_path, select, ignore)
    print_problems((*session.config_problems, *session.tree.problems))
    if (fix or diff) and session.config_problems:
        click.echo("Nothing is mended while the configuration has errors.", err=True)
        fix = diff = False
    with Progress("checking file") as progress:
        run = _Run(session, progress, use_cache=not no_cache)
        run.analyze()
        if fix or diff:
            run.mend(unsafe=unsafe_fixes)
        if fix and not diff:
            run.write()
    ctx.exit(_report(run, output, diff=diff))


@dataclass
class _Run:
    """The state of one check: the tree as it is now, what it gives, and what was mended on the way."""

    session: Session
    progress: Progress
    use_cache: bool
    kept: list[Finding] = field(default_factory=list)
    suppressed: int = 0
    fixed: list[Finding] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tree: SourceTree = self.session.tree
        self.outcome: Outcome | None = None

    def analyze(self) -> None:
        """Findings for the tree as it is now."""
        self.outcome = self.session.analyze(self.tree, self.progress, use_cache=self.use_cache)
        kept, suppressed = sort_out(self.outcome.findings, self.tree, self._ran)
        self.kept = [finding for finding in kept if self.session.config.chooses(finding.code)]
        self.suppressed = len(suppressed)

    def _ran(self, code: str, name: str) -> bool:
        """Whether a rule had its say about a file: not if it was left out, or something was in its way."""
        assert self.outcome is not None
        session = self.session
        hindered = self.outcome.problems or session.config_problems or session.tree.problems
        return not hindered and session.config.chooses(code)

    def mend(self, *, unsafe: bool) -> None:
        """Apply fixes to the tree in memory, until there is nothing more to apply."""
        from lint_rules.fixes import apply_fixes
        from lint_rules.rewrite import with_texts

        for _ in range(_ROUNDS):
            changes = apply_fixes(self.tree, self.kept, unsafe=unsafe)
            if not changes.texts:
                return
            self.fixed += changes.fixed
            self.tree = with_texts(self.tree, changes.texts)
            self.analyze()

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


def _report(run: _Run, output: str, *, diff: bool) -> int:
    assert run.outcome is not None
    shown = shown_path(run.tree)
    problems = [*run.outcome.problems, *run.problems]
    print_problems(problems, shown)
    failed = bool(problems or run.session.config_problems or run.session.tree.problems)
    text = output == "text"
    aside = diff or not text  # standard output belongs to the diff, or to the JSON lines
    if diff:
        from lint_rules.rewrite import unified_diff

        click.echo(unified_diff(run.session.tree, run.tree, shown), nl=False)
    for finding in run.kept:
        if text:
            for line in finding_lines(finding, shown, style):
                click.echo(line, err=aside)
        else:
            from lint_rules.report.jsonl import finding_line

            click.echo(finding_line(finding))
    if run.fixed:
        done = "would fix" if diff else "fixed"
        click.echo(f"{done} {count(len(run.fixed), 'finding')} in {count(run.changed_files(), 'file')}", err=aside)
    if not run.outcome.plans and not run.kept and not failed:
        click.echo(nothing_declared(run.outcome.files), err=aside)
    elif text and not (failed and not run.kept):  # "no findings" would sound like "clean"
        mendable = not run.fixed
        told = summary(run.kept, plans=run.outcome.plans, files=run.outcome.files, suppressed=run.suppressed)
        click.echo(told if mendable else told.partition(";")[0].rstrip(".") + ".", err=aside)
    if failed:
        return 2
    return 1 if run.kept or (diff and run.fixed) else 0
