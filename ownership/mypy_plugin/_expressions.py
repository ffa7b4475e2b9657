"""Evaluation of expressions: which objects their value may be, and from where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy.nodes import (
    AssertTypeExpr,
    AssignmentExpr,
    AwaitExpr,
    CallExpr,
    CastExpr,
    ComparisonExpr,
    ConditionalExpr,
    DictExpr,
    DictionaryComprehension,
    Expression,
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
    from ownership.mypy_plugin._frame import Frame
    from ownership.mypy_plugin._plans import Plans
    from ownership.mypy_plugin._typing import TypeReader

__all__ = ["Expressions", "dotted"]


class Expressions:
    """The part of the interpreter that evaluates; calls are left to `call`."""

    plans: Plans
    types: TypeReader

    def call(self, node: CallExpr, frame: Frame, state: State) -> Val:
        raise NotImplementedError

    def evaluate(self, node: Expression, frame: Frame, state: State) -> Val:
        """The alternatives for the value of an expression."""
        match node:
            case NameExpr():
                return self.name(node, frame, state)
            case MemberExpr():
                return self.member(node, frame, state)
            case CallExpr():
                return self.call(node, frame, state)
            case AwaitExpr() | RevealExpr():
                return self.evaluate(node.expr, frame, state) if node.expr is not None else (UNKNOWN,)
            case CastExpr() | AssertTypeExpr() | TypeApplication():
                return self.evaluate(node.expr, frame, state)
            case AssignmentExpr():
                value = self.evaluate(node.value, frame, state)
                state.names[frame.key(node.target.name)] = value
                return value
            case ConditionalExpr():
                return self.conditional(node, frame, state)
            case OpExpr():
                left = self.evaluate(node.left, frame, state)
                right = self.evaluate(node.right, frame, state)
                if node.op in {"or", "and"}:
                    return join([left, right])
                if node.op == "+" and all(isinstance(part, Seq) for part in (*left, *right)):
                    return tuple(Seq((*a.items, *b.items)) for a in left for b in right)  # type: ignore[attr-defined]
                return (UNKNOWN,)
            case TupleExpr() | ListExpr() | SetExpr():
                return self.display(node.items, frame, state)
            case DictExpr():
                return self.dictionary(node, frame, state)
            case IndexExpr():
                return self.item(node, frame, state)
            case ListComprehension() | SetComprehension():
                return self.comprehension(node.generator, node.generator.left_expr, frame, state)
            case GeneratorExpr():
                return self.comprehension(node, node.left_expr, frame, state)
            case DictionaryComprehension():
                return self.comprehension(node, node.value, frame, state)
            case ComparisonExpr():
                for operand in node.operands:
                    self.evaluate(operand, frame, state)
                return (UNKNOWN,)
            case UnaryExpr():
                value = self.evaluate(node.expr, frame, state)
                flag = flag_of(value)
                return (Constant(not flag),) if node.op == "not" and flag is not None else (UNKNOWN,)
            case StarExpr() | YieldFromExpr():
                self.evaluate(node.expr, frame, state)
                return (UNKNOWN,)
            case YieldExpr():
                if node.expr is not None:
                    value = self.evaluate(node.expr, frame, state)
                    frame.exits.append(Exit(node, value, state.copy(), returns=True))
                return (UNKNOWN,)
            case LambdaExpr():
                return (UNKNOWN,)
            case _:
                return (UNKNOWN,)

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

    def member(self, node: MemberExpr, frame: Frame, state: State) -> Val:
        if isinstance(node.node, TypeInfo):
            return (Class(node.node),)
        text = dotted(node)
        if text is not None:
            held = frame.lookup(text, state)
            if held is not None:
                return held
        if node.name == "__dict__":
            return tuple(Entries(of=owner) for owner in self.evaluate(node.expr, frame, state))
        if node.name == "__class__":
            made = self.types.made_class(node)
            return (Class(made),) if made is not None else (UNKNOWN,)
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
        return join([self.evaluate(node.if_expr, frame, state), self.evaluate(node.else_expr, frame, state)])

    def display(self, items: list[Expression], frame: Frame, state: State) -> Val:
        values: list[Val] = []
        for item in items:
            value = self.evaluate(item, frame, state)
            if isinstance(item, StarExpr):
                return (UNKNOWN,)
            values.append(value)
        return (Seq(tuple(values)),)

    def dictionary(self, node: DictExpr, frame: Frame, state: State) -> Val:
        made = Entries()
        entries: dict[str, Val] = {}
        for key, item in node.items:
            value = self.evaluate(item, frame, state)
            if key is None:
                entries |= self.unpacked(value, made, state)
            elif isinstance(key, StrExpr):
                entries[key.value] = value
            else:
                made.open = True
        state.slots[made] = entries
        return (made,)

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
            self.evaluate(sequence, frame, state)
            self.assign_each(index, frame, state)
        for conditions in node.condlists:
            for condition in conditions:
                self.evaluate(condition, frame, state)
        value = self.evaluate(element, frame, state)
        return (Made("a comprehension", fed=False, copies=True, parts=(value,)),)

    def assign_each(self, target: Expression, frame: Frame, state: State) -> None:
        raise NotImplementedError

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


def dotted(node: Expression) -> str | None:
    """`a.b.c` as it is written, or None for anything else."""
    if isinstance(node, NameExpr):
        return node.name
    if isinstance(node, MemberExpr):
        base = dotted(node.expr)
        return f"{base}.{node.name}" if base is not None else None
    return None
