"""The same messages from the oldest mypy that is supported, and from the newest one as plain Python."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from demo.wheel import CACHE, registry_unreachable
from tests.ownership.mypy_plugin.checking import ROOT, configured, expected, found

HERE = Path(__file__).resolve().parent
CASES = sorted((HERE / "cases").glob("*.py"))
#: The last release of the oldest series.
OLDEST = "1.18.2"
NEWEST = "2.4.1"
_PURE = ["--platform", "any", "--implementation", "py", "--abi", "none", "--only-binary=:all:"]


def installed(version: str, *flags: str) -> Path:
    """A folder with this mypy and what it needs, installed once and kept."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    target = CACHE / f"mypy-{version}-{'pure' if flags else 'compiled'}-{python}"
    if not (target / "done").exists():
        pip = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--target",
            str(target),
        ]
        for command in ([*pip, f"mypy=={version}"], [*pip, "--no-deps", "--upgrade", *flags, f"mypy=={version}"]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode and registry_unreachable(done.stderr):
                pytest.skip("needs the package registry")
            assert done.returncode == 0, done.stderr
            if not flags:
                break
        (target / "done").touch()
    return target


@pytest.mark.parametrize(
    ("version", "flags", "says"),
    [(OLDEST, [], f"mypy {OLDEST} (compiled: yes)"), (NEWEST, _PURE, f"mypy {NEWEST} (compiled: no)")],
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
