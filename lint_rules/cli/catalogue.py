"""`carryall rules` and `carryall explain`: what the rules are, from their own documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lint_rules.rules import Rule

__all__ = ["explain", "rules"]


def _load(ctx: click.Context) -> Sequence[Rule]:
    from lint_rules.plugins import load_all

    loaded, failed = load_all()
    if failed:
        for each in failed:
            click.echo(f"error: {each}", err=True)
        ctx.exit(2)
    return loaded


@click.command()
@click.pass_context
def rules(ctx: click.Context) -> None:
    """List the rules."""
    from lint_rules.suppress import HYGIENE

    table = [(rule.code, rule.name, rule.summary) for rule in _load(ctx)]
    listed = {code for code, _, _ in table}
    table += [(code, text.name, text.summary) for code, text in HYGIENE.items() if code not in listed]
    width = max(len(name) for _, name, _ in table)
    for code, name, about in table:
        click.echo(f"{code}  {name:{width}}  {about}")


@click.command()
@click.argument("code")
@click.pass_context
def explain(ctx: click.Context, code: str) -> None:
    """Explain the rule CODE, with bad and good examples."""
    from lint_rules.suppress import HYGIENE

    loaded = {rule.code: rule for rule in _load(ctx)}
    wanted = code.upper()
    if wanted in loaded:
        rule = loaded[wanted]
        _print(rule.code, rule.name, rule.summary, rule.explanation, rule.fix)
        _print_examples("Bad", rule.bad)
        _print_examples("Good", rule.good)
    elif wanted in HYGIENE:
        text = HYGIENE[wanted]
        _print(wanted, text.name, text.summary, text.explanation, "")
        _print_examples("Bad", [text.bad])
        _print_examples("Good", [text.good])
    else:
        known = ", ".join(dict.fromkeys([*loaded, *HYGIENE]))
        click.echo(f"error: no rule {code!r}; the rules are {known}", err=True)
        ctx.exit(2)


def _print(code: str, name: str, about: str, explanation: str, fix: str) -> None:
    click.echo(f"{code} {name}: {about}")
    rest = explanation.strip().removeprefix(about).strip()
    if rest:
        click.echo(f"\n{rest}")
    if fix:
        click.echo(f"\nFix: {fix}")


def _print_examples(title: str, examples: Sequence[str]) -> None:
    for example in examples:
        click.echo(f"\n{title}:\n")
        for line in example.strip("\n").split("\n"):
            click.echo(f"    {line}".rstrip())
