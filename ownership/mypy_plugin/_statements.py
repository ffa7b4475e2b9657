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
    TryStmt,
    TupleExpr,
    UnaryExpr,
    WhileStmt,
    WithStmt,
)

from ownership.mypy_plugin._calls import Calls
from ownership.mypy_plugin._expressions import MOST_NAMES, dotted, names_in
from ownership.mypy_plugin._frame import Exit, Frame
from ownership.mypy_plugin._values import (
    UNKNOWN,
    Constant,
    Entries,
    Function,
    Root,
    Seq,
    State,
    Taken,
    Val,
    flag_of,
    join,
)

if TYPE_CHECKING:
    from mypy.nodes import FuncItem

__all__ = ["Statements"]


#: Loops inside of more loops than this are run once.
_DEEPEST_LOOP = 3


class Statements(Calls):
    """The part of the interpreter that runs the statements of a function."""

    def __init__(self) -> None:
        super().__init__()
        self._loops = 0

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
        self.budget.spend()
        match node:
            case AssignmentStmt():
                value = self.evaluate(node.rvalue, frame, state)
                for target in node.lvalues:
                    self.assign(target, value, frame, state)
            case ExpressionStmt():
                self.evaluate(node.expr, frame, state)
            case ReturnStmt():
                value = self.evaluate(node.expr, frame, state) if node.expr is not None else ()
                frame.exits.append(Exit(node, value, self.fork(state), returns=True))
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
                self.learn(node.expr, frame, state, holds=True)
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
                state.dotted |= {frame.key(text)}
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

    def assign_each(self, target: Expression, value: Val, frame: Frame, state: State) -> None:
        """A loop variable: any element of `value`."""
        whole = value[0].items if len(value) == 1 and isinstance(value[0], Seq) else ()
        if whole and len(whole) <= MOST_NAMES:
            self.assign(target, join(whole), frame, state)
        elif isinstance(target, NameExpr):
            info, known = self.types.class_of(target)
            plan = self.plans.of(info)
            state.names[frame.key(target.name)] = (Root(target.name, info, known),) if plan is not None else (UNKNOWN,)
        elif isinstance(target, TupleExpr | ListExpr):
            for item in target.items:
                self.assign_each(item, (UNKNOWN,), frame, state)

    def _is_outer(self, target: NameExpr, frame: Frame) -> bool:
        """Whether a name belongs to a function around this one (`nonlocal`)."""
        if frame.function is None or frame.parent is None:
            return False
        body = frame.function.body.body
        return any(isinstance(each, NonlocalDecl) and target.name in each.names for each in body)

    def _forget(self, text: str, frame: Frame, state: State) -> None:
        """What was known of `text.x` no longer holds when `text` is something else."""
        prefix = f"{text}."
        stale = {key for key in state.dotted if key[0] == id(frame) and key[1].startswith(prefix)}
        for key in stale:
            state.names.pop(key, None)
        state.dotted -= stale

    def _augment(self, node: OperatorAssignmentStmt, frame: Frame, state: State) -> None:
        value = self.evaluate(node.rvalue, frame, state)
        target = node.lvalue
        held = self.evaluate(target, frame, state) if isinstance(target, NameExpr) else ()
        if node.op == "|" and len(held) == 1 and isinstance(held[0], Entries):
            state.entries(held[0]).update(self.unpacked(value, held[0], state))
        else:
            self.assign(target, (UNKNOWN,), frame, state)

    # Branches

    def fork(self, state: State) -> State:
        """A copy of the state for a path of its own; that of many variables takes longer."""
        self.budget.spend((len(state.names) + len(state.slots)) // 4)
        return state.copy()

    def _if(self, node: IfStmt, frame: Frame, state: State) -> None:
        ends: list[State] = []
        branches, otherwise = _alternatives(node)
        for condition, body in branches:
            self.budget.spend()
            flag = flag_of(self.evaluate(condition, frame, state))
            if flag is False:
                continue
            branch = self.fork(state)
            self.learn(condition, frame, branch, holds=True)
            self.block(body, frame, branch)
            ends.append(branch)
            if flag:
                state.become(State.merge(ends))
                return
            self.learn(condition, frame, state, holds=False)
        self.block(otherwise, frame, state)
        state.become(State.merge([*ends, self.fork(state)]))

    def learn(self, node: Expression, frame: Frame, state: State, *, holds: bool) -> None:
        """Remember which carriers a condition says are not there."""
        if isinstance(node, UnaryExpr) and node.op == "not":
            self.learn(node.expr, frame, state, holds=not holds)
        elif isinstance(node, OpExpr) and node.op == ("and" if holds else "or"):
            self.learn(node.left, frame, state, holds=holds)
            self.learn(node.right, frame, state, holds=holds)
        elif isinstance(node, ComparisonExpr) and len(node.operators) == 1:
            other, wanted = node.operands[1], {"is", "=="} if holds else {"is not", "!="}
            if isinstance(other, NameExpr) and other.fullname == "builtins.None" and node.operators[0] in wanted:
                self._learn_absent(node.operands[0], frame, state)
        elif isinstance(node, CallExpr) and isinstance(node.callee, RefExpr):
            asks = holds and node.callee.fullname == "builtins.isinstance" and len(node.args) == 2
            asked = node.args[1] if asks else None
            if isinstance(asked, RefExpr) and asked.fullname.startswith("ownership.absence."):
                self._learn_absent(node.args[0], frame, state)
        elif not holds and isinstance(node, NameExpr | MemberExpr):
            self._learn_absent(node, frame, state)

    def _learn_absent(self, node: Expression, frame: Frame, state: State) -> None:
        facts = [part for part in self.evaluate(node, frame, state) if isinstance(part, Taken)]
        state.absent |= frozenset(facts)

    def _loop(self, bodies: list[Block], otherwise: Block | None, frame: Frame, state: State) -> None:
        self._loops += 1
        for body in bodies:
            before = self.fork(state)
            # The second time with what the first has left behind; deep inside, the loops around run it again.
            for _ in range(2 if self._loops <= _DEEPEST_LOOP else 1):
                turn = self.fork(state)
                self.block(body, frame, turn)
                state.become(State.merge([before, turn]) if not turn.dead else before.copy())
        self._loops -= 1
        self.block(otherwise, frame, state)

    def _for(self, node: ForStmt, frame: Frame, state: State) -> None:
        names = names_in(node.expr)
        if names is not None and isinstance(node.index, NameExpr) and self._loops < _DEEPEST_LOOP:
            self._loops += 1
            for name in names:
                state.names[frame.key(node.index.name)] = (Constant(name),)
                self.block(node.body, frame, state)
            self._loops -= 1
            self.block(node.else_body, frame, state)
            return
        value, rows = self._rows(node.expr, frame, state)
        if self._loops >= _DEEPEST_LOOP:
            rows = None
        if rows is not None and isinstance(node.index, TupleExpr):
            self._loops += 1
            for row in rows:
                self.assign(node.index, (row,), frame, state)
                self.block(node.body, frame, state)
            self._loops -= 1
            self.block(node.else_body, frame, state)
            return
        self.assign_each(node.index, value, frame, state)
        self._loop([node.body], node.else_body, frame, state)

    def _rows(self, node: Expression, frame: Frame, state: State) -> tuple[Val, list[Seq] | None]:
        """What is looped over, and its pairs if they are written out: so, or as `zip(("fold", "pack"), values)`."""
        if not (isinstance(node, CallExpr) and isinstance(node.callee, RefExpr)):
            value = self.evaluate(node, frame, state)
            whole = value[0].items if len(value) == 1 and isinstance(value[0], Seq) else ()
            rows = [item[0] for item in whole if len(item) == 1 and isinstance(item[0], Seq)]
            return value, rows if rows and len(rows) == len(whole) <= MOST_NAMES else None
        if node.callee.fullname != "builtins.zip":
            return self.evaluate(node, frame, state), None
        given = zip(node.args, node.arg_kinds, strict=True)
        columns = [self.evaluate(argument, frame, state) for argument, kind in given if kind.is_positional()]
        known = [column[0].items for column in columns if len(column) == 1 and isinstance(column[0], Seq)]
        if not known or len(known) != len(columns) or max(map(len, known)) > MOST_NAMES:
            return (UNKNOWN,), None
        return (UNKNOWN,), [Seq(row) for row in zip(*known, strict=False)]

    def _try(self, node: TryStmt, frame: Frame, state: State) -> None:
        before = self.fork(state)
        self.block(node.body, frame, state)
        ends: list[State] = []
        for handler in node.handlers:
            branch = State.merge([before.copy(), self.fork(state)])
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
            branch = self.fork(state)
            self.block(body, frame, branch)
            ends.append(branch)
        state.become(State.merge([*ends, state.copy()]))


def _alternatives(node: IfStmt) -> tuple[list[tuple[Expression, Block]], Block | None]:
    """Each condition with its body, and what runs if none holds: an `elif` lies in the `else` of what is above it."""
    branches: list[tuple[Expression, Block]] = []
    while True:
        branches += zip(node.expr, node.body, strict=True)
        rest = node.else_body.body if node.else_body is not None else []
        if len(rest) != 1 or not isinstance(rest[0], IfStmt):
            return branches, node.else_body
        node = rest[0]
