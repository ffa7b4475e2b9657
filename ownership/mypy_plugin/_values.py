"""What the analysis knows of a value, and of all variables at one point of a function.

A variable holds a `Val`, a tuple of alternatives: one for each way to get there. What is mutable of a plan made in
sight, its fields, lies in the `State`, so that branches can differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

if TYPE_CHECKING:
    from mypy.nodes import Context, Expression, FuncItem, TypeInfo

__all__ = [
    "GAP",
    "UNKNOWN",
    "Blank",
    "Bound",
    "Class",
    "Constant",
    "Entries",
    "Function",
    "Made",
    "Node",
    "Obj",
    "Root",
    "Seq",
    "State",
    "Stated",
    "Taken",
    "Val",
    "absence_of",
    "flag_of",
    "info_of",
    "is_blank",
    "join",
]

K = TypeVar("K")
V = TypeVar("V")

#: More alternatives than this say nothing any more.
_MOST_ALTERNATIVES = 8


class Node:
    """Base of the values."""

    __slots__ = ()


Val: TypeAlias = tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Root(Node):
    """An object that was there before: a parameter, a global, an attribute of one. `text` is how it is written.

    `known` says that mypy has a type for it: without one, nothing is concluded from the class that is missing.
    """

    text: str
    info: TypeInfo | None = field(default=None, compare=False)
    known: bool = field(default=True, compare=False)


@dataclass(frozen=True, slots=True)
class Taken(Node):
    """The attribute `name` of another object."""

    owner: Node
    name: str
    info: TypeInfo | None = field(default=None, compare=False)
    known: bool = field(default=True, compare=False)

    @property
    def text(self) -> str:
        return f"{getattr(self.owner, 'text', '')}.{self.name}".lstrip(".")


@dataclass(eq=False, slots=True)
class Made(Node):
    """The result of a call that is not followed.

    `fed`: an object of interest went in, so it may have come out again. `copies`: the call is known to make a new
    object from an old one.
    """

    text: str
    fed: bool
    info: TypeInfo | None = None
    known: bool = True
    copies: bool = False
    #: What a constructor of another class was given, and may hold.
    parts: tuple[Val, ...] = ()
    #: The object whose attribute, or which as a whole, was copied.
    origin: Node | None = None


@dataclass(eq=False, slots=True)
class Obj(Node):
    """A plan that was made in sight; the state has its fields.

    `base`: the plan that has what was not named (`replace(prepared, ...)`). `open`: fields may have been set out of
    sight, by `**unknown` or by a function that was given both this object and a source. `site`: the first call or
    statement that took something from another object. `planned`: a function outside made it; a field that nobody put
    back is what the planner left there.
    """

    info: TypeInfo
    node: Context
    how: Literal["plan", "construct", "replace", "transfer"]
    base: Node | None = None
    site: Context | None = None
    #: The frame of the site: sources are called by the names that they have there, whoever called it.
    where: object = None
    puts_back: bool = False
    planned: bool = False
    explicit: set[str] = field(default_factory=set)
    #: The fields that the last call or assignment named.
    named: set[str] = field(default_factory=set)
    open: bool = False
    superseded: bool = False
    text: str = ""
    #: Attributes that were known to hold no carrier where this was made.
    absent: frozenset[Node] = frozenset()


@dataclass(frozen=True, slots=True)
class Blank(Node):
    """No carrier: a default, `None`, an empty container, the `Absent` of a planner; `why` is for the message."""

    why: str


@dataclass(eq=False, slots=True)
class Stated(Node):
    """`Absent(...)` or `Dropped(...)`, written out; `field_name` is the first argument of a `Dropped`."""

    which: Literal["Absent", "Dropped"]
    field_name: str | None = None


@dataclass(eq=False, slots=True)
class Seq(Node):
    """A tuple or list that is written out."""

    items: tuple[Val, ...]


@dataclass(eq=False, slots=True)
class Entries(Node):
    """A dict with known string keys; the state has its entries. `of`: the plan whose fields it has (`vars(plan)`)."""

    of: Node | None = None
    copies: bool = False
    open: bool = False


@dataclass(frozen=True, slots=True)
class Constant(Node):
    """A value that is written out: the name of a field in a loop over names, a flag."""

    value: str | bool


@dataclass(frozen=True, slots=True)
class Class(Node):
    """A class, as a value."""

    info: TypeInfo


@dataclass(eq=False, slots=True)
class Bound(Node):
    """`partial(Plan, ...)`: a class and arguments of its constructor: name, expression and value."""

    info: TypeInfo
    given: tuple[tuple[str | None, Expression, Val], ...]


@dataclass(eq=False, slots=True)
class Function(Node):
    """A function defined inside the analysed one."""

    node: FuncItem


@dataclass(eq=False, slots=True)
class _Unknown(Node):
    pass


#: Anything.
UNKNOWN: Node = _Unknown()
#: Stands in a field beside other alternatives: on some path nothing was put there.
GAP: Node = Blank("on one path it is never put there")


def join(parts: Iterable[Val]) -> Val:
    """The alternatives of all parts, each once; too many of them become unknown."""
    found = dict.fromkeys(node for part in parts for node in part)
    return tuple(found) if len(found) <= _MOST_ALTERNATIVES else (UNKNOWN,)


def flag_of(value: Val) -> bool | None:
    """The truth of a value that is a flag written out."""
    constants = {part.value for part in value if isinstance(part, Constant)}
    if len(constants) != 1 or not all(isinstance(part, Constant) for part in value):
        return None
    flag = constants.pop()
    return flag if isinstance(flag, bool) else None


def is_blank(node: Node) -> bool:
    """Whether a field with this value holds no carrier."""
    return (
        isinstance(node, Blank)
        or (isinstance(node, Stated) and node.which == "Absent")
        or (isinstance(node, Seq) and not node.items)
    )


def absence_of(info: TypeInfo | None) -> Stated | None:
    """The value of something whose class is `Absent` or `Dropped`."""
    if info is None or info.module_name != "ownership.absence":
        return None
    return Stated("Dropped" if info.name == "Dropped" else "Absent")


def info_of(node: Node) -> TypeInfo | None:
    """The class of a value, if it is known."""
    return node.info if isinstance(node, Root | Taken | Made | Obj) else None


class State:
    """The variables (by frame and name), and the fields of what was made in sight, at one point of a function.

    Copies share the fields until one of them writes: a function with many branches has many copies.
    """

    __slots__ = ("_own", "absent", "dead", "dotted", "names", "slots")

    def __init__(self) -> None:
        self.names: dict[tuple[int, str], Val] = {}
        #: Those of them that are attributes, `engine.plan`.
        self.dotted: frozenset[tuple[int, str]] = frozenset()
        #: Read it; `entries` is what to write to.
        self.slots: dict[Node, dict[str, Val]] = {}
        #: What has fields that are shared with no other state.
        self._own: set[Node] = set()
        #: Attributes that this path has found to hold no carrier.
        self.absent: frozenset[Node] = frozenset()
        #: Nothing runs here: the path has returned or raised.
        self.dead = False

    def copy(self) -> State:
        new = State()
        new.names = dict(self.names)
        new.dotted = self.dotted
        new.slots = dict(self.slots)
        new.absent = self.absent
        new.dead = self.dead
        self._own = set()
        return new

    def become(self, other: State) -> None:
        self.names, self.slots, self.absent, self.dead = other.names, other.slots, other.absent, other.dead
        self.dotted = other.dotted
        self._own = set()

    def entries(self, node: Node) -> dict[str, Val]:
        """The fields of an object, to be written to before the state is copied."""
        if node not in self._own:
            self.slots[node] = dict(self.slots.get(node, {}))
            self._own.add(node)
        return self.slots[node]

    @staticmethod
    def merge(parts: list[State]) -> State:
        """The state after branches that come together."""
        alive = [part for part in parts if not part.dead]
        if not alive:
            return parts[0]
        if len(alive) == 1:
            return alive[0]
        new = State()
        new.absent = frozenset.intersection(*(part.absent for part in alive))
        new.dotted = frozenset.union(*(part.dotted for part in alive))
        new.names, different = _common([part.names for part in alive])
        for key in different:
            new.names[key] = join(part.names[key] for part in alive if key in part.names)
        new.slots, objects = _common([part.slots for part in alive])
        for node in objects:
            new.slots[node] = _merged(node, [part for part in alive if node in part.slots])
        return new


def _common(parts: list[dict[K, V]]) -> tuple[dict[K, V], dict[K, None]]:
    """The entries of all dicts, and the keys under which they do not have the same object: mostly, they do."""
    found = dict(parts[0])
    different: dict[K, None] = {}
    for part in parts[1:]:
        for key, value in part.items():
            if found.setdefault(key, value) is not value:
                different[key] = None
    return found, different


def _merged(node: Node, having: list[State]) -> dict[str, Val]:
    """The fields of an object after branches that have set different ones."""
    entries: dict[str, Val] = {}
    for name in dict.fromkeys(name for part in having for name in part.slots[node]):
        values = []
        for part in having:
            value = part.slots[node].get(name)
            if value is None:
                # A path that has found out that there is nothing to carry leaves no gap.
                known = any(isinstance(fact, Taken) and fact.name == name for fact in part.absent)
                value = (UNKNOWN,) if known else (GAP,)
            values.append(value)
        entries[name] = join(values)
    return entries
