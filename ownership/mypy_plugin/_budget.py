"""How much work one look at a function may be, and which of the looks that mypy gives occasion to are needed.

mypy calls the plugin at each call that makes a plan, and each time the whole function is looked at, with the types that
are known by then. In a function with hundreds of such calls most of the looks can be left out.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from mypy.nodes import CallExpr, MemberExpr, NameExpr, RefExpr

from ownership.mypy_plugin._walk import nodes

if TYPE_CHECKING:
    from mypy.nodes import Context, Node

__all__ = ["Budget", "Occasions", "OverBudgetError", "Schedule"]

#: Expressions and statements that one look at a function may evaluate: one to three seconds.
_MOST_STEPS = 400_000
#: A function that has cost less than this, in all its looks, is looked at on every occasion.
_CHEAP_STEPS = 5_000
#: The last occasions of a function are never left out.
_LAST = 3


class OverBudgetError(Exception):
    """A function is too large to be followed to its end."""

    def __init__(self, *, limit: int) -> None:
        self.limit = limit
        super().__init__(f"it takes more than {limit:,} steps")


class Budget:
    """Counts the steps of one look."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = _MOST_STEPS if limit is None else limit
        self.spent = 0

    def spend(self, steps: int = 1) -> None:
        """Count steps.

        Raises:
            OverBudgetError: there were too many.

        """
        self.spent += steps
        if self.spent > self.limit:
            raise OverBudgetError(limit=self.limit)


class Occasions:
    """The occasions to look at one function: those that were, and those that are still to come."""

    def __init__(self, scope: Node) -> None:
        self._scope = scope
        self._places: list[tuple[int, int]] = []
        self._callees: set[str] = set()
        #: The steps of all looks so far.
        self.spent = 0
        #: What to say where a look has failed: until mypy begins again, the next ones would fail, too.
        self.failure: str | None = None
        self._last = (0, 0)

    def is_needed(self, context: Context) -> bool:
        """Whether to look now. Of many occasions, the 4th, 8th, 16th and so on from the end are enough."""
        place = (context.line, context.column)
        if place <= self._last:
            self.failure = None
        self._last = place
        if self.failure is not None:
            return False
        if self.spent <= _CHEAP_STEPS:
            return True
        callee = _callee(context)
        if callee is not None and callee not in self._callees:
            self._callees.add(callee)
            self._places = sorted(
                (node.line, node.column) for node in nodes(self._scope) if _callee(node) in self._callees
            )
        left = len(self._places) - bisect_right(self._places, place)
        return left <= _LAST or left & (left - 1) == 0


class Schedule:
    """The occasions of the functions that mypy is in; forgotten as soon as it comes to another one.

    The daemon rewrites its trees in place, so they belong to one check of one text of a module: `run` says which.
    """

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._known: dict[Node, Occasions] = {}

    def occasions(self, run: tuple[object, ...], outermost: Node, scope: Node) -> Occasions:
        """Those of `scope`, a function inside of `outermost` or itself."""
        key = (*run, outermost)
        if len(key) != len(self._key) or any(one is not other for one, other in zip(key, self._key, strict=True)):
            self._key, self._known = key, {}
        known = self._known.get(scope)
        if known is None:
            known = self._known[scope] = Occasions(scope)
        return known


def _callee(node: object) -> str | None:
    """What is called, by its full name if it has one."""
    if not isinstance(node, CallExpr):
        return None
    callee = node.callee
    if isinstance(callee, RefExpr) and callee.fullname:
        return callee.fullname
    return f".{callee.name}" if isinstance(callee, NameExpr | MemberExpr) else None
