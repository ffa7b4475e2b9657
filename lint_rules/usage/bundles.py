"""Carriers that travel by position: four or more in one call, or in a tuple that is unpacked."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lint_rules.index.build import last_name
from lint_rules.index.model import FunctionInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.index.plans import PlanInfo
    from lint_rules.usage.collect import Usage
    from lint_rules.usage.views import View

__all__ = ["FEWEST", "Bundle", "Slot", "find_bundles"]

#: Fewer carriers than this can be told apart by position.
FEWEST = 4

#: Calls that map a literal over its elements, or spread one: both orders stand in one line.
_SPREADING = frozenset({"map", "zip", "sorted", "reversed"})


@dataclass(frozen=True, slots=True)
class Slot:
    """One value of a bundle: the field it is, the value, and the keyword that could say so."""

    field: str
    value: ast.expr
    keyword: str


@dataclass(frozen=True, slots=True)
class Bundle:
    """A call that is given carriers by position, or an assignment that unpacks them.

    `slots` are the carriers; `trailing` are all arguments from the first of them on, if each of them has a keyword.
    """

    how: Literal["construct", "call", "unpack"]
    plan: PlanInfo
    node: ast.Call | ast.Assign
    slots: tuple[Slot, ...]
    view: View
    trailing: tuple[Slot, ...] = ()


def find_bundles(usage: Usage) -> Iterator[Bundle]:
    """Every bundle in the functions that speak of plans."""
    for view in usage.views:
        for call in view.of(ast.Call):
            bundle = _constructed(call, view, usage) or _forwarded(call, view, usage)
            if bundle is not None:
                yield bundle
        for assign in view.of(ast.Assign):
            bundle = _unpacked(assign, view, usage)
            if bundle is not None:
                yield bundle


def _constructed(call: ast.Call, view: View, usage: Usage) -> Bundle | None:
    made = usage.owners.made(call, view)
    if made is None or len(made.positional) < FEWEST:
        return None
    given = [Slot(name, value, keyword) for (name, keyword), value in zip(made.positional, call.args, strict=False)]
    return _bundle("construct", made.plan, call, given, view)


def _forwarded(call: ast.Call, view: View, usage: Usage) -> Bundle | None:
    """Carriers that are read from one plan and handed to a function of the project whose parameters have names."""
    if len(call.args) < FEWEST:
        return None
    reads = [usage.owners.carrier(argument, view) for argument in call.args]
    plans = {read.plan for read in reads if read is not None}
    callee = usage.owners.callee(call, view)
    if len(plans) != 1 or not isinstance(callee, FunctionInfo):
        return None
    spec = callee.node.args
    names = [*(("", a.arg) for a in spec.posonlyargs), *((a.arg, a.arg) for a in spec.args)]
    if callee.owner is not None and not any(last_name(d) == "staticmethod" for d in callee.decorators):
        names = names[1:]
    given = [
        Slot(read.name if read is not None else "", argument, keyword)
        for argument, read, (keyword, _) in zip(call.args, reads, names, strict=False)
    ]
    return _bundle("call", plans.pop(), call, given, view)


def _bundle(
    how: Literal["construct", "call"], plan: PlanInfo, call: ast.Call, given: list[Slot], view: View
) -> Bundle | None:
    slots = [slot for slot in given if plan.kind(slot.field) == "Transferable"]
    if len({slot.field for slot in slots}) < FEWEST:
        return None
    trailing = given[given.index(slots[0]) :]
    # What a star spreads comes behind all that is given by position: a keyword before it would move it.
    in_reach = len(given) == len(call.args) and all(slot.keyword for slot in trailing)
    taken = {keyword.arg for keyword in call.keywords}
    clear = in_reach and None not in taken and not any(slot.keyword in taken for slot in trailing)
    return Bundle(how, plan, call, tuple(slots), view, tuple(trailing) if clear else ())


def _unpacked(assign: ast.Assign, view: View, usage: Usage) -> Bundle | None:
    """`a, b, c, d = compile_all()`, where the names then are carriers of a plan, or the function gives those of one."""
    (target,) = assign.targets if len(assign.targets) == 1 else (None,)
    if not isinstance(target, ast.Tuple | ast.List) or len(target.elts) < FEWEST:
        return None
    names = [part.id for part in target.elts if isinstance(part, ast.Name)]
    if len(names) != len(target.elts) or not _is_from_elsewhere(assign.value, view):
        return None
    return _made_of(names, target.elts, assign, view, usage) or _given_out(target.elts, assign, view, usage)


def _is_from_elsewhere(value: ast.expr, view: View) -> bool:
    """Whether the order of the values is fixed in another place than where they are unpacked."""
    if isinstance(value, ast.Await):
        value = value.value
    if isinstance(value, ast.Call):
        return last_name(value.func) not in _SPREADING
    if isinstance(value, ast.Name):
        bounds = view.bindings.get(value.id, ())
        return bool(bounds) and all(
            bound.parameter or (bound.value is not None and _is_from_elsewhere(bound.value, view)) for bound in bounds
        )
    return isinstance(value, ast.Attribute | ast.Subscript)


def _made_of(names: list[str], parts: list[ast.expr], assign: ast.Assign, view: View, usage: Usage) -> Bundle | None:
    for call in view.of(ast.Call):
        made = usage.owners.made(call, view)
        if made is None:
            continue
        fields = {
            value.id: name
            for name, value in made.values.items()
            if isinstance(value, ast.Name) and value.id in names and made.plan.kind(name) == "Transferable"
        }
        if len(fields) >= FEWEST:
            at = dict(zip(names, parts, strict=True))
            slots = [Slot(name, at[variable], variable) for variable, name in fields.items()]
            order = list(made.plan.fields)
            slots.sort(key=lambda slot: order.index(slot.field))
            return Bundle("unpack", made.plan, assign, tuple(slots), view)
    return None


def _given_out(parts: list[ast.expr], assign: ast.Assign, view: View, usage: Usage) -> Bundle | None:
    """A function of the project that returns carriers of a plan as a bare tuple."""
    call = assign.value.value if isinstance(assign.value, ast.Await) else assign.value
    callee = usage.owners.callee(call, view) if isinstance(call, ast.Call) else None
    if not isinstance(callee, FunctionInfo):
        return None
    source = usage.view(callee)
    returned = source.of(ast.Return)
    if len(returned) != 1 or not isinstance(value := returned[0].value, ast.Tuple) or len(value.elts) != len(parts):
        return None
    reads = [usage.owners.carrier(element, source) for element in value.elts]
    plans = {read.plan for read in reads if read is not None}
    if len(plans) != 1:
        return None
    slots = [
        Slot(read.name, part, part.id)
        for read, part in zip(reads, parts, strict=True)
        if read is not None and isinstance(part, ast.Name)
    ]
    return Bundle("unpack", plans.pop(), assign, tuple(slots), view) if len(slots) >= FEWEST else None
