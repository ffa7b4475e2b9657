"""Two places that make keys for one cache, of which one has fewer facts: what one stores the other never finds."""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lint_rules.agreement.keys import key_expression
from lint_rules.agreement.scope import hidden_names
from lint_rules.agreement.signatures import is_bound
from lint_rules.index.model import ValueBinding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lint_rules.agreement.scope import Agreement
    from lint_rules.index.bodies import Bodies
    from lint_rules.index.model import FunctionInfo
    from lint_rules.index.project import Project

__all__ = ["KeyUse", "UnequalKeys", "unequal_keys"]


@dataclass(frozen=True, slots=True)
class KeyUse:
    """One use of a cache with a tuple as the key: a store, a look-up or a test."""

    function: FunctionInfo
    cache: str
    key: ast.Tuple
    node: ast.expr
    stores: bool

    @property
    def names(self) -> list[str]:
        return [_name(each) for each in self.key.elts]


@dataclass(frozen=True, slots=True)
class UnequalKeys:
    """`short` lacks `missing`, which `long` has in its key for the same cache."""

    short: KeyUse
    long: KeyUse
    missing: tuple[str, ...]


def unequal_keys(agreement: Agreement, functions: Iterable[FunctionInfo]) -> Iterator[UnequalKeys]:
    """The uses whose key is a part of another one's, each once; one of the two must store what the other looks up."""
    caches: dict[object, list[KeyUse]] = defaultdict(list)
    for info in functions:
        for identity, use in agreement.look(info, _uses, agreement.project, agreement.bodies, info):
            caches[identity].append(use)
    for uses in caches.values():
        done: set[tuple[FunctionInfo, int]] = set()
        for short in uses:
            place = (short.function, short.node.lineno)
            long = next((each for each in uses if _extends(each, short)), None)
            if long is not None and place not in done:
                done.add(place)
                yield UnequalKeys(short, long, tuple(name for name in long.names if name not in short.names))


def _extends(long: KeyUse, short: KeyUse) -> bool:
    if len(long.key.elts) <= len(short.key.elts) or long.stores == short.stores:
        return False
    if len(short.key.elts) < 2 or long.function is short.function:
        return False
    rest = iter(long.names)
    return all(name in rest for name in short.names)


def _name(node: ast.expr) -> str:
    """What an entry is, whatever it is read from: `rows` of `plan.rows`, of `int(rows)`."""
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        return _name(node.args[0])
    if isinstance(node, ast.Attribute):
        return node.attr
    return ast.unparse(node)


def _uses(project: Project, bodies: Bodies, info: FunctionInfo) -> Iterator[tuple[object, KeyUse]]:
    body = bodies.of(info)
    hidden = hidden_names(bodies, info)
    found: list[tuple[ast.expr, ast.expr, ast.expr, bool]] = [
        (each.value, each.slice, each, isinstance(each.ctx, ast.Store)) for each in body.subscripts
    ]
    found += [
        (call.func.value, call.args[0], call, call.func.attr == "setdefault")
        for call in body.calls
        if isinstance(call.func, ast.Attribute) and call.func.attr in {"get", "setdefault"} and call.args
    ]
    found += [
        (each.comparators[0], each.left, each, False)
        for each in body.compares
        if isinstance(each.ops[0], ast.In | ast.NotIn)
    ]
    for cache, key, node, stores in found:
        made = key_expression(key, body)
        identity = _identity(project, info, cache, hidden) if isinstance(made, ast.Tuple) else None
        if isinstance(made, ast.Tuple) and identity is not None:
            yield identity, KeyUse(info, ast.unparse(cache), made, node, stores)


def _identity(project: Project, info: FunctionInfo, cache: ast.expr, hidden: set[str]) -> object:
    """What two functions mean by a cache: a global of a module, or an attribute of their class; None for others."""
    if isinstance(cache, ast.Name):
        symbol = project.resolve(info.module, cache.id) if cache.id not in hidden else None
        if isinstance(symbol, ValueBinding) and isinstance(symbol.expression, ast.Dict | ast.Call):
            return symbol.module.path, symbol.name
        return None
    if isinstance(cache, ast.Attribute) and isinstance(cache.value, ast.Name) and info.owner is not None:
        arguments = [*info.node.args.posonlyargs, *info.node.args.args]
        if is_bound(info) and arguments and cache.value.id == arguments[0].arg:
            return info.owner, cache.attr
    return None
