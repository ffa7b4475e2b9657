"""The mutable part of an abstract run: variables and attributes, per path, with a join where paths meet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lint_rules.flow.values import GAP, Attr, Dict, Node, Obj, Val, bare, is_blank, join, owners

if TYPE_CHECKING:
    import ast

    from lint_rules.index.model import ClassInfo, FunctionInfo, ModuleInfo

__all__ = ["OPEN", "REST", "Frame", "State"]


class _Marker:
    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


#: Key of a dict's slots: the objects whose attributes fill every key that is not given by name.
REST: Any = _Marker("REST")

#: Key of a dict's or object's slots: there may be entries of which nothing is known.
OPEN: Any = _Marker("OPEN")


@dataclass(eq=False, slots=True)
class Frame:
    """One activation of a function, or of a module's top level."""

    module: ModuleInfo
    info: FunctionInfo | None
    parent: Frame | None
    depth: int
    owner: ClassInfo | None = None
    receiver: Node | None = None
    root: ast.expr | ast.stmt | None = None
    returns: list[tuple[Val, State, ast.stmt | ast.expr]] = field(default_factory=list)
    local_functions: list[tuple[Node, State]] = field(default_factory=list)
    global_names: set[str] = field(default_factory=set)


class State:
    """Slots of frames, objects and dicts on one path. Copies share what neither side has written since."""

    __slots__ = ("_owned", "absent", "alive", "slots")

    def __init__(self) -> None:
        self.slots: dict[Any, dict[Any, Val]] = {}
        self._owned: set[Any] = set()
        #: Attributes that a test on this path has found to be None or `Absent`.
        self.absent: frozenset[Node] = frozenset()
        self.alive = True

    def copy(self) -> State:
        twin = State()
        twin.slots = dict(self.slots)
        twin.absent = self.absent
        twin.alive = self.alive
        self._owned = set()
        return twin

    def become(self, other: State) -> None:
        self.slots, self.absent, self.alive = other.slots, other.absent, other.alive
        self._owned = set()
        other._owned = set()

    def read(self, key: Any, name: Any) -> Val | None:
        inner = self.slots.get(key)
        return inner.get(name) if inner is not None else None

    def entries(self, key: Any) -> dict[Any, Val]:
        return self.slots.get(key, {})

    def writable(self, key: Any) -> dict[Any, Val]:
        if key not in self._owned:
            self.slots[key] = dict(self.slots.get(key, {}))
            self._owned.add(key)
        return self.slots[key]

    def write(self, key: Any, name: Any, value: Val) -> None:
        self.writable(key)[name] = value

    def merge(self, other: State) -> None:
        """Become the join of this path and another one; a path that has ended counts for nothing."""
        if not other.alive:
            return
        if not self.alive:
            self.become(other)
            return
        slots: dict[Any, dict[Any, Val]] = dict(other.slots)
        for key, mine in self.slots.items():
            theirs = other.slots.get(key)
            slots[key] = mine if theirs is None or theirs is mine else self._merge_slot(key, mine, theirs, other)
        self.slots = slots
        self._owned = set()
        self.absent &= other.absent

    def _merge_slot(self, key: Any, mine: dict[Any, Val], theirs: dict[Any, Val], other: State) -> dict[Any, Val]:
        merged: dict[Any, Val] = {}
        for name in {**mine, **theirs}:
            left, right = mine.get(name), theirs.get(name)
            if left is None or right is None:
                present = left if right is None else right
                lacking = other if right is None else self
                assert present is not None
                if isinstance(key, Node) and not isinstance(key, Dict) and not _excused(lacking, name, present):
                    present = join([present, (GAP,)])
                merged[name] = present
            elif left is right or left == right:
                merged[name] = left
            elif isinstance(key, Obj):
                merged[name] = self._merge_field(name, left, right, other)
            else:
                merged[name] = join([left, right])
        return merged

    def _merge_field(self, name: Any, left: Val, right: Val, other: State) -> Val:
        left_blank, right_blank = all(map(is_blank, left)), all(map(is_blank, right))
        if left_blank == right_blank:
            return join([left, right])
        present, lacking = (right, self) if left_blank else (left, other)
        return present if _excused(lacking, name, present) else join([present, (GAP,)])


def _excused(lacking: State, name: Any, present: Val) -> bool:
    """Whether the path that did not set a field knows that there is nothing to set it from."""
    if not lacking.absent:
        return False
    if any(isinstance(node, Attr) and node.name == name for node in lacking.absent):
        return True
    return any(bare(source) in lacking.absent for node in present for source in (node, *owners(node)))
