"""`carryall audit`: what may be lost where nothing is marked yet, and how to mark it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lint_rules.cli.options import config_option, format_option, paths_argument
from lint_rules.cli.session import open_session
from lint_rules.cli.terminal import Progress, print_problems, shown_path, style
from lint_rules.collector import without_collector
from lint_rules.report.text import count, finding_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lint_rules.audit import Suggestion

__all__ = ["audit"]


@click.command()
@paths_argument
@config_option
@format_option
@click.option("--all", "everything", is_flag=True, help="Show suggestions of low confidence too.")
@click.option("--fail", is_flag=True, help="End with status 1 if there is a suggestion.")
@click.pass_context
def audit(
    ctx: click.Context, paths: tuple[Path, ...], config_path: Path | None, output: str, everything: bool, fail: bool
) -> None:
    """Guess what is lost, or does not agree, in code that is not marked, and suggest declarations.

    A suggestion is no finding: the status is 0 unless --fail is given.
    """
    from lint_rules.audit import audit as infer

    session = open_session(paths, config_path)
    print_problems((*session.config_problems, *session.tree.problems))
    with Progress("reading file") as progress, without_collector():
        every, found = infer(session.tree, session.config, progress)
    suggestions = [each for each in every if everything or each.confidence != "low"]
    shown = shown_path(session.tree)
    problems = [each for each in dict.fromkeys(found) if each not in session.tree.problems]
    print_problems(problems, shown)
    if output == "json":
        _print_json(suggestions)
    else:
        _print_text(suggestions, shown, files=len(session.tree.selected))
        if len(every) > len(suggestions):
            hidden = count(len(every) - len(suggestions), "suggestion")
            click.echo(f"\n{hidden} of low confidence not shown; --all shows them.")
    if problems or session.config_problems or session.tree.problems:
        ctx.exit(2)
    ctx.exit(1 if fail and suggestions else 0)


def _print_json(suggestions: Iterable[Suggestion]) -> None:
    from lint_rules.report.jsonl import finding_line

    for each in suggestions:
        more = {"declaration": each.declaration, "marks": each.marks}
        click.echo(finding_line(each.finding, reason=each.reason, confidence=each.confidence, **more))


def _print_text(suggestions: Sequence[Suggestion], shown: Callable[[str], str], *, files: int) -> None:
    if not suggestions:
        click.echo(f"Nothing to suggest in {count(files, 'file')}.")
        return
    for each in suggestions:
        place, *rest = finding_lines(replace(each.finding, fixes=()), shown, style)
        why = "" if each.reason in each.finding.message else f"because {each.reason}; "
        for line in (place, f"    {why}confidence: {each.confidence}", *rest):
            click.echo(line)
    declarations = [each.declaration for each in suggestions if each.declaration]
    if not declarations:
        click.echo(f"\n{count(len(suggestions), 'suggestion')}.")
        return
    click.echo(
        f"\n{count(len(suggestions), 'suggestion')}. To have it checked from now on, put this into pyproject.toml:\n"
    )
    click.echo(_merged(declarations))
    marks = dict.fromkeys(each.marks.strip("\n") for each in suggestions if each.marks.strip())
    if marks:
        click.echo("\nor mark the fields in the code:\n")
        click.echo("\n\n".join(marks))


def _merged(declarations: Iterable[str]) -> str:
    """One block of TOML with one table for each class; pasted as it is, it must be a valid configuration."""
    import tomllib

    tables: dict[str, dict[str, list[str]]] = {}
    for text in dict.fromkeys(declarations):
        for plan in tomllib.loads(text)["tool"]["carryall"]["plan"]:
            table = tables.setdefault(plan.pop("class"), {})
            for kind, names in plan.items():
                table[kind] = list(dict.fromkeys([*table.get(kind, []), *names]))
    blocks = []
    for name, table in tables.items():
        rows = ["[[tool.carryall.plan]]", f"class = {_toml(name)}"]
        rows += [f"{kind} = [{', '.join(map(_toml, names))}]" for kind, names in table.items()]
        blocks.append("\n".join(rows))
    return "\n\n".join(blocks)


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # a JSON string is a TOML basic string
