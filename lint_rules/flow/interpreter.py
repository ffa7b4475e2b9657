"""Statements and functions: the interpreter itself, one run for each function that could copy a plan."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from lint_rules.flow.arguments import Arguments
from lint_rules.flow.methods import Methods
from lint_rules.flow.state import OPEN, Frame, State
from lint_rules.flow.values import (
    UNKNOWN,
    Attr,
    Birth,
    Class,
    Const,
    Dict,
    DictView,
    Function,
    Item,
    Native,
    Node,
    Obj,
    Opaque,
    Param,
    Pending,
    Seq,
    bare,
    join,
    one,
)
from lint_rules.index.build import absolute_import, build_class, last_name
from lint_rules.index.model import ClassInfo, FunctionInfo, Imported, ValueBinding
from lint_rules.index.plans import is_ownership_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from lint_rules.flow.interest import Interest
    from lint_rules.flow.judge import Judge
    from lint_rules.flow.values import Val
    from lint_rules.index.model import ModuleInfo
    from lint_rules.index.plans import PlanTable
    from lint_rules.index.project import Project

__all__ = ["Interpreter"]

#: Statements that may be run in the functions that one under analysis calls.
_BUDGET = 2_000


class _Loop:
    """The states in which a loop that is being run has been left, and those in which a round of it has."""

    def __init__(self) -> None:
        self.left: list[State] = []
        self.continued: list[State] = []

    def end(self, state: State) -> None:
        for other in self.left:
            state.merge(other)


class Interpreter(Methods):
    """Runs function bodies on abstract values and hands what they make to the judge."""

    def __init__(self, project: Project, plans: PlanTable, judge: Judge, interest: Interest) -> None:
        super().__init__(project, plans)
        self.judge = judge
        self.interest = interest
        self.active: list[FunctionInfo] = []
        self._loops: list[_Loop] = []
        self._lambdas: dict[ast.Lambda, FunctionInfo] = {}
        self._dispatch[ast.Lambda] = self._lambda
        self._statements: dict[type[ast.stmt], Callable[[ast.stmt, Frame, State], None]] = {
            ast.Expr: self._expression,
            ast.Assign: self._assign,
            ast.AnnAssign: self._annotated,
            ast.AugAssign: self._augmented,
            ast.Return: self._return,
            ast.Raise: self._end,
            ast.Continue: self._leave_round,
            ast.Break: self._leave_loop,
            ast.If: self._if,
            ast.For: self._for,
            ast.AsyncFor: self._for,
            ast.While: self._while,
            ast.With: self._with,
            ast.AsyncWith: self._with,
            ast.Try: self._try,
            ast.TryStar: self._try,
            ast.Match: self._match,
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

    def is_worth_following(self, info: FunctionInfo) -> bool:
        return self.interest.is_followed(info)

    # Roots

    def analyze(self, info: FunctionInfo, closure: Frame | None = None, state: State | None = None) -> Val:
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
            self.judge.finish(self)
        finally:
            self.active.pop()
        self._analyze_nested(frame)
        return join([value for value, _, _ in frame.returns])

    def analyze_module(self, module: ModuleInfo) -> None:
        """Analyse the statements of a module's top level."""
        self.budget = _BUDGET
        frame = Frame(module, None, None, depth=0)
        state = State()
        self.judge.begin(None, frame, [], is_materializer=False)
        definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
        self.block([node for node in module.tree.body if not isinstance(node, definitions)], frame, state)
        self.judge.exit(one(UNKNOWN), state, module.tree.body[-1], self)
        self.judge.finish(self)
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
        self.judge.assigned(target, name, value, node, frame, self)

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

    # Statements

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

    def _if(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.If)
        verdict = self.truth(node.test, frame, state)
        if verdict is None:
            self.value(node.test, frame, state)
        other = state.copy()
        self._narrow(node.test, frame, state, holds=True)
        self._narrow(node.test, frame, other, holds=False)
        if verdict is not None:
            state.become(state if verdict else other)
            self.block(node.body if verdict else node.orelse, frame, state)
            return
        self.block(node.body, frame, state)
        self.block(node.orelse, frame, other)
        state.merge(other)

    def _narrow(self, test: ast.expr, frame: Frame, state: State, *, holds: bool) -> None:
        """Remember which attributes a test has found to be empty."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self._narrow(test.operand, frame, state, holds=not holds)
        elif isinstance(test, ast.BoolOp):
            # Of several tests for a value, any may be the one that failed.
            if isinstance(test.op, ast.And) is holds or all(map(_is_guard, test.values)):
                for part in test.values:
                    self._narrow(part, frame, state, holds=holds)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1:
            right = test.comparators[0]
            if isinstance(right, ast.Constant) and right.value is None:
                is_none = isinstance(test.ops[0], ast.Is | ast.Eq)
                if is_none is holds:
                    self._mark_absent(test.left, frame, state)
        elif isinstance(test, ast.Name | ast.Attribute | ast.NamedExpr) and not holds:
            self._mark_absent(test, frame, state)
        elif isinstance(test, ast.Call) and last_name(test.func) == "isinstance" and len(test.args) == 2:
            if holds is _are_absent(test.args[1]):
                self._mark_absent(test.args[0], frame, state)
        elif isinstance(test, ast.Call) and last_name(test.func) == "hasattr" and len(test.args) == 2 and not holds:
            getter = ast.Call(ast.Name("getattr", ast.Load()), test.args, [])
            self._mark_absent(ast.copy_location(getter, test), frame, state)

    def _mark_absent(self, node: ast.expr, frame: Frame, state: State) -> None:
        self._note_absent(self.value(node, frame, state), state)

    @staticmethod
    def _note_absent(value: Val, state: State) -> None:
        state.absent |= {part for node in value if isinstance(part := bare(node), Attr | Param)}

    def _for(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.For | ast.AsyncFor)
        iterable = self.value(node.iter, frame, state)
        known = self.elements(iterable, state)
        # The loop counts as entered: a list of names that copies nothing at all is not what people write.
        items = known if known is not None else [self.element(iterable, state)]
        loop = _Loop()
        for item in items:
            if not state.alive:
                break
            self.assign(node.target, item, frame, state, node)
            self._round(node.body, frame, state, loop)
        self.block(node.orelse, frame, state)
        loop.end(state)

    def _round(self, body: list[ast.stmt], frame: Frame, state: State, loop: _Loop) -> None:
        before = state.copy()
        self._loops.append(loop)
        self.block(body, frame, state)
        self._loops.pop()
        for skipped in loop.continued:
            state.merge(skipped)
        loop.continued.clear()
        if not state.alive and not loop.left:
            # Every path of this round has left the function; the loop may not have come to it.
            state.become(before)

    def _leave_round(self, node: ast.stmt, frame: Frame, state: State) -> None:
        if self._loops:
            self._loops[-1].continued.append(state.copy())
        state.alive = False

    def _leave_loop(self, node: ast.stmt, frame: Frame, state: State) -> None:
        if self._loops:
            self._loops[-1].left.append(state.copy())
        state.alive = False

    def _while(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.While)
        self.value(node.test, frame, state)
        loop = _Loop()
        self._round(node.body, frame, state, loop)
        if isinstance(node.test, ast.Constant) and node.test.value and loop.left:
            state.alive = False  # only `break` ends it
        self.block(node.orelse, frame, state)
        loop.end(state)

    def _with(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.With | ast.AsyncWith)
        for item in node.items:
            value = self.value(item.context_expr, frame, state)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value, frame, state, node)
        self.block(node.body, frame, state)

    def _try(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.Try | ast.TryStar)
        before = state.copy()
        handled: State | None = None
        for statement in node.body:
            if state.alive and not _is_plain(statement):
                if handled is None:
                    handled = state.copy()
                else:
                    handled.merge(state.copy())
            self.block([statement], frame, state)
        self.block(node.orelse, frame, state)
        for handler in node.handlers:
            branch = (handled or before).copy()
            if handler.type is not None and _catches(handler.type, "AttributeError"):
                branch = before.copy()
                self._mark_reads(node.body, frame, branch)
            self.block(handler.body, frame, branch)
            state.merge(branch)
        if not state.alive:
            return
        self.block(node.finalbody, frame, state)

    def _mark_reads(self, body: list[ast.stmt], frame: Frame, state: State) -> None:
        """Where an `AttributeError` was caught: what was read may not have been there."""
        for part in (inner for statement in body for inner in ast.walk(statement)):
            if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load) and isinstance(part.value, ast.Name):
                self._mark_absent(part, frame, state)

    def _match(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.Match)
        subject = self.value(node.subject, frame, state)
        ended: State | None = None
        exhaustive = False
        for case in node.cases:
            branch = state.copy()
            self._match_pattern(case.pattern, subject, frame, branch)
            if case.guard is not None:
                self._narrow(case.guard, frame, branch, holds=True)
            elif isinstance(case.pattern, ast.MatchClass) and not _is_absent_pattern(case.pattern):
                # What is not of this class has nothing to take.
                self._note_absent(subject, state)
            self.block(case.body, frame, branch)
            irrefutable = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
            exhaustive = exhaustive or (irrefutable and case.guard is None)
            if ended is None:
                ended = branch
            else:
                ended.merge(branch)
        if ended is None:
            return
        if not exhaustive:
            ended.merge(state)
        state.become(ended)

    def _match_pattern(self, pattern: ast.pattern, subject: Val, frame: Frame, state: State) -> None:
        """Bind the names of a pattern, and remember if it matches only what is empty."""
        if _is_absent_pattern(pattern):
            self._note_absent(subject, state)
        for part in ast.walk(pattern):
            name = getattr(part, "name", None) or getattr(part, "rest", None)
            if isinstance(name, str):
                state.write(frame, name, one(UNKNOWN))
        if isinstance(pattern, ast.MatchAs) and pattern.name is not None:
            state.write(frame, pattern.name, subject)
        inner = pattern.pattern if isinstance(pattern, ast.MatchAs) else pattern
        if not isinstance(inner, ast.MatchClass):
            return
        found = self.project.resolve_expression(frame.module, inner.cls)
        names = list(self.project.fields(found)) if isinstance(found, ClassInfo) else []
        pairs = [*zip(names, inner.patterns, strict=False), *zip(inner.kwd_attrs, inner.kwd_patterns, strict=True)]
        for attribute, part in pairs:
            values = [self.get_attribute(node, attribute, inner.cls, frame, state) for node in subject]
            self._match_pattern(part, join(values), frame, state)

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
        self._narrow(node.test, frame, state, holds=True)

    def _global(self, node: ast.stmt, frame: Frame, state: State) -> None:
        assert isinstance(node, ast.Global | ast.Nonlocal)
        frame.global_names.update(node.names)


def _are_absent(classes: ast.expr) -> bool:
    """Whether the second argument of `isinstance` names nothing but the marks of an empty field."""
    if isinstance(classes, ast.Tuple):
        return bool(classes.elts) and all(map(_are_absent, classes.elts))
    if isinstance(classes, ast.BinOp):
        return _are_absent(classes.left) and _are_absent(classes.right)
    return last_name(classes) in {"Absent", "Dropped"}


def _is_absent_pattern(pattern: ast.pattern) -> bool:
    """Whether a pattern matches only what is empty: `None`, `Absent()`."""
    if isinstance(pattern, ast.MatchOr):
        return all(map(_is_absent_pattern, pattern.patterns))
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        return _is_absent_pattern(pattern.pattern)
    if isinstance(pattern, ast.MatchClass):
        return _are_absent(pattern.cls)
    return isinstance(pattern, ast.MatchSingleton) and pattern.value is None


def _is_plain(statement: ast.stmt) -> bool:
    """Whether a statement only moves values from names and attributes to others: it does not fail."""
    harmless = (ast.Name, ast.Attribute, ast.Constant, ast.Tuple, ast.expr_context)
    return isinstance(statement, ast.Pass | ast.Global | ast.Nonlocal) or (
        isinstance(statement, ast.Assign | ast.AnnAssign | ast.Return)
        and all(isinstance(part, harmless) for child in ast.iter_child_nodes(statement) for part in ast.walk(child))
    )


def _catches(node: ast.expr, name: str) -> bool:
    """Whether the type of an `except` clause is, or contains, an exception of this name."""
    if isinstance(node, ast.Tuple):
        return any(_catches(part, name) for part in node.elts)
    return last_name(node) == name


def _is_guard(test: ast.expr) -> bool:
    """Whether a test asks no more than whether something is there."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _is_guard(test.operand)
    if isinstance(test, ast.Compare):
        right = test.comparators[0]
        return len(test.ops) == 1 and isinstance(right, ast.Constant) and right.value is None
    if isinstance(test, ast.Call):
        return last_name(test.func) in {"isinstance", "hasattr"}
    return isinstance(test, ast.Attribute)
