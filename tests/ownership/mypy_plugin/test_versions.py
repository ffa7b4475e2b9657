"""The same messages from the oldest mypy that is supported, and from the newest one as plain Python."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.ownership.mypy_plugin.checking import ROOT, configured, expected, found
from tests.ownership.mypy_plugin.versions import NEWEST, OLDEST, PURE, installed

HERE = Path(__file__).resolve().parent
CASES = sorted((HERE / "cases").glob("*.py"))


@pytest.mark.parametrize(
    ("version", "flags", "says"),
    [(OLDEST, [], f"mypy {OLDEST} (compiled: yes)"), (NEWEST, PURE, f"mypy {NEWEST} (compiled: no)")],
    ids=["oldest", "not compiled"],
)
def test_the_messages_are_those_of_the_comments(version: str, flags: list[str], says: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installed(version, *flags)), str(ROOT)])}
    environment["CARRYALL_CONFIG"] = os.devnull
    config = configured(tmp_path, f"cache_dir = {tmp_path / 'cache'}")

    def mypy(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mypy", *arguments]
        return subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False, env=environment)

    assert mypy("--version").stdout.strip() == says
    shown = ["--hide-error-context", "--no-pretty", "--namespace-packages", "--explicit-package-bases"]
    for _ in ("cold", "warm"):
        done = mypy("--config-file", str(config), *shown, "cases")
        assert done.returncode == 1, done.stdout + done.stderr
        assert found(done.stdout.splitlines()) == expected(HERE, CASES)


def test_the_oldest_is_the_one_that_the_package_asks_for(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["optional-dependencies"]["mypy"] == [f"mypy>={OLDEST.rpartition('.')[0]}"]
