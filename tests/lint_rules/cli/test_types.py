"""`carryall types`: mypy is really run here, on small projects, with the plugin."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lint_rules.cache import FOLDER
from lint_rules.cli.types import _outcome

if TYPE_CHECKING:
    from tests.lint_rules.cli.conftest import Done, Project

PLANS = """\
from __future__ import annotations

from dataclasses import dataclass, replace

from ownership import Absent, Fact, Transferable, materializer, plan


@plan
@dataclass(frozen=True)
class ScratchPlan:
    rows: Fact[int]
    fold: Transferable[object | Absent]
    pack: Transferable[object | Absent]


def plan_scratch(rows: int) -> ScratchPlan:
    pending = Absent("not compiled yet")
    return ScratchPlan(rows=rows, fold=pending, pack=pending)
"""
DROP = """\
from dataclasses import replace
from ownership import materializer
from plans import ScratchPlan, plan_scratch

@materializer
def materialize(prepared: ScratchPlan) -> ScratchPlan:
    return replace(plan_scratch(prepared.rows), fold=prepared.fold)
"""
MENDED = DROP.replace("fold=prepared.fold", "fold=prepared.fold, pack=prepared.pack")
#: What mypy has to say about a code base that was never checked.
NOISE = "import nowhere\nx: int = ''\nundefined_name\n"


#: A plugin of the user's that fails, and prints to where JSON belongs.
CRASHING = """\
from mypy.plugin import Plugin


class Crashing(Plugin):
    def get_function_hook(self, fullname):
        print("on standard output")
        raise RuntimeError("boom")


def plugin(version):
    return Crashing
"""


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """A cache with the standard library in it, so that each test need not read that again."""
    folder = tmp_path_factory.mktemp("warm")
    (folder / "plans.py").write_text(PLANS, encoding="utf-8")
    command = [sys.executable, "-m", "ownership.mypy_plugin.runner", "--cache-dir", "cache", "--", "plans.py"]
    env = {**os.environ, "PYTHONPATH": str(root)}
    subprocess.run(command, cwd=folder, env=env, capture_output=True, check=True)
    return folder / "cache"


@pytest.fixture
def checked(project: Project, warm: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with a plan in `plans.py`."""
    shutil.copytree(warm, project.root / FOLDER / "mypy")
    monkeypatch.setenv("MYPYPATH", str(root))
    project.add("plans.py", PLANS)
    return project


def places(done: Done) -> list[tuple[str, int, str]]:
    return [(each["path"], each["line"], each["code"]) for each in done.objects]


# What is reported


def test_a_drop_is_a_finding_and_the_status_is_1(checked: Project) -> None:
    checked.add("use.py", DROP)
    done = checked.run("types")
    assert (done.status, done.stderr) == (1, "")
    first, *_, last = done.stdout.splitlines()
    assert first.startswith("use.py:7:12: ownership-drop ")
    assert "pack" in first
    assert last.startswith("1 finding in 2 files (mypy ")


def test_without_a_finding_the_status_is_0(checked: Project) -> None:
    checked.add("use.py", MENDED)
    done = checked.run("types")
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith("No findings in 2 files (mypy ")


def test_in_json_each_finding_is_a_line_and_there_is_nothing_else(checked: Project) -> None:
    checked.add("use.py", DROP)
    done = checked.run("types", "--format", "json")
    assert (done.status, done.stderr) == (1, "")
    (finding,) = done.objects
    assert list(finding) == ["path", "line", "column", "code", "message", "hint"]
    assert (finding["path"], finding["line"], finding["column"], finding["code"]) == ("use.py", 7, 12, "ownership-drop")


def test_whatever_else_mypy_says_is_counted_and_not_shown(checked: Project) -> None:
    checked.add("use.py", DROP)
    checked.add("noise.py", NOISE)
    done = checked.run("types")
    assert done.status == 1
    assert "noise.py" not in done.stdout
    assert "3 other errors of mypy not shown" in done.stdout


def test_errors_by_the_hundred_hide_nothing(checked: Project) -> None:
    """Once a module is missing, mypy stops at 200."""
    checked.add("a_noise.py", "import nowhere\n" + "".join(f"x{n}: int = ''\n" for n in range(400)))
    checked.add("use.py", DROP)
    assert places(checked.run("types", "--format", "json")) == [("use.py", 7, "ownership-drop")]


