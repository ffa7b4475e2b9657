from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lint_rules import rules
from lint_rules.suppress import HYGIENE

if TYPE_CHECKING:
    from tests.lint_rules.cli.conftest import Project


def test_rules_lists_every_rule_once(project: Project) -> None:
    done = project.run("rules")
    listed = [line.split()[0] for line in done.stdout.splitlines()]
    assert done.status == 0
    assert listed == [*(rule.code for rule in rules.all_rules()), *HYGIENE]
    assert len(set(listed)) == len(listed)


def test_explain_gives_reason_and_examples(project: Project) -> None:
    done = project.run("explain", "OWN001")
    rule = rules.get_rule("OWN001")
    assert done.status == 0
    assert done.stdout.startswith(f"OWN001 {rule.name}: {rule.summary}\n")
    assert done.stdout.count("Bad:") == len(rule.bad)
    assert done.stdout.count("Good:") == len(rule.good)
    assert rule.explanation.strip().splitlines()[-1] in done.stdout


@pytest.mark.parametrize("code", ["OWN900", "own901"])
def test_the_hygiene_of_suppressions_is_explained_too_and_case_does_not_matter(project: Project, code: str) -> None:
    done = project.run("explain", code)
    assert (done.status, done.stdout.startswith(f"{code.upper()} ")) == (0, True)
    assert done.stdout.count("carryall: ignore") == (2 if code == "OWN900" else 1)


def test_explain_of_an_unknown_code_is_status_2_with_the_known_ones(project: Project) -> None:
    done = project.run("explain", "OWN777")
    assert (done.status, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "no rule 'OWN777'" in done.stderr
    assert "OWN001, OWN002" in done.stderr


@pytest.mark.parametrize("arguments", [("rules",), ("explain", "OWN001"), ("check",)])
def test_a_rule_that_cannot_be_imported_is_one_line_and_status_2(
    project: Project, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr(rules, "_MODULES", (*rules._MODULES, "own999_missing"))
    project.add("a.py", "x = 1\n")
    done = project.run(*arguments)
    assert (done.status, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "own999_missing" in done.stderr
