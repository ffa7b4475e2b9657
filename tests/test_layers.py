"""The layers hold: as written down (import-linter, in `pyproject.toml`) and as seen at run time."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGES = ("ownership", "lint_rules", "backend")


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts of `folder/pyproject.toml` against the packages in that folder."""
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-c", code, "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def modules_after(statement: str) -> set[str]:
    """Top-level names of the modules that the statement loads in a fresh interpreter, from the root's packages."""
    code = (
        "import sys, json; before = set(sys.modules)\n"
        f"{statement}\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in set(sys.modules) - before})))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_the_contracts_are_kept(root: Path) -> None:
    done = lint_imports(root)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 kept, 0 broken" in done.stdout


@pytest.mark.parametrize(
    ("module", "line", "broken"),
    [
        ("ownership/kinds.py", "import lint_rules.findings", "ownership stands alone"),
        ("ownership/kinds.py", "import libcst", "ownership stands alone"),
        ("lint_rules/findings.py", "from ownership import plan", "lint_rules reads the kinds of ownership"),
        ("lint_rules/findings.py", "def f(): import torch", "lint_rules needs neither a backend"),
        ("lint_rules/findings.py", "import backend", "lint_rules needs neither a backend"),
        ("lint_rules/engine.py", "import lint_rules.cli", "nothing imports the command line"),
    ],
)
def test_a_wrong_import_breaks_a_contract(root: Path, tmp_path: Path, module: str, line: str, broken: str) -> None:
    for package in PACKAGES:
        shutil.copytree(root / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "pyproject.toml", tmp_path)
    with (tmp_path / module).open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    done = lint_imports(tmp_path)
    assert done.returncode != 0
    kept_or_broken = {name: verdict for name, _, verdict in (row.rpartition(" ") for row in done.stdout.splitlines())}
    assert [name for name, verdict in kept_or_broken.items() if verdict == "BROKEN" and name.startswith(broken)]


def test_the_linter_loads_neither_torch_nor_triton_nor_mypy() -> None:
    loaded = modules_after("import lint_rules, lint_rules.cli, lint_rules.engine")
    assert "lint_rules" in loaded
    assert not loaded & {"torch", "triton", "mypy", "numpy", "backend"}


def test_the_command_line_loads_slow_packages_only_where_they_are_used() -> None:
    assert not modules_after("import lint_rules.cli") & {"libcst", "rich"}


def test_ownership_loads_nothing_outside_the_standard_library() -> None:
    loaded = modules_after("import ownership")
    assert "ownership" in loaded
    assert loaded - {"ownership"} <= sys.stdlib_module_names


def test_backend_promises_nothing() -> None:
    assert modules_after("import backend; assert backend.__all__ == []") <= {"backend", *sys.stdlib_module_names}
