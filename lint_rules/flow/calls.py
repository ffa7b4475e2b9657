"""Calls: functions of the project that are followed, and everything else."""

from __future__ import annotations

import ast
from abc import abstractmethod
from typing import TYPE_CHECKING

from lint_rules.flow.arguments import Arguments
from lint_rules.flow.expressions import Expressions
from lint_rules.flow.state import OPEN, REST, Frame, State
from lint_rules.flow.values import (
    UNKNOWN,
    Attr,
    Birth,
    BoundMethod,
    Class,
    Dict,
    DictView,
    Function,
    Native,
    Node,
    Obj,
    Opaque,
    Param,
    Partial,
    Read,
    Seq,
    bare,
    join,
    one,
    owners,
)
from lint_rules.index.build import last_name

if TYPE_CHECKING:
    from typing import Literal

    from lint_rules.flow.values import Val
    from lint_rules.index.model import ClassInfo, FunctionInfo
    from lint_rules.index.plans import PlanTable
    from lint_rules.index.project import Project

__all__ = ["Calls"]

#: How many calls deep a function is followed.
_DEEPEST = 7

#: With fewer steps than this left, a call is not followed any more.
_LEAST = 20

#: Decorators whose function does not return what its body returns.
_NOT_TRANSPARENT = {"contextmanager", "asynccontextmanager", "overload", "singledispatch", "abstractmethod"}


#: Methods that keep what they are given, and leave it as it is.
_KEEPING = {"add", "append", "appendleft", "extend", "insert", "put", "put_nowait", "setdefault"}


