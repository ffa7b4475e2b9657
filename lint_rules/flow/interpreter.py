"""Statements and functions: the interpreter itself, one run for each function that could copy a plan."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from lint_rules.flow.arguments import Arguments
from lint_rules.flow.branches import Branches
from lint_rules.flow.state import OPEN, Frame, State
from lint_rules.flow.values import (
    UNKNOWN,
    Birth,
    Class,
    Const,
    Dict,
    Function,
    Node,
    Obj,
    Param,
    Seq,
    bare,
    join,
    one,
)
from lint_rules.index.build import last_name
from lint_rules.index.model import FunctionInfo, ValueBinding
from lint_rules.index.plans import is_ownership_name

if TYPE_CHECKING:
    from lint_rules.flow.interest import Interest
    from lint_rules.flow.judge import Judge
    from lint_rules.flow.values import Val
    from lint_rules.index.model import ModuleInfo
    from lint_rules.index.plans import PlanTable
    from lint_rules.index.project import Project

__all__ = ["Interpreter"]

#: Statements that may be run in the functions that one under analysis calls.
_BUDGET = 2_000


class Interpreter(Branches):
    """Runs function bodies on abstract values and hands what they make to the judge."""

    def __init__(self, project: Project, plans: PlanTable, judge: Judge, interest: Interest) -> None:
        super().__init__(project, plans)
        self.judge = judge
        self.interest = interest
        self.active: list[FunctionInfo] = []

    def is_worth_following(self, info: FunctionInfo) -> bool:
        return self.interest.is_followed(info)

    # Roots

    def analyze(self, info: FunctionInfo, closure: Frame | None = None, state: State | None = None) -> None:
        """Analyse one function with parameters of which only the annotation is known."""
        self.budget = _BUDGET
        self._loops.clear()
        frame = Frame(info.module, info, closure, depth=0, owner=info.owner)
        state = state.copy() if state is not None else State()
        state.alive = True
        sources = self._symbolic_parameters(info, frame, state)
        self.judge.begin(info, frame, sources, is_materializer=self.is_materializer(info))
        self.active.append(info)
        try:
            self.block(info.node.body, frame, state)
            if state.alive:
                frame.returns.append((one(Const.of(None)), state, info.node))
            for value, end, node in frame.returns:
                self.judge.exit(value, end, node, self)
            self.judge.finish()
        finally:
            self.active.pop()
        self._analyze_nested(frame)

    def analyze_module(self, module: ModuleInfo) -> None:
        """Analyse the statements of a module's top level."""
        self.budget = _BUDGET
        frame = Frame(module, None, None, depth=0)
        state = State()
        self.judge.begin(None, frame, [], is_materializer=False)
        self.block(module.top_level(), frame, state)
        self.judge.exit(one(UNKNOWN), state, module.tree.body[-1], self)
        self.judge.finish()
        frame.returns.append((one(Const.of(None)), state, module.tree.body[-1]))
        self._analyze_nested(frame)

    def _analyze_nested(self, frame: Frame) -> None:
        """Functions that the analysed one defines, with the variables that it leaves them."""
        if not frame.local_functions:
            return
        final: State | None = None
        for _, end, _ in frame.returns:
            if final is None:
                final = end.copy()
            else:
                final.merge(end)
        done: set[ast.AST] = set()
        for node, defined in frame.local_functions:
            assert isinstance(node, Function)
            if node.info.node in done:
                continue
            done.add(node.info.node)
            if self.interest.is_root(node.info) and node.info not in self.active:
                self.analyze(node.info, frame, final if final is not None else defined)

    def is_materializer(self, info: FunctionInfo) -> bool:
        if info.full_name in self.judge.materializers:
            return True
        return any(
            is_ownership_name(
                self.project.resolve_expression(info.module, d.func if isinstance(d, ast.Call) else d), "materializer"
            )
            for d in info.decorators
        )

    def _symbolic_parameters(self, info: FunctionInfo, frame: Frame, state: State) -> list[Node]:
        """Bind the parameters; returns those that are plans."""
        spec = info.node.args
        slots = state.writable(frame)
        sources: list[Node] = []
        names = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
        decorators = {last_name(decorator) for decorator in info.decorators}
        is_method = info.owner is not None and "staticmethod" not in decorators
        for index, parameter in enumerate(names):
            node: Node
            if index == 0 and is_method and info.owner is not None:
                node = self._receiver(info, parameter.arg, decorators)
                frame.receiver = node
                if isinstance(node, Obj):
                    state.writable(node)
            else:
                node = self._parameter(info.module, parameter)
            if isinstance(node, Param) and self.plans.of(node.cls) is not None:
                sources.append(node)
            slots[parameter.arg] = one(node)
        if spec.vararg is not None:
            cls = self.project.annotated_class(info.module, spec.vararg.annotation)
            slots[spec.vararg.arg] = one(Seq((one(Param(spec.vararg.arg, cls)),), complete=False))
        if spec.kwarg is not None:
            bundle = Dict(info.node)
            state.write(bundle, OPEN, one(UNKNOWN))
            slots[spec.kwarg.arg] = one(bundle)
        return sources

    def _parameter(self, module: ModuleInfo, parameter: ast.arg) -> Node:
        annotation = self._bound(module, parameter.annotation)
        if isinstance(annotation, ast.Subscript) and last_name(annotation.value) in {"type", "Type"}:
            made = self.project.annotated_class(module, annotation.slice)
            if made is not None:
                return Class(made)
        cls = self.project.annotated_class(module, annotation)
        return Param(parameter.arg, cls, typed=annotation is not None)

    def _bound(self, module: ModuleInfo, annotation: ast.expr | None) -> ast.expr | None:
        """The bound of a type variable; any other annotation as it is."""
        found = self.project.resolve_expression(module, annotation) if isinstance(annotation, ast.Name) else None
        call = found.expression if isinstance(found, ValueBinding) else None
        if isinstance(call, ast.Call) and last_name(call.func) == "TypeVar":
            return next((keyword.value for keyword in call.keywords if keyword.arg == "bound"), annotation)
        return annotation

    def _receiver(self, info: FunctionInfo, name: str, decorators: set[str]) -> Node:
        assert info.owner is not None
        if "classmethod" in decorators or info.node.name in {"__new__", "__init_subclass__", "__class_getitem__"}:
            return Class(info.owner)
        if info.node.name == "__init__" and self.plans.of(info.owner) is not None:
            return Obj(info.owner, Birth(info.module, info.node, info.node, 0, "construct"))
        return Param(name, info.owner, typed=True)

    # Hooks of the layers below

    def note_born(self, made: Obj, frame: Frame) -> None:
        self.judge.born(made, frame)

    def note_completed(self, target: Obj, frame: Frame) -> None:
        if frame.depth and frame.info is not None:
            self.judge.note_followed(frame.info)

    def note_yield(self, value: Val, frame: Frame, state: State, node: ast.expr) -> None:
        if frame.depth == 0:
            self.judge.exit(value, state, node, self, ends=False)
            for part in value:
                self._expose(bare(part), state, fed=True)

    def note_deepcopy(self, source: Node, node: ast.Call, frame: Frame, state: State) -> None:
        if frame.depth == 0:
            self.judge.deepcopy(source, node, frame, self)

    def note_assigned(self, target: Node, name: str, value: Val, node: ast.expr | ast.stmt, frame: Frame) -> None:
        self.judge.assigned(target, name, value, node, frame)

    def note_carrier_set(
        self, target: Node, name: str, value: Val, node: ast.expr | ast.stmt, frame: Frame, state: State
    ) -> None:
        self.judge.carrier_set(target, name, value, node, frame, state, self)

    def call_property(self, receiver: Node, info: FunctionInfo, node: ast.expr, frame: Frame, state: State) -> Val:
        return self.call_function(info, Arguments(), receiver, node, frame, state, None)

    def run_body(self, info: FunctionInfo, frame: Frame, state: State) -> Val:
        self.active.append(info)
        try:
            self.block(info.node.body, frame, state)
        finally:
            self.active.pop()
        if state.alive:
            frame.returns.append((one(Const.of(None)), state.copy(), info.node))
        if not frame.returns:
            state.alive = False
            return one(UNKNOWN)
        (_, final, _), *others = frame.returns
        for _, end, _ in others:
            final.merge(end)
        final.alive = True
        state.become(final)
        return join([value for value, _, _ in frame.returns])
