"""Contents that are known to be valid are not tested again; all others are."""

from __future__ import annotations

from pathlib import Path

import pytest

from lint_rules import engine, valid
from lint_rules.config import Config
from lint_rules.engine import analyze
from lint_rules.valid import NAME, load_valid, store_valid
from tests.lint_rules.trees import tree_of


def test_what_was_stored_is_loaded(tmp_path: Path) -> None:
    assert load_valid(tmp_path) == set()
    store_valid(tmp_path, {"ab", "cd"}, {"ab"})
    assert load_valid(tmp_path) == {"ab", "cd"}


def test_of_too_many_those_of_the_present_tree_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(valid, "_KEPT", 1)
    store_valid(tmp_path, {"aa", "bb", "cc", "dd"}, {"cc", "dd"})
    assert load_valid(tmp_path) == {"aa", "cc", "dd"}


def test_a_changed_file_another_python_or_no_folder_means_nothing_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_valid(tmp_path / "gone", {"ab"}, ())
    assert load_valid(tmp_path / "gone") == set()
    store_valid(tmp_path, {"ab"}, ())
    text = (tmp_path / NAME).read_text(encoding="ascii")
    (tmp_path / NAME).write_text(text.replace("ab", "ef"), encoding="ascii")
    assert load_valid(tmp_path) == set()
    (tmp_path / NAME).write_bytes(b"\xff")
    assert load_valid(tmp_path) == set()
    store_valid(tmp_path, {"ab"}, ())
    monkeypatch.setattr("sys.version", "another")
    assert load_valid(tmp_path) == set()


def test_only_new_contents_are_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def test(text: str) -> bool:
        asked.append(text)
        return True

    monkeypatch.setattr(engine, "has_valid_syntax", test)
    known: set[str] = set()
    analyze(tree_of({"a.py": "x = 1\n", "b.py": "x = 2\n"}), Config(), valid=known)
    analyze(tree_of({"a.py": "x = 1\n", "b.py": "x = 3\n", "c.py": "x = 2\n"}), Config(), valid=known)
    assert asked == ["x = 1\n", "x = 2\n", "x = 3\n"]


def test_what_is_no_python_is_told_every_time() -> None:
    known: set[str] = set()
    tree = tree_of({"a.py": "x = (\n", "b.py": b"\xff", "c.py": "x = 1\n"})
    for _ in range(2):
        assert [str(problem.place) for problem in analyze(tree, Config(), valid=known).problems] == ["a.py:1", "b.py:1"]
    assert known == {tree.files["c.py"].digest}


def test_where_only_the_bytes_were_looked_at_nothing_is_known() -> None:
    known: set[str] = set()
    analyze(tree_of({"a.py": "x = (\n"}), Config(parse_all=False), valid=known)
    assert known == set()