class Calls(Expressions):
    """Evaluation of calls. Function bodies, objects and special functions are left to the subclasses."""

    def __init__(self, project: Project, plans: PlanTable) -> None:
        super().__init__(project, plans)
        self._free_names: dict[FunctionInfo, set[str]] = {}

    #: Steps that are left for the function under analysis; when they are used up, calls are no longer followed.
    budget: int = 0

    @abstractmethod
    def run_body(self, info: FunctionInfo, frame: Frame, state: State) -> Val: ...

    @abstractmethod
    def call_native(
        self, name: str, arguments: Arguments, node: ast.Call, frame: Frame, state: State
    ) -> Val | None: ...

    @abstractmethod
    def call_method(
        self, receiver: Node, name: str, arguments: Arguments, node: ast.Call, frame: Frame, state: State
    ) -> Val | None: ...

    @abstractmethod
    def is_worth_following(self, info: FunctionInfo) -> bool:
        """Whether running a function can tell where a field of a plan comes from."""

    @abstractmethod
    def construct(self, cls: ClassInfo, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val:
        """`Cls(...)`."""

    # The call

    def call(self, node: ast.Call, frame: Frame, state: State) -> Val:
        function = self.value(node.func, frame, state)
        arguments = self._arguments(node, frame, state)
        return join([self.apply(part, arguments, node, frame, state) for part in function])

    def _arguments(self, node: ast.Call, frame: Frame, state: State) -> Arguments:
        made = Arguments()
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                spread = self.elements(self.value(argument.value, frame, state), state)
                if spread is None:
                    made.open_positional = True
                else:
                    made.positional += spread
            else:
                made.expressions[len(made.positional)] = argument
                made.positional.append(self.value(argument, frame, state))
        for keyword in node.keywords:
            value = self.value(keyword.value, frame, state)
            if keyword.arg is not None:
                made.keywords[keyword.arg] = value
                made.expressions[keyword.arg] = keyword.value
            else:
                entries, rest, is_open = self.mapping(value[0], state) if len(value) == 1 else ({}, (), True)
                made.keywords.update({key: item for key, item in entries.items() if isinstance(key, str)})
                made.rest = made.rest or rest
                made.open_keywords = made.open_keywords or is_open
        return made

    def apply(self, function: Node, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val:
        callee = bare(function)
        found: Val | None = None
        if isinstance(callee, Native):
            found = self.call_native(callee.name, arguments, node, frame, state)
        elif isinstance(callee, Class):
            found = self.construct(callee.cls, arguments, node, frame, state)
        elif isinstance(callee, Function):
            return self.call_function(callee.info, arguments, None, node, frame, state, callee.closure)
        elif isinstance(callee, Partial):
            combined = arguments.after(callee.args, callee.keywords)
            combined.open_keywords = combined.open_keywords or callee.open
            combined.expressions = callee.expressions | combined.expressions
            return join([self.apply(part, combined, node, frame, state) for part in callee.function])
        elif isinstance(callee, BoundMethod):
            if callee.function is not None:
                return self._call_bound(callee, callee.function, arguments, node, frame, state)
            found = self.call_method(callee.receiver, callee.name, arguments, node, frame, state)
        elif isinstance(callee, Attr):
            found = self.call_method(callee.owner, callee.name, arguments, node, frame, state)
        elif (cls := self.class_of(callee)) is not None and (method := self.project.find_method(cls, "__call__")):
            return self._call_bound(BoundMethod(callee, "__call__", method), method, arguments, node, frame, state)
        if found is not None:
            return found
        return self.opaque_call(callee, arguments, node, state)

    def _call_bound(
        self,
        callee: BoundMethod,
        info: FunctionInfo,
        arguments: Arguments,
        node: ast.Call,
        frame: Frame,
        state: State,
    ) -> Val:
        receiver: Node | None = callee.receiver
        decorators = {last_name(decorator) for decorator in info.decorators}
        if "staticmethod" in decorators:
            receiver = None
        elif "classmethod" in decorators:
            cls = receiver.cls if isinstance(receiver, Class) else self.class_of(callee.receiver)
            receiver = Class(cls or info.owner) if (cls or info.owner) is not None else UNKNOWN  # type: ignore[arg-type]
        elif isinstance(receiver, Class):
            # `Base.method(self, ...)`: the receiver is the first argument.
            if arguments.positional:
                receiver = bare(arguments.positional[0][0])
                arguments = arguments.shifted(1)
            else:
                receiver = UNKNOWN
        return self.call_function(info, arguments, receiver, node, frame, state, None)

    # Opaque calls

    def opaque_call(
        self, callee: Node, arguments: Arguments, node: ast.AST, state: State, cls: ClassInfo | None = None
    ) -> Val:
        """A call that is not followed. What goes in may come out again, and may have been changed."""
        fed = any(self.is_fed(value, state) for value in arguments.every())
        if isinstance(callee, Attr):
            # A method of anything that came in from outside may hand out what it holds.
            owner = bare(callee.owner)
            holder = isinstance(owner, Param) and not owner.is_global
            fed = fed or holder or self.is_fed(one(owner), state)
        elif isinstance(callee, BoundMethod):
            fed = fed or self.is_fed(one(callee.receiver), state)
        elif not isinstance(callee, Native | Function | Class):
            fed = fed or not (isinstance(callee, Param) and callee.is_global)
        if isinstance(callee, Attr | BoundMethod) and callee.name in _KEEPING:
            return one(Opaque(node, fed, cls))
        for value in arguments.every():
            for part in value:
                self._expose(bare(part), state, fed=fed)
                self._expose_with_source(bare(part), arguments, state)
        return one(Opaque(node, fed, cls))

    def _expose_with_source(self, node: Node, arguments: Arguments, state: State) -> None:
        """Who is given a plan together with its source may be there to complete it, be it frozen."""
        if not isinstance(node, Obj) or (plan := self.plans.of(node.cls)) is None:
            return
        given = {bare(part) for value in arguments.every() for part in value}
        for name in plan.transferable:
            for part in state.read(node, name) or ():
                if any(bare(owner) in given for owner in owners(part) if bare(owner) is not node):
                    node.tainted = True

    def _expose(self, node: Node, state: State, *, fed: bool) -> None:
        if isinstance(node, Function) and node.closure is not None:
            # A callback may be called, and change what it closes over.
            for value in self._closed_over(node.info, node.closure, state):
                for part in value:
                    if not isinstance(bare(part), Function):
                        self._expose(bare(part), state, fed=True)
        elif isinstance(node, Partial):
            for value in (node.function, *node.args, *node.keywords.values()):
                for part in value:
                    self._expose(bare(part), state, fed=True)
        elif isinstance(node, Obj) and fed and not self.project.frozen(node.cls):
            node.tainted = node.tainted or self.plans.of(node.cls) is not None
        elif isinstance(node, Dict):
            state.write(node, OPEN, one(UNKNOWN))

    # Functions of the project

    def call_function(
        self,
        info: FunctionInfo,
        arguments: Arguments,
        receiver: Node | None,
        node: ast.expr,
        frame: Frame,
        state: State,
        closure: Frame | None,
    ) -> Val:
        if not self._is_followed(info, arguments, receiver, frame, state, closure):
            cls = self.project.annotated_class(info.module, info.node.returns)
            callee: Node = Function(info) if receiver is None else BoundMethod(receiver, info.node.name, info)
            return self.opaque_call(callee, arguments, node, state, cls)
        inner = Frame(info.module, info, closure, frame.depth + 1, info.owner, receiver)
        inner.root = frame.root if frame.root is not None else node
        self._bind_parameters(info, arguments, receiver, inner, state)
        # Half of what is left: a first call that goes on and on must not starve those that come after it.
        kept = self.budget - self.budget // 2
        self.budget //= 2
        value = self.run_body(info, inner, state)
        self.budget = kept + max(self.budget, 0)
        return value

    def _is_followed(
        self,
        info: FunctionInfo,
        arguments: Arguments,
        receiver: Node | None,
        frame: Frame,
        state: State,
        closure: Frame | None,
    ) -> bool:
        if self.budget <= _LEAST or frame.depth >= _DEEPEST or info in self.active:
            return False
        if any(last_name(decorator) in _NOT_TRANSPARENT for decorator in info.decorators):
            return False
        if receiver is not None and not isinstance(receiver, Obj) and _is_hook(info):
            return False
        if self.is_worth_following(info):
            return True
        if info.node.name == "__init__" and any(self.is_fed(value, state) for value in arguments.every()):
            return True
        values = [*arguments.every(), *([one(receiver)] if receiver is not None else [])]
        if closure is not None:
            inner = self._closed_over(info, closure, state)
            if any(self.is_fed(value, state) for value in inner):
                return True
            values += inner
        return any(self._is_tracked(part, state) for value in values for part in value)

    def _closed_over(self, info: FunctionInfo, closure: Frame, state: State) -> list[Val]:
        """The variables of outer functions that a nested one speaks of."""
        if info not in self._free_names:
            self._free_names[info] = {node.id for node in ast.walk(info.node) if isinstance(node, ast.Name)}
        found: dict[str, Val] = {}
        scope: Frame | None = closure
        while scope is not None:
            entries = state.entries(scope)
            found = {name: entries[name] for name in self._free_names[info] if name in entries} | found
            scope = scope.parent
        return list(found.values())

    #: The functions that are being run, outermost first.
    active: list[FunctionInfo]

    def _is_tracked(self, node: Node, state: State, depth: int = 0) -> bool:
        """Whether the function that is called with this could change what is known of a plan."""
        node = bare(node)
        if isinstance(node, Obj):
            return self.plans.of(node.cls) is not None or (depth == 0 and self._holds_carriers(node, state))
        if isinstance(node, Class):
            return self.plans.of(node.cls) is not None
        if isinstance(node, DictView | Partial):
            return True
        if depth < 3 and isinstance(node, Seq):
            return any(self._is_tracked(part, state, depth + 1) for item in node.items for part in item)
        if depth < 3 and isinstance(node, Dict):
            entries = state.entries(node)
            return REST in entries or any(
                isinstance(part, Attr | Read) or self._is_tracked(part, state, depth + 1)
                for item in entries.values()
                for part in item
            )
        return False

    def _holds_carriers(self, node: Obj, state: State) -> bool:
        """Whether an object that is no plan, such as a bundle or a builder, has taken something from one."""
        return any(
            isinstance(part, Attr | Read | Dict | DictView) for value in state.entries(node).values() for part in value
        )

    def _bind_parameters(
        self, info: FunctionInfo, arguments: Arguments, receiver: Node | None, inner: Frame, state: State
    ) -> None:
        spec = info.node.args
        names = [*spec.posonlyargs, *spec.args]
        slots = state.writable(inner)
        given = list(arguments.positional)
        if receiver is not None:
            given.insert(0, one(receiver))
        defaults = dict(zip([a.arg for a in names[len(names) - len(spec.defaults) :]], spec.defaults, strict=True))
        for argument, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
            if default is not None:
                defaults[argument.arg] = default
        for index, parameter in enumerate([*names, *spec.kwonlyargs]):
            name = parameter.arg
            if index < len(names) and index < len(given):
                slots[name] = given[index]
            elif name in arguments.keywords:
                slots[name] = arguments.keywords[name]
            elif (arguments.open_positional and index < len(names)) or arguments.open_keywords or arguments.rest:
                slots[name] = one(UNKNOWN)
            elif name in defaults:
                slots[name] = self.value(defaults[name], Frame(info.module, None, None, inner.depth), State())
            else:
                slots[name] = one(UNKNOWN)
        if spec.vararg is not None:
            extra = tuple(given[len(names) :])
            slots[spec.vararg.arg] = one(Seq(extra, complete=not arguments.open_positional))
        if spec.kwarg is not None:
            bundle = Dict(info.node)
            slots[spec.kwarg.arg] = one(bundle)
            entries = state.writable(bundle)
            taken = {parameter.arg for parameter in [*names, *spec.kwonlyargs]}
            entries.update({key: value for key, value in arguments.keywords.items() if key not in taken})
            if arguments.rest:
                entries[REST] = arguments.rest
            if arguments.open_keywords:
                entries[OPEN] = one(UNKNOWN)

    # Objects

    def birth(
        self,
        node: ast.expr | ast.stmt,
        frame: Frame,
        how: Literal["replace", "construct", "assign", "transfer", "copy", "partial"],
    ) -> Birth:
        return Birth(frame.module, node, frame.root if frame.root is not None else node, frame.depth, how)


def _is_hook(info: FunctionInfo) -> bool:
    """Whether a method does nothing, so that it is there for a subclass to do it."""
    spec = info.node.args
    given = {parameter.arg for parameter in [*spec.posonlyargs, *spec.args]}
    return all(
        isinstance(node, ast.Pass)
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        or (isinstance(node, ast.Return) and isinstance(node.value, ast.Constant | None))
        or (isinstance(node, ast.Return) and isinstance(node.value, ast.Name) and node.value.id in given)
        for node in info.node.body
    )
