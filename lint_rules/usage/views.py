"""A function as the rules about the use of plans see it: its nodes in order, and what its names are bound to."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from lint_rules.findings import Place
from lint_rules.index.build import last_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lint_rules.index.model import ClassInfo, FunctionInfo, ModuleInfo

__all__ = ["Bound", "View", "dotted", "position", "text_of", "text_place", "view_of"]

_Node = TypeVar("_Node", bound=ast.AST)

_SHAPES = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
_NEWLINE = re.compile(r"\r\n|\r|\n")


def dotted(node: ast.expr) -> str:
    """`a.b.c` as a text; empty for anything but names and their attributes."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def position(node: ast.AST) -> tuple[int, int]:
    """Where a node starts."""
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def _end(node: ast.AST) -> tuple[int, int]:
    return node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Bound:
    """One way in which a name gets its value.

    `since` is the position from which the binding holds. `element` says that the name is an element of `value`, as in a
    loop or an unpacking. A parameter has neither a value nor, unless it is a `receiver`, another source than its
    annotation.
    """

    since: tuple[int, int]
    value: ast.expr | None = None
    annotation: ast.expr | None = None
    element: bool = False
    parameter: bool = False
    receiver: ClassInfo | None = None


@dataclass(slots=True, eq=False)
class View:
    """The nodes of one function, nested functions included, or of a module's top level, in the order of the source."""

    module: ModuleInfo
    info: FunctionInfo | None
    nodes: list[ast.AST] = field(default_factory=list)
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    bindings: dict[str, list[Bound]] = field(default_factory=dict)
    globals: set[str] = field(default_factory=set)
    _by_type: dict[type[ast.AST], list[ast.AST]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The function's own name; empty at the top level of a module."""
        return self.info.node.name if self.info is not None else ""

    def of(self, kind: type[_Node]) -> list[_Node]:
        """All nodes of one type."""
        return self._by_type.get(kind, [])  # type: ignore[return-value]

    def function_around(self, node: ast.AST) -> str:
        """The name of the innermost function in which a node stands."""
        inner = (part for part in self.ancestors(node) if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef))
        found = next(inner, None)
        return found.name if found is not None else self.name

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, the nearest first."""
        while (found := self.parents.get(node)) is not None:
            yield found
            node = found

    def last_binding(self, name: ast.Name) -> Bound | None:
        """The binding that comes before a use in the text; of several paths, the last one written."""
        before = [bound for bound in self.bindings.get(name.id, ()) if bound.since <= position(name)]
        return before[-1] if before else None

    def is_local(self, name: str) -> bool:
        return name in self.bindings and name not in self.globals

    def mentions(self, name: str, *, but: Iterable[ast.AST] = ()) -> bool:
        """Whether the function speaks of an attribute of this name, by attribute or in a string, elsewhere."""
        apart = set(but)
        return any(
            (isinstance(node, ast.Attribute) and node.attr == name)
            or (isinstance(node, ast.Constant) and node.value == name)
            for node in self.nodes
            if node not in apart
        )


def view_of(module: ModuleInfo, info: FunctionInfo | None, body: list[ast.stmt]) -> View:
    """Walk a function's body, or the statements of a module, once."""
    view = View(module, info)
    if info is not None:
        decorators = {last_name(decorator) for decorator in info.decorators}
        bound_to = info.owner if "staticmethod" not in decorators else None
        _bind_parameters(view, info.node.args, bound_to, is_class="classmethod" in decorators)
    stack: list[ast.AST] = list(reversed(body))
    nodes, by_type, parents = view.nodes, view._by_type, view.parents
    while stack:
        node = stack.pop()
        kind = node.__class__
        nodes.append(node)
        known = by_type.get(kind)
        if known is None:
            known = by_type[kind] = []
        known.append(node)
        binder = _BINDERS.get(kind)
        if binder is not None:
            binder(view, node)
        inner = _children(node)
        for child in inner:
            parents[child] = node
        inner.reverse()
        stack += inner
    for bounds in view.bindings.values():
        bounds.sort(key=lambda bound: bound.since)
    return view


def _children(node: ast.AST) -> list[ast.AST]:
    """The nodes in a node, without those that only say how it is used (`Load`, `Add`)."""
    found: list[ast.AST] = []
    for value in node.__dict__.values():
        if value.__class__ is list:
            found += [item for item in value if isinstance(item, ast.AST) and not isinstance(item, _SHAPES)]
        elif isinstance(value, ast.AST) and not isinstance(value, _SHAPES):
            found.append(value)
    return found


