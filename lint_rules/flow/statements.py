"""Statements that do not branch: assignments, definitions, imports."""

from __future__ import annotations

import ast
from abc import abstractmethod
from typing import TYPE_CHECKING

from lint_rules.flow.methods import Methods
from lint_rules.flow.state import Frame, State
from lint_rules.flow.values import (
    UNKNOWN,
    Attr,
    Class,
    Const,
    Dict,
    DictView,
    Function,
    Item,
    Native,
    Obj,
    Opaque,
    Param,
    Pending,
    bare,
    one,
)
from lint_rules.index.build import absolute_import, build_class
from lint_rules.index.model import ClassInfo, FunctionInfo, Imported

if TYPE_CHECKING:
    from collections.abc import Callable

    from lint_rules.flow.values import Node, Val
    from lint_rules.index.plans import PlanTable
    from lint_rules.index.project import Project

__all__ = ["Statements"]


class Statements(Methods):
    """Runs the statements of a block one after the other. Those that branch are left to the subclass."""

    def __init__(self, project: Project, plans: PlanTable) -> None:
        super().__init__(project, plans)
        self._lambdas: dict[ast.Lambda, FunctionInfo] = {}
        self._dispatch[ast.Lambda] = self._lambda
        self._statements: dict[type[ast.stmt], Callable[[ast.stmt, Frame, State], None]] = {
            ast.Expr: self._expression,
            ast.Assign: self._assign,
            ast.AnnAssign: self._annotated,
            ast.AugAssign: self._augmented,
            ast.Return: self._return,
            ast.Raise: self._end,
            ast.FunctionDef: self._define,
            ast.AsyncFunctionDef: self._define,
            ast.ClassDef: self._define_class,
            ast.Import: self._import,
            ast.ImportFrom: self._import,
            ast.Delete: self._delete,
            ast.Assert: self._assert,
            ast.Global: self._global,
            ast.Nonlocal: self._global,
        }

    @abstractmethod
    def narrow(self, test: ast.expr, frame: Frame, state: State, *, holds: bool) -> None:
        """Take note of what a test that holds, or does not, says of attributes."""

    def block(self, body: list[ast.stmt], frame: Frame, state: State) -> None:
        for node in body:
            if not state.alive:
                return
            if frame.depth:
                self.budget -= 1
            method = self._statements.get(type(node))
            if method is not None:
                method(node, frame, state)

    def _expression(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.Expr)
        if not isinstance(node.value, ast.Constant):
            self.value(node.value, frame, state)

    def _assign(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.Assign)
        value = self.value(node.value, frame, state)
        for target in node.targets:
            self.assign(target, value, frame, state, node)

    def _annotated(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.AnnAssign)
        if node.value is not None:
            value = self.value(node.value, frame, state)
            cls = self.project.annotated_class(frame.module, node.annotation)
            if self.plans.of(cls) is not None:
                value = tuple(self._of_class(part, cls) for part in value)
            self.assign(node.target, value, frame, state, node)

    @staticmethod
    def _of_class(part: Node, cls: ClassInfo | None) -> Node:
        """A value of which only its annotation tells what it is."""
        if isinstance(part, Native):
            return Param(part.name.rpartition(".")[2], cls, typed=True, is_global=True)
        if isinstance(part, Param | Attr | Item | Opaque) and part.cls is None:
            if isinstance(part, Param) and part.is_global:
                return Param(part.name, cls, typed=True, is_global=True)
            part.cls = cls
        return part

    def _augmented(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.AugAssign)
        operation = ast.BinOp(self._as_load(node.target), node.op, node.value)
        ast.copy_location(operation, node)
        self.assign(node.target, self.value(operation, frame, state), frame, state, node)

    @staticmethod
    def _as_load(target: ast.expr) -> ast.expr:
        if isinstance(target, ast.Name):
            return ast.copy_location(ast.Name(target.id, ast.Load()), target)
        if isinstance(target, ast.Attribute):
            return ast.copy_location(ast.Attribute(target.value, target.attr, ast.Load()), target)
        return target

    def assign(
        self, target: ast.expr, value: Val, frame: Frame, state: State, node: ast.stmt | ast.expr | None = None
    ) -> None:
        if isinstance(target, ast.Name):
            scope = frame
            if target.id in frame.global_names:
                while scope.parent is not None and state.read(scope, target.id) is None:
                    scope = scope.parent
            # A comprehension's frame holds its loop variables only; the walrus reaches the function.
            state.write(scope, target.id, value)
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target.elts, value, frame, state, node)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, one(UNKNOWN), frame, state, node)
        elif isinstance(target, ast.Attribute):
            for part in self.value(target.value, frame, state):
                self.set_attribute(part, target.attr, value, node if node is not None else target, frame, state)
        elif isinstance(target, ast.Subscript):
            self._assign_item(target, value, frame, state)

    def _assign_item(self, target: ast.Subscript, value: Val, frame: Frame, state: State) -> None:
        owner = self.value(target.value, frame, state)
        key = self.value(target.slice, frame, state)
        for part in owner:
            inner = bare(part)
            if isinstance(inner, Dict):
                self.write_key(inner, key, value, state)
            elif isinstance(inner, DictView):
                known = bare(key[0])
                if len(key) == 1 and isinstance(known, Const) and isinstance(known.value, str):
                    self.set_attribute(inner.target, known.value, value, target, frame, state)
                elif isinstance(inner.target, Obj):
                    inner.target.tainted = True

    def _unpack(
        self, targets: list[ast.expr], value: Val, frame: Frame, state: State, node: ast.stmt | ast.expr | None
    ) -> None:
        known = self.elements(value, state)
        if known is not None and len(known) == len(targets) and not any(isinstance(t, ast.Starred) for t in targets):
            for target, item in zip(targets, known, strict=True):
                self.assign(target, item, frame, state, node)
            return
        part = self.element(value, state)
        for target in targets:
            self.assign(target, part, frame, state, node)

    def _return(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.Return)
        value = self.value(node.value, frame, state) if node.value is not None else one(Const.of(None))
        if state.alive:
            frame.returns.append((value, state.copy(), node))
        state.alive = False

    def _end(self, node: ast.stmt, frame: Frame, state: State) -> None:
        state.alive = False

    def _define(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        prefix = f"{frame.info.qualname}.<locals>." if frame.info is not None else ""
        made = Function(FunctionInfo(frame.module, prefix + node.name, node), frame)
        state.write(frame, node.name, one(made))
        self._note_local(made, frame, state)

    def _lambda(self, node: ast.expr, frame: Frame, state: State) -> Val:
        """A function whose body is one `return`."""
        assert isinstance(node, ast.Lambda)
        info = self._lambdas.get(node)
        if info is None:
            body = ast.copy_location(ast.Return(node.body), node.body)
            function = ast.FunctionDef("<lambda>", node.args, [body], [])
            prefix = f"{frame.info.qualname}.<locals>." if frame.info is not None else ""
            info = FunctionInfo(frame.module, f"{prefix}<lambda>", ast.copy_location(function, node))
            self._lambdas[node] = info
        made = Function(info, frame)
        self._note_local(made, frame, state)
        return one(made)

    def _note_local(self, made: Function, frame: Frame, state: State) -> None:
        if frame.depth == 0:
            frame.local_functions.append((made, state.copy()))

    def _define_class(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.ClassDef)
        prefix = f"{frame.info.qualname}.<locals>." if frame.info is not None else ""
        made = build_class(frame.module, node, prefix + node.name, local=True)
        state.write(frame, node.name, one(Class(made)))
        for method in made.methods.values():
            self._note_local(Function(method, frame), frame, state)

    def _import(self, node: ast.stmt, frame: Frame, state: State) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                target = alias.name if alias.asname else alias.name.partition(".")[0]
                name = alias.asname or target
                state.write(frame, name, one(Pending(Imported(target), name)))
        elif isinstance(node, ast.ImportFrom):
            source = absolute_import(frame.module, node)
            for alias in node.names:
                name = alias.asname or alias.name
                state.write(frame, name, one(Pending(Imported(source, alias.name), name)))

    def _delete(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.Delete)
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                key = self.value(target.slice, frame, state)
                for part in self.value(target.value, frame, state):
                    inner = bare(part)
                    if isinstance(inner, Dict) and len(key) == 1 and isinstance(known := bare(key[0]), Const):
                        self.delete_key(inner, known.value, state)

    def _assert(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.Assert)
        self.value(node.test, frame, state)
        self.narrow(node.test, frame, state, holds=True)

    def _global(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.Global | ast.Nonlocal)
        frame.global_names.update(node.names)
