"""Changed text back into files: the same encoding, mark, line ends and mode, and all or nothing."""

from __future__ import annotations

import difflib
import hashlib
import os
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING

from lint_rules.findings import Problem
from lint_rules.index.source import source_encoding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from lint_rules.files import SourceFile, SourceTree

__all__ = ["encode", "unified_diff", "with_originals", "with_texts", "write"]


def encode(file: SourceFile, text: str) -> bytes:
    """`text` as the bytes of this file. Raises UnicodeEncodeError if the file's encoding lacks a character."""
    encoding, bom = source_encoding(file.data)
    return bom + text.encode(encoding)


def with_texts(tree: SourceTree, texts: Mapping[str, str]) -> SourceTree:
    """The tree as it will be once the texts are written; nothing is written here."""
    files = dict(tree.files)
    for name, text in texts.items():
        data = encode(files[name], text)
        files[name] = replace(files[name], data=data, digest=hashlib.blake2b(data, digest_size=16).hexdigest())
    return replace(tree, files=files)


def with_originals(tree: SourceTree, before: SourceTree, names: Iterable[str]) -> SourceTree:
    """The tree with these files as they were before."""
    return replace(tree, files={**tree.files, **{name: before.files[name] for name in names}})


def write(before: SourceTree, after: SourceTree) -> dict[str, Problem]:
    """Write what differs between the trees. A file that changed on disk in the meantime is left alone.

    Returns a Problem for each file that could not be written, by name.
    """
    problems: dict[str, Problem] = {}
    for name, file in after.files.items():
        old = before.files[name]
        if old.data == file.data:
            continue
        path = os.path.realpath(file.path)  # through a link, so that the link stays one
        try:
            with open(path, "rb") as stream:
                now = stream.read()
            if now == file.data:
                continue  # the same file under a second name
            if now != old.data:
                problems[name] = Problem(f"{name}: changed while it was checked, so it was not mended; run again")
                continue
            _replace_file(path, file.data)
        except OSError as exc:
            problems[name] = Problem(f"{name}: cannot be written: {exc.strerror or exc}; nothing was changed in it")
    return problems


def _replace_file(path: str, data: bytes) -> None:
    about = os.stat(path)
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".carryall-", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(temporary, about.st_mode & 0o7777)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def unified_diff(before: SourceTree, after: SourceTree, shown: Callable[[str], str] = str) -> str:
    """What `write` would change, in the form that `patch -p1` reads."""
    from lint_rules.index.source import decode

    parts: list[str] = []
    for name, file in after.files.items():
        old = before.files[name]
        if old.data == file.data:
            continue
        label = shown(name)
        rows = difflib.unified_diff(_rows(decode(old.data)), _rows(decode(file.data)), f"a/{label}", f"b/{label}")
        parts += (row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows)
    return "".join(parts)


def _rows(text: str) -> list[str]:
    """Lines by line feed only: what else Python takes for a line end stays in its line, as patch wants it."""
    rows = text.split("\n")
    return [row + "\n" for row in rows[:-1]] + ([rows[-1]] if rows[-1] else [])
