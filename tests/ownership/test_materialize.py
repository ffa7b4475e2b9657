from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from ownership import (
    Absent,
    Borrowed,
    Dropped,
    DroppedFieldError,
    Ephemeral,
    Fact,
    LeakedFieldError,
    MisnamedDropError,
    NotAMaterializerError,
    RebuiltFieldError,
    Transferable,
    materializer,
    plan,
)


class Launcher: ...


FRESH = Absent("fresh")
PROCESS_WIDE = [abs, Launcher, logging, logging.getLogger("ownership.test")]


@plan
@dataclass(frozen=True)
class Plan:
    rows: Fact[int]
    fold: Transferable[Any]
    pack: Transferable[Any]
    seen: Ephemeral[Any] = field(default_factory=list)


@plan
@dataclass(frozen=True)
class Binding:
    """Has one of the two carriers of `Plan`."""

    fold: Transferable[Any]
    programs: Fact[Any] = ()
    log: Ephemeral[Any] = None


@plan
@dataclass(frozen=True)
class Lower:
    lower: Transferable[Any]
    scratch: Borrowed[Any] = None


def prepared(**changes: Any) -> Plan:
    return Plan(**{"rows": 8, "fold": Launcher(), "pack": Launcher(), **changes})


def fresh(**changes: Any) -> Plan:
    return Plan(**{"rows": 9, "fold": FRESH, "pack": FRESH, **changes})


def check(result: object, *sources: object, **named: object) -> object:
    """What a materializer makes of this result."""

    @materializer
    def materialize(*args: object, **kwargs: object) -> object:
        return result

    return materialize(*sources, **named)


class Holder:
    def __init__(self, held: object) -> None:
        self.held = held


# What is accepted.


def test_a_complete_plan_is_returned_as_it_is() -> None:
    source = prepared()
    moved = fresh(fold=source.fold, pack=source.pack)
    assert check(moved, source) is moved
    assert check(moved, plan=source) is moved


def test_the_source_itself_may_be_returned() -> None:
    source = prepared()
    assert check(source, source) is source


def test_a_drop_with_a_reason_is_accepted() -> None:
    source = prepared()
    check(fresh(fold=source.fold, pack=Dropped("pack", "one row")), source)


@pytest.mark.parametrize("nothing", [FRESH, None, Dropped("pack", "earlier")], ids=repr)
def test_what_the_source_does_not_have_cannot_be_lost(nothing: object) -> None:
    source = prepared(pack=nothing)
    check(fresh(fold=source.fold), source)
    check(fresh(fold=source.fold, pack=Launcher()), source)


def test_a_function_without_plans_is_left_alone() -> None:
    assert check(3, "x") == 3


def test_a_carrier_without_a_field_of_its_name_may_arrive_elsewhere() -> None:
    source = prepared()
    for programs in [source.pack, (1, [source.pack]), {"pack": source.pack}, Lower(source.pack)]:
        check(Binding(source.fold, programs), source)


@pytest.mark.parametrize("wrap", [lambda made: (made, 1), lambda made: {"a": [made]}, Holder])
def test_plans_are_found_in_what_is_returned(wrap: Callable[[object], object]) -> None:
    source = prepared()
    check(wrap(fresh(fold=source.fold, pack=source.pack)), source)
    with pytest.raises(DroppedFieldError):
        check(wrap(fresh(fold=source.fold)), source)


class Slotted:
    __slots__ = ("held", "unset")

    def __init__(self, held: object) -> None:
        self.held = held


def test_plans_are_found_in_the_slots_of_an_object() -> None:
    source = prepared()
    with pytest.raises(DroppedFieldError, match="pack"):
        check(Slotted(fresh(fold=source.fold)), source)


def test_sources_of_other_classes_each_supply_their_part() -> None:
    @plan
    @dataclass
    class Joint:
        fold: Transferable[Any]
        pack: Transferable[Any]
        lower: Transferable[Any]

    upper, lower = prepared(), Lower(Launcher())
    check(Joint(upper.fold, upper.pack, lower.lower), upper, lower)
    with pytest.raises(DroppedFieldError) as caught:
        check(Joint(upper.fold, upper.pack, FRESH), upper, lower)
    assert caught.value.source is Lower


def test_of_two_sources_of_one_class_one_supplies_each_carrier() -> None:
    one, two = prepared(), prepared()
    check(fresh(fold=one.fold, pack=two.pack), one, two)
    with pytest.raises(DroppedFieldError):
        check(fresh(fold=one.fold), one, two)
    with pytest.raises(RebuiltFieldError):
        check(fresh(fold=one.fold, pack=Launcher()), one, two)


