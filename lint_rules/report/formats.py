"""The formats by name; each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lint_rules.report.model import Report

__all__ = ["FORMATS", "TEXTS", "render"]

#: For people: they go to a terminal with colours, and with a summary.
TEXTS = ("text", "concise", "full")
#: Where each format is written, by the function `render` of its module.
_MODULES = {
    "text": "lint_rules.report.text",
    "concise": "lint_rules.report.concise",
    "full": "lint_rules.report.full",
    "json": "lint_rules.report.jsonl",
    "sarif": "lint_rules.report.sarif",
    "github": "lint_rules.report.github",
    "junit": "lint_rules.report.junit",
}
FORMATS = tuple(_MODULES)


def render(name: str, report: Report) -> str:
    """The whole report in a format, with a line end behind its last line, or nothing at all."""
    text: str = import_module(_MODULES[name]).render(report)
    return text
