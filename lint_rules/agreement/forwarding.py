"""Parameters that a function accepts, does nothing with, and does not pass to a callee that would take them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lint_rules.agreement.signatures import callee_of, is_bound, is_super, own_parameters, signature_of
from lint_rules.index.build import last_name, unquoted
from lint_rules.index.model import FunctionInfo

if TYPE_CHECKING:
    from lint_rules.agreement.signatures import Signature
    from lint_rules.index.bodies import Bodies, Body
    from lint_rules.index.model import ClassInfo
    from lint_rules.index.project import Project

__all__ = ["Unforwarded", "unforwarded"]

#: Decorators of functions whose body does not run, or whose parameters others use.
_OTHERS_RUN = frozenset({"overload", "abstractmethod", "fixture", "singledispatch", "property", "setter"})


@dataclass(frozen=True, slots=True)
class Unforwarded:
    """A call in `function` that leaves `names` at their defaults although the function was given values for them.

    `checked` are those of the names that the function looks at to refuse some values. `neighbours` are the parameters
    that the call does pass on under their own names.
    """

    function: FunctionInfo
    call: ast.Call
    callee: FunctionInfo | ClassInfo
    names: tuple[str, ...]
    checked: tuple[str, ...]
    neighbours: tuple[str, ...]
    same_types: bool

    @property
    def parameters(self) -> list[ast.arg]:
        """The parameters of the function, its receiver left out."""
        return own_parameters(self.function.node, skip_first=is_bound(self.function))

    @property
    def is_super(self) -> bool:
        """Whether the call goes to the base: `super().__init__(...)`."""
        return isinstance(self.call.func, ast.Attribute) and is_super(self.call.func.value)


def unforwarded(project: Project, bodies: Bodies, info: FunctionInfo) -> Unforwarded | None:
    """The first call of the function that lacks a parameter, or None. A parameter that is read anywhere is used."""
    decorators = {last_name(each) for each in info.decorators}
    if decorators & _OTHERS_RUN:
        return None
    parameters = {each.arg: each for each in own_parameters(info.node, skip_first=is_bound(info))}
    if len(parameters) < 2:
        return None
    body = bodies.of(info)
    idle = [name for name in parameters if _is_idle(name, body)]
    if not idle or body.sees_everything:
        return None
    hidden = {*body.stores, *body.inner, *parameters}
    for call in body.calls:
        if any(keyword.arg is None for keyword in call.keywords):
            continue
        callee = callee_of(project, info, call, hidden)
        if callee is None or callee is info:
            continue
        signature = signature_of(project, callee)
        bound = signature.bind(call) if signature is not None else None
        if signature is None or bound is None:
            continue
        names = [name for name in idle if _lacks(signature, bound, name)]
        neighbours = [name for name, value in bound.items() if _passes_on(name, value, parameters)]
        if names and neighbours:
            return Unforwarded(
                info,
                call,
                callee,
                tuple(names),
                tuple(name for name in names if name in body.checks),
                tuple(neighbours),
                all(_same_type(parameters[name].annotation, signature, name) for name in names),
            )
    return None


def _is_idle(name: str, body: Body) -> bool:
    """Whether nothing is done with a parameter; one that is deleted was given up on purpose."""
    return not name.startswith("_") and name not in body.reads and name not in body.deletes and not body.binds(name)


def _lacks(signature: Signature, bound: dict[str, ast.expr], name: str) -> bool:
    parameter = signature.get(name)
    return parameter is not None and parameter.has_default and parameter.by_keyword and name not in bound


def _passes_on(name: str, value: ast.expr, parameters: dict[str, ast.arg]) -> bool:
    """Whether an argument is the function's own parameter of that name, or a part of it: `rows=rows[:n]`."""
    while isinstance(value, ast.Subscript | ast.Attribute | ast.Starred):
        value = value.value
    return isinstance(value, ast.Name) and value.id == name and name in parameters


def _same_type(annotation: ast.expr | None, signature: Signature, name: str) -> bool:
    parameter = signature.get(name)
    other = parameter.annotation if parameter is not None else None
    if annotation is None or other is None:
        return True
    return _text(annotation) == _text(other)


def _text(annotation: ast.expr) -> str:
    node = unquoted(annotation)
    return ast.unparse(node).replace("typing.", "") if node is not None else ""
