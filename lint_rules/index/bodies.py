"""What a function's body reads, calls and assigns: one walk of its tree, for every rule that asks."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lint_rules.index.model import FunctionInfo

__all__ = ["Bodies", "Body"]

#: Fields of nodes in which there is no node, or an annotation, which is not run here.
_NO_NODES = frozenset({
    "annotation", "arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "kwd_attrs", "level",
    "module",     "name", "names", "op", "ops", "rest", "returns", "simple", "type_comment", "type_params",
})  # fmt: skip
_CHILDREN: dict[type[ast.AST], tuple[str, ...]] = {ast.Constant: (), ast.Name: (), ast.MatchSingleton: ()}


@dataclass(slots=True)
class Body:
    """A function's body, nested functions included; defaults and decorators are no part of it.

    `reads` has the names that are read to some effect, `checks` those that are read only to refuse them: in an
    assertion, or in an `if` with nothing but a `raise`. Lists are in the order of the source.
    """

    reads: dict[str, list[ast.Name]] = field(default_factory=dict)
    checks: dict[str, list[ast.Name]] = field(default_factory=dict)
    stores: set[str] = field(default_factory=set)
    deletes: set[str] = field(default_factory=set)
    #: Names that a nested function, a lambda or a class body binds for itself.
    inner: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    calls: list[ast.Call] = field(default_factory=list)
    attributes: list[ast.Attribute] = field(default_factory=list)
    subscripts: list[ast.Subscript] = field(default_factory=list)
    compares: list[ast.Compare] = field(default_factory=list)
    #: Assignments with a value: `a = b = v` once, with both targets; `a: T = v` and `a := v` too.
    assignments: list[tuple[list[ast.expr], ast.expr, ast.stmt | ast.expr]] = field(default_factory=list)
    augmented: list[ast.AugAssign] = field(default_factory=list)
    returns: list[ast.Return] = field(default_factory=list)
    #: What a name was given where it was assigned as a whole; None where it cannot be told.
    values: dict[str, list[ast.expr | None]] = field(default_factory=dict)
    #: What was put into the object behind a name: `x.a = v`, `x["a"] = v`, `x.add(v)`.
    fed: dict[str, list[ast.expr]] = field(default_factory=dict)
    #: Nested functions and classes by name.
    nested: dict[str, ast.stmt] = field(default_factory=dict)

    @property
    def sees_everything(self) -> bool:
        """Whether the body can read its variables without naming them."""
        return any(
            name in self.reads and any(call.func in self.reads[name] and not call.args for call in self.calls)
            for name in ("locals", "vars", "eval", "exec")
        )

    def binds(self, name: str) -> bool:
        """Whether the name is a local variable here."""
        return name in self.stores or name in self.inner


class Bodies:
    """The bodies of a project's functions; each is walked when it is first asked for."""

    def __init__(self) -> None:
        self._known: dict[FunctionInfo, Body] = {}

    def of(self, info: FunctionInfo) -> Body:
        body = self._known.get(info)
        if body is None:
            body = self._known[info] = _read(info.node.body)
        return body


def _read(statements: Iterable[ast.stmt]) -> Body:
    body = Body()
    _walk(list(statements), body, body.reads)
    return body


def _walk(nodes: list[ast.AST], body: Body, reads: dict[str, list[ast.Name]]) -> None:
    stack = nodes[::-1]
    while stack:
        node = stack.pop()
        kind = node.__class__
        if kind is ast.Name:
            _name(node, body, reads)  # type: ignore[arg-type]
            continue
        if kind is ast.Constant or node is None:
            continue
        if kind is ast.Attribute:
            body.attributes.append(node)  # type: ignore[arg-type]
        elif kind is ast.Call:
            _call(node, body)  # type: ignore[arg-type]
        elif kind is ast.Subscript:
            body.subscripts.append(node)  # type: ignore[arg-type]
        elif kind is ast.Compare:
            body.compares.append(node)  # type: ignore[arg-type]
        elif isinstance(node, ast.stmt):
            if _only_refuses(node):
                _walk(_children(node), body, body.checks)
                for refused in _refused_outright(node):
                    body.reads.setdefault(refused.id, []).append(refused)
                continue
            _statement(node, body)
        elif kind is ast.NamedExpr:
            _assigned(body, [node.target], node.value, node)  # type: ignore[attr-defined, arg-type]
        elif kind is ast.Lambda:
            _bind_inner(node.args, body)  # type: ignore[attr-defined]
        fields = _CHILDREN.get(kind)
        for name in _child_fields(kind) if fields is None else fields:
            value = getattr(node, name, None)
            if value.__class__ is list:
                stack.extend(value[::-1])
            elif value is not None:
                stack.append(value)


