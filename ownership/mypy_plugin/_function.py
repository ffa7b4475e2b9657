"""The analysis of one function, or of the statements of a module, in the middle of which mypy has come to a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mypy.nodes import (
    Block,
    ClassDef,
    Decorator,
    ForStmt,
    FuncDef,
    FuncItem,
    IfStmt,
    MypyFile,
    TryStmt,
    WhileStmt,
    WithStmt,
)
from mypy.types import CallableType, get_proper_type

from ownership.mypy_plugin._frame import Exit, Frame
from ownership.mypy_plugin._judge import Judge, Verdict
from ownership.mypy_plugin._plans import Plans, plan_class
from ownership.mypy_plugin._typing import TypeReader, is_materializer
from ownership.mypy_plugin._values import Blank, Class, Obj, Root, State

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mypy.nodes import Node as MypyNode
    from mypy.nodes import TypeInfo

    from ownership.mypy_plugin._budget import Budget
    from ownership.mypy_plugin._walk import CalledNames

__all__ = ["analyze", "scopes"]


def analyze(
    api: Any,
    around: Sequence[FuncItem],
    plans: Plans,
    materializers: frozenset[str],
    names: CalledNames,
    budget: Budget,
) -> list[Verdict]:
    """What is wrong with the plans of the last of these functions, which lie in each other; of the module without any.

    Raises:
        OverBudgetError: there is too much in it.

    """
    return _Analysis(TypeReader(api, api.tree), plans, materializers, names, budget).start(around)


def scopes(api: Any, materializers: frozenset[str]) -> list[list[FuncItem]]:
    """What to look at where the checker is: its function and, around that, materializers, which may return its result.

    Each with the functions around it; an empty list stands for the module, none at all is for the body of a class.
    """
    stack = api.scope.stack
    if not isinstance(stack[-1], FuncItem | MypyFile):
        return []
    around = [each for each in stack if isinstance(each, FuncItem)]
    inner = [around[:count] for count in range(1, len(around))]
    return [around, *(each for each in inner if is_materializer(_decorator(each[-1], each, api.tree), materializers))]


class _Analysis(Judge):
    def __init__(
        self, types: TypeReader, plans: Plans, materializers: frozenset[str], names: CalledNames, budget: Budget
    ) -> None:
        super().__init__()
        self.types = types
        self.plans = plans
        self.materializers = materializers
        self.names = names
        self.budget = budget

    def start(self, around: Sequence[FuncItem]) -> list[Verdict]:
        state = State()
        function = around[-1] if around else None
        frame = Frame(function)
        if function is None:
            for statement in self.types.tree.defs:
                self.statement(statement, frame, state)
            frame.exits.append(Exit(self.types.tree, (), state, returns=False))
            self.judge(frame, is_materializer=False)
            return self.verdicts
        receiver = self._give_arguments(function, frame, state)
        self.run(function, frame, state)
        if receiver is not None:
            frame.exits = [Exit(each.node, (receiver,), each.state, returns=False) for each in frame.exits]
        decorator = _decorator(function, around, self.types.tree)
        self.judge(frame, is_materializer=is_materializer(decorator, self.materializers))
        return self.verdicts

    def _give_arguments(self, function: FuncItem, frame: Frame, state: State) -> Obj | None:
        """Bind the parameters; the `self` of a plan's constructor is an object that has nothing yet."""
        type_ = get_proper_type(function.type)
        types = list(type_.arg_types) if isinstance(type_, CallableType) else []
        made: Obj | None = None
        for index, argument in enumerate(function.arguments):
            name = argument.variable.name
            declared = types[index] if index < len(types) else argument.variable.type
            info = plan_class(declared)
            own: TypeInfo | None = getattr(function, "info", None) or None
            is_method = index == 0 and own is not None and not getattr(function, "is_static", False)
            if is_method and own is not None and getattr(function, "is_class", False):
                state.names[frame.key(name)] = (Class(own),)
                continue
            if is_method and own is not None:
                info = own
                if getattr(function, "name", "") == "__init__" and self.plans.of(own) is not None:
                    made = self._blank(own, function, frame, state)
                    state.names[frame.key(name)] = (made,)
                    continue
            if info is None and declared is None:
                continue  # what mypy infers for it is read off where it is used
            given = Root(name, info, known=True)
            state.names[frame.key(name)] = (given,)
            if self.plans.of(info) is not None:
                frame.sources.append(given)
        return made

    def _blank(self, info: TypeInfo, function: FuncItem, frame: Frame, state: State) -> Obj:
        made = Obj(info, function, "construct", text="self")
        plan = self.plans.of(info)
        state.slots[made] = {name: (Blank("nothing"),) for name in (plan.kinds if plan is not None else ())}
        frame.made.append(made)
        return made


def _decorator(function: FuncItem, around: Sequence[FuncItem], tree: MypyFile) -> FuncDef | Decorator | None:
    """The function with its decorators: they stand where it is defined, not on it."""
    if not isinstance(function, FuncDef):
        return None
    if not function.is_decorated:
        return function
    outer: MypyNode = around[-2].body if len(around) > 1 else tree
    return next((each for each in _decorators(outer) if each.func is function), None)


def _decorators(node: object) -> Iterator[Decorator]:
    """The decorated functions that are defined directly in a module, class or function."""
    match node:
        case MypyFile():
            bodies: list[object] = list(node.defs)
        case Block():
            bodies = list(node.body)
        case ClassDef():
            bodies = list(node.defs.body)
        case IfStmt():
            bodies = [*node.body, node.else_body]
        case TryStmt():
            bodies = [node.body, *node.handlers, node.else_body, node.finally_body]
        case WithStmt() | ForStmt() | WhileStmt():
            bodies = [node.body]
        case Decorator():
            yield node
            return
        case _:
            items = getattr(node, "items", None)  # an overloaded function
            bodies = list(items) if isinstance(items, list) else []
    for body in bodies:
        yield from _decorators(body)
