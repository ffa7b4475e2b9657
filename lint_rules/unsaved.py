"""The unsaved text of one file, in place of the file on disk: what an editor wants checked."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path

from lint_rules.config.globs import belongs
from lint_rules.config.model import Config
from lint_rules.files import SourceFile, SourceTree, find_root, load_tree
from lint_rules.findings import Problem

__all__ = ["Unsaved", "load_with"]


@dataclass(frozen=True, slots=True)
class Unsaved:
    """A path, whether there is a file or not, and the bytes that it would have."""

    path: Path
    data: bytes


def load_with(unsaved: Unsaved, config: Config) -> tuple[SourceTree, str]:
    """The project around the path with the unsaved text in it, and the name of the file in the tree.

    Only that file is selected; none is if the configuration excludes it, since an editor opens what it likes.
    """
    path = Path(os.path.abspath(unsaved.path))
    root = find_root(path.parent, config) or path.parent
    name = path.relative_to(root).as_posix()
    file = SourceFile(path, name, unsaved.data, hashlib.blake2b(unsaved.data, digest_size=16).hexdigest())
    if not path.parent.is_dir():
        return SourceTree(root, problems=[Problem(f"{unsaved.path}: no such folder; check --stdin-filename")]), name
    if belongs(name, config.exclude):
        return SourceTree(root, (root,), {name: file}), name
    tree = load_tree([path if path.is_file() else path.parent], config=config)
    name = path.relative_to(tree.root).as_posix()
    # In the order that the files have when they are read, which the key of the cache depends on.
    files = dict(sorted({**tree.files, name: replace(file, name=name)}.items()))
    return replace(tree, files=files, selected=frozenset({name})), name
