"""`CarrierMap`: total over its domain when it is made, and nothing outside of it afterwards."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ownership import (
    Absent,
    CarrierMap,
    DroppedFieldError,
    IncompleteMapError,
    InvalidAxisError,
    NotACarrierError,
    OutsideDomainError,
    RebuiltFieldError,
    Transferable,
    carriers,
    materializer,
    plan,
    transfer,
)


@dataclass(frozen=True, eq=False)
class Launcher:
    name: str


AXES: dict[str, Any] = {"capacity": (1, 8, 129), "dtype": ("int32", "int64"), "mapped": (True, False)}
POINTS = list(itertools.product(*AXES.values()))
LAUNCHERS = {point: Launcher(repr(point)) for point in POINTS}


@pytest.fixture
def launches() -> CarrierMap[tuple[int, str, bool], Launcher]:
    return CarrierMap(LAUNCHERS, **AXES)


def test_a_map_has_exactly_its_domain_in_the_order_of_the_axes(launches: CarrierMap[Any, Launcher]) -> None:
    backwards = CarrierMap(dict(reversed(LAUNCHERS.items())), **AXES)
    assert list(launches) == list(backwards) == POINTS
    assert len(launches) == 12
    assert all(launches[point] is backwards[point] is LAUNCHERS[point] for point in POINTS)
    assert launches.axes == AXES


def test_a_single_axis_has_plain_keys() -> None:
    one: CarrierMap[int, Launcher] = CarrierMap({1: Launcher("1"), 8: Launcher("8")}, capacity=[1, 8])
    assert one[8].name == "8"
    assert one.at(capacity=1).name == "1"


def test_each_missing_and_each_surplus_point_is_named() -> None:
    entries: dict[Any, Launcher] = {**LAUNCHERS, (9, "int32", True): Launcher("surplus")}
    del entries[8, "int32", True], entries[129, "int64", False]
    with pytest.raises(IncompleteMapError) as caught:
        CarrierMap(entries, **AXES)
    assert caught.value.missing == ((8, "int32", True), (129, "int64", False))
    assert caught.value.surplus == ((9, "int32", True),)
    for text in ("(8, 'int32', True)", "(129, 'int64', False)", "(9, 'int32', True)", "capacity=(1, 8, 129)"):
        assert text in str(caught.value)


def test_a_point_may_be_given_up_with_a_reason_and_not_with_none() -> None:
    absent = Absent("ids are int32 at this size")
    given_up = CarrierMap({1: Launcher("1"), 8: absent}, capacity=(1, 8))
    assert given_up[8] is absent
    assert "1 carriers, 1 absent" in repr(given_up)
    with pytest.raises(NotACarrierError, match="stands for 8"):
        CarrierMap({1: Launcher("1"), 8: None}, capacity=(1, 8))


@pytest.mark.parametrize("key", [(9, "int32", True), 8, (8, "int32"), None, [], (8, ["int32"], True)], ids=repr)
def test_a_point_outside_the_domain_is_an_error_and_never_a_default(launches: Any, key: object) -> None:
    for look_up in (launches.__getitem__, launches.get, lambda key: launches.get(key, Launcher("default"))):
        with pytest.raises(OutsideDomainError, match="nothing is resolved here") as caught:
            look_up(key)
        assert isinstance(caught.value, KeyError)
        assert str(caught.value).startswith(repr(key))
    assert key not in launches
    assert launches.get((1, "int32", True)) is LAUNCHERS[1, "int32", True]


def test_a_point_can_be_given_by_the_names_of_its_axes(launches: CarrierMap[Any, Launcher]) -> None:
    assert launches.at(mapped=False, capacity=8, dtype="int64") is LAUNCHERS[8, "int64", False]
    with pytest.raises(OutsideDomainError):
        launches.at(mapped=False, capacity=9, dtype="int64")
    with pytest.raises(InvalidAxisError, match="mapped is not given"):
        launches.at(capacity=8, dtype="int64")
    with pytest.raises(InvalidAxisError, match="rows does not exist"):
        launches.at(mapped=False, capacity=8, dtype="int64", rows=1)


@given(live=st.integers(min_value=-5, max_value=200))
def test_the_smallest_capacity_that_fits_is_the_smallest_that_fits(live: int) -> None:
    launches = CarrierMap(LAUNCHERS, **AXES)
    if live > 129:
        with pytest.raises(OutsideDomainError, match="exceeds every capacity"):
            launches.smallest_fit("capacity", live, dtype="int32", mapped=True)
        return
    found = launches.smallest_fit("capacity", live, dtype="int32", mapped=True)
    expected = 1 if live <= 1 else 8 if live <= 8 else 129
    assert found is LAUNCHERS[expected, "int32", True]


def test_no_larger_program_stands_in_for_one_that_was_given_up() -> None:
    gone = Absent("gone")
    launches = CarrierMap({129: Launcher("129"), 8: gone}, capacity=(129, 8))
    assert launches.smallest_fit("capacity", 5) is gone


@pytest.mark.parametrize(("axis", "live", "point"), [
    ("rows", 1, {}),
    ("dtype", 1, {"capacity": 1, "mapped": True}),
    ("capacity", "1", {"dtype": "int32", "mapped": True}),
    ("capacity", True, {"dtype": "int32", "mapped": True}),
    ("capacity", 1, {"capacity": 1, "dtype": "int32", "mapped": True}),
    ("capacity", 1, {}),
])  # fmt: skip
def test_a_search_needs_an_axis_of_numbers_and_all_others(launches: Any, axis: str, live: Any, point: Any) -> None:
    with pytest.raises(InvalidAxisError):
        launches.smallest_fit(axis, live, **point)


@pytest.mark.parametrize(
    "axes",
    [{}, {"capacity": ()}, {"capacity": (1, 1)}, {"mapped": (1, True)}, {"a": "ab"}, {"a": 7}, {"a": ([],)}],
    ids=repr,
)
def test_axes_are_lists_of_distinct_keys(axes: Any) -> None:
    with pytest.raises(InvalidAxisError, match="CarrierMap"):
        CarrierMap({}, **axes)


@pytest.mark.parametrize("given", [[(1, Launcher("1"))], None, Launcher("x")], ids=repr)
def test_entries_are_a_mapping(given: Any) -> None:
    with pytest.raises(NotACarrierError):
        CarrierMap(given, capacity=(1,))


def test_it_can_be_built_point_by_point() -> None:
    made: list[tuple[int, str]] = []

    def compile_fold(*, capacity: int, dtype: str) -> Launcher:
        made.append((capacity, dtype))
        return Launcher(f"{capacity} {dtype}")

    launches = CarrierMap.build(compile_fold, capacity=(1, 8), dtype=("int32", "int64"))
    assert made == list(launches) == [(1, "int32"), (1, "int64"), (8, "int32"), (8, "int64")]
    assert launches[8, "int32"].name == "8 int32"
    with pytest.raises(InvalidAxisError):
        CarrierMap.build(compile_fold, capacity=())
    assert len(made) == 4


@pytest.mark.parametrize("name", ["self", "entries", "make", "axis", "live", "cls"])
def test_an_axis_may_have_any_name(name: str) -> None:
    axes: dict[str, Any] = {name: (1, 2)}
    launches = CarrierMap.build(lambda **point: Launcher(str(point)), **axes)
    assert launches.at(**{name: 2}) is launches[2] is launches.smallest_fit(name, 2)


def test_it_is_immutable_and_its_axes_are_a_copy(launches: Any) -> None:
    for change in (
        lambda: setattr(launches, "_entries", {}),
        lambda: setattr(launches, "more", 1),
        lambda: delattr(launches, "_axes"),
        lambda: launches.__setitem__(1, 2),
    ):
        with pytest.raises(AttributeError):
            change()
    launches.axes.clear()
    assert launches.axes == AXES
    entries = dict(LAUNCHERS)
    copied = CarrierMap(entries, **AXES)
    entries.clear()
    assert len(copied) == 12


def test_it_is_compared_by_identity_as_carriers_are(launches: Any) -> None:
    again = CarrierMap(LAUNCHERS, **AXES)
    assert launches == launches
    assert launches != again
    assert launches != LAUNCHERS
    assert len({launches, again}) == 2
    assert isinstance(launches, Mapping)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_copies_are_other_maps_over_the_same_domain(launches: Any, again: Any) -> None:
    made = again(launches)
    assert made is not launches
    assert made != launches
    assert made.axes == AXES
    assert [made[point].name for point in made] == [launches[point].name for point in launches]


def test_the_representation_is_short_and_shows_no_carrier() -> None:
    class Loud:
        def __repr__(self) -> str:
            raise AssertionError

    assert repr(CarrierMap({1: Loud()}, capacity=(1,))) == "<CarrierMap over capacity=(1,); 1 carriers, 0 absent>"


@plan
@dataclass(frozen=True)
class Plan:
    launches: Transferable[CarrierMap[int, Launcher | Absent] | Absent]


ONE = Launcher("1")


def test_plans_carry_it_whole() -> None:
    launches: CarrierMap[int, Launcher | Absent] = CarrierMap({1: ONE, 8: Absent("x")}, capacity=(1, 8))
    source = Plan(launches)
    assert carriers(source) == {"launches[1]": ONE}
    assert transfer(source, into=Plan(Absent("fresh"))).launches is launches

    @materializer
    def step(prepared: Plan, value: Any) -> Plan:
        return replace(prepared, launches=value)

    assert step(source, launches).launches is launches
    with pytest.raises(RebuiltFieldError):
        step(source, copy.copy(launches))
    with pytest.raises(DroppedFieldError):
        step(source, Absent("lost"))


domains = st.dictionaries(
    st.sampled_from(["capacity", "dtype", "mapped", "rate"]),
    st.lists(st.integers(0, 4) | st.sampled_from(["a", "b"]), min_size=1, max_size=4, unique=True),
    min_size=1,
)


@given(axes=domains, data=st.data())
def test_a_map_is_accepted_exactly_if_its_keys_are_its_domain(axes: dict[str, list[Any]], data: st.DataObject) -> None:
    points = list(itertools.product(*axes.values()))
    keys: list[Any] = [point[0] for point in points] if len(axes) == 1 else list(points)
    missing = data.draw(st.lists(st.sampled_from(keys), unique=True))
    surplus = data.draw(st.lists(st.integers(10, 12), unique=True))
    entries = {key: Launcher(str(key)) for key in [*surplus, *keys] if key not in missing}
    if not missing and not surplus:
        made = CarrierMap(entries, **axes)
        assert dict(made) == entries
        return
    with pytest.raises(IncompleteMapError) as caught:
        CarrierMap(entries, **axes)
    assert sorted(map(repr, caught.value.missing)) == sorted(map(repr, missing))
    assert caught.value.surplus == tuple(surplus)
