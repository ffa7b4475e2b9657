"""What can go wrong with plans: one class a mistake, each carrying the objects concerned.

What can go wrong with carriers, maps of them and ledgers is in `ownership.ledger_errors`.

A message says what was given, what was wanted and what to do. Attributes hold classes and values themselves, so that a
caller (or a debugger) can look at them.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ownership.kinds import Kind

__all__ = [
    "AbsentTruthError",
    "AliasedMarkError",
    "ConflictingKindError",
    "DefaultedTransferableError",
    "DroppedFieldError",
    "EmptyReasonError",
    "KindChangedError",
    "LeakedFieldError",
    "MisnamedDropError",
    "MissingInitVarError",
    "MissingSourceFieldError",
    "NotAMaterializerError",
    "NotAPlanError",
    "NotARecordError",
    "OwnershipError",
    "RebuiltFieldError",
    "UnknownFieldError",
    "UnmarkedFieldError",
]

_KINDS = "Transferable[T], Fact[T], Derived[T], Borrowed[T] or Ephemeral[T]"


class OwnershipError(Exception):
    """The base of every error of this package."""

    def __reduce__(self) -> tuple[Any, ...]:
        # The default calls the class with the message, which the keyword-only constructors below do not take.
        return _again, (type(self), self.args), self.__dict__


def _again(cls: type[OwnershipError], args: tuple[Any, ...]) -> OwnershipError:
    return cls.__new__(cls, *args)


def class_name(cls: object) -> str:
    """The dotted name of a class, for a message."""
    if not isinstance(cls, type):
        return repr(cls)
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


def shown(value: object) -> str:
    """A short, harmless description of a value: the `repr` of a carrier or a tensor can be long, or do work."""
    from ownership.absence import Absent

    if value is None or issubclass(type(value), (Absent, bool, int, float, str)):
        text = repr(value)
        return text if len(text) <= 100 else f"{text[:97]}..."
    name = None
    with suppress(Exception):  # an attribute of a carrier may be computed
        name = getattr(value, "__qualname__", None)
    if isinstance(name, str):
        return f"<{type(value).__name__} {name}>"
    return f"<{class_name(type(value))} object at {id(value):#x}>"


class NotARecordError(OwnershipError, TypeError):
    """`@plan` was put on something that is neither a dataclass, an attrs class nor a NamedTuple."""

    def __init__(self, *, given: object) -> None:
        self.given = given
        super().__init__(
            f"@plan was given {class_name(given)}, which is not a dataclass, an attrs class or a NamedTuple (yet). "
            "Put @plan above @dataclass: decorators are applied from the bottom up."
        )


class _DeclarationError(OwnershipError, TypeError):
    """A field is declared wrongly. `owner` declares it, `plan` is the class that was being made a plan."""

    def __init__(self, message: str, *, field: str, owner: type, plan: type) -> None:
        self.field = field
        self.owner = owner
        self.plan = plan
        where = "" if owner is plan else f" (inherited by the plan {class_name(plan)})"
        super().__init__(f"{class_name(owner)}.{field}{where} {message}")


class UnmarkedFieldError(_DeclarationError):
    """A field of a plan has no kind (OWN002)."""

    def __init__(self, *, field: str, owner: type, plan: type, annotation: object, hint: str = "") -> None:
        self.annotation = annotation
        text = annotation if isinstance(annotation, str) else getattr(annotation, "__qualname__", repr(annotation))
        have = "has no annotation" if annotation is None else f"is annotated {text}, which gives it no kind"
        advice = hint or f"Mark it: {_KINDS}, around the whole type."
        super().__init__(f"{have}. There is no default kind. {advice}", field=field, owner=owner, plan=plan)


class DefaultedTransferableError(_DeclarationError):
    """A transferable field has a default, so a call that forgets it goes unnoticed (OWN003)."""

    def __init__(self, *, field: str, owner: type, plan: type) -> None:
        super().__init__(
            "is transferable and has a default: a constructor call that forgets it would pass in silence. "
            "Remove the default, and let callers say Absent(reason) where there is nothing to carry.",
            field=field,
            owner=owner,
            plan=plan,
        )


class AliasedMarkError(_DeclarationError):
    """A field is marked through a non-generic alias, which type checkers see through: the mark is lost on them."""

    def __init__(self, *, field: str, owner: type, plan: type, alias: str, kind: Kind) -> None:
        self.alias = alias
        self.kind = kind
        super().__init__(
            f"is marked through {alias}, an alias that is not generic; checkers replace it by its value and lose the "
            f"mark. Write {kind.alias}[...] in the annotation itself and let the alias name only the type inside.",
            field=field,
            owner=owner,
            plan=plan,
        )


class ConflictingKindError(_DeclarationError):
    """A field has several kinds: nested marks, or a subclass that declares an inherited field with another kind."""

    def __init__(self, *, field: str, owner: type, plan: type, kinds: Iterable[Kind]) -> None:
        self.kinds = tuple(kinds)
        names = " and ".join(kind.alias for kind in self.kinds)
        super().__init__(
            f"has more than one kind: {names}. A field has one kind, and keeps it in subclasses. Keep one of them.",
            field=field,
            owner=owner,
            plan=plan,
        )


class NotAPlanError(OwnershipError, TypeError):
    """A plan was wanted and something else was given."""

    def __init__(self, *, given: object, wanted: str, function: str) -> None:
        self.given = given
        self.wanted = wanted
        self.function = function
        what = f"the class {class_name(given)}" if isinstance(given, type) else shown(given)
        super().__init__(
            f"{function} was given {what}; wanted: {wanted}. Declare the class with @plan above @dataclass."
        )


class NotAMaterializerError(OwnershipError, TypeError):
    """`@materializer` was put on something whose result cannot be checked when it returns."""

    def __init__(self, *, given: object, problem: str) -> None:
        self.given = given
        super().__init__(
            f"@materializer was given {getattr(given, '__qualname__', None) or shown(given)}, which {problem}. "
            "Wanted: a function, method or coroutine function that returns the plan. Decorate the one that builds it."
        )


class EmptyReasonError(OwnershipError, ValueError):
    """An `Absent` or `Dropped` without words: the reason (or the field's name) must be a string that says something."""

    def __init__(self, *, given: object, owner: type, argument: str = "reason") -> None:
        self.given = given
        self.argument = argument
        super().__init__(
            f"{owner.__name__} was given {argument}={shown(given)}; wanted: a string with something in it. "
            + ("Say why the carrier is not there." if argument == "reason" else "Name the field that is given up.")
        )


class AbsentTruthError(OwnershipError, TypeError):
    """An `Absent` was used as a condition."""

    def __init__(self, *, value: object) -> None:
        self.value = value
        super().__init__(
            f"{value!r} was used as a condition; a carrier that is not there is neither true nor false, and "
            "`x or compile()` would resolve in silence. Ask isinstance(value, Absent)."
        )


class UnknownFieldError(OwnershipError, TypeError):
    """`transfer` was given a keyword that is no field of the target."""

    def __init__(self, *, name: str, target: type, known: Iterable[str]) -> None:
        self.name = name
        self.target = target
        self.known = tuple(known)
        super().__init__(
            f"transfer() was given {name}=..., and {class_name(target)} has no such field; "
            f"it has {', '.join(self.known)}. Correct the name, or leave the keyword out."
        )


class MissingSourceFieldError(OwnershipError):
    """The source never set one of its transferable fields."""

    def __init__(self, *, field: str, source: type) -> None:
        self.field = field
        self.source = source
        super().__init__(
            f"transfer() cannot carry {field}: the source, a {class_name(source)}, never set it. "
            f"Set it in __post_init__, to Absent(reason) if there is no carrier yet, or pass {field}=... here."
        )


class MissingInitVarError(OwnershipError, TypeError):
    """The target's constructor needs the value of an `InitVar`, which no plan remembers."""

    def __init__(self, *, name: str, target: type) -> None:
        self.name = name
        self.target = target
        super().__init__(
            f"transfer() builds a new {class_name(target)}, whose InitVar {name} has no default and is stored nowhere. "
            f"Pass {name}=... to transfer()."
        )


class MisnamedDropError(OwnershipError, ValueError):
    """A `Dropped` stands in a field other than the one it names."""

    def __init__(self, *, field: str, dropped: object, target: type, function: str) -> None:
        self.field = field
        self.dropped = dropped
        self.target = target
        self.function = function
        super().__init__(
            f"{function}: {dropped!r} stands in {class_name(target)}.{field}, whose name it does not give. "
            f"Write Dropped({field!r}, reason)."
        )


class _TransitionError(OwnershipError):
    """A step from one plan to another broke the contract of a field."""

    def __init__(self, message: str, *, field: str, source: type, target: type, function: str) -> None:
        self.field = field
        self.source = source
        self.target = target
        self.function = function
        super().__init__(f"{function}: {field} of the source {class_name(source)} {message}")


class KindChangedError(_TransitionError):
    """A transferable field of the source is a field of another kind in the target."""

    def __init__(self, *, field: str, source: type, target: type, function: str, kind: Kind) -> None:
        self.kind = kind
        super().__init__(
            f"is transferable there and {kind.value} in the target {class_name(target)}. Mark it Transferable[...] in "
            f"the target, or give it up: {field}=Dropped({field!r}, reason).",
            field=field,
            source=source,
            target=target,
            function=function,
        )


class DroppedFieldError(_TransitionError):
    """A transferable field of the source is missing from the result, and no reason was given (OWN001)."""

    def __init__(self, *, field: str, source: type, target: type, function: str, value: object, found: str) -> None:
        self.value = value
        self.found = found
        super().__init__(
            f"did not reach the result, a {class_name(target)}: wanted {shown(value)}, {found}. "
            f"Carry it ({field}=source.{field}, or transfer(source, into=fresh)), or give it up on purpose: "
            f"{field}=Dropped({field!r}, reason).",
            field=field,
            source=source,
            target=target,
            function=function,
        )


class RebuiltFieldError(_TransitionError):
    """Another object stands where the source's carrier was to arrive (OWN004)."""

    def __init__(self, *, field: str, source: type, target: type, function: str, value: object, found: object) -> None:
        self.value = value
        self.found = found
        super().__init__(
            f"is another object in the target {class_name(target)}: wanted {shown(value)}, got {shown(found)}. "
            f"A carrier is carried, not resolved, built or copied again: pass {field}=source.{field}, "
            "or leave it to transfer().",
            field=field,
            source=source,
            target=target,
            function=function,
        )


class LeakedFieldError(_TransitionError):
    """A borrowed or ephemeral field of the source is shared by the result (OWN012)."""

    def __init__(
        self,
        *,
        field: str,
        kind: Kind,
        source: type,
        target: type,
        target_field: str,
        function: str,
        value: object,
    ) -> None:
        self.kind = kind
        self.target_field = target_field
        self.value = value
        super().__init__(
            f"is {kind.value} and was carried over all the same: {class_name(target)}.{target_field} is the same "
            f"object, {shown(value)}. {kind.contract} "
            "Give the new plan its own, or take it from the caller as an argument.",
            field=field,
            source=source,
            target=target,
            function=function,
        )
