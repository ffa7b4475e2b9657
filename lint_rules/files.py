"""Which files belong to a run, and their bytes: the project around the paths that were given."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lint_rules.config import Config, find_config
from lint_rules.findings import Problem

__all__ = ["SourceFile", "SourceTree", "find_root", "load_tree"]

_NEVER = frozenset({"__pycache__", "node_modules"})
#: Folders of build products, unless they are packages: a package may well be called `build`.
_PRODUCTS = frozenset({"build", "dist"})


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
    excluded = _excluder(config.exclude)
    around = find_root(first, config)
    if around is not None and _is_skipped(first, around, excluded):
        around = None  # an unpacked wheel below `build`, an environment: inside the folder, but no part of the project
    top = _top_package(first)
    root = around or (top.parent if top is not None else first)
    walk = _Walk(root, problems, excluded)
    for path in named:
        walk.add_named(path)
    walk.selected = frozenset(walk.paths)
    walk.add(around or top or first)
    files = walk.read()
    return SourceTree(
        root=root,
        import_roots=_import_roots(root, named, files),
        files=files,
        selected=frozenset(name for name in walk.selected if name in files),
        problems=problems,
    )


class _Walk:
    """Collects the paths of a run by name. Each folder is listed once, however many links lead to it."""

    def __init__(self, root: Path, problems: list[Problem], excluded: Callable[[str], bool]) -> None:
        self._root = root
        self._prefix = os.path.join(root, "")
        self._problems = problems
        self._excluded = excluded
        self._listed: set[tuple[int, int]] = set()
        self._links: list[tuple[str, bool]] = []
        self._blamed: set[str] = set()
        self.paths: dict[str, str] = {}
        self.selected: frozenset[str] = frozenset()

    def name(self, path: str) -> str:
        path = path.removeprefix(self._prefix)
        return path.replace(os.sep, "/") if os.sep != "/" else path

    def problem(self, path: str, message: str) -> None:
        if path not in self._blamed:
            self._blamed.add(path)
            self._problems.append(Problem(f"{self.name(path)}: {message}"))

    def add_named(self, path: Path) -> None:
        """A path from the command line: its own name excludes nothing, nor do those of the folders above it."""
        if path.is_dir():
            excluded = self._excluded
            if any(excluded(self.name(str(each))) for each in (path, *path.parents)):
                self._excluded = _nothing
            self.add(path, inside_environment=_in_environment(path))
            self._excluded = excluded
        elif path.is_file():
            self.paths[self.name(str(path))] = str(path)
        else:
            self.problem(str(path), _why_no_file(str(path)))

    def add(self, top: Path, *, inside_environment: bool = False) -> None:
        self._list(str(top), inside_environment)
        while self._links:  # after all real folders, so that a file is known by its real name first
            link, inside = self._links.pop(0)
            self._follow(link, inside)

    def _follow(self, link: str, inside: bool) -> None:
        real = os.path.realpath(link)
        above = os.path.realpath(os.path.dirname(link))
        if os.path.join(above, "").startswith(os.path.join(real, "")):
            self.problem(link, f"a link loop: it leads back to {real}; remove the link or exclude it")
        else:
            self._list(link, inside)

    def _list(self, top: str, inside_environment: bool) -> None:
        folders = [top]
        while folders:
            folder = folders.pop()
            try:
                about = os.stat(folder)
                if (about.st_dev, about.st_ino) in self._listed:
                    continue
                self._listed.add((about.st_dev, about.st_ino))
                with os.scandir(folder) as listing:
                    entries = sorted(listing, key=_entry_name)
            except OSError as exc:
                self.problem(folder, f"unreadable folder: {_reason(exc)}; make it readable or exclude it")
                continue
            names = {entry.name for entry in entries}
            if folder != top:
                if "pyvenv.cfg" in names:
                    continue
                if os.path.basename(folder) in _PRODUCTS and "__init__.py" not in names:
                    continue
            for entry in entries:
                self._entry(entry, folders, inside_environment)

    def _entry(self, entry: os.DirEntry[str], folders: list[str], inside_environment: bool) -> None:
        name = entry.name
        is_source = name.endswith(".py")
        if _is_skipped_name(name):
            return
        if name == "site-packages" and not inside_environment:
            return
        try:
            if entry.is_dir():
                if self._excluded(self.name(entry.path)):
                    return
                if entry.is_symlink():
                    self._links.append((entry.path, inside_environment))
                else:
                    folders.append(entry.path)
            elif is_source and not self._excluded(self.name(entry.path)):
                if entry.is_file():
                    self.paths.setdefault(self.name(entry.path), entry.path)
                else:
                    self.problem(entry.path, _why_no_file(entry.path))
        except OSError as exc:
            if is_source:
                self.problem(entry.path, f"cannot be read: {_reason(exc)}")

    def read(self) -> dict[str, SourceFile]:
        files: dict[str, SourceFile] = {}
        for name in sorted(self.paths):
            path = self.paths[name]
            try:
                with open(path, "rb", buffering=0) as stream:
                    data = stream.readall()
            except FileNotFoundError:
                self.problem(path, "vanished before it could be read; run again")
            except OSError as exc:
                self.problem(path, f"cannot be read: {_reason(exc)}; make it readable or exclude it")
            else:
                files[name] = SourceFile(Path(path), name, data, hashlib.blake2b(data, digest_size=16).hexdigest())
        return files


def _entry_name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _reason(exc: OSError) -> str:
    return exc.strerror or str(exc) or type(exc).__name__


def _why_no_file(path: str) -> str:
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return "a link to nothing; remove it or exclude it"
    except OSError as exc:
        return f"cannot be read: {_reason(exc)}; remove it or exclude it"  # ELOOP: links that lead to each other
    kind = "a named pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    return f"not a file but {kind}; remove it or exclude it"


def _top_package(folder: Path) -> Path | None:
    """The outermost package that the folder belongs to."""
    top = None
    while (folder / "__init__.py").is_file():
        top, folder = folder, folder.parent
    return top


def _is_skipped(folder: Path, root: Path, excluded: Callable[[str], bool]) -> bool:
    """Whether a walk of the root would not come to this folder."""
    if root not in folder.parents:
        return False
    inner = [each for each in (folder, *folder.parents) if root in each.parents]
    return any(
        _is_skipped_name(each.name)
        or each.name == "site-packages"
        or (each.name in _PRODUCTS and not (each / "__init__.py").is_file())
        or (each / "pyvenv.cfg").is_file()
        or excluded(each.relative_to(root).as_posix())
        for each in inner
    )


def _is_skipped_name(name: str) -> bool:
    return name.startswith(".") or name in _NEVER or name.endswith(".egg-info")


def _in_environment(path: Path) -> bool:
    return any(each.name == "site-packages" or (each / "pyvenv.cfg").is_file() for each in (path, *path.parents))


def _nothing(name: str) -> bool:
    return False


def _excluder(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Whether a name is excluded: as in a gitignore file, a pattern without a slash fits at any depth."""
    parts = [_translate(pattern) for pattern in patterns if pattern.strip("/")]
    if not parts:
        return _nothing
    matches = re.compile("|".join(parts)).fullmatch
    return lambda name: matches(name) is not None


def _translate(pattern: str) -> str:
    pattern = pattern.removeprefix("./").rstrip("/")
    anywhere = "/" not in pattern
    text = pattern.lstrip("/")
    out = ["(?:.*/)?"] if anywhere else []
    at = 0
    while at < len(text):
        if text.startswith("**/", at):
            out.append("(?:.*/)?")
            at += 3
        elif text.startswith("**", at):
            out.append(".*")
            at += 2
        else:
            char = text[at]
            out.append("[^/]*" if char == "*" else "[^/]" if char == "?" else re.escape(char))
            at += 1
    return "".join(out)


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
