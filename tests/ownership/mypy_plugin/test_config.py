"""`pyproject.toml` speaks to the plugin: declarations, materializers, codes and files to leave out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ownership.kinds import Kind
from ownership.mypy_plugin._config import PluginConfigError, Settings, load_settings
from tests.ownership.mypy_plugin.checking import ROOT, check, configured, found

PROGRAM = """\
from dataclasses import dataclass, replace
from typing import Optional

class Kernel: ...

@dataclass(frozen=True)
class Scratch:
    rows: int
    fold: Optional[Kernel] = None
    pack: Optional[Kernel] = None

def plan_scratch(rows: int) -> Scratch:
    return Scratch(rows)

def resize(prepared: Scratch, rows: int) -> Scratch:
    return replace(plan_scratch(rows), fold=prepared.fold)

def blank(prepared: Scratch, rows: int) -> Scratch:
    return plan_scratch(rows)
"""
DECLARED = '[[tool.carryall.plan]]\nclass = "{name}"\ntransferable = ["fold", "pack"]\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "__init__.py").touch()
    (tmp_path / "inner" / "plans.py").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


def messages(project: Path, settings: str) -> list[tuple[int, str, str]]:
    (project / "pyproject.toml").write_text(settings, encoding="utf-8")
    config = configured(project, "incremental = False")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project)
        return [message[1:] for message in found(check(config, "inner"))]


@pytest.mark.parametrize("name", ["inner.plans.Scratch", "inner/plans.py::Scratch", "./inner/plans.py::Scratch"])
def test_a_declared_class_is_a_plan_by_either_name(project: Path, name: str) -> None:
    assert messages(project, DECLARED.format(name=name)) == [(16, "drop", "pack")]


def test_nothing_is_declared_and_nothing_is_said(project: Path) -> None:
    assert messages(project, "[tool.carryall]\n") == []


def test_a_declared_materializer_has_to_carry(project: Path) -> None:
    settings = '[tool.carryall]\nmaterializers = ["inner.plans.blank"]\n' + DECLARED.format(name="inner.plans.Scratch")
    assert messages(project, settings) == [(16, "drop", "pack"), (19, "return", "fold"), (19, "return", "pack")]


def test_a_field_that_is_gone_is_named(project: Path) -> None:
    settings = DECLARED.format(name="inner.plans.Scratch").replace('"pack"', '"packer"')
    assert {message[1:] for message in messages(project, settings)} == {("unmarked", "packer")}


def test_codes_and_files_can_be_left_out(project: Path) -> None:
    declared = DECLARED.format(name="inner.plans.Scratch")
    assert messages(project, f'{declared}[tool.carryall.mypy]\nignore = ["ownership-drop"]\n') == []
    assert messages(project, f'{declared}[tool.carryall.mypy]\nexclude = ["inner"]\n') == []
    assert messages(project, f'[tool.carryall]\nexclude = ["inner/*.py"]\n{declared}') == []
    assert messages(project, f'{declared}[tool.carryall.mypy]\nexclude = ["other"]\n') != []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[tool.carryall\n", "not valid TOML"),
        ("[tool]\ncarryall = 3\n", "must be a table"),
        ("[tool.carryall]\nmypy = 3\n", "must be a table"),
        ('[tool.carryall.mypy]\nignored = ["x"]\n', "no key 'ignored'"),
        ('[tool.carryall.mypy]\nignore = ["ownership-dorp"]\n', "no such code"),
        ('[tool.carryall.mypy]\nexclude = "tests"\n', "wanted a list of strings"),
        ('[[tool.carryall.plan]]\ntransferable = ["fold"]\n', "without a 'class'"),
        ('[[tool.carryall.plan]]\nclass = "a.B"\ntransferrable = ["fold"]\n', "no key 'transferrable'"),
        ('[[tool.carryall.plan]]\nclass = "a.B"\ntransferable = ["x"]\nfact = ["x"]\n', "declared twice"),
        ("[tool.carryall]\nplan = 3\n", "array of tables"),
    ],
)
def test_what_is_not_understood_is_an_error_that_says_so(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    with pytest.raises(PluginConfigError, match=problem):
        load_settings(str(tmp_path / "mypy.ini"))


def test_mypy_ends_with_status_2_and_one_line_when_the_configuration_is_wrong(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.carryall.mypy]\nignored = ["x"]\n', encoding="utf-8")
    configured(project)
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "inner"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "carryall: pyproject.toml: [tool.carryall.mypy] has no key 'ignored'; it has exclude, ignore"
    ]
    assert done.stdout == ""


def test_without_a_file_there_are_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings(None) == Settings()


def test_the_digest_changes_with_whatever_can_change_a_message() -> None:
    several = [
        Settings(),
        Settings(classes={"a.B": {"fold": Kind.TRANSFERABLE}}),
        Settings(classes={"a.B": {"fold": Kind.FACT}}),
        Settings(files={("a.py", "B"): {"fold": Kind.FACT}}),
        Settings(materializers=frozenset({"a.f"})),
        Settings(ignored=frozenset({"ownership-drop"})),
        Settings(exclude=("tests",)),
    ]
    assert len({settings.digest() for settings in several}) == len(several)
