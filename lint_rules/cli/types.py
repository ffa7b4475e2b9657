"""`carryall types`: mypy with the plugin, and of its messages only those about ownership.

mypy runs in a process of its own, with the Python of the project: this package never imports it.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lint_rules.cache import FOLDER
from lint_rules.cli.options import config_option, format_option, paths_argument
from lint_rules.cli.terminal import print_problems, style
from lint_rules.findings import Place, Problem
from lint_rules.report.text import count

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence

__all__ = ["types"]

RUNNER = "ownership.mypy_plugin.runner"
#: The variable that tells the plugin which configuration applies: by itself it would look from the current folder only.
CONFIG_VARIABLE = "CARRYALL_CONFIG"

_MISSING = re.compile(r"No module named '?(?P<name>[\w.]+)")
_MYPY_ARGUMENTS = "mypy_arguments"


class _WithMypyArguments(click.Command):
    """Everything behind `--` is for mypy; click by itself would take it for more paths."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            args, ctx.meta[_MYPY_ARGUMENTS] = args[:at], args[at + 1 :]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- MYPY ARGUMENTS]"]


@click.command(cls=_WithMypyArguments)
@paths_argument
@config_option
@format_option
@click.option(
    "--python",
    metavar="PROGRAM",
    help="The Python of the project, with mypy and carryall installed (default: the one that runs this).",
)
@click.pass_context
def types(
    ctx: click.Context, paths: tuple[Path, ...], config_path: Path | None, output: str, python: str | None
) -> None:
    """Run mypy with the ownership plugin on PATHS, and keep only the plugin's messages.

    mypy reads its own configuration; PATHS default to its `files`, and else to the current folder. Arguments behind
    `--` are handed to it. Its cache is kept apart from that of other runs, in .carryall_cache/mypy.
    """
    from lint_rules.config import read_config

    start = Path(paths[0]).absolute() if paths else Path.cwd()
    config, errors = read_config(start if start.is_dir() else start.parent, config_path)
    problems = [Problem(error.message, error.place) for error in errors]
    root = config.path.absolute().parent if config.path is not None and config_path is None else Path.cwd()
    arguments = [*ctx.meta.get(_MYPY_ARGUMENTS, ()), *map(str, paths)]
    named = config_path or (None if os.environ.get(CONFIG_VARIABLE) else config.path)
    run = _run(arguments, python=python, cache=root / FOLDER / "mypy", config=named)
    click.echo(run.printed, err=True, nl=False)
    if run.failure is not None:
        problems.append(Problem(run.failure))
    problems += [_problem(each) for each in run.summary.get("problems", ())]
    print_problems(problems)
    for finding in run.findings:
        for line in [json.dumps(finding)] if output == "json" else _lines(finding):
            click.echo(line)
    if output == "text" and run.failure is None and not (problems and not run.findings):
        click.echo(_closing(run))
    ctx.exit(2 if problems else 1 if run.findings else 0)


@dataclass(frozen=True)
class _Outcome:
    """What the runner said; with a `failure` there is nothing to report.

    `printed` is what mypy had to say beside its messages, of its configuration for example.
    """

    findings: Sequence[dict[str, Any]] = ()
    summary: Mapping[str, Any] = field(default_factory=dict)
    failure: str | None = None
    printed: str = ""


def _run(arguments: Sequence[str], *, python: str | None, cache: Path, config: Path | None) -> _Outcome:
    import subprocess

    program = python or sys.executable
    environment = dict(os.environ)
    if config is not None:
        environment[CONFIG_VARIABLE] = str(config.absolute())
    home = Path(__file__).absolute().parents[2]
    if python is None and home.name not in {"site-packages", "dist-packages"}:
        # A checkout need not be installed. `-P` below keeps the current folder, where modules may have any name, out.
        known = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = f"{home}{os.pathsep}{known}" if known else str(home)
    command = [program, "-P", "-m", RUNNER, "--cache-dir", str(cache), "--", *arguments]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, encoding="utf-8", errors="replace", check=False
        )
    except OSError as exc:
        return _Outcome(failure=f"cannot start {program}: {exc.strerror}; name the project's Python with --python")
    return _outcome(done, program)


def _outcome(done: subprocess.CompletedProcess[str], program: str) -> _Outcome:
    objects = []
    for line in done.stdout.splitlines():
        try:
            objects.append(json.loads(line))
        except ValueError:
            return _Outcome(failure=f"{program} printed {line[:80]!r} where JSON was expected", printed=done.stderr)
    if objects and "summary" in objects[-1]:
        return _Outcome(findings=objects[:-1], summary=objects[-1]["summary"], printed=done.stderr)
    missing = _MISSING.findall(done.stderr)
    if missing and missing[-1].partition(".")[0] in {"mypy", "ownership"}:
        name = missing[-1].partition(".")[0]
        what = "mypy" if name == "mypy" else "carryall"
        return _Outcome(failure=f"{program} has no {what}; install it there: pip install 'carryall[mypy]'")
    last = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "it printed nothing")
    failure = f"mypy did not come to an end (exit status {done.returncode}): {last}"
    return _Outcome(failure=failure, printed=done.stderr)


def _problem(said: Mapping[str, Any]) -> Problem:
    message = (
        f"{said['message']} (mypy cannot go on with this file; it was left out)"
        if said["left_out"]
        else said["message"]
    )
    return Problem(message, None if said["path"] is None else Place(said["path"], said["line"]))


def _lines(finding: Mapping[str, Any]) -> list[str]:
    where = style(f"{finding['path']}:{finding['line']}:{finding['column']}", "place")
    lines = [f"{where}: {style(finding['code'], 'code')} {finding['message']}"]
    return lines + [style(f"    help: {hint}", "advice") for hint in (finding["hint"] or "").splitlines()]


def _closing(run: _Outcome) -> str:
    number = len(run.findings)
    found = count(number, "finding") if number else "No findings"
    others = run.summary["others"]
    hidden = f"; {count(others, 'other error')} of mypy not shown" if others else ""
    return f"{found} in {count(run.summary['files'], 'file')} (mypy {run.summary['mypy']}{hidden})."
