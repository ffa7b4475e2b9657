"""The baseline: findings that were there before, so that a large project can start with what is new.

A file of JSON with an entry a line, so that changes of it can be read and merged. An entry is one field of a finding
with its fingerprint (see `fingerprint`); `count` says how often that occurs.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lint_rules.findings import Place
from lint_rules.fingerprint import Fingerprint, fingerprints
from lint_rules.parts import part_of
from lint_rules.report.excerpt import Excerpts

if TYPE_CHECKING:
    from lint_rules.files import SourceTree
    from lint_rules.findings import Finding

__all__ = ["DEFAULT_NAME", "Baseline", "BaselineError", "Stale", "count_findings", "read_baseline", "write_baseline"]

DEFAULT_NAME = "carryall-baseline.json"
_VERSION = 1
_TEXT_KEYS = ("path", "code", "class", "function", "field", "context")


class BaselineError(Exception):
    """The file cannot be used as a baseline. `place` says where; the message is one line with what to do."""

    def __init__(self, message: str, place: Place) -> None:
        super().__init__(f"{place}: {message}")
        self.message: str = message
        self.place: Place = place


@dataclass(frozen=True, slots=True)
class Stale:
    """An entry for which there is no finding any more, or fewer than it says: `missing` of them."""

    entry: Fingerprint
    missing: int
    place: Place

    def __str__(self) -> str:
        what = f"`{self.entry.field}` of {self.entry.class_name}" if self.entry.field else self.entry.class_name
        where = f"{self.entry.path}, in {self.entry.function}" if self.entry.function else self.entry.path
        times = f" ({self.missing} times)" if self.missing > 1 else ""
        about = f"{self.entry.code} {what}".rstrip()
        return f"{self.place}: stale entry: {about} ({where}) is not found any more{times}"


@dataclass(frozen=True, slots=True)
class Baseline:
    """Known findings; `lines` says where each entry stands in the file `name`."""

    name: str
    counts: Mapping[Fingerprint, int] = field(default_factory=dict)
    lines: Mapping[Fingerprint, int] = field(default_factory=dict)

    def subtract(self, findings: Iterable[Finding], tree: SourceTree) -> tuple[list[Finding], list[Finding]]:
        """Split findings, in order, into the new ones and those that the baseline has.

        Of a finding with a known and a new field each part goes its way. Where there are more findings than the entry
        counts, the last of them are new.
        """
        left = Counter(self.counts)
        paths = {each.path for each in left}
        excerpts = Excerpts(tree)
        new: list[Finding] = []
        known: list[Finding] = []
        for finding in findings:
            marks = fingerprints(finding, excerpts) if finding.place.path in paths else {}
            hidden = []
            for name, mark in marks.items():
                if left[mark] > 0:
                    left[mark] -= 1
                    hidden.append(name)
            if not hidden:
                new.append(finding)
            elif len(hidden) == len(marks):
                known.append(finding)
            else:
                new.append(part_of(finding, [name for name in marks if name not in hidden], "in the baseline"))
                known.append(part_of(finding, hidden))
        return new, known

    def stale(
        self, findings: Iterable[Finding], tree: SourceTree, ran: Callable[[str, str], bool]
    ) -> tuple[Stale, ...]:
        """Entries that more is said in than is found, as far as their rules were run on their files.

        `findings` are all of the run, known ones included.
        """
        found = count_findings(findings, tree)
        return tuple(
            Stale(entry, number - found[entry], Place(self.name, self.lines.get(entry, 1)))
            for entry, number in self.counts.items()
            if number > found[entry] and ran(entry.code, entry.path) and _was_looked_at(entry.path, tree)
        )


def _was_looked_at(name: str, tree: SourceTree) -> bool:
    return name in tree.selected or not (tree.root / name).exists()


def count_findings(findings: Iterable[Finding], tree: SourceTree) -> Counter[Fingerprint]:
    """How often each fingerprint occurs."""
    excerpts = Excerpts(tree)
    return Counter(mark for finding in findings for mark in fingerprints(finding, excerpts).values())


def read_baseline(path: Path, name: str) -> Baseline:
    """The baseline in a file that messages call `name`. Raises BaselineError."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as exc:
        message = "no such baseline; write one with `carryall baseline`"
        raise BaselineError(message, Place(name, 1)) from exc
    except OSError as exc:
        raise BaselineError(f"cannot be read: {exc.strerror or exc}", Place(name, 1)) from exc
    except UnicodeDecodeError as exc:
        raise BaselineError("not UTF-8; write it anew with `carryall baseline`", Place(name, 1)) from exc
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as exc:
        line = getattr(exc, "lineno", 1)
        message = f"no baseline: {getattr(exc, 'msg', exc)}; write it anew with `carryall baseline`"
        raise BaselineError(message, Place(name, line)) from exc
    if not isinstance(document, dict) or not isinstance(document.get("findings"), list):
        raise BaselineError("no baseline: it has no list of findings", Place(name, 1))
    if document.get("version") != _VERSION:
        message = f"a baseline of version {document.get('version')!r}, where {_VERSION} is known; write it anew"
        raise BaselineError(message, Place(name, 1))
    numbers = [at for at, line in enumerate(text.split("\n"), 1) if re.match(r'\s*\{"path"', line)]
    counts: dict[Fingerprint, int] = {}
    lines: dict[Fingerprint, int] = {}
    for index, each in enumerate(document["findings"]):
        line = numbers[index] if len(numbers) == len(document["findings"]) else 1
        entry, number = _entry(each, Place(name, line))
        counts[entry] = counts.get(entry, 0) + number  # a merge may leave one entry twice
        lines.setdefault(entry, line)
    return Baseline(name, counts, lines)


def _entry(data: object, place: Place) -> tuple[Fingerprint, int]:
    if not isinstance(data, dict) or not all(isinstance(data.get(key), str) for key in _TEXT_KEYS):
        raise BaselineError(f"an entry needs the texts {', '.join(_TEXT_KEYS)}", place)
    number = data.get("count", 1)
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise BaselineError(f"'count' must be a positive number, not {number!r}", place)
    return Fingerprint(*(data[key] for key in _TEXT_KEYS)), number


def write_baseline(path: Path, counts: Mapping[Fingerprint, int]) -> None:
    """Write the entries, sorted. Raises OSError."""
    rows = []
    for entry, number in sorted(counts.items()):
        values = dict(zip(_TEXT_KEYS, asdict(entry).values(), strict=True))
        rows.append("    " + json.dumps({**values, "count": number}, ensure_ascii=False))
    body = ",\n".join(rows)
    listed = f"[\n{body}\n  ]" if rows else "[]"
    text = f'{{\n  "version": {_VERSION},\n  "findings": {listed}\n}}\n'
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
