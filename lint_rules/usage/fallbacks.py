"""Places where a plan that lacks a carrier is helped out by a resolution: `plan.pack or compile_pack()`."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lint_rules.index.build import last_name
from lint_rules.index.model import ClassInfo, FunctionInfo
from lint_rules.index.plans import is_ownership_name
from lint_rules.index.words import RESOLVING, is_preparing, words
from lint_rules.usage.owners import is_external

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lint_rules.usage.collect import Usage
    from lint_rules.usage.owners import FieldRead, Owners
    from lint_rules.usage.views import View

__all__ = ["Fallback", "find_fallbacks"]

#: Words of functions that make a thing: they count where the thing takes the place of the carrier.
_MAKING = frozenset({"build", "jitted"})

#: Words of classes that exist to resolve.
_PREPARING_CLASSES = frozenset({"prepare", "preparation", "preparer", "compiler", "builder", "resolver"})
_INITIALIZERS = frozenset({"__init__", "__new__", "__post_init__", "__attrs_post_init__", "model_post_init"})

#: What a handler must catch for the missing carrier to be why it runs.
_MISSING_ERRORS = frozenset(
    {"KeyError", "LookupError", "IndexError", "AttributeError", "TypeError", "Exception", "BaseException"}
)

#: Calls in which a missing key, or attribute, takes the last argument.
_DEFAULTING = frozenset({"get", "setdefault", "getattr", "pop"})

#: How many helpers deep a function counts as one that resolves.
_DEEPEST = 2


@dataclass(frozen=True, slots=True)
class Fallback:
    """`call` resolves where `carrier` is missing; `missing` is the test, lookup or expression that finds out."""

    carrier: FieldRead
    call: ast.Call
    missing: ast.expr | ast.stmt
    view: View


def find_fallbacks(usage: Usage) -> Iterator[Fallback]:
    """Every resolution that stands in for a carrier, each once, outside of code whose business is resolving."""
    finder = _Finder(usage)
    for view in usage.views:
        if finder.is_preparation(view):
            continue
        seen: set[ast.Call] = set()
        for found in finder.look(view):
            if found.call not in seen and not finder.completes_a_plan(found, view):
                seen.add(found.call)
                yield found


class _Finder:
    def __init__(self, usage: Usage) -> None:
        self.usage = usage
        self.owners: Owners = usage.owners

    def is_preparation(self, view: View) -> bool:
        """Whether the function says by its name, its class or a mark that it resolves."""
        if view.info is None or self._is_materializer(view.info):
            return view.info is None
        if view.name in _INITIALIZERS or is_preparing(view.name):
            return True
        if view.info.owner is not None and _PREPARING_CLASSES & set(words(view.info.owner.node.name)):
            return True
        return self._is_resolver(view.info)

    def _is_materializer(self, info: FunctionInfo) -> bool:
        return self._is_marked(info, "materializer")

    def _is_resolver(self, info: FunctionInfo) -> bool:
        return self._is_marked(info, "resolver")

    def _is_marked(self, info: FunctionInfo, name: str) -> bool:
        marks = [d.func if isinstance(d, ast.Call) else d for d in info.decorators]
        return any(is_ownership_name(self.usage.project.resolve_expression(info.module, mark), name) for mark in marks)

    # Shapes

    def look(self, view: View) -> Iterator[Fallback]:
        for either in view.of(ast.BoolOp):
            if isinstance(either.op, ast.Or):
                yield from self._or(either, view)
        for choice in view.of(ast.IfExp):
            for read, when in self._missing(choice.test, view):
                yield from self._found(read, [choice.body if when else choice.orelse], choice.test, view)
        for test in view.of(ast.If):
            for read, when in self._missing(test.test, view):
                yield from self._found(read, self._branch(test, view, when=when), test.test, view)
        for attempt in view.of(ast.Try):
            yield from self._handlers(attempt, view)
        for call in view.of(ast.Call):
            yield from self._default(call, view)
        for choice_of_cases in view.of(ast.Match):
            yield from self._cases(choice_of_cases, view)

    def _or(self, node: ast.BoolOp, view: View) -> Iterator[Fallback]:
        for at, part in enumerate(node.values[:-1]):
            read = self._lookup(part, view)
            if read is not None:
                yield from self._found(read, node.values[at + 1 :], node, view)
                return

    def _handlers(self, node: ast.Try, view: View) -> Iterator[Fallback]:
        handlers = [handler for handler in node.handlers if _catches_missing(handler)]
        if not handlers:
            return
        for part in (inner for statement in node.body for inner in ast.walk(statement)):
            read = self._lookup(part, view) if isinstance(part, ast.Subscript | ast.Attribute | ast.Call) else None
            if read is not None:
                assert isinstance(part, ast.expr)
                for handler in handlers:
                    yield from self._found(read, handler.body, part, view)
                return

    def _default(self, node: ast.Call, view: View) -> Iterator[Fallback]:
        if last_name(node.func) not in _DEFAULTING or len(node.args) < 2:
            return
        wanted = 3 if isinstance(node.func, ast.Name) else 2
        read = self._lookup(node, view)
        if read is not None and len(node.args) == wanted:
            yield from self._found(read, [node.args[-1]], node, view)

    def _cases(self, node: ast.Match, view: View) -> Iterator[Fallback]:
        read = self._lookup(node.subject, view)
        for case in node.cases if read is not None else ():
            if _matches_missing(case.pattern):
                assert read is not None
                yield from self._found(read, case.body, node.subject, view)

    def _found(
        self, read: FieldRead, nodes: Iterable[ast.expr | ast.stmt], missing: ast.expr | ast.stmt, view: View
    ) -> Iterator[Fallback]:
        """The first call in the nodes that resolves, unless it only words an error."""
        for node in nodes:
            for call in _calls_in(node):
                if self._resolves(call, read, view):
                    yield Fallback(read, call, missing, view)
                    return

    # Tests

    def _missing(self, test: ast.expr, view: View, *, holds: bool = True) -> Iterator[tuple[FieldRead, bool]]:
        """The carriers that a test asks for, each with the outcome that says that it is missing."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield from self._missing(test.operand, view, holds=not holds)
        elif isinstance(test, ast.BoolOp):
            for part in test.values:
                yield from self._missing(part, view, holds=holds)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1:
            (operator,), (right,) = test.ops, test.comparators
            if isinstance(right, ast.Constant) and right.value is None and isinstance(operator, ast.Is | ast.Eq):
                yield from self._asked(test.left, view, when=holds)
            elif (
                isinstance(right, ast.Constant) and right.value is None and isinstance(operator, ast.IsNot | ast.NotEq)
            ):
                yield from self._asked(test.left, view, when=not holds)
            elif isinstance(operator, ast.In | ast.NotIn):
                yield from self._asked(right, view, when=holds is isinstance(operator, ast.NotIn))
        elif isinstance(test, ast.Call) and last_name(test.func) == "isinstance" and len(test.args) == 2:
            kinds = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]
            if all(last_name(kind) in {"Absent", "Dropped"} for kind in kinds):
                yield from self._asked(test.args[0], view, when=holds)
        elif isinstance(test, ast.Call) and last_name(test.func) == "hasattr":
            getter = ast.copy_location(ast.Call(ast.Name("getattr", ast.Load()), test.args, []), test)
            yield from self._asked(getter, view, when=not holds)
        else:
            yield from self._asked(test, view, when=not holds)

    def _asked(self, node: ast.expr, view: View, *, when: bool) -> Iterator[tuple[FieldRead, bool]]:
        read = self._lookup(node, view)
        if read is not None:
            yield read, when

    def _lookup(self, node: ast.AST, view: View, depth: int = 0) -> FieldRead | None:
        """The carrier that an expression is, or is looked up in: `plan.x`, `plan.x[rows]`, `plan.x.get(rows)`."""
        if not isinstance(node, ast.expr) or depth > 4:
            return None
        found = self.owners.carrier(node, view)
        if found is not None:
            return found
        if isinstance(node, ast.Subscript | ast.NamedExpr):
            return self._lookup(node.value, view, depth + 1)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _DEFAULTING:
            return self._lookup(node.func.value, view, depth + 1)
        if isinstance(node, ast.Name):
            bound = view.last_binding(node)
            if bound is not None and not bound.element and not bound.parameter:
                return self._lookup(bound.value, view, depth + 1) if bound.value is not None else None
        return None

    def _branch(self, node: ast.If, view: View, *, when: bool) -> list[ast.stmt]:
        """The statements that run where the carrier is missing; behind an early return, those that follow."""
        if when or node.orelse:
            return node.body if when else node.orelse
        if not isinstance(node.body[-1], ast.Return) or node.body[-1].value is None:
            return []
        parent = view.parents.get(node)
        around = (
            next((value for _, value in ast.iter_fields(parent) if isinstance(value, list) and node in value), [])
            if parent is not None
            else view.info.node.body
            if view.info is not None
            else []
        )
        return around[around.index(node) + 1 :] if node in around else []

    # Calls

    def _resolves(self, call: ast.Call, read: FieldRead, view: View) -> bool:
        name = last_name(call.func)
        callee = self.owners.callee(call, view)
        if is_external(callee, "re.compile", "builtins.compile") or name in {"Absent", "Dropped"}:
            return False
        spoken = words(name)
        if RESOLVING & set(spoken):
            # What a statement calls for its effect alone must say first that it resolves: `log_compile()` does not.
            return not isinstance(view.parents.get(call), ast.Expr) or spoken[0] in RESOLVING
        if isinstance(callee, ClassInfo):
            return callee is self._carrier_class(read) and self._takes_the_place(call, view)
        if isinstance(callee, FunctionInfo) and self._is_resolving(callee, 0):
            return True
        return bool(_MAKING & set(words(name))) and self._takes_the_place(call, view)

    def _carrier_class(self, read: FieldRead) -> ClassInfo | None:
        """The class of a carrier, as its annotation states it."""
        field = read.plan.fields[read.name]
        annotation = field.info.annotation if field.info is not None else None
        for part in ast.walk(annotation) if annotation is not None else ():
            if isinstance(part, ast.Name | ast.Attribute):
                found = self.usage.project.resolve_expression(field.owner.module, part)
                if isinstance(found, ClassInfo):
                    return found
        return None

    def _is_resolving(self, info: FunctionInfo, depth: int) -> bool:
        """Whether a function is marked as a resolver, or its body resolves."""
        if self._is_resolver(info):
            return True
        if depth == _DEEPEST:
            return False
        view = self.usage.view(info)
        for call in view.of(ast.Call):
            callee = self.owners.callee(call, view)
            if is_external(callee, "re.compile", "builtins.compile"):
                continue
            if RESOLVING & set(words(last_name(call.func))):
                return True
            if isinstance(callee, FunctionInfo) and callee is not info and self._is_resolving(callee, depth + 1):
                return True
        return False

    @staticmethod
    def _takes_the_place(call: ast.Call, view: View) -> bool:
        """Whether what the call makes becomes the value: assigned, returned, called, or the other half of an `or`."""
        parent = view.parents.get(call)
        if isinstance(parent, ast.Call):
            return parent.func is call or last_name(parent.func) in _DEFAULTING
        return isinstance(parent, ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.Return | ast.BoolOp | ast.IfExp)

    def completes_a_plan(self, found: Fallback, view: View) -> bool:
        """Whether the value becomes the same field of a plan that the function makes: that is what preparing is."""
        if view.info is not None and self._is_materializer(view.info):
            return False
        made = [each for call in view.of(ast.Call) if (each := self.owners.made(call, view)) is not None]
        given = [each.values[found.carrier.name] for each in made if found.carrier.name in each.values]
        if not given:
            return False
        around = [found.call, *view.ancestors(found.call)]
        if any(value in around for value in given):
            return True
        targets: set[str] = set()
        for node in around:
            if isinstance(node, ast.Assign | ast.AnnAssign):
                parts = node.targets if isinstance(node, ast.Assign) else [node.target]
                targets |= {part.id for part in parts if isinstance(part, ast.Name)}
        return any(isinstance(value, ast.Name) and value.id in targets for value in given)


def _calls_in(node: ast.expr | ast.stmt) -> Iterator[ast.Call]:
    """The calls that run with a node: not those of nested functions, and not what an error is made of."""
    stack: list[ast.AST] = [node]
    while stack:
        part = stack.pop()
        if isinstance(
            part, ast.Raise | ast.Assert | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
        ):
            continue
        if isinstance(part, ast.Call):
            yield part
        stack.extend(reversed(list(ast.iter_child_nodes(part))))


def _catches_missing(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(last_name(each) in _MISSING_ERRORS for each in caught)


def _matches_missing(pattern: ast.pattern) -> bool:
    if isinstance(pattern, ast.MatchOr):
        return all(map(_matches_missing, pattern.patterns))
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        return _matches_missing(pattern.pattern)
    if isinstance(pattern, ast.MatchClass):
        return last_name(pattern.cls) in {"Absent", "Dropped"}
    return isinstance(pattern, ast.MatchSingleton) and pattern.value is None
