"""Evaluation of what makes a plan: constructors, `replace` in all its spellings, `transfer`, copies."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from mypy.nodes import ArgKind, CallExpr, Expression, MemberExpr, NameExpr, SuperExpr, TypeInfo

from ownership.mypy_plugin._expressions import Expressions
from ownership.mypy_plugin._frame import Frame, Rebinding
from ownership.mypy_plugin._plans import Constructor, Plan
from ownership.mypy_plugin._values import (
    UNKNOWN,
    Blank,
    Bound,
    Class,
    Entries,
    Made,
    Node,
    Obj,
    Root,
    Seq,
    State,
    Stated,
    Taken,
    Val,
    info_of,
    join,
)

if TYPE_CHECKING:
    from mypy.nodes import FuncItem

__all__ = ["Arguments", "Making"]

#: Name ("*" and "**" for unpacked ones), expression and value of each argument of a call.
Arguments = list[tuple[str | None, Expression, Val]]


class Making(Expressions):
    """The part of the interpreter that makes plans, and sets their attributes."""

    @abstractmethod
    def follow(
        self, function: FuncItem, receiver: Val | None, arguments: Arguments, frame: Frame, state: State
    ) -> Val: ...

    @abstractmethod
    def spoil(self, arguments: Arguments, receiver: Val | None, state: State) -> bool: ...

    @abstractmethod
    def is_fed(self, value: Val, state: State) -> bool: ...

    # Arguments

    def arguments(self, node: CallExpr, frame: Frame, state: State) -> Arguments:
        """Name ("*" and "**" for unpacked ones), expression and value of each argument."""
        found: Arguments = []
        for kind, name, argument in zip(node.arg_kinds, node.arg_names, node.args, strict=True):
            label = "*" if kind is ArgKind.ARG_STAR else "**" if kind is ArgKind.ARG_STAR2 else name
            found.append((label, argument, self.evaluate(argument, frame, state)))
        return found

    def named(
        self, arguments: Arguments, positions: list[str | None], state: State
    ) -> tuple[dict[str, Val], dict[str, Expression], bool]:
        """Values and expressions by parameter, and whether there may be more of them."""
        values: dict[str, Val] = {}
        expressions: dict[str, Expression] = {}
        is_open = False
        at = 0
        for label, expression, value in arguments:
            if label == "*":
                if len(value) == 1 and isinstance(value[0], Seq):
                    items: tuple[Val, ...] = value[0].items
                else:
                    is_open, items = True, ()
            elif label == "**":
                into = Entries()
                values |= self.unpacked(value, into, state)
                is_open = is_open or into.open
                continue
            elif label is not None:
                values[label], expressions[label] = value, expression
                continue
            else:
                items = (value,)
            for item in items:
                name = positions[at] if at < len(positions) else None
                at += 1
                if name is not None:
                    values[name] = item
                    expressions[name] = expression
        return values, expressions, is_open

    # Attributes

    def put(self, owner: Node, name: str, value: Val, node: Expression | None, frame: Frame, state: State) -> None:
        """An attribute is assigned."""
        place = node
        if isinstance(owner, Obj):
            state.entries(owner)[name] = value
            owner.explicit.add(name)
            owner.named.add(name)
            if place is not None and owner.site is None and self.takes(value, owner):
                owner.site, owner.where = place, frame
        elif isinstance(owner, Root | Taken | Made) and place is not None:
            frame.rebound.append(Rebinding(owner, name, value, place))

    @staticmethod
    def takes(value: Val, into: Node) -> bool:
        """Whether something of another object is in the value."""
        owners = (part.owner if isinstance(part, Taken) else getattr(part, "origin", None) for part in value)
        return any(owner is not None and owner is not into for owner in owners)

    # Constructors

    def construct(self, info: TypeInfo, node: CallExpr, frame: Frame, state: State, bound: Bound | None = None) -> Val:
        """A new object; `bound` has the arguments that were given before."""
        arguments = [*(bound.given if bound is not None else ()), *self.arguments(node, frame, state)]
        plan = self.plans.of(info)
        if plan is None:
            if info.fullname == "functools.partial":
                return self.bound(arguments)
            self.spoil(arguments, None, state)
            fed = any(self.is_fed(value, state) for _, _, value in arguments)
            parts = tuple(value for _, _, value in arguments)
            return (Made(f"{info.name}(...)", fed=fed, info=info, parts=parts),)
        values, _, is_open = self.named(arguments, plan.constructor.positions, state)
        made = Obj(info, node, "construct", open=is_open, text=self.text_of(node), absent=state.absent)
        frame.made.append(made)
        self._initialize(made, plan, info, values, arguments, frame, state)
        taken = any(self.takes(value, made) for name, value in state.entries(made).items() if name in plan.transferable)
        if taken:
            made.site, made.where = node, frame
        return (made,)

    def bound(self, arguments: Arguments) -> Val:
        """`partial(...)`, which is of interest with a plan class as its first argument."""
        value = arguments[0][2] if arguments and arguments[0][0] is None else ()
        info = next((part.info for part in value if isinstance(part, Class)), None)
        return (
            (Bound(info, tuple(arguments[1:])),) if info is not None and self.plans.of(info) is not None else (UNKNOWN,)
        )

    def _initialize(
        self,
        made: Obj,
        plan: Plan,
        info: TypeInfo,
        values: dict[str, Val],
        arguments: Arguments,
        frame: Frame,
        state: State,
    ) -> None:
        """Fill the fields as the constructor of `info`, the class or a base of it, does."""
        constructor = plan.constructor if info is plan.info else Constructor.of(info)
        fields, outside, is_record = constructor.fields, constructor.outside, constructor.is_record
        self.budget.spend(len(plan.kinds))
        entries = state.entries(made)
        parameters = set(constructor.positions)
        body = self.types.body_of(self.types.method_of(info, "__init__"))
        if body is not None and not is_record:
            entries.update({name: (Blank("nothing"),) for name in plan.kinds if name not in entries})
            self.follow(body, (made,), arguments, frame, state)
            return
        for name in plan.kinds:
            if name not in entries or entries[name] == (Blank("nothing"),):
                # What a constructor in another module sets, beside its parameters, is not known.
                known = name not in outside and (is_record or name in parameters)
                entries[name] = (Blank("the default"),) if known else (UNKNOWN,)
        for argument, value in values.items():
            name = fields.get(argument, argument)
            entries[name] = value
            made.explicit.add(name)
            made.named.add(name)
        self._finish(made, info, frame, state)

    def _finish(self, made: Obj, info: TypeInfo, frame: Frame, state: State) -> None:
        """What `__post_init__` does, if it is written in this module."""
        named = set(made.named)
        for method in ("__post_init__", "__attrs_post_init__"):
            body = self.types.body_of(self.types.method_of(info, method))
            if body is not None and len(body.arguments) == 1:
                self.follow(body, (made,), [], frame, state)
        made.named = named

    def super_init(self, callee: MemberExpr, node: CallExpr, frame: Frame, state: State) -> Val:
        """`Base.__init__(self, ...)`, of which mypy makes another node for `super().__init__(...)`."""
        arguments = self.arguments(node, frame, state)
        value = arguments[0][2] if arguments else ()
        info = self.types.made_class(callee.expr)
        return self._initialize_base(value, info, arguments[1:], node, frame, state)

    def super_call(self, callee: SuperExpr, node: CallExpr, frame: Frame, state: State) -> Val:
        """`super().method(...)`; only the constructor is followed."""
        arguments = self.arguments(node, frame, state)
        function = frame.function
        if callee.name != "__init__" or function is None or not function.arguments or callee.info is None:
            self.spoil(arguments, None, state)
            return (UNKNOWN,)
        receiver = frame.lookup(function.arguments[0].variable.name, state) or ()
        base = next((each for each in callee.info.mro[1:] if "__init__" in each.names), None)
        return self._initialize_base(receiver, base, arguments, node, frame, state)

    def _initialize_base(
        self, value: Val, info: TypeInfo | None, arguments: Arguments, node: CallExpr, frame: Frame, state: State
    ) -> Val:
        for part in value:
            plan = self.plans.of(part.info) if isinstance(part, Obj) else None
            if plan is None or info is None or not isinstance(part, Obj):
                continue
            values, _, is_open = self.named(arguments, Constructor.of(info).positions, state)
            part.open = part.open or is_open
            self._initialize(part, plan, info, values, arguments, frame, state)
            held = [value for name, value in state.entries(part).items() if name in plan.transferable]
            if part.site is None and any(self.takes(value, part) for value in held):
                part.site, part.where = node, frame
        return (Blank("None"),)

    def new(self, node: CallExpr, frame: Frame, state: State) -> Val:
        """`Plan.__new__(Plan)`: an object without any field."""
        value = self.evaluate(node.args[0], frame, state)
        info = next((part.info for part in value if isinstance(part, Class)), None)
        if info is None:
            info = self.types.made_class(node.args[0])
        plan = self.plans.of(info)
        if plan is None:
            return (UNKNOWN,)
        made = Obj(plan.info, node, "construct", text=self.text_of(node))
        state.slots[made] = {name: (Blank("nothing"),) for name in plan.kinds}
        frame.made.append(made)
        return (made,)

    # Copies

    def replace(
        self, base: Val, expression: Expression, arguments: Arguments, node: CallExpr, frame: Frame, state: State
    ) -> Val:
        values, _, is_open = self.named(arguments, [], state)
        found = [self.replaced(part, expression, values, node, frame, state, is_open=is_open) for part in base]
        return join([(part,) for part in found])

    def replaced(
        self,
        base: Node,
        expression: Expression,
        values: dict[str, Val],
        node: CallExpr,
        frame: Frame,
        state: State,
        *,
        is_open: bool,
    ) -> Node:
        info = info_of(base)
        if info is None:
            info, _ = self.types.class_of(expression)
            if info is None or self.plans.of(info) is None:
                info, _ = self.types.class_of(node)
        plan = self.plans.of(info)
        if plan is None:
            return UNKNOWN
        fields, outside = plan.constructor.fields, plan.constructor.outside
        made = Obj(plan.info, node, "replace", puts_back=True, open=is_open, absent=state.absent)
        made.text = self.text_of(node)
        entries: dict[str, Val] = {}
        if isinstance(base, Obj):
            entries |= state.entries(base)
            made.base, made.open, made.planned = base.base, made.open or base.open, base.planned
            made.explicit |= base.explicit
            made.absent |= base.absent
            made.site, made.where = base.site, base.where
            base.superseded = True
        else:
            made.base = base if isinstance(base, Root | Taken | Made) else Root("", plan.info)
        for name in outside:
            if name in plan.transferable:
                entries[name] = (Blank("what the constructor sets"),)
        for argument, value in values.items():
            name = fields.get(argument, argument)
            entries[name] = value
            made.explicit.add(name)
            made.named.add(name)
        state.slots[made] = entries
        self._finish(made, plan.info, frame, state)
        if made.site is None and (made.base is not None or any(self.takes(value, made) for value in values.values())):
            made.site, made.where = node, frame
        frame.made.append(made)
        return made

    def model_copy(self, receiver: Val, expression: Expression, node: CallExpr, frame: Frame, state: State) -> Val:
        arguments = self.arguments(node, frame, state)
        update = next((value for label, _, value in arguments if label == "update"), None)
        values: dict[str, Val] = {}
        into = Entries()
        if update is not None:
            values = self.unpacked(update, into, state)
        found = [self.replaced(part, expression, values, node, frame, state, is_open=into.open) for part in receiver]
        return join([(part,) for part in found])

    def transfer(self, arguments: Arguments, node: CallExpr, frame: Frame, state: State) -> Val:
        source = next((value for label, _, value in arguments if label is None), (UNKNOWN,))
        into = next((value for label, _, value in arguments if label == "into"), None)
        if into is None:
            positional = [value for label, _, value in arguments if label is None]
            into = positional[1] if len(positional) > 1 else (UNKNOWN,)
        for part in into:
            if isinstance(part, Obj):
                part.superseded = True
        info, _ = self.types.class_of(node)
        info = info or next((found for part in into if (found := info_of(part)) is not None), None)
        plan = self.plans.of(info)
        if plan is None:
            return (UNKNOWN,)
        values, _, is_open = self.named([each for each in arguments if each[0] not in {None, "into"}], [], state)
        fields = plan.constructor.fields
        made = Obj(plan.info, node, "transfer", puts_back=True, open=is_open, text=self.text_of(node))
        giver = source[0] if len(source) == 1 and isinstance(source[0], Root | Taken | Made) else None
        made.base = giver or Root("", plan.info)
        made.site, made.where = node, frame
        entries = {fields.get(name, name): value for name, value in values.items()}
        # An `Absent` that is passed to `transfer` is recorded as a drop.
        for name, value in entries.items():
            if any(isinstance(part, Stated) for part in value):
                entries[name] = (Stated("Dropped", name),)
        made.explicit |= set(entries)
        state.slots[made] = entries
        frame.made.append(made)
        return (made,)

    def copied(self, value: Val, node: CallExpr, frame: Frame, state: State, *, deep: bool) -> Val:
        found: list[Node] = []
        for part in value:
            info = info_of(part)
            plan = self.plans.of(info)
            if plan is not None and deep and not isinstance(part, Obj):
                self.deep_copied(part, plan, node, frame)
                found.append(Root(self.text_of(node), info))
            elif plan is not None:
                found.append(self.replaced(part, node.args[0], {}, node, frame, state, is_open=False))
            elif isinstance(part, Taken):
                found.append(Made(self.text_of(node), fed=False, copies=True, origin=part.owner))
            else:
                found.append(UNKNOWN)
        return tuple(found)

    @abstractmethod
    def deep_copied(self, plan: Node, kind: Plan, node: CallExpr, frame: Frame) -> None: ...

    @staticmethod
    def text_of(node: CallExpr) -> str:
        callee = node.callee
        name = callee.name if isinstance(callee, NameExpr | MemberExpr) else "call"
        return f"{name}(...)"
