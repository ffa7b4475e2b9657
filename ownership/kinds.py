"""The kinds of a plan's fields: what each field is, and what may happen to it when a plan is made from another one.

    @plan
    @dataclass(frozen=True)
    class ScratchPlan:
        rows: Fact[int]
        fold: Transferable[Launcher | Absent]

Each alias is `Annotated[T, Kind.X]`, so a type checker and the running program see plain `T`. The aliases are generic
on purpose: a type checker's plugin can follow a generic alias through modules and caches, while the mark of one that is
not (`Launch = Transferable[Launcher]`) is lost; `@plan` refuses those. `Annotated[T, Kind.TRANSFERABLE]` written out
is accepted as well.

This module imports nothing else of the package: the checker in `lint_rules` reads it.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, TypeVar

__all__ = ["Borrowed", "Derived", "Ephemeral", "Fact", "Kind", "Transferable"]

T = TypeVar("T")


class Kind(Enum):
    """What a field of a plan is.

    A member is the mark inside `Annotated`. Members are singletons: copies and pickles give the same object back.
    """

    TRANSFERABLE = "transferable"
    FACT = "fact"
    DERIVED = "derived"
    BORROWED = "borrowed"
    EPHEMERAL = "ephemeral"

    @property
    def transferable(self) -> bool:
        """Whether the value must reach every plan that is made from this one, as the same object."""
        return self is Kind.TRANSFERABLE

    @property
    def alias(self) -> str:
        """The name of the alias that gives a field this kind, `"Transferable"` for example."""
        return self.value.capitalize()

    @property
    def contract(self) -> str:
        """What holds for a field of this kind, in one sentence or two."""
        return _CONTRACTS[self]


_CONTRACTS = {
    Kind.TRANSFERABLE: (
        "Identity is kept: every plan made from this one holds the same object. "
        "No default value; absence is Absent(reason), never None."
    ),
    Kind.FACT: "A declared value, compared by ==; it travels with the declaration.",
    Kind.DERIVED: (
        "Recomputed from facts by a named pure function; "
        "a materializer may compute it again and must get an equal value."
    ),
    Kind.BORROWED: "The caller's storage; it lives in a binding, never in a plan that outlives the call or the graph.",
    Kind.EPHEMERAL: "A counter, cache or log: it may be lost at any time and is never carried over.",
}

#: The value must reach every plan made from this one, the same object. See `Kind.TRANSFERABLE`.
Transferable = Annotated[T, Kind.TRANSFERABLE]
#: A declared value. See `Kind.FACT`.
Fact = Annotated[T, Kind.FACT]
#: A value computed from facts. See `Kind.DERIVED`.
Derived = Annotated[T, Kind.DERIVED]
#: The caller's storage. See `Kind.BORROWED`.
Borrowed = Annotated[T, Kind.BORROWED]
#: A counter, cache or log. See `Kind.EPHEMERAL`.
Ephemeral = Annotated[T, Kind.EPHEMERAL]
