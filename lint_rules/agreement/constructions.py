"""Where functions construct an object, and which arguments they take from another one."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lint_rules.agreement.signatures import callee_of, constructor_signature, is_bound, own_parameters
from lint_rules.index.build import last_name
from lint_rules.index.model import ClassInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.agreement.signatures import Signature
    from lint_rules.index.bodies import Bodies, Body
    from lint_rules.index.model import FunctionInfo
    from lint_rules.index.project import Project

__all__ = ["Construction", "class_of", "constructions", "mentions", "taken_from"]


@dataclass(frozen=True, slots=True)
class Construction:
    """One call of a project class. `open_class` says that a subclass may be what is made: `type(self)(...)`.

    `taken` maps parameters to the object, by name, whose attribute of the same name they are given.
    """

    function: FunctionInfo
    call: ast.expr
    cls: ClassInfo
    signature: Signature
    bound: dict[str, ast.expr]
    taken: dict[str, str] = field(default_factory=dict)
    open_class: bool = False

    def omitted(self) -> list[str]:
        """Parameters with a default that the call leaves at it."""
        return [each.name for each in self.signature.parameters if each.has_default and each.name not in self.bound]


def constructions(project: Project, bodies: Bodies, info: FunctionInfo) -> Iterator[Construction]:
    """The constructor calls in a function that name all that they give."""
    body = bodies.of(info)
    hidden = {*body.stores, *body.inner, *(each.arg for each in own_parameters(info.node, skip_first=False))}
    for call in body.calls:
        if not _may_construct(call.func):
            continue
        cls = callee_of(project, info, call, hidden)
        if isinstance(cls, ClassInfo):
            made = _made(project, body, info, call, cls, call.args, call.keywords, open_class=_is_open(info, call))
            if made is not None:
                yield made
    if info.owner is not None and info.node.name in {"__reduce__", "__reduce_ex__"}:
        for statement in body.returns:
            yield from _reduced(project, body, info, statement.value)


def _reduced(project: Project, body: Body, info: FunctionInfo, value: ast.expr | None) -> Iterator[Construction]:
    """What unpickling will call: `return Class, (arguments)`."""
    if not isinstance(value, ast.Tuple) or len(value.elts) < 2 or not isinstance(value.elts[1], ast.Tuple):
        return
    head, arguments = value.elts[0], value.elts[1].elts
    stand_in = ast.copy_location(ast.Call(head, arguments, []), value)
    cls = project.resolve_expression(info.module, head)
    open_class = isinstance(head, ast.Call) or (isinstance(head, ast.Attribute) and head.attr == "__class__")
    if open_class:
        cls = info.owner
    if isinstance(cls, ClassInfo):
        made = _made(project, body, info, stand_in, cls, arguments, [], open_class=open_class)
        if made is not None:
            yield made


def _may_construct(function: ast.expr) -> bool:
    if isinstance(function, ast.Call):
        return isinstance(function.func, ast.Name) and function.func.id == "type"
    name = last_name(function)
    return name.lstrip("_")[:1].isupper() or name in {"cls", "__class__"}


def _is_open(info: FunctionInfo, call: ast.Call) -> bool:
    return isinstance(call.func, ast.Call) or last_name(call.func) in {"cls", "__class__"}


def _made(
    project: Project,
    body: Body,
    info: FunctionInfo,
    call: ast.Call,
    cls: ClassInfo,
    arguments: list[ast.expr],
    keywords: list[ast.keyword],
    *,
    open_class: bool,
) -> Construction | None:
    signature = constructor_signature(project, cls)
    bound = signature.bind(call) if signature is not None else None
    if signature is None or bound is None:
        return None
    made = Construction(info, call, cls, signature, bound, open_class=open_class)
    for name, value in bound.items():
        source = taken_from(value, name, body)
        if source:
            made.taken[name] = source
    return made


def taken_from(value: ast.expr, name: str, body: Body, depth: int = 1) -> str:
    """The variable whose attribute `name` an argument is, possibly copied or a part of it; empty if there is none."""
    plain = name.lstrip("_")
    node = value
    while True:
        arguments = len(node.args) + len(node.keywords) if isinstance(node, ast.Call) else 0
        if isinstance(node, ast.Subscript | ast.Starred):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not arguments:
            node = node.func.value  # x.rows.copy()
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == arguments == 1:
            node = node.args[0]  # list(x.rows)
        else:
            break
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id if node.attr.lstrip("_") == plain else ""
    if isinstance(node, ast.Call):
        names = [each.id for each in node.args if isinstance(each, ast.Name)]
        texts = [each.value for each in node.args if isinstance(each, ast.Constant)]
        return names[0] if names and name in texts else ""
    if isinstance(node, ast.Name) and depth:
        values = body.values.get(node.id, [])
        if len(values) == 1 and values[0] is not None:
            return taken_from(values[0], name, body, depth - 1)
    return ""


def class_of(project: Project, info: FunctionInfo, name: str) -> ClassInfo | None:
    """The class of a parameter, as far as its annotation or its place as receiver tells."""
    arguments = info.node.args
    for index, each in enumerate([*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]):
        if each.arg == name:
            if index == 0 and is_bound(info) and not any(last_name(d) == "classmethod" for d in info.decorators):
                return info.owner
            return project.annotated_class(info.module, each.annotation)
    return None


def mentions(body: Body, attribute: str) -> bool:
    """Whether the body reads or sets an attribute of this name anywhere, or names it in a text."""
    return any(node.attr.lstrip("_") == attribute.lstrip("_") for node in body.attributes)
