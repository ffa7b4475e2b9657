"""`@plan`: a dataclass, attrs class or NamedTuple, every field of which says what it is.

A flat plan holds its carriers side by side. Every field has a kind, and no carrier a default:

    @plan
    @dataclass(frozen=True)
    class ScratchPlan:
        rows: Fact[int]
        fold: Transferable[Launcher | Absent]
        pack: Transferable[Launcher | Absent]

For new code there is a second way, which any type checker enforces without a plugin: the carriers are bundled in one
value, and the plan is generic in it.

    @plan
    @dataclass(frozen=True)
    class Carriers:
        fold: Transferable[Launcher]
        pack: Transferable[Launcher]

    C = TypeVar("C")

    @plan
    @dataclass(frozen=True)
    class ScratchPlan(Generic[C]):
        rows: Fact[int]
        carriers: Transferable[C]

    def plan_scratch(rows: int) -> ScratchPlan[None]: ...          # planned: there are no carriers yet
    def run(plan: ScratchPlan[Carriers]) -> None: ...              # an unprepared plan does not fit

    def materialize(prepared: ScratchPlan[Carriers], rows: int) -> ScratchPlan[Carriers]:
        return ScratchPlan(rows=rows, carriers=prepared.carriers)

A forgotten carrier is then a missing argument of `Carriers(...)`, and a plan that was never prepared,
`ScratchPlan[None]`, is another type than the one `run` takes. The value `None` in such a field means "not prepared
yet": it is nothing that could be lost, while a bundle that turns into `None` is a drop. The bundle travels whole, by
identity: to change one carrier of it is to rebuild it. `transfer()` returns the static type of its target; build the
plan with its constructor, as above, where the type parameter must change.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar, overload

from ownership._records import RecordField, is_record, own_annotations, record_fields
from ownership.errors import (
    AliasedMarkError,
    ConflictingKindError,
    DefaultedTransferableError,
    NotAPlanError,
    NotARecordError,
    UnmarkedFieldError,
)
from ownership.kinds import Kind
from ownership.marks import names_of, read_mark

__all__ = ["FieldSpec", "is_plan", "plan", "plan_fields"]

T = TypeVar("T")

#: Where a plan class keeps its table. Instances have no part in it, so slots and pickling are as before.
_TABLE = "__ownership_plan__"


class FieldSpec(NamedTuple):
    """One row of a plan's field table."""

    name: str
    kind: Kind
    #: The class that declares the field: the plan or one of its bases.
    owner: type
    #: The annotation as the class has it, evaluated or a string.
    annotation: Any
    #: Whether the constructor takes it.
    init: bool
    #: Whether it has a default value or a factory.
    has_default: bool
    #: The name of the constructor's argument: attrs strips the underscores of private names.
    alias: str


@overload
def plan(cls: type[T], /) -> type[T]: ...
@overload
def plan() -> Callable[[type[T]], type[T]]: ...


def plan(cls: type[T] | None = None, /) -> type[T] | Callable[[type[T]], type[T]]:
    """Declare a class to be a plan: check that every field has a kind, and keep the table of fields.

    Stands above `@dataclass`, `@attrs.define` and their like, as `@plan` or `@plan()`, and returns the same class.
    Class variables, `InitVar`s and properties are not fields. Only the outermost part of an annotation is looked at, so
    types that exist for type checkers alone are no obstacle.

    Raises:
        NotARecordError: the class is none of the supported sorts, or the decorators are in the wrong order.
        UnmarkedFieldError: a field, possibly of a base class, has no kind.
        DefaultedTransferableError: a transferable field has a default or a factory. (`field(init=False)` has neither.)
        AliasedMarkError: a field is marked through a non-generic alias, which checkers cannot follow.
        ConflictingKindError: a field has two kinds, or another one than the same field of a base class.

    """
    local = sys._getframe(1).f_locals
    if cls is not None:
        return _declare(cls, local)

    def decorate(cls: type[T]) -> type[T]:
        return _declare(cls, local)

    return decorate


def plan_fields(plan: object) -> tuple[FieldSpec, ...]:
    """The field table of a plan class or of an instance, in the order of the fields.

    A subclass that is itself a dataclass but was not decorated with `@plan` gets its table, and the checks of `@plan`,
    when it is first asked for.

    Raises:
        NotAPlanError: it is not a plan.
        UnmarkedFieldError: and the other errors of `@plan`, for an undecorated subclass.

    """
    cls = plan if isinstance(plan, type) else getattr(plan, "__origin__", type(plan))
    table: tuple[FieldSpec, ...] | None = vars(cls).get(_TABLE) if isinstance(cls, type) else None
    if table is not None:
        return table
    if not isinstance(cls, type) or not hasattr(cls, _TABLE):
        raise NotAPlanError(given=plan, wanted="a plan", function="plan_fields()")
    if not is_record(cls, own=True):
        inherited: tuple[FieldSpec, ...] = next(plan_fields(base) for base in cls.__mro__[1:] if hasattr(base, _TABLE))
        return inherited
    _declare(cls, {})
    return plan_fields(cls)


def is_plan(value: object) -> bool:
    """Whether a value is an instance of a plan class."""
    return hasattr(type(value), _TABLE)


def transferables(plan: object) -> tuple[str, ...]:
    """The names of the transferable fields of a plan, in order."""
    return tuple(spec.name for spec in plan_fields(plan) if spec.kind.transferable)


def _declare(cls: type[T], local: Mapping[str, Any]) -> type[T]:
    if not isinstance(cls, type) or not is_record(cls, own=True):
        raise NotARecordError(given=cls)
    setattr(cls, _TABLE, tuple(_spec(cls, field, local) for field in record_fields(cls)))
    return cls


def _spec(cls: type, field: RecordField, local: Mapping[str, Any]) -> FieldSpec:
    owner = _owner(cls, field.name)
    known = _inherited(cls, field.name)
    if known is not None and known.owner is owner:
        kind = known.kind
    else:
        kind = _kind(cls, owner, field, local)
        if known is not None and known.kind is not kind:
            raise ConflictingKindError(field=field.name, owner=owner, plan=cls, kinds=(known.kind, kind))
    if kind.transferable and field.has_default:
        raise DefaultedTransferableError(field=field.name, owner=owner, plan=cls)
    return FieldSpec(field.name, kind, owner, field.annotation, field.init, field.has_default, field.alias)


def _kind(cls: type, owner: type, field: RecordField, local: Mapping[str, Any]) -> Kind:
    names = names_of(owner, local if owner is cls else {})
    mark = read_mark(field.annotation, cls=owner, field=field.name, names=names)
    if not mark.kinds:
        hint = "A mark inside another type marks nothing: put it around the whole type." if mark.inner else ""
        raise UnmarkedFieldError(field=field.name, owner=owner, plan=cls, annotation=field.annotation, hint=hint)
    kind, *others = mark.kinds
    if others:
        raise ConflictingKindError(field=field.name, owner=owner, plan=cls, kinds=mark.kinds)
    if mark.alias is not None:
        raise AliasedMarkError(field=field.name, owner=owner, plan=cls, alias=mark.alias, kind=kind)
    return kind


def _owner(cls: type, field: str) -> type:
    """The class that declares the field: the first in method resolution order to annotate it."""
    return next((base for base in cls.__mro__ if field in own_annotations(base)), cls)


def _inherited(cls: type, field: str) -> FieldSpec | None:
    """The row that a base class, itself a plan, has for the field."""
    for base in cls.__mro__[1:]:
        for spec in vars(base).get(_TABLE, ()):
            if spec.name == field:
                found: FieldSpec = spec
                return found
    return None
