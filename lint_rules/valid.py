"""Which contents are known to be valid Python: kept by their hash, so that one changed file costs one test.

The test of all files is the larger part of a cold run, and depends on nothing but the content.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["NAME", "load_valid", "store_valid"]

NAME = "valid"
#: Contents that are kept beside those of the present tree, such as those of another branch.
_KEPT = 20_000


def load_valid(folder: Path) -> set[str]:
    """The hashes kept in the folder of a cache; none where they cannot be read, or another Python has written them."""
    try:
        head, _, body = (folder / NAME).read_text(encoding="ascii").partition("\n")
    except (OSError, ValueError):
        return set()
    return set(body.split()) if head == _head(body) else set()


def store_valid(folder: Path, valid: Collection[str], present: Collection[str]) -> None:
    """Keep the hashes, those of the present tree first. What cannot be written is found out again next time."""
    here = sorted(digest for digest in valid if digest in present)
    others = sorted(digest for digest in valid if digest not in present)
    body = "\n".join([*here, *others[:_KEPT]])
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="ascii") as stream:
                stream.write(f"{_head(body)}\n{body}")
            os.replace(temporary, folder / NAME)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError:
        return


def _head(body: str) -> str:
    """A check of the body, and of the Python whose parser was asked."""
    text = f"{sys.version}\n{body}"
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
