"""`carryall check`: report, and mend if asked to."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lint_rules.cli.options import codes, config_option, outputs, paths_argument
from lint_rules.cli.output import Wanted, tell
from lint_rules.cli.run import Run
from lint_rules.cli.session import open_session, with_baseline
from lint_rules.cli.terminal import Progress, print_problems
from lint_rules.report.formats import FORMATS, TEXTS

if TYPE_CHECKING:
    from lint_rules.unsaved import Unsaved

__all__ = ["check"]


@click.command()
@paths_argument
@config_option
@click.option(
    "--format",
    "output",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="What goes to standard output: text, one line a finding, with source, or a form for programs.",
)
@click.option(
    "--output",
    "files",
    multiple=True,
    metavar="FORMAT:FILE",
    callback=outputs,
    help="Write the report to FILE as well, in another format; may be given several times.",
)
@click.option("--statistics", is_flag=True, help="Print how many findings each rule has, in place of the findings.")
@click.option("--fix", is_flag=True, help="Mend what can be mended safely; report what remains.")
@click.option("--diff", is_flag=True, help="Print what --fix would change, and change nothing.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: also those that a person should read.")
@click.option(
    "--select", multiple=True, metavar="CODES", callback=codes, help="Only these rules, such as OWN001,OWN004."
)
@click.option("--ignore", multiple=True, metavar="CODES", callback=codes, help="Not these rules.")
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Leave out the findings that FILE has (see `carryall baseline`); default: that of the configuration.",
)
@click.option(
    "--stdin-filename",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="With - for PATHS: read the text of this file from standard input, and report on it alone.",
)
@click.option("--no-cache", is_flag=True, help="Neither read nor write .carryall_cache.")
@click.pass_context
def check(
    ctx: click.Context,
    paths: tuple[Path, ...],
    config_path: Path | None,
    output: str,
    files: tuple[tuple[str, Path], ...],
    statistics: bool,
    fix: bool,
    diff: bool,
    unsafe_fixes: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    baseline: Path | None,
    stdin_filename: Path | None,
    no_cache: bool,
) -> None:
    """Check plans in PATHS (default: the current folder) and everything that copies them.

    The whole project is read, since a plan and the code that loses a part of it are seldom in one file; findings
    outside PATHS are reported if they are about a class in PATHS.

    For editors: `carryall check - --stdin-filename PATH` takes the text of one file from standard input. With --fix it
    prints the mended text and leaves the file alone.
    """
    if diff and output not in TEXTS:
        raise click.UsageError(f"--diff prints a diff, so it does not go with --format {output}; leave one out.")
    if statistics and output not in (*TEXTS, "json"):
        raise click.UsageError(f"--statistics prints text or json, so it does not go with --format {output}.")
    if unsafe_fixes and not (fix or diff):
        raise click.UsageError("--unsafe-fixes says what to mend; add --fix or --diff.")
    unsaved = _unsaved(paths, stdin_filename)
    if unsaved is not None and fix and not diff and output not in TEXTS:
        raise click.UsageError(f"--fix prints the mended text here, so it does not go with --format {output}.")
    session = open_session(paths, config_path, select, ignore, baseline=baseline, unsaved=unsaved)
    session = with_baseline(session)
    print_problems((*session.config_problems, *session.tree.problems))
    if (fix or diff) and session.config_problems:
        click.echo("Nothing is mended while the configuration has errors.", err=True)
        fix = diff = False
    with Progress("checking file") as progress:
        run = Run(session, progress, use_cache=not no_cache)
        run.analyze()
        if fix or diff:
            run.mend(unsafe=unsafe_fixes)
        if fix and not diff and unsaved is None:
            run.write()
    mended = unsaved is not None and fix and not diff
    ctx.exit(tell(run, Wanted(output, files, statistics=statistics, diff=diff, mended=mended)))


def _unsaved(paths: tuple[Path, ...], name: Path | None) -> Unsaved | None:
    if Path("-") not in paths:
        if name is not None:
            raise click.UsageError("--stdin-filename says what standard input is; add - as the only path.")
        return None
    if name is None or len(paths) > 1:
        raise click.UsageError("- reads one file from standard input; say which with --stdin-filename, and no other.")
    from lint_rules.unsaved import Unsaved

    return Unsaved(name, sys.stdin.buffer.read())
