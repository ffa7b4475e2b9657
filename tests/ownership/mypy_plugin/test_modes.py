"""The same messages in every mode of mypy: caches, parsers, workers, the daemon with edits in other modules."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.ownership.mypy_plugin.checking import ROOT, Message, configured, found
from tests.ownership.mypy_plugin.versions import NEWEST, OLDEST, installed

PLANS = """\
from dataclasses import dataclass
from ownership import Absent, Fact, Transferable, plan

class Kernel: ...

@plan
@dataclass(frozen=True)
class Scratch:
    rows: Fact[int]
    fold: Transferable[Kernel | Absent]
    pack: Transferable[Kernel | Absent]
"""
PLANNER = """\
from pkg.plans import Absent, Scratch

def plan_scratch(rows: int) -> Scratch:
    return Scratch(rows=rows, fold=Absent("later"), pack=Absent("later"))
"""
PREPARE = """\
from dataclasses import replace
from pkg.planner import plan_scratch
from pkg.plans import Scratch

def materialize(prepared: Scratch, rows: int) -> Scratch:
    return replace(plan_scratch(rows), fold=prepared.fold)

def untyped(programs, rows):
    return replace(plan_scratch(rows), fold=programs.fold, pack=programs.pack)
"""
FAR = """\
from dataclasses import replace
from pkg.planner import plan_scratch

class Holder:
    def __init__(self) -> None:
        self.plan = plan_scratch(3)

def table(holder: Holder, rows: int) -> object:
    return replace(plan_scratch(rows), fold=holder.plan.fold, pack=holder.plan.pack)
"""
DROP: Counter[Message] = Counter({("pkg/prepare.py", 6, "drop", "pack"): 1})
THIRD: Counter[Message] = Counter(
    {
        ("pkg/plans.py", 12, "default", "third"): 1,
        ("pkg/prepare.py", 6, "drop", "third"): 1,
        ("pkg/prepare.py", 9, "drop", "third"): 1,
        ("pkg/far.py", 9, "drop", "third"): 1,
    }
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    package = tmp_path / "pkg"
    package.mkdir()
    for name, text in (("__init__", ""), ("plans", PLANS), ("planner", PLANNER), ("prepare", PREPARE), ("far", FAR)):
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    configured(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.carryall]\n", encoding="utf-8")
    return tmp_path


def edit(project: Path, name: str, old: str, new: str) -> None:
    path = project / "pkg" / f"{name}.py"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def run(project: Path, version: str, *flags: str) -> Counter[Message]:
    command = [sys.executable, "-m", "mypy", "-p", "pkg", "--config-file", "mypy.ini", "--hide-error-context", *flags]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False, env=_environment(version))
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    return found(done.stdout.splitlines())


def _environment(version: str) -> dict[str, str]:
    """An environment in which `python -m mypy` is that version."""
    folders = [str(installed(version))] if version == OLDEST else []
    return {**os.environ, "PYTHONPATH": os.pathsep.join([*folders, str(ROOT)])}


FLAGS = {
    "no cache": ["--no-incremental"],
    "default cache": [],
    "two workers": ["-n", "2"],
    "old parser": ["--no-native-parser"],
    "files for a cache": ["--no-sqlite-cache"],
    "JSON cache": ["--no-fixed-format-cache"],
    "JSON files": ["--no-fixed-format-cache", "--no-sqlite-cache"],
    "cache for the daemon": ["--cache-fine-grained"],
}


#: Those that the oldest version has, too.
OLD_FLAGS = ["no cache", "default cache", "files for a cache", "cache for the daemon"]
MODES = [*((NEWEST, mode) for mode in FLAGS), *((OLDEST, mode) for mode in OLD_FLAGS)]


@pytest.mark.parametrize(("version", "mode"), MODES, ids=[f"{version} {mode}" for version, mode in MODES])
def test_cold_warm_and_after_an_edit_the_messages_are_the_same(project: Path, version: str, mode: str) -> None:
    flags = FLAGS[mode]
    assert run(project, version, *flags) == DROP, "cold"
    assert run(project, version, *flags) == DROP, "warm"
    edit(project, "prepare", "def untyped", "\ndef untyped")
    assert run(project, version, *flags) == DROP, "the file with the message was touched"
    edit(project, "prepare", "\ndef untyped", "def untyped")
    edit(project, "plans", "pack: Transferable[Kernel | Absent]\n", "pack: Transferable[Kernel | Absent]\n" + NEW_FIELD)
    assert run(project, version, *flags) == DROP + THIRD, "another module was changed"


NEW_FIELD = "    third: Transferable[Kernel | Absent | None] = None\n"


@pytest.fixture(params=[NEWEST, OLDEST])
def daemon(project: Path, request: pytest.FixtureRequest) -> Iterator[Callable[[], Counter[Message]]]:
    """The daemon on the project; each call checks it again."""
    environment = _environment(request.param)

    def dmypy(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mypy.dmypy", "--status-file", "status.json", *arguments]
        return subprocess.run(
            command, cwd=project, capture_output=True, text=True, check=False, env=environment, timeout=120
        )

    def check() -> Counter[Message]:
        done = dmypy("check", "pkg")
        assert done.returncode in {0, 1}, done.stdout + done.stderr
        return found(done.stdout.splitlines())

    started = dmypy("start", "--", "--config-file", "mypy.ini")
    assert started.returncode == 0, started.stdout + started.stderr
    try:
        yield check
    finally:
        dmypy("kill")


def test_the_daemon_follows_edits_of_the_plan_in_functions_of_other_modules(
    project: Path, daemon: Callable[[], Counter[Message]]
) -> None:
    assert daemon() == DROP
    edit(project, "plans", "pack: Transferable[Kernel | Absent]\n", "pack: Transferable[Kernel | Absent]\n" + NEW_FIELD)
    assert daemon() == DROP + THIRD
    edit(project, "plans", "third: Transferable", "third: Fact")
    assert daemon() == DROP
    edit(project, "plans", "pack: Transferable", "pack: Fact")
    assert daemon() == Counter()
    edit(project, "plans", "pack: Fact", "pack: Transferable")
    assert daemon() == DROP
    edit(project, "plans", "third: Fact", "third: Transferable")
    assert daemon() == DROP + THIRD
    edit(project, "plans", NEW_FIELD, "")
    edit(project, "prepare", "fold=prepared.fold)", "fold=prepared.fold, pack=prepared.pack)")
    assert daemon() == Counter()
    edit(project, "prepare", ", pack=prepared.pack)", ")")
    assert daemon() == DROP


def test_the_daemon_sees_that_a_class_becomes_a_plan(project: Path, daemon: Callable[[], Counter[Message]]) -> None:
    bare = (
        PLANS.replace("@plan\n", "")
        .replace("Fact[int]", "int")
        .replace("Transferable[Kernel | Absent]", "Kernel | Absent")
    )
    (project / "pkg" / "plans.py").write_text(bare, encoding="utf-8")
    assert daemon() == Counter()
    (project / "pkg" / "plans.py").write_text(PLANS, encoding="utf-8")
    assert daemon() == DROP