def _child_fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a sort of node that hold nodes worth a look, the last one first."""
    found = _CHILDREN[kind] = tuple(name for name in reversed(kind._fields) if name not in _NO_NODES)
    return found


def _children(node: ast.AST) -> list[ast.AST]:
    found: list[ast.AST] = []
    for name in reversed(_child_fields(node.__class__)):
        value = getattr(node, name, None)
        if value is not None:
            found += value if isinstance(value, list) else [value]
    return found


def _call(node: ast.Call, body: Body) -> None:
    body.calls.append(node)
    function = node.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        body.fed.setdefault(function.value.id, []).extend(given)


def _name(node: ast.Name, body: Body, reads: dict[str, list[ast.Name]]) -> None:
    if node.ctx.__class__ is ast.Load:
        known = reads.get(node.id)
        if known is None:
            reads[node.id] = [node]
        else:
            known.append(node)
    elif node.ctx.__class__ is ast.Store:
        body.stores.add(node.id)
    else:
        body.deletes.add(node.id)


def _statement(node: ast.stmt, body: Body) -> None:
    if isinstance(node, ast.Assign):
        _assigned(body, node.targets, node.value, node)
    elif isinstance(node, ast.AnnAssign):
        if node.value is not None:
            _assigned(body, [node.target], node.value, node)
    elif isinstance(node, ast.AugAssign):
        body.augmented.append(node)
        if isinstance(node.target, ast.Name):
            body.values.setdefault(node.target.id, []).append(None)
            body.reads.setdefault(node.target.id, []).append(node.target)
    elif isinstance(node, ast.Return):
        body.returns.append(node)
    elif isinstance(node, ast.Global | ast.Nonlocal):
        body.globals.update(node.names)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        body.stores.add(node.name)
        body.nested[node.name] = node
        _bind_inner(node.args, body)
    elif isinstance(node, ast.ClassDef):
        body.stores.add(node.name)
        body.nested[node.name] = node
    elif isinstance(node, ast.Import | ast.ImportFrom):
        body.stores.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.For | ast.AsyncFor):
        for name in _names_in(node.target):
            body.values.setdefault(name, []).append(node.iter)
    elif isinstance(node, ast.With | ast.AsyncWith):
        for item in node.items:
            if isinstance(item.optional_vars, ast.Name):
                body.values.setdefault(item.optional_vars.id, []).append(item.context_expr)


def _assigned(body: Body, targets: list[ast.expr], value: ast.expr, node: ast.stmt | ast.expr) -> None:
    body.assignments.append((targets, value, node))
    for target in targets:
        if isinstance(target, ast.Name):
            body.values.setdefault(target.id, []).append(value)
            continue
        if isinstance(target, ast.Subscript | ast.Attribute) and isinstance(target.value, ast.Name):
            body.fed.setdefault(target.value.id, []).append(value)
        if isinstance(target, ast.Tuple | ast.List):
            parts: list[ast.expr | None] = [value] * len(target.elts)
            if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
                parts = list(value.elts)
            for element, part in zip(target.elts, parts, strict=True):
                for name in _names_in(element):
                    body.values.setdefault(name, []).append(part)


def _names_in(target: ast.expr) -> list[str]:
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def _bind_inner(arguments: ast.arguments, body: Body) -> None:
    body.inner.update(a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs])
    body.inner.update(a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None)


def _only_refuses(node: ast.stmt) -> bool:
    """Whether the statement does nothing but end in an error: `assert x`, `if x: raise ...`."""
    if isinstance(node, ast.Assert | ast.Raise):
        return True
    return isinstance(node, ast.If) and not node.orelse and all(_only_refuses(inner) for inner in node.body)


def _refused_outright(node: ast.stmt) -> Iterator[ast.Name]:
    """Names of which the statement refuses every value but one: `if given: raise`, `assert other is None`."""
    test = node.test if isinstance(node, ast.If | ast.Assert) else None
    parts = test.values if isinstance(test, ast.BoolOp) and _splits(node, test) else [test]
    for part in parts:
        if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
            part = part.operand
        if isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.Is | ast.IsNot | ast.Eq | ast.NotEq):
            part = part.left
        if isinstance(part, ast.Name):
            yield part


def _splits(node: ast.stmt, test: ast.BoolOp) -> bool:
    """Whether each part of the test refuses on its own."""
    return isinstance(test.op, ast.And if isinstance(node, ast.Assert) else ast.Or)
