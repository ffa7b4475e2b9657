"""Lists of a plan's carriers that are written by hand: to keep, load, count or publish them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lint_rules.index.build import last_name
from lint_rules.index.model import ValueBinding
from lint_rules.index.words import words
from lint_rules.usage.views import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.index.model import ModuleInfo
    from lint_rules.index.plans import PlanInfo
    from lint_rules.usage.collect import Usage
    from lint_rules.usage.owners import FieldRead
    from lint_rules.usage.views import View

__all__ = ["Entry", "Enumeration", "find_enumerations"]

#: What such a list is for, ...
_PURPOSES = frozenset({
    "alive", "evict", "hold", "holds", "keep", "keeps", "keepalive", "kept", "load", "loads", "loaded", "pin", "pinned",
    "preload", "publish", "published", "register", "registered", "registry", "release", "reload", "resident", "retain",
    "retained", "retains", "retention", "unload", "warm", "warmed", "warmup", "prewarm",
})  # fmt: skip
#: ... or of.
_CARRIERS = frozenset({"carriers", "executables", "kernels", "launchables", "launchers", "launches", "programs"})
_ONE_CARRIER = frozenset({"carrier", "executable", "kernel", "launchable", "launcher", "program", "transferable"})
#: With a word of a single carrier these speak of all of them: `_PROGRAM_FIELDS`, `kernel_count`.
_MANY = frozenset({
    "attributes", "attrs", "bytes", "count", "fields", "list", "memory", "names", "number", "size", "slots",
    "table", "total",
})  # fmt: skip
#: Words that narrow nothing. A name with any other word may mean some of the carriers: `prefill_kernels`.
_NEUTRAL = _MANY | {
    "all", "and", "bound", "by", "collect", "compiled", "each", "every", "field", "for", "from", "get", "in", "is",
    "iter", "make", "map", "my", "name", "num", "of", "our", "own", "plan", "plans", "prepared", "self", "sizes", "the",
    "to", "walk", "yield", "do", "it", "its", "them", "these",
}  # fmt: skip

#: Calls that hand on what they are given, for the search of what a list is for.
_WRAPPERS = frozenset({
    "any", "all", "chain", "dict", "enumerate", "filter", "from_iterable", "frozenset", "iter", "len", "list", "map",
    "max", "reversed", "set", "sorted", "sum", "tuple", "zip",
})  # fmt: skip
_ADDING = frozenset({"add", "append", "extend", "insert", "update", "union"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One carrier of a list: the field, and the node that stands for it; `key` is that of a dict."""

    field: str
    node: ast.expr | ast.stmt
    key: ast.expr | None = None


@dataclass(frozen=True, slots=True)
class Enumeration:
    """A list of carriers that lacks some. `node` is the list, or the first statement of several that make it."""

    plan: PlanInfo
    module: ModuleInfo
    node: ast.expr | ast.stmt
    entries: tuple[Entry, ...]
    missing: tuple[str, ...]

    @property
    def named(self) -> tuple[str, ...]:
        return tuple(name for name in self.plan.transferable if any(entry.field == name for entry in self.entries))


def find_enumerations(usage: Usage) -> Iterator[Enumeration]:
    """Every list that names most carriers of a plan and misses some, and is for all of them by what code says."""
    finder = _Finder(usage)
    seen: set[ast.AST] = set()
    for view in usage.views:
        for found in finder.look(view):
            if found.node not in seen:
                seen.add(found.node)
                yield found


