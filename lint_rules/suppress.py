"""Suppressions: comments that say why a finding is no mistake.

    return CoolPlan(plan.rows)  # carryall: ignore[OWN001:vent, OWN004] -- a sealed loop has no vent

The comment stands on the first line of the finding's call or statement, or alone on the line above. A code may name one
field (`OWN001:vent`), else it covers all. `until=2027-01-31` before the `--` ends it after that day.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lint_rules.comments import CommentTokens, replacing
from lint_rules.findings import Edit, Finding, Fix, Place, Safety
from lint_rules.hygiene import EXPIRED, HYGIENE, NO_REASON, UNUSED, Hygiene
from lint_rules.parts import part_of

if TYPE_CHECKING:
    import datetime as dt

    from lint_rules.files import SourceFile, SourceTree

__all__ = [
    "EXPIRED",
    "HYGIENE",
    "NO_REASON",
    "UNUSED",
    "Hygiene",
    "Suppressed",
    "Suppression",
    "apply_suppressions",
    "sort_out",
]

_COMMENT = re.compile(r"(?:^|(?<=\s))#\s*carryall:\s*ignore\b(?P<rest>.*)", re.DOTALL)
_REST = re.compile(r"\s*\[(?P<codes>[^\]]*)\](?P<options>.*?)(?:--(?P<reason>.*))?\Z", re.DOTALL)
_CODE = re.compile(r"(?P<code>[A-Z]+\d+)(?::(?P<field>[^\W\d]\w*))?\Z")
_UNTIL = re.compile(r"until=(\d{4})-(\d\d)-(\d\d)\Z")


@dataclass(frozen=True, slots=True)
class Suppression:
    """One readable comment: what it covers, in pairs of a code and a field (None for all fields), as written."""

    place: Place
    covers: tuple[tuple[str, str | None], ...]
    reason: str
    until: dt.date | None = None

    def hides(self, finding: Finding, name: str | None) -> bool:
        """Whether the finding is covered, as far as this field of it goes."""
        return (finding.code, None) in self.covers or (finding.code, name) in self.covers


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A finding, or the part of one, that a comment hides."""

    finding: Finding
    by: Suppression


def apply_suppressions(findings: Iterable[Finding], tree: SourceTree) -> tuple[list[Finding], list[Finding]]:
    """Split findings into those to report and those that are suppressed; both sorted by place.

    A finding about several fields of which some are covered is split. Comments in selected files that do not
    work (no reason, unreadable, expired) are reported as findings of their own.
    """
    kept, suppressed = sort_out(findings, tree)
    return kept, [each.finding for each in suppressed]


def sort_out(
    findings: Iterable[Finding], tree: SourceTree, ran: Callable[[str, str], bool] | None = None
) -> tuple[list[Finding], list[Suppressed]]:
    """As `apply_suppressions`, with the comment that hides each of the suppressed findings.

    `ran(code, name)` says whether the rule was run in full on that file; what is suppressed there and not found is
    then reported as unused. Without it nothing is said about unused comments.
    """
    findings = list(findings)
    kept: list[Finding] = []
    suppressed: list[Suppressed] = []
    by_file: dict[str, _FileComments | None] = {}
    wanted = {*tree.selected, *(finding.place.path for finding in findings)}
    for name in sorted(wanted):
        file = tree.files.get(name)
        comments = _read(file) if file is not None and b"carryall:" in file.data else None
        by_file[name] = comments
        if comments is not None and name in tree.selected:
            kept += comments.mistakes
    used: set[tuple[Place, str, str | None]] = set()
    for finding in findings:
        comments = by_file.get(finding.place.path)
        covering = comments.at(finding.place.line) if comments is not None else []
        used |= {
            (each.place, code, field)
            for each in covering
            for code, field in each.covers
            if code == finding.code and (field is None or field in finding.fields)
        }
        left, hidden = _split(finding, covering)
        if left is not None:
            kept.append(left)
        if hidden is not None:
            suppressed.append(hidden)
    if ran is not None:
        for name in sorted(tree.selected):
            comments = by_file[name]
            for each in comments.all() if comments is not None else ():
                idle = [pair for pair in each.covers if (each.place, *pair) not in used and ran(pair[0], name)]
                if idle and comments is not None:
                    kept.append(_unused(each, idle, comments.text))
    return sorted(kept, key=_order), sorted(suppressed, key=lambda each: _order(each.finding))


