"""Execution of statements: branches, loops and exits, each path with a state of its own until they meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy.nodes import (
    AssertStmt,
    AssignmentStmt,
    Block,
    BreakStmt,
    CallExpr,
    ComparisonExpr,
    ContinueStmt,
    Decorator,
    DelStmt,
    Expression,
    ExpressionStmt,
    ForStmt,
    FuncDef,
    IfStmt,
    IndexExpr,
    ListExpr,
    MatchStmt,
    MemberExpr,
    NameExpr,
    NonlocalDecl,
    OperatorAssignmentStmt,
    OpExpr,
    RaiseStmt,
    RefExpr,
    ReturnStmt,
    StarExpr,
    Statement,
    StrExpr,
    TryStmt,
    TupleExpr,
    UnaryExpr,
    WhileStmt,
    WithStmt,
)

from ownership.mypy_plugin._calls import Calls
from ownership.mypy_plugin._expressions import dotted
from ownership.mypy_plugin._frame import Exit, Frame
from ownership.mypy_plugin._values import UNKNOWN, Constant, Entries, Function, Root, Seq, State, Taken, Val, flag_of

if TYPE_CHECKING:
    from mypy.nodes import FuncItem

__all__ = ["Statements"]


class Statements(Calls):
    """The part of the interpreter that runs the statements of a function."""

    def run(self, function: FuncItem, frame: Frame, state: State) -> None:
        """Run a whole body: every path ends up in `frame.exits`."""
        self.block(function.body, frame, state)
        if not state.dead:
            frame.exits.append(Exit(function, (), state, returns=True))

    def block(self, node: Block | None, frame: Frame, state: State) -> None:
        for statement in node.body if node is not None else ():
            if state.dead:
                return
            self.statement(statement, frame, state)

    def statement(self, node: Statement, frame: Frame, state: State) -> None:
        match node:
            case AssignmentStmt():
                value = self.evaluate(node.rvalue, frame, state)
                for target in node.lvalues:
                    self.assign(target, value, frame, state)
            case ExpressionStmt():
                self.evaluate(node.expr, frame, state)
            case ReturnStmt():
                value = self.evaluate(node.expr, frame, state) if node.expr is not None else ()
                frame.exits.append(Exit(node, value, state.copy(), returns=True))
                state.dead = True
            case RaiseStmt():
                for part in (node.expr, node.from_expr):
                    if part is not None:
                        self.evaluate(part, frame, state)
                state.dead = True
            case BreakStmt() | ContinueStmt():
                # What follows the loop is run with what held at its end and before it: good enough for a plan.
                return
            case IfStmt():
                self._if(node, frame, state)
            case WhileStmt():
                self.evaluate(node.expr, frame, state)
                self._loop([node.body], node.else_body, frame, state)
            case ForStmt():
                self._for(node, frame, state)
            case TryStmt():
                self._try(node, frame, state)
            case WithStmt():
                for expression, name in zip(node.expr, node.target, strict=True):
                    value = self.evaluate(expression, frame, state)
                    if name is not None:
                        self.assign(name, value, frame, state)
                self.block(node.body, frame, state)
            case MatchStmt():
                self._match(node, frame, state)
            case Block():
                self.block(node, frame, state)
            case OperatorAssignmentStmt():
                self._augment(node, frame, state)
            case AssertStmt():
                self.evaluate(node.expr, frame, state)
                self._learn(node.expr, frame, state, holds=True)
            case DelStmt():
                if isinstance(node.expr, NameExpr):
                    state.names.pop(frame.key(node.expr.name), None)
            case FuncDef() | Decorator():
                function = node if isinstance(node, FuncDef) else node.func
                plain = isinstance(node, FuncDef) or self.types.body_of(node) is not None
                state.names[frame.key(function.name)] = (Function(function) if plain else UNKNOWN,)
            case _:
                return

    # Assignment

    def assign(self, target: Expression, value: Val, frame: Frame, state: State) -> None:
        if isinstance(target, NameExpr):
            owner = frame.owner_of(target.name, state) if self._is_outer(target, frame) else frame
            state.names[owner.key(target.name)] = value
            self._forget(target.name, frame, state)
        elif isinstance(target, MemberExpr):
            text = dotted(target)
            for part in self.evaluate(target.expr, frame, state):
                self.put(part, target.name, value, target, frame, state)
            if text is not None:
                self._forget(text, frame, state)
                state.names[frame.key(text)] = value
        elif isinstance(target, TupleExpr | ListExpr):
            self._unpack(target.items, value, frame, state)
        elif isinstance(target, StarExpr):
            self.assign(target.expr, (UNKNOWN,), frame, state)
        elif isinstance(target, IndexExpr):
            self._assign_item(target, value, frame, state)

    def _unpack(self, targets: list[Expression], value: Val, frame: Frame, state: State) -> None:
        known = [part.items for part in value if isinstance(part, Seq) and len(part.items) == len(targets)]
        whole = len(known) == len(value) and not any(isinstance(target, StarExpr) for target in targets)
        for index, target in enumerate(targets):
            item: Val = tuple(node for items in known for node in items[index]) if whole and known else (UNKNOWN,)
            self.assign(target, item, frame, state)

    def _assign_item(self, target: IndexExpr, value: Val, frame: Frame, state: State) -> None:
        for part in self.evaluate(target.base, frame, state):
            if isinstance(part, Entries):
                name = self.literal(target.index, frame, state)
                if name is None:
                    part.open = True
                elif part.of is not None and isinstance(target.base, MemberExpr):
                    self.put(part.of, name, value, target, frame, state)  # `plan.__dict__["fold"] = ...`
                else:
                    state.entries(part)[name] = value

    def assign_each(self, target: Expression, frame: Frame, state: State) -> None:
        """A loop variable: any element."""
        if isinstance(target, NameExpr):
            info, known = self.types.class_of(target)
            plan = self.plans.of(info)
            state.names[frame.key(target.name)] = (Root(target.name, info, known),) if plan is not None else (UNKNOWN,)
        elif isinstance(target, TupleExpr | ListExpr):
            for item in target.items:
                self.assign_each(item, frame, state)

    def _is_outer(self, target: NameExpr, frame: Frame) -> bool:
        """Whether a name belongs to a function around this one (`nonlocal`)."""
        if frame.function is None or frame.parent is None:
            return False
        body = frame.function.body.body
        return any(isinstance(each, NonlocalDecl) and target.name in each.names for each in body)

    def _forget(self, text: str, frame: Frame, state: State) -> None:
        """What was known of `text.x` no longer holds when `text` is something else."""
        prefix = f"{text}."
        for key in [key for key in state.names if key[0] == id(frame) and key[1].startswith(prefix)]:
            del state.names[key]

    def _augment(self, node: OperatorAssignmentStmt, frame: Frame, state: State) -> None:
        value = self.evaluate(node.rvalue, frame, state)
        target = node.lvalue
        held = self.evaluate(target, frame, state) if isinstance(target, NameExpr) else ()
        if node.op == "|" and len(held) == 1 and isinstance(held[0], Entries):
            state.entries(held[0]).update(self.unpacked(value, held[0], state))
        else:
            self.assign(target, (UNKNOWN,), frame, state)

    # Branches

    def _if(self, node: IfStmt, frame: Frame, state: State) -> None:
        ends: list[State] = []
        for condition, body in zip(node.expr, node.body, strict=True):
            flag = flag_of(self.evaluate(condition, frame, state))
            if flag is False:
                continue
            branch = state.copy()
            self._learn(condition, frame, branch, holds=True)
            self.block(body, frame, branch)
            ends.append(branch)
            if flag:
                state.become(State.merge(ends))
                return
            self._learn(condition, frame, state, holds=False)
        self.block(node.else_body, frame, state)
        state.become(State.merge([*ends, state.copy()]))

    def _learn(self, node: Expression, frame: Frame, state: State, *, holds: bool) -> None:
        """Remember which carriers a condition says are not there."""
        if isinstance(node, UnaryExpr) and node.op == "not":
            self._learn(node.expr, frame, state, holds=not holds)
        elif isinstance(node, OpExpr) and node.op == ("and" if holds else "or"):
            self._learn(node.left, frame, state, holds=holds)
            self._learn(node.right, frame, state, holds=holds)
        elif isinstance(node, ComparisonExpr) and len(node.operators) == 1:
            other, wanted = node.operands[1], {"is", "=="} if holds else {"is not", "!="}
            if isinstance(other, NameExpr) and other.fullname == "builtins.None" and node.operators[0] in wanted:
                self._learn_absent(node.operands[0], frame, state)
        elif isinstance(node, CallExpr) and isinstance(node.callee, RefExpr):
            asked = node.args[1] if holds and node.callee.fullname == "builtins.isinstance" else None
            if isinstance(asked, RefExpr) and asked.fullname.startswith("ownership.absence."):
                self._learn_absent(node.args[0], frame, state)
        elif not holds and isinstance(node, NameExpr | MemberExpr):
            self._learn_absent(node, frame, state)

    def _learn_absent(self, node: Expression, frame: Frame, state: State) -> None:
        facts = [part for part in self.evaluate(node, frame, state) if isinstance(part, Taken)]
        state.absent |= frozenset(facts)

    def _loop(self, bodies: list[Block], otherwise: Block | None, frame: Frame, state: State) -> None:
        for body in bodies:
            before = state.copy()
            for _ in range(2):  # the second time with what the first has left behind
                turn = state.copy()
                self.block(body, frame, turn)
                state.become(State.merge([before, turn]) if not turn.dead else before.copy())
        self.block(otherwise, frame, state)

    def _for(self, node: ForStmt, frame: Frame, state: State) -> None:
        names = self._names_in(node.expr, frame, state)
        if names is not None and isinstance(node.index, NameExpr):
            for name in names:
                state.names[frame.key(node.index.name)] = (Constant(name),)
                self.block(node.body, frame, state)
                if state.dead:
                    return
            self.block(node.else_body, frame, state)
            return
        self.evaluate(node.expr, frame, state)
        self.assign_each(node.index, frame, state)
        self._loop([node.body], node.else_body, frame, state)

    def _names_in(self, node: Expression, frame: Frame, state: State) -> list[str] | None:
        """The strings of a tuple or list that is written out: a copy list is often a loop over names."""
        if isinstance(node, TupleExpr | ListExpr) and node.items:
            names = [item.value for item in node.items if isinstance(item, StrExpr)]
            return names if len(names) == len(node.items) <= 64 else None
        return None

    def _try(self, node: TryStmt, frame: Frame, state: State) -> None:
        before = state.copy()
        self.block(node.body, frame, state)
        ends: list[State] = []
        for handler in node.handlers:
            branch = State.merge([before.copy(), state.copy()])
            branch.dead = False
            self.block(handler, frame, branch)
            ends.append(branch)
        self.block(node.else_body, frame, state)
        state.become(State.merge([state.copy(), *ends]))
        if node.finally_body is not None:
            dead, state.dead = state.dead, False
            self.block(node.finally_body, frame, state)
            state.dead = state.dead or dead

    def _match(self, node: MatchStmt, frame: Frame, state: State) -> None:
        self.evaluate(node.subject, frame, state)
        ends: list[State] = []
        for body in node.bodies:
            branch = state.copy()
            self.block(body, frame, branch)
            ends.append(branch)
        state.become(State.merge([*ends, state.copy()]))