def _bind_parameters(view: View, arguments: ast.arguments, owner: ClassInfo | None, *, is_class: bool = False) -> None:
    plain = [*arguments.posonlyargs, *arguments.args]
    for index, argument in enumerate([*plain, *arguments.kwonlyargs]):
        receiver = owner if index == 0 and plain and not is_class else None
        bound = Bound((0, 0), None, argument.annotation, parameter=True, receiver=receiver)
        view.bindings.setdefault(argument.arg, []).append(bound)
    for extra in (arguments.vararg, arguments.kwarg):
        if extra is not None:
            view.bindings.setdefault(extra.arg, []).append(Bound((0, 0)))


# What binds names, by the type of the node


def _assign(view: View, node: Any) -> None:
    for target in node.targets:
        _bind_target(view, target, node.value)


def _annotated(view: View, node: Any) -> None:
    if isinstance(node.target, ast.Name):
        view.bindings.setdefault(node.target.id, []).append(Bound(_end(node), node.value, node.annotation))


def _augmented(view: View, node: Any) -> None:
    if isinstance(node.target, ast.Name):
        view.bindings.setdefault(node.target.id, []).append(Bound(_end(node)))


def _walrus(view: View, node: Any) -> None:
    _bind_target(view, node.target, node.value)


def _for(view: View, node: Any) -> None:
    _bind_target(view, node.target, node.iter, element=True)


def _comprehension(view: View, node: Any) -> None:
    # Its variable is used before it in the text.
    for part in ast.walk(node.target):
        if isinstance(part, ast.Name):
            view.bindings.setdefault(part.id, []).append(Bound((0, 0), node.iter, element=True))


def _with(view: View, node: Any) -> None:
    if node.optional_vars is not None:
        _bind_names(view, node.optional_vars, _end(node.context_expr))


def _function(view: View, node: Any) -> None:
    _bind_parameters(view, node.args, None)
    view.bindings.setdefault(node.name, []).append(Bound(position(node)))


def _lambda(view: View, node: Any) -> None:
    _bind_parameters(view, node.args, None)


def _class(view: View, node: Any) -> None:
    view.bindings.setdefault(node.name, []).append(Bound(position(node)))


def _import(view: View, node: Any) -> None:
    for alias in node.names:
        name = (alias.asname or alias.name).partition(".")[0]
        view.bindings.setdefault(name, []).append(Bound(position(node)))


def _handler(view: View, node: Any) -> None:
    if node.name:
        view.bindings.setdefault(node.name, []).append(Bound(position(node)))


def _pattern(view: View, node: Any) -> None:
    name = node.rest if isinstance(node, ast.MatchMapping) else node.name
    if name:
        view.bindings.setdefault(name, []).append(Bound(position(node)))


def _global(view: View, node: Any) -> None:
    view.globals.update(node.names)


_BINDERS: dict[type[ast.AST], Callable[[View, Any], None]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.NamedExpr: _walrus,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.comprehension: _comprehension,
    ast.withitem: _with,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.Lambda: _lambda,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.ExceptHandler: _handler,
    ast.MatchAs: _pattern,
    ast.MatchStar: _pattern,
    ast.MatchMapping: _pattern,
    ast.Global: _global,
    ast.Nonlocal: _global,
}


def _bind_target(view: View, target: ast.expr, value: ast.expr, *, element: bool = False) -> None:
    if isinstance(target, ast.Name):
        view.bindings.setdefault(target.id, []).append(Bound(_end(value), value, element=element))
    elif isinstance(target, ast.Tuple | ast.List):
        parts = value.elts if isinstance(value, ast.Tuple | ast.List) and not element else []
        starred = any(isinstance(part, ast.Starred) for part in [*target.elts, *parts])
        if len(parts) == len(target.elts) and not starred:
            for part, item in zip(target.elts, parts, strict=True):
                _bind_target(view, part, item)
        else:
            _bind_names(view, target, _end(value))
    elif isinstance(target, ast.Starred):
        _bind_names(view, target, _end(value))


def _bind_names(view: View, target: ast.expr, since: tuple[int, int]) -> None:
    for part in ast.walk(target):
        if isinstance(part, ast.Name):
            view.bindings.setdefault(part.id, []).append(Bound(since))


# Text, for fixes


def text_of(module: ModuleInfo, node: ast.expr | ast.stmt) -> str:
    """The source text of a node; empty where the tree was made from other text than the file's."""
    text = ast.get_source_segment(module.text, node) or ""
    try:
        again = ast.parse(f"({text}\n)", mode="eval").body if isinstance(node, ast.expr) else ast.parse(text)
    except SyntaxError:
        return ""
    return text if ast.unparse(again) == ast.unparse(node) else ""


def text_place(module: ModuleInfo, node: ast.expr | ast.stmt) -> Place:
    """Where a node's text starts, counted in characters."""
    lines = _NEWLINE.split(module.text)
    row = lines[node.lineno - 1] if node.lineno <= len(lines) else ""
    before = row.encode("utf-8", "surrogatepass")[: node.col_offset].decode("utf-8", "ignore")
    return Place(module.path, node.lineno, len(before) + 1)