def test_bodies_of_unannotated_functions_are_checked(checked: Project) -> None:
    checked.add("use.py", DROP.replace("(prepared: ScratchPlan) -> ScratchPlan", "(prepared: ScratchPlan, rows)"))
    assert checked.run("types").status == 1
    checked.add(
        "use.py",
        DROP.replace("(prepared: ScratchPlan) -> ScratchPlan:", "(prepared, rows):").replace(
            "    return", "    assert isinstance(prepared, ScratchPlan)\n    return"
        ),
    )
    assert checked.run("types").status == 1


def test_a_warm_run_says_the_same(checked: Project) -> None:
    checked.add("use.py", DROP)
    checked.add("noise.py", NOISE)
    assert checked.run("types") == checked.run("types")


def test_only_the_paths_that_are_given_are_checked(checked: Project) -> None:
    checked.add("one/use.py", DROP)
    checked.add("two/other.py", DROP)
    done = checked.run("types", "one", "--format", "json")
    assert [each["path"] for each in done.objects] == ["one/use.py"]


# What the project says to mypy


def test_an_ignore_comment_is_kept(checked: Project) -> None:
    checked.add("use.py", DROP.replace("fold)\n", "fold)  # type: ignore[ownership-drop]\n"))
    assert checked.run("types").status == 0


def test_a_code_that_is_switched_off_stays_off(checked: Project) -> None:
    checked.add("use.py", DROP)
    checked.add("mypy.ini", "[mypy]\ndisable_error_code = ownership-drop\n")
    assert checked.run("types").status == 0


def test_what_silences_mypy_as_a_whole_does_not_silence_the_plugin(checked: Project) -> None:
    checked.add("use.py", DROP)
    checked.add(
        "mypy.ini", "[mypy]\nignore_errors = True\n[mypy-use]\nignore_errors = True\ncheck_untyped_defs = False\n"
    )
    assert checked.run("types").status == 1


def test_a_plugin_that_is_configured_already_is_not_run_twice(checked: Project) -> None:
    checked.add("use.py", DROP)
    checked.add("mypy.ini", "[mypy]\nplugins = ownership.mypy_plugin\n")
    assert len(checked.run("types", "--format", "json").objects) == 1


def test_without_paths_the_files_of_the_configuration_are_checked(checked: Project) -> None:
    checked.add("use.py", DROP)
    checked.add("left/other.py", DROP)
    checked.add("mypy.ini", "[mypy]\nfiles = use.py\n")
    assert [each["path"] for each in checked.run("types", "--format", "json").objects] == ["use.py"]


def test_arguments_behind_two_dashes_are_for_mypy(checked: Project) -> None:
    checked.add("use.py", DROP)
    assert checked.run("types", "use.py", "--", "--disable-error-code", "ownership-drop").status == 0
    assert checked.run("types", "--", "--strict", "use.py").status == 1


def test_the_cache_of_other_runs_is_left_alone(checked: Project) -> None:
    checked.add("mypy.ini", "[mypy]\ncache_dir = theirs\n")
    assert checked.run("types").status == 0
    assert not (checked.root / "theirs").exists()
    assert not (checked.root / ".mypy_cache").exists()
    assert (checked.root / FOLDER / "mypy").is_dir()


# The configuration of carryall

DECLARED = """\
from dataclasses import dataclass, replace

@dataclass(frozen=True)
class Plan:
    rows: int
    fold: object = None
    pack: object = None

def planned(rows: int) -> Plan:
    return Plan(rows)

def materialize(prepared: Plan) -> Plan:
    return replace(planned(prepared.rows), fold=prepared.fold)
"""


def test_declared_classes_count(checked: Project) -> None:
    checked.add("old.py", DECLARED)
    assert checked.run("types").status == 0
    table = '[[tool.carryall.plan]]\nclass = "old.Plan"\ntransferable = ["fold", "pack"]\n'
    checked.add("other.toml", table)
    assert checked.run("types", "--config", "other.toml").status == 1
    checked.add("pyproject.toml", table)
    assert checked.run("types").status == 1


