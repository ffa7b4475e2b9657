"""Other versions of mypy than the installed one, each in a folder of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from demo.wheel import CACHE, registry_unreachable

__all__ = ["NEWEST", "OLDEST", "PURE", "installed"]

#: The last release of the oldest series.
OLDEST = "1.18.2"
NEWEST = "2.4.1"
#: What asks pip for the wheel that is not compiled.
PURE = ["--platform", "any", "--implementation", "py", "--abi", "none", "--only-binary=:all:"]


def installed(version: str, *flags: str) -> Path:
    """A folder with this mypy and what it needs, installed once and kept; skips where the registry gives no answer."""
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
