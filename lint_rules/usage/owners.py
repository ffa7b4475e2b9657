"""The class of an expression, and the field of a plan that it reads, as far as annotations and assignments tell."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lint_rules.index.build import last_name, unquoted
from lint_rules.index.model import ClassInfo, External, FunctionInfo

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lint_rules.index.model import Kind
    from lint_rules.index.plans import PlanInfo, PlanTable
    from lint_rules.index.project import Project
    from lint_rules.usage.views import Bound, View

__all__ = ["FieldRead", "Made", "Owners"]

#: Functions that give back an object of the class that they are given, and methods that do.
_KEEPING = frozenset({"replace", "evolve", "copy", "transfer"})
_KEEPING_METHODS = frozenset({"_replace", "model_copy", "__replace__", "__copy__"})

#: Annotations of containers whose elements are what their last argument says.
_CONTAINERS = frozenset({
    "list", "tuple", "set", "frozenset", "List", "Tuple", "Set", "FrozenSet", "Sequence", "Iterable", "Iterator",
    "Collection", "MutableSequence", "AbstractSet", "Generator",
})  # fmt: skip

#: How many variables a value is followed through.
_DEEPEST = 8

#: How deep expressions may be nested to be looked at.
_MOST_NESTED = 60

_CLASSED = (ast.Name, ast.Attribute, ast.Call, ast.Await, ast.NamedExpr, ast.IfExp)


@dataclass(frozen=True, slots=True)
class FieldRead:
    """A field that is read from a plan; `owner` is the expression of the plan."""

    plan: PlanInfo
    name: str
    owner: ast.expr

    @property
    def kind(self) -> Kind | None:
        return self.plan.kind(self.name)


@dataclass(frozen=True, slots=True)
class Made:
    """A call that makes a plan: the values by field, and how many of them are given by position."""

    plan: PlanInfo
    call: ast.Call
    values: dict[str, ast.expr]
    #: The parameter of each leading argument: (field, keyword); the keyword is empty where there is none.
    positional: tuple[tuple[str, str], ...]


class Owners:
    """Answers for the expressions of views."""

    def __init__(self, project: Project, plans: PlanTable) -> None:
        self.project = project
        self.plans = plans
        self._classes: dict[tuple[View, ast.expr | str], ClassInfo | None] = {}
        self._depth = 0
        self._guessed: dict[tuple[View, str], ClassInfo | None] = {}
        self._made: dict[tuple[View, ast.Call], Made | None] = {}

    # Classes

    def plan_of(self, node: ast.expr | None, view: View) -> PlanInfo | None:
        return self.plans.of(self.class_of(node, view))

    def class_of(self, node: ast.expr | None, view: View) -> ClassInfo | None:
        """The project class of an expression's value; None where it is not known or not the same on all paths."""
        if not isinstance(node, _CLASSED):
            return None
        key = (view, node.id if isinstance(node, ast.Name) else node)
        if key not in self._classes:
            if self._depth > _MOST_NESTED:
                return None
            # While it is being looked for, nothing is known of it.
            self._classes[key] = None
            self._depth += 1
            try:
                self._classes[key] = self._find_class(node, view)
            finally:
                self._depth -= 1
        return self._classes[key]

    def _find_class(self, node: ast.expr, view: View) -> ClassInfo | None:
        if isinstance(node, ast.Name):
            return self._class_of_name(node, view)
        if isinstance(node, ast.Attribute):
            owner = self.class_of(node.value, view)
            return self._class_of_attribute(owner, node.attr) if owner is not None else None
        if isinstance(node, ast.Call):
            return self._class_of_call(node, view)
        if isinstance(node, ast.Await | ast.NamedExpr):
            return self.class_of(node.value, view)
        if isinstance(node, ast.IfExp):
            return _agreed([self.class_of(part, view) for part in (node.body, node.orelse)])
        return None

    def _class_of_name(self, node: ast.Name, view: View) -> ClassInfo | None:
        bounds = view.bindings.get(node.id)
        if not bounds:
            return None
        every: list[ClassInfo | None] = []
        for bound in bounds:
            if not _is_none(bound.value):
                every.append(self._class_of_bound(bound, view))
                # What follows may be made from the variable itself: `plan = replace(plan, rows=8)`.
                self._classes[view, node.id] = every[0]
        found = _agreed(every)
        if found is None and all(b.parameter and b.annotation is None and b.receiver is None for b in bounds):
            return self._guess(node.id, view)
        return found

    def _class_of_bound(self, bound: Bound, view: View) -> ClassInfo | None:
        if bound.receiver is not None:
            return bound.receiver
        if bound.annotation is not None:
            return self.project.annotated_class(view.module, bound.annotation)
        if bound.element:
            return self._class_of_element(bound.value, view)
        return self.class_of(bound.value, view)

    def _class_of_element(self, node: ast.expr | None, view: View) -> ClassInfo | None:
        """The class of the elements of a variable that is annotated as a container."""
        bounds = view.bindings.get(node.id, ()) if isinstance(node, ast.Name) else ()
        annotation = unquoted(bounds[0].annotation) if len(bounds) == 1 else None
        if not isinstance(annotation, ast.Subscript) or last_name(annotation.value) not in _CONTAINERS:
            return None
        inner = annotation.slice
        return self.project.annotated_class(view.module, inner.elts[0] if isinstance(inner, ast.Tuple) else inner)

    def _guess(self, name: str, view: View) -> ClassInfo | None:
        """The class of a parameter without an annotation: the one plan that has the carriers that are read from it."""
        key = (view, name)
        if key not in self._guessed:
            read = {
                node.attr
                for node in view.of(ast.Attribute)
                if isinstance(node.value, ast.Name) and node.value.id == name
            }
            found = [plan for plan in self.plans.direct.values() if len(read & set(plan.transferable)) >= 2]
            self._guessed[key] = found[0].cls if len(found) == 1 else None
        return self._guessed[key]

    def _class_of_attribute(self, owner: ClassInfo, name: str) -> ClassInfo | None:
        declaring = self.project.field_owner(owner, name)
        if declaring is not None:
            return self.project.annotated_class(declaring.module, declaring.fields[name].annotation)
        method = self.project.find_method(owner, name)
        if method is not None and any(last_name(d) in {"property", "cached_property"} for d in method.decorators):
            return self.project.annotated_class(method.module, method.node.returns)
        return None

    def _class_of_call(self, node: ast.Call, view: View) -> ClassInfo | None:
        made = self.made_class(node, view)
        if made is not None:
            return made
        name = last_name(node.func)
        if isinstance(node.func, ast.Attribute) and name in _KEEPING_METHODS:
            return self.class_of(node.func.value, view)
        callee = self.callee(node, view)
        if isinstance(callee, FunctionInfo):
            return self.project.annotated_class(callee.module, callee.node.returns)
        if name in _KEEPING and node.args and not isinstance(callee, ClassInfo):
            return self.class_of(node.args[0], view)
        if name == "cast" and len(node.args) == 2:
            return self.project.annotated_class(view.module, node.args[0])
        return None

    def made_class(self, node: ast.Call, view: View) -> ClassInfo | None:
        """The project class that a call makes an instance of."""
        func = node.func.value if isinstance(node.func, ast.Subscript) else node.func
        if isinstance(func, ast.Name) and func.id == "cls" and view.info is not None:
            return view.info.owner
        if isinstance(func, ast.Call) and last_name(func.func) == "type" and len(func.args) == 1:
            return self.class_of(func.args[0], view)
        if isinstance(func, ast.Attribute) and func.attr == "__class__":
            return self.class_of(func.value, view)
        found = self.symbol(func, view)
        return found if isinstance(found, ClassInfo) else None

    def symbol(self, node: ast.expr, view: View) -> object:
        """What a name of the module leads to; None for what a local variable hides."""
        head = node
        while isinstance(head, ast.Attribute):
            head = head.value
        if not isinstance(head, ast.Name) or (view.info is not None and view.is_local(head.id)):
            return None
        return self.project.resolve_expression(view.module, node)

    def callee(self, node: ast.Call, view: View) -> object:
        """The function, class or external thing that is called, as far as it is known."""
        found = self.symbol(node.func, view)
        if found is None and isinstance(node.func, ast.Attribute):
            owner = self.class_of(node.func.value, view)
            return self.project.find_method(owner, node.func.attr) if owner is not None else None
        return found

    # Fields

    def read(self, node: ast.expr | None, view: View, depth: int = 0) -> FieldRead | None:
        """The field of a plan that an expression stands for: `plan.x`, `getattr(plan, "x")`, a variable that has it."""
        if depth > _DEEPEST:
            return None
        if isinstance(node, ast.Attribute):
            plan = self.plan_of(node.value, view)
            return FieldRead(plan, node.attr, node.value) if plan is not None and node.attr in plan.fields else None
        if isinstance(node, ast.NamedExpr):
            return self.read(node.value, view, depth + 1)
        if isinstance(node, ast.Name):
            bound = view.last_binding(node)
            is_alias = bound is not None and not bound.element and not bound.parameter
            return self.read(bound.value, view, depth + 1) if bound is not None and is_alias else None
        if isinstance(node, ast.Call) and last_name(node.func) == "getattr" and len(node.args) > 1:
            plan = self.plan_of(node.args[0], view)
            key = node.args[1]
            if plan is not None and isinstance(key, ast.Constant) and key.value in plan.fields:
                return FieldRead(plan, str(key.value), node.args[0])
        return None

    def carrier(self, node: ast.expr | None, view: View) -> FieldRead | None:
        """The transferable field that an expression reads."""
        found = self.read(node, view)
        return found if found is not None and found.kind == "Transferable" else None

    # Plans that are made

    def made(self, node: ast.Call, view: View) -> Made | None:
        """What a constructor of a plan, or a `replace`, is given; None where the call makes no plan."""
        key = (view, node)
        if key not in self._made:
            self._made[key] = self._make(node, view)
        return self._made[key]

    def _make(self, node: ast.Call, view: View) -> Made | None:
        cls = self.made_class(node, view)
        plan = self.plans.of(cls)
        parameters: list[tuple[str, str]] = []
        if cls is not None:
            parameters = self._parameters(cls, plan) if plan is not None else []
        elif last_name(node.func) in _KEEPING | _KEEPING_METHODS:
            plan = self.plan_of(node, view)
        if plan is None:
            return None
        renamed = {f.info.init_name: name for name, f in plan.fields.items() if f.info is not None and f.info.init_name}
        values = {renamed.get(k.arg, k.arg): k.value for k in node.keywords if k.arg is not None}
        leading: list[tuple[str, str]] = []
        for argument, parameter in zip(node.args, parameters, strict=False):
            if isinstance(argument, ast.Starred):
                break
            values[parameter[0]] = argument
            leading.append(parameter)
        return Made(plan, node, values, tuple(leading))

    def _parameters(self, cls: ClassInfo, plan: PlanInfo) -> list[tuple[str, str]]:
        """The fields that a constructor takes by position, each with the keyword that it can be given by instead."""
        init = self.project.find_method(cls, "__init__")
        if init is not None:
            spec = init.node.args
            unnamed = [(argument.arg, "") for argument in spec.posonlyargs]
            named = [(argument.arg, argument.arg) for argument in spec.args]
            taken = [*unnamed, *named][1:]
            return [(f"_{name}" if f"_{name}" in plan.fields else name, keyword) for name, keyword in taken]
        if self.project.flavor(cls) not in {"dataclass", "attrs", "namedtuple"}:
            return []
        return [
            (f.name, f.init_name or f.name)
            for f in self.project.fields(cls).values()
            if f.in_init and not f.keyword_only
        ]


def _agreed(found: Iterable[ClassInfo | None]) -> ClassInfo | None:
    every = set(found)
    return every.pop() if len(every) == 1 else None


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def is_external(symbol: object, *names: str) -> bool:
    """Whether a symbol is one of these things outside the project."""
    return isinstance(symbol, External) and symbol.name in names
