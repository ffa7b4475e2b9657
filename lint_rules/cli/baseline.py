"""`carryall baseline`: write down what is there today, so that `check` reports only what is new."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lint_rules.cli.options import config_option, paths_argument
from lint_rules.cli.run import Run
from lint_rules.cli.session import Session, baseline_name, open_session
from lint_rules.cli.terminal import Progress, print_problems
from lint_rules.report.text import count

if TYPE_CHECKING:
    from lint_rules.fingerprint import Fingerprint

__all__ = ["baseline"]


@click.command()
@paths_argument
@config_option
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The file (default: `baseline` of the configuration, else carryall-baseline.json at the top of the project).",
)
@click.option("--prune", is_flag=True, help="Only take out entries that are stale; add none.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write .carryall_cache.")
@click.pass_context
def baseline(
    ctx: click.Context,
    paths: tuple[Path, ...],
    config_path: Path | None,
    output: Path | None,
    prune: bool,
    no_cache: bool,
) -> None:
    """Write the findings in PATHS (default: the current folder) into a baseline.

    `check` leaves out what is in it. Entries for files outside PATHS stay as they are. A run that could not do all of
    its job writes nothing.
    """
    from lint_rules.baseline import DEFAULT_NAME, BaselineError, count_findings, read_baseline, write_baseline

    session = open_session(paths, config_path)
    path = output or session.config.baseline or session.tree.root / DEFAULT_NAME
    name = baseline_name(path)
    with Progress("checking file") as progress:
        run = Run(session, progress, use_cache=not no_cache)
        run.analyze()
    report = run.report()
    print_problems(report.problems, report.shown)
    if report.problems:
        click.echo(f"{name} is left as it is, since not everything could be checked.", err=True)
        ctx.exit(2)
    before: Counter[Fingerprint] = Counter()
    try:
        if prune or path.exists():
            before.update(read_baseline(path, name).counts)
    except BaselineError as error:
        click.echo(f"error: {error}", err=True)
        ctx.exit(2)
    found = count_findings(report.findings, run.tree)
    after = _after(before, found, session, prune=prune)
    try:
        if after != before or not path.exists():
            write_baseline(path, after)
    except OSError as exc:
        click.echo(f"error: {name}: cannot be written: {exc.strerror or exc}", err=True)
        ctx.exit(2)
    added, gone = (after - before).total(), (before - after).total()
    click.echo(f"{name}: {count(after.total(), 'finding')}, {added} added, {gone} taken out.")
    if output is None and session.config.baseline is None and not prune:
        click.echo(f'Put `baseline = "{path.name}"` into [tool.carryall], or pass --baseline to `carryall check`.')


def _after(
    before: Counter[Fingerprint], found: Counter[Fingerprint], session: Session, *, prune: bool
) -> Counter[Fingerprint]:
    """The new entries: what was found, and the old ones that this run could not judge."""
    tree, config = session.tree, session.config
    judged = Counter(
        {
            entry: number
            for entry, number in before.items()
            if config.chooses(entry.code, entry.path)
            and (entry.path in tree.selected or not (tree.root / entry.path).exists())
        }
    )
    return (before - judged) | (judged & found if prune else found)
