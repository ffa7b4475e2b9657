"""One retained program: the places where it should be reachable, and how they are read from what `retain` is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ownership._launchables import is_resolver
from ownership._walk import Sort, is_plain, sort_of, walk
from ownership.absence import Absent
from ownership.errors import NotAPlanError
from ownership.ledger_errors import InvalidPathError, NotACarrierError
from ownership.plan import plan_fields

if TYPE_CHECKING:
    from ownership.ledger import Ledger

__all__ = ["Kept", "Place", "owes", "plan_class", "programs"]

#: The class of the plan that owes a program, or `None` for any that has the field, and the path.
Place = tuple["type | None", str]


class Kept:
    """A program that is kept alive, for whom, and where it has been found."""

    __slots__ = ("elsewhere", "found", "ledger", "own", "program", "served")

    def __init__(self, ledger: Ledger, program: object) -> None:
        self.ledger = ledger
        self.program = program
        #: The places where it should be reachable, and the plans (by id) in which it is.
        self.found: dict[Place, set[int]] = {}
        #: The published plans, by id, that reach it by any path: of its own ledger, and of other sections.
        self.own: set[int] = set()
        self.elsewhere: set[int] = set()
        #: Whether a plan of its own ledger ever did.
        self.served = False

    def settled(self) -> bool:
        """Whether it was found wherever it should be."""
        return all(self.found.values()) if self.found else bool(self.own)


def plan_class(plan: object) -> type | None:
    if plan is None:
        return None
    cls = getattr(plan, "__origin__", plan)
    plan_fields(cls)
    if not isinstance(cls, type):
        raise NotAPlanError(given=plan, wanted="a plan class", function="retain()")
    return cls


def owes(plan: object, place: Place) -> bool:
    """Whether the plan is one of those that should have something at the place."""
    owner, path = place
    if owner is not None:
        return isinstance(plan, owner)
    field = root(path)
    return any(spec.name == field for spec in plan_fields(plan))


def root(path: str) -> str:
    return path.partition(".")[0].partition("[")[0]


def programs(value: object, at: object, owner: type | None, function: str) -> list[tuple[object, str | None]]:
    """The carriers in what was given to be retained, each with its path."""
    if at is not None:
        _check_path(at, owner)
    path = at if isinstance(at, str) else None
    sort = sort_of(value)
    cls = type(value)
    if sort is Sort.ABSENT or (sort is Sort.CARRIER and is_plain(value)):
        what = "absent" if issubclass(cls, Absent) or value is None else "plain data"
        problem = f"which is {what}; wanted: a compiled program, its launcher, or a bundle of them"
        raise NotACarrierError(given=value, function=function, problem=problem)
    if sort is Sort.CARRIER:
        if is_resolver(value):
            problem = "which compiles when it is launched; retain what its warmup() returns"
            raise NotACarrierError(given=value, function=function, problem=problem)
        if issubclass(cls, (set, frozenset)) or (hasattr(cls, "__next__") and not callable(value)):
            problem = "which is a collection without paths; give it to retain_all()"
            raise NotACarrierError(given=value, function=function, problem=problem)
        return [(value, path)]
    found = [
        (node.value, node.path if path is not None else None)
        for node in walk(value, path=path or "")
        if node.sort is Sort.CARRIER and not is_plain(node.value)
    ]
    for program, _ in found:
        if is_resolver(program):
            return programs(program, at, owner, function)
    if not found:
        raise NotACarrierError(given=value, function=function, problem="in which there is no carrier")
    return found


def _check_path(path: object, owner: type | None) -> None:
    if not isinstance(path, str) or not root(path).isidentifier():
        raise InvalidPathError(path=path, problem="is no path that begins with a field", plan=owner)
    rest = path[len(root(path)) :]
    if rest.count("[") != rest.count("]") or rest.endswith(".") or ".." in rest:
        raise InvalidPathError(path=path, problem="is no path: it is not finished", plan=owner)
    if owner is None:
        return
    spec = next((spec for spec in plan_fields(owner) if spec.name == root(path)), None)
    if spec is None or not spec.kind.transferable:
        fields = [spec.name for spec in plan_fields(owner) if spec.kind.transferable]
        problem = f"begins with no transferable field; it has {', '.join(fields) or 'none'}"
        raise InvalidPathError(path=path, problem=problem, plan=owner)
