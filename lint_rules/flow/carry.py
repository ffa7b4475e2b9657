"""The value that a copy left behind: how to write it where the copy is made."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from lint_rules.flow.sites import Carry
from lint_rules.flow.values import Attr, Node, Obj, Param, Read, bare
from lint_rules.index.build import last_name

if TYPE_CHECKING:
    from lint_rules.flow.lookups import Lookups
    from lint_rules.flow.state import Frame, State
    from lint_rules.index.model import ClassInfo, FieldInfo
    from lint_rules.index.plans import PlanInfo

__all__ = ["find_carry"]


def find_carry(
    name: str, obj: Obj, plan: PlanInfo, state: State, frame: Frame, lookups: Lookups, sources: list[Node]
) -> Carry | None:
    """The expression that carries a field: what a sibling in the same call is read from, or a parameter.

    None where the copy is no call of the analysed function, where the call cannot take the field (`init=False`), or
    where nothing that is in scope has it.
    """
    copied, own = obj.copied, plan.fields[name].info
    if copied is None or copied.depth:
        return None
    if isinstance(copied.node, ast.Assign):
        return _from_assignment(name, copied.node, plan, state, frame, lookups)
    if copied.how == "assign" or not isinstance(copied.node, ast.Call):
        return None
    if last_name(copied.node.func) in {"model_copy", "copy"}:
        return None
    if not _is_taken(name, own, obj.cls, lookups):
        return None
    found = _from_sources(name, obj, plan, state, frame, lookups, sources)
    given = name in obj.explicit or any(isinstance(argument, ast.Starred) for argument in copied.node.args)
    return replace(found, given=True) if found is not None and given else found


def _from_sources(
    name: str, obj: Obj, plan: PlanInfo, state: State, frame: Frame, lookups: Lookups, sources: list[Node]
) -> Carry | None:
    for sibling, expression in obj.explicit.items():
        if not isinstance(expression, ast.Attribute) or expression.attr != sibling or plan.kind(sibling) is None:
            continue
        for part in state.read(obj, sibling) or ():
            if plan.kind(sibling) == "Transferable" and isinstance(part, Attr | Read):
                found = _from(name, bare(part.owner), ast.unparse(expression.value), plan, lookups)
                if found is not None:
                    return found
    for source in sources:
        if lookups.class_of(source) is None:
            continue  # without a sibling of the same name there is nothing to guess from
        # A parameter that still is what it was when the function ends has not been assigned in between.
        if isinstance(source, Param) and not source.is_global and state.read(frame, source.name) == (source,):
            found = _from(name, source, source.name, plan, lookups)
            if found is not None:
                return found
    return None


def _from_assignment(
    name: str, node: ast.Assign, plan: PlanInfo, state: State, frame: Frame, lookups: Lookups
) -> Carry | None:
    """The assignment for a field after the model of `new.sibling = old.sibling`, where both are plain names."""
    (target, *others), value = node.targets, node.value
    if others or not isinstance(target, ast.Attribute) or not isinstance(value, ast.Attribute):
        return None
    if target.attr != value.attr or not isinstance(target.value, ast.Name) or not isinstance(value.value, ast.Name):
        return None
    for source in lookups.lookup(value.value.id, frame, state):
        found = _from(name, bare(source), value.value.id, plan, lookups)
        if found is not None:
            return Carry(found.expression, found.sure, target.value.id)
    return None


def _is_taken(name: str, own: FieldInfo | None, cls: ClassInfo, lookups: Lookups) -> bool:
    """Whether the constructor has a parameter for the field."""
    init = lookups.project.find_method(cls, "__init__")
    if init is not None:
        spec = init.node.args
        return any(parameter.arg == name for parameter in [*spec.args, *spec.kwonlyargs])
    return own is None or own.in_init


def _from(name: str, source: Node, text: str, plan: PlanInfo, lookups: Lookups) -> Carry | None:
    cls = lookups.class_of(source)
    if cls is None:
        return Carry(f"{text}.{name}", sure=False)
    known = lookups.project.fields(cls).get(name)
    if known is None:
        return None
    return Carry(f"{text}.{name}", sure=_is_same(known.annotation, plan, name))


def _is_same(annotation: ast.expr | None, plan: PlanInfo, name: str) -> bool:
    own = plan.fields[name].info
    if annotation is None or own is None or own.annotation is None:
        return annotation is None and (own is None or own.annotation is None)
    return _without_none(annotation) == _without_none(own.annotation)


def _without_none(node: ast.expr) -> str:
    """An annotation's text, `None` left out: what may be nothing there may be nothing here."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        parts = {_without_none(node.left), _without_none(node.right)} - {"None"}
        return " | ".join(sorted(parts))
    return ast.unparse(node)
