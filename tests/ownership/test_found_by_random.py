"""Shapes that the random transitions, or hostile values, were judged wrongly in; each is told here by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from ownership import (
    Absent,
    Borrowed,
    Dropped,
    DroppedFieldError,
    Fact,
    LeakedFieldError,
    Transferable,
    carriers,
    materializer,
    plan,
)
from ownership._values import is_data, is_inert


@plan
@dataclass
class Inner:
    pack: Transferable[Any]
    arena: Borrowed[Any] = None
    size: Fact[Any] = 0


@plan
@dataclass
class Outer:
    inner: Transferable[Any]
    size: Fact[Any] = 0


@dataclass
class Bundle:
    left: Any
    right: Any = field(default=8)


@materializer
def step(source: object, make: Callable[[], object], passed: object = None) -> object:
    return make()


def test_a_plan_inside_the_result_may_give_up_its_own_field() -> None:
    source = Inner(object())
    step(source, lambda: Outer(Inner(Dropped("pack", "on purpose"))))
    for other in (Dropped("fold", "the wrong name"), Absent("fresh"), None, object()):
        with pytest.raises(DroppedFieldError):
            step(source, lambda other=other: Outer(Inner(other)))  # type: ignore[misc]


HIDDEN: dict[str, Callable[[object], Any]] = {
    "in a tuple": lambda arena: (8, arena),
    "in a list in a mapping": lambda arena: {"a": [arena]},
    "in a record": Bundle,
    "in a nested plan": lambda arena: Inner(Absent("fresh"), arena),
}


@pytest.mark.parametrize("hide", HIDDEN.values(), ids=HIDDEN)
def test_state_that_is_wrapped_leaks_all_the_same(hide: Callable[[object], Any]) -> None:
    arena, pack = object(), object()
    source = Inner(pack, arena)
    with pytest.raises(LeakedFieldError) as caught:
        step(source, lambda: Inner(pack, size=hide(arena)))
    assert caught.value.field == "arena"
    hidden = hide(arena)
    step(source, lambda: Inner(pack, size=hidden), hidden)
    step(source, lambda: Inner(pack, size=hidden), arena)


def test_what_is_inside_of_a_carrier_arrived_with_it() -> None:
    arena = object()
    pack = (object(), arena)
    step(Inner(pack, arena), lambda: Inner(pack))


def test_a_bundle_of_nothing_but_absent_carriers_is_no_carrier_itself() -> None:
    assert carriers(Outer(Bundle(Absent("x"), Absent("y")))) == {}
    data = Bundle("text")
    assert carriers(Outer(data)) == {"inner": data}


def test_tuples_that_share_tuples_are_looked_at_once_each() -> None:
    shared: object = ()
    deep: object = ()
    for _ in range(5_000):
        deep = (deep,)
    for _ in range(100):
        shared = (shared, shared)
    assert is_data(shared)
    assert is_data((deep, 8))
    assert is_inert((deep, len))
    assert not is_inert((shared, object()))
