from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.lint_rules.cli.conftest import Project

DROP = "new = replace(plan, fold=plan.fold)\n"
MENDED = "new = replace(plan, fold=plan.fold, pack=plan.pack)\n"
NAME = "carryall-baseline.json"

pytestmark = pytest.mark.usefixtures("engine")


def entries(project: Project) -> list[str]:
    text = (project.root / NAME).read_text(encoding="utf-8")
    return [f"{each['path']} {each['field']} {each['count']}" for each in json.loads(text)["findings"]]


def test_what_is_written_is_left_out_by_check(project: Project) -> None:
    project.add("a.py", DROP)
    done = project.run("baseline")
    assert (done.status, done.stdout.splitlines()) == (
        0,
        [
            f"{NAME}: 1 finding, 1 added, 0 taken out.",
            f'Put `baseline = "{NAME}"` into [tool.carryall], or pass --baseline to `carryall check`.',
        ],
    )
    known = project.run("check", "--baseline", NAME)
    assert (known.status, known.stdout) == (0, "No findings in 1 plan class in 1 file, 1 in the baseline.\n")
    assert project.run("check").status == 1


def test_the_configuration_can_name_it_from_its_own_folder(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.add("pyproject.toml", '[tool.carryall]\nbaseline = "ci/known.json"\n')
    project.add("ci/note", "")
    project.add("sub/a.py", DROP)
    assert project.run("baseline").stdout == "ci/known.json: 1 finding, 1 added, 0 taken out.\n"
    monkeypatch.chdir(project.root / "sub")
    assert project.run("check").status == 0


def test_what_is_new_is_reported_wherever_lines_moved_to(project: Project) -> None:
    project.add("a.py", DROP)
    project.run("baseline")
    project.add("a.py", "import x\n\n" + DROP + "other = replace(plan)\n")
    done = project.run("check", "--baseline", NAME, "--format", "json")
    assert [(each["line"], each["fields"]) for each in done.objects] == [(4, ["fold", "pack"])]


def test_a_known_finding_is_not_mended(project: Project) -> None:
    path = project.add("a.py", DROP)
    project.run("baseline")
    assert project.run("check", "--fix", "--baseline", NAME).status == 0
    assert path.read_text(encoding="utf-8") == DROP


@pytest.mark.parametrize(("arguments", "stream"), [((), "stdout"), (("--format", "json"), "stderr")])
def test_stale_entries_are_shown(project: Project, arguments: tuple[str, ...], stream: str) -> None:
    project.add("a.py", DROP)
    project.run("baseline")
    project.add("a.py", MENDED)
    done = project.run("check", "--baseline", NAME, *arguments)
    assert done.status == 0
    assert getattr(done, stream).splitlines()[:2] == [
        f"{NAME}:4: stale entry: OWN001 `pack` of plans.Plan (a.py) is not found any more",
        "    help: take them out with `carryall baseline --prune`",
    ]


def test_of_many_stale_entries_the_rest_is_counted(project: Project) -> None:
    project.add("a.py", "".join(f"new{number} = replace(plan, {number})\n" for number in range(7)))
    project.run("baseline")
    project.add("a.py", "")
    lines = project.run("check", "--baseline", NAME).stdout.splitlines()
    assert len([line for line in lines if "stale entry:" in line]) == 10
    assert "... and 4 more stale entries" in lines


@pytest.mark.parametrize(("arguments", "bad"), [(("--select", "OWN004"), ""), ((), "x = (\n"), (("b.py",), "")])
def test_nothing_is_called_stale_where_not_everything_was_looked_at(
    project: Project, arguments: tuple[str, ...], bad: str
) -> None:
    project.add("a.py", DROP)
    project.run("baseline")
    project.add("a.py", MENDED)
    project.add("b.py", bad)
    assert "stale" not in project.run("check", "--baseline", NAME, *arguments).stdout


def test_prune_takes_out_what_is_stale_and_adds_nothing(project: Project) -> None:
    project.add("a.py", DROP)
    project.add("b.py", DROP)
    project.run("baseline")
    project.add("a.py", MENDED)
    project.add("c.py", DROP)
    done = project.run("baseline", "--prune")
    assert (done.status, done.stdout) == (0, f"{NAME}: 1 finding, 0 added, 1 taken out.\n")
    assert entries(project) == ["b.py pack 1"]


def test_written_again_it_has_what_is_there_now(project: Project) -> None:
    project.add("a.py", DROP)
    project.run("baseline")
    project.add("a.py", MENDED)
    project.add("b.py", DROP)
    assert project.run("baseline").stdout.startswith(f"{NAME}: 1 finding, 1 added, 1 taken out.\n")
    assert entries(project) == ["b.py pack 1"]


def test_entries_for_other_files_stay(project: Project) -> None:
    project.add("a.py", DROP)
    project.add("b.py", DROP)
    project.run("baseline")
    project.add("a.py", MENDED)
    project.add("b.py", MENDED)
    assert project.run("baseline", "a.py").status == 0
    assert entries(project) == ["b.py pack 1"]


def test_an_unchanged_one_is_not_touched(project: Project) -> None:
    project.add("a.py", DROP)
    project.run("baseline")
    os.utime(project.root / NAME, (1, 1))
    project.run("baseline")
    assert (project.root / NAME).stat().st_mtime == 1


@pytest.mark.parametrize("arguments", [(), ("--prune",)])
def test_a_run_with_a_problem_writes_nothing(project: Project, arguments: tuple[str, ...]) -> None:
    project.add("a.py", DROP)
    project.run("baseline")
    before = (project.root / NAME).read_bytes()
    project.add("a.py", MENDED)
    project.add("bad.py", "x = (\n")
    done = project.run("baseline", *arguments)
    assert (done.status, done.stdout, (project.root / NAME).read_bytes()) == (2, "", before)
    assert f"{NAME} is left as it is" in done.stderr


def test_a_baseline_that_is_not_there_or_none_is_status_2_and_hides_nothing(project: Project) -> None:
    project.add("a.py", DROP)
    done = project.run("check", "--baseline", "gone.json")
    assert (done.status, done.stderr) == (
        2,
        "error: gone.json:1: no such baseline; write one with `carryall baseline`\n",
    )
    assert "a.py:1:7: OWN001" in done.stdout
    assert project.run("baseline", "--prune", "--output", "gone.json").status == 2
    project.add(NAME, "{")
    assert project.run("check", "--baseline", NAME).status == 2
    assert project.run("baseline").status == 2


def test_one_that_cannot_be_written_is_status_2(project: Project) -> None:
    project.add("a.py", DROP)
    done = project.run("baseline", "--output", "gone/known.json")
    assert (done.status, done.stderr.count("\n")) == (2, 1)
    assert "gone/known.json: cannot be written" in done.stderr