def test_one_source_may_be_split_between_two_results() -> None:
    source = prepared()
    check((Binding(source.fold), Lower(source.pack)), source)


def test_two_results_may_share_a_field_name() -> None:
    first, second = prepared(), Binding(Launcher())
    check((fresh(fold=first.fold, pack=first.pack), Binding(second.fold)), first, second)


def test_a_blank_plan_among_the_arguments_is_no_source() -> None:
    source, blank = prepared(), fresh(seen=[1])
    check(replace(blank, fold=source.fold, pack=source.pack), source, blank)


# What is refused.


@pytest.mark.parametrize("nothing", [FRESH, None], ids=repr)
def test_a_missing_carrier_is_a_drop(nothing: object) -> None:
    source = prepared()
    with pytest.raises(DroppedFieldError, match=r"materialize: pack of the source .*Plan did not reach") as caught:
        check(fresh(fold=source.fold, pack=nothing), source)
    error = caught.value
    assert (error.field, error.source, error.target, error.value) == ("pack", Plan, Plan, source.pack)
    assert error.function.endswith("check.<locals>.materialize")


def test_a_field_that_was_never_set_is_a_drop() -> None:
    source = prepared()
    blank = object.__new__(Plan)
    object.__setattr__(blank, "fold", source.fold)
    with pytest.raises(DroppedFieldError, match="never set it"):
        check(blank, source)


@pytest.mark.parametrize("result", [None, 3, (), {}, Launcher()], ids=repr)
def test_a_result_without_any_plan_is_a_drop(result: object) -> None:
    with pytest.raises(DroppedFieldError, match="does not reach it either"):
        check(result, prepared())


def test_a_carrier_that_arrives_only_in_an_ephemeral_field_is_dropped() -> None:
    source = prepared()
    with pytest.raises(DroppedFieldError, match="pack"):
        check(Binding(source.fold, log=[source.pack]), source)


def test_one_incomplete_plan_among_several_is_a_drop() -> None:
    source = prepared()
    good = fresh(fold=source.fold, pack=source.pack)
    with pytest.raises(DroppedFieldError):
        check({8: good, 16: fresh(fold=source.fold)}, source)


def test_another_object_is_a_rebuild() -> None:
    source = prepared()
    other = Launcher()
    with pytest.raises(RebuiltFieldError, match="is another object") as caught:
        check(fresh(fold=source.fold, pack=other), source)
    assert (caught.value.value, caught.value.found) == (source.pack, other)


def test_an_equal_copy_is_a_rebuild() -> None:
    source = prepared(pack={"a": 1})
    with pytest.raises(RebuiltFieldError):
        check(fresh(fold=source.fold, pack={"a": 1}), source)


def test_swapped_carriers_are_a_rebuild() -> None:
    source = prepared()
    with pytest.raises(RebuiltFieldError):
        check(fresh(fold=source.pack, pack=source.fold), source)


def test_a_drop_under_another_name_is_refused() -> None:
    source = prepared()
    with pytest.raises(MisnamedDropError):
        check(fresh(fold=source.fold, pack=Dropped("fold", "one row")), source)


def test_a_source_that_is_changed_in_place_does_not_escape() -> None:
    @dataclass
    class Mutable:
        launch: Transferable[Any]

    plan(Mutable)

    @materializer
    def resolve_again(given: Mutable) -> Mutable:
        given.launch = Launcher()
        return given

    with pytest.raises(RebuiltFieldError):
        resolve_again(Mutable(Launcher()))


# Leaks.


@pytest.mark.parametrize("state", [[1], {}, bytearray(), {1}, Launcher(), ([],)], ids=repr)
def test_shared_state_is_a_leak(state: object) -> None:
    source = prepared(seen=state)
    with pytest.raises(LeakedFieldError, match="is ephemeral and was carried over") as caught:
        check(fresh(fold=source.fold, pack=source.pack, seen=state), source)
    assert (caught.value.field, caught.value.target_field, caught.value.value) == ("seen", "seen", state)


def test_a_borrowed_object_under_another_name_is_a_leak() -> None:
    source = Lower(Launcher(), bytearray(4))
    with pytest.raises(LeakedFieldError) as caught:
        check(Holder(Joined(source.lower, source.scratch)), source)
    assert (caught.value.field, caught.value.target_field) == ("scratch", "kept")


@plan
@dataclass(frozen=True)
class Joined:
    lower: Transferable[Any]
    kept: Fact[Any]


