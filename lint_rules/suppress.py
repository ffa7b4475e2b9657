"""Suppressions: comments that say why a finding is no mistake.

    return CoolPlan(plan.rows)  # carryall: ignore[OWN001:vent, OWN004] -- a sealed loop has no vent

The comment stands on the first line of the finding's call or statement, or alone on the line above. A code may name one
field (`OWN001:vent`), else it covers all. `until=2027-01-31` before the `--` ends it after that day.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lint_rules.findings import Finding, Fix, Place

if TYPE_CHECKING:
    import datetime as dt
    import tokenize

    from lint_rules.files import SourceFile, SourceTree

__all__ = ["EXPIRED", "HYGIENE", "NO_REASON", "Hygiene", "Suppression", "apply_suppressions"]

#: Rule codes of the suppressions' own hygiene: without a reason or unreadable, and expired.
NO_REASON = "OWN900"
EXPIRED = "OWN901"


@dataclass(frozen=True, slots=True)
class Hygiene:
    """What is to be said about one of the codes above."""

    name: str
    summary: str
    explanation: str
    bad: str
    good: str


HYGIENE = {
    NO_REASON: Hygiene(
        "unexplained",
        "a suppression has no reason or cannot be read, so that it does not count",
        "Whoever meets the comment next year must be able to tell whether it still holds. A comment that looks like a\n"
        "suppression and is none would hide nothing, and nobody would notice.",
        "return CoolPlan(plan.rows)  # carryall: ignore[OWN001:vent]",
        "return CoolPlan(plan.rows)  # carryall: ignore[OWN001:vent] -- a sealed loop has no vent",
    ),
    EXPIRED: Hygiene(
        "expired",
        "the date of a suppression has passed, so that it does not count any longer",
        "`until=YYYY-MM-DD` is the last day on which the suppression holds.",
        "return CoolPlan(plan.rows)  # carryall: ignore[OWN001:vent] until=2020-01-31 -- vents come in January",
        "return CoolPlan(plan.rows, vent=plan.vent)",
    ),
}

_COMMENT = re.compile(r"(?:^|(?<=\s))#\s*carryall:\s*ignore\b(?P<rest>.*)", re.DOTALL)
_REST = re.compile(r"\s*\[(?P<codes>[^\]]*)\](?P<options>.*?)(?:--(?P<reason>.*))?\Z", re.DOTALL)
_CODE = re.compile(r"(?P<code>[A-Z]+\d+)(?::(?P<field>[^\W\d]\w*))?\Z")
_UNTIL = re.compile(r"until=(\d{4})-(\d\d)-(\d\d)\Z")


@dataclass(frozen=True, slots=True)
class Suppression:
    """One readable comment: what it covers, in pairs of a code and a field (None for all fields)."""

    place: Place
    covers: frozenset[tuple[str, str | None]]
    reason: str
    until: dt.date | None = None

    def hides(self, finding: Finding, name: str | None) -> bool:
        """Whether the finding is covered, as far as this field of it goes."""
        return (finding.code, None) in self.covers or (finding.code, name) in self.covers


def apply_suppressions(findings: Iterable[Finding], tree: SourceTree) -> tuple[list[Finding], list[Finding]]:
    """Split findings into those to report and those that are suppressed; both sorted by place.

    A finding about several fields of which some are covered is split. Comments in selected files that do not
    work (no reason, unreadable, expired) are reported as findings of their own.
    """
    findings = list(findings)
    kept: list[Finding] = []
    suppressed: list[Finding] = []
    by_file: dict[str, _FileComments | None] = {}
    wanted = {*tree.selected, *(finding.place.path for finding in findings)}
    for name in sorted(wanted):
        file = tree.files.get(name)
        comments = _read(file) if file is not None and b"carryall:" in file.data else None
        by_file[name] = comments
        if comments is not None and name in tree.selected:
            kept += comments.mistakes
    for finding in findings:
        comments = by_file.get(finding.place.path)
        covering = comments.at(finding.place.line) if comments is not None else []
        left, hidden = _split(finding, covering)
        if left is not None:
            kept.append(left)
        if hidden is not None:
            suppressed.append(hidden)
    return sorted(kept, key=_order), sorted(suppressed, key=_order)


def _order(finding: Finding) -> tuple[Place, str, str]:
    return finding.place, finding.code, finding.class_name


def _split(finding: Finding, covering: list[Suppression]) -> tuple[Finding | None, Finding | None]:
    if not covering:
        return finding, None
    if any(each.hides(finding, None) for each in covering):
        return None, finding
    hidden = {name for name in finding.fields if any(each.hides(finding, name) for each in covering)}
    if not hidden:
        return finding, None
    if len(hidden) == len(finding.fields):
        return None, finding
    return _only(finding, hidden, keep=False), _only(finding, hidden, keep=True)


def _only(finding: Finding, hidden: set[str], *, keep: bool) -> Finding:
    """The part of the finding that is about the hidden fields (`keep`), or about the others."""
    indices = [at for at, name in enumerate(finding.fields) if (name in hidden) is keep]
    fields = tuple(finding.fields[at] for at in indices)
    gone = {name for name in finding.fields if name not in fields}
    gone |= {name.lstrip("_") for name in gone} - set(fields)  # attrs strips the underscores of keywords
    declared = finding.declared_at
    message = finding.message
    if not keep:
        message = f"{message} (suppressed here: {', '.join(name for name in finding.fields if name in hidden)})"
    return replace(
        finding,
        fields=fields,
        message=message,
        declared_at=tuple(declared[at] for at in indices) if len(declared) == len(finding.fields) else declared,
        fixes=tuple(_without(fix, gone) for fix in finding.fixes if not fix.edits or _without(fix, gone).edits),
    )


def _without(fix: Fix, keywords: set[str]) -> Fix:
    return replace(fix, edits=tuple(edit for edit in fix.edits if edit.keyword not in keywords))


@dataclass(slots=True)
class _FileComments:
    """The suppressions of one file by the lines that they are for."""

    by_line: dict[int, list[Suppression]]
    statement_starts: dict[int, int]
    mistakes: list[Finding]

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
    tokens = _Tokens(text)
    result = _FileComments({}, tokens.statement_starts, [])
    for line, column, comment in tokens.comments:
        match = _COMMENT.search(comment)
        if match is None:
            continue
        parsed = _parse(match["rest"], Place(file.name, line, column + match.start() + 1))
        if isinstance(parsed, Finding):
            result.mistakes.append(parsed)
            continue
        target = line
        while target in tokens.comment_only:  # alone on its line: it is for the code below, past other comments
            target += 1
        result.by_line.setdefault(target, []).append(parsed)
    return result


def _parse(rest: str, place: Place) -> Suppression | Finding:
    match = _REST.match(rest)
    if match is None:
        return _mistake(place, "suppression without codes; write ignore[OWN001:field] -- reason")
    covers: set[tuple[str, str | None]] = set()
    for part in match["codes"].split(","):
        code = _CODE.match(part.strip())
        if code is None:
            return _mistake(
                place, f"suppression of {part.strip()!r}, which is no rule code; write OWN001 or OWN001:field"
            )
        covers.add((code["code"], code["field"]))
    until: dt.date | None = None
    for option in match["options"].split():
        given = _UNTIL.match(option)
        until = _date(given) if given else None
        if until is None:
            return _mistake(
                place, f"suppression with {option!r}; only until=YYYY-MM-DD and -- reason may follow the codes"
            )
    reason = (match["reason"] or "").strip()
    if not reason:
        return _mistake(place, "suppression without a reason, so it does not count; add `-- reason`")
    if until is not None and until < _today():
        return _mistake(place, f"suppression expired on {until}; mend the finding, or give a new date", EXPIRED)
    return Suppression(place, frozenset(covers), reason, until)


def _date(match: re.Match[str]) -> dt.date | None:
    import datetime as dt

    try:
        return dt.date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None


def _today() -> dt.date:
    import datetime as dt

    return dt.datetime.now(tz=dt.UTC).date()


def _mistake(place: Place, message: str, code: str = NO_REASON) -> Finding:
    return Finding(code, place, "", (), message)


class _Tokens:
    """What the tokenizer says about comments and statements; strings never count, whatever they hold."""

    def __init__(self, text: str) -> None:
        import tokenize

        self.comments: list[tuple[int, int, str]] = []
        self.comment_only: set[int] = set()
        #: The first line of its logical line, for every line that is not its own first.
        self.statement_starts: dict[int, int] = {}
        silent = {tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
        start: int | None = None
        code_lines: set[int] = set()
        for token in _tokens(text):
            first, last = token.start[0], token.end[0]
            if token.type == tokenize.COMMENT:
                self.comments.append((first, token.start[1], token.string))
                self.comment_only.add(first)
            if token.type in silent:
                continue
            if token.type == tokenize.NEWLINE:
                if start is not None:
                    self.statement_starts.update(dict.fromkeys(range(start + 1, first + 1), start))
                start = None
                continue
            code_lines.update(range(first, last + 1))
            if start is None:
                start = first
        self.comment_only -= code_lines


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    import io
    import tokenize

    try:
        yield from tokenize.generate_tokens(io.StringIO(text, newline=None).readline)
    except (tokenize.TokenError, SyntaxError):
        return  # the file is no Python, which is reported elsewhere; what was read so far counts
