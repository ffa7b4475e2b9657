"""The arguments of a call, and how they meet the parameters of a function or the fields of a class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lint_rules.flow.values import Val

if TYPE_CHECKING:
    import ast

__all__ = ["Arguments"]


@dataclass(slots=True)
class Arguments:
    """Evaluated arguments.

    `rest` are objects whose attributes fill every keyword that is not named (`**vars(x)`); `open_positional` and
    `open_keywords` say that there may be arguments of which nothing is known. `expressions` has the source of a
    keyword or position, where it was written out in this call.
    """

    positional: list[Val] = field(default_factory=list)
    keywords: dict[str, Val] = field(default_factory=dict)
    rest: Val = ()
    open_positional: bool = False
    open_keywords: bool = False
    expressions: dict[str | int, ast.expr] = field(default_factory=dict)

    def every(self) -> list[Val]:
        return [*self.positional, *self.keywords.values(), *([self.rest] if self.rest else [])]

    def get(self, position: int, name: str) -> Val | None:
        """The argument at a position, or under a name."""
        if name in self.keywords:
            return self.keywords[name]
        return self.positional[position] if position < len(self.positional) else None

    def shifted(self, count: int) -> Arguments:
        """The same without the first positional arguments."""
        expressions: dict[str | int, ast.expr] = {}
        for key, expression in self.expressions.items():
            if isinstance(key, str):
                expressions[key] = expression
            elif key >= count:
                expressions[key - count] = expression
        return Arguments(
            self.positional[count:], self.keywords, self.rest, self.open_positional, self.open_keywords, expressions
        )

    def after(self, positional: tuple[Val, ...], keywords: dict[str, Val]) -> Arguments:
        """The same behind arguments that were given earlier, as `functools.partial` does."""
        shift = len(positional)
        expressions: dict[str | int, ast.expr] = {
            key + shift if isinstance(key, int) else key: expression for key, expression in self.expressions.items()
        }
        return Arguments(
            [*positional, *self.positional],
            {**keywords, **self.keywords},
            self.rest,
            self.open_positional,
            self.open_keywords,
            expressions,
        )
