"""What mypy knows of an expression or a function, asked in a way that works before and after it was checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mypy.nodes import Decorator, FuncDef, NameExpr, OverloadedFuncDef, RefExpr, TypeInfo, Var
from mypy.types import CallableType, FunctionLike, TypeType, get_proper_type

from ownership.mypy_plugin._plans import plan_class

if TYPE_CHECKING:
    from mypy.nodes import Expression, MypyFile, SymbolNode
    from mypy.types import Type

__all__ = ["MATERIALIZER", "TypeReader", "function_of", "is_materializer", "result_class"]

MATERIALIZER = "ownership.materialize.materializer"

_PLAIN_DECORATORS = {
    MATERIALIZER,
    "builtins.classmethod",
    "builtins.staticmethod",
    "typing.final",
    "typing.override",
    "typing_extensions.override",
}


class TypeReader:
    """Reads types off the checker, which is in the middle of the function that is looked at."""

    def __init__(self, api: Any, tree: MypyFile) -> None:
        self._api = api
        self.tree = tree

    def type_of(self, node: Expression) -> Type | None:
        """The type of an expression; None where mypy has not come to it yet, or never will."""
        type_: Type | None = self._api.lookup_type_or_none(node)
        if type_ is None and isinstance(node, NameExpr) and isinstance(node.node, Var):
            type_ = node.node.type
        return type_

    def class_of(self, node: Expression) -> tuple[TypeInfo | None, bool]:
        """The class of an expression's value, and whether mypy has an answer at all."""
        type_ = self.type_of(node)
        return plan_class(type_), type_ is not None

    def made_class(self, callee: Expression) -> TypeInfo | None:
        """The class that a call makes an instance of, if what is called is a class."""
        if isinstance(callee, RefExpr) and isinstance(callee.node, TypeInfo):
            return callee.node
        proper = get_proper_type(self.type_of(callee))
        if isinstance(proper, FunctionLike) and proper.is_type_obj():
            return proper.type_object()
        if isinstance(proper, TypeType):
            return plan_class(proper.item)
        return None

    def body_of(self, node: SymbolNode | None) -> FuncDef | None:
        """The function behind a name, if it is written in the module that is being checked."""
        if isinstance(node, Decorator) and not all(
            isinstance(each, RefExpr) and each.fullname in _PLAIN_DECORATORS for each in node.original_decorators
        ):
            return None  # what is called is what the decorator made of it
        function = function_of(node)
        if function is None or not function.body.body or function.is_overload or function.is_property:
            return None
        return function if function.fullname.startswith(f"{self.tree.fullname}.") else None

    def method_of(self, info: TypeInfo | None, name: str) -> SymbolNode | None:
        symbol = info.get(name) if info is not None else None
        return symbol.node if symbol is not None else None


def function_of(node: SymbolNode | None) -> FuncDef | None:
    """The function behind a decorator."""
    if isinstance(node, Decorator):
        node = node.func
    return node if isinstance(node, FuncDef) else None


def is_materializer(node: SymbolNode | None, names: frozenset[str]) -> bool:
    """Whether a function is decorated with `@materializer`, or is named as one in the configuration."""
    if node is not None and names and node.fullname in names:
        return True
    decorators = node.original_decorators if isinstance(node, Decorator) else []
    return any(isinstance(each, RefExpr) and each.fullname == MATERIALIZER for each in decorators)


def result_class(node: SymbolNode | None) -> TypeInfo | None:
    """The class that a function says it returns."""
    if isinstance(node, Decorator):
        node = node.var if node.var.type is not None else node.func
    if isinstance(node, OverloadedFuncDef) or node is None:
        return None
    proper = get_proper_type(getattr(node, "type", None))
    return plan_class(proper.ret_type) if isinstance(proper, CallableType) else None
