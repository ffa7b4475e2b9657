"""Which files there are: what is skipped, what is excluded, and links that lead in circles."""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING

from lint_rules.findings import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

__all__ = ["Walk", "excluder", "is_skipped", "reason"]

_NEVER = frozenset({"__pycache__", "node_modules"})
#: Folders of build products, unless they are packages: a package may well be called `build`.
_PRODUCTS = frozenset({"build", "dist"})


class Walk:
    """Collects the paths of a run by name. Each folder is listed once, however many links lead to it."""

    def __init__(self, root: Path, problems: list[Problem], excluded: Callable[[str], bool]) -> None:
        self._prefix = os.path.join(root, "")
        self._problems = problems
        self._excluded = excluded
        self._listed: set[tuple[int, int]] = set()
        self._links: list[tuple[str, bool]] = []
        self._blamed: set[str] = set()
        self.paths: dict[str, str] = {}

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
                self.problem(folder, f"unreadable folder: {reason(exc)}; make it readable or exclude it")
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
                self.problem(entry.path, f"cannot be read: {reason(exc)}")


def _entry_name(entry: os.DirEntry[str]) -> str:
    return entry.name


def reason(exc: OSError) -> str:
    """What the operating system says, without the path."""
    return exc.strerror or str(exc) or type(exc).__name__


def _why_no_file(path: str) -> str:
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return "a link to nothing; remove it or exclude it"
    except OSError as exc:
        return f"cannot be read: {reason(exc)}; remove it or exclude it"  # ELOOP: links that lead to each other
    kind = "a named pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    return f"not a file but {kind}; remove it or exclude it"


def is_skipped(folder: Path, root: Path, excluded: Callable[[str], bool]) -> bool:
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


def excluder(patterns: Iterable[str]) -> Callable[[str], bool]:
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
