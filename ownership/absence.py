"""Absence that says why: `Absent(reason)` where a carrier is not there, `Dropped(field, reason)` where it was given up.

Both stand as the value of a transferable field, in place of `None`. A `Dropped` is an `Absent`: code that has asked
`isinstance(plan.pack, Absent)` has covered both, and a field of type `Launcher | Absent` takes either.

Neither has a truth value. Were they false, `plan.pack or compile_pack()` would quietly resolve a program after the
freeze; were they true, `if plan.pack:` would take the branch that launches. Both spellings raise instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ownership.errors import AbsentTruthError, EmptyReasonError

__all__ = ["Absent", "Dropped", "is_absent"]


class Absent:
    """Stands for a carrier that is not there, and says why.

    Immutable, hashable and equal to another `Absent` with the same reason.

    Raises:
        EmptyReasonError: `reason` is not a string, or has nothing but white space in it.
        AbsentTruthError: it is used as a condition; ask `isinstance(value, Absent)`.

    """

    __slots__ = ("_reason",)
    __match_args__: tuple[str, ...] = ("reason",)

    _reason: str

    def __init__(self, reason: str) -> None:
        if not isinstance(reason, str) or not reason.strip():
            raise EmptyReasonError(given=reason, owner=type(self))
        object.__setattr__(self, "_reason", reason)

    @property
    def reason(self) -> str:
        """Why the carrier is not there."""
        return self._reason

    def _values(self) -> tuple[str, ...]:
        return (self._reason,)

    def __bool__(self) -> bool:
        raise AbsentTruthError(value=self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Absent) or type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._values()))})"

    if not TYPE_CHECKING:  # to a type checker, a `__setattr__` means that any attribute can be set

        def __setattr__(self, name: str, value: object) -> None:
            raise AttributeError(f"cannot set {name!r}: {type(self).__name__} is immutable")

        def __delattr__(self, name: str) -> None:
            raise AttributeError(f"cannot delete {name!r}: {type(self).__name__} is immutable")

    def __reduce__(self) -> tuple[type[Absent], tuple[str, ...]]:
        return type(self), self._values()


class Dropped(Absent):
    """Stands for a carrier that the source had and that was given up on purpose.

    `field` is the name of the transferable field of the source. A materializer whose result has this value in that
    field is not in error.

    Raises:
        EmptyReasonError: `field` or `reason` is not a string, or has nothing but white space in it.

    """

    __slots__ = ("_field",)
    __match_args__ = ("field", "reason")

    _field: str

    def __init__(self, field: str, reason: str) -> None:
        if not isinstance(field, str) or not field.strip():
            raise EmptyReasonError(given=field, owner=type(self), argument="field")
        super().__init__(reason)
        object.__setattr__(self, "_field", field)

    @property
    def field(self) -> str:
        """The transferable field of the source that was given up."""
        return self._field

    def _values(self) -> tuple[str, ...]:
        return (self._field, self._reason)


def is_absent(value: object) -> bool:
    """Whether a transferable field with this value holds no carrier: `Absent`, `Dropped`, or `None`.

    `None` is how a plan that is generic in its bundle says "not prepared yet" (`Plan[None]`).
    """
    return value is None or isinstance(value, Absent)
