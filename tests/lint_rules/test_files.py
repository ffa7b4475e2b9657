from __future__ import annotations

import builtins
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from lint_rules.config import Config, load_config
from lint_rules.files import SourceTree, load_tree


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n", encoding="utf-8")


def load(*paths: Path, config: Config | None = None) -> SourceTree:
    return load_tree(paths, config=config or Config())


def messages(tree: SourceTree) -> list[str]:
    found = [str(problem) for problem in tree.problems]
    assert not any("\n" in each for each in found)
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a marker, so that its root is found from below."""
    root = tmp_path / "project"
    make(root, "pkg/__init__.py", "pkg/plans.py", "pkg/sub/__init__.py", "pkg/sub/stages.py", "tool.py")
    (root / "pyproject.toml").write_text("[tool.carryall]\n", encoding="utf-8")
    return root


# What is read


def test_the_whole_project_is_read_and_the_given_part_is_selected(project: Path) -> None:
    tree = load(project / "pkg" / "sub")
    assert tree.root == project
    assert list(tree.files) == [
        "pkg/__init__.py",
        "pkg/plans.py",
        "pkg/sub/__init__.py",
        "pkg/sub/stages.py",
        "tool.py",
    ]
    assert tree.selected == {"pkg/sub/__init__.py", "pkg/sub/stages.py"}
    assert tree.problems == []


def test_a_file_is_there_with_its_bytes_and_their_digest(project: Path) -> None:
    tree = load(project)
    file = tree.files["tool.py"]
    assert (file.path, file.name, file.data) == (project / "tool.py", "tool.py", b"# tool.py\n")
    (project / "copy.py").write_bytes(b"# tool.py\n")
    again = load(project)
    assert again.files["copy.py"].digest == file.digest != again.files["pkg/plans.py"].digest


def test_without_paths_the_current_folder_is_meant(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "pkg")
    tree = load()
    assert tree.root == project
    assert "tool.py" not in tree.selected
    assert "pkg/plans.py" in tree.selected


def test_a_file_may_be_given_and_needs_no_ending(project: Path) -> None:
    (project / "script").write_text("x = 1\n", encoding="utf-8")
    assert load(project / "script").selected == {"script"}
    assert "script" not in load(project).files


def test_a_path_outside_the_project_is_added_under_its_full_name(project: Path, tmp_path: Path) -> None:
    make(tmp_path, "elsewhere/other.py")
    other = tmp_path / "elsewhere" / "other.py"
    tree = load(project / "tool.py", other)
    assert tree.selected == {"tool.py", other.as_posix()}
    assert tree.root == project


def test_overlapping_paths_give_each_file_once(project: Path) -> None:
    tree = load(project / "pkg" / "sub", project / "pkg", project / "pkg" / "plans.py")
    assert sum(name.endswith("plans.py") for name in tree.files) == 1
    assert tree.selected == {name for name in tree.files if name.startswith("pkg/")}


def test_a_folder_without_python_gives_an_empty_tree(tmp_path: Path) -> None:
    tree = load(tmp_path)
    assert (dict(tree.files), tree.selected, tree.problems) == ({}, frozenset(), [])


# The root


@pytest.mark.parametrize("marker", [".git", "pyproject.toml"])
def test_without_our_table_the_nearest_project_marker_is_the_root(tmp_path: Path, marker: str) -> None:
    make(tmp_path, "outer/a.py", "outer/inner/b.py")
    (tmp_path / "outer" / marker).touch()
    assert load(tmp_path / "outer" / "inner").root == tmp_path / "outer"


def test_our_table_further_up_beats_a_nearer_marker(project: Path) -> None:
    (project / "pkg" / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    assert load(project / "pkg" / "sub").root == project


def test_an_unmarked_folder_is_its_own_root(tmp_path: Path) -> None:
    make(tmp_path, "a/x.py", "b/y.py")
    tree = load(tmp_path / "a")
    assert (tree.root, list(tree.files)) == (tmp_path / "a", ["x.py"])


def test_a_file_of_an_unmarked_package_brings_the_whole_package(tmp_path: Path) -> None:
    make(tmp_path, "top/__init__.py", "top/low/__init__.py", "top/low/x.py", "top/y.py", "other/z.py")
    tree = load(tmp_path / "top" / "low" / "x.py")
    assert tree.root == tmp_path
    assert list(tree.files) == ["top/__init__.py", "top/low/__init__.py", "top/low/x.py", "top/y.py"]
    assert tree.selected == {"top/low/x.py"}


@pytest.mark.parametrize("place", ["build/x", ".venv/lib", "env/lib", "pkg/site-packages/x", "gen/x"])
def test_what_a_walk_of_the_project_skips_is_no_part_of_it_when_named(project: Path, place: str) -> None:
    make(project, f"{place}/plans.py")
    (project / "env").mkdir(exist_ok=True)
    (project / "env" / "pyvenv.cfg").touch()
    tree = load(project / place, config=Config(exclude=("gen",)))
    assert (tree.root, list(tree.files)) == (project / place, ["plans.py"])


def test_a_named_configuration_inside_a_project_marks_a_smaller_one(project: Path) -> None:
    make(project, "cases/one/before/a.py")
    own = project / "cases" / "one" / "own.toml"
    own.write_text("[tool.carryall]\n", encoding="utf-8")
    config = load_config(project, own)
    assert load(project / "cases" / "one" / "before", config=config).root == project / "cases" / "one"


def test_a_named_configuration_elsewhere_marks_nothing(tmp_path: Path) -> None:
    make(tmp_path, "a/x.py", "junk.py")
    own = tmp_path / "own.toml"
    own.write_text("[tool.carryall]\n", encoding="utf-8")
    assert load(tmp_path / "a", config=load_config(tmp_path, own)).root == tmp_path / "a"


def test_imports_may_start_at_the_given_folder_the_root_and_every_folder_of_packages(project: Path) -> None:
    make(project, "src/core/__init__.py", "apps/one/lone.py")
    tree = load(project / "apps" / "one")
    assert tree.import_roots == (project / "apps" / "one", project, project / "src")


def test_imports_never_start_inside_a_package(project: Path) -> None:
    assert load(project / "pkg" / "sub").import_roots == (project,)


# What is skipped


def test_generated_and_foreign_folders_are_skipped(project: Path) -> None:
    make(project, ".hidden/a.py", "pkg/__pycache__/a.py", "node_modules/a.py", "x.egg-info/a.py", "build/a.py")
    make(project, "dist/a.py", "env/lib/a.py", "lib/site-packages/a.py", ".#lock.py")
    (project / "env" / "pyvenv.cfg").touch()
    tree = load(project)
    assert [name for name in tree.files if "pkg" not in name] == ["tool.py"]


def test_a_package_that_is_called_build_is_a_package(project: Path) -> None:
    make(project, "build/__init__.py", "build/a.py")
    assert "build/a.py" in load(project).files


def test_a_named_environment_is_read_with_its_packages(project: Path) -> None:
    make(project, "env/lib/site-packages/dep/__init__.py")
    (project / "env" / "pyvenv.cfg").touch()
    assert list(load(project / "env").files) == ["lib/site-packages/dep/__init__.py"]


@pytest.mark.parametrize(
    ("pattern", "gone"),
    [
        ("stages.py", {"pkg/sub/stages.py"}),
        ("sub", {"pkg/sub/__init__.py", "pkg/sub/stages.py"}),
        ("sub/", {"pkg/sub/__init__.py", "pkg/sub/stages.py"}),
        ("pkg/sub", {"pkg/sub/__init__.py", "pkg/sub/stages.py"}),
        ("pkg/*.py", {"pkg/__init__.py", "pkg/plans.py"}),
        ("pkg/**/*.py", {"pkg/__init__.py", "pkg/plans.py", "pkg/sub/__init__.py", "pkg/sub/stages.py"}),
        ("./tool.p?", {"tool.py"}),
        ("**/stages.py", {"pkg/sub/stages.py"}),
        ("tool", set()),
        ("*.txt", set()),
        ("t.ol.py", set()),
    ],
)
def test_exclude_patterns_work_as_in_a_gitignore_file(project: Path, pattern: str, gone: set[str]) -> None:
    everything = set(load(project).files)
    assert everything - set(load(project, config=Config(exclude=(pattern,))).files) == gone


def test_an_excluded_place_is_read_when_it_is_named(project: Path) -> None:
    tree = load(project / "pkg" / "sub" / "stages.py", config=Config(exclude=("stages.py",)))
    assert tree.selected == {"pkg/sub/stages.py"}


# Bad input


def test_a_missing_path_is_a_problem_and_the_others_are_read(project: Path) -> None:
    tree = load(project / "gone.py", project / "tool.py")
    assert len(messages(tree)) == 1
    assert "gone.py: no such file or folder" in messages(tree)[0]
    assert tree.selected == {"tool.py"}


def test_with_nothing_but_missing_paths_nothing_is_read(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    tree = load(Path("gone"))
    assert (dict(tree.files), messages(tree)) == ({}, ["gone: no such file or folder; check the path"])


def test_a_file_that_vanishes_between_listing_and_reading_is_a_problem(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.open

    def vanish(path: Any, *args: Any, **kwargs: Any) -> Any:
        if str(path).endswith("plans.py"):
            os.unlink(path)
        return real(path, *args, **kwargs)

    monkeypatch.setattr(builtins, "open", vanish)
    tree = load(project)
    assert messages(tree) == ["pkg/plans.py: vanished before it could be read; run again"]
    assert "tool.py" in tree.files


def test_an_unreadable_file_is_a_problem(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.open

    def refuse(path: Any, *args: Any, **kwargs: Any) -> Any:
        if str(path).endswith("plans.py"):
            raise PermissionError(13, "Permission denied", path)
        return real(path, *args, **kwargs)

    monkeypatch.setattr(builtins, "open", refuse)
    tree = load(project)
    assert messages(tree) == ["pkg/plans.py: cannot be read: Permission denied; make it readable or exclude it"]
    assert "tool.py" in tree.files


def test_an_unreadable_folder_is_a_problem(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.scandir

    def refuse(path: str) -> Any:
        if path.endswith("sub"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    tree = load(project)
    assert messages(tree) == ["pkg/sub: unreadable folder: Permission denied; make it readable or exclude it"]
    assert "pkg/plans.py" in tree.files


def test_a_link_loop_is_a_problem_and_each_file_is_read_once(project: Path) -> None:
    (project / "pkg" / "sub" / "up").symlink_to(project)
    tree = load(project)
    assert len(messages(tree)) == 1
    assert messages(tree)[0].startswith("pkg/sub/up: a link loop: it leads back to ")
    assert len(tree.files) == 5


def test_a_link_loop_can_be_excluded(project: Path) -> None:
    (project / "pkg" / "up").symlink_to(project)
    assert load(project, config=Config(exclude=("pkg/up",))).problems == []


def test_links_that_lead_to_each_other_are_a_problem(project: Path) -> None:
    (project / "a.py").symlink_to(project / "b.py")
    (project / "b.py").symlink_to(project / "a.py")
    assert [each.partition(":")[0] for each in messages(load(project))] == ["a.py", "b.py"]


def test_a_link_to_a_folder_beside_is_no_loop_and_real_names_come_first(project: Path) -> None:
    (project / "aaa").symlink_to(project / "pkg")
    tree = load(project)
    assert tree.problems == []
    assert not any(name.startswith("aaa/") for name in tree.files)


def test_a_link_to_a_folder_outside_is_followed(project: Path, tmp_path: Path) -> None:
    make(tmp_path, "outside/plans.py")
    (project / "vendored").symlink_to(tmp_path / "outside")
    assert "vendored/plans.py" in load(project).files


def test_a_link_to_nothing_is_a_problem(project: Path) -> None:
    (project / "lost.py").symlink_to(project / "gone.py")
    assert messages(load(project)) == ["lost.py: a link to nothing; remove it or exclude it"]


def test_a_pipe_is_a_problem_and_is_not_opened(project: Path) -> None:
    os.mkfifo(project / "pipe.py")
    expected = ["pipe.py: not a file but a named pipe; remove it or exclude it"]
    assert messages(load(project)) == expected
    assert messages(load(project / "pipe.py")) == expected


def test_a_socket_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s.py")
        assert messages(load(tmp_path)) == ["s.py: not a file but a socket; remove it or exclude it"]


def test_a_folder_with_a_name_like_a_file_is_a_folder(project: Path) -> None:
    make(project, "odd.py/inner.py")
    assert "odd.py/inner.py" in load(project).files
