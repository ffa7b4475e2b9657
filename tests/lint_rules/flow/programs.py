"""Small programs whose comments say what the checker must report: `# OWN001: pack` ends the line of a finding."""

from __future__ import annotations

import re
from dataclasses import replace
from textwrap import dedent

from lint_rules.config import Config, PlanDeclaration
from lint_rules.engine import analyze
from tests.lint_rules.trees import tree_of

__all__ = ["RECORDS", "check", "check_files", "declared", "reported"]

#: A plan with two carriers, a planner that leaves both of them out, and a guard for each of them.
RECORDS = """\
from __future__ import annotations

from dataclasses import dataclass

from ownership import Absent, Fact, Transferable, plan


@plan
@dataclass
class Plan:
    rows: Fact[int]
    fold: Transferable[object | Absent]
    pack: Transferable[object | Absent]


def plan_fresh(rows: int) -> Plan:
    return Plan(rows, Absent("planned"), Absent("planned"))
"""

_HEADER = """\
from __future__ import annotations

import copy
import dataclasses
import functools
from dataclasses import dataclass, replace

from ownership import Absent, Dropped, Fact, Transferable, materializer, plan, transfer

from records import Plan, plan_fresh

"""

_MARK = re.compile(r"#\s*(OWN\d{3}):\s*([\w, ]+?)\s*$")


def check(source: str, config: Config | None = None, *, beside: dict[str, str] | None = None) -> None:
    """Check one module that imports the plan of `records.py`, with further modules by name."""
    files = {"records.py": RECORDS, "use.py": _HEADER + dedent(source)}
    files.update({f"{name}.py": dedent(text) for name, text in (beside or {}).items()})
    check_files(files, config)


def check_files(files: dict[str, str], config: Config | None = None) -> None:
    """Check a tree: exactly the findings that its comments ask for, and no problem."""
    files = {name: dedent(text) for name, text in files.items()}
    analysis = analyze(tree_of(dict(files)), config if config is not None else Config())
    assert analysis.problems == ()
    wanted = [
        (path, number, mark[1], field.strip())
        for path, text in files.items()
        for number, line in enumerate(text.splitlines(), 1)
        if (mark := _MARK.search(line))
        for field in mark[2].split(",")
    ]
    found = [(f.place.path, f.place.line, f.code, field) for f in analysis.findings for field in f.fields]
    told = "\n".join(f"{f.place}: {f.code} {f.fields}: {f.message}" for f in analysis.findings)
    assert sorted(found) == sorted(wanted), f"reported:\n{told or '(nothing)'}"


def declared(class_name: str, *transferable: str, config: Config | None = None) -> Config:
    """A configuration that declares a class as a plan."""
    made = config if config is not None else Config()
    return replace(made, plans=(*made.plans, PlanDeclaration(class_name, transferable)))


def reported(source: str) -> list[str]:
    """The lines of a module that imports the plan of `records.py` which have findings, each with its field."""
    text = _HEADER + dedent(source)
    analysis = analyze(tree_of({"records.py": RECORDS, "use.py": text}), Config())
    assert analysis.problems == ()
    lines = text.splitlines()
    return [f"{lines[f.place.line - 1]}: {field}" for f in analysis.findings for field in f.fields]
