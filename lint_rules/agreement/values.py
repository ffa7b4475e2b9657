"""Which annotations stand for plain values: what a program is specialized on, and what a key can compare."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from lint_rules.index.build import last_name, unquoted
from lint_rules.index.model import ClassInfo

if TYPE_CHECKING:
    from lint_rules.index.model import ModuleInfo
    from lint_rules.index.project import Project

__all__ = ["is_value", "is_value_default"]

_PLAIN = frozenset({"int", "bool", "str", "float", "bytes", "complex", "dtype", "Literal", "SupportsInt"})
_AROUND = frozenset({"Optional", "Union", "Annotated", "Final", "Fact", "tuple", "Tuple", "frozenset", "FrozenSet"})


def is_value(project: Project, module: ModuleInfo, annotation: ast.expr | None) -> bool:
    """Whether everything that the annotation allows is a plain value: numbers, texts, enumerations, tuples of them."""
    node = unquoted(annotation)
    if isinstance(node, ast.Constant):
        return node.value is None or node.value is ...
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return is_value(project, module, node.left) and is_value(project, module, node.right)
    if isinstance(node, ast.Subscript):
        head = last_name(node.value)
        if head == "Literal":
            return True
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if head == "Annotated":
            inner = inner[:1]
        return head in _AROUND and all(is_value(project, module, each) for each in inner)
    if isinstance(node, ast.Name | ast.Attribute):
        if last_name(node) in _PLAIN:
            return True
        cls = project.resolve_expression(module, node)
        return isinstance(cls, ClassInfo) and any(
            last_name(base).endswith(("Enum", "Flag")) for each in project.mro(cls) for base in each.node.bases
        )
    return False


def is_value_default(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    """Whether a parameter without annotation has a number, a text or a truth value as its default."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[tuple[ast.arg, ast.expr | None]] = list(
        zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True)
    )
    defaults += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return any(
        each.arg == name and isinstance(default, ast.Constant) and default.value is not None
        for each, default in defaults
    )
