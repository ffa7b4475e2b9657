from __future__ import annotations

from pathlib import Path

import pytest

from lint_rules.report.github import render
from tests.lint_rules.report.reports import REPORT


def test_findings_and_problems_are_commands_and_what_would_end_them_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", "/project")
    help_lines = "%0Ahelp: carry it: pack=plan.pack [--fix]%0Ahelp: drop"
    assert render(REPORT).splitlines() == [
        "::error file=pkg/a.py,line=4,col=12,title=carryall OWN001::OWN001 `pack` is lost, 100 %25, as: two"
        + help_lines,
        "::error file=bad.py,line=1,col=1,title=carryall::syntax error: '(' was never closed",
        "::error title=carryall::no such file",
    ]


def test_a_project_below_the_top_of_the_repository_is_named_from_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", "/")
    assert "file=project/pkg/a.py," in render(REPORT)


def test_without_a_workspace_the_current_folder_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    monkeypatch.chdir(tmp_path)
    assert "file=pkg/a.py," in render(REPORT)
