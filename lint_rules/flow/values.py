"""Abstract values: what the interpreter knows of an object.

A variable holds a `Val`, a tuple of alternatives (one for each way to get there). Nodes compare by identity, except
constants. The mutable part of a node (attributes, dict entries) lives in the state, so that branches can differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable

    from lint_rules.index.model import ClassInfo, External, FieldInfo, FunctionInfo, Imported, ModuleInfo

__all__ = [
    "GAP",
    "UNKNOWN",
    "AbsentMark",
    "AnyField",
    "AnyName",
    "Attr",
    "Birth",
    "Blank",
    "BoundMethod",
    "Class",
    "Const",
    "Dict",
    "DictView",
    "FieldRef",
    "Function",
    "Item",
    "Module",
    "Native",
    "Node",
    "Obj",
    "Opaque",
    "Param",
    "Partial",
    "Pending",
    "Read",
    "Seq",
    "Super",
    "Val",
    "bare",
    "bare_all",
    "is_blank",
    "join",
    "one",
    "owners",
]


class Node:
    """Base of all abstract values."""

    __slots__ = ()


Val: TypeAlias = tuple[Node, ...]

#: More alternatives than this say nothing any more.
_MOST_ALTERNATIVES = 8


@dataclass(frozen=True, slots=True)
class Const(Node):
    """A literal value."""

    value: Any
    kind: type = type(None)

    @staticmethod
    def of(value: Any) -> Const:
        # True == 1 == 1.0: the type is part of what a constant is.
        return Const(value, type(value))


@dataclass(frozen=True, slots=True)
class Blank(Node):
    """The value of a field that nobody has set: a default, or no value at all."""

    why: Literal["default", "unset", "reset", "missing key", "gap"]


@dataclass(eq=False, slots=True)
class AbsentMark(Node):
    """`Absent(reason)` or `Dropped(field, reason)`."""

    which: Literal["Absent", "Dropped"]
    field_name: str | None = None


@dataclass(eq=False, slots=True)
class Param(Node):
    """A parameter, a global, or another object of which only the name is known.

    `typed` says that an annotation is there, so that a missing `cls` means a class outside the project.
    """

    name: str
    cls: ClassInfo | None = None
    typed: bool = False
    is_global: bool = False
    children: dict[str, Attr] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Attr(Node):
    """The attribute that a symbolic object had to begin with."""

    owner: Node
    name: str
    cls: ClassInfo | None = None
    children: dict[str, Attr] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Item(Node):
    """An element of something that is not known element by element."""

    owner: Node
    cls: ClassInfo | None = None
    children: dict[str, Attr] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Opaque(Node):
    """The result of a call or operator that is not followed.

    `fed` says that an object of interest went in, so that its parts may have come out again. `copies` is the value
    that was copied, where the call is known to make a new object from an old one.
    """

    site: ast.AST | None
    fed: bool
    cls: ClassInfo | None = None
    copies: Val = ()
    children: dict[str, Attr] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Obj(Node):
    """An object that was made in sight: its fields are in the state."""

    cls: ClassInfo
    birth: Birth
    base: Node | None = None
    explicit: dict[str, ast.expr | None] = field(default_factory=dict)
    stated: set[str] = field(default_factory=set)
    superseded: bool = False
    #: The object made in sight that `replace` was given.
    previous: Obj | None = None
    #: Fields that were set by a caller of the function that made it.
    finished: set[str] = field(default_factory=set)
    copied: Birth | None = None
    tainted: bool = False


@dataclass(frozen=True, slots=True)
class Birth:
    """Where something happened: the node itself, and the call or statement of the analysed function that led there."""

    module: ModuleInfo
    node: ast.expr | ast.stmt
    root: ast.expr | ast.stmt
    depth: int
    how: Literal["replace", "construct", "assign", "transfer", "copy", "partial"]


@dataclass(eq=False, slots=True)
class Dict(Node):
    """A dict made in sight: entries are in the state, under their keys."""

    site: ast.AST


@dataclass(eq=False, slots=True)
class DictView(Node):
    """`vars(x)` or `x.__dict__`: reads and writes go to the object."""

    target: Node


@dataclass(eq=False, slots=True)
class Seq(Node):
    """A tuple or list whose elements are known; `complete` is False where there may be more of them."""

    items: tuple[Val, ...]
    complete: bool = True
    mutable: bool = False


@dataclass(eq=False, slots=True)
class AnyName(Node):
    """The name of any field of an object whose class is not known (from a loop over its fields)."""

    target: Node


@dataclass(eq=False, slots=True)
class AnyField(Node):
    """The field of `owner` whose name is an `AnyName`."""

    owner: Node


@dataclass(eq=False, slots=True)
class FieldRef(Node):
    """An element of `dataclasses.fields(target)`; `info` is None where the class is not known."""

    target: Node
    info: FieldInfo | None


@dataclass(eq=False, slots=True)
class Read(Node):
    """A value that was read from an attribute of an object made in sight."""

    owner: Obj
    name: str
    value: Node


@dataclass(eq=False, slots=True)
class Class(Node):
    """A class of the project."""

    cls: ClassInfo


@dataclass(eq=False, slots=True)
class Module(Node):
    """A module of the project."""

    module: ModuleInfo


@dataclass(frozen=True, slots=True)
class Native(Node):
    """Something outside the project, by its full name (`dataclasses.replace`, `builtins.getattr`)."""

    external: External

    @property
    def name(self) -> str:
        return self.external.name


@dataclass(eq=False, slots=True)
class Function(Node):
    """A function of the project with the frame that it closes over."""

    info: FunctionInfo
    closure: Any = None


@dataclass(eq=False, slots=True)
class BoundMethod(Node):
    """A method with its receiver; `function` is None for methods of built-in things (`d.update`)."""

    receiver: Node
    name: str
    function: FunctionInfo | None = None


@dataclass(eq=False, slots=True)
class Partial(Node):
    """`functools.partial(function, ...)`; `open` says that some of its arguments are not known."""

    function: Val
    args: tuple[Val, ...]
    keywords: dict[str, Val]
    expressions: dict[str | int, ast.expr]
    open: bool = False


@dataclass(eq=False, slots=True)
class Super(Node):
    """`super()` in a method of `cls`."""

    cls: ClassInfo
    receiver: Node


@dataclass(eq=False, slots=True)
class Pending(Node):
    """A name that a function imports for itself; it is resolved when it is first looked at."""

    imported: Imported
    name: str
    value: Val | None = None


@dataclass(eq=False, slots=True)
class _Unknown(Node):
    pass


#: Anything.
UNKNOWN: Node = _Unknown()

#: Stands in a field beside other alternatives: on some path nothing was put there.
GAP: Node = Blank("gap")


def one(node: Node) -> Val:
    """A value with a single alternative."""
    return (node,)


def join(parts: Iterable[Val]) -> Val:
    """The alternatives of all parts, each once; too many of them become unknown."""
    found: dict[Node, None] = {}
    for part in parts:
        for node in part:
            found[node] = None
    if len(found) > _MOST_ALTERNATIVES:
        return (UNKNOWN,)
    return tuple(found)


def bare(node: Node) -> Node:
    """The value itself, without the record of where it was read."""
    while isinstance(node, Read):
        node = node.value
    return node


def bare_all(value: Val) -> Val:
    """`bare` of every alternative."""
    return tuple(bare(node) for node in value)


def is_blank(node: Node) -> bool:
    """Whether a field with this value is empty: nothing, None, an empty container, or a planner's `Absent`."""
    node = bare(node)
    if isinstance(node, Blank):
        return True
    if isinstance(node, AbsentMark):
        return node.which == "Absent"
    if isinstance(node, Const):
        return node.value is None or node.value == ()
    return isinstance(node, Seq) and not node.items and node.complete


def owners(node: Node) -> list[Node]:
    """The objects from which a value was taken, the nearest first; empty where it was not taken from an object."""
    found: list[Node] = []
    while True:
        if isinstance(node, Read):
            found.append(node.owner)
            node = node.value
        elif isinstance(node, Attr):
            found.append(node.owner)
            return found
        else:
            return found
