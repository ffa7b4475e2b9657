"""The parameters of a function or constructor, and which of them a call gives a value."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lint_rules.index.build import last_name
from lint_rules.index.model import ClassInfo, FunctionInfo

if TYPE_CHECKING:
    from lint_rules.index.model import FunctionNode
    from lint_rules.index.project import Project

__all__ = [
    "Parameter",
    "Signature",
    "callee_of",
    "constructor_signature",
    "is_bound",
    "is_super",
    "own_parameters",
    "signature_of",
]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `field` is the name of the dataclass field that it fills, where that is another name."""

    name: str
    annotation: ast.expr | None
    has_default: bool
    by_keyword: bool = True
    by_position: bool = True
    field: str = ""


@dataclass(frozen=True, slots=True)
class Signature:
    """What a call may give, without the receiver of a method."""

    parameters: tuple[Parameter, ...]
    open_positional: bool = False
    open_keywords: bool = False

    def get(self, name: str) -> Parameter | None:
        return next((each for each in self.parameters if each.name == name), None)

    def bind(self, call: ast.Call) -> dict[str, ast.expr] | None:
        """The argument of each parameter that is given; None where the call expands something."""
        if any(keyword.arg is None for keyword in call.keywords):
            return None
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            return None
        positions = [each.name for each in self.parameters if each.by_position]
        bound = dict(zip(positions, call.args, strict=False))
        bound.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None})
        return bound


def own_parameters(node: FunctionNode, *, skip_first: bool) -> list[ast.arg]:
    """The named parameters of a function, without the receiver."""
    return [*node.args.posonlyargs, *node.args.args][skip_first:] + node.args.kwonlyargs


def is_bound(info: FunctionInfo) -> bool:
    """Whether the first parameter is the receiver."""
    return info.owner is not None and not any(last_name(each) == "staticmethod" for each in info.decorators)


def _function_signature(info: FunctionInfo, *, bound: bool) -> Signature:
    arguments = info.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    first_default = len(positional) - len(arguments.defaults)
    found = [
        Parameter(a.arg, a.annotation, index >= first_default, by_keyword=index >= len(arguments.posonlyargs))
        for index, a in enumerate(positional)
    ][bound:]
    found += [
        Parameter(a.arg, a.annotation, default is not None, by_position=False)
        for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    return Signature(tuple(found), arguments.vararg is not None, arguments.kwarg is not None)


def constructor_signature(project: Project, cls: ClassInfo) -> Signature | None:
    """What the class is called with; None where that cannot be told."""
    init = project.find_method(cls, "__init__")
    if init is not None:
        return _function_signature(init, bound=True)
    if project.find_method(cls, "__new__") is not None or project.flavor(cls) == "plain":
        return None
    fields = [each for each in project.fields(cls).values() if each.in_init]
    ordered = [each for each in fields if not each.keyword_only] + [each for each in fields if each.keyword_only]
    return Signature(
        tuple(
            Parameter(
                each.init_name or each.name,
                each.annotation,
                each.default is not None,
                by_position=not each.keyword_only,
                field=each.name,
            )
            for each in ordered
        )
    )


def signature_of(
    project: Project, callee: ClassInfo | FunctionInfo, *, through_instance: bool = True
) -> Signature | None:
    """What a call of a function or class may give. A method is taken as one that was looked up on an object."""
    if isinstance(callee, ClassInfo):
        return constructor_signature(project, callee)
    return _function_signature(callee, bound=through_instance and is_bound(callee))


def callee_of(
    project: Project, info: FunctionInfo, call: ast.Call, locals_: set[str]
) -> ClassInfo | FunctionInfo | None:
    """The function or class of the project that a call in a function's body names; `locals_` hide global names.

    A method through `self`, `cls` or `super()` is found on the class that the function stands in: an override in a
    subclass should take the same parameters.
    """
    function = call.func
    owner = info.owner
    if owner is not None and info.node.args.args and is_bound(info):
        me = info.node.args.args[0].arg
        if isinstance(function, ast.Name) and function.id == me and _is_decorated(info, "classmethod"):
            return owner
        if isinstance(function, ast.Call) and _is_type_of(function, me):
            return owner
        if isinstance(function, ast.Attribute):
            value = function.value
            if isinstance(value, ast.Name) and value.id == me:
                return owner if function.attr == "__class__" else project.find_method(owner, function.attr)
            if is_super(value):
                return project.find_method(owner, function.attr, above=owner)
    head = function
    while isinstance(head, ast.Attribute):
        head = head.value
    if not isinstance(head, ast.Name) or head.id in locals_:
        return None
    symbol = project.resolve_expression(info.module, function)
    if isinstance(symbol, FunctionInfo) and symbol.owner is not None and not symbol.decorators:
        return None  # `Class.method(object, ...)`
    return symbol if isinstance(symbol, ClassInfo | FunctionInfo) else None


def _is_decorated(info: FunctionInfo, name: str) -> bool:
    return any(last_name(each) == name for each in info.decorators)


def _is_type_of(node: ast.Call, me: str) -> bool:
    return (
        isinstance(node.func, ast.Name)
        and node.func.id == "type"
        and len(node.args) == 1
        and isinstance(node.args[0], ast.Name)
        and node.args[0].id == me
    )


def is_super(node: ast.expr) -> bool:
    """Whether an expression is `super()`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
