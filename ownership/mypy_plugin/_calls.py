"""Evaluation of calls: what makes, completes or copies a plan, and functions of the same module, which are followed."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from mypy.nodes import (
    ArgKind,
    CallExpr,
    Expression,
    MemberExpr,
    NameExpr,
    RefExpr,
    StrExpr,
    SuperExpr,
    TypeInfo,
)

from ownership.mypy_plugin._frame import Frame
from ownership.mypy_plugin._making import Arguments, Making
from ownership.mypy_plugin._names import ASDICT, COPY, DEEPCOPY, REPLACE
from ownership.mypy_plugin._typing import result_class
from ownership.mypy_plugin._values import (
    UNKNOWN,
    Blank,
    Bound,
    Class,
    Entries,
    Function,
    Made,
    Node,
    Obj,
    Root,
    Seq,
    State,
    Stated,
    Taken,
    Val,
    absence_of,
    info_of,
    join,
)

if TYPE_CHECKING:
    from mypy.nodes import FuncItem, SymbolNode

__all__ = ["Calls"]

_TRANSFER = "ownership.transfer.transfer"
_SAME = {"typing.cast": 1, "typing.assert_type": 0, "typing_extensions.assert_type": 0, "typing.assert_never": 0}
_CONTAINERS = {f"builtins.{name}" for name in ("dict", "list", "tuple", "set", "frozenset")}
#: Builtins that keep and change nothing of what they are given.
_HARMLESS = {f"builtins.{name}" for name in ("isinstance", "print", "len", "id", "repr", "str", "hash", "bool", "type")}
_DEEPEST = 4
_MOST_CALLS = 200


class Calls(Making):
    """The part of the interpreter that follows calls."""

    materializers: frozenset[str]

    def __init__(self) -> None:
        self._calls = 0
        self._following: list[FuncItem] = []

    @abstractmethod
    def run(self, function: FuncItem, frame: Frame, state: State) -> None: ...

    def call(self, node: CallExpr, frame: Frame, state: State) -> Val:
        fullname = node.callee.fullname if isinstance(node.callee, RefExpr) else ""
        same = _SAME.get(fullname)
        if same is not None and len(node.args) > same:
            return self.evaluate(node.args[same], frame, state)
        special = self._special(fullname, node, frame, state)
        if special is not None:
            return special
        made = self.types.made_class(node.callee)
        receiver: Val | None = None
        if isinstance(node.callee, MemberExpr) and made is None:
            receiver = self.evaluate(node.callee.expr, frame, state)  # once: it may be a long chain of calls
        callee: Val = ()
        if made is None and isinstance(node.callee, MemberExpr):
            callee = self.member(node.callee, frame, state, receiver)
        elif made is None and isinstance(node.callee, NameExpr):
            callee = self.name(node.callee, frame, state)
        elif isinstance(node.callee, CallExpr):
            callee = self.evaluate(node.callee, frame, state)
        if callee:
            bound = next((part for part in callee if isinstance(part, Bound)), None)
            if bound is not None:
                return self.construct(bound.info, node, frame, state, bound)
            made = next((part.info for part in callee if isinstance(part, Class)), None)
            local = next((part.node for part in callee if isinstance(part, Function)), None)
            if local is not None:
                return self.follow(local, None, self.arguments(node, frame, state), frame, state)
        if made is not None:
            return self.construct(made, node, frame, state)
        if isinstance(node.callee, SuperExpr):
            return self.super_call(node.callee, node, frame, state)
        if isinstance(node.callee, MemberExpr):
            found = self._method(node.callee, receiver or (UNKNOWN,), node, frame, state)
            if found is not None:
                return found
        return self._function(receiver, node, frame, state)

    def _special(self, fullname: str, node: CallExpr, frame: Frame, state: State) -> Val | None:
        if fullname in REPLACE and node.args:
            arguments = self.arguments(node, frame, state)
            return self.replace(arguments[0][2], node.args[0], arguments[1:], node, frame, state)
        if fullname == _TRANSFER:
            return self.transfer(self.arguments(node, frame, state), node, frame, state)
        if fullname in COPY | DEEPCOPY and node.args:
            value = self.evaluate(node.args[0], frame, state)
            return self.copied(value, node, frame, state, deep=fullname in DEEPCOPY)
        if fullname in ASDICT and node.args:
            value = self.evaluate(node.args[0], frame, state)
            if len(value) == 1 and self.plans.of(info_of(value[0])) is not None:
                return (Entries(of=value[0], copies=True),)
            return (UNKNOWN,)
        if fullname == "builtins.vars" and len(node.args) == 1:
            value = self.evaluate(node.args[0], frame, state)
            return (Entries(of=value[0]),) if len(value) == 1 else (UNKNOWN,)
        if fullname == "ownership.absence.Absent":
            return (Stated("Absent"),)
        if fullname == "ownership.absence.Dropped":
            named = node.args[0] if node.args else None
            return (Stated("Dropped", self.literal(named, frame, state) if named is not None else None),)
        if fullname == "builtins.getattr" and len(node.args) >= 2:
            return self._getattr(node, frame, state)
        if fullname == "builtins.setattr" and len(node.args) == 3:
            self._setattr(node.args, node, frame, state)
            return (UNKNOWN,)
        if fullname == "builtins.dict" or (fullname in _CONTAINERS and len(node.args) <= 1):
            return self._container(fullname, node, frame, state)
        return None

    def _container(self, fullname: str, node: CallExpr, frame: Frame, state: State) -> Val:
        if fullname == "builtins.dict" and not any(kind.is_positional() for kind in node.arg_kinds):
            made = Entries()
            state.slots[made] = self.named(self.arguments(node, frame, state), [], state)[0]
            made.open = any(kind is ArgKind.ARG_STAR2 for kind in node.arg_kinds)
            return (made,)
        arguments = self.arguments(node, frame, state)
        if not arguments:
            return (Seq(()),)
        if len(arguments) > 1:
            return (UNKNOWN,)
        value = arguments[0][2]
        if fullname == "builtins.dict":
            if any(isinstance(part, Entries) for part in value):
                return tuple(self.copied_entries(part, state) if isinstance(part, Entries) else part for part in value)
            pairs = self.pairs(node.args[0], value, state)
            if pairs is not None:
                return pairs
        if fullname in {"builtins.tuple", "builtins.frozenset"} and all(
            isinstance(part, Seq | Taken) for part in value
        ):
            return value  # one that is given comes back; of a list written out, the elements are the same
        origin = next((part.owner for part in value if isinstance(part, Taken)), None)
        copied = origin is not None
        fed = not copied and self.is_fed(value, state)
        return (Made(f"{fullname.partition('.')[2]}(...)", fed=fed, copies=copied, origin=origin),)

    def _getattr(self, node: CallExpr, frame: Frame, state: State) -> Val:
        owner = self.evaluate(node.args[0], frame, state)
        name = self.literal(node.args[1], frame, state)
        if name is None:
            return (UNKNOWN,)
        return join(self.attribute(part, name, state, node) for part in owner)

    def _setattr(self, arguments: list[Expression], node: CallExpr, frame: Frame, state: State) -> None:
        target, name_expression, value_expression = arguments
        owner = self.evaluate(target, frame, state)
        value = self.evaluate(value_expression, frame, state)
        name = self.literal(name_expression, frame, state)
        for part in owner:
            if name is None:
                if isinstance(part, Obj):
                    part.open = True
            else:
                self.put(part, name, value, node, frame, state)

    def _method(self, callee: MemberExpr, receiver: Val, node: CallExpr, frame: Frame, state: State) -> Val | None:
        name = callee.name
        if name == "__setattr__" and len(node.args) == 3:
            self._setattr(node.args, node, frame, state)
            return (UNKNOWN,)
        if name == "__new__" and node.args:
            return self.new(node, frame, state)
        if name == "__init__":
            return self.super_init(callee, node, frame, state)
        kinds = [self.plans.of(info_of(part)) for part in receiver]
        if name in {"_replace", "__replace__"} and any(kinds):
            return self.replace(receiver, callee.expr, self.arguments(node, frame, state), node, frame, state)
        if name == "model_copy" and any(kinds):
            return self.model_copy(receiver, callee.expr, node, frame, state)
        if name == "_asdict" and len(receiver) == 1 and any(kinds):
            return (Entries(of=receiver[0]),)
        if len(receiver) == 1 and isinstance(receiver[0], Entries):
            return self._dict_method(receiver[0], name, node, frame, state)
        if any(kinds) and not isinstance(callee.node, TypeInfo):
            return self._plan_method(receiver, callee, node, frame, state)
        return None

    def _dict_method(self, entries: Entries, name: str, node: CallExpr, frame: Frame, state: State) -> Val:
        arguments = self.arguments(node, frame, state)
        if name == "update":
            held = state.entries(entries)
            for label, _, value in arguments:
                if label is None:
                    held |= self.unpacked(value, entries, state)
                elif label == "**":
                    entries.open = True
                else:
                    held[label] = value
        elif name in {"get", "pop"} and node.args and isinstance(node.args[0], StrExpr):
            missing: Val = (UNKNOWN,) if entries.open or entries.of is not None else (Blank("None"),)
            return state.entries(entries).get(node.args[0].value, missing)
        elif name not in {"items", "keys", "values", "copy", "get"}:
            entries.open = True
        return (self.copied_entries(entries, state),) if name == "copy" else (UNKNOWN,)

    def _plan_method(self, receiver: Val, callee: MemberExpr, node: CallExpr, frame: Frame, state: State) -> Val:
        """A method of a plan: followed if it is written here; else it is trusted to return a complete plan."""
        arguments = self.arguments(node, frame, state)
        symbol = self.types.method_of(info_of(receiver[0]), callee.name)
        body = self.types.body_of(symbol)
        if body is not None and len(receiver) == 1 and not body.is_static and not body.is_class:
            return self.follow(body, receiver, arguments, frame, state)
        self.spoil(arguments, receiver, state)
        info, known = self.types.class_of(node)
        if info is None:
            info = result_class(symbol)
        return (Made(self.text_of(node), fed=True, info=info, known=known or info is not None),)

    def _function(self, value: Val | None, node: CallExpr, frame: Frame, state: State) -> Val:
        """Any other call; `value` is what it is a method of."""
        arguments = self.arguments(node, frame, state)
        symbol = node.callee.node if isinstance(node.callee, RefExpr) else None
        receiver: Val | None = None
        if symbol is None and isinstance(node.callee, MemberExpr):
            receiver = value or (UNKNOWN,)
            symbol = self._method_symbol(node.callee, receiver)
        fed = any(self.is_fed(value, state) for _, _, value in arguments)
        body = self.types.body_of(symbol)
        info = result_class(symbol)
        if info is None:
            info, known = self.types.class_of(node)
        else:
            known = True
        plan = self.plans.of(info)
        if body is not None and (fed or plan is not None):
            bound = receiver if receiver is not None and not body.is_static else None
            if body.is_class and bound is None:
                bound = (UNKNOWN,)
            followed = self.follow(body, bound, arguments, frame, state)
            if not all(part is UNKNOWN for part in followed):
                return followed
        fullname = node.callee.fullname if isinstance(node.callee, RefExpr) else ""
        given = fullname not in _HARMLESS and self.spoil(arguments, receiver, state)
        if plan is not None and not given and not fed:
            made = Obj(plan.info, node, "plan", planned=True, text=self.text_of(node))
            state.slots[made] = {}
            frame.made.append(made)
            return (made,)
        return (absence_of(info) or Made(self.text_of(node), fed=fed, info=info, known=known),)

    def _method_symbol(self, callee: MemberExpr, receiver: Val) -> SymbolNode | None:
        info = info_of(receiver[0]) if len(receiver) == 1 else None
        if info is None:
            info, _ = self.types.class_of(callee.expr)
        if info is None:
            info = self.types.made_class(callee.expr)
        return self.types.method_of(info, callee.name)

    def is_fed(self, value: Val, state: State) -> bool:
        """Whether a plan, or a part of one, is in the value."""
        for part in value:
            if isinstance(part, Obj) or (isinstance(part, Made) and part.fed):
                return True
            if self.plans.of(info_of(part)) is not None:
                return True
            if isinstance(part, Taken) and self._is_carrier(part):
                return True
            if isinstance(part, Seq) and any(self.is_fed(item, state) for item in part.items):
                return True
            if isinstance(part, Entries):
                inner = state.slots.get(part, {})
                if part.of is not None or any(self.is_fed(item, state) for item in inner.values()):
                    return True
        return False

    def _is_carrier(self, taken: Taken) -> bool:
        plan = self.plans.of(info_of(taken.owner))
        return plan is not None and taken.name in plan.transferable

    def spoil(self, arguments: Arguments, receiver: Val | None, state: State) -> bool:
        """A function out of sight may complete a plan that it is given together with a source of its carriers.

        Returns whether a plan made in sight was among the arguments, so that the result may be that plan, completed.
        """
        values = [value for _, _, value in arguments]
        if receiver is not None:
            values.append(receiver)
        given = False
        for index, value in enumerate(values):
            for obj in value:
                if isinstance(obj, Obj):
                    given = True
                    # The alternatives of one argument are never there together.
                    others = (part for other in (*values[:index], *values[index + 1 :]) for part in other)
                    obj.open = obj.open or any(self._may_complete(part, obj, state) for part in others)
        return given

    def _may_complete(self, other: Node, obj: Obj, state: State) -> bool:
        """Whether carriers for a plan may be taken from another argument."""
        if isinstance(other, Obj):
            return True
        if not isinstance(other, Root | Taken | Made):
            return False
        owners = {p.owner for value in state.slots.get(obj, {}).values() for p in value if isinstance(p, Taken)}
        return other in owners or self.plans.of(info_of(other)) is not None or self.is_fed((other,), state)

    def follow(
        self,
        function: FuncItem,
        receiver: Val | None,
        arguments: Arguments,
        frame: Frame,
        state: State,
    ) -> Val:
        """What a function of this module returns for these arguments; it may change plans that it is given."""
        if (
            frame.depth >= _DEEPEST
            or self._calls >= _MOST_CALLS
            or function in self._following
            or function.is_generator
        ):
            self.spoil(arguments, receiver, state)
            return (UNKNOWN,)
        self._calls += 1
        parent = next((each for each in _around(frame) if function in _defined(each, state)), None)
        inner = Frame(function, frame.depth + 1, parent)
        names: list[str | None] = [argument.variable.name for argument in function.arguments]
        given = list(arguments)
        if receiver is not None and names:
            state.names[inner.key(names[0] or "")] = receiver
            names = names[1:]
        values, _, is_open = self.named(given, names, state)
        for argument in function.arguments:
            name = argument.variable.name
            key = inner.key(name)
            if name in values:
                state.names[key] = values[name]
            elif key not in state.names:
                default = argument.initializer
                known = default is not None and not is_open
                state.names[key] = self.evaluate(default, inner, state) if known and default is not None else (UNKNOWN,)
        self._following.append(function)
        try:
            self.run(function, inner, state)
        finally:
            self._following.pop()
        frame.made.extend(inner.made)
        frame.rebound.extend(inner.rebound)
        live = [each.state for each in inner.exits if each.returns]
        if live:
            state.become(State.merge(live))
            state.dead = False
        return inner.result()


def _around(frame: Frame) -> list[Frame]:
    found: list[Frame] = []
    current: Frame | None = frame
    while current is not None:
        found.append(current)
        current = current.parent
    return found


def _defined(frame: Frame, state: State) -> list[FuncItem]:
    """The functions that are variables of a frame."""
    own = id(frame)
    return [
        part.node
        for (owner, _), value in state.names.items()
        if owner == own
        for part in value
        if isinstance(part, Function)
    ]
