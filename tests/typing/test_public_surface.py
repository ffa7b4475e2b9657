"""Pyright, too, has nothing to say about what users import."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.typing.checkers import SCRIPTS

SURFACE = ["ownership/*.py", "ownership/resolution/*.py", "ownership/pytest_plugin/*.py"]


def test_pyright_is_silent_on_the_public_packages(root: Path) -> None:
    files = [str(path) for pattern in SURFACE for path in sorted(root.glob(pattern))]
    command = [str(SCRIPTS / "pyright"), "--pythonpath", sys.executable, "--outputjson", *files]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] == len(files) > 40
    # torch and Triton need not be installed.
    said = [each for each in report["generalDiagnostics"] if each.get("rule") != "reportMissingImports"]
    assert [f"{each['file']}: {each['message']}" for each in said] == []
