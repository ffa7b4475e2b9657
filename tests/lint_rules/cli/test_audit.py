from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lint_rules import audit
from lint_rules.config import load_config
from lint_rules.findings import Finding, Place, Problem

if TYPE_CHECKING:
    from tests.lint_rules.cli.conftest import Project


def suggestion(field: str, line: int, class_name: str = "pkg.plans.Plan") -> audit.Suggestion:
    finding = Finding(
        "OWN001", Place("a.py", line, 3), class_name, (field,), f"`{field}` is lost", (Place("p.py", line),)
    )
    declaration = f'[[tool.carryall.plan]]\nclass = "{class_name}"\ntransferable = ["shared", "{field}"]\n'
    return audit.Suggestion(
        finding, "the factory fills it under a flag", "high", declaration, f"{field}: Transferable[int]"
    )


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[audit.Suggestion]:
    suggestions: list[audit.Suggestion] = []
    monkeypatch.setattr(audit, "audit", lambda tree, config, progress: (tuple(suggestions), ()))
    return suggestions


def test_without_a_suggestion_it_says_so(project: Project, found: list[audit.Suggestion]) -> None:
    project.add("a.py", "x = 1\n")
    done = project.run("audit")
    assert (done.status, done.stdout, done.stderr) == (0, "Nothing to suggest in 1 file.\n", "")


def test_a_suggestion_has_its_place_its_reason_and_what_to_paste(
    project: Project, found: list[audit.Suggestion]
) -> None:
    found.append(suggestion("pack", 4))
    done = project.run("audit")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "a.py:4:3: OWN001 `pack` is lost",
        "    because the factory fills it under a flag; confidence: high",
        "    Plan.pack is declared at p.py:4",
        "",
        "1 suggestion. To have it checked from now on, put this into pyproject.toml:",
        "",
        "[[tool.carryall.plan]]",
        'class = "pkg.plans.Plan"',
        'transferable = ["shared", "pack"]',
        "",
        "or mark the fields in the code:",
        "",
        "pack: Transferable[int]",
    ]


def test_a_reason_that_the_message_gives_is_not_given_twice(project: Project, found: list[audit.Suggestion]) -> None:
    said = suggestion("pack", 4)
    found.append(replace(said, finding=replace(said.finding, message=f"lost: {said.reason}")))
    lines = project.run("audit").stdout.splitlines()
    assert lines[:2] == ["a.py:4:3: OWN001 lost: the factory fills it under a flag", "    confidence: high"]


def test_what_is_to_be_pasted_is_one_valid_configuration(
    project: Project, found: list[audit.Suggestion], tmp_path: Path
) -> None:
    found += [suggestion("pack", 4), suggestion("fold", 9), suggestion("pack", 12, "pkg.plans.Other")]
    lines = project.run("audit").stdout.splitlines()
    block = "\n".join(lines[lines.index("[[tool.carryall.plan]]") : lines.index("or mark the fields in the code:")])
    (tmp_path / "own.toml").write_text(block, encoding="utf-8")
    plans = load_config(tmp_path, tmp_path / "own.toml").plans
    assert [(plan.class_name, plan.transferable) for plan in plans] == [
        ("pkg.plans.Plan", ("shared", "pack", "fold")),
        ("pkg.plans.Other", ("shared", "pack")),
    ]


def test_in_json_a_suggestion_is_a_finding_with_four_keys_more(project: Project, found: list[audit.Suggestion]) -> None:
    found.append(suggestion("pack", 4))
    (data,) = project.run("audit", "--format", "json").objects
    assert (data["code"], data["path"], data["line"], data["fields"]) == ("OWN001", "a.py", 4, ["pack"])
    assert (data["reason"], data["confidence"]) == ("the factory fills it under a flag", "high")
    assert tomllib.loads(data["declaration"])["tool"]["carryall"]["plan"][0]["class"] == "pkg.plans.Plan"
    assert data["marks"] == "pack: Transferable[int]"


@pytest.mark.parametrize(("arguments", "status"), [((), 0), (("--fail",), 1)])
def test_only_on_request_a_suggestion_fails(
    project: Project, found: list[audit.Suggestion], arguments: tuple[str, ...], status: int
) -> None:
    found.append(suggestion("pack", 4))
    assert project.run("audit", *arguments).status == status


def test_a_problem_is_status_2_and_the_suggestions_are_printed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = Problem("syntax error: oops", Place("bad.py", 3))
    monkeypatch.setattr(audit, "audit", lambda tree, config, progress: ((suggestion("pack", 4),), (problem, problem)))
    done = project.run("audit", "--fail")
    assert (done.status, done.stderr) == (2, "error: bad.py:3: syntax error: oops\n")
    assert "`pack` is lost" in done.stdout


def test_what_is_of_low_confidence_is_counted_and_shown_on_request(
    project: Project, found: list[audit.Suggestion]
) -> None:
    found += [suggestion("pack", 4), replace(suggestion("fold", 9), confidence="low")]
    lines = project.run("audit").stdout.splitlines()
    assert lines[-1] == "1 suggestion of low confidence not shown; --all shows them."
    assert not any("`fold` is lost" in line for line in lines)
    assert any("`fold` is lost" in line for line in project.run("audit", "--all").stdout.splitlines())
    assert len(project.run("audit", "--format", "json").objects) == 1


def test_a_suggestion_about_no_class_has_nothing_to_paste(project: Project, found: list[audit.Suggestion]) -> None:
    found.append(replace(suggestion("pack", 4), declaration="", marks=""))
    assert project.run("audit").stdout.splitlines()[-1] == "1 suggestion."
