"""Expressions: what each of them evaluates to."""

from __future__ import annotations

import ast
from abc import abstractmethod
from typing import TYPE_CHECKING

from lint_rules.flow.lookups import Lookups
from lint_rules.flow.state import OPEN, REST, Frame, State
from lint_rules.flow.values import (
    UNKNOWN,
    AbsentMark,
    AnyField,
    AnyName,
    Attr,
    Blank,
    Class,
    Const,
    Dict,
    DictView,
    Function,
    Item,
    Module,
    Native,
    Obj,
    Opaque,
    Param,
    Read,
    Seq,
    bare,
    bare_all,
    join,
    one,
)
from lint_rules.index.build import last_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lint_rules.flow.values import Node, Val
    from lint_rules.index.plans import PlanTable
    from lint_rules.index.project import Project

__all__ = ["STRING_METHODS", "Expressions"]

#: Longest known sequence that a loop is unrolled over.
_UNROLL = 64

#: Methods of a string literal that are evaluated as they are.
STRING_METHODS = frozenset({
    "startswith", "endswith", "lstrip", "rstrip", "strip", "removeprefix", "removesuffix", "lower", "upper", "replace",
    "isidentifier",
})  # fmt: skip


class Expressions(Lookups):
    """Evaluation of expressions. Calls are left to the subclass."""

    def __init__(self, project: Project, plans: PlanTable) -> None:
        super().__init__(project, plans)
        self._dispatch: dict[type[ast.expr], Callable[[ast.expr, Frame, State], Val]] = {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Constant: self._constant,
            ast.Call: self._call,
            ast.Tuple: self._sequence,
            ast.List: self._sequence,
            ast.Set: self._sequence,
            ast.Dict: self._dict,
            ast.Subscript: self._subscript,
            ast.IfExp: self._conditional,
            ast.BoolOp: self._bool_op,
            ast.BinOp: self._bin_op,
            ast.UnaryOp: self._unary,
            ast.Compare: self._compare,
            ast.NamedExpr: self._walrus,
            ast.Await: self._await,
            ast.Yield: self._yield,
            ast.YieldFrom: self._yield,
            ast.ListComp: self._comprehension,
            ast.SetComp: self._comprehension,
            ast.GeneratorExp: self._comprehension,
            ast.DictComp: self._dict_comprehension,
        }

    # What the subclass provides

    @abstractmethod
    def call(self, node: ast.Call, frame: Frame, state: State) -> Val:
        """What a call returns."""

    @abstractmethod
    def assign(self, target: ast.expr, value: Val, frame: Frame, state: State) -> None:
        """Bind a target to a value."""

    @abstractmethod
    def note_yield(self, value: Val, frame: Frame, state: State, node: ast.expr) -> None:
        """A generator hands out a value."""

    # Entry

    def value(self, node: ast.expr | None, frame: Frame, state: State) -> Val:
        """The alternatives of an expression; the state takes the effects of its evaluation."""
        if node is None:
            return one(UNKNOWN)
        method = self._dispatch.get(type(node))
        if method is not None:
            return method(node, frame, state)
        parts = [self.value(child, frame, state) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        return one(Opaque(node, fed=any(self.is_fed(part, state) for part in parts)))

    def _call(self, node: ast.expr, frame: Frame, state: State) -> Val:
        assert isinstance(node, ast.Call)
        return self.call(node, frame, state)

    # Names

    def _name(self, node: ast.expr, frame: Frame, state: State) -> Val:
        assert isinstance(node, ast.Name)
        return self.lookup(node.id, frame, state)

    # Attributes

    def _attribute(self, node: ast.expr, frame: Frame, state: State) -> Val:
        assert isinstance(node, ast.Attribute)
        owner = self.value(node.value, frame, state)
        return join(self.get_attribute(part, node.attr, node, frame, state) for part in owner)

    # Literals

    def _constant(self, node: ast.expr, frame: Frame, state: State) -> Val:
        assert isinstance(node, ast.Constant)
        return one(Const.of(node.value))

    def _sequence(self, node: ast.expr, frame: Frame, state: State) -> Val:
        assert isinstance(node, ast.Tuple | ast.List | ast.Set)
        items: list[Val] = []
        complete = True
        for element in node.elts:
            if isinstance(element, ast.Starred):
                spread = self.elements(self.value(element.value, frame, state), state)
                items += spread if spread is not None else [one(UNKNOWN)]
                complete = complete and spread is not None
            else:
                items.append(self.value(element, frame, state))
        if not items and complete and isinstance(node, ast.Tuple):
            return one(Const.of(()))
        return one(Seq(tuple(items), complete, mutable=not isinstance(node, ast.Tuple)))

    def _dict(self, node: ast.expr, frame: Frame, state: State) -> Val:
        assert isinstance(node, ast.Dict)
        made = Dict(node)
        state.writable(made)
        for key, item in zip(node.keys, node.values, strict=True):
            value = self.value(item, frame, state)
            if key is None:
                self.update_dict(made, value, state)
            else:
                self.write_key(made, self.value(key, frame, state), value, state)
        return one(made)

    def write_key(self, target: Dict, key: Val, value: Val, state: State) -> None:
        """`target[key] = value`; a key that is not known leaves the dict open."""
        known = bare_all(key)
        if len(known) == 1 and isinstance(known[0], Const):
            state.write(target, known[0].value, value)
        elif len(known) == 1 and isinstance(known[0], AnyName) and isinstance(value[0], AnyField):
            state.write(target, REST, one(value[0].owner))
        else:
            state.write(target, OPEN, value)

    def update_dict(self, target: Dict, source: Val, state: State) -> None:
        """`target.update(source)` and `{**source}`."""
        if len(source) != 1:
            state.write(target, OPEN, source)
            return
        entries, rest, is_open = self.mapping(source[0], state)
        for name, value in entries.items():
            state.write(target, name, value)
        if rest:
            state.write(target, REST, rest)
        if is_open:
            state.write(target, OPEN, source)

    def mapping(self, source: Node, state: State) -> tuple[dict[str, Val], Val, bool]:
        """A mapping as named entries, the objects that fill all other keys, and whether there may be more."""
        source = bare(source)
        if isinstance(source, Dict):
            entries = {
                key: value for key, value in state.entries(source).items() if key is not REST and key is not OPEN
            }
            return entries, state.read(source, REST) or (), OPEN in state.entries(source)
        if isinstance(source, DictView):
            return self._view_entries(source, state)
        return {}, (), True

    def _view_entries(self, view: DictView, state: State) -> tuple[dict[str, Val], Val, bool]:
        cls = self.class_of(view.target)
        if cls is None:
            return {}, one(view.target), False
        names = self.stored_names(cls)
        frame = Frame(cls.module, None, None, depth=1)
        probe = ast.Name("_", ast.Load())
        found = {name: self.get_attribute(view.target, name, probe, frame, state) for name in names}
        # An object may hold more attributes than its class declares; they can only fill what is not named.
        return found, one(view.target), False

    # Operators

    def _subscript(self, node: ast.expr, frame: Frame, state: State) -> Val:
        assert isinstance(node, ast.Subscript)
        owner = self.value(node.value, frame, state)
        index = bare_all(self.value(node.slice, frame, state))
        return join(self.get_item(part, index, node, state) for part in owner)

    def get_item(self, owner: Node, index: Val, node: ast.AST, state: State, *, default: Val | None = None) -> Val:
        """`owner[index]`, or `owner.get(index, default)` where a default is given."""
        inner = bare(owner)
        key = index[0] if len(index) == 1 else UNKNOWN
        if isinstance(inner, Dict | DictView):
            if isinstance(key, AnyName):
                return one(AnyField(key.target))
            if not isinstance(key, Const):
                entries, rest, _ = self.mapping(inner, state)
                fed = bool(rest) or any(self.is_fed(value, state) for value in entries.values())
                return one(Opaque(node, fed=fed))
            entries, rest, is_open = self.mapping(inner, state)
            if key.value in entries:
                return entries[key.value]
            if rest and isinstance(key.value, str):
                return join(one(self._rest_attribute(part, key.value)) for part in rest)
            return one(UNKNOWN) if is_open else default if default is not None else one(Blank("missing key"))
        if isinstance(inner, Seq) and isinstance(key, Const) and isinstance(key.value, int) and inner.complete:
            if -len(inner.items) <= key.value < len(inner.items):
                return inner.items[key.value]
            return one(UNKNOWN)
        if isinstance(inner, Class):
            return one(inner)
        if isinstance(inner, Native):
            return one(inner)
        if isinstance(inner, Param | Attr | Item | Opaque):
            return one(Item(inner))
        return one(Opaque(node, fed=self.is_fed(one(owner), state)))

    def _rest_attribute(self, owner: Node, name: str) -> Node:
        owner = bare(owner)
        if isinstance(owner, Param | Attr | Item | Opaque):
            child = owner.children.get(name)
            if child is None:
                child = owner.children[name] = Attr(owner, name, self._field_class(owner.cls, name))
            return child
        return UNKNOWN

    def _conditional(self, node: ast.expr, frame: Frame, state: State) -> Val:
        assert isinstance(node, ast.IfExp)
        verdict = self.truth(node.test, frame, state)
        if verdict is not None:
            return self.value(node.body if verdict else node.orelse, frame, state)
        return join([self.value(node.body, frame, state), self.value(node.orelse, frame, state)])

    def _bool_op(self, node: ast.expr, frame: Frame, state: State) -> Val:
        assert isinstance(node, ast.BoolOp)
        stop_at = isinstance(node.op, ast.Or)
        found: list[Val] = []
        for part in node.values:
            verdict = self.truth(part, frame, state)
            found.append(self.value(part, frame, state))
            if verdict is stop_at:
                break
            if verdict is not None and part is not node.values[-1]:
                found.pop()
        return join(found)

    def truth(self, node: ast.expr, frame: Frame, state: State) -> bool | None:
        """Whether a test is known to hold; None where it is not known."""
        if isinstance(node, ast.BoolOp):
            verdicts = [self.truth(part, frame, state) for part in node.values]
            decisive = isinstance(node.op, ast.Or)
            if decisive in verdicts:
                return decisive
            return None if None in verdicts else not decisive
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.truth(node.operand, frame, state)
            return None if inner is None else not inner
        if not isinstance(node, ast.Constant | ast.Name | ast.Compare | ast.Call | ast.Attribute):
            return None
        if isinstance(node, ast.Call) and last_name(node.func) not in STRING_METHODS | {"isinstance", "hasattr"}:
            return None
        verdicts_found = {self._truth_of(part) for part in self.value(node, frame, state)}
        return verdicts_found.pop() if len(verdicts_found) == 1 else None

    def _truth_of(self, part: Node) -> bool | None:
        part = bare(part)
        if isinstance(part, Const):
            return bool(part.value)
        if isinstance(part, Class | Function):
            return True
        return None

    def _bin_op(self, node: ast.expr, frame: Frame, state: State) -> Val:
        assert isinstance(node, ast.BinOp)
        left, right = self.value(node.left, frame, state), self.value(node.right, frame, state)
        first, second = bare(left[0]), bare(right[0])
        if isinstance(node.op, ast.BitOr) and (isinstance(first, Dict | DictView)):
            made = Dict(node)
            state.writable(made)
            self.update_dict(made, left, state)
            self.update_dict(made, right, state)
            return one(made)
        if isinstance(node.op, ast.Add) and len(left) == len(right) == 1:
            texts = [part.value for part in (first, second) if isinstance(part, Const) and isinstance(part.value, str)]
            if len(texts) == 2:
                return one(Const.of(texts[0] + texts[1]))
            known = [self.elements(left, state), self.elements(right, state)]
            if isinstance(first, Seq) and known[0] is not None and known[1] is not None:
                return one(Seq((*known[0], *known[1]), mutable=first.mutable))
        return one(Opaque(node, fed=self.is_fed(left, state) or self.is_fed(right, state)))

    def _unary(self, node: ast.expr, frame: Frame, state: State) -> Val:
        assert isinstance(node, ast.UnaryOp)
        value = self.value(node.operand, frame, state)
        only = bare(value[0]) if len(value) == 1 else UNKNOWN
        if isinstance(only, Const) and isinstance(node.op, ast.Not):
            return one(Const.of(not only.value))
        if isinstance(only, Const) and isinstance(node.op, ast.USub) and isinstance(only.value, int | float):
            return one(Const.of(-only.value))
        return one(Opaque(node, fed=False))

    def _compare(self, node: ast.expr, frame: Frame, state: State) -> Val:
        assert isinstance(node, ast.Compare)
        operands = [node.left, *node.comparators]
        values = [bare_all(self.value(part, frame, state)) for part in operands]
        if len(values) == 2 and len(values[0]) == len(values[1]) == 1:
            verdict = self._compare_two(node.ops[0], values[0][0], values[1][0])
            if verdict is not None:
                return one(Const.of(verdict))
        return one(Opaque(node, fed=False))

    def _compare_two(self, op: ast.cmpop, left: Node, right: Node) -> bool | None:
        if isinstance(op, ast.Is | ast.IsNot | ast.Eq | ast.NotEq):
            same: bool | None = None
            if isinstance(left, Const) and isinstance(right, Const):
                same = left == right
            elif isinstance(right, Const) and right.value is None and isinstance(left, Obj | Dict | Seq | AbsentMark):
                same = False
            if same is None:
                return None
            return same if isinstance(op, ast.Is | ast.Eq) else not same
        if isinstance(op, ast.In | ast.NotIn) and isinstance(left, Const) and isinstance(right, Seq) and right.complete:
            members = [bare(item[0]) for item in right.items if len(item) == 1]
            if len(members) == len(right.items) and all(isinstance(member, Const) for member in members):
                return (left in members) is isinstance(op, ast.In)
        return None

    def _walrus(self, node: ast.expr, frame: Frame, state: State) -> Val:
        assert isinstance(node, ast.NamedExpr)
        value = self.value(node.value, frame, state)
        self.assign(node.target, value, frame, state)
        return value

    def _await(self, node: ast.expr, frame: Frame, state: State) -> Val:
        assert isinstance(node, ast.Await)
        return self.value(node.value, frame, state)

    def _yield(self, node: ast.expr, frame: Frame, state: State) -> Val:
        assert isinstance(node, ast.Yield | ast.YieldFrom)
        if node.value is not None:
            self.note_yield(self.value(node.value, frame, state), frame, state, node)
        return one(UNKNOWN)

    # Iteration

    def elements(self, value: Val, state: State) -> list[Val] | None:
        """The elements of an iterable one by one, where they are known and few."""
        if len(value) != 1:
            return None
        node = bare(value[0])
        if isinstance(node, Seq):
            return list(node.items) if node.complete and len(node.items) <= _UNROLL else None
        if isinstance(node, Const) and isinstance(node.value, tuple | frozenset):
            return [one(Const.of(part)) for part in node.value]
        if isinstance(node, Dict):
            entries, rest, is_open = self.mapping(node, state)
            return None if rest or is_open else [one(Const.of(key)) for key in entries]
        if isinstance(node, DictView) and self.class_of(node.target) is not None:
            return [one(Const.of(key)) for key in self._view_entries(node, state)[0]]
        return None

    def element(self, value: Val, state: State) -> Val:
        """One element of an iterable that is not known element by element."""
        found: list[Val] = []
        for part in value:
            node = bare(part)
            if isinstance(node, Seq) and node.items:
                found += node.items
            elif isinstance(node, Param | Attr | Item | Opaque):
                found.append(one(Item(node)))
            else:
                found.append(one(UNKNOWN))
        return join(found)

    def _iterate(
        self, generators: list[ast.comprehension], frame: Frame, state: State, *, exact: bool = True
    ) -> Iterator[bool]:
        """Run the loops of a comprehension; yields, for each round, whether its elements are exactly known."""
        first, *others = generators
        iterable = self.value(first.iter, frame, state)
        known = self.elements(iterable, state)
        rounds = known if known is not None else [self.element(iterable, state)]
        exact = exact and known is not None
        for item in rounds:
            self.assign(first.target, item, frame, state)
            if any(self.truth(test, frame, state) is False for test in first.ifs):
                continue
            if others:
                yield from self._iterate(others, frame, state, exact=exact)
            else:
                yield exact

    def _comprehension(self, node: ast.expr, frame: Frame, state: State) -> Val:
        assert isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp)
        inner = Frame(frame.module, frame.info, frame, frame.depth, frame.owner, frame.receiver, frame.root)
        inner.local_functions = frame.local_functions
        items: list[Val] = []
        complete = True
        for exact in self._iterate(node.generators, inner, state):
            items.append(self.value(node.elt, inner, state))
            complete = complete and exact
        return one(Seq(tuple(items), complete, mutable=isinstance(node, ast.ListComp)))

    def _dict_comprehension(self, node: ast.expr, frame: Frame, state: State) -> Val:
        assert isinstance(node, ast.DictComp)
        inner = Frame(frame.module, frame.info, frame, frame.depth, frame.owner, frame.receiver, frame.root)
        inner.local_functions = frame.local_functions
        made = Dict(node)
        state.writable(made)
        for _ in self._iterate(node.generators, inner, state):
            key = self.value(node.key, inner, state)
            self.write_key(made, key, self.value(node.value, inner, state), state)
        return one(made)

    # Interest

    def is_fed(self, value: Val, state: State, depth: int = 0) -> bool:
        """Whether a value may contain a carrier: what comes out of a call with it may be that carrier."""
        return depth < 4 and any(self._is_fed_node(node, state, depth) for node in value)

    def _is_fed_node(self, node: Node, state: State, depth: int) -> bool:
        if isinstance(node, Read):
            plan = self.plans.of(node.owner.cls)
            if plan is not None and plan.kind(node.name) not in {None, "Transferable"}:
                return False
            return self._is_fed_node(node.value, state, depth)
        if isinstance(node, Attr):
            plan = self.plans.of(self.class_of(node.owner))
            if plan is None:
                return not (isinstance(node.owner, Param) and node.owner.is_global)
            kind = plan.kind(node.name)
            return kind == "Transferable" or (kind is None and plan.origin != "declared")
        if isinstance(node, Param):
            return self.plans.of(node.cls) is not None or (node.cls is None and not node.typed and not node.is_global)
        if isinstance(node, Opaque):
            return node.fed or bool(node.copies)
        if isinstance(node, Item):
            return self._is_fed_node(node.owner, state, depth)
        if isinstance(node, Seq):
            return any(self.is_fed(item, state, depth + 1) for item in node.items)
        if isinstance(node, Dict):
            return any(self.is_fed(item, state, depth + 1) for item in state.entries(node).values())
        return not isinstance(node, Const | Blank | AbsentMark | Class | Module | Native | Function)
