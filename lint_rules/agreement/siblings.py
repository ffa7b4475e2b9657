"""Two constructions of one class in one family of functions, of which the second lacks a value that is in its reach."""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lint_rules.agreement.constructions import Construction, class_of, mentions
from lint_rules.agreement.signatures import own_parameters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lint_rules.index.bodies import Bodies, Body
    from lint_rules.index.model import FunctionInfo
    from lint_rules.index.project import Project

__all__ = ["Disagreement", "disagreements", "family_of"]

#: Values that both must take from the same object before they count as siblings.
_SHARED = 2


@dataclass(frozen=True, slots=True)
class Disagreement:
    """`lacking` leaves `names` at their defaults; `giving` takes them from `source`, which `lacking` has as well."""

    giving: Construction
    lacking: Construction
    source: str
    names: tuple[str, ...]
    shared: tuple[str, ...]

    def field_names(self, parameters: Iterable[str]) -> list[str]:
        """The fields that parameters of the constructor fill."""
        found = [self.lacking.signature.get(name) for name in parameters]
        return [each.field or each.name for each in found if each is not None]

    def expression(self, name: str) -> str:
        """What the sibling gives a parameter."""
        return ast.unparse(self.giving.bound[name])


def disagreements(project: Project, bodies: Bodies, made: Iterable[Construction]) -> Iterator[Disagreement]:
    """Compare the constructions of each class within each family; each lacking one is named once."""
    families: dict[object, list[Construction]] = defaultdict(list)
    for each in made:
        families[each.cls, each.function.module.path, family_of(each.function)].append(each)
    for members in families.values():
        for lacking in members:
            best: Disagreement | None = None
            for giving in members:
                if giving.function is not lacking.function:
                    found = _compare(project, bodies, giving, lacking)
                    if found is not None and (best is None or len(found.shared) > len(best.shared)):
                        best = found
            if best is not None:
                yield best


def family_of(info: FunctionInfo) -> str:
    """The first word of a function's name, which siblings share: `bind` of `_bind_workspace`."""
    return info.node.name.strip("_").partition("_")[0]


def _compare(project: Project, bodies: Bodies, giving: Construction, lacking: Construction) -> Disagreement | None:
    omitted = set(lacking.omitted())
    body = bodies.of(lacking.function)
    by_source: dict[str, list[str]] = defaultdict(list)
    for name in giving.bound:
        root = _root(giving.bound[name])
        if root:
            by_source[root].append(name)
    for source, given in by_source.items():
        if not omitted.intersection(given):
            continue
        if not _same_variable(project, bodies, giving.function, lacking.function, source):
            continue
        shared = tuple(
            name for name in given if name in lacking.bound and _text(lacking.bound[name]) == _text(giving.bound[name])
        )
        names = tuple(name for name in given if name in omitted and not _is_used(body, giving.bound[name], name))
        if names and len(shared) >= _SHARED and len(names) <= len(shared):
            return Disagreement(giving, lacking, source, names, shared)
    return None


def _root(node: ast.expr) -> str:
    """The variable that `plan.a.b` starts from; empty for everything else."""
    if not isinstance(node, ast.Attribute):
        return ""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_used(body: Body, given: ast.expr, name: str) -> bool:
    """Whether the function looks at the value after all, and so has a reason of its own."""
    return mentions(body, name) or (isinstance(given, ast.Attribute) and mentions(body, given.attr))


def _same_variable(project: Project, bodies: Bodies, one: FunctionInfo, other: FunctionInfo, name: str) -> bool:
    """Whether two functions have a variable of this name that stands for the same thing."""
    mine, theirs = _parameter(one, name), _parameter(other, name)
    if mine is not None and theirs is not None:
        classes = [class_of(project, each, name) for each in (one, other)]
        return classes[0] is classes[1] and _text(mine.annotation) == _text(theirs.annotation)
    if mine is not None or theirs is not None:
        return False
    values = [bodies.of(each).values.get(name, []) for each in (one, other)]
    return all(len(each) == 1 and each[0] is not None for each in values) and _text(values[0][0]) == _text(values[1][0])


def _parameter(info: FunctionInfo, name: str) -> ast.arg | None:
    return next((each for each in own_parameters(info.node, skip_first=False) if each.arg == name), None)


def _text(node: ast.expr | None) -> str:
    return ast.unparse(node) if node is not None else ""
