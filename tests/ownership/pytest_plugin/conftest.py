"""What the tests of the plugin share: a project under test, with a resolver that needs no library."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

import ownership

# Modules that are imported first by a run inside this process would be forgotten after it, and made anew.
import ownership.pytest_plugin._buffers
import ownership.pytest_plugin._calls
import ownership.pytest_plugin._monitor
import ownership.pytest_plugin._scratch
import ownership.resolution

ROOT = Path(ownership.__file__).resolve().parent.parent

#: A module that compiles: `fold(n)` resolves once for each n.
KERNELS = """
import functools
import time

from ownership.resolution import resolver


@functools.cache
@resolver(name="fake.compile", program="kernels.fold")
def fold(n):
    time.sleep(0.001)
    return lambda x: x * n
"""

Project = Callable[..., pytest.Pytester]


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Write the tests of a project, with `kernels.py` beside them; the plugin is installed in it, and no other one."""
    # As an installed distribution would announce it. The environment may have it as well: the first one counts.
    info = pytester.mkdir("site") / "carryall_here-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: carryall-here\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[pytest11]\ncarryall = ownership.pytest_plugin\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{info.parent}")
    pytester.syspathinsert(info.parent)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:cacheprovider -p no:hypothesispytest -p no:xdist --strict-markers")

    def write(tests: str, **files: str) -> pytest.Pytester:
        pytester.makepyfile(kernels=KERNELS, test_it=tests, **files)
        return pytester

    return write


def needs(module: str) -> None:
    """Skip the test where a module is not installed.

    Not `importorskip`: pytester forgets what was imported during a test, and torch cannot be imported twice.
    """
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"needs {module}: make test, without KERNELS=0")
