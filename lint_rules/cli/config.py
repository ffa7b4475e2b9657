"""`carryall config`: what applies to a file, and where that is written."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lint_rules.cli.options import config_option, format_option
from lint_rules.cli.session import baseline_name
from lint_rules.cli.terminal import print_problems
from lint_rules.config.model import KINDS
from lint_rules.findings import Place, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lint_rules.config import Config
    from lint_rules.rules import Rule

__all__ = ["config"]


@click.command()
@click.option(
    "--show",
    "path",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="PATH",
    help="The file or folder to tell about (default: the current folder).",
)
@config_option
@format_option
@click.pass_context
def config(ctx: click.Context, path: Path, config_path: Path | None, output: str) -> None:
    """Show what the configuration means for a file: its rules and settings, each with the line that says so."""
    from lint_rules.config import read_config
    from lint_rules.files import find_root
    from lint_rules.plugins import load_all

    where = Path(os.path.abspath(path))
    problems = [] if where.exists() else [Problem(f"{path}: no such file or folder; check the path")]
    start = where if where.is_dir() else where.parent
    settings, errors = read_config(start, config_path)
    rules, failed = load_all()
    problems += [Problem(error.message, error.place) for error in errors]
    problems += [Problem(str(error)) for error in failed]
    root = find_root(start, settings) or start
    name = where.relative_to(root).as_posix() if where.is_relative_to(root) else where.as_posix()
    rows = list(_rows(settings, name, root, rules))
    print_problems(problems)
    if output == "json":
        click.echo(json.dumps({"path": name, "settings": [row.as_dict() for row in rows]}))
    else:
        for line in _lines(name, rows):
            click.echo(line)
    ctx.exit(2 if problems else 0)


@dataclass(frozen=True, slots=True)
class _Row:
    """One setting: what it is, its value for the file, and why; `place` is None for a default."""

    group: str
    name: str
    value: Any
    why: str = ""
    place: Place | None = None

    def as_dict(self) -> dict[str, Any]:
        written = str(self.place) if self.place is not None else None
        return {"group": self.group, "name": self.name, "value": self.value, "why": self.why, "place": written}


def _rows(settings: Config, name: str, root: Path, rules: Sequence[Rule]) -> Iterator[_Row]:
    yield _Row("project", "root", root.as_posix())
    files = [path for path in (settings.path, *settings.extends) if path is not None]
    told = [baseline_name(Path(os.path.abspath(path))) for path in files]
    yield _Row(
        "project", "configuration", told[0] if told else "none", f"extends {', '.join(told[1:])}" if told[1:] else ""
    )
    yield _read_row(settings, name)
    for key, value in (
        ("exclude", list(settings.exclude)),
        ("materializers", list(settings.materializers)),
        ("parse-all", "auto" if settings.parse_all is None else settings.parse_all),
        ("baseline", baseline_name(settings.baseline) if settings.baseline is not None else "none"),
    ):
        yield _Row("settings", key, value, place=settings.origins.get(key))
    for plan in settings.plans:
        fields = [f"{len(names)} {kind}" for kind in KINDS if (names := getattr(plan, kind))]
        yield _Row("plans", plan.class_name, ", ".join(fields), place=plan.origin)
    for rule in rules:
        yield _rule_row(settings, name, rule)
    yield from _options(settings, name)


def _read_row(settings: Config, name: str) -> _Row:
    from lint_rules.config.globs import belongs

    for pattern in settings.exclude:
        if belongs(name, (pattern,)):
            return _Row("project", "read", "no", f"excluded by {pattern!r}", settings.origins.get("exclude"))
    return _Row("project", "read", "yes")


def _rule_row(settings: Config, name: str, rule: Rule) -> _Row:
    """Whether a rule is on, and the first thing that turns it off."""
    code = rule.code
    for prefix in settings.ignore:
        if code.startswith(prefix):
            return _Row("rules", code, "off", f"ignore has {prefix!r}", settings.origins.get("ignore"))
    if settings.select is not None and not code.startswith(settings.select):
        return _Row("rules", code, "off", "select has no such code", settings.origins.get("select"))
    for table in settings.per_path:
        if table.applies(name) and not table.chooses(code):
            listed = ", ".join(map(repr, table.paths))
            return _Row("rules", code, "off", f"per-path for {listed}", table.origin)
    return _Row("rules", code, "on", rule.name)


def _options(settings: Config, name: str) -> Iterator[_Row]:
    named = [*settings.options, *(each for table in settings.per_path for each in table.options)]
    for code, key in dict.fromkeys((each.code, each.name) for each in named):
        option = settings.option(code, key, name)
        if option is not None:
            value = list(option.value) if isinstance(option.value, tuple) else option.value
            yield _Row("options", f"{code}.{key}", value, place=option.origin)


def _lines(name: str, rows: Sequence[_Row]) -> Iterator[str]:
    yield name if name != "." else "(the whole project)"
    width = max(len(row.name) for row in rows)
    group = ""
    for row in rows:
        if row.group != group:
            group = row.group
            yield f"  {group}"
        value = row.value if isinstance(row.value, str) else json.dumps(row.value)
        notes = "; ".join(part for part in (row.why, str(row.place) if row.place is not None else "") if part)
        yield f"    {row.name:{width}}  {value}{f'  ({notes})' if notes else ''}"
