"""Statements that branch: tests and what they tell, loops, exceptions, patterns."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from lint_rules.flow.state import Frame, State
from lint_rules.flow.statements import Statements
from lint_rules.flow.values import (
    UNKNOWN,
    Attr,
    Param,
    bare,
    join,
    one,
)
from lint_rules.index.build import last_name
from lint_rules.index.model import ClassInfo

if TYPE_CHECKING:
    from lint_rules.flow.values import Val
    from lint_rules.index.plans import PlanTable
    from lint_rules.index.project import Project

__all__ = ["Branches"]


class _Loop:
    """The states in which a loop that is being run has been left, and those in which a round of it has."""

    def __init__(self) -> None:
        self.left: list[State] = []
        self.continued: list[State] = []

    def end(self, state: State) -> None:
        for other in self.left:
            state.merge(other)


class Branches(Statements):
    """Runs tests, loops, handlers and match statements: every path with a state of its own, joined where paths meet."""

    def __init__(self, project: Project, plans: PlanTable) -> None:
        super().__init__(project, plans)
        self._loops: list[_Loop] = []
        self._statements |= {
            ast.Continue: self._leave_round,
            ast.Break: self._leave_loop,
            ast.If: self._if,
            ast.For: self._for,
            ast.AsyncFor: self._for,
            ast.While: self._while,
            ast.With: self._with,
            ast.AsyncWith: self._with,
            ast.Try: self._try,
            ast.TryStar: self._try,
            ast.Match: self._match,
        }

    def _if(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.If)
        verdict = self.truth(node.test, frame, state)
        if verdict is None:
            self.value(node.test, frame, state)
        other = state.copy()
        self.narrow(node.test, frame, state, holds=True)
        self.narrow(node.test, frame, other, holds=False)
        if verdict is not None:
            state.become(state if verdict else other)
            self.block(node.body if verdict else node.orelse, frame, state)
            return
        self.block(node.body, frame, state)
        self.block(node.orelse, frame, other)
        state.merge(other)

    def narrow(self, test: ast.expr, frame: Frame, state: State, *, holds: bool) -> None:
        """Remember which attributes a test has found to be empty."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.narrow(test.operand, frame, state, holds=not holds)
        elif isinstance(test, ast.BoolOp):
            # Of several tests for a value, any may be the one that failed.
            if isinstance(test.op, ast.And) is holds or all(map(_is_guard, test.values)):
                for part in test.values:
                    self.narrow(part, frame, state, holds=holds)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1:
            right = test.comparators[0]
            if isinstance(right, ast.Constant) and right.value is None:
                is_none = isinstance(test.ops[0], ast.Is | ast.Eq)
                if is_none is holds:
                    self._mark_absent(test.left, frame, state)
        elif isinstance(test, ast.Name | ast.Attribute | ast.NamedExpr) and not holds:
            self._mark_absent(test, frame, state)
        elif isinstance(test, ast.Call) and last_name(test.func) == "isinstance" and len(test.args) == 2:
            if holds is _are_absent(test.args[1]):
                self._mark_absent(test.args[0], frame, state)
        elif isinstance(test, ast.Call) and last_name(test.func) == "hasattr" and len(test.args) == 2 and not holds:
            getter = ast.Call(ast.Name("getattr", ast.Load()), test.args, [])
            self._mark_absent(ast.copy_location(getter, test), frame, state)

    def _mark_absent(self, node: ast.expr, frame: Frame, state: State) -> None:
        self._note_absent(self.value(node, frame, state), state)

    @staticmethod
    def _note_absent(value: Val, state: State) -> None:
        state.absent |= {part for node in value if isinstance(part := bare(node), Attr | Param)}

    def _for(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.For | ast.AsyncFor)
        iterable = self.value(node.iter, frame, state)
        known = self.elements(iterable, state)
        # The loop counts as entered: a list of names that copies nothing at all is not what people write.
        items = known if known is not None else [self.element(iterable, state)]
        loop = _Loop()
        for item in items:
            if not state.alive:
                break
            self.assign(node.target, item, frame, state, node)
            self._round(node.body, frame, state, loop)
        self.block(node.orelse, frame, state)
        loop.end(state)

    def _round(self, body: list[ast.stmt], frame: Frame, state: State, loop: _Loop) -> None:
        before = state.copy()
        self._loops.append(loop)
        self.block(body, frame, state)
        self._loops.pop()
        for skipped in loop.continued:
            state.merge(skipped)
        loop.continued.clear()
        if not state.alive and not loop.left:
            # Every path of this round has left the function; the loop may not have come to it.
            state.become(before)

    def _leave_round(self, node: ast.stmt, frame: Frame, state: State) -> None:
        if self._loops:
            self._loops[-1].continued.append(state.copy())
        state.alive = False

    def _leave_loop(self, node: ast.stmt, frame: Frame, state: State) -> None:
        if self._loops:
            self._loops[-1].left.append(state.copy())
        state.alive = False

    def _while(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.While)
        self.value(node.test, frame, state)
        loop = _Loop()
        self._round(node.body, frame, state, loop)
        if isinstance(node.test, ast.Constant) and node.test.value and loop.left:
            state.alive = False  # only `break` ends it
        self.block(node.orelse, frame, state)
        loop.end(state)

    def _with(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.With | ast.AsyncWith)
        for item in node.items:
            value = self.value(item.context_expr, frame, state)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value, frame, state, node)
        self.block(node.body, frame, state)

    def _try(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.Try | ast.TryStar)
        before = state.copy()
        handled: State | None = None
        for statement in node.body:
            if state.alive and not _is_plain(statement):
                if handled is None:
                    handled = state.copy()
                else:
                    handled.merge(state.copy())
            self.block([statement], frame, state)
        self.block(node.orelse, frame, state)
        for handler in node.handlers:
            branch = (handled or before).copy()
            if handler.type is not None and _catches(handler.type, "AttributeError"):
                branch = before.copy()
                self._mark_reads(node.body, frame, branch)
            self.block(handler.body, frame, branch)
            state.merge(branch)
        if not state.alive:
            return
        self.block(node.finalbody, frame, state)

    def _mark_reads(self, body: list[ast.stmt], frame: Frame, state: State) -> None:
        """Where an `AttributeError` was caught: what was read may not have been there."""
        for part in (inner for statement in body for inner in ast.walk(statement)):
            if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load) and isinstance(part.value, ast.Name):
                self._mark_absent(part, frame, state)

    def _match(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.Match)
        subject = self.value(node.subject, frame, state)
        ended: State | None = None
        exhaustive = False
        for case in node.cases:
            branch = state.copy()
            self._match_pattern(case.pattern, subject, frame, branch)
            if case.guard is not None:
                self.narrow(case.guard, frame, branch, holds=True)
            elif isinstance(case.pattern, ast.MatchClass) and not _is_absent_pattern(case.pattern):
                # What is not of this class has nothing to take.
                self._note_absent(subject, state)
            self.block(case.body, frame, branch)
            irrefutable = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
            exhaustive = exhaustive or (irrefutable and case.guard is None)
            if ended is None:
                ended = branch
            else:
                ended.merge(branch)
        if ended is None:
            return
        if not exhaustive:
            ended.merge(state)
        state.become(ended)

    def _match_pattern(self, pattern: ast.pattern, subject: Val, frame: Frame, state: State) -> None:
        """Bind the names of a pattern, and remember if it matches only what is empty."""
        if _is_absent_pattern(pattern):
            self._note_absent(subject, state)
        for part in ast.walk(pattern):
            name = getattr(part, "name", None) or getattr(part, "rest", None)
            if isinstance(name, str):
                state.write(frame, name, one(UNKNOWN))
        if isinstance(pattern, ast.MatchAs) and pattern.name is not None:
            state.write(frame, pattern.name, subject)
        inner = pattern.pattern if isinstance(pattern, ast.MatchAs) else pattern
        if not isinstance(inner, ast.MatchClass):
            return
        found = self.project.resolve_expression(frame.module, inner.cls)
        names = list(self.project.fields(found)) if isinstance(found, ClassInfo) else []
        pairs = [*zip(names, inner.patterns, strict=False), *zip(inner.kwd_attrs, inner.kwd_patterns, strict=True)]
        for attribute, part in pairs:
            values = [self.get_attribute(node, attribute, inner.cls, frame, state) for node in subject]
            self._match_pattern(part, join(values), frame, state)


