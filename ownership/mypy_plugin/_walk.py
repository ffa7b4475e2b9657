"""Walking a tree of mypy's nodes: its own visitors are compiled, and cannot be subclassed from here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy.nodes import CallExpr, MemberExpr, NameExpr, Node

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["is_called", "nodes"]

#: The attributes that hold what is written inside a node; others lead to definitions elsewhere.
_CHILDREN = (
    *("defs", "body", "else_body", "finally_body", "handlers", "bodies", "func", "items", "expr", "lvalues", "rvalue"),
    *("lvalue", "index", "base", "callee", "args", "left", "right", "operands", "left_expr", "sequences", "condlists"),
    *("key", "value", "cond", "if_expr", "else_expr", "generator", "from_expr", "target", "subject", "guards", "msg"),
)


def is_called(name: str, tree: Node, *, outside: Node) -> bool:
    """Whether something of this name is called anywhere in the tree but in `outside`."""
    return any(
        isinstance(node, CallExpr) and isinstance(node.callee, NameExpr | MemberExpr) and node.callee.name == name
        for node in nodes(tree, outside=outside)
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
            waiting.extend(getattr(item, name, None) for name in _CHILDREN)
