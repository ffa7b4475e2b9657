"""Caches in code: the key under which a function looks up and stores, and what the stored value was built from."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lint_rules.agreement.signatures import callee_of, is_bound, own_parameters, signature_of
from lint_rules.index.model import ClassInfo, FunctionInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.index.bodies import Bodies, Body
    from lint_rules.index.project import Project

__all__ = ["KeyedStore", "Missing", "key_expression", "keyed_stores", "missing_facts"]


@dataclass(frozen=True, slots=True)
class KeyedStore:
    """One `cache[key] = value` behind a look-up of the same key. `key` is the expression that makes the key."""

    function: FunctionInfo
    cache: ast.expr
    key: ast.expr
    value: ast.expr
    node: ast.stmt | ast.expr


@dataclass(frozen=True, slots=True)
class Missing:
    """A fact that the value is built from and the key lacks: a parameter, or a field of one (`owner` then).

    `reader` is the function that reads the field, where that is another one. `expression` is what the key would need.
    """

    name: str
    expression: str
    parameter: ast.arg
    owner: ClassInfo | None = None
    reader: FunctionInfo | None = None


def keyed_stores(info: FunctionInfo, body: Body) -> Iterator[KeyedStore]:
    """The stores of a function into caches that it also reads with the same key."""
    stores = any(isinstance(target, ast.Subscript) for targets, _, _ in body.assignments for target in targets)
    if not stores and not any(_is_setdefault(call) for call in body.calls):
        return
    looked_up = {(_text(cache), _text(key)) for cache, key in _lookups(body)}
    for targets, value, node in body.assignments:
        for target in targets:
            if isinstance(target, ast.Subscript) and (_text(target.value), _text(target.slice)) in looked_up:
                store = KeyedStore(info, target.value, key_expression(target.slice, body), value, node)
                if _outlives(store, body) and _is_built(value, body):
                    yield store
    for call in body.calls:
        if _is_setdefault(call) and isinstance(call.func, ast.Attribute):
            store = KeyedStore(info, call.func.value, key_expression(call.args[0], body), call.args[1], call)
            if _outlives(store, body) and _is_built(call.args[1], body):
                yield store


def _outlives(store: KeyedStore, body: Body) -> bool:
    """Whether the cache is there before and after the call: one that the function makes sees one set of arguments.

    An object that stores into itself (`self[name] = value`) is a mapping, and its entries are no memo.
    """
    cache = store.cache
    if isinstance(cache, ast.Name) and is_bound(store.function):
        arguments = [*store.function.node.args.posonlyargs, *store.function.node.args.args]
        if arguments and cache.id == arguments[0].arg:
            return False
    while isinstance(cache, ast.Attribute | ast.Subscript):
        cache = cache.value
    return isinstance(cache, ast.Name) and cache.id not in body.stores and cache.id not in body.inner


def _is_built(value: ast.expr, body: Body, depth: int = 3) -> bool:
    """Whether the value is made by a call; sums and counts are no programs."""
    if isinstance(value, ast.Await | ast.NamedExpr):
        return _is_built(value.value, body, depth)
    if isinstance(value, ast.IfExp):
        return _is_built(value.body, body, depth) or _is_built(value.orelse, body, depth)
    if isinstance(value, ast.Name) and depth:
        return any(each is not None and _is_built(each, body, depth - 1) for each in body.values.get(value.id, ()))
    return isinstance(value, ast.Call) and not (isinstance(value.func, ast.Attribute) and value.func.attr == "get")


def _is_setdefault(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "setdefault" and len(call.args) == 2


def _lookups(body: Body) -> Iterator[tuple[ast.expr, ast.expr]]:
    for compare in body.compares:
        if len(compare.ops) == 1 and isinstance(compare.ops[0], ast.In | ast.NotIn):
            yield compare.comparators[0], compare.left
    for call in body.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr in {"get", "setdefault"} and call.args:
            yield call.func.value, call.args[0]


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return ast.unparse(node)


def key_expression(node: ast.expr, body: Body) -> ast.expr:
    """The expression that a key variable was given."""
    if isinstance(node, ast.Name):
        values = body.values.get(node.id, [])
        if len(values) == 1 and values[0] is not None:
            return values[0]
    return node


def missing_facts(project: Project, bodies: Bodies, store: KeyedStore) -> list[Missing]:
    """What the stored value depends on and the key does not."""
    info = store.function
    body = bodies.of(info)
    parameters = {each.arg: each for each in own_parameters(info.node, skip_first=is_bound(info))}
    covered = _sources(store.key, body, parameters, set())
    if not covered or (isinstance(store.key, ast.Name) and "key" in store.key.id):
        return []  # a slot with a fixed name is no memo, and a key that is given was made by the caller
    covered |= _sources(store.cache, body, parameters, set())
    covered |= _tested_around(store, body, parameters) | _put_right(store, body, parameters)
    found: dict[str, Missing] = {}
    for source in sorted(_sources(store.value, body, parameters, set())):
        name, _, attribute = source.partition(".")
        if name in covered or source in covered:
            continue
        partial = any(each.startswith(name + ".") for each in covered)
        cls = project.annotated_class(info.module, parameters[name].annotation)
        if attribute and (partial or cls is not None):
            if cls is None or attribute in project.fields(cls):
                found[source] = Missing(attribute, source, parameters[name], cls)
        elif not attribute and not partial:
            found[source] = Missing(name, name, parameters[name])
    found.update(_read_by_factories(project, bodies, store, body, parameters, covered))
    return [each for name, each in found.items() if "." not in name or name.partition(".")[0] not in found]


def _sources(node: ast.expr | None, body: Body, parameters: dict[str, ast.arg], seen: set[str]) -> set[str]:
    """The parameters, whole or by attribute (`plan.rows`), that an expression depends on, through local variables."""
    found: set[str] = set()
    stack: list[ast.AST] = [node] if node is not None else []
    while stack:
        part = stack.pop()
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            name = part.value.id
            if name in parameters and name not in body.values:
                found.add(f"{name}.{part.attr}")
                continue
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            if part.id in parameters:
                found.add(part.id)
            if part.id not in seen:
                seen.add(part.id)
                if part.id in body.values:
                    stack.extend(value for value in body.values[part.id] if value is not None)
                    stack.extend(body.fed.get(part.id, ()))
                if part.id in body.nested:
                    stack.append(body.nested[part.id])
            continue
        if isinstance(part, ast.Lambda):
            continue
        stack.extend(ast.iter_child_nodes(part))
    return found


def _tested_around(store: KeyedStore, body: Body, parameters: dict[str, ast.arg]) -> set[str]:
    """What the conditions look at under which the value is stored: `if old is None or old.size < rows`."""
    found: set[str] = set()
    for node in ast.walk(store.function.node):
        if isinstance(node, ast.If | ast.IfExp | ast.While) and isinstance(node.test, ast.expr):
            inside = node.lineno <= store.node.lineno <= (node.end_lineno or node.lineno)
            leaves = isinstance(node, ast.If) and _leaves(node)
            if inside or leaves:
                found |= _sources(node.test, body, parameters, _found_again(store, body))
    return found


def _put_right(store: KeyedStore, body: Body, parameters: dict[str, ast.arg]) -> set[str]:
    """What is set anew on the value that was found: `replace(cached, rows=rows)`."""
    found: set[str] = set()
    cached = _found_again(store, body)
    for call in body.calls:
        arguments = _arguments(call)
        if any(isinstance(argument, ast.Name) and argument.id in cached for argument in arguments):
            for argument in arguments:
                found |= _sources(argument, body, parameters, set(cached))
    for name in cached:
        for value in body.fed.get(name, ()):
            found |= _sources(value, body, parameters, set(cached))
    return found


def _found_again(store: KeyedStore, body: Body) -> set[str]:
    """The variables that hold what the look-up gave."""
    cache = _text(store.cache)
    return {
        name
        for name, values in body.values.items()
        for value in values
        if isinstance(value, ast.Call | ast.Subscript) and _text(value).startswith((f"{cache}.get(", f"{cache}["))
    }


def _leaves(node: ast.If) -> bool:
    """Whether the branch ends the function: what was tested there is known behind it."""
    return isinstance(node.body[-1], ast.Return | ast.Raise | ast.Continue)


def _read_by_factories(
    project: Project,
    bodies: Bodies,
    store: KeyedStore,
    body: Body,
    parameters: dict[str, ast.arg],
    covered: set[str],
) -> dict[str, Missing]:
    """Fields of an object that is handed to the factory whole, while the key has some of its fields only."""
    found: dict[str, Missing] = {}
    for call in _calls_behind(store.value, body):
        callee = callee_of(project, store.function, call, {*parameters, *body.stores, *body.inner})
        if not isinstance(callee, FunctionInfo):
            continue
        signature = signature_of(project, callee)
        bound = signature.bind(call) if signature is not None else None
        for inner, argument in (bound or {}).items():
            if not isinstance(argument, ast.Name) or argument.id not in parameters or argument.id in covered:
                continue
            name = argument.id
            parts = {each.partition(".")[2] for each in covered if each.startswith(name + ".")}
            cls = project.annotated_class(store.function.module, parameters[name].annotation)
            if not parts or cls is None:
                continue
            fields = project.fields(cls)
            for attribute, reader in attributes_read(project, bodies, callee, inner):
                if attribute in fields and attribute not in parts:
                    key = f"{name}.{attribute}"
                    found.setdefault(key, Missing(attribute, key, parameters[name], cls, reader))
    return found


def _calls_behind(node: ast.expr, body: Body, depth: int = 3) -> Iterator[ast.Call]:
    """The calls in an expression, and in what its local variables were given."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            yield part
        elif isinstance(part, ast.Name) and depth:
            for value in body.values.get(part.id, ()):
                if value is not None:
                    yield from _calls_behind(value, body, depth - 1)


def attributes_read(
    project: Project, bodies: Bodies, info: FunctionInfo, parameter: str, depth: int = 3
) -> Iterator[tuple[str, FunctionInfo]]:
    """The attributes of a parameter that a function reads, in itself and in what it hands the parameter to."""
    body = bodies.of(info)
    if parameter in body.stores:
        return
    for node in body.attributes:
        if isinstance(node.value, ast.Name) and node.value.id == parameter and isinstance(node.ctx, ast.Load):
            yield node.attr, info
    if not depth:
        return
    for call in body.calls:
        if not any(isinstance(argument, ast.Name) and argument.id == parameter for argument in _arguments(call)):
            continue
        callee = callee_of(project, info, call, {*body.stores, *body.inner})
        signature = signature_of(project, callee) if isinstance(callee, FunctionInfo) and callee is not info else None
        bound = signature.bind(call) if signature is not None else None
        for inner, argument in (bound or {}).items():
            if isinstance(argument, ast.Name) and argument.id == parameter and isinstance(callee, FunctionInfo):
                yield from attributes_read(project, bodies, callee, inner, depth - 1)


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]
