from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest

from lint_rules import cache as module
from lint_rules.cache import FOLDER, KEPT, Cache, Outcome
from lint_rules.config import Config
from lint_rules.files import SourceTree
from lint_rules.findings import Edit, Finding, Fix, Place, Problem
from tests.lint_rules.trees import tree_of

PLACE = Place("b/é.py", 3, 7)
OUTCOME = Outcome(
    findings=(
        Finding(
            "OWN001",
            PLACE,
            "b.é.Plan",
            ("x", "y"),
            'not "carried"',
            (Place("b/é.py", 1), PLACE),
            (
                Fix("carry", "safe", (Edit(PLACE, "x", "plan.x"), Edit(PLACE, "y", "y=y", old="y"))),
                Fix("drop", "display"),
            ),
        ),
        Finding("OWN002", PLACE, "", (), "bare"),
    ),
    problems=(Problem("nowhere"), Problem("here", PLACE)),
    plans=2,
    files=3,
)


@pytest.fixture
def tree(tmp_path: Path) -> SourceTree:
    return tree_of({"a.py": "x = 1\n", "b.py": "y = 2\n"}, tmp_path)


def entries(root: Path) -> list[Path]:
    return sorted((root / FOLDER).glob("*.json"))


def test_what_was_stored_comes_back_equal(tree: SourceTree) -> None:
    assert Cache(tree, Config()).load() is None
    Cache(tree, Config()).store(OUTCOME)
    assert Cache(tree, Config()).load() == OUTCOME


def test_the_folder_is_kept_out_of_version_control_and_backups(tree: SourceTree) -> None:
    Cache(tree, Config()).store(OUTCOME)
    assert (tree.root / FOLDER / ".gitignore").read_text(encoding="utf-8") == "*\n"
    tag = (tree.root / FOLDER / "CACHEDIR.TAG").read_text(encoding="utf-8")
    assert tag.startswith("Signature: 8a477f597d28d172789f06886806bc55\n")


def test_any_change_is_a_miss(tree: SourceTree) -> None:
    Cache(tree, Config()).store(OUTCOME)
    part = tree_of({"a.py": "x = 1\n", "b.py": "y = 2\n"}, tree.root)
    part.selected = frozenset({"a.py"})
    moved = tree_of({"a.py": "x = 1\n", "b.py": "y = 2\n"}, tree.root)
    moved.import_roots = (tree.root, tree.root / "src")
    for other in (
        tree_of({"a.py": "x = 2\n", "b.py": "y = 2\n"}, tree.root),
        tree_of({"a.py": "x = 1\n", "c.py": "y = 2\n"}, tree.root),
        tree_of({"a.py": "x = 1\n"}, tree.root),
        part,
        moved,
    ):
        assert Cache(other, Config()).load() is None
    assert Cache(tree, Config(select=("OWN001",))).load() is None


def test_a_change_of_the_checker_itself_is_a_miss(tree: SourceTree, monkeypatch: pytest.MonkeyPatch) -> None:
    Cache(tree, Config()).store(OUTCOME)
    monkeypatch.setattr(module, "_code_digest", lambda: "other")
    assert Cache(tree, Config()).load() is None


def test_a_project_that_was_moved_keeps_its_results(tree: SourceTree, tmp_path: Path) -> None:
    Cache(tree, Config()).store(OUTCOME)
    other = tmp_path / "moved"
    other.mkdir()
    (tmp_path / FOLDER).rename(other / FOLDER)
    assert Cache(tree_of({"a.py": "x = 1\n", "b.py": "y = 2\n"}, other), Config()).load() == OUTCOME


@pytest.mark.parametrize("keep", [0, 1, 30, 200])
def test_a_shortened_entry_is_a_miss(tree: SourceTree, keep: int) -> None:
    Cache(tree, Config()).store(OUTCOME)
    (path,) = entries(tree.root)
    path.write_bytes(path.read_bytes()[:keep])
    assert Cache(tree, Config()).load() is None


def test_an_entry_with_one_changed_byte_is_a_miss(tree: SourceTree) -> None:
    Cache(tree, Config()).store(OUTCOME)
    (path,) = entries(tree.root)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"OWN001", b"OWN004"))
    assert Cache(tree, Config()).load() is None


@pytest.mark.parametrize("body", ["[]", "{}", "null", '{"findings": [[1]], "problems": [], "plans": 1, "files": 1}'])
def test_an_entry_of_another_form_is_a_miss(tree: SourceTree, body: str) -> None:
    Cache(tree, Config()).store(OUTCOME)
    (path,) = entries(tree.root)
    path.write_bytes(module._hash(body.encode()).encode() + b"\n" + json.dumps(json.loads(body)).encode())
    assert Cache(tree, Config()).load() is None


def test_a_folder_that_cannot_be_made_is_no_error(tree: SourceTree) -> None:
    (tree.root / FOLDER).write_text("a file is in the way", encoding="utf-8")
    Cache(tree, Config()).store(OUTCOME)
    assert Cache(tree, Config()).load() is None


def test_a_folder_that_cannot_be_written_to_is_no_error(tree: SourceTree, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    Cache(tree, Config()).store(OUTCOME)
    assert Cache(tree, Config()).load() is None


def test_an_interrupted_write_leaves_nothing_behind(tree: SourceTree, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    Cache(tree, Config()).store(OUTCOME)
    assert sorted(path.name for path in (tree.root / FOLDER).iterdir()) == [".gitignore", "CACHEDIR.TAG"]


def test_only_the_latest_results_are_kept(tmp_path: Path) -> None:
    trees = [tree_of({"a.py": f"x = {number}\n"}, tmp_path) for number in range(KEPT + 3)]
    for age, each in enumerate(trees):
        cache = Cache(each, Config())
        cache.store(OUTCOME)
        os.utime(cache._path, (age, age))
        Cache(trees[0], Config()).load()  # being used keeps it
    assert len(entries(tmp_path)) == KEPT
    assert Cache(trees[0], Config()).load() == OUTCOME
    assert Cache(trees[1], Config()).load() is None
    assert Cache(trees[-1], Config()).load() == OUTCOME
