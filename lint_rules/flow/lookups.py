"""Names and attributes: what they lead to, in a frame, in a module, and on an object."""

from __future__ import annotations

import ast
import builtins
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from lint_rules.flow.state import OPEN, Frame, State
from lint_rules.flow.values import (
    UNKNOWN,
    AbsentMark,
    AnyField,
    AnyName,
    Attr,
    Blank,
    BoundMethod,
    Class,
    Const,
    Dict,
    DictView,
    FieldRef,
    Function,
    Item,
    Module,
    Native,
    Obj,
    Opaque,
    Param,
    Partial,
    Pending,
    Read,
    Seq,
    Super,
    bare,
    one,
)
from lint_rules.index.build import last_name
from lint_rules.index.model import ClassInfo, External, FunctionInfo, ModuleInfo, ValueBinding

if TYPE_CHECKING:
    from lint_rules.flow.values import Node, Val
    from lint_rules.index.model import Symbol
    from lint_rules.index.plans import PlanTable
    from lint_rules.index.project import Project

__all__ = ["Lookups"]

_BUILTINS = frozenset(dir(builtins))


class Lookups(ABC):
    """Resolution of names and attributes to abstract values. Evaluation is left to the subclasses."""

    def __init__(self, project: Project, plans: PlanTable) -> None:
        self.project = project
        self.plans = plans
        self._globals: dict[tuple[str, str], Val] = {}

    # What the subclasses provide

    @abstractmethod
    def value(self, node: ast.expr | None, frame: Frame, state: State) -> Val:
        """The alternatives of an expression; the state takes the effects of its evaluation."""

    @abstractmethod
    def call_property(self, receiver: Node, info: FunctionInfo, node: ast.expr, frame: Frame, state: State) -> Val:
        """The value of a property."""

    def lookup(self, name: str, frame: Frame, state: State) -> Val:
        scope: Frame | None = frame
        while scope is not None:
            found = state.read(scope, name)
            if found is not None:
                return self._imported(found[0], frame.module) if isinstance(found[0], Pending) else found
            scope = scope.parent
        return self.global_value(frame.module, name)

    def _imported(self, pending: Pending, module: ModuleInfo) -> Val:
        if pending.value is None:
            imported = pending.imported
            symbol = self.project.follow(imported, near=module.path)
            if symbol is None:
                symbol = External(f"{imported.module}.{imported.name}" if imported.name else imported.module)
            pending.value = self.symbol_value(symbol, pending.name)
        return pending.value

    def global_value(self, module: ModuleInfo, name: str) -> Val:
        key = (module.path, name)
        if key not in self._globals:
            self._globals[key] = one(Param(name, is_global=True))  # stands while the value is being found
            symbol = self.project.resolve(module, name)
            if symbol is None and name in _BUILTINS:
                symbol = External(f"builtins.{name}")
            self._globals[key] = self.symbol_value(symbol, name)
        return self._globals[key]

    def symbol_value(self, symbol: Symbol | None, name: str) -> Val:
        if isinstance(symbol, ClassInfo):
            return one(Class(symbol))
        if isinstance(symbol, FunctionInfo):
            return one(Function(symbol))
        if isinstance(symbol, ModuleInfo):
            return one(Module(symbol))
        if isinstance(symbol, External):
            return one(Native(symbol))
        if isinstance(symbol, ValueBinding) and symbol.expression is not None:
            return self._module_variable(symbol, name)
        return one(Param(name, is_global=True))

    def _module_variable(self, binding: ValueBinding, name: str) -> Val:
        """The value of a module-level variable, as far as it is independent of any state."""
        frame = Frame(binding.module, None, None, depth=1)
        value = self.value(binding.expression, frame, State())
        lasting = (Const, Seq, AbsentMark, Class, Function, Native, Module, Partial)
        if all(isinstance(node, lasting) or _is_class_method(node) for node in value):
            return value
        cls = next((n.cls for n in value if isinstance(n, Obj | Opaque | Param) and n.cls is not None), None)
        return one(Param(name, cls, is_global=True))

    def get_attribute(self, owner: Node, name: str, node: ast.expr, frame: Frame, state: State) -> Val:
        owner = bare(owner)
        if isinstance(owner, Obj):
            return self._object_attribute(owner, name, node, frame, state)
        if isinstance(owner, Param | Attr | Item | Opaque):
            written = state.read(owner, name)
            return written if written is not None else self._symbolic_attribute(owner, name, node, frame, state)
        if isinstance(owner, Module):
            symbol = self.project.attribute(owner.module, name)
            if isinstance(symbol, ValueBinding):
                return self.global_value(symbol.module, symbol.name)
            return self.symbol_value(symbol, name)
        if isinstance(owner, Native):
            symbol = self.project.attribute(owner.external, name)
            return self.symbol_value(symbol, name)
        if isinstance(owner, Class):
            return self._class_attribute(owner, name, frame, state)
        if isinstance(owner, FieldRef):
            return self._field_attribute(owner, name)
        if isinstance(owner, Super):
            method = self._super_method(owner, name)
            return one(BoundMethod(owner.receiver if method else owner, name, method))
        if isinstance(owner, Dict | DictView | Seq | Const | AnyName | AnyField):
            return one(BoundMethod(owner, name))
        if isinstance(owner, Partial):
            return owner.function if name == "func" else one(UNKNOWN)
        return one(UNKNOWN)

    def _super_method(self, owner: Super, name: str) -> FunctionInfo | None:
        receiver = owner.receiver
        actual = receiver.cls if isinstance(receiver, Obj | Param | Class) and receiver.cls is not None else owner.cls
        return self.project.find_method(actual, name, above=owner.cls)

    def _object_attribute(self, owner: Obj, name: str, node: ast.expr, frame: Frame, state: State) -> Val:
        if name == "__class__":
            return one(Class(owner.cls))
        if name == "__dict__":
            return one(DictView(owner))
        entries = state.entries(owner)
        if name in entries:
            return tuple(Read(owner, name, part) for part in entries[name])
        method = self.project.find_method(owner.cls, name)
        if method is not None:
            return self._method(owner, name, method, node, frame, state)
        if owner.base is not None:
            return self.get_attribute(owner.base, name, node, frame, state)
        if OPEN in entries or owner.tainted or name not in self.project.fields(owner.cls):
            constant = self.project.find_constant(owner.cls, name)
            if constant is not None:
                return self.value(constant[1], Frame(constant[0].module, None, None, depth=1), state)
            # A name that no base declares may come from outside the project.
            return one(BoundMethod(owner, name)) if _is_copying_method(name) else one(Opaque(node, fed=True))
        return one(Blank("unset"))

    def _symbolic_attribute(
        self, owner: Param | Attr | Item | Opaque, name: str, node: ast.expr, frame: Frame, state: State
    ) -> Val:
        if name == "__dict__":
            return one(DictView(owner))
        if owner.cls is not None:
            if name == "__class__":
                return one(Class(owner.cls))
            method = self.project.find_method(owner.cls, name)
            if method is not None:
                return self._method(owner, name, method, node, frame, state)
        child = owner.children.get(name)
        if child is None:
            child = owner.children[name] = Attr(owner, name, self._field_class(owner.cls, name))
        return one(child)

    def _field_class(self, cls: ClassInfo | None, name: str) -> ClassInfo | None:
        if cls is None:
            return None
        owner = self.project.field_owner(cls, name)
        if owner is None:
            return None
        return self.project.annotated_class(owner.module, owner.fields[name].annotation)

    def _method(self, owner: Node, name: str, method: FunctionInfo, node: ast.expr, frame: Frame, state: State) -> Val:
        kinds = {last_name(decorator) for decorator in method.decorators}
        if kinds & {"property", "cached_property"}:
            return self.call_property(owner, method, node, frame, state)
        return one(BoundMethod(owner, name, method))

    def _class_attribute(self, owner: Class, name: str, frame: Frame, state: State) -> Val:
        symbol = self.project.attribute(owner.cls, name)
        if isinstance(symbol, FunctionInfo):
            return one(BoundMethod(owner, name, symbol))
        if isinstance(symbol, ClassInfo):
            return one(Class(symbol))
        constant = self.project.find_constant(owner.cls, name)
        if constant is not None:
            return self.value(constant[1], Frame(constant[0].module, None, None, depth=1), state)
        return one(BoundMethod(owner, name))

    def _field_attribute(self, field: FieldRef, name: str) -> Val:
        if field.info is None:
            return one(AnyName(field.target)) if name == "name" else one(UNKNOWN)
        if name == "name":
            return one(Const.of(field.info.name))
        if name == "init":
            return one(Const.of(field.info.in_init or self._is_plain(field.target)))
        return one(UNKNOWN)

    def _is_plain(self, target: Node) -> bool:
        cls = self.class_of(target)
        return cls is not None and self.project.flavor(cls) == "plain"

    def class_of(self, node: Node) -> ClassInfo | None:
        node = bare(node)
        return node.cls if isinstance(node, Obj | Param | Attr | Item | Opaque) else None

    def stored_names(self, cls: ClassInfo) -> list[str]:
        names = [name for name, info in self.project.fields(cls).items() if not info.init_only]
        plan = self.plans.of(cls)
        if plan is not None:
            names += [name for name in plan.fields if name not in names]
        return names


def _is_class_method(node: Node) -> bool:
    return isinstance(node, BoundMethod) and isinstance(node.receiver, Class)


def _is_copying_method(name: str) -> bool:
    return name in {"_replace", "model_copy", "__replace__", "copy", "evolve", "__deepcopy__", "__copy__"}
