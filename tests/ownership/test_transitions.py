"""Whatever the shape of a plan: a step made by `transfer` passes the check, and any single mistake in it is caught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, make_dataclass
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ownership import (
    Absent,
    Dropped,
    DroppedFieldError,
    Kind,
    LeakedFieldError,
    RebuiltFieldError,
    carriers,
    kinds,
    materializer,
    plan,
    plan_fields,
    transfer,
)

FRESH = Absent("fresh")


class Opaque:
    """A carrier, or state: only its identity counts."""


def mark(kind: Kind) -> Any:
    return getattr(kinds, kind.alias)[object]


def by_dataclass(fields: dict[str, Kind], options: dict[str, Any]) -> type:
    return make_dataclass("Shape", [(name, mark(kind)) for name, kind in fields.items()], **options)


def by_late_dataclass(fields: dict[str, Kind], options: dict[str, Any]) -> type:
    """Carriers stand outside the constructor, which resets them."""
    late = [name for name, kind in fields.items() if kind.transferable]

    def reset(self: object) -> None:
        for name in late:
            object.__setattr__(self, name, FRESH)

    return make_dataclass(
        "Shape",
        [(name, mark(kind), field(init=not kind.transferable)) for name, kind in fields.items()],
        namespace={"__post_init__": reset},
        **options,
    )


def by_attrs(fields: dict[str, Kind], options: dict[str, Any]) -> type:
    described: dict[str, Any] = {name: attrs.field(type=mark(kind)) for name, kind in fields.items()}
    return attrs.make_class("Shape", described, **options)


Make = Callable[[dict[str, Kind], dict[str, Any]], type]


@st.composite
def shapes(draw: st.DrawFn) -> type:
    names = draw(
        st.lists(st.sampled_from(["fold", "pack", "_prewarmed", "rows", "seen", "x1"]), min_size=1, unique=True)
    )
    fields = {name: draw(st.sampled_from(Kind)) for name in names}
    options = {name: draw(st.booleans()) for name in ("frozen", "slots", "kw_only")}
    make: Make = draw(st.sampled_from([by_dataclass, by_late_dataclass, by_attrs]))
    return plan(make(fields, options))


def blank(cls: type) -> Any:
    return cls(**{spec.alias: FRESH if spec.kind.transferable else Opaque() for spec in plan_fields(cls) if spec.init})


def put(instance: object, name: str, value: object) -> None:
    object.__setattr__(instance, name, value)


@st.composite
def sources(draw: st.DrawFn) -> Any:
    source = blank(draw(shapes()))
    for name in named(source, Kind.TRANSFERABLE):
        put(source, name, draw(st.sampled_from([Opaque(), {}, [Opaque()], Absent("none here")])))
    return source


def named(instance: object, *wanted: Kind) -> list[str]:
    return [spec.name for spec in plan_fields(instance) if spec.kind in wanted]


def present(source: object) -> list[str]:
    return [name for name in named(source, Kind.TRANSFERABLE) if not isinstance(getattr(source, name), Absent)]


@materializer
def returned(source: object, make: Callable[[], object]) -> object:
    return make()


@given(source=sources(), data=st.data())
def test_a_transfer_passes(source: Any, data: st.DataObject) -> None:
    given_up = data.draw(st.lists(st.sampled_from(present(source)), unique=True) if present(source) else st.just([]))
    drops = {name: Dropped(name, "not needed") for name in given_up}
    into = blank(type(source))
    moved = returned(source, lambda: transfer(source, into=into, **drops))
    for spec in plan_fields(source):
        value = getattr(moved, spec.name)
        if spec.name in drops:
            assert value is drops[spec.name]
        else:
            assert value is getattr(source if spec.kind.transferable else into, spec.name)
    kept = {id(found) for path, found in carriers(source).items() if path.partition("[")[0] not in drops}
    assert {id(found) for found in carriers(moved).values()} == kept


@given(source=sources(), data=st.data())
def test_any_single_mistake_is_caught(source: Any, data: st.DataObject) -> None:
    if not present(source):
        return
    moved = transfer(source, into=blank(type(source)))
    state = named(source, Kind.BORROWED, Kind.EPHEMERAL)
    mistake = data.draw(st.sampled_from(["drop", "forget", "rebuild", *(["leak"] if state else [])]))
    if mistake == "leak":
        name = data.draw(st.sampled_from(state))
        put(moved, name, getattr(source, name))
    else:
        name = data.draw(st.sampled_from(present(source)))
        put(moved, name, {"drop": FRESH, "forget": None, "rebuild": Opaque()}[mistake])
    expected = {"leak": LeakedFieldError, "rebuild": RebuiltFieldError}.get(mistake, DroppedFieldError)
    with pytest.raises(expected) as caught:
        returned(source, lambda: moved)
    assert caught.value.field == name  # type: ignore[attr-defined]
