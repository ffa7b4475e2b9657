"""Storage that a caller lent for one call, and places that keep it for longer."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lint_rules.index.build import last_name
from lint_rules.usage.views import position

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.index.plans import PlanInfo
    from lint_rules.usage.collect import Usage
    from lint_rules.usage.owners import Made
    from lint_rules.usage.views import View

__all__ = ["Escape", "Loan", "find_escapes"]

#: Methods whose result shares the storage of what they are called on.
_VIEWS = frozenset({
    "as_strided", "cast", "chunk", "detach", "diagonal", "expand", "expand_as", "flatten", "movedim", "narrow",
    "permute", "ravel", "reshape", "select", "split", "squeeze", "swapaxes", "t", "toreadonly", "transpose", "unbind",
    "unflatten", "unfold", "unsqueeze", "view", "view_as",
})  # fmt: skip
_VIEWING = frozenset({"memoryview", "as_strided", "asarray", "frombuffer", "from_dlpack", "as_tensor"})

#: Calls of a container that put something into it.
_KEEPING = frozenset({"add", "append", "appendleft", "extend", "insert", "put", "setdefault", "update", "push"})
#: Types of which a slice is a copy, and those of which an item is.
_COPIED_SLICES = frozenset({"bytearray", "bytes", "list", "array", "str", "tuple"})
_COPIED_ITEMS = frozenset({"memoryview"})

_CACHES = frozenset({"cache", "lru_cache"})
_INITIALIZERS = frozenset({
    "__init__", "__new__", "__post_init__", "__attrs_post_init__", "__enter__", "__setstate__", "model_post_init",
})  # fmt: skip

How = Literal["module", "object", "cache", "closure", "plan"]


@dataclass(frozen=True, slots=True)
class Loan:
    """Borrowed storage: the field of a plan that it is, and how the code at hand speaks of it."""

    plan: PlanInfo
    field: str
    text: str


@dataclass(frozen=True, slots=True)
class Escape:
    """`node` keeps the storage; `keeper` is what it is kept in."""

    loan: Loan
    how: How
    keeper: str
    node: ast.expr | ast.stmt
    view: View


def find_escapes(usage: Usage) -> Iterator[Escape]:
    """Every place that keeps borrowed storage beyond the call, each once."""
    if not any(field.kind == "Borrowed" for plan in usage.plans.direct.values() for field in plan.fields.values()):
        return
    finder = _Finder(usage)
    for view in usage.views:
        seen: set[tuple[ast.AST, str]] = set()
        for found in finder.look(view):
            if (found.node, found.loan.field) not in seen:
                seen.add((found.node, found.loan.field))
                yield found


class _Finder:
    def __init__(self, usage: Usage) -> None:
        self.usage = usage
        self.owners = usage.owners
        #: Parameters of the function at hand that it binds to a borrowed field.
        self._lent: dict[str, Loan] = {}

    def look(self, view: View) -> Iterator[Escape]:
        if view.info is None:
            return
        made = [each for call in view.of(ast.Call) if (each := self.owners.made(call, view)) is not None]
        self._lent = self._parameters(made, view)
        for assign in view.of(ast.Assign):
            for target in assign.targets:
                yield from self._stored(target, assign.value, assign, view)
        for annotated in view.of(ast.AnnAssign):
            if annotated.value is not None:
                yield from self._stored(annotated.target, annotated.value, annotated, view)
        for augmented in view.of(ast.AugAssign):
            yield from self._stored(augmented.target, augmented.value, augmented, view)
        for call in view.of(ast.Call):
            yield from self._kept(call, view)
        for each in made:
            yield from self._in_plan(each, view)
        yield from self._cached(view)
        for returned in view.of(ast.Return):
            loan = self._captured(returned.value, view)
            if loan is not None:
                yield Escape(loan, "closure", "the function returned here", returned, view)

    def _parameters(self, made: list[Made], view: View) -> dict[str, Loan]:
        """The parameters that the function binds to a borrowed field: the caller's own storage."""
        found: dict[str, Loan] = {}
        for each in made:
            for name, value in each.values.items():
                inner = _storage_of(value)
                if each.plan.kind(name) != "Borrowed" or not isinstance(inner, ast.Name):
                    continue
                bounds = view.bindings.get(inner.id, ())
                if len(bounds) == 1 and bounds[0].parameter and bounds[0].receiver is None:
                    found[inner.id] = Loan(each.plan, name, inner.id)
        return found

    # What is borrowed

    def loan(self, node: ast.expr | None, view: View, depth: int = 0) -> Loan | None:
        """The borrowed storage that a value is, is a view of, or has among its parts."""
        if node is None or depth > 6:
            return None
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return next((loan for part in node.elts if (loan := self.loan(part, view, depth + 1))), None)
        if isinstance(node, ast.Dict):
            return next((loan for part in node.values if (loan := self.loan(part, view, depth + 1))), None)
        if isinstance(node, ast.IfExp):
            return self.loan(node.body, view, depth + 1) or self.loan(node.orelse, view, depth + 1)
        if isinstance(node, ast.Starred | ast.NamedExpr):
            return self.loan(node.value, view, depth + 1)
        if isinstance(node, ast.BoolOp):
            return next((loan for part in node.values if (loan := self.loan(part, view, depth + 1))), None)
        found = self._root(_storage_of(node), view, depth)
        return found if found is not None and not _is_copied(node, found) else None

    def _root(self, inner: ast.expr, view: View, depth: int) -> Loan | None:
        read = self.owners.read(inner, view)
        if read is not None:
            return Loan(read.plan, read.name, ast.unparse(inner)) if read.kind == "Borrowed" else None
        if isinstance(inner, ast.Name):
            bound = view.last_binding(inner)
            if bound is not None and bound.parameter:
                return self._lent.get(inner.id)
            if bound is not None and not bound.element and bound.value is not None:
                return self.loan(bound.value, view, depth + 1)
        return None

    def _captured(self, value: ast.expr | None, view: View) -> Loan | None:
        """The storage that a function holds itself. One that asks its binding for it holds no more than that."""
        if isinstance(value, ast.Name):
            bound = view.last_binding(value)
            if bound is not None and bound.value is not None and not bound.element:
                value = bound.value
        if isinstance(value, ast.Call) and last_name(value.func) == "partial":
            given = [*value.args[1:], *(keyword.value for keyword in value.keywords)]
            return next((loan for argument in given if (loan := self.loan(argument, view))), None)
        inner: ast.AST | None = value if isinstance(value, ast.Lambda) else None
        if isinstance(value, ast.Name):
            defined = [n for n in view.nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
            inner = next((node for node in defined if node.name == value.id), None)
        if not isinstance(inner, ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        names = [part for part in ast.walk(inner) if isinstance(part, ast.Name)]
        own = {a.arg for a in [*inner.args.posonlyargs, *inner.args.args, *inner.args.kwonlyargs]}
        own |= {part.id for part in names if isinstance(part.ctx, ast.Store)}
        free = [part for part in names if part.id not in own]
        return next((loan for part in free if (loan := self.loan(part, view))), None)

    # Where it is kept

    def _stored(self, target: ast.expr, value: ast.expr, node: ast.stmt, view: View) -> Iterator[Escape]:
        how = self._keeper(target, view)
        if how is None:
            return
        loan = self.loan(value, view) or self._captured(value, view)
        if loan is not None and not self._is_given_back(target, node, view):
            yield Escape(loan, how, ast.unparse(_base(target)), node, view)

    def _kept(self, call: ast.Call, view: View) -> Iterator[Escape]:
        """`self._buffers.append(binding.scratch)`."""
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in _KEEPING:
            return
        # The container itself has to outlive the call: a name of the module, or an attribute of an object that does.
        how = self._keeper(call.func.value, view)
        if how is None:
            return
        for argument in [*call.args, *(keyword.value for keyword in call.keywords)]:
            loan = self.loan(argument, view) or self._captured(argument, view)
            if loan is not None:
                yield Escape(loan, how, ast.unparse(call.func.value), call, view)
                return

    def _keeper(self, target: ast.expr, view: View) -> How | None:
        """What sort of thing a target is a part of, if that outlives the call."""
        base = _base(target)
        if isinstance(base, ast.Name):
            is_plain = base is target and isinstance(target.ctx, ast.Store)
            if is_plain:
                return "module" if base.id in view.globals and base.id in view.module.bindings else None
            return "module" if not view.is_local(base.id) and base.id in view.module.bindings else None
        if not isinstance(base, ast.Attribute):
            return None
        return self._keeping_object(base, view)

    def _keeping_object(self, node: ast.Attribute, view: View) -> How | None:
        """An attribute: of `self` outside of constructors, of a class, or of a variable of the module."""
        head: ast.expr = node
        while isinstance(head, ast.Attribute | ast.Subscript):
            head = head.value
        if not isinstance(head, ast.Name):
            return None
        if not view.is_local(head.id):
            return "object" if head.id in view.module.bindings else None
        bounds = view.bindings[head.id]
        if view.name in _INITIALIZERS or len(bounds) != 1:
            return None
        if head.id == "cls" and bounds[0].parameter:
            return "object"
        owner = bounds[0].receiver
        # A binding may do with its own storage what it likes; it lives no longer than the loan.
        return "object" if owner is not None and self.usage.plans.of(owner) is None else None

    def _is_given_back(self, target: ast.expr, node: ast.stmt, view: View) -> bool:
        """Whether the function clears the same place later: `self._now = None`."""
        text = ast.unparse(target)
        for later in view.nodes:
            if isinstance(later, ast.Assign) and position(later) > position(node):
                empty = isinstance(later.value, ast.Tuple | ast.List) and not later.value.elts
                cleared = empty or isinstance(later.value, ast.Constant)
                if cleared and any(ast.unparse(each) == text for each in later.targets):
                    return True
            if isinstance(later, ast.Delete) and any(ast.unparse(each) == text for each in later.targets):
                return True
            if isinstance(later, ast.Call) and isinstance(later.func, ast.Attribute):
                name, container = later.func.attr, ast.unparse(later.func.value)
                if name in {"clear", "pop", "popitem"} and container == ast.unparse(_base(target)):
                    return True
        return False

    def _in_plan(self, made: Made, view: View) -> Iterator[Escape]:
        """A field of a plan that has no place for borrowed storage is given some."""
        if any(field.kind == "Borrowed" for field in made.plan.fields.values()):
            return
        for name, value in made.values.items():
            if made.plan.kind(name) is None:
                continue
            loan = self.loan(value, view)
            if loan is not None:
                yield Escape(loan, "plan", f"{made.plan.cls.qualname}.{name}", value, view)

    def _cached(self, view: View) -> Iterator[Escape]:
        """A memoized function: its results, and its arguments, stay in the cache."""
        if view.info is None or not any(last_name(d) in _CACHES for d in view.info.decorators):
            return
        for returned in view.of(ast.Return):
            loan = self.loan(returned.value, view)
            if loan is not None:
                yield Escape(loan, "cache", f"the cache of {view.name}", returned, view)
                return
        for name, bounds in view.bindings.items():
            plan = self.usage.plans.of(self.owners.class_of(ast.Name(name, ast.Load()), view))
            if plan is None or not bounds[0].parameter or bounds[0].receiver is not None:
                continue
            borrowed = [field for field in plan.fields if plan.kind(field) == "Borrowed"]
            if borrowed:
                loan = Loan(plan, borrowed[0], f"{name}.{borrowed[0]}")
                yield Escape(loan, "cache", f"the cache of {view.name}", view.info.node, view)
                return


def _storage_of(node: ast.expr) -> ast.expr:
    """The object whose storage a value shares: without slices, views and their like."""
    while True:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
            node = node.func.value
        elif isinstance(node, ast.Call) and last_name(node.func) in _VIEWING and node.args:
            node = node.args[0]
        else:
            return node


def _is_copied(node: ast.expr, loan: Loan) -> bool:
    """Whether a slice or an item of the storage is no view of it, by the type that the field is annotated with."""
    info = loan.plan.fields[loan.field].info
    annotation = info.annotation if info is not None else None
    types = (
        {last_name(part) for part in ast.walk(annotation) if isinstance(part, ast.Name | ast.Attribute)}
        if annotation
        else set()
    )
    while not isinstance(node, ast.Name | ast.Attribute):
        if isinstance(node, ast.Subscript):
            if types & _COPIED_SLICES or (types & _COPIED_ITEMS and not isinstance(node.slice, ast.Slice)):
                return True
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
            node = node.func.value
        elif isinstance(node, ast.Call) and node.args:
            node = node.args[0]
        else:
            return False
    return False


def _base(target: ast.expr) -> ast.expr:
    """The variable or attribute that an item belongs to."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target
