"""The fragments of `changelog.d` are read by the tool that collects them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_every_fragment_reaches_the_next_entry(root: Path) -> None:
    code = "from towncrier._shell import cli; cli()"
    command = [sys.executable, "-c", code, "build", "--draft", "--version", "0.0.0"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    entry = " ".join(done.stdout.split())
    for fragment in sorted((root / "changelog.d").glob("*.*.md")):
        assert " ".join(fragment.read_text(encoding="utf-8").split()) in entry, f"{fragment.name} is not collected"
