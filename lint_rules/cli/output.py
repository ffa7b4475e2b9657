"""What `carryall check` prints and writes, and the status that it ends with."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lint_rules.cli.terminal import print_problems, style
from lint_rules.findings import Problem
from lint_rules.report.formats import TEXTS, render
from lint_rules.report.text import closing, count, finding_lines, headline, nothing_declared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.cli.run import Run
    from lint_rules.report.model import Report

__all__ = ["Wanted", "tell"]


#: As many stale entries of a baseline are listed; the rest is counted.
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the reader asked for: the format of standard output, and (format, file) for the rest.

    With `mended`, standard output is the text of the file that an editor asks about.
    """

    output: str = "text"
    files: tuple[tuple[str, Path], ...] = ()
    statistics: bool = False
    diff: bool = False
    mended: bool = False


def tell(run: Run, wanted: Wanted) -> int:
    """Print and write the report; returns the exit status."""
    report = run.report()
    print_problems(report.problems[len(run.session.config_problems) + len(run.session.tree.problems) :], report.shown)
    text = wanted.output in TEXTS
    # Standard output belongs to the diff, to the mended text, or to the program that reads it.
    aside = wanted.diff or wanted.mended or not text
    if wanted.diff:
        from lint_rules.rewrite import unified_diff

        click.echo(unified_diff(run.session.tree, run.tree, report.shown), nl=False)
    if wanted.mended and run.session.only in run.tree.files:
        sys.stdout.buffer.write(run.tree.files[run.session.only].data)
    if wanted.statistics:
        _print_statistics(report, as_json=not text)
    elif text:
        for line in _lines(report, wanted.output):
            click.echo(line, err=aside)
    else:
        click.echo(render(wanted.output, report), nl=False)
    if run.fixed:
        done = "would fix" if wanted.diff else "fixed"
        click.echo(f"{done} {count(len(run.fixed), 'finding')} in {count(run.changed_files(), 'file')}", err=aside)
    _tell_stale(run, aside=aside)
    if text:
        for line in closing(report, mended=bool(run.fixed)):
            click.echo(line, err=aside)
    elif not report.plans and not report.findings and not report.problems:
        click.echo(nothing_declared(report.files), err=True)
    unwritten = list(_write(report, wanted.files))
    print_problems(unwritten)
    if report.problems or unwritten:
        return 2
    return 1 if report.findings or (wanted.diff and run.fixed) else 0


def _lines(report: Report, output: str) -> Iterator[str]:
    """The findings for a terminal: with colours."""
    if output == "concise":
        yield from (headline(finding, report.shown, style) for finding in report.findings)
    elif output == "full":
        from lint_rules.report.excerpt import Excerpts
        from lint_rules.report.full import full_lines

        excerpts = Excerpts(report.tree)
        for finding in report.findings:
            yield from full_lines(finding, excerpts, report.shown, style)
    else:
        for finding in report.findings:
            yield from finding_lines(finding, report.shown, style)


def _tell_stale(run: Run, *, aside: bool) -> None:
    """Entries of the baseline that hide nothing any more: they would hide the next mistake of this kind."""
    for each in run.stale[:_SHOWN]:
        click.echo(str(each), err=aside)
    if len(run.stale) > _SHOWN:
        click.echo(f"... and {count(len(run.stale) - _SHOWN, 'more stale entry', 'more stale entries')}", err=aside)
    if run.stale:
        click.echo("    help: take them out with `carryall baseline --prune`", err=aside)


def _print_statistics(report: Report, *, as_json: bool) -> None:
    from lint_rules.plugins import load_all
    from lint_rules.report.statistics import statistics_lines, statistics_objects
    from lint_rules.suppress import HYGIENE

    names = {code: each.name for code, each in HYGIENE.items()} | {rule.code: rule.name for rule in load_all()[0]}
    for line in statistics_objects(report.findings, names) if as_json else statistics_lines(report.findings, names):
        click.echo(line)


def _write(report: Report, files: tuple[tuple[str, Path], ...]) -> Iterator[Problem]:
    for name, path in files:
        try:
            path.write_bytes(render(name, report).encode("utf-8", "backslashreplace"))
        except OSError as exc:
            yield Problem(f"{path}: the {name} report cannot be written: {exc.strerror or exc}")
