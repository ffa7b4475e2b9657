"""Evaluation of expressions: which objects their value may be, and from where."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from mypy.nodes import (
    AssertTypeExpr,
    AssignmentExpr,
    AwaitExpr,
    BytesExpr,
    CallExpr,
    CastExpr,
    ComparisonExpr,
    ConditionalExpr,
    DictExpr,
    DictionaryComprehension,
    Expression,
    FloatExpr,
    GeneratorExpr,
    IndexExpr,
    IntExpr,
    LambdaExpr,
    ListComprehension,
    ListExpr,
    MemberExpr,
    NameExpr,
    OpExpr,
    RevealExpr,
    SetComprehension,
    SetExpr,
    StarExpr,
    StrExpr,
    TupleExpr,
    TypeApplication,
    TypeInfo,
    UnaryExpr,
    Var,
    YieldExpr,
    YieldFromExpr,
)
from mypy.types import get_proper_type

from ownership.mypy_plugin._frame import Exit
from ownership.mypy_plugin._plans import plan_class
from ownership.mypy_plugin._values import (
    UNKNOWN,
    Blank,
    Class,
    Constant,
    Entries,
    Function,
    Made,
    Node,
    Obj,
    Root,
    Seq,
    State,
    Taken,
    Val,
    absence_of,
    flag_of,
    join,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ownership.mypy_plugin._budget import Budget
    from ownership.mypy_plugin._frame import Frame
    from ownership.mypy_plugin._plans import Plans
    from ownership.mypy_plugin._typing import TypeReader

__all__ = ["MOST_NAMES", "Expressions", "dotted", "names_in"]


class Expressions(ABC):
    """The part of the interpreter that evaluates; calls are left to `call`."""

    plans: Plans
    types: TypeReader
    budget: Budget

    @abstractmethod
    def call(self, node: CallExpr, frame: Frame, state: State) -> Val: ...

    @abstractmethod
    def learn(self, node: Expression, frame: Frame, state: State, *, holds: bool) -> None: ...

    def evaluate(self, node: Expression, frame: Frame, state: State) -> Val:
        """The alternatives for the value of an expression."""
        self.budget.spend()
        how = _HOW.get(type(node))
        return how(self, node, frame, state) if how is not None else (UNKNOWN,)

    def inner(self, node: AwaitExpr | RevealExpr, frame: Frame, state: State) -> Val:
        return self.evaluate(node.expr, frame, state) if node.expr is not None else (UNKNOWN,)

    def typed(self, node: CastExpr | AssertTypeExpr | TypeApplication, frame: Frame, state: State) -> Val:
        return self.evaluate(node.expr, frame, state)

    def walrus(self, node: AssignmentExpr, frame: Frame, state: State) -> Val:
        value = self.evaluate(node.value, frame, state)
        state.names[frame.key(node.target.name)] = value
        return value

    def operation(self, node: OpExpr, frame: Frame, state: State) -> Val:
        """A long sum is nested as deep as it is long: its left side is not evaluated by recursion."""
        spine = [node]
        while isinstance(spine[-1].left, OpExpr):
            spine.append(spine[-1].left)
        left = self.evaluate(spine[-1].left, frame, state)
        for each in reversed(spine):
            right = self.evaluate(each.right, frame, state)
            if each.op in {"or", "and"}:
                left = join([left, right])
            elif each.op == "+" and all(isinstance(part, Seq) for part in (*left, *right)):
                left = tuple(Seq((*a.items, *b.items)) for a in left for b in right)  # type: ignore[attr-defined]
            elif each.op == "|" and all(isinstance(part, Entries) for part in (*left, *right)):
                left = self.united(left, right, state)
            else:
                left = (UNKNOWN,)
        return left

    def elements(self, node: TupleExpr | ListExpr | SetExpr, frame: Frame, state: State) -> Val:
        return self.display(node.items, frame, state)

    def listed(self, node: ListComprehension | SetComprehension, frame: Frame, state: State) -> Val:
        return self.generated(node.generator, frame, state)

    def generated(self, node: GeneratorExpr, frame: Frame, state: State) -> Val:
        return self.comprehension(node, node.left_expr, frame, state)

    def mapped(self, node: DictionaryComprehension, frame: Frame, state: State) -> Val:
        """`{name: getattr(plan, name) for name in ("fold", "pack")}` has an entry for each of the names."""
        index, simple = node.indices[0], len(node.indices) == 1 and not any(node.condlists)
        names = names_in(node.sequences[0]) if simple else None
        if names is None or not (isinstance(index, NameExpr) and isinstance(node.key, NameExpr)):
            return self.comprehension(node, node.value, frame, state)
        if index.name != node.key.name:
            return self.comprehension(node, node.value, frame, state)
        made = Entries()
        entries: dict[str, Val] = {}
        for name in names:
            state.names[frame.key(index.name)] = (Constant(name),)
            entries[name] = self.evaluate(node.value, frame, state)
        del state.names[frame.key(index.name)]
        state.slots[made] = entries
        return (made,)

    def comparison(self, node: ComparisonExpr, frame: Frame, state: State) -> Val:
        for operand in node.operands:
            self.evaluate(operand, frame, state)
        return (UNKNOWN,)

    def unary(self, node: UnaryExpr, frame: Frame, state: State) -> Val:
        value = self.evaluate(node.expr, frame, state)
        flag = flag_of(value)
        return (Constant(not flag),) if node.op == "not" and flag is not None else (UNKNOWN,)

    def delegated(self, node: StarExpr | YieldFromExpr, frame: Frame, state: State) -> Val:
        self.evaluate(node.expr, frame, state)
        return (UNKNOWN,)

    def yielded(self, node: YieldExpr, frame: Frame, state: State) -> Val:
        if node.expr is not None:
            value = self.evaluate(node.expr, frame, state)
            frame.exits.append(Exit(node, value, state.copy(), returns=True))
        return (UNKNOWN,)

    def function(self, node: LambdaExpr, frame: Frame, state: State) -> Val:
        return (Function(node),)

    def string(self, node: StrExpr, frame: Frame, state: State) -> Val:
        return (Constant(node.value),)

    def name(self, node: NameExpr, frame: Frame, state: State) -> Val:
        if node.name == "None" and node.fullname == "builtins.None":
            return (Blank("None"),)
        held = frame.lookup(node.name, state)
        if held is not None:
            return held
        if isinstance(node.node, TypeInfo):
            return (Class(node.node),)
        if node.fullname in {"builtins.True", "builtins.False"}:
            return (Constant(node.name == "True"),)
        info, known = self.types.class_of(node)
        made = self.types.made_class(node) if info is None else None
        if made is not None:
            return (Class(made),)
        return (absence_of(info) or Root(node.name, info, known=known),)

    def member(self, node: MemberExpr, frame: Frame, state: State, owners: Val | None = None) -> Val:
        """An attribute; `owners` where what it is an attribute of was evaluated before."""
        if isinstance(node.node, TypeInfo):
            return (Class(node.node),)
        text = dotted(node)
        if text is not None:
            held = frame.lookup(text, state)
            if held is not None:
                return held
        if node.name == "__dict__":
            if owners is None:
                owners = self.evaluate(node.expr, frame, state)
            return tuple(Entries(of=owner) for owner in owners)
        if node.name == "__class__":
            made = self.types.made_class(node)
            return (Class(made),) if made is not None else (UNKNOWN,)
        if owners is None:
            owners = self.evaluate(node.expr, frame, state)
        return join([self.attribute(owner, node.name, state, node) for owner in owners])

    def attribute(self, owner: Node, name: str, state: State, node: Expression | None = None) -> Val:
        """The attribute of one object, by what was put there or as the one that it came with."""
        if isinstance(owner, Obj):
            value = state.slots.get(owner, {}).get(name)
            if value is not None:
                # What was made for this object is, to whom reads it, this object's.
                return tuple(Taken(owner, name, part.info) if isinstance(part, Made) else part for part in value)
            if owner.base is not None:
                return self.attribute(owner.base, name, state, node)
            info, known = self._declared(owner.info, name)
            return (Taken(owner, name, info, known),)
        if isinstance(owner, Root | Taken | Made):
            info, known = self._declared(owner.info, name) if owner.info is not None else (None, owner.known)
            if info is None and node is not None:
                info, seen = self.types.class_of(node)
                known = known and seen
            return (Taken(owner, name, info, known),)
        return (UNKNOWN,)

    def _declared(self, info: TypeInfo, name: str) -> tuple[TypeInfo | None, bool]:
        symbol = info.get(name)
        if symbol is None or not isinstance(symbol.node, Var):
            return None, True
        return plan_class(symbol.node.type), True

    def conditional(self, node: ConditionalExpr, frame: Frame, state: State) -> Val:
        self.evaluate(node.cond, frame, state)
        other = state.copy()
        self.learn(node.cond, frame, state, holds=True)
        chosen = self.evaluate(node.if_expr, frame, state)
        self.learn(node.cond, frame, other, holds=False)
        value = join([chosen, self.evaluate(node.else_expr, frame, other)])
        state.become(State.merge([state.copy(), other]))
        return value

    def display(self, items: list[Expression], frame: Frame, state: State) -> Val:
        values: list[Val] = []
        starred = False
        for item in items:
            if type(item) in _LITERALS and not isinstance(item, StrExpr):  # a table can have many thousands of them
                values.append((UNKNOWN,))
                continue
            values.append(self.evaluate(item, frame, state))
            starred = starred or isinstance(item, StarExpr)
        return (UNKNOWN,) if starred else (Seq(tuple(values)),)

    def dictionary(self, node: DictExpr, frame: Frame, state: State) -> Val:
        made = Entries()
        entries: dict[str, Val] = {}
        for key, item in node.items:
            value: Val = (UNKNOWN,) if type(item) in _LITERALS else self.evaluate(item, frame, state)
            if key is None:
                entries |= self.unpacked(value, made, state)
            elif isinstance(key, StrExpr):
                entries[key.value] = value
            else:
                made.open = True
        state.slots[made] = entries
        return (made,)

    def united(self, left: Val, right: Val, state: State) -> Val:
        """`first | second`, of two dicts."""
        made = Entries()
        state.slots[made] = self.unpacked(left, made, state) | self.unpacked(right, made, state)
        return (made,)

    def pairs(self, node: Expression, value: Val, state: State) -> Val | None:
        """The dict that `dict([("fold", plan.fold), ...])` makes of its argument; None where it has other keys."""
        rows = node.items if isinstance(node, TupleExpr | ListExpr) else []
        keys = [row.items[0] for row in rows if isinstance(row, TupleExpr | ListExpr) and len(row.items) == 2]
        held = value[0].items if len(value) == 1 and isinstance(value[0], Seq) else ()
        if not rows or len(keys) != len(rows) or len(held) != len(rows):
            return None
        made = Entries()
        entries: dict[str, Val] = {}
        for key, item in zip(keys, held, strict=True):
            pair = item[0] if len(item) == 1 else None
            if not isinstance(key, StrExpr) or not isinstance(pair, Seq):
                return None
            entries[key.value] = pair.items[1]
        state.slots[made] = entries
        return (made,)

    def copied_entries(self, given: Entries, state: State) -> Entries:
        """Another dict with the same entries."""
        made = Entries(of=given.of, copies=given.copies, open=given.open)
        state.slots[made] = dict(state.slots.get(given, {}))
        return made

    def unpacked(self, value: Val, into: Entries, state: State) -> dict[str, Val]:
        """The entries that `**value` contributes; `into` is opened where they are not all known."""
        if len(value) != 1 or not isinstance(value[0], Entries):
            into.open = True
            return {}
        given = value[0]
        into.open = into.open or given.open
        found: dict[str, Val] = {}
        if given.of is not None:
            plan = self.plans.of(getattr(given.of, "info", None))
            if plan is None:
                into.open = True
            else:
                for name in plan.kinds:
                    taken = self.attribute(given.of, name, state)
                    found[name] = (
                        (Made(f"a copy of {name}", fed=True, copies=True, origin=given.of),) if given.copies else taken
                    )
        return found | state.slots.get(given, {})

    def item(self, node: IndexExpr, frame: Frame, state: State) -> Val:
        base = self.evaluate(node.base, frame, state)
        self.evaluate(node.index, frame, state)
        found: list[Val] = []
        for part in base:
            if isinstance(part, Seq) and isinstance(node.index, IntExpr) and node.index.value < len(part.items):
                found.append(part.items[node.index.value])
            elif isinstance(part, Made) and part.text == _COMPREHENSION:
                found += part.parts
            elif isinstance(part, Entries) and isinstance(node.index, StrExpr):
                held = state.slots.get(part, {}).get(node.index.value)
                if held is None and part.of is not None and not part.copies:
                    held = self.attribute(part.of, node.index.value, state)
                found.append(held if held is not None else (UNKNOWN,))
            else:
                info, known = self.types.class_of(node)
                plan = self.plans.of(info)
                text = dotted(node.base)
                found.append((Root(f"{text}[...]", info, known),) if plan is not None and text else (UNKNOWN,))
        return join(found)

    def comprehension(
        self, node: GeneratorExpr | DictionaryComprehension, element: Expression, frame: Frame, state: State
    ) -> Val:
        for sequence, index in zip(node.sequences, node.indices, strict=True):
            self.assign_each(index, self.evaluate(sequence, frame, state), frame, state)
        for conditions in node.condlists:
            for condition in conditions:
                self.evaluate(condition, frame, state)
        value = self.evaluate(element, frame, state)
        return (Made(_COMPREHENSION, fed=False, copies=True, parts=(value,)),)

    @abstractmethod
    def assign_each(self, target: Expression, value: Val, frame: Frame, state: State) -> None: ...

    def literal(self, node: Expression, frame: Frame, state: State) -> str | None:
        """The text of a string literal, also one that is a constant of type `Literal`."""
        if isinstance(node, StrExpr):
            return node.value
        held = frame.lookup(node.name, state) if isinstance(node, NameExpr) else None
        if held is not None and len(held) == 1 and isinstance(held[0], Constant):
            return held[0].value if isinstance(held[0].value, str) else None
        proper = get_proper_type(self.types.type_of(node))
        value = getattr(getattr(proper, "last_known_value", proper), "value", None)
        return value if isinstance(value, str) else None


#: What a list is called that is made by a comprehension.
_COMPREHENSION = "a comprehension"
#: A longer list of names is no copy list.
MOST_NAMES = 64


#: What is evaluated, and how; anything else is unknown.
_HOW: dict[type[Expression], Callable[[Expressions, Any, Frame, State], Val]] = {
    NameExpr: Expressions.name,
    MemberExpr: Expressions.member,
    CallExpr: lambda self, node, frame, state: self.call(node, frame, state),
    AwaitExpr: Expressions.inner,
    RevealExpr: Expressions.inner,
    CastExpr: Expressions.typed,
    AssertTypeExpr: Expressions.typed,
    TypeApplication: Expressions.typed,
    AssignmentExpr: Expressions.walrus,
    ConditionalExpr: Expressions.conditional,
    OpExpr: Expressions.operation,
    TupleExpr: Expressions.elements,
    ListExpr: Expressions.elements,
    SetExpr: Expressions.elements,
    DictExpr: Expressions.dictionary,
    IndexExpr: Expressions.item,
    ListComprehension: Expressions.listed,
    SetComprehension: Expressions.listed,
    GeneratorExpr: Expressions.generated,
    DictionaryComprehension: Expressions.mapped,
    ComparisonExpr: Expressions.comparison,
    UnaryExpr: Expressions.unary,
    StarExpr: Expressions.delegated,
    YieldFromExpr: Expressions.delegated,
    YieldExpr: Expressions.yielded,
    LambdaExpr: Expressions.function,
    StrExpr: Expressions.string,
}
#: What a table has in the place of a plan.
_LITERALS = {IntExpr, FloatExpr, StrExpr, BytesExpr}


def names_in(node: Expression) -> list[str] | None:
    """The strings of a tuple or list that is written out: a copy list is often a loop over names."""
    if isinstance(node, TupleExpr | ListExpr) and node.items:
        names = [item.value for item in node.items if isinstance(item, StrExpr)]
        return names if len(names) == len(node.items) <= MOST_NAMES else None
    return None


def dotted(node: Expression) -> str | None:
    """`a.b.c` as it is written, or None for anything else."""
    if isinstance(node, NameExpr):
        return node.name
    if isinstance(node, MemberExpr):
        base = dotted(node.expr)
        return f"{base}.{node.name}" if base is not None else None
    return None
