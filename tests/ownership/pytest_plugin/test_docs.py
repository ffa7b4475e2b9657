"""What `docs/pytest.md` shows is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.sessions import Block, blocks
from tests.ownership.pytest_plugin.conftest import ROOT, Project

pytest_plugins = ["pytester"]

PAGE = ROOT / "docs" / "pytest.md"
EXAMPLES = [block for block in blocks(PAGE.read_text(encoding="utf-8")) if block.language == "python"]


def steady(text: str) -> str:
    """Without what differs from run to run: times, the widths that follow from them, and rules drawn to the margin."""
    text = re.sub(r"\d+\.\d+( ?m?s\b)", r"0.0\1", text)
    lines = (re.sub(r"  +|={3,}|_{3,}", " ", line).strip() for line in text.strip().splitlines())
    return "\n".join(line for line in lines if line.strip("^ "))


def names(block: Block) -> str:
    assert block.file_name is not None, "each example is a file"
    return block.file_name


@pytest.mark.parametrize("block", EXAMPLES, ids=names)
def test_each_example_runs_by_itself_and_under_pytest(project: Project, block: Block) -> None:
    pytester = project("")
    (pytester.path / names(block)).write_text(block.body, encoding="utf-8")
    assert pytester.run(sys.executable, names(block)).ret == 0
    outcomes = pytester.runpytest_inprocess(names(block)).parseoutcomes()
    expected = (
        {"passed": 2, "failed": 1} if names(block) == "test_serving.py" else {"passed": block.body.count("\ndef test_")}
    )
    assert outcomes == expected


def test_the_examples_pass_mypy(tmp_path: Path) -> None:
    for block in EXAMPLES:
        (tmp_path / names(block)).write_text(block.body, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", str(tmp_path)]
    env = {**os.environ, "MYPYPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_failing_run_is_shown_as_it_is(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("CI", "BUILD_NUMBER"):  # there pytest does not shorten the lines of its summary
        monkeypatch.delenv(name, raising=False)
    (session,) = [block for block in blocks(PAGE.read_text(encoding="utf-8")) if block.language == "console"]
    command, _, shown = session.body.partition("\n")
    assert command == "$ pytest --kernel-compiles=report"
    pytester = project("")
    (pytester.path / "test_it.py").unlink()
    (pytester.path / "test_serving.py").write_text(EXAMPLES[0].body, encoding="utf-8")
    printed = pytester.runpytest_subprocess("--kernel-compiles=report").stdout.str()
    # The first lines give versions and folders.
    start = printed.index("\ntest_serving.py ")
    assert steady(printed[start:]) == steady(shown), printed[start:]