def test_the_configuration_is_the_one_nearest_to_the_paths(checked: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    checked.add("inner/old.py", DECLARED)
    table = '[[tool.carryall.plan]]\nclass = "old.Plan"\ntransferable = ["fold", "pack"]\n'
    checked.add("inner/pyproject.toml", table)
    assert checked.run("types", "inner").status == 1
    checked.add("empty.toml", "[tool.carryall]\n")
    monkeypatch.setenv("CARRYALL_CONFIG", str(checked.root / "empty.toml"))
    assert checked.run("types", "inner").status == 0
    assert checked.run("types", "inner", "--config", "inner/pyproject.toml").status == 1


def test_what_mypy_thinks_of_its_configuration_is_shown(checked: Project) -> None:
    checked.add("mypy.ini", "[mypy]\nno_such_option = 1\n")
    done = checked.run("types")
    assert done.status == 0
    (line,) = done.stderr.splitlines()
    assert "no_such_option" in line


def test_a_wrong_configuration_is_status_2(checked: Project) -> None:
    checked.add("pyproject.toml", "[tool.carryall]\nexcluded = []\n")
    done = checked.run("types")
    assert done.status == 2
    assert "excluded" in done.stderr


# What keeps mypy from its job


def test_a_file_that_does_not_parse_is_told_and_the_others_are_checked(checked: Project) -> None:
    checked.add("use.py", DROP)
    checked.add("a_broken.py", "def f(:\n")
    checked.add("importer.py", "import a_broken\n")
    done = checked.run("types", "--format", "json")
    assert done.status == 2
    assert places(done) == [("use.py", 7, "ownership-drop")]
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: a_broken.py:1: ")
    assert "left out" in line


def test_nothing_but_broken_files_is_never_clean(checked: Project) -> None:
    checked.add("broken.py", "def f(:\n")
    checked.add("mypy.ini", "[mypy]\npretty = True\nshow_column_numbers = True\nshow_error_end = True\n")
    done = checked.run("types", "broken.py")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.startswith("error: broken.py:1: ")


def test_two_files_of_one_module_name_are_told_and_the_others_are_checked(checked: Project) -> None:
    checked.add("use.py", DROP)
    checked.add("one/conftest.py", "")
    checked.add("two/conftest.py", "")
    done = checked.run("types")
    assert done.status == 2
    assert "use.py:7:12: ownership-drop" in done.stdout
    assert 'Duplicate module named "conftest"' in done.stderr


def test_a_path_that_is_not_there_is_status_2(checked: Project) -> None:
    done = checked.run("types", "nowhere.py")
    assert (done.status, done.stdout) == (2, "")
    assert "nowhere.py" in done.stderr


@pytest.mark.parametrize("argument", ["--no-such-option", "--version", "--help"])
def test_arguments_that_lead_to_no_check_are_status_2(checked: Project, argument: str) -> None:
    done = checked.run("types", "--", argument)
    assert (done.status, done.stdout) == (2, "")
    assert "error: mypy did not come to an end" in done.stderr


def test_a_crash_of_mypy_is_status_2(checked: Project) -> None:
    checked.add("crashing.py", CRASHING)
    checked.add("mypy.ini", "[mypy]\nplugins = crashing.py\n")
    checked.add("use.py", "print(len(''))\n")
    done = checked.run("types", "use.py")
    assert (done.status, done.stdout) == (2, "")
    assert "INTERNAL ERROR" in done.stderr
    assert "error: mypy did not come to an end (exit status 2)" in done.stderr


def test_a_plugin_that_cannot_be_loaded_is_status_2(checked: Project) -> None:
    checked.add("mypy.ini", "[mypy]\nplugins = no_such_plugin\n")
    done = checked.run("types", "plans.py")
    assert (done.status, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: mypy.ini:2: ")
    assert "no_such_plugin" in line


def test_a_python_that_is_not_there_is_status_2(checked: Project) -> None:
    done = checked.run("types", "--python", "no-such-python")
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.startswith("error: cannot start no-such-python: ")


def test_a_python_without_carryall_or_without_mypy_is_told_what_to_install(
    checked: Project, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv.create(tmp_path / "bare", with_pip=False, symlinks=os.name != "nt")
    python = str(tmp_path / "bare" / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    done = checked.run("types", "--python", python)
    assert done.status == 2
    assert f"error: {python} has no carryall; install it there: pip install 'carryall[mypy]'" in done.stderr
    monkeypatch.setenv("PYTHONPATH", str(root))
    done = checked.run("types", "--python", python)
    assert done.status == 2
    assert f"error: {python} has no mypy; install it there: pip install 'carryall[mypy]'" in done.stderr


@pytest.mark.parametrize(
    ("printed", "problem"),
    [
        ([], "did not come to an end"),
        ([json.dumps({"path": "a.py"})], "did not come to an end"),
        (["Traceback"], "where JSON was expected"),
    ],
)
def test_output_without_its_last_line_is_never_clean(printed: Sequence[str], problem: str) -> None:
    done = subprocess.CompletedProcess(["python"], 0, "\n".join(printed), "")
    outcome = _outcome(done, "python")
    assert outcome.failure is not None
    assert problem in outcome.failure
    assert not outcome.findings
