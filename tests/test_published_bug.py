"""The published bug: b12x 1.5.1 forgets one of four carriers when it materializes a plan.

`b12x/moe/fused_moe/_preparation.py` plans the scratch again and puts the compiled launchers back with `replace`, all
but `_prewarmed_route_pack_launches`. The wheel is the one of the registry, unmodified.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from demo.published_bug import carryall
from demo.wheel import unpack

PREPARATION = "b12x/moe/fused_moe/_preparation.py"
IMPLEMENTATION = "b12x/moe/fused_moe/_impl.py"
FIELD = "_prewarmed_route_pack_launches"

DECLARATION = """\
[[tool.carryall.plan]]
class = "b12x.moe.fused_moe._impl.TPMoEScratchPlan"
transferable = [
    "_prewarmed_fused_launches",
    "_prewarmed_topk_sum_launches",
    "_mixed_trellis_launches",
    "_prewarmed_route_pack_launches",
]
"""

LAST_KEYWORD = "                _mixed_trellis_launches=programs.mixed_trellis_launches,\n            )\n"
MENDED = LAST_KEYWORD.replace(")\n", f"    {FIELD}=programs.route_pack_launches,\n            )\n")


@pytest.fixture(scope="module")
def unpacked(b12x_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content, with a declaration file beside it."""
    folder = tmp_path_factory.mktemp("b12x")
    (folder / "declaration.toml").write_text(DECLARATION, encoding="utf-8")
    return unpack(b12x_wheel, folder / "unpacked")


def check(folder: Path) -> tuple[int, list[dict[str, Any]], str]:
    done = carryall(folder, "check", "--config", "../declaration.toml", "--format", "json", "--no-cache")
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def line_of_the_copy(text: str) -> int:
    """The line of the one `replace(` that puts the launchers back."""
    before, found, _ = text.partition("scratch = replace(\n                plan_tp_moe_scratch(")
    assert found
    return before.count("\n") + 1


def line_of_the_field(text: str) -> int:
    before, found, _ = text.partition(f"    {FIELD}: object | None = field(")
    assert found
    return before.count("\n") + 1


def test_the_declaration_finds_exactly_the_one_line(unpacked: Path) -> None:
    status, findings, stderr = check(unpacked)
    assert (status, len(findings)) == (1, 1), (findings, stderr)
    finding = findings[0]
    assert finding["code"] == "OWN001"
    assert finding["path"] == PREPARATION
    assert finding["line"] == line_of_the_copy((unpacked / PREPARATION).read_text(encoding="utf-8"))
    assert finding["fields"] == [FIELD]
    assert finding["class"] == "b12x.moe.fused_moe._impl.TPMoEScratchPlan"
    declared = line_of_the_field((unpacked / IMPLEMENTATION).read_text(encoding="utf-8"))
    assert finding["declared_at"] == [{"field": FIELD, "path": IMPLEMENTATION, "line": declared}]
    assert FIELD in finding["message"]


def test_the_place_is_found_when_only_the_folder_of_the_class_is_named(unpacked: Path) -> None:
    done = carryall(unpacked, "check", "--config", "../declaration.toml", "--format", "json", IMPLEMENTATION)
    paths = [json.loads(line)["path"] for line in done.stdout.splitlines()]
    assert (done.returncode, paths) == (1, [PREPARATION]), done.stderr


def test_a_keyword_that_is_none_on_purpose_is_no_drop(unpacked: Path) -> None:
    """`TPMoEScratchPlan.bind` passes `fused_launch=None`; nothing of that file is reported."""
    assert "fused_launch=None" in (unpacked / IMPLEMENTATION).read_text(encoding="utf-8").replace(" ", "")
    _, findings, _ = check(unpacked)
    assert IMPLEMENTATION not in [finding["path"] for finding in findings]


def test_the_missing_keyword_mends_it(unpacked: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(unpacked, tmp_path / "mended")
    (tmp_path / "declaration.toml").write_text(DECLARATION, encoding="utf-8")
    text = (copy / PREPARATION).read_text(encoding="utf-8")
    assert text.count(LAST_KEYWORD) == 1
    (copy / PREPARATION).write_text(text.replace(LAST_KEYWORD, MENDED), encoding="utf-8")
    assert check(copy) == (0, [], "")


def test_audit_suggests_that_line_first_and_no_more_than_can_be_read(unpacked: Path) -> None:
    done = carryall(unpacked, "audit", "--format", "json")
    suggestions = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert 1 <= len(suggestions) <= 40
    first = suggestions[0]
    assert (first["code"], first["path"]) == ("OWN001", PREPARATION)
    assert first["line"] == line_of_the_copy((unpacked / PREPARATION).read_text(encoding="utf-8"))
    assert first["fields"] == [FIELD]
    assert first["reason"]


def test_with_nothing_declared_it_says_so_in_one_line(unpacked: Path) -> None:
    done = carryall(unpacked, "check")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1
    assert "declared" in done.stdout


def test_a_field_that_is_gone_is_an_error_that_names_it(unpacked: Path, tmp_path: Path) -> None:
    stale = tmp_path / "stale.toml"
    stale.write_text(DECLARATION.replace("_mixed_trellis_launches", "_long_gone"), encoding="utf-8")
    done = carryall(unpacked, "check", "--config", str(stale))
    assert done.returncode == 2
    assert "_long_gone" in done.stderr
