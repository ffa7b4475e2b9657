"""Arguments and options that several commands take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

__all__ = ["codes", "config_option", "format_option", "outputs", "paths_argument"]

_F = TypeVar("_F", bound=Callable[..., Any])


def paths_argument(function: _F) -> _F:
    """Files and folders; none means the current folder."""
    return click.argument("paths", nargs=-1, type=click.Path(path_type=Path))(function)


def config_option(function: _F) -> _F:
    """A configuration file other than the nearest `pyproject.toml`."""
    return click.option(
        "--config",
        "config_path",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Read [tool.carryall] from FILE, not from the nearest pyproject.toml.",
    )(function)


def format_option(function: _F) -> _F:
    """Text for people, JSON lines for programs."""
    return click.option(
        "--format",
        "output",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="json prints one object a line.",
    )(function)


def codes(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Rule codes, separated by commas or given in several options."""
    return tuple(code.strip() for each in value for code in each.split(",") if code.strip())


def outputs(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[tuple[str, Path], ...]:
    """Formats and files, as `sarif:carryall.sarif`."""
    from lint_rules.report.formats import FORMATS

    found = []
    for each in value:
        name, separator, path = each.partition(":")
        if name not in FORMATS or not separator or not path:
            known = ", ".join(FORMATS)
            raise click.BadParameter(f"{each!r} is not FORMAT:FILE; the formats are {known}.", ctx, param)
        found.append((name, Path(path)))
    return tuple(found)