@pytest.mark.parametrize(
    "value",
    [None, True, 12345678901, 1.5, "text", b"bytes", (), (1, ("a", None)), frozenset({1}), FRESH, *PROCESS_WIDE],
    ids=repr,
)
def test_immutable_and_process_wide_values_are_no_leak(value: object) -> None:
    source = prepared(seen=value)
    check(fresh(fold=source.fold, pack=source.pack, seen=value), source)


def test_what_the_caller_passes_himself_is_no_leak() -> None:
    scratch = bytearray(4)
    source = Lower(Launcher(), scratch)
    with pytest.raises(LeakedFieldError):
        check(Lower(source.lower, scratch), source)
    check(Lower(source.lower, scratch), source, scratch=scratch)


def test_a_shared_default_is_no_leak() -> None:
    sentinel = Launcher()

    @plan
    @dataclass
    class Defaulted:
        launch: Transferable[Any]
        state: Ephemeral[Any] = sentinel

    source = Defaulted(Launcher())
    check(Defaulted(source.launch), source)


def test_the_source_kept_whole_is_no_leak() -> None:
    source = prepared(seen=[1])
    check((source, source), source)


# Functions of every sort.


def whole(source: Plan) -> Plan:
    return fresh(fold=source.fold, pack=source.pack)


def partial(source: Plan) -> Plan:
    return fresh(fold=source.fold)


def test_name_signature_documentation_and_original_are_kept() -> None:
    def materialize(source: Plan, *, rows: int = 3) -> Plan:
        """Make it."""
        return source

    checked = materializer(materialize)
    assert inspect.signature(checked) == inspect.signature(materialize)
    assert (checked.__name__, checked.__doc__, checked.__module__) == ("materialize", "Make it.", __name__)
    assert inspect.unwrap(checked) is materialize


class Engine:
    @materializer
    def method(self, source: Plan) -> Plan:
        return partial(source)

    @materializer
    @staticmethod
    def outside_static(source: Plan) -> Plan:
        return partial(source)

    @staticmethod
    @materializer
    def inside_static(source: Plan) -> Plan:
        return partial(source)

    @materializer
    @classmethod
    def outside_class(cls, source: Plan) -> Plan:
        return partial(source)

    @classmethod
    @materializer
    def inside_class(cls, source: Plan) -> Plan:
        return partial(source)


@pytest.mark.parametrize("name", [name for name in vars(Engine) if not name.startswith("_")])
def test_methods_of_every_sort_are_checked(name: str) -> None:
    with pytest.raises(DroppedFieldError, match=f"Engine.{name}: pack"):
        getattr(Engine(), name)(prepared())


def test_a_plan_is_its_own_methods_source() -> None:
    @plan
    @dataclass
    class Own:
        launch: Transferable[Any]

        @materializer
        def clone(self) -> Own:
            return Own(FRESH)

    with pytest.raises(DroppedFieldError):
        Own(Launcher()).clone()


def test_an_initializer_is_checked_by_the_object_that_it_makes() -> None:
    class Captured:
        @materializer
        def __init__(self, source: Plan, make: Callable[[Plan], Plan]) -> None:
            self.plan = make(source)

    assert Captured(prepared(), whole).plan.rows == 9
    with pytest.raises(DroppedFieldError):
        Captured(prepared(), partial)


@pytest.mark.parametrize("make", [whole, partial])
def test_coroutine_functions_are_checked_when_awaited(make: Callable[[Plan], Plan]) -> None:
    @materializer
    async def materialize(source: Plan) -> Plan:
        await asyncio.sleep(0)
        return make(source)

    @materializer
    def handed_on(source: Plan) -> Awaitable[Plan]:
        return materialize.__wrapped__(source)  # type: ignore[attr-defined, no-any-return]

    async def run(function: Callable[[Plan], Awaitable[Plan]]) -> Plan:
        return await function(prepared())

    assert inspect.iscoroutinefunction(materialize)
    for function in (materialize, handed_on):
        if make is whole:
            assert asyncio.run(run(function)).rows == 9
        else:
            with pytest.raises(DroppedFieldError):
                asyncio.run(run(function))


def test_an_error_of_the_function_itself_comes_through() -> None:
    @materializer
    def materialize(source: Plan) -> Plan:
        raise LookupError("no device")

    with pytest.raises(LookupError, match="no device"):
        materialize(prepared())


def test_what_cannot_be_checked_is_refused_at_once() -> None:
    def generator(source: Plan) -> Iterator[Plan]:
        yield source

    async def late_generator(source: Plan) -> Any:
        yield source

    for given in (generator, late_generator, Plan, 3):
        with pytest.raises(NotAMaterializerError) as caught:
            materializer(given)  # type: ignore[arg-type]
        assert caught.value.given is given
