"""What README.md and `docs` show is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from docs.sessions import Block, blocks, refreshed
from lint_rules.config import load_config
from lint_rules.rules import all_rules

PAGES = ["README.md", "docs/plans.md", "docs/ledger.md", "docs/resolution.md"]


@pytest.fixture(scope="module")
def readme(root: Path) -> str:
    return (root / "README.md").read_text(encoding="utf-8")


def python_examples(page: Path) -> list[Block]:
    return [block for block in blocks(page.read_text(encoding="utf-8")) if block.language == "python"]


def test_every_command_prints_what_is_shown(readme: str) -> None:
    assert sum(block.body.count("$ carryall") for block in blocks(readme)) >= 2
    assert "OWN001" in readme
    assert refreshed(readme) == readme, "run `make docs` and read what changed"


@pytest.mark.parametrize("page", PAGES)
def test_python_examples_run(root: Path, page: str, tmp_path: Path) -> None:
    """Each example runs by itself; where the text says that one is wrong, the checker says so, or the example does."""
    examples = python_examples(root / page)
    assert examples
    for block in examples:
        path = tmp_path / (block.file_name or "example.py")
        path.write_text(block.body, encoding="utf-8")
        done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, block.body + done.stderr


def test_python_examples_pass_mypy(root: Path, tmp_path: Path) -> None:
    """Also what is claimed of plans that are generic in their carriers: one that was never prepared does not fit."""
    bundled = ""
    for page in PAGES:
        for number, block in enumerate(python_examples(root / page)):
            name = f"{Path(page).stem.lower()}_{number}.py"
            (tmp_path / name).write_text(block.body, encoding="utf-8")
            bundled = block.body if "Generic[C]" in block.body else bundled
    (tmp_path / "unprepared.py").write_text(f"{bundled}\nrun(plan_scratch(8))\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary", str(tmp_path)]
    env = {**os.environ, "MYPYPATH": str(root)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    (error,) = done.stdout.splitlines() or [done.stderr]
    assert error.startswith("unprepared.py:"), error
    assert "[arg-type]" in error


def test_configuration_examples_are_accepted(readme: str, tmp_path: Path) -> None:
    configurations = [block for block in blocks(readme) if block.language in {"toml", "yaml"}]
    assert {block.language for block in configurations} == {"toml", "yaml"}
    for block in configurations:
        if "[tool.mypy]" in block.body:
            assert tomllib.loads(block.body)["tool"]["mypy"]["plugins"] == ["ownership.mypy_plugin"]
        elif block.language == "toml":
            path = tmp_path / "pyproject.toml"
            path.write_text(block.body, encoding="utf-8")
            assert load_config(tmp_path, path).path == path
        else:
            assert yaml.safe_load(block.body)["repos"]


def test_the_hooks_that_it_names_exist(root: Path, readme: str) -> None:
    hooks = {hook["id"] for hook in yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    named = {
        hook["id"]
        for block in blocks(readme)
        if block.language == "yaml"
        for repository in yaml.safe_load(block.body)["repos"]
        for hook in repository["hooks"]
    }
    assert named
    assert named <= hooks


def test_the_declaration_that_it_shows_is_the_one_of_the_demo(root: Path, readme: str) -> None:
    demo = tomllib.loads((root / "demo" / "b12x.toml").read_text(encoding="utf-8"))
    assert demo in [tomllib.loads(block.body) for block in blocks(readme) if block.language == "toml"]


def test_the_make_targets_that_it_names_exist(root: Path, readme: str) -> None:
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"(?:`|^    )make ([a-z]+)\b", readme, re.MULTILINE))
    assert {"demo", "test"} <= named
    for target in named:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_its_links_lead_somewhere(root: Path, readme: str) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", readme)
    for target in targets:
        if not target.startswith(("http://", "https://")):
            assert (root / target).exists(), target


def test_every_rule_that_it_names_exists(readme: str) -> None:
    known = {rule.code for rule in all_rules()}
    named = set(re.findall(r"\bOWN0\d\d\b", readme))
    assert known <= named, f"README does not mention {sorted(known - named)}"
    assert named <= known, f"README mentions {sorted(named - known)}, which are no rules"
