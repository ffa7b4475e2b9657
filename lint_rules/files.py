"""Which files belong to a run, and their bytes: the project around the paths that were given."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lint_rules.config import Config, find_config
from lint_rules.findings import Problem
from lint_rules.walk import Walk, excluder, is_skipped, reason

__all__ = ["SourceFile", "SourceTree", "find_root", "load_tree"]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file as it was when the run began.

    `name` is posix and relative to the root of the tree, or the absolute path of a file outside it. `digest` is a
    hash of `data`.
    """

    path: Path
    name: str
    data: bytes
    digest: str


@dataclass(slots=True)
class SourceTree:
    """All files of a run: those to be reported on (`selected`), and the rest of the project that rules may need.

    `import_roots` are the folders that absolute imports may start from, nearest first. `problems` says which files
    could not be read.
    """

    root: Path
    import_roots: tuple[Path, ...] = ()
    files: dict[str, SourceFile] = field(default_factory=dict)
    selected: frozenset[str] = frozenset()
    problems: list[Problem] = field(default_factory=list)


def find_root(start: Path, config: Config) -> Path | None:
    """The project that `start` (a folder) is in, or None if nothing marks one.

    The nearest `pyproject.toml` with a `[tool.carryall]` marks it, else the nearest `.git` or `pyproject.toml`. A
    configuration file inside such a project, named on the command line, marks a smaller project of its own.
    """
    above = (start, *start.parents)
    if config.path is not None and config.path.name == "pyproject.toml" and config.path.absolute().parent in above:
        return config.path.absolute().parent
    own = find_config(start)
    root = own.parent if own is not None else None
    if root is None:
        root = next((each for each in above if (each / ".git").exists() or (each / "pyproject.toml").is_file()), None)
    if root is not None and config.path is not None:
        home = Path(os.path.abspath(config.path)).parent
        if home in above and root in home.parents:
            return home
    return root


def load_tree(paths: Sequence[Path], *, config: Config) -> SourceTree:
    """Read the project that the paths are in, and the paths themselves.

    Nothing is raised for what cannot be read: it becomes a Problem, and the other files are there.
    """
    problems: list[Problem] = []
    asked = [Path(os.path.abspath(path)) for path in paths] or [Path.cwd()]
    named: list[Path] = []
    for given, path in zip(paths or asked, asked, strict=True):
        if os.path.lexists(path):
            named.append(path)
        else:
            problems.append(Problem(f"{given}: no such file or folder; check the path"))
    if not named:
        return SourceTree(Path.cwd(), problems=problems)
    first = named[0] if named[0].is_dir() else named[0].parent
    excluded = excluder(config.exclude)
    around = find_root(first, config)
    if around is not None and is_skipped(first, around, excluded):
        around = None  # an unpacked wheel below `build`, an environment: inside the folder, but no part of the project
    top = _top_package(first)
    root = around or (top.parent if top is not None else first)
    walk = Walk(root, problems, excluded)
    for path in named:
        walk.add_named(path)
    selected = frozenset(walk.paths)
    walk.add(around or top or first)
    files = _read(walk)
    return SourceTree(
        root=root,
        import_roots=_import_roots(root, named, files),
        files=files,
        selected=frozenset(name for name in selected if name in files),
        problems=problems,
    )


def _top_package(folder: Path) -> Path | None:
    """The outermost package that the folder belongs to."""
    top = None
    for each in (folder, *folder.parents):
        if not (each / "__init__.py").is_file():
            break
        top = each
    return top


def _read(walk: Walk) -> dict[str, SourceFile]:
    files: dict[str, SourceFile] = {}
    for name in sorted(walk.paths):
        path = walk.paths[name]
        try:
            with open(path, "rb", buffering=0) as stream:
                data = stream.readall()
        except FileNotFoundError:
            walk.problem(path, "vanished before it could be read; run again")
        except OSError as exc:
            walk.problem(path, f"cannot be read: {reason(exc)}; make it readable or exclude it")
        else:
            files[name] = SourceFile(Path(path), name, data, hashlib.blake2b(data, digest_size=16).hexdigest())
    return files


def _import_roots(root: Path, named: Iterable[Path], files: dict[str, SourceFile]) -> tuple[Path, ...]:
    """Where absolute imports may start: the given folders, the root, `src`, and every folder that holds a package."""
    roots: dict[Path, None] = {}
    for path in named:
        folder = path if path.is_dir() else path.parent
        while (folder / "__init__.py").is_file() and folder != folder.parent:
            folder = folder.parent
        roots[folder] = None
    roots[root] = None
    if (root / "src").is_dir():
        roots[root / "src"] = None
    packages = {name.rpartition("/")[0] for name in files if name.endswith("/__init__.py")}
    for package in sorted(packages):
        parent = package.rpartition("/")[0]
        if parent not in packages and not (parent == "" and "__init__.py" in files):
            roots[Path(parent or "/") if package.startswith("/") else root / parent] = None
    return tuple(roots)
