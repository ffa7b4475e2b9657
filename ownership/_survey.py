"""What one plan holds, looked at once for `publish()`: its carriers, what is inside them, and what stands at a path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ownership._launchables import (
    Known,
    captured_launchable,
    is_compiled,
    is_function,
    is_resolver,
    programs_inside,
)
from ownership._records import is_record
from ownership._walk import MISSING, Node, Sort, follow, is_plain, sort_of, walk
from ownership.absence import Dropped
from ownership.carrier_map import CarrierMap
from ownership.errors import OwnershipError, class_name, shown
from ownership.ledger_errors import (
    BareClosureError,
    ResolvingCarrierError,
    UndeclaredMapError,
    UnretainedProgramError,
    program_name,
)
from ownership.plan import plan_fields

__all__ = ["Standing", "Survey", "find"]


class Standing:
    """What stands at a path of a plan."""

    __slots__ = ("carriers", "exempt", "text", "value")

    def __init__(self, value: object, text: str, carriers: list[object], *, exempt: bool) -> None:
        self.value = value
        #: What a message says of it: the end of "..., but".
        self.text = text
        #: The carriers that stand there, or below.
        self.carriers = carriers
        #: Whether the plan owes nothing there: it was given up, or a declared domain leaves it out.
        self.exempt = exempt


class Survey:
    """A plan, and the carriers that were found in it. Holds both, so that no `id` is used again meanwhile."""

    __slots__ = ("inside", "leaves", "maps", "nodes", "plan")

    def __init__(self, plan: object) -> None:
        self.plan = plan
        self.nodes: dict[str, Node] = {}
        self.leaves: list[Node] = []
        self.maps: list[Node] = []
        for node in walk(plan, once=True):
            self.nodes[node.path] = node
            if node.sort is Sort.CARRIER and not is_plain(node.value):
                self.leaves.append(node)
            elif node.sort is Sort.MAPPING and not issubclass(type(node.value), CarrierMap):
                self.maps.append(node)
        self.inside: dict[int, list[object]] = {}

    def open(self, known: Known) -> None:
        """Look into the launchers, for what is known or can be told to be a program."""
        self.inside = {}
        for leaf in self.leaves:
            value = leaf.value
            if id(value) not in self.inside:
                closed = is_compiled(value) or is_function(value)
                self.inside[id(value)] = [] if closed else programs_inside(value, known)

    def reached(self) -> Iterator[tuple[object, str]]:
        """Every program that can be reached, the launchers' own included, and the path to it."""
        for leaf in self.leaves:
            yield leaf.value, leaf.path
            for program in self.inside[id(leaf.value)]:
                yield program, leaf.path

    def mistakes(self, known: Known, ledger: str) -> Iterator[OwnershipError]:
        """What is wrong with the plan by itself, and what it reaches that nobody retains."""
        cls = type(self.plan)
        for node in self.maps:
            below = list(walk(node.value, once=True))
            if not below or any(_may_be_carrier(one) for one in below):
                yield UndeclaredMapError(mapping=node.value, plan=cls, path=node.path)
        for leaf in self.leaves:
            value, path = leaf.value, leaf.path
            if is_resolver(value):
                yield ResolvingCarrierError(program=value, plan=cls, path=path)
                continue
            if is_function(value):
                captured = captured_launchable(value, known)
                if captured is not None:
                    hidden, via = captured
                    yield BareClosureError(function=value, captured=hidden, via=via, plan=cls, path=path)
                    continue
            inside = self.inside[id(value)]
            if known(value):
                continue
            loose = next((program for program in inside if not known(program)), None)
            if loose is not None:
                hint = f"It is inside {program_name(value)}. "
                yield UnretainedProgramError(program=loose, plan=cls, path=path, ledger=ledger, hint=hint)
            elif not inside:
                yield UnretainedProgramError(program=value, plan=cls, path=path, ledger=ledger)

    def standing(self, path: str) -> Standing:
        """What stands at a path; the empty path is the whole plan."""
        node = self.nodes.get(path)
        reached, value = (path, node.value) if node is not None else follow(self.plan, path)
        if reached != path:
            # Where the way ends at something absent, all below it is absent for the same reason.
            exempt = issubclass(type(value), (Dropped, CarrierMap))
            return Standing(value, self._missing(reached, value, path), [], exempt=exempt)
        sort = sort_of(value)
        if sort is Sort.ABSENT:
            text = "the field was never set" if value is MISSING else f"{shown(value)} stands there"
            return Standing(value, text, [], exempt=issubclass(type(value), Dropped))
        if sort is Sort.CARRIER:
            return Standing(value, f"{program_name(value)} stands there", self._with_inside(value), exempt=False)
        below = [node.value for node in walk(value, once=True) if node.sort is Sort.CARRIER]
        found = [one for carrier in below if not is_plain(carrier) for one in self._with_inside(carrier)]
        names = ", ".join(map(program_name, below[:3])) or "no carrier"
        more = f" and {len(below) - 3} more" if len(below) > 3 else ""
        where = "" if not path else f" there, in a {type(value).__qualname__}"
        return Standing(value, f"only {names}{more} can be reached{where}", found, exempt=False)

    def _with_inside(self, value: object) -> list[object]:
        return [value, *self.inside.get(id(value), ())]

    def _missing(self, reached: str, value: object, path: str) -> str:
        cls = type(value)
        if not reached:
            root = path.partition(".")[0].partition("[")[0]
            kind = next((spec.kind for spec in plan_fields(cls) if spec.name == root), None)
            if kind is None:
                return f"{class_name(cls)} has no field {root}"
            return f"{class_name(cls)}.{root} is {kind.value}, not transferable"
        sort = sort_of(value)
        if sort is Sort.ABSENT:
            return f"{reached} was never set" if value is MISSING else f"{reached} is {shown(value)}"
        if sort is Sort.CARRIER:
            return f"{reached} is {program_name(value)}, and a carrier is not opened"
        if issubclass(cls, Mapping):
            return f"{reached} is a {cls.__qualname__} without that key"
        if issubclass(cls, (tuple, list)) and not is_record(cls):
            return f"{reached} is a {cls.__qualname__} of {len(value)}"  # type: ignore[arg-type]
        return f"{reached} is a {cls.__qualname__} without that field"


def _may_be_carrier(node: Node) -> bool:
    return node.sort is Sort.ABSENT or (node.sort is Sort.CARRIER and not is_plain(node.value))


def find(plan: object, path: str) -> object:
    """The carrier at a path of a plan, or `None`."""
    reached, value = follow(plan, path)
    return value if reached == path and sort_of(value) is Sort.CARRIER else None
