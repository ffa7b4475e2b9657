"""`transfer(source, into=fresh)`: the step from one plan to another that cannot forget a carrier."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ownership._records import init_vars
from ownership._values import is_inert
from ownership.absence import Absent, Dropped, is_absent
from ownership.errors import (
    DroppedFieldError,
    KindChangedError,
    LeakedFieldError,
    MisnamedDropError,
    MissingInitVarError,
    MissingSourceFieldError,
    NotAPlanError,
    RebuiltFieldError,
    UnknownFieldError,
)
from ownership.kinds import Kind
from ownership.plan import FieldSpec, is_plan, plan_fields, transferables

__all__ = ["transfer"]

P = TypeVar("P")

_NAME = "transfer()"
_MISSING = object()


def transfer(source: object, /, into: P, **facts: Any) -> P:
    """Make a plan like `into` that has every carrier of `source`, the same objects.

    The result is a new instance of `into`'s class, made by its constructor; neither argument is changed. Each
    transferable field of the *source* must be one of the target, or be given up: `pack=Dropped("pack", reason)`. Where
    the source has nothing (`Absent`, or `None`), a carrier that `into` already has stays. All else is `into`'s, unless
    a keyword overrides it; borrowed and ephemeral fields of the source are never carried.

    Keywords name fields of the target (attrs: the constructor's spelling will do as well) or its `InitVar`s. For a
    carrier that the source has, only that object or a `Dropped` is accepted; an `Absent` is taken to be meant as a drop
    and recorded as one.

    Unlike `dataclasses.replace`, which resets `field(init=False)` fields to whatever `__post_init__` makes of them,
    this puts their values back after construction: also on frozen and slotted classes, and also where `__post_init__`
    or a converter replaced a carrier. Only derived fields are left as the constructor computed them.

    Raises:
        NotAPlanError: `source` or `into` is not an instance of a plan.
        DroppedFieldError: the target has no such field, and it was not given up.
        KindChangedError: the target has the field, but not as a transferable.
        RebuiltFieldError: a keyword gives another object for a carrier of the source.
        LeakedFieldError: a keyword hands on a borrowed or ephemeral object of the source.
        MisnamedDropError: a `Dropped` names another field.
        MissingSourceFieldError: the source never set one of its transferable fields.
        MissingInitVarError: the target has an `InitVar` without a default, and no keyword gives its value.
        UnknownFieldError: a keyword is no field of the target.

    """
    for given, role in ((source, "source"), (into, "into")):
        if not is_plan(given):
            raise NotAPlanError(given=given, wanted=f"an instance of a plan as `{role}`", function=_NAME)
    target = type(into)
    table = {spec.name: spec for spec in plan_fields(target)}
    pseudo = init_vars(target)
    given_up = [name for name in transferables(source) if name not in table]
    named = _by_field_name(facts, table, known=[*table, *pseudo, *given_up], target=target)

    values = {name: held for name in table if (held := getattr(into, name, _MISSING)) is not _MISSING}
    for name in transferables(source):
        arriving = _arriving(source, name, target, table, named)
        if name in table and not (is_absent(arriving) and name not in named and not is_absent(values.get(name))):
            values[name] = arriving
    carried = set(transferables(source))
    for name, value in named.items():
        if name in table and name not in carried:
            _refuse_leak(source, table[name], value, target)
            values[name] = value
    return _construct(target, table, values, pseudo, named)


def _by_field_name(
    facts: Mapping[str, Any], table: Mapping[str, FieldSpec], *, known: list[str], target: type
) -> dict[str, Any]:
    """The keywords under the names of the fields they mean."""
    aliases = {spec.alias: name for name, spec in table.items()}
    named: dict[str, Any] = {}
    for keyword, value in facts.items():
        name = keyword if keyword in known else aliases.get(keyword)
        if name is None or (name != keyword and name in facts):
            raise UnknownFieldError(name=keyword, target=target, known=known)
        named[name] = value
    return named


def _arriving(
    source: object, name: str, target: type, table: Mapping[str, FieldSpec], named: Mapping[str, Any]
) -> object:
    """What is to stand in the target for a transferable field of the source."""
    cls = type(source)
    have = getattr(source, name, _MISSING)
    if name in named:
        given = named[name]
        if isinstance(given, Dropped) and given.field != name and given is not have:
            raise MisnamedDropError(field=name, dropped=given, target=target, function=_NAME)
        if have is _MISSING or is_absent(have) or given is have or isinstance(given, Dropped):
            return given
        if isinstance(given, Absent):
            return Dropped(name, given.reason)
        raise RebuiltFieldError(field=name, source=cls, target=target, function=_NAME, value=have, found=given)
    if have is _MISSING:
        raise MissingSourceFieldError(field=name, source=cls)
    spec = table.get(name)
    if is_absent(have) and (spec is None or not spec.kind.transferable):
        return have
    if spec is None:
        raise DroppedFieldError(
            field=name, source=cls, target=target, function=_NAME, value=have, found="and the target has no such field"
        )
    if not spec.kind.transferable:
        raise KindChangedError(field=name, source=cls, target=target, function=_NAME, kind=spec.kind)
    return have


def _refuse_leak(source: object, spec: FieldSpec, value: object, target: type) -> None:
    if is_inert(value):
        return
    for own in plan_fields(source):
        if own.kind in (Kind.BORROWED, Kind.EPHEMERAL) and getattr(source, own.name, _MISSING) is value:
            raise LeakedFieldError(
                field=own.name,
                kind=own.kind,
                source=type(source),
                target=target,
                target_field=spec.name,
                function=_NAME,
                value=value,
            )


def _construct(
    target: type[P],
    table: Mapping[str, FieldSpec],
    values: Mapping[str, Any],
    pseudo: Mapping[str, bool],
    named: Mapping[str, Any],
) -> P:
    arguments = {spec.alias: values[name] for name, spec in table.items() if spec.init and name in values}
    for name, has_default in pseudo.items():
        if name in named:
            arguments[name] = named[name]
        elif not has_default:
            raise MissingInitVarError(name=name, target=target)
    # A NamedTuple's constructor is typed by its fields, a dataclass' by its own: neither is known here.
    constructor: Callable[..., P] = target
    made = constructor(**arguments)
    for name, spec in table.items():
        if name not in values or getattr(made, name, _MISSING) is values[name]:
            continue
        if spec.kind.transferable or (not spec.init and (spec.kind is not Kind.DERIVED or name in named)):
            # A frozen class refuses plain assignment; the new instance is ours until it is returned.
            object.__setattr__(made, name, values[name])
        elif not hasattr(made, name):
            object.__setattr__(made, name, values[name])
    return made