class _Finder:
    def __init__(self, usage: Usage) -> None:
        self.usage = usage
        self.owners = usage.owners

    def look(self, view: View) -> Iterator[Enumeration]:
        for node in view.nodes:
            if isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
                yield from self._display(node, view)
            elif isinstance(node, ast.For | ast.AsyncFor):
                yield from self._names(node.iter, node.target, node.body, node, view)
            elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
                first = node.generators[0]
                yield from self._names(first.iter, first.target, [node.elt], node, view)
        yield from self._yields(view)
        yield from self._calls(view)

    # Shapes

    def _display(self, node: ast.Tuple | ast.List | ast.Set | ast.Dict, view: View) -> Iterator[Enumeration]:
        if isinstance(node, ast.Dict):
            items = [(value, key) for key, value in zip(node.keys, node.values, strict=True)]
            if None in node.keys:
                return
        else:
            if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
                return
            items = [(element, None) for element in node.elts]
        if len(items) < 2:
            return
        entries, plan = self._entries(items, view)
        if plan is not None and self._is_for_all(node, plan, view):
            yield from self._judged(plan, view.module, node, entries, view)

    def _yields(self, view: View) -> Iterator[Enumeration]:
        """A generator that hands out one carrier after the other."""
        statements = [node for node in view.of(ast.Expr) if isinstance(node.value, ast.Yield)]
        items = [(node.value.value, None) for node in statements if isinstance(node.value, ast.Yield)]
        if len(items) < 2 or any(value is None for value, _ in items):
            return
        entries, plan = self._entries([(value, key) for value, key in items if value is not None], view)
        if plan is not None and speaks_of_all(view.name, plan):
            at = [Entry(entry.field, statement) for entry, statement in zip(entries, statements, strict=True)]
            yield from self._judged(plan, view.module, statements[0], at, view)

    def _calls(self, view: View) -> Iterator[Enumeration]:
        """`keep(plan.a); keep(plan.b)`, `retained.append(plan.a)` and so on, `session.retain(plan.a, plan.b)`."""
        groups: dict[str, list[ast.Call]] = {}
        for call in view.of(ast.Call):
            if call.args and not call.keywords and (name := dotted(call.func)):
                groups.setdefault(name, []).append(call)
        for calls in groups.values():
            if sum(len(call.args) for call in calls) < 2:
                continue
            entries: list[Entry] = []
            plans: set[PlanInfo | None] = set()
            for call in calls:
                own, plan = self._entries([(argument, None) for argument in call.args], view)
                statement = view.parents.get(call)
                single = len(calls) > 1 and len(call.args) == 1 and isinstance(statement, ast.Expr)
                entries += (
                    [Entry(e.field, statement, None) for e in own]
                    if single and isinstance(statement, ast.Expr)
                    else own
                )
                plans.add(plan)
            found = plans.pop() if len(plans) == 1 else None
            if found is not None and _adds_to_all(calls[0], found):
                yield from self._judged(found, view.module, calls[0], entries, view)

    def _names(
        self,
        table: ast.expr,
        target: ast.expr,
        body: list[ast.stmt] | list[ast.expr],
        loop: ast.stmt | ast.expr,
        view: View,
    ) -> Iterator[Enumeration]:
        """A table of field names that is walked with `getattr`."""
        home, label, literal = self._table(table, view)
        if literal is None or not isinstance(target, ast.Name):
            return
        names = [(str(e.value), e) for e in literal.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
        if len(names) != len(literal.elts) or len(names) < 2:
            return
        inside = [node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Call)]
        if any(last_name(call.func) in {"setattr", "__setattr__"} for call in inside):
            return  # a copy list, which is another rule's
        for call in inside:
            key = call.args[1] if last_name(call.func) == "getattr" and len(call.args) > 1 else None
            if not isinstance(key, ast.Name) or key.id != target.id:
                continue
            plan = self.owners.plan_of(call.args[0], view) or self._plan_with({name for name, _ in names})
            if plan is None or not {name for name, _ in names} <= set(plan.transferable):
                return
            purposeful = speaks_of_all(label, plan) or self._is_for_all(loop, plan, view)
            if purposeful or (isinstance(loop, ast.stmt) and speaks_of_all(view.function_around(loop), plan)):
                entries = [Entry(name, node) for name, node in names]
                yield from self._judged(plan, home, literal, entries, view)
            return

    def _table(self, node: ast.expr, view: View) -> tuple[ModuleInfo, str, ast.Tuple | ast.List | ast.Set | None]:
        """Where a table of names stands, what it is called, and the table."""
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return view.module, "", node
        home, value = view.module, None
        if isinstance(node, ast.Name) and view.is_local(node.id):
            bounds = view.bindings[node.id]
            value = bounds[0].value if len(bounds) == 1 and not bounds[0].element else None
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            cls = self.owners.class_of(node.value, view)
            if cls is None and node.value.id == "cls" and view.info is not None:
                cls = view.info.owner
            constant = self.usage.project.find_constant(cls, node.attr) if cls is not None else None
            if constant is not None:
                home, value = constant[0].module, constant[1]
        if value is None and isinstance(node, ast.Name | ast.Attribute):
            symbol = self.owners.symbol(node, view)
            if isinstance(symbol, ValueBinding):
                home, value = symbol.module, symbol.expression
        if (
            isinstance(value, ast.Call)
            and last_name(value.func) in {"frozenset", "tuple", "list", "set"}
            and value.args
        ):
            value = value.args[0]
        return home, last_name(node), value if isinstance(value, ast.Tuple | ast.List | ast.Set) else None

    def _plan_with(self, names: set[str]) -> PlanInfo | None:
        found = [plan for plan in self.usage.plans.direct.values() if names <= set(plan.transferable)]
        return found[0] if len(found) == 1 else None

    # Entries

    def _entries(
        self, items: list[tuple[ast.expr, ast.expr | None]], view: View
    ) -> tuple[list[Entry], PlanInfo | None]:
        """The carriers of a list; no plan unless each element is one, and all are of one plan."""
        entries: list[Entry] = []
        owners: set[tuple[PlanInfo, str]] = set()
        for value, key in items:
            read = self._carrier_in(value, view)
            if read is None:
                return [], None
            owners.add((read.plan, ast.unparse(read.owner)))
            entries.append(Entry(read.name, value, key))
        return entries, owners.pop()[0] if len(owners) == 1 else None

    def _carrier_in(self, node: ast.expr, view: View) -> FieldRead | None:
        """The carrier that an element is or is got from: `plan.a`, `plan.a()`, `plan.a.handle`, `*plan.a.values()`."""
        while True:
            found = self.owners.carrier(node, view)
            if found is not None:
                return found
            if isinstance(node, ast.Starred | ast.Attribute):
                node = node.value
            elif isinstance(node, ast.Call) and not node.args and not node.keywords:
                node = node.func
            else:
                return None

    def _judged(
        self, plan: PlanInfo, module: ModuleInfo, node: ast.expr | ast.stmt, entries: list[Entry], view: View
    ) -> Iterator[Enumeration]:
        named = {entry.field for entry in entries}
        missing = tuple(name for name in plan.transferable if name not in named)
        if not missing or len(named) < 2 or len(missing) >= len(named):
            return
        if not any(view.mentions(name) for name in missing):
            yield Enumeration(plan, module, node, tuple(entries), missing)

    # Purpose

    def _is_for_all(self, node: ast.AST, plan: PlanInfo, view: View) -> bool:
        """Whether the code around a list says that it is meant to have all carriers."""
        below = node
        for parent in view.ancestors(node):
            if isinstance(parent, ast.Return | ast.Yield | ast.YieldFrom):
                return speaks_of_all(view.function_around(parent), plan)
            if isinstance(parent, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
                targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
                return below is parent.value and any(speaks_of_all(_label(target), plan) for target in targets)
            if isinstance(parent, ast.For | ast.AsyncFor):
                by_name = speaks_of_all(view.function_around(parent), plan)
                return below is parent.iter and (by_name or _loop_is_for_all(parent, plan))
            if isinstance(parent, ast.Call) and last_name(parent.func) not in _WRAPPERS:
                return below in parent.args and _adds_to_all(parent, plan)
            if not _hands_on(parent, below):
                return False
            below = parent
        return False


def _adds_to_all(call: ast.Call, plan: PlanInfo) -> bool:
    """Whether a call keeps, loads or publishes what it is given: `retain(...)`, `self._kept.extend(...)`."""
    name = last_name(call.func)
    if isinstance(call.func, ast.Attribute) and name in _ADDING:
        return speaks_of_all(_label(call.func.value), plan)
    return bool(_PURPOSES & set(words(name))) and speaks_of_all(name, plan)


def _hands_on(node: ast.AST, below: ast.AST) -> bool:
    """Whether an expression has all that a part of it has."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add | ast.BitOr)
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return isinstance(below, ast.Starred)
    if isinstance(node, ast.comprehension):
        return below is node.iter
    kept = ast.Call | ast.Starred | ast.IfExp | ast.Await | ast.ListComp | ast.SetComp | ast.GeneratorExp
    return isinstance(node, kept)


def _loop_is_for_all(loop: ast.For | ast.AsyncFor, plan: PlanInfo) -> bool:
    """Whether the body of a loop keeps or loads each carrier: `program.load()`, `kept.append(program)`."""
    variable = loop.target.id if isinstance(loop.target, ast.Name) else ""
    for node in (inner for statement in loop.body for inner in ast.walk(statement)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        of_it = isinstance(node.func.value, ast.Name) and node.func.value.id == variable
        given = any(isinstance(argument, ast.Name) and argument.id == variable for argument in node.args)
        if of_it and _PURPOSES & set(words(node.func.attr)):
            return True
        if given and _adds_to_all(node, plan):
            return True
    return False


def speaks_of_all(name: str, plan: PlanInfo) -> bool:
    """Whether a name says what a list of all carriers is for, and no word of it narrows that down."""
    found = set(words(name))
    fields = {word for field in plan.transferable for word in words(field)} - _CARRIERS - _ONE_CARRIER
    known = (_PURPOSES | _CARRIERS | _ONE_CARRIER | _NEUTRAL | set(words(plan.cls.node.name))) - fields
    if not found <= known:
        return False
    return bool(found & (_PURPOSES | _CARRIERS)) or bool(found & _ONE_CARRIER and found & _MANY)


def _label(target: ast.expr) -> str:
    while isinstance(target, ast.Subscript):
        target = target.value
    return last_name(target)
