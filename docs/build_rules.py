"""Write the pages of `docs/rules` from the rules themselves: `make docs`.

A rule's text and examples stand in its module and nowhere else. `carryall explain` prints them, tests run the examples,
and a test fails when a page is not what this would write.
"""

from __future__ import annotations

import sys
from pathlib import Path

from lint_rules.rules import Rule, all_rules
from lint_rules.suppress import HYGIENE

__all__ = ["FOLDER", "main", "pages"]

FOLDER = Path(__file__).resolve().parent / "rules"


def pages() -> dict[str, str]:
    """The content of every page by file name."""
    rules = all_rules()
    return {"README.md": _contents(rules), **{f"{rule.code}.md": _page(rule) for rule in rules}}


def _contents(rules: tuple[Rule, ...]) -> str:
    rows = [f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.summary} |" for rule in rules]
    rows += [f"| {code} | {text.name} | {text.summary} |" for code, text in HYGIENE.items()]
    return "\n".join(["# Rules", "", "| code | name | reports |", "|---|---|---|", *rows, ""])


def _page(rule: Rule) -> str:
    parts = [f"# {rule.code}: {rule.name}", rule.explanation.strip(), "## Fix", rule.fix.strip()]
    parts += ["## Reported", *map(_code, rule.bad)]
    parts += ["## Not reported", *map(_code, rule.good)]
    return "\n\n".join(parts) + "\n"


def _code(example: str) -> str:
    return f"```python\n{example.strip()}\n```"


def main() -> int:
    """Write every page and remove those of rules that are gone."""
    FOLDER.mkdir(exist_ok=True)
    wanted = pages()
    for old in FOLDER.glob("*.md"):
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
