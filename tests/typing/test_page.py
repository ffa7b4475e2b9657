"""What `docs/type_checkers.md` says beside its tables."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from docs.build_checkers import PAGE
from docs.sessions import blocks
from lint_rules.cli import main
from ownership.mypy_plugin._codes import CODES


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def test_python_examples_run(page: str, tmp_path: Path, root: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(root)}
    examples = [block for block in blocks(page) if block.language == "python"]
    assert examples
    for number, block in enumerate(examples):
        path = tmp_path / f"example_{number}.py"
        path.write_text(block.body, encoding="utf-8")
        done = subprocess.run([sys.executable, str(path)], env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, block.body + done.stderr


def test_it_lists_the_codes_of_the_plugin(page: str) -> None:
    assert re.findall(r"^\| `(ownership-\w+)` \|", page, re.MULTILINE) == [code.code for code in CODES]


def test_the_configuration_that_it_shows_names_the_plugin(page: str) -> None:
    (table,) = [tomllib.loads(block.body) for block in blocks(page) if block.language == "toml"]
    assert table["tool"]["mypy"] == {"plugins": ["ownership.mypy_plugin"], "check_untyped_defs": True}


def test_the_options_that_it_names_exist(page: str) -> None:
    (usage,) = re.findall(r"^    carryall types (.*)$", page, re.MULTILINE)
    told = CliRunner().invoke(main, ["types", "--help"]).output
    named = re.findall(r"--[a-z]+", usage)
    assert named
    assert all(f"{option} " in told for option in named)
    assert "[-- MYPY ARGUMENTS]" in " ".join(told.split())


def test_its_links_lead_somewhere(page: str) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", page)
    assert targets
    assert not [target for target in targets if not (PAGE.parent / target).exists()]
