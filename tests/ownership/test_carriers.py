from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import attrs
import pytest

from ownership import Absent, Dropped, Ephemeral, Fact, NotAPlanError, Transferable, carriers, plan

Program = Callable[[int], int]


@dataclass(frozen=True, eq=False)
class Launcher:
    name: str
    rows: tuple[int, ...] = ()


@plan
@dataclass(frozen=True)
class Mixer:
    gate: Transferable[Launcher | Absent]
    rows: Fact[int] = 1


@dataclass
class Bundle:
    fold: Program
    settle: Launcher
    note: str


@attrs.frozen
class AttrsBundle:
    fold: Launcher


class Pair(NamedTuple):
    left: Launcher
    right: Launcher


@plan
@dataclass(frozen=True)
class Plan:
    rows: Fact[int]
    fold: Transferable[Any]
    launches: Transferable[Any] = field(init=False)
    spare: Ephemeral[Launcher | None] = None


def made(value: object) -> Plan:
    plan = Plan(1, value, spare=Launcher("spare"))
    object.__setattr__(plan, "launches", Absent("not in this test"))
    return plan


A, B, C = (Launcher(name) for name in "abc")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (A, {"fold": A}),
        (abs, {"fold": abs}),
        (Mixer(A), {"fold.gate": A}),
        ({128: A, "x": Mixer(B)}, {"fold[128]": A, "fold['x'].gate": B}),
        ([A, (B, None)], {"fold[0]": A, "fold[1][0]": B}),
        (Bundle(abs, A, "text"), {"fold.fold": abs, "fold.settle": A}),
        (AttrsBundle(A), {"fold.fold": A}),
        (Pair(A, B), {"fold.left": A, "fold.right": B}),
        (None, {}),
        (Absent("x"), {}),
        (Dropped("fold", "x"), {}),
        ({}, {}),
        ({1: Absent("x"), 2: A}, {"fold[2]": A}),
        ([A, A], {"fold[0]": A, "fold[1]": A}),
        (7, {"fold": 7}),
    ],
    ids=repr,
)
def test_paths_lead_to_carriers(value: object, expected: Mapping[str, object]) -> None:
    found = carriers(made(value))
    assert list(found) == list(expected)
    assert all(found[path] is expected[path] for path in found)


def test_paths_are_in_the_order_of_the_fields() -> None:
    @plan
    @dataclass
    class Two:
        second: Transferable[Launcher]
        first: Transferable[Launcher]

    assert list(carriers(Two(A, B))) == ["second", "first"]


def test_only_transferable_fields_are_walked() -> None:
    assert carriers(made(Absent("nothing"))) == {}


def test_a_callable_record_is_a_carrier_and_not_opened() -> None:
    @dataclass
    class Launch:
        kernel: Launcher

        def __call__(self) -> None: ...

    launch = Launch(A)
    assert carriers(made(launch)) == {"fold": launch}


def test_a_carrier_that_was_never_set_is_left_out() -> None:
    assert list(carriers(Plan(1, A))) == ["fold"]


def test_cycles_end_the_walk() -> None:
    loop: dict[str, object] = {"a": A}
    loop["again"] = loop
    ring = made(loop)
    loop["plan"] = ring
    assert list(carriers(ring)) == ["fold['a']"]


@pytest.mark.parametrize("given", [Bundle(abs, A, ""), Plan, None], ids=repr)
def test_anything_but_a_plan_is_refused(given: object) -> None:
    with pytest.raises(NotAPlanError, match=r"carriers\(\)"):
        carriers(given)
