"""The result of a whole run, kept under a key of everything that it depends on.

One small file a run: a warm run reads and hashes the sources, which it must, and parses none of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lint_rules import plugins
from lint_rules.findings import Edit, Finding, Fix, Place, Problem

if TYPE_CHECKING:
    from lint_rules.config import Config
    from lint_rules.files import SourceTree

__all__ = ["FOLDER", "KEPT", "Cache", "Outcome"]

FOLDER = ".carryall_cache"
#: How many results are kept; the ones that were used last.
KEPT = 16

_TAG = """\
Signature: 8a477f597d28d172789f06886806bc55
# This folder is a cache of carryall. It can be deleted at any time.
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an analysis said, before suppressions: the part of it that is reported."""

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    plans: int
    files: int
    lasting: bool = field(default=True, compare=False)


class Cache:
    """Results below the root of a tree. Nothing is raised: what cannot be read or written is a miss."""

    def __init__(self, tree: SourceTree, config: Config) -> None:
        self._folder: Path = tree.root / FOLDER
        self._path: Path = self._folder / f"{_key(tree, config)}.json"

    def load(self) -> Outcome | None:
        """The stored result of the same run, or None."""
        try:
            digest, _, body = self._path.read_bytes().partition(b"\n")
            if digest.decode("ascii") != _hash(body):
                return None
            outcome = _outcome_from(json.loads(body))
            os.utime(self._path)  # used now: the last one to be dropped
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            return None
        return outcome

    def store(self, outcome: Outcome) -> None:
        """Keep the result, if the folder can be written to."""
        body = json.dumps(_outcome_as(outcome), separators=(",", ":")).encode()
        try:
            self._folder.mkdir(exist_ok=True)
            if not (self._folder / ".gitignore").exists():
                (self._folder / ".gitignore").write_text("*\n", encoding="utf-8")
                (self._folder / "CACHEDIR.TAG").write_text(_TAG, encoding="utf-8")
            handle, temporary = tempfile.mkstemp(dir=self._folder, suffix=".tmp")
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(_hash(body).encode() + b"\n" + body)
                os.replace(temporary, self._path)
            except BaseException:
                os.unlink(temporary)
                raise
            self._prune()
        except OSError:
            return  # a read-only checkout is checked all the same

    def _prune(self) -> None:
        aged = []
        for path in self._folder.glob("*.json"):
            try:
                aged.append((path.stat().st_mtime_ns, path))
            except FileNotFoundError:
                continue  # another run was faster
        for _, path in sorted(aged)[:-KEPT]:
            path.unlink(missing_ok=True)


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _key(tree: SourceTree, config: Config) -> str:
    """Everything that a result depends on; the place of the tree is no part of it."""
    roots = [os.path.relpath(each, tree.root) for each in tree.import_roots]
    parts = [_code_digest(), plugins.digest(), sys.version, config.digest(), *roots, ""]
    parts += [f"{file.digest} {file.name}" for file in tree.files.values()]
    parts += ["", *sorted(tree.selected)]
    return _hash("\n".join(parts).encode("utf-8", "surrogatepass"))


@cache
def _code_digest() -> str:
    """The checker itself: its version says too little in a checkout, where rules change between two runs."""
    digest = hashlib.blake2b(digest_size=16)
    home = Path(__file__).parent
    kinds = home.parent / "ownership" / "kinds.py"
    for path in [*sorted(home.rglob("*.py")), *([kinds] if kinds.is_file() else [])]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _place_as(place: Place) -> list[Any]:
    return [place.path, place.line, place.column]


def _place_from(data: list[Any]) -> Place:
    path, line, column = data
    return Place(str(path), int(line), int(column))


def _outcome_as(outcome: Outcome) -> dict[str, Any]:
    return {
        "plans": outcome.plans,
        "files": outcome.files,
        "problems": [[each.message, _place_as(each.place) if each.place else None] for each in outcome.problems],
        "findings": [_finding_as(each) for each in outcome.findings],
    }


def _finding_as(finding: Finding) -> list[Any]:
    fixes = [
        [
            fix.title,
            fix.safety,
            [[_place_as(e.place), e.keyword, e.expression, e.callee, e.statement, e.old] for e in fix.edits],
        ]
        for fix in finding.fixes
    ]
    declared = [_place_as(each) for each in finding.declared_at]
    return [
        finding.code,
        _place_as(finding.place),
        finding.class_name,
        list(finding.fields),
        finding.message,
        declared,
        fixes,
    ]


def _outcome_from(data: dict[str, Any]) -> Outcome:
    return Outcome(
        findings=tuple(_finding_from(each) for each in data["findings"]),
        problems=tuple(Problem(text, _place_from(where) if where else None) for text, where in data["problems"]),
        plans=int(data["plans"]),
        files=int(data["files"]),
    )


def _finding_from(data: list[Any]) -> Finding:
    code, place, class_name, fields, message, declared, fixes = data
    return Finding(
        code=code,
        place=_place_from(place),
        class_name=class_name,
        fields=tuple(fields),
        message=message,
        declared_at=tuple(_place_from(each) for each in declared),
        fixes=tuple(
            Fix(title, safety, tuple(Edit(_place_from(where), *rest) for where, *rest in edits))
            for title, safety, edits in fixes
        ),
    )
