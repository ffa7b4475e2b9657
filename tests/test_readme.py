"""What README.md and `docs` show is what happens.

The README's blocks are run in the order in which they stand, in one folder. A block whose first line is a comment with
a file name is written to that file; each `$ carryall ...` of a `console` block must print exactly what stands below it.
Every `python` block of any page also runs by itself, and passes mypy.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

PAGES = ["README.md", "docs/plans.md"]
FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# (?P<name>[\w./-]+\.(?:py|toml))\n")


@dataclass(frozen=True)
class Block:
    """A fenced block of the README."""

    language: str
    body: str

    @property
    def file_name(self) -> str | None:
        """The file that the block is the content of, if it names one."""
        match = FILE_NAME.match(self.body)
        return match["name"] if match else None


@pytest.fixture(scope="module")
def readme(root: Path) -> str:
    return (root / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def blocks(root: Path) -> list[Block]:
    return blocks_of(root / "README.md")


def blocks_of(page: Path) -> list[Block]:
    return [Block(match["language"], match["body"]) for match in FENCE.finditer(page.read_text(encoding="utf-8"))]


def sessions(block: Block) -> list[tuple[str, str]]:
    """The commands of a `console` block, each with the output that is shown."""
    parts = re.split(r"^\$ (.*)\n", block.body, flags=re.MULTILINE)
    assert parts[0] == "", "a console block starts with a command"
    return list(zip(parts[1::2], parts[2::2], strict=True))


def run(command: str, folder: Path) -> str:
    """Run one `carryall ...` line, an `echo $?` after it included, and return what it prints."""
    first, *rest = (part.strip() for part in command.split(";"))
    program, *arguments = shlex.split(first)
    assert program == "carryall", f"README shows a command that this test does not run: {command}"
    done = subprocess.run(
        [sys.executable, "-m", "lint_rules", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert rest in ([], ["echo $?"]), command
    return done.stdout + done.stderr + (f"{done.returncode}\n" if rest else "")


def test_every_session_prints_what_is_shown(blocks: list[Block], tmp_path: Path) -> None:
    ran = 0
    for block in blocks:
        if block.file_name is not None:
            (tmp_path / block.file_name).write_text(block.body, encoding="utf-8")
        if block.language == "console":
            for command, shown in sessions(block):
                assert run(command, tmp_path) == shown, f"$ {command}"
                ran += 1
    assert ran >= 3


@pytest.mark.parametrize("page", PAGES)
def test_python_examples_run(root: Path, page: str, tmp_path: Path) -> None:
    """Each example runs by itself; where the text says that one is wrong, the checker says so, or the example does."""
    examples = [block for block in blocks_of(root / page) if block.language == "python"]
    for block in examples:
        path = tmp_path / (block.file_name or "example.py")
        path.write_text(block.body, encoding="utf-8")
        done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, block.body + done.stderr


def test_python_examples_pass_mypy(root: Path, tmp_path: Path) -> None:
    """Also what is claimed of plans that are generic in their carriers: one that was never prepared does not fit."""
    bundled = ""
    for page in PAGES:
        for number, block in enumerate(block for block in blocks_of(root / page) if block.language == "python"):
            name = f"{Path(page).stem.lower()}_{number}.py"
            (tmp_path / name).write_text(block.body, encoding="utf-8")
            bundled = block.body if "Generic[C]" in block.body else bundled
    (tmp_path / "unprepared.py").write_text(f"{bundled}\nrun(plan_scratch(8))\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary", *tmp_path.glob("*.py")]
    env = {**os.environ, "MYPYPATH": str(root)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    (error,) = done.stdout.splitlines() or [done.stderr]
    assert error.startswith("unprepared.py:"), error
    assert "[arg-type]" in error


def test_configuration_examples_are_well_formed(blocks: list[Block]) -> None:
    configurations = [block for block in blocks if block.language in {"toml", "yaml"}]
    assert {block.language for block in configurations} == {"toml", "yaml"}
    for block in configurations:
        parsed = tomllib.loads(block.body) if block.language == "toml" else yaml.safe_load(block.body)
        assert parsed, block.body


def test_the_hooks_that_it_names_exist(root: Path, blocks: list[Block]) -> None:
    hooks = {hook["id"] for hook in yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    named = {
        hook["id"]
        for block in blocks
        if block.language == "yaml"
        for repository in yaml.safe_load(block.body)["repos"]
        for hook in repository["hooks"]
    }
    assert named
    assert named <= hooks


def test_the_declaration_that_it_shows_is_the_one_of_the_demo(root: Path, blocks: list[Block]) -> None:
    demo = tomllib.loads((root / "demo" / "b12x.toml").read_text(encoding="utf-8"))
    assert demo in [tomllib.loads(block.body) for block in blocks if block.language == "toml"]


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
    from lint_rules.rules import all_rules

    known = {rule.code for rule in all_rules()}
    named = set(re.findall(r"\bOWN0\d\d\b", readme))
    assert known <= named, f"README does not mention {sorted(known - named)}"
    assert named <= known, f"README mentions {sorted(named - known)}, which are no rules"
