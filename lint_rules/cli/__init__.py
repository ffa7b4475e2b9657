"""The command `carryall`. Everything that takes time to import is imported where it is used."""

from __future__ import annotations

import errno
import io
import sys
from typing import Any

import click

from lint_rules.cli.audit import audit
from lint_rules.cli.baseline import baseline
from lint_rules.cli.catalogue import explain, rules
from lint_rules.cli.check import check
from lint_rules.cli.config import config
from lint_rules.cli.types import types

__all__ = ["main"]


class _Group(click.Group):
    """Status 1 means "findings", so that everything unforeseen must end with another one."""

    def invoke(self, ctx: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                # A path or a message may hold what the terminal cannot show; that is no reason to fail.
                stream.reconfigure(errors="backslashreplace")
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except (click.Abort, KeyboardInterrupt):
            click.echo("error: interrupted", err=True)
            raise click.exceptions.Exit(2) from None
        except Exception as exc:
            if isinstance(exc, OSError) and exc.errno == errno.EPIPE:
                raise  # the reader went away; click ends quietly
            import traceback

            click.echo(traceback.format_exc(), err=True, nl=False)
            kind = type(exc).__name__
            click.echo(f"error: the checker itself failed ({kind}); please report the lines above", err=True)
            raise click.exceptions.Exit(2) from exc


def _print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from importlib import metadata

    try:
        version = metadata.version("carryall")
    except metadata.PackageNotFoundError:
        version = "(not installed)"
    click.echo(f"carryall {version}")
    ctx.exit()


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def main() -> None:
    """Find what a kernel plan loses on its way from preparation to launch.

    Exit status: 0 nothing found, 1 findings, 2 the job could not be done in full.
    """


main.add_command(check)
main.add_command(types)
main.add_command(audit)
main.add_command(baseline)
main.add_command(config)
main.add_command(explain)
main.add_command(rules)
