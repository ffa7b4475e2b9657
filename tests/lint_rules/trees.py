"""Source trees in memory, for tests that need no folder."""

from __future__ import annotations

import hashlib
from pathlib import Path

from lint_rules.files import SourceFile, SourceTree

__all__ = ["tree_of"]


def tree_of(files: dict[str, str | bytes], root: Path = Path("/project")) -> SourceTree:
    """A tree with these files, all of them selected."""
    made = {}
    for name, content in sorted(files.items()):
        data = content.encode() if isinstance(content, str) else content
        made[name] = SourceFile(root / name, name, data, hashlib.blake2b(data, digest_size=16).hexdigest())
    return SourceTree(root, (root,), made, frozenset(made))
