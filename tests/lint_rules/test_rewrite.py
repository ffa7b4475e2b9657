from __future__ import annotations

import builtins
import codecs
import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lint_rules.config import Config
from lint_rules.files import SourceTree, load_tree
from lint_rules.index.source import decode
from lint_rules.rewrite import unified_diff, with_originals, with_texts, write
from tests.lint_rules.trees import tree_of


def on_disk(folder: Path, **files: bytes) -> SourceTree:
    for name, data in files.items():
        (folder / f"{name}.py").write_bytes(data)
    return load_tree([folder], config=Config())


@pytest.mark.parametrize(
    "data",
    [
        b"x = 1\n",
        b"x = 1\r\ny = 2\r\n",
        codecs.BOM_UTF8 + "x = 'é'\n".encode(),
        "# coding: latin-1\nx = 'é'\n".encode("latin-1"),
        b"x = 1",
    ],
)
def test_only_what_changed_changes_in_the_bytes(tmp_path: Path, data: bytes) -> None:
    before = on_disk(tmp_path, a=data)
    text = decode(data).replace("x =", "x = 2 +")
    after = with_texts(before, {"a.py": text})
    assert (tmp_path / "a.py").read_bytes() == data
    assert write(before, after) == {}
    assert (tmp_path / "a.py").read_bytes() == data.replace(b"x =", b"x = 2 +")


def test_the_tree_after_a_change_has_new_digests_and_the_old_tree_is_as_it_was() -> None:
    before = tree_of({"a.py": "x\n", "b.py": "y\n"})
    after = with_texts(before, {"a.py": "z\n"})
    assert before.files["a.py"].data == b"x\n"
    assert after.files["a.py"].digest == tree_of({"a.py": "z\n"}).files["a.py"].digest
    assert after.files["b.py"] is before.files["b.py"]
    assert with_originals(after, before, ["a.py"]).files == before.files


def test_the_mode_is_kept(tmp_path: Path) -> None:
    before = on_disk(tmp_path, a=b"x\n")
    (tmp_path / "a.py").chmod(0o754)
    write(before, with_texts(before, {"a.py": "y\n"}))
    assert stat.S_IMODE((tmp_path / "a.py").stat().st_mode) == 0o754


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.py").write_bytes(b"x\n")
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "a.py").symlink_to(tmp_path / "real" / "a.py")
    before = load_tree([tmp_path / "p"], config=Config())
    assert write(before, with_texts(before, {"a.py": "y\n"})) == {}
    assert (tmp_path / "p" / "a.py").is_symlink()
    assert (tmp_path / "real" / "a.py").read_bytes() == b"y\n"


def test_a_file_under_two_names_is_written_once(tmp_path: Path) -> None:
    (tmp_path / "b.py").symlink_to(tmp_path / "a.py")
    before = on_disk(tmp_path, a=b"x\n")
    assert write(before, with_texts(before, {"a.py": "y\n", "b.py": "y\n"})) == {}
    assert (tmp_path / "a.py").read_bytes() == b"y\n"


def test_a_file_that_changed_in_the_meantime_is_left_alone(tmp_path: Path) -> None:
    before = on_disk(tmp_path, a=b"x\n", b=b"x\n")
    (tmp_path / "a.py").write_bytes(b"edited\n")
    failed = write(before, with_texts(before, {"a.py": "y\n", "b.py": "y\n"}))
    assert list(failed) == ["a.py"]
    assert "changed while it was checked" in str(failed["a.py"])
    assert (tmp_path / "a.py").read_bytes() == b"edited\n"
    assert (tmp_path / "b.py").read_bytes() == b"y\n"


def test_a_file_that_cannot_be_written_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = on_disk(tmp_path, a=b"x\n", b=b"x\n")
    real = builtins.open

    def refuse(path: Any, *args: Any, **kwargs: Any) -> Any:
        if str(path).endswith("a.py"):
            raise PermissionError(13, "Permission denied", path)
        return real(path, *args, **kwargs)

    monkeypatch.setattr(builtins, "open", refuse)
    failed = write(before, with_texts(before, {"a.py": "y\n", "b.py": "y\n"}))
    assert [str(each) for each in failed.values()] == [
        "a.py: cannot be written: Permission denied; nothing was changed in it"
    ]


def test_a_write_that_fails_half_way_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = on_disk(tmp_path, a=b"x\n")

    def fail(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    assert list(write(before, with_texts(before, {"a.py": "y\n"}))) == ["a.py"]
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.py", b"x\n")]


@pytest.mark.parametrize("text", ["a\nb\nc\n", "a\nb\nc", "a\r\nb\r\nc\r\n", "a\n\x0cb\nc\u2028d\n"])
def test_patch_turns_the_old_text_into_the_new_one(tmp_path: Path, text: str) -> None:
    if shutil.which("patch") is None:
        pytest.skip("needs the program patch")
    before = on_disk(tmp_path, a=text.encode())
    after = with_texts(before, {"a.py": text.replace("b", "B")})
    diff = unified_diff(before, after)
    assert diff.startswith("--- a/a.py\n+++ b/a.py\n@@ ")
    subprocess.run(
        ["patch", "-p1", "--binary", "--silent"], input=diff.encode(), cwd=tmp_path, check=True, capture_output=True
    )
    assert (tmp_path / "a.py").read_bytes() == after.files["a.py"].data


def test_a_last_line_without_an_end_is_marked_in_the_diff() -> None:
    before = tree_of({"a.py": "x"})
    diff = unified_diff(before, with_texts(before, {"a.py": "y"}), lambda name: f"sub/{name}")
    assert diff.splitlines() == [
        "--- a/sub/a.py",
        "+++ b/sub/a.py",
        "@@ -1 +1 @@",
        "-x",
        "\\ No newline at end of file",
        "+y",
        "\\ No newline at end of file",
    ]
