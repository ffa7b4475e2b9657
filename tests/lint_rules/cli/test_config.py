from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lint_rules import plugins
from lint_rules.rules import Rule, load_rules

if TYPE_CHECKING:
    from tests.lint_rules.cli.conftest import Project

CONFIG = """\
[tool.carryall]
extend = "shared/base.toml"
ignore = ["OWN012"]

[[tool.carryall.plan]]
class = "engine.plans.Plan"
transferable = ["fold", "pack"]
fact = ["rows"]

[[tool.carryall.per-path]]
paths = ["tests"]
ignore = ["OWN004"]
"""
BASE = '[tool.carryall]\nexclude = ["gen/**"]\nbaseline = "known.json"\n'


@pytest.fixture
def configured(project: Project) -> Project:
    project.add("pyproject.toml", CONFIG)
    project.add("shared/base.toml", BASE)
    for name in ("a.py", "tests/a.py", "gen/a.py"):
        project.add(name, "x = 1\n")
    return project


def shown(project: Project, *arguments: str) -> dict[str, str]:
    """What is shown, by name, in single blanks."""
    done = project.run("config", *arguments)
    assert (done.status, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("    ")]
    return {row[0]: " ".join(row[1:]) for row in rows}


def test_each_setting_has_the_line_that_says_so(configured: Project) -> None:
    rows = shown(configured, "--show", "a.py")
    assert rows["configuration"] == "pyproject.toml (extends shared/base.toml)"
    assert rows["root"] == configured.root.as_posix()
    assert rows["read"] == "yes"
    assert rows["exclude"] == '["gen/**"] (shared/base.toml:2)'
    assert rows["baseline"] == "shared/known.json (shared/base.toml:3)"
    assert rows["parse-all"] == "auto"
    assert rows["engine.plans.Plan"] == "2 transferable, 1 fact (pyproject.toml:5)"


def test_each_rule_is_on_or_off_and_says_why(configured: Project) -> None:
    rows = shown(configured, "--show", "tests/a.py")
    assert rows["OWN001"] == "on (dropped)"
    assert rows["OWN004"] == "off (per-path for 'tests'; pyproject.toml:10)"
    assert rows["OWN012"] == "off (ignore has 'OWN012'; pyproject.toml:3)"
    assert shown(configured, "--show", "a.py")["OWN004"] == "on (rebuilt)"


def test_a_rule_that_is_not_selected_says_so(project: Project) -> None:
    project.add("pyproject.toml", '[tool.carryall]\nselect = ["OWN001"]\n')
    assert shown(project)["OWN004"] == "off (select has no such code; pyproject.toml:2)"


def test_an_excluded_file_says_by_what(configured: Project) -> None:
    assert shown(configured, "--show", "gen/a.py")["read"] == "no (excluded by 'gen/**'; shared/base.toml:2)"


def test_without_a_configuration_there_are_the_defaults(project: Project) -> None:
    project.add("pyproject.toml", "[project]\n")
    rows = shown(project)
    assert (rows["configuration"], rows["baseline"], rows["exclude"]) == ("none", "none", "[]")


def test_in_json_it_is_one_object(configured: Project) -> None:
    (data,) = configured.run("config", "--show", "tests/a.py", "--format", "json").objects
    assert data["path"] == "tests/a.py"
    assert {
        "group": "rules",
        "name": "OWN004",
        "value": "off",
        "why": "per-path for 'tests'",
        "place": "pyproject.toml:10",
    } in data["settings"]


def test_what_is_wrong_is_told_with_status_2(project: Project) -> None:
    project.add("pyproject.toml", "[tool.carryall]\nselct = 1\n")
    done = project.run("config", "--show", "gone.py")
    assert (done.status, done.stderr.splitlines()) == (
        2,
        [
            "error: gone.py: no such file or folder; check the path",
            "error: pyproject.toml:2: unknown key 'selct' in [tool.carryall]; did you mean 'select'?",
        ],
    )
    assert "OWN001" in done.stdout


# What check makes of it


DROP = "new = replace(plan, fold=plan.fold)\n"


def test_a_rule_can_be_off_in_a_folder(project: Project, engine: object) -> None:
    project.add(
        "pyproject.toml", '[tool.carryall]\n[[tool.carryall.per-path]]\npaths = ["tests"]\nignore = ["OWN001"]\n'
    )
    project.add("a.py", DROP)
    project.add("tests/a.py", DROP)
    assert [each["path"] for each in project.run("check", "--format", "json").objects] == ["a.py"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "per-path = [{paths = ['a'], ignore = ['XYZ']}]",
            "unknown rule code 'XYZ' in ignore of pyproject.toml:2; known: ",
        ),
        ("per-path = [{paths = ['a'], select = ['XYZ']}]", "unknown rule code 'XYZ' in select of pyproject.toml:2"),
        ("options = {XYZ001 = {x = 1}}", "pyproject.toml:2: options for an unknown rule 'XYZ001'; known: "),
        ("options = {OWN002 = {x = 1}}", "pyproject.toml:2: OWN002 has no option 'x'; "),
    ],
)
def test_a_code_or_an_option_that_no_rule_has_is_status_2(project: Project, text: str, told: str) -> None:
    project.add("pyproject.toml", f"[tool.carryall]\n{text}\n")
    done = project.run("check")
    assert (done.status, done.stderr.count("\n")) == (2, 1)
    assert told in done.stderr


class WithOptions(Rule):
    options = {"most": 3}  # noqa: RUF012  what a rule of another package may look like


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("most = 4", ""),
        ("most = 'x'", "pyproject.toml:3: option 'most' of ABC001 must be int, not 'x'"),
        ("most = true", "pyproject.toml:3: option 'most' of ABC001 must be int, not True"),
        ("least = 4", "pyproject.toml:3: ABC001 has no option 'least'; its options are most"),
    ],
)
def test_options_are_checked_against_the_defaults_of_the_rule(
    project: Project, monkeypatch: pytest.MonkeyPatch, text: str, told: str
) -> None:
    rule = WithOptions("ABC001", "many", "too many", "Too many.", (), (), "", lambda context: ())
    monkeypatch.setattr(plugins, "load_all", lambda: ((*load_rules()[0], rule), ()))
    project.add("pyproject.toml", f"[tool.carryall]\n[tool.carryall.options.ABC001]\n{text}\n")
    done = project.run("check")
    assert (done.status, done.stderr) == ((2, f"error: {told}\n") if told else (0, ""))
    assert f"ABC001.{text.split(maxsplit=1)[0]}" in project.run("config").stdout
