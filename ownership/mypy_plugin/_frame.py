"""One function under analysis: its variables, what it was given, what it made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mypy.nodes import FuncItem

from ownership.mypy_plugin._values import UNKNOWN, Val

if TYPE_CHECKING:
    from mypy.nodes import Context

    from ownership.mypy_plugin._values import Node, Obj, State

__all__ = ["Exit", "Frame", "Rebinding"]


@dataclass(frozen=True, slots=True)
class Exit:
    """Where a path ends, with what it returns and what was known there."""

    node: Context
    value: Val
    state: State
    returns: bool


@dataclass(frozen=True, slots=True)
class Rebinding:
    """An attribute that is set on an object which the function did not make."""

    target: Node
    name: str
    value: Val
    node: Context


@dataclass(eq=False, slots=True)
class Frame:
    """A call of a function: the outermost is the one that is judged, the others were followed into."""

    function: FuncItem | None
    depth: int = 0
    parent: Frame | None = None
    #: The arguments that are plans.
    sources: list[Node] = field(default_factory=list)
    made: list[Obj] = field(default_factory=list)
    exits: list[Exit] = field(default_factory=list)
    rebound: list[Rebinding] = field(default_factory=list)

    def key(self, name: str) -> tuple[int, str]:
        return (id(self), name)

    def lookup(self, name: str, state: State) -> Val | None:
        """The value of a variable of this function, or of one around it."""
        frame: Frame | None = self
        while frame is not None:
            value = state.names.get(frame.key(name))
            if value is not None:
                return value
            frame = frame.parent
        return None

    def owner_of(self, name: str, state: State) -> Frame:
        """The frame that has the variable; this one if none has."""
        frame: Frame | None = self
        while frame is not None:
            if frame.key(name) in state.names:
                return frame
            frame = frame.parent
        return self

    def result(self) -> Val:
        """What the function returns, over all paths."""
        found = dict.fromkeys(node for each in self.exits if each.returns for node in each.value)
        return tuple(found) or (UNKNOWN,)
