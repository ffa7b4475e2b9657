"""Applies the fixes that findings offer: a keyword more in a call, a statement more, a text in place of another.

The call is found with `ast`, which is quick; only its own text goes through LibCST, which keeps what is not touched.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lint_rules.index.source import SourceError, decode, parse
from lint_rules.rewrite import encode

if TYPE_CHECKING:
    import libcst as cst

    from lint_rules.files import SourceTree
    from lint_rules.findings import Edit, Finding, Fix

__all__ = ["Changes", "applicable_fix", "apply_fixes"]

_NEWLINE = re.compile(r"\r\n|\r|\n")
#: Callees whose keywords are fields, to choose between calls that start at one place.
_BUILDERS = frozenset({"replace", "evolve", "assoc", "_replace", "__replace__", "_make", "cls"})
#: Callees that no field can be given to, whatever a finding says about the object that they are given.
_NO_FIELDS = frozenset({"setattr", "__setattr__", "getattr", "copy", "deepcopy", "model_copy", "vars", "asdict"})


@dataclass(frozen=True, slots=True)
class Changes:
    """New texts by file name, and the findings whose fix is in them."""

    texts: dict[str, str]
    fixed: tuple[Finding, ...]


class _InapplicableError(Exception):
    """The call is not there, or cannot take the keyword."""


def applicable_fix(finding: Finding, *, unsafe: bool) -> Fix | None:
    """The first fix of the finding that a machine may apply."""
    allowed = {"safe", "unsafe"} if unsafe else {"safe"}
    return next((fix for fix in finding.fixes if fix.edits and fix.safety in allowed), None)


def apply_fixes(tree: SourceTree, findings: Iterable[Finding], *, unsafe: bool) -> Changes:
    """Apply one fix of each finding that has one, each as a whole or not at all; nothing is written.

    A fix whose calls are gone, already take the keyword, or would no longer parse is left out.
    """
    drafts: dict[str, _Draft] = {}
    fixed: list[Finding] = []
    for finding in findings:
        fix = applicable_fix(finding, unsafe=unsafe)
        if fix is None:
            continue
        names = dict.fromkeys(edit.place.path for edit in fix.edits)
        try:
            for name in names:
                if name not in drafts:
                    drafts[name] = _Draft.of(tree, name)
            trial = {name: drafts[name].copy() for name in names}
            for edit in fix.edits:
                trial[edit.place.path].apply(edit)
            for name, draft in trial.items():
                draft.check(tree, name)
        except (_InapplicableError, SourceError):
            continue
        drafts.update(trial)
        fixed.append(finding)
    return Changes({name: draft.text for name, draft in drafts.items() if draft.moves}, tuple(fixed))


@dataclass(slots=True)
class _Draft:
    """A text while it is edited, and how places of the original text are found in it."""

    text: str
    starts: list[int]
    #: (start, end, growth): between them something was inserted, behind them all moved by `growth`.
    moves: list[tuple[int, int, int]] = field(default_factory=list)

    @classmethod
    def of(cls, tree: SourceTree, name: str) -> _Draft:
        file = tree.files.get(name)
        if file is None:
            raise _InapplicableError
        text = decode(file.data)
        return cls(text, [0, *(match.end() for match in _NEWLINE.finditer(text))])

    def copy(self) -> _Draft:
        return _Draft(self.text, self.starts, [*self.moves])

    def check(self, tree: SourceTree, name: str) -> None:
        parse(self.text, name)
        try:
            encode(tree.files[name], self.text)
        except UnicodeEncodeError as exc:
            raise _InapplicableError from exc

    def apply(self, edit: Edit) -> None:
        if not 0 < edit.place.line <= len(self.starts):
            raise _InapplicableError
        at = self._now(self.starts[edit.place.line - 1] + edit.place.column - 1)
        if edit.old:
            end = at + len(edit.old)
            if self.text[at:end] != edit.old:
                raise _InapplicableError
            self.text = self.text[:at] + edit.expression + self.text[end:]
            self.moves.append((at, end, len(edit.expression) - len(edit.old)))
            return
        if edit.statement:
            end = _line_end(self.text, at, edit)
            inserted = _statement_lines(self.text, at, edit)
            if self.text.startswith(inserted, end):
                raise _InapplicableError  # it stands there already
            self.text = self.text[:end] + inserted + self.text[end:]
            self.moves.append((end, end, len(inserted)))
            return
        for start, end in _calls_at(self.text, at, edit):
            old = self.text[start:end]
            new = _with_keyword(old, edit)
            self.text = self.text[:start] + new + self.text[end:]
            same_head = _common_prefix(old, new)
            same_tail = _common_prefix(old[same_head:][::-1], new[same_head:][::-1])
            self.moves.append((start + same_head, end - same_tail, len(new) - len(old)))
            return
        raise _InapplicableError

    def _now(self, offset: int) -> int:
        for start, end, growth in self.moves:
            if start < offset < end:
                raise _InapplicableError
            if offset >= end:
                offset += growth
        return offset


def _line_end(text: str, offset: int, edit: Edit) -> int:
    """Where the last line of the statement at `offset` ends; nothing but a comment may follow the statement there."""
    starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
    line = bisect_right(starts, offset)
    column = len(text[starts[line - 1] : offset].encode("utf-8", "surrogatepass"))
    for node in ast.walk(parse(text, edit.place.path)):
        if isinstance(node, ast.stmt) and node.lineno == line and node.col_offset == column:
            end = _end(text, starts, node)
            rest = re.match(r"[ \t]*(?:#[^\r\n]*)?(?=[\r\n]|\Z)", text[end:])
            if rest is not None and not text[starts[line - 1] : offset].strip():
                return end + rest.end()
    raise _InapplicableError


def _statement_lines(text: str, offset: int, edit: Edit) -> str:
    """The new statement with the line end before it and the indentation of its neighbour."""
    found = _NEWLINE.search(text)
    indent = text[text.rfind("\n", 0, offset) + 1 : offset]
    return (found.group() if found is not None else "\n") + indent + edit.expression


def _common_prefix(one: Sequence[str], other: Sequence[str]) -> int:
    length = min(len(one), len(other))
    return next((at for at in range(length) if one[at] != other[at]), length)


def _calls_at(text: str, offset: int, edit: Edit) -> list[tuple[int, int]]:
    """The extent of the call that the edit is for, as a list of one; empty if there is none or no plain choice."""
    starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
    line = bisect_right(starts, offset)
    column = len(text[starts[line - 1] : offset].encode("utf-8", "surrogatepass"))
    calls = [
        node
        for node in ast.walk(parse(text, edit.place.path))
        if isinstance(node, ast.Call) and node.lineno == line and node.col_offset == column
    ]
    calls = [call for call in calls if _last_name(call.func) not in _NO_FIELDS]
    if edit.callee:
        calls = [call for call in calls if _last_name(call.func) == edit.callee]
    elif len(calls) > 1:
        calls = [call for call in calls if _builds(_last_name(call.func))]
    # `ast.walk` gives the outermost call of a chain first, the one whose value the others only lead to.
    return [(offset, _end(text, starts, call)) for call in calls[:1]]


def _end(text: str, starts: list[int], node: ast.expr | ast.stmt) -> int:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    start = starts[node.end_lineno - 1]
    row = text[start : start + node.end_col_offset]  # no shorter than the wanted part: a character is a byte or more
    return start + len(row.encode("utf-8", "surrogatepass")[: node.end_col_offset].decode("utf-8", "surrogatepass"))


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _builds(name: str) -> bool:
    return name in _BUILDERS or name.lstrip("_")[:1].isupper()


def _with_keyword(call_text: str, edit: Edit) -> str:
    """The text of the call with the keyword in it."""
    import libcst as cst

    newlines = set(_NEWLINE.findall(call_text))
    newline = newlines.pop() if len(newlines) == 1 else "\n"
    try:
        # In parentheses, as the call may span lines only thanks to brackets around it.
        call = cst.parse_expression("(" + call_text.replace(newline, "\n") + ")")
        value = cst.parse_expression(edit.expression)
    except (cst.ParserSyntaxError, RecursionError) as exc:
        raise _InapplicableError from exc
    if not isinstance(call, cst.Call) or len(call.lpar) != 1 or not edit.keyword.isidentifier():
        raise _InapplicableError
    changed = _insert(call.with_changes(lpar=(), rpar=()), edit.keyword, value)
    return cst.Module(body=()).code_for_node(changed).replace("\n", newline)


def _insert(call: cst.Call, keyword: str, value: cst.BaseExpression) -> cst.Call:
    import libcst as cst

    arguments = list(call.args)
    if any(each.keyword is not None and each.keyword.value == keyword for each in arguments):
        raise _InapplicableError
    if any(isinstance(each.value, cst.GeneratorExp) and not each.value.lpar for each in arguments):
        raise _InapplicableError
    tight = cst.SimpleWhitespace("")
    new = cst.Arg(
        keyword=cst.Name(keyword),
        equal=cst.AssignEqual(whitespace_before=tight, whitespace_after=tight),
        value=value,
    )
    at = next((index for index, each in enumerate(arguments) if each.star == "**"), len(arguments))
    gap = _gap(call)
    if at < len(arguments):
        arguments.insert(at, new.with_changes(comma=cst.Comma(whitespace_after=gap)))
    elif arguments:
        arguments[-1:] = _append(arguments[-1], new, gap)
    else:
        arguments.append(new)
    return call.with_changes(args=arguments)


def _gap(call: cst.Call) -> cst.BaseParenthesizableWhitespace:
    """What stands between two arguments of this call: a blank, or a line end and the indentation."""
    import libcst as cst

    before: cst.BaseParenthesizableWhitespace = call.whitespace_before_args
    if len(call.args) > 1:
        comma = call.args[-2].comma
        assert isinstance(comma, cst.Comma)
        before = comma.whitespace_after
    if isinstance(before, cst.ParenthesizedWhitespace):
        return cst.ParenthesizedWhitespace(first_line=cst.TrailingWhitespace(), indent=True, last_line=before.last_line)
    return cst.SimpleWhitespace(" ")


def _append(last: cst.Arg, new: cst.Arg, gap: cst.BaseParenthesizableWhitespace) -> tuple[cst.Arg, cst.Arg]:
    """The last argument and the new one behind it: with a trailing comma if there was one, comments at their line."""
    import libcst as cst

    trailing = isinstance(last.comma, cst.Comma)
    closing = last.comma.whitespace_after if isinstance(last.comma, cst.Comma) else last.whitespace_after_arg
    if isinstance(closing, cst.ParenthesizedWhitespace):
        noted = closing.first_line.comment is not None
        if noted and not isinstance(gap, cst.ParenthesizedWhitespace):
            indent = closing.last_line.with_changes(value=closing.last_line.value + "    ")
            gap = cst.ParenthesizedWhitespace(indent=True, last_line=indent)
        if isinstance(gap, cst.ParenthesizedWhitespace):
            gap = gap.with_changes(first_line=closing.first_line)
            closing = closing.with_changes(first_line=cst.TrailingWhitespace())
    comma = last.comma if isinstance(last.comma, cst.Comma) else cst.Comma()
    before = last.with_changes(
        comma=comma.with_changes(whitespace_after=gap), whitespace_after_arg=cst.SimpleWhitespace("")
    )
    if trailing:
        return before, new.with_changes(comma=cst.Comma(whitespace_after=closing))
    return before, new.with_changes(whitespace_after_arg=closing)
