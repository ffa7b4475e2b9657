"""Fields that must not travel and did: ephemeral, borrowed, and derived ones beside a fact that changes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from lint_rules.flow.sites import Outcome
from lint_rules.flow.values import Attr, Node, Obj, Param, Read, bare

if TYPE_CHECKING:
    from lint_rules.flow.lookups import Lookups
    from lint_rules.flow.state import State
    from lint_rules.index.plans import PlanField, PlanInfo

__all__ = ["find_kept", "find_leaks"]


#: Types whose values are compared by value: two plans may share them.
_PLAIN = frozenset({"int", "str", "float", "bool", "bytes", "complex", "None"})


def find_leaks(obj: Obj, plan: PlanInfo, state: State, lookups: Lookups) -> list[Outcome]:
    """Fields of one plan or one call that were taken by name, and derived ones beside a fact that changes."""
    found: list[Outcome] = []
    for name, info in plan.fields.items():
        if info.kind not in {"Ephemeral", "Borrowed", "Derived"}:
            continue
        if name not in obj.explicit and obj.birth.how != "construct":
            continue
        value = state.read(obj, name)
        if not value:
            continue
        givers = [_giver(part, name, obj, lookups) for part in value]
        if any(giver is None for giver in givers):
            continue
        giver = givers[0]
        assert giver is not None
        if info.kind == "Derived":
            if _facts_changed(obj, plan, state, giver):
                found.append(Outcome(name, "stale", "derived"))
        else:
            found.append(Outcome(name, "leaked", info.kind.lower()))
    return found


def find_kept(obj: Obj, plan: PlanInfo, state: State) -> list[Outcome]:
    """Fields of one plan alone that a materializer's `replace` keeps, unless they are plain values."""
    base = bare(obj.base) if obj.base is not None else None
    if not isinstance(base, Param) or obj.birth.how != "replace":
        return []
    return [
        Outcome(name, "leaked", str(info.kind).lower())
        for name, info in plan.fields.items()
        if info.kind in {"Ephemeral", "Borrowed"} and state.read(obj, name) is None and not _is_plain(info)
    ]


def _giver(part: Node, name: str, target: Obj, lookups: Lookups) -> Node | None:
    """The plan whose own field of this name the value is."""
    if not isinstance(part, Attr | Read) or part.name != name:
        return None
    owner = bare(part.owner)
    plan = lookups.plans.of(lookups.class_of(owner))
    return owner if plan is not None and name in plan.fields and owner is not target else None


def _facts_changed(obj: Obj, plan: PlanInfo, state: State, giver: Node) -> bool:
    for name, info in plan.fields.items():
        value = state.read(obj, name)
        if info.kind != "Fact" or value is None:
            continue
        if not all(isinstance(part, Attr | Read) and part.name == name and bare(part.owner) is giver for part in value):
            return True
    return False


def _is_plain(info: PlanField) -> bool:
    """Whether a field's annotation speaks of immutable values only."""
    annotation = info.info.annotation if info.info is not None else None
    inner = annotation.slice if isinstance(annotation, ast.Subscript) else annotation
    names = {node.id for node in ast.walk(inner) if isinstance(node, ast.Name)} if inner is not None else set()
    return bool(names) and names <= _PLAIN
