"""The command run on a small project, with one simple rule in place of the engine.

The rule: each call of `replace` must have the keywords `fold` and `pack`. What is tested here is the command; the
real rules are run by the tests of the whole.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lint_rules.cache import Outcome
from lint_rules.cli import main, session
from lint_rules.config import Config
from lint_rules.files import SourceTree
from lint_rules.findings import Edit, Finding, Fix, Place, Problem
from lint_rules.index.source import SourceError, decode, parse

FIELDS = ("fold", "pack")


@dataclass
class Engine:
    """Stands for the engine; counts how often it is asked."""

    runs: int = 0
    plans: int = 1
    safety: str = "safe"

    def __call__(
        self, tree: SourceTree, config: Config, progress: Callable[[int, int], None], valid: set[str] | None = None
    ) -> Outcome:
        self.runs += 1
        findings: list[Finding] = []
        problems: list[Problem] = []
        for number, (name, file) in enumerate(tree.files.items()):
            progress(number, len(tree.files))
            try:
                module = parse(decode(file.data), name)
            except SourceError as error:
                problems.append(Problem(error.message, Place(name, error.line or 1)))
                continue
            findings += self.findings(name, module)
        return Outcome(tuple(findings), tuple(problems), self.plans, len(tree.files))

    def findings(self, name: str, module: ast.Module) -> Iterator[Finding]:
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "replace":
                given = {keyword.arg for keyword in node.keywords}
                missing = tuple(field for field in FIELDS if field not in given)
                if missing:
                    place = Place(name, node.lineno, node.col_offset + 1)
                    edits = tuple(Edit(place, field, f"plan.{field}") for field in missing)
                    fixes = (Fix("carry it", self.safety, edits), Fix("declare the drop", "display"))  # type: ignore[arg-type]
                    declared = tuple(Place("plans.py", 1 + FIELDS.index(field)) for field in missing)
                    yield Finding("OWN001", place, "plans.Plan", missing, "not carried over", declared, fixes)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine = Engine()
    monkeypatch.setattr(session, "run_rules", engine)
    return engine


@dataclass
class Done:
    """What one run of the command gave."""

    status: int
    stdout: str
    stderr: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stdout.splitlines()]


@dataclass
class Project:
    """A project folder, which is also the current one."""

    root: Path

    def add(self, name: str, content: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def run(self, *arguments: str) -> Done:
        result = CliRunner().invoke(main, list(arguments), prog_name="carryall")
        return Done(result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text("[tool.carryall]\n", encoding="utf-8")
    monkeypatch.chdir(root)
    return Project(root)
