from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lint_rules.cli import terminal
from lint_rules.cli.terminal import Progress

if TYPE_CHECKING:
    from tests.lint_rules.cli.conftest import Project

REPOSITORY = Path(__file__).resolve().parents[3]


def test_the_commands_are_listed(project: Project) -> None:
    done = project.run("--help")
    assert done.status == 0
    assert all(f"\n  {name} " in done.stdout for name in ("check", "audit", "explain", "rules"))


def test_the_version_is_one_line(project: Project) -> None:
    done = project.run("--version")
    assert (done.status, done.stdout.count("\n")) == (0, 1)
    assert done.stdout.startswith("carryall ")


def test_an_unknown_command_is_status_2(project: Project) -> None:
    assert project.run("chekc").status == 2


def test_the_module_can_be_run(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lint_rules", "check", "--no-cache", "gone.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": ""},
    )
    assert (done.returncode, done.stderr) == (2, "error: gone.py: no such file or folder; check the path\n")


class Stream:
    """A standard error that may be a terminal."""

    def __init__(self, *, terminal: bool) -> None:
        self.text = ""
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


@pytest.mark.parametrize(
    ("is_terminal", "seconds", "shown"),
    [(True, 0.9, ""), (True, 1.2, "\r\x1b[Kchecking 5/9\r\x1b[K"), (False, 5.0, "")],
)
def test_progress_is_for_terminals_and_long_runs(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, seconds: float, shown: str
) -> None:
    stream = Stream(terminal=is_terminal)
    now = 100.0
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with Progress("checking") as progress:
        progress(1, 9)
        now += seconds
        progress(5, 9)
        progress(6, 9)  # too soon after the last one to be shown
    assert stream.text == shown


def test_progress_takes_its_line_away_when_the_run_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(terminal=True)
    now = 100.0
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(time, "monotonic", lambda: now)

    def run() -> None:
        nonlocal now
        with Progress("checking") as progress:
            now += 2
            progress(1, 2)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run()
    assert stream.text.endswith("\r\x1b[K")


@pytest.mark.parametrize(("value", "coloured"), [("", True), ("1", False)])
def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch, value: str, coloured: bool) -> None:
    monkeypatch.setenv("NO_COLOR", value)
    assert ("\x1b" in terminal.style("text", "code")) is coloured