def _unused(suppression: Suppression, idle: list[tuple[str, str | None]], text: str) -> Finding:
    remaining = [pair for pair in suppression.covers if pair not in idle]
    names = ", ".join(map(_written, idle))
    if not remaining:
        message = f"suppression of {names} hides nothing here; take it away"
        return _mistake(suppression.place, text, message, UNUSED, "safe")
    until = f" until={suppression.until}" if suppression.until is not None else ""
    comment = f"# carryall: ignore[{', '.join(map(_written, remaining))}]{until} -- {suppression.reason}"
    message = f"suppression of {names} hides nothing here; keep {', '.join(map(_written, remaining))} only"
    fix = Fix(f"keep what is needed: {comment}", "safe", (_edit(suppression.place, text, comment),))
    return Finding(UNUSED, suppression.place, "", (), message, fixes=(fix,))


def _written(pair: tuple[str, str | None]) -> str:
    code, field = pair
    return code if field is None else f"{code}:{field}"


def _order(finding: Finding) -> tuple[Place, str, str]:
    return finding.place, finding.code, finding.class_name


def _split(finding: Finding, covering: list[Suppression]) -> tuple[Finding | None, Suppressed | None]:
    for each in covering:
        if each.hides(finding, None):
            return None, Suppressed(finding, each)
    hidden = {name: each for each in covering for name in finding.fields if each.hides(finding, name)}
    if not hidden:
        return finding, None
    by = next(iter(hidden.values()))
    if len(hidden) == len(finding.fields):
        return None, Suppressed(finding, by)
    left = [name for name in finding.fields if name not in hidden]
    return part_of(finding, left, "suppressed here"), Suppressed(part_of(finding, hidden), by)


@dataclass(slots=True)
class _FileComments:
    """The suppressions of one file by the lines that they are for."""

    text: str
    by_line: dict[int, list[Suppression]]
    statement_starts: dict[int, int]
    mistakes: list[Finding]

    def all(self) -> list[Suppression]:
        return [each for those in self.by_line.values() for each in those]

    def at(self, line: int) -> list[Suppression]:
        start = self.statement_starts.get(line, line)
        lines = (line,) if start == line else (start, line)
        return [each for number in lines for each in self.by_line.get(number, [])]


def _read(file: SourceFile) -> _FileComments | None:
    from lint_rules.index.source import SourceError, decode

    try:
        text = decode(file.data)
    except SourceError:
        return None
    if not re.search(r"#\s*carryall:\s*ignore\b", text):
        return None
    tokens = CommentTokens(text)
    result = _FileComments(text, {}, tokens.statement_starts, [])
    for line, column, comment in tokens.comments:
        match = _COMMENT.search(comment)
        if match is None:
            continue
        parsed = _parse(match["rest"], Place(file.name, line, column + match.start() + 1), text)
        if isinstance(parsed, Finding):
            result.mistakes.append(parsed)
            continue
        target = line
        while target in tokens.comment_only:  # alone on its line: it is for the code below, past other comments
            target += 1
        result.by_line.setdefault(target, []).append(parsed)
    return result


def _parse(rest: str, place: Place, text: str) -> Suppression | Finding:
    match = _REST.match(rest)
    if match is None:
        return _mistake(place, text, "suppression without codes; write ignore[OWN001:field] -- reason")
    covers: list[tuple[str, str | None]] = []
    for part in match["codes"].split(","):
        code = _CODE.match(part.strip())
        if code is None:
            return _mistake(
                place, text, f"suppression of {part.strip()!r}, which is no rule code; write OWN001 or OWN001:field"
            )
        covers.append((code["code"], code["field"]))
    until: dt.date | None = None
    for option in match["options"].split():
        given = _UNTIL.match(option)
        until = _date(given) if given else None
        if until is None:
            return _mistake(
                place, text, f"suppression with {option!r}; only until=YYYY-MM-DD and -- reason may follow the codes"
            )
    reason = (match["reason"] or "").strip()
    if not reason:
        message = "suppression without a reason, so it does not count; add `-- reason`"
        return _mistake(place, text, message, safety="safe")
    if until is not None and until < _today():
        message = f"suppression expired on {until}; mend the finding, or give a new date"
        return _mistake(place, text, message, EXPIRED, "safe")
    return Suppression(place, tuple(dict.fromkeys(covers)), reason, until)


def _date(match: re.Match[str]) -> dt.date | None:
    import datetime as dt

    try:
        return dt.date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None


def _today() -> dt.date:
    import datetime as dt

    return dt.datetime.now(tz=dt.UTC).date()


def _mistake(place: Place, text: str, message: str, code: str = NO_REASON, safety: Safety = "unsafe") -> Finding:
    """A finding about a comment. To take away one that cannot be read is for a person: it may be a mere slip."""
    fix = Fix("take the comment away", safety, (_edit(place, text, ""),))
    return Finding(code, place, "", (), message, fixes=(fix,))


def _edit(place: Place, text: str, comment: str) -> Edit:
    column, old, new = replacing(text, place.line, place.column, comment)
    return Edit(Place(place.path, place.line, column), "", new, old=old)
