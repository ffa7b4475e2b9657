"""`import ownership` must stay cheap: the checker does it on every run, and so does every serving process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import ownership

#: What must not be imported on the way; `inspect` alone, which `dataclasses` needs, costs as much as this package.
HEAVY = ["ast", "asyncio", "attr", "dataclasses", "dis", "importlib.metadata", "inspect", "logging", "torch", "triton"]


def _python(root: Path, program: str) -> str:
    # -I -S: neither `site` nor what a developer has installed may import anything first.
    preface = f"import sys; sys.path.insert(0, {str(root)!r}); "
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", preface + program], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


@pytest.fixture
def root() -> Path:
    return Path(ownership.__file__).resolve().parent.parent


@pytest.mark.parametrize("module", ["ownership", "ownership.kinds"])
def test_importing_it_imports_nothing_heavy(root: Path, module: str) -> None:
    loaded = _python(root, f"import {module}; print(*sys.modules)").split()
    assert set(HEAVY).isdisjoint(loaded), sorted(set(HEAVY) & set(loaded))


def test_importing_it_imports_only_the_standard_library(root: Path) -> None:
    loaded = {name.partition(".")[0] for name in _python(root, "import ownership; print(*sys.modules)").split()}
    assert loaded - set(sys.stdlib_module_names) == {"ownership", "__main__"} - set(sys.stdlib_module_names)


def test_importing_it_takes_less_than_thirty_milliseconds(root: Path, tmp_path: Path) -> None:
    # Processor time, the best of several: other work on the machine must not fail this. Bytecode is kept aside, as an
    # installed package has it.
    program = (
        f"sys.pycache_prefix = {str(tmp_path)!r}; sys.dont_write_bytecode = False; import time; "
        "start = time.process_time(); import ownership; print(time.process_time() - start)"
    )
    assert min(float(_python(root, program)) for _ in range(6)) < 0.030


def test_everything_announced_is_there_and_sorted() -> None:
    assert all(hasattr(ownership, name) for name in ownership.__all__)
    assert list(ownership.__all__) == sorted(ownership.__all__)
