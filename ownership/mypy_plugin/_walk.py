"""Walking a tree of mypy's nodes: its own visitors are compiled, and cannot be subclassed from here."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mypy.nodes import CallExpr, MemberExpr, NameExpr, Node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy.nodes import MypyFile, Statement

__all__ = ["CalledNames", "nodes"]

#: The attributes that hold what is written inside a node; others lead to definitions elsewhere.
_CHILDREN = (
    *("defs", "body", "else_body", "finally_body", "handlers", "bodies", "func", "items", "expr", "lvalues", "rvalue"),
    *("lvalue", "index", "base", "callee", "args", "left", "right", "operands", "left_expr", "sequences", "condlists"),
    *("key", "value", "cond", "if_expr", "else_expr", "generator", "from_expr", "target", "subject", "guards", "msg"),
)
#: Those of them that a class of nodes has.
_CHILDREN_OF: dict[type[Node], tuple[str, ...]] = {}


class CalledNames:
    """How often something of a name is called in the module that mypy is at.

    Counted once for each list of a module's statements: the daemon keeps the module, but reads it into a new list.
    """

    def __init__(self) -> None:
        self._statements: list[Statement] = []
        self._counts: Counter[str] = Counter()

    def is_called(self, name: str, tree: MypyFile, *, outside: Node) -> bool:
        """Whether something of this name is called anywhere in the module but in `outside`."""
        if tree.defs is not self._statements:
            self._statements, self._counts = tree.defs, _called(tree)
        return self._counts[name] > 0 and self._counts[name] > _called(outside)[name]


def _called(tree: Node) -> Counter[str]:
    return Counter(
        node.callee.name
        for node in nodes(tree)
        if isinstance(node, CallExpr) and isinstance(node.callee, NameExpr | MemberExpr)
    )


def nodes(tree: Node, *, outside: Node | None = None) -> Iterator[Node]:
    """Every node of the tree, in no particular order; `outside` and what it holds are left out."""
    waiting: list[object] = [tree]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list | tuple):
            waiting.extend(item)
        elif isinstance(item, Node) and item is not outside:
            yield item
            names = _CHILDREN_OF.get(type(item))
            if names is None:
                names = tuple(name for name in _CHILDREN if hasattr(type(item), name) or hasattr(item, name))
                _CHILDREN_OF[type(item)] = names
            waiting.extend(getattr(item, name, None) for name in names)
