"""The published bug through the plugin: b12x with four marks and one decorator, and with the declaration alone."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from demo.wheel import DECLARATION, unpack
from tests.ownership.mypy_plugin.checking import ROOT

PREPARATION = "b12x/moe/fused_moe/_preparation.py"
IMPLEMENTATION = "b12x/moe/fused_moe/_impl.py"
FIELDS = (
    "_prewarmed_fused_launches",
    "_prewarmed_topk_sum_launches",
    "_mixed_trellis_launches",
    "_prewarmed_route_pack_launches",
)
BUG = "        def materialize(selection, device):\n            caps = caps_for"


@pytest.fixture(scope="module")
def unpacked(b12x_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = unpack(b12x_wheel, tmp_path_factory.mktemp("b12x") / "unpacked")
    (folder / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\n", encoding="utf-8")
    return folder


def mark(folder: Path) -> None:
    """Four marks and one decorator, and the imports that they need."""
    path = folder / IMPLEMENTATION
    text = path.read_text(encoding="utf-8")
    before, found, after = text.partition("\nclass TPMoEScratchPlan:\n")
    assert found
    for field in FIELDS:
        line = next(line for line in after.splitlines() if line.startswith(f"    {field}: "))
        name, _, annotation = line.partition(": ")
        kind, equals, default = annotation.partition(" = ")
        assert equals
        after = after.replace(line, f"{name}: Transferable[{kind}] = {default}", 1)
    text = before + found + after
    path.write_text(_imported(text, "from ownership import Transferable"), encoding="utf-8")
    path = folder / PREPARATION
    text = path.read_text(encoding="utf-8")
    assert text.count(BUG) == 1
    text = text.replace(BUG, f"        @materializer\n{BUG}")
    path.write_text(_imported(text, "from ownership import materializer"), encoding="utf-8")


def _imported(text: str, statement: str) -> str:
    before, found, after = text.partition("from __future__ import annotations\n")
    assert found
    return f"{before}{found}{statement}\n{after}"


def types(folder: Path, *arguments: str) -> tuple[int, list[dict[str, Any]]]:
    command = [sys.executable, "-m", "lint_rules", "types", "b12x", "--format", "json", *arguments]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "", "HOME": str(folder)}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode in {0, 1}, done.stderr
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def line_of_the_copy(folder: Path) -> int:
    text = (folder / PREPARATION).read_text(encoding="utf-8")
    return text[: text.index("scratch = replace(\n                plan_tp_moe_scratch(")].count("\n") + 1


def the_one(folder: Path, *arguments: str) -> dict[str, Any]:
    status, findings = types(folder, *arguments)
    assert (status, len(findings)) == (1, 1), findings
    return findings[0]


def test_the_declaration_alone_gives_exactly_the_bug(unpacked: Path) -> None:
    finding = the_one(unpacked, "--config", str(DECLARATION))
    assert (finding["code"], finding["path"], finding["line"]) == (
        "ownership-drop",
        PREPARATION,
        line_of_the_copy(unpacked),
    )
    assert FIELDS[3] in finding["message"]


def test_four_marks_and_one_decorator_give_exactly_the_bug(unpacked: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(unpacked, tmp_path / "marked")
    mark(folder)
    (folder / "pyproject.toml").write_text("[tool.carryall]\n", encoding="utf-8")
    finding = the_one(folder)
    assert (finding["code"], finding["path"], finding["line"]) == (
        "ownership-drop",
        PREPARATION,
        line_of_the_copy(folder),
    )
    assert FIELDS[3] in finding["message"]
