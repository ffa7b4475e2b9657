"""A method that merges another object of its class into its own, attribute by attribute, and misses one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from lint_rules.agreement.signatures import is_bound, own_parameters
from lint_rules.audit.model import Suggestion, declaration_of, marks_of
from lint_rules.findings import Finding, Fix
from lint_rules.rules._wording import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.agreement.scope import Agreement
    from lint_rules.index.bodies import Body
    from lint_rules.index.model import FunctionInfo

__all__ = ["merges_in"]

#: Attributes that must be merged before one that is not is worth a word, for each that is not.
_MERGED_FOR_EACH = 3


def merges_in(agreement: Agreement, info: FunctionInfo) -> Iterator[Suggestion]:
    """What a merging method leaves out."""
    cls = info.owner
    if cls is None or not is_bound(info) or not info.node.args.args or agreement.plans.of(cls) is not None:
        return
    project = agreement.project
    me = info.node.args.args[0].arg
    for parameter in own_parameters(info.node, skip_first=True):
        if project.annotated_class(info.module, parameter.annotation) is not cls:
            continue
        body = agreement.bodies.of(info)
        merged = _merged(body, me, parameter.arg)
        spoken = {node.attr for node in body.attributes if _is_of(node, me) or _is_of(node, parameter.arg)}
        fields = project.fields(cls)
        left = tuple(name for name in fields if name not in spoken)
        whole = parameter.arg in {each.id for call in body.calls for each in call.args if isinstance(each, ast.Name)}
        if not left or whole or len(merged) < _MERGED_FOR_EACH * len(left):
            continue
        first = next(iter(merged.values()))
        it = "it" if len(left) == 1 else "them"
        finding = Finding(
            code="OWN001",
            place=info.module.place(first),
            class_name=cls.full_name,
            fields=left,
            message=(
                f"`{info.qualname}` merges `{parameter.arg}` into `{me}` and leaves out {quoted(left)}: what"
                f" `{parameter.arg}` has there is lost. Merge {it} too."
            ),
            declared_at=tuple(fields[name].place for name in left),
            fixes=(Fix(f"merge {quoted(left)} as well", "display"),),
        )
        reason = f"{quoted(list(merged))} are merged from `{parameter.arg}`, which is a {cls.qualname} as well"
        every = [*merged, *left]
        yield Suggestion(finding, reason, "medium", declaration_of(cls, every), marks_of(cls, every))


def _merged(body: Body, me: str, other: str) -> dict[str, ast.stmt | ast.expr]:
    """The attributes of `self` that are given something of the same one of the other, and where, in order."""
    found: dict[str, ast.stmt | ast.expr] = {}
    for targets, value, node in body.assignments:
        for target in targets:
            if isinstance(target, ast.Attribute) and _is_of(target, me) and _reads(value, other, target.attr):
                found.setdefault(target.attr, node)
    for each in body.augmented:
        target = each.target
        if isinstance(target, ast.Attribute) and _is_of(target, me) and _reads(each.value, other, target.attr):
            found.setdefault(target.attr, each)
    for call in body.calls:
        function = call.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Attribute):
            mine = function.value
            if _is_of(mine, me) and any(_reads(argument, other, mine.attr) for argument in call.args):
                found.setdefault(mine.attr, call)
    return dict(sorted(found.items(), key=lambda item: (item[1].lineno, item[1].col_offset)))


def _is_of(node: ast.Attribute, name: str) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == name


def _reads(node: ast.expr, name: str, attribute: str) -> bool:
    return any(
        isinstance(part, ast.Attribute) and part.attr == attribute and _is_of(part, name) for part in ast.walk(node)
    )