def _are_absent(classes: ast.expr) -> bool:
    """Whether the second argument of `isinstance` names nothing but the marks of an empty field."""
    if isinstance(classes, ast.Tuple):
        return bool(classes.elts) and all(map(_are_absent, classes.elts))
    if isinstance(classes, ast.BinOp):
        return _are_absent(classes.left) and _are_absent(classes.right)
    return last_name(classes) in {"Absent", "Dropped"}


def _is_absent_pattern(pattern: ast.pattern) -> bool:
    """Whether a pattern matches only what is empty: `None`, `Absent()`."""
    if isinstance(pattern, ast.MatchOr):
        return all(map(_is_absent_pattern, pattern.patterns))
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        return _is_absent_pattern(pattern.pattern)
    if isinstance(pattern, ast.MatchClass):
        return _are_absent(pattern.cls)
    return isinstance(pattern, ast.MatchSingleton) and pattern.value is None


def _is_plain(statement: ast.stmt) -> bool:
    """Whether a statement only moves values from names and attributes to others: it does not fail."""
    harmless = (ast.Name, ast.Attribute, ast.Constant, ast.Tuple, ast.expr_context)
    return isinstance(statement, ast.Pass | ast.Global | ast.Nonlocal) or (
        isinstance(statement, ast.Assign | ast.AnnAssign | ast.Return)
        and all(isinstance(part, harmless) for child in ast.iter_child_nodes(statement) for part in ast.walk(child))
    )


def _catches(node: ast.expr, name: str) -> bool:
    """Whether the type of an `except` clause is, or contains, an exception of this name."""
    if isinstance(node, ast.Tuple):
        return any(_catches(part, name) for part in node.elts)
    return last_name(node) == name


def _is_guard(test: ast.expr) -> bool:
    """Whether a test asks no more than whether something is there."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _is_guard(test.operand)
    if isinstance(test, ast.Compare):
        right = test.comparators[0]
        return len(test.ops) == 1 and isinstance(right, ast.Constant) and right.value is None
    if isinstance(test, ast.Call):
        return last_name(test.func) in {"isinstance", "hasattr"}
    return isinstance(test, ast.Attribute)
