"""`publish()`: what a plan reaches and what is retained for it are the same, or it is said where they differ."""

from __future__ import annotations

import copy
import functools
import gc
import pickle
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import CellType, FunctionType, MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar
from unittest.mock import MagicMock, Mock

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ownership import (
    Absent,
    BareClosureError,
    Borrowed,
    CarrierMap,
    Dropped,
    Ephemeral,
    Fact,
    InvalidPathError,
    Ledger,
    NotACarrierError,
    NotAPlanError,
    NotPublishedError,
    OwnershipError,
    Publication,
    PublishError,
    ResolvingCarrierError,
    StillReachableError,
    Transferable,
    UndeclaredMapError,
    UnreachableProgramError,
    UnretainedProgramError,
    carrier,
    carriers,
    plan,
    publish,
)
from ownership._published import places

C = TypeVar("C")


@carrier
@dataclass(frozen=True, eq=False)
class Launcher:
    name: str
    kernel: object = None


@plan
@dataclass(frozen=True)
class ScratchPlan:
    rows: Fact[int]
    fold: Transferable[Any]
    pack: Transferable[Any]
    spare: Ephemeral[object] = None


@plan
@dataclass(frozen=True)
class RoutePlan:
    pack: Transferable[Any]
    arena: Borrowed[object] = None


@plan
@dataclass
class Holder:
    held: Transferable[Any]


FOLD, PACK, OTHER = Launcher("fold"), Launcher("pack"), Launcher("other")
PENDING = Absent("not compiled yet")


def differences(caught: pytest.ExceptionInfo[PublishError]) -> list[OwnershipError]:
    return [one for one in caught.value.exceptions if isinstance(one, OwnershipError)]


def only(caught: pytest.ExceptionInfo[PublishError]) -> Any:
    (one,) = differences(caught)
    return one


@pytest.fixture
def ledger() -> Ledger:
    return Ledger("engine")


# The published bug, and its mirror image.


def test_a_program_that_did_not_reach_the_plan_is_named_with_its_path_and_what_stands_there(ledger: Ledger) -> None:
    fold, pack = ledger.retain(FOLD, at="fold"), ledger.retain(PACK, at="pack")
    prepared = ScratchPlan(8, fold, pack)
    with pytest.raises(PublishError, match=r"Launcher 'pack' is retained .*ScratchPlan\.pack, but Absent") as caught:
        ledger.publish(replace(prepared, pack=PENDING))
    one = only(caught)
    assert isinstance(one, UnreachableProgramError)
    assert (one.program, one.plan, one.path, one.standing) == (PACK, ScratchPlan, "pack", PENDING)
    assert "'not compiled yet'" in str(one)
    assert caught.value.plans == (ScratchPlan,)
    assert caught.value.ledger == "engine"


def test_a_program_that_nobody_keeps_alive_is_named_with_its_path(ledger: Ledger) -> None:
    ledger.retain(FOLD, at="fold")
    with pytest.raises(PublishError, match="keep it alive") as caught:
        ledger.publish(ScratchPlan(8, FOLD, PACK))
    one = only(caught)
    assert isinstance(one, UnretainedProgramError)
    assert (one.program, one.plan, one.path) == (PACK, ScratchPlan, "pack")


def test_all_differences_come_at_once_and_can_be_caught_by_kind(ledger: Ledger) -> None:
    ledger.retain(FOLD, at="fold")
    ledger.retain(PACK, at="pack")
    with pytest.raises(PublishError) as caught:
        ledger.publish(ScratchPlan(8, PENDING, OTHER))
    lost, others = caught.value.split(UnreachableProgramError)
    assert isinstance(lost, PublishError)
    assert lost.plans == (ScratchPlan,)
    assert [one.path for one in lost.exceptions if isinstance(one, UnreachableProgramError)] == ["fold", "pack"]
    assert isinstance(others, PublishError)
    assert [one.path for one in others.exceptions if isinstance(one, UnretainedProgramError)] == ["pack"]


def test_what_agrees_is_published_and_told(ledger: Ledger) -> None:
    ledger.retain_all({"fold": FOLD, "pack": PACK})
    (done,) = ledger.publish(ScratchPlan(8, FOLD, PACK, spare=OTHER))
    assert done == Publication(ScratchPlan, "engine", ("fold", "pack"), ("Launcher 'fold'", "Launcher 'pack'"))
    assert "fold=Launcher 'fold'" in str(done)
    assert list(ledger.published) == [done]
    assert list(ledger.retained) == [FOLD, PACK]
    assert list(ledger.pending) == []


def test_publishing_again_checks_again_and_changes_nothing(ledger: Ledger) -> None:
    ledger.retain(FOLD, at="held")
    held = Holder(FOLD)
    first = ledger.publish(held)
    assert ledger.publish(held, held) == first * 2
    assert ledger.publish(held)[0] is first[0]
    held.held = PENDING
    checks: list[Callable[[], object]] = [ledger.verify, lambda: ledger.publish(held)]
    for check in checks:
        with pytest.raises(PublishError):
            check()
    assert ledger.published == first


def test_nothing_is_published_unless_all_is(ledger: Ledger) -> None:
    ledger.retain(FOLD, at="held", plan=Holder)
    ledger.retain(PACK, at="pack", plan=RoutePlan)
    before = len(places())
    with pytest.raises(PublishError):
        ledger.publish(Holder(FOLD), RoutePlan(PENDING))
    assert list(ledger.published) == []
    assert list(ledger.pending) == [FOLD, PACK]
    assert len(places()) == before


@pytest.mark.parametrize("given", [None, Launcher("x"), ScratchPlan, MappingProxyType({1: Holder(FOLD)})], ids=repr)
def test_only_plans_are_published(ledger: Ledger, given: object) -> None:
    with pytest.raises(NotAPlanError, match=r"publish\(\)"):
        ledger.publish(given)


# What stands in the place of a program, as a message tells it.


class Pair(NamedTuple):
    left: Any
    right: Any


@plan
@dataclass(frozen=True)
class Late:
    rows: Fact[int]
    late: Transferable[Any] = field(init=False)


@pytest.mark.parametrize(
    ("made", "at", "text"),
    [
        (Holder(None), "held", "None stands there"),
        (Holder(Absent("why not")), "held", "Absent('why not') stands there"),
        (Holder(OTHER), "held", "Launcher 'other' stands there"),
        (Holder(Launcher("fold")), "held", "built again"),
        (Late(1), "late", "never set"),
        (Late(1), "late.fold", "late was never set"),
        (Holder((OTHER,)), "held[1]", "held is a tuple of 1"),
        (Holder(Pair(OTHER, None)), "held.right", "None stands there"),
        (Holder(Pair(OTHER, None)), "held.middle", "held is a Pair without that field"),
        (Holder(Holder(OTHER)), "held.missing", "Holder without that field"),
        (Holder(Absent("gone")), "held.fold", "held is Absent('gone')"),
        (Holder(OTHER), "held.kernel", "a carrier is not opened"),
        (Holder({8: OTHER}), "held[9]", "held is a dict without that key"),
        (Holder((OTHER, OTHER)), "held", "only Launcher 'other', Launcher 'other' can be reached there, in a tuple"),
        (Holder(Pair(OTHER, FOLD)), "held.left", "(the program stands at held.right instead)"),
        (ScratchPlan(1, OTHER, OTHER), "rows", "rows is fact, not transferable"),
        (Holder(OTHER), "other", "no published plan reaches it"),
        (Holder(OTHER), None, "no published plan reaches it"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_message_says_what_stands_where_the_program_should(made: object, at: str | None, text: str) -> None:
    ledger = Ledger()
    ledger.retain(FOLD, at=at)
    with pytest.raises(PublishError) as caught:
        ledger.publish(made)
    (found,) = [one for one in differences(caught) if isinstance(one, UnreachableProgramError)]
    assert text in str(found)
    assert found.program is FOLD


def test_a_program_on_a_dropped_place_must_be_released(ledger: Ledger) -> None:
    ledger.retain_all({"fold": FOLD, "pack": PACK})
    single = ScratchPlan(8, FOLD, Dropped("pack", "a single rank has nothing to pack"))
    with pytest.raises(PublishError, match="release it") as caught:
        ledger.publish(single)
    assert only(caught).path == "pack"
    ledger.release(PACK)
    ledger.publish(single)


# Bundles, launchers, paths.


@attrs.frozen
class AttrsPair:
    left: Any
    note: str = "text"


@pytest.mark.parametrize(
    "value",
    [
        (FOLD, PACK),
        [FOLD, [PACK]],
        Pair(FOLD, PACK),
        Holder(Pair(FOLD, PACK)),
        AttrsPair((FOLD, PACK)),
        ((8, "int32", FOLD), (8, "int64", PACK)),
        CarrierMap({1: FOLD, 8: PACK}, capacity=(1, 8)),
        CarrierMap(
            {(1, True): FOLD, (1, False): Absent("x"), (8, True): Absent("x"), (8, False): PACK},
            a=(1, 8),
            b=(True, False),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_carriers_lists_is_what_must_be_retained(value: object) -> None:
    found = carriers(Holder(value))
    launchers = {path: one for path, one in found.items() if isinstance(one, Launcher)}
    ways: list[Callable[[Ledger], object]] = [
        lambda ledger: ledger.retain_all(launchers),
        lambda ledger: ledger.retain_all(launchers.values()),
        lambda ledger: ledger.retain(value, at="held"),
        lambda ledger: ledger.retain(value, plan=Holder),
        lambda ledger: ledger.retain(value),
        lambda ledger: [ledger.retain(one, at="held") for one in launchers.values()],
    ]
    for retain in ways:
        ledger = Ledger()
        retain(ledger)
        (done,) = ledger.publish(Holder(value))
        assert done.paths == tuple(launchers)
        assert list(ledger.pending) == []


def test_facts_among_carriers_are_no_programs(ledger: Ledger) -> None:
    ledger.retain(FOLD)
    ledger.publish(Holder(((8, int, "int32", 2.5, None, FOLD),)))


def test_keys_that_look_alike_are_told_apart() -> None:
    class Key:
        def __repr__(self) -> str:
            return "Key"

    one, two = Key(), Key()
    made = Holder(CarrierMap({one: FOLD, two: PACK}, key=(one, two)))
    assert carriers(made) == {"held[Key]": FOLD, "held[Key#2]": PACK}
    publish(made, retained={"held[Key]": FOLD, "held[Key#2]": PACK})


def test_a_launcher_is_kept_if_the_programs_inside_are(ledger: Ledger) -> None:
    kernel, second = Launcher("kernel"), Launcher("second")
    deep = Launcher("deep", {"stages": [kernel, second]})
    ledger.retain(kernel, at="held")
    with pytest.raises(PublishError, match="It is inside Launcher 'deep'") as caught:
        ledger.publish(Holder(deep))
    assert only(caught).program is second
    ledger.retain(second)
    ledger.publish(Holder(deep))
    assert list(ledger.pending) == []


def test_a_path_may_be_owed_by_one_class_and_by_all_plans_that_have_the_field(ledger: Ledger) -> None:
    ledger.retain(FOLD, at="fold")
    ledger.retain(PACK, at="pack", plan=RoutePlan)
    ledger.publish(ScratchPlan(1, FOLD, PENDING))
    assert list(ledger.pending) == [PACK]
    with pytest.raises(PublishError, match="no published plan reaches it") as caught:
        ledger.verify()
    assert (only(caught).plan, only(caught).path) == (RoutePlan, "pack")
    ledger.publish(RoutePlan(PACK))
    ledger.verify()


def test_a_generic_plan_is_named_with_or_without_its_argument(ledger: Ledger) -> None:
    @plan
    @dataclass(frozen=True)
    class Bundled(Generic[C]):
        carriers: Transferable[C]

    ledger.retain(FOLD, at="carriers.left", plan=Bundled[Pair])
    with pytest.raises(PublishError):
        ledger.publish(Bundled(None))
    ledger.publish(Bundled(Pair(FOLD, None)))


def test_a_subclass_owes_what_its_base_does(ledger: Ledger) -> None:
    @plan
    @dataclass(frozen=True)
    class Special(ScratchPlan):
        more: Fact[int] = 1

    ledger.retain(FOLD, at="fold", plan=ScratchPlan)
    with pytest.raises(PublishError):
        ledger.publish(Special(1, PENDING, PENDING))


# Several plans.


def test_plans_that_share_programs_must_each_be_complete(ledger: Ledger) -> None:
    ledger.retain_all({"fold": FOLD, "pack": PACK})
    small, large = ScratchPlan(1, FOLD, PACK), ScratchPlan(129, FOLD, PENDING)
    ledger.publish(small)
    with pytest.raises(PublishError) as caught:
        ledger.publish(large)
    assert (only(caught).program, only(caught).path) == (PACK, "pack")
    ledger.publish(replace(large, pack=PACK))
    # Given up on purpose is complete, as long as the program serves another plan.
    ledger.publish(replace(large, pack=Dropped("pack", "x")))


def test_two_capacities_with_programs_of_their_own_go_into_one_call(ledger: Ledger) -> None:
    small, large = Launcher("small"), Launcher("large")
    for program in (small, large):
        ledger.retain(program, at="held")
    with pytest.raises(PublishError, match="published in one call, or each in a section") as caught:
        ledger.publish(Holder(small))
    assert only(caught).program is large
    with pytest.raises(PublishError, match="small"):
        ledger.publish(Holder(large), Holder(large))
    ledger.publish(Holder(small), Holder(large))


def test_or_each_into_a_section(ledger: Ledger) -> None:
    one, two = ledger.section("1"), ledger.section("129")
    small, large = one.retain(Launcher("small"), at="held"), two.retain(Launcher("large"), at="held")
    one.publish(Holder(small))
    with pytest.raises(PublishError, match="ledger engine/129") as caught:
        two.publish(Holder(small))
    assert only(caught).program is large
    two.publish(Holder(large))
    assert ledger.section("1") is one
    assert two.name == "engine/129"


def test_a_section_may_reach_what_another_retains_but_is_not_relieved_by_it(ledger: Ledger) -> None:
    one, two = ledger.section("one"), ledger.section("two")
    one.retain(FOLD, at="held")
    two.publish(Holder(FOLD))
    with pytest.raises(PublishError):
        one.publish(Holder(PENDING))
    one.publish(Holder(FOLD))


def test_a_key_outside_a_declared_domain_is_not_owed(ledger: Ledger) -> None:
    small, large = Launcher("small"), Launcher("large")
    ledger.retain_all({"held[1]": small, "held[129]": large})
    plans = [Holder(CarrierMap({rows: one}, capacity=(rows,))) for rows, one in ((1, small), (129, large))]
    ledger.publish(*plans)
    with pytest.raises(PublishError):
        Ledger.publish(_with(large), Holder(CarrierMap({129: Absent("lost")}, capacity=(129,))))


def _with(program: object) -> Ledger:
    made = Ledger()
    made.retain(program, at="held[129]")
    return made


def test_what_is_retained_after_its_plan_was_published_is_found_in_it(ledger: Ledger) -> None:
    inner = Launcher("inner")
    ledger.retain(outer := Launcher("outer", inner))
    ledger.publish(Holder(outer))
    ledger.retain(inner)
    ledger.retain(PACK, at="pack")
    ledger.publish(RoutePlan(PACK))


# Letting go.


def test_a_withdrawn_plan_lets_its_programs_go_unless_another_reaches_them(ledger: Ledger) -> None:
    only_small, shared = Launcher("small"), Launcher("shared")
    ledger.retain_all([only_small, shared, waiting := Launcher("waiting")][:2])
    small, large = Holder((only_small, shared)), Holder((shared,))
    ledger.publish(small, large)
    ledger.retain(waiting, at="pack", plan=RoutePlan)
    assert list(ledger.withdraw(small)) == [only_small]
    assert list(ledger.retained) == [shared, waiting]
    assert list(ledger.withdraw(large)) == [shared]
    assert list(ledger.retained) == [waiting]
    assert [one for one in places() if one.plan is Holder and one.carrier in (only_small, shared)] == []


def test_a_withdrawn_program_goes_from_every_section_that_is_done_with_it(ledger: Ledger) -> None:
    one, two = ledger.section("one"), ledger.section("two")
    one.retain(FOLD)
    first, second = Holder(FOLD), Holder(FOLD)
    two.publish(second)
    one.publish(first)
    assert list(one.withdraw(first)) == []
    assert list(one.retained) == [FOLD]
    assert list(two.withdraw(second)) == [FOLD]
    assert list(one.retained) == []


def test_withdrawn_programs_and_plans_can_be_collected() -> None:
    class Session(Launcher): ...

    ledger = Ledger()
    program = Session("gone")
    made = Holder(program)
    ledger.retain(program)
    ledger.publish(made)
    refs: list[weakref.ref[Any]] = [weakref.ref(program), weakref.ref(made)]
    assert list(ledger.withdraw(made)) == [program]
    del program, made
    gc.collect()
    assert [ref() for ref in refs] == [None, None]


@pytest.mark.parametrize("given", [Holder(FOLD), None, 7], ids=repr)
def test_what_is_not_published_cannot_be_withdrawn(ledger: Ledger, given: object) -> None:
    ledger.retain(PACK)
    made = Holder(PACK)
    ledger.publish(made)
    with pytest.raises(NotPublishedError):
        ledger.withdraw(made, given)
    assert len(ledger.published) == 1


def test_a_reachable_program_cannot_be_released(ledger: Ledger) -> None:
    ledger.retain(FOLD)
    made = Holder((FOLD,))
    ledger.publish(made)
    with pytest.raises(StillReachableError, match=r"held\[0\]"):
        ledger.release(FOLD)
    with pytest.raises(NotACarrierError, match="not retained"):
        ledger.release(PACK)
    ledger.section("other").retain(FOLD, at="pack", plan=RoutePlan)
    ledger.release(FOLD)
    assert list(ledger.retained) == []
    ledger.section("other").publish(RoutePlan(FOLD))


# Retaining.


class Triton:
    """Classes that look like Triton's."""

    CompiledKernel = type("CompiledKernel", (), {"__module__": "triton.compiler.compiler", "name": "k"})
    JITFunction = type("JITFunction", (), {"__module__": "triton.runtime.jit", "__call__": lambda self: None})
    Other = type("JITFunction", (), {"__module__": "mine"})


@pytest.mark.parametrize(
    "given",
    [
        None,
        Absent("x"),
        Dropped("x", "y"),
        7,
        "text",
        (1, 2),
        (),
        {},
        int,
        {FOLD},
        iter([FOLD]),
        Triton.JITFunction(),
        [Triton.JITFunction()],
    ],
    ids=lambda value: type(value).__name__,
)
def test_only_carriers_are_retained(ledger: Ledger, given: object) -> None:
    with pytest.raises(NotACarrierError, match=r"retain(_all)?\(\)"):
        ledger.retain(given)
    with pytest.raises(NotACarrierError):
        ledger.retain_all([FOLD, given])
    assert list(ledger.retained) == []


@pytest.mark.parametrize("given", [7, FOLD], ids=repr)
def test_retain_all_wants_a_collection(ledger: Ledger, given: Any) -> None:
    with pytest.raises(NotACarrierError, match="no collection"):
        ledger.retain_all(given)


@pytest.mark.parametrize("at", ["", " ", "[0]", ".fold", "fold.", "fold[0", "a..b", 7, "nope", "rows"])
def test_a_path_must_be_one(ledger: Ledger, at: Any) -> None:
    with pytest.raises(InvalidPathError):
        ledger.retain(FOLD, at=at, plan=ScratchPlan)
    assert list(ledger.retained) == []


@pytest.mark.parametrize("given", [int, 7, Holder(FOLD), "Holder"])
def test_the_plan_that_owes_a_program_is_a_plan_class(ledger: Ledger, given: Any) -> None:
    with pytest.raises(NotAPlanError):
        ledger.retain(FOLD, at="held", plan=given)


def test_retaining_twice_is_retaining_once(ledger: Ledger) -> None:
    assert ledger.retain(FOLD, at="held") is FOLD
    ledger.retain(FOLD, at="held")
    ledger.retain(FOLD)
    assert list(ledger.retained) == [FOLD]


def test_a_program_may_be_owed_at_two_places(ledger: Ledger) -> None:
    ledger.retain(FOLD, at="fold")
    ledger.retain(FOLD, at="pack")
    with pytest.raises(PublishError, match="stands at fold instead"):
        ledger.publish(ScratchPlan(1, FOLD, PENDING))
    ledger.publish(ScratchPlan(1, FOLD, FOLD))


# Without a ledger.


def test_one_plan_can_be_published_against_what_the_caller_keeps() -> None:
    assert publish(Holder((FOLD, PACK)), retained=[FOLD, PACK]).paths == ("held[0]", "held[1]")
    with pytest.raises(PublishError):
        publish(ScratchPlan(1, FOLD, PACK), retained={"fold": PACK, "pack": FOLD})
    ledger = Ledger()
    ledger.retain(FOLD)
    publish(Holder(FOLD), retained=ledger)
    assert len(ledger.published) == 1
    with pytest.raises(NotACarrierError):
        publish(Holder(FOLD), retained=7)  # type: ignore[arg-type]


# Functions.


def closure_over(value: object) -> Callable[[], object]:
    def launch() -> object:
        return value

    return launch


def with_default(value: object) -> Callable[..., object]:
    def launch(kernel: object = value, *, more: object = None) -> object:
        return kernel, more

    return launch


class Opaque:
    def __init__(self, held: object) -> None:
        self.held = held

    def launch(self) -> object:
        return self.held


def unfilled() -> Callable[[], object]:
    """A function whose cell has no content yet, as of one that is defined before what it refers to."""
    made = closure_over(None)
    return FunctionType(made.__code__, globals(), "launch", None, (CellType(),))


def with_keyword_default(kernel: object) -> Callable[..., object]:
    def launch(*, held: object = kernel) -> object:
        return held

    return launch


def with_attribute(kernel: object) -> Callable[..., object]:
    made = closure_over(None)
    made.kernel = kernel  # type: ignore[attr-defined]
    return made


HIDING: Mapping[str, Callable[[object], object]] = {
    "closure": closure_over,
    "lambda": lambda kernel: lambda: kernel,
    "default": with_default,
    "keyword default": with_keyword_default,
    "partial argument": lambda kernel: functools.partial(print, kernel),
    "partial keyword": lambda kernel: functools.partial(print, end=kernel),
    "bound method of an opaque object": lambda kernel: Opaque(kernel).launch,
    "closure in a closure": lambda kernel: closure_over(closure_over(kernel)),
    "cached": lambda kernel: functools.cache(closure_over(kernel)),
    "in a tuple": lambda kernel: closure_over((8, kernel)),
    "in a dict in a list": lambda kernel: closure_over([{"k": kernel}]),
    "in a record": lambda kernel: closure_over(Pair(kernel, None)),
    "bound builtin": lambda kernel: [kernel].count,
    "partial of a closure": lambda kernel: functools.partial(closure_over(kernel)),
    "attribute": with_attribute,
}


@pytest.mark.parametrize("hide", HIDING.values(), ids=HIDING)
@pytest.mark.parametrize(
    "kernel", [FOLD, Triton.CompiledKernel(), Triton.JITFunction()], ids=["declared", "kernel", "jit"]
)
def test_a_function_that_captures_a_launchable_is_refused_with_advice(
    ledger: Ledger, hide: Callable[[object], object], kernel: object
) -> None:
    function = hide(kernel)
    ledger.retain(function, at="held")
    with pytest.raises(PublishError, match="@carrier") as caught:
        ledger.publish(Holder(function))
    one = only(caught)
    assert isinstance(one, BareClosureError)
    assert one.captured is kernel
    assert one.function is function
    assert one.path == "held"


def test_what_is_retained_is_launchable_wherever_it_hides(ledger: Ledger) -> None:
    kernel = Opaque(1)
    ledger.retain(kernel, at="held")
    with pytest.raises(PublishError) as caught:
        ledger.publish(Holder(closure_over(kernel)))
    assert {type(one) for one in differences(caught)} == {BareClosureError, UnreachableProgramError}


def plain(rows: int) -> int:
    return rows


@pytest.mark.parametrize(
    "function",
    [plain, abs, closure_over(7), functools.partial(plain, 3), closure_over(plain), unfilled()],
    ids=lambda value: type(value).__name__,
)
def test_a_function_that_captures_no_launchable_is_a_program_like_any_other(ledger: Ledger, function: object) -> None:
    with pytest.raises(PublishError) as caught:
        ledger.publish(Holder(function))
    assert isinstance(only(caught), UnretainedProgramError)
    ledger.retain(function)
    ledger.publish(Holder(function))


def reads_a_global(rows: int) -> object:
    return [FOLD for _ in range(rows)]


def names_like_a_global(rows: Any) -> object:
    return rows.FOLD


def test_a_function_that_reads_a_launchable_from_its_module_hides_it_as_well(ledger: Ledger) -> None:
    ledger.retain(reads_a_global, at="held")
    with pytest.raises(PublishError, match="globals, as FOLD") as caught:
        ledger.publish(Holder(reads_a_global))
    assert only(caught).captured is FOLD
    publish(Holder(names_like_a_global), retained=[names_like_a_global])


def test_a_mock_is_a_program_like_any_other() -> None:
    for program in (Mock(), MagicMock(), Mock(spec=Absent)):
        publish(Holder(program), retained={"held": program})


def test_a_launcher_with_much_in_it_is_searched_in_linear_time() -> None:
    program = Opaque(list(range(100_000)))
    publish(Holder(program), retained=[program])


def test_nothing_is_nothing(ledger: Ledger) -> None:
    ledger.retain(FOLD)
    assert ledger.publish() == ()
    with pytest.raises(PublishError, match="programs without a plan"):
        ledger.verify()
    Ledger().verify()


def test_functions_that_capture_each_other_end_the_search(ledger: Ledger) -> None:
    ring: list[object] = []
    ring.append(closure_over(ring))
    ledger.retain(ring[0])
    ledger.publish(Holder(ring[0]))


def test_what_compiles_when_launched_is_no_carrier(ledger: Ledger) -> None:
    with pytest.raises(PublishError, match=r"warmup\(\)") as caught:
        ledger.publish(Holder(Triton.JITFunction()))
    assert isinstance(only(caught), ResolvingCarrierError)
    kernel = ledger.retain(Triton.CompiledKernel(), at="held")
    ledger.publish(Holder(kernel))


# Maps.


@pytest.mark.parametrize(
    "value", [{8: FOLD}, MappingProxyType({8: FOLD}), {}, (FOLD, {1: FOLD}), Pair({}, FOLD)], ids=repr
)
def test_a_map_without_a_domain_is_refused(ledger: Ledger, value: object) -> None:
    ledger.retain(FOLD)
    with pytest.raises(PublishError, match="CarrierMap") as caught:
        ledger.publish(Holder(value))
    assert any(isinstance(one, UndeclaredMapError) for one in differences(caught))


def test_a_map_of_plain_data_is_none_of_carriers(ledger: Ledger) -> None:
    ledger.retain(FOLD)
    ledger.publish(Holder(({"rows": 8, "names": ("a", "b")}, FOLD)))


# Hostile values.


class Hostile:
    """Objects to everything but having its type asked for."""

    def _no(self, *args: object) -> Any:
        raise AssertionError("a carrier was asked more than its type")

    __eq__ = __ne__ = __lt__ = __bool__ = __len__ = __iter__ = __repr__ = __str__ = __contains__ = _no
    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(f"{name} was computed")

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        raise AssertionError("a carrier was asked what it claims to be")


class Slotted:
    __slots__ = ()


class Tensor:
    def __bool__(self) -> bool:
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")

    def __eq__(self, other: object) -> Any:
        return Tensor()

    __hash__ = object.__hash__


class Equal:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("kind", [Hostile, Slotted, Tensor, Equal])
def test_hostile_carriers_are_compared_by_identity(kind: Callable[[], object]) -> None:
    ledger = Ledger()
    one, two = kind(), kind()
    ledger.retain(one, at="held")
    ledger.publish(made := Holder(one))
    with pytest.raises(PublishError) as caught:
        ledger.publish(Holder(two))
    assert {type(one) for one in differences(caught)} == {UnreachableProgramError, UnretainedProgramError}
    assert len([one for one in places() if one.plan is Holder and one.path == "held"]) >= 1
    (released,) = ledger.withdraw(made)
    assert released is one


def test_a_place_in_memory_that_is_used_again_is_no_identity() -> None:
    ledger = Ledger()
    for number in range(200):
        program = Slotted()
        if number % 2:
            with pytest.raises(PublishError):
                ledger.publish(Holder(program))
        else:
            made = Holder(program)
            ledger.retain(program)
            ledger.publish(made)
            ledger.withdraw(made)
        del program
    assert list(ledger.retained) == []


def test_cycles_deep_and_shared_structures_end(ledger: Ledger) -> None:
    ledger.retain(FOLD)
    loop: list[object] = [FOLD]
    loop.append(loop)
    deep: object = FOLD
    for _ in range(3_000):
        deep = (deep,)
    wide: object = (FOLD,)
    for _ in range(200):
        wide = (wide, wide)
    data: object = ()
    for _ in range(200):
        data = (data, data)
    for value in (loop, deep, wide, (FOLD,) * 10_000, Pair(data, FOLD)):
        made = Holder(value)
        (done,) = ledger.publish(made)
        assert done.programs[0] == "Launcher 'fold'"
        ledger.verify()
    while isinstance(deep, tuple):  # the interpreter itself may not get to the bottom of it at once
        (deep,) = deep


def test_a_carrier_that_refers_to_its_plan_is_no_leak() -> None:
    ledger = Ledger()
    program = Opaque(None)
    made = Holder(program)
    program.held = made
    ledger.retain(program)
    ledger.publish(made)
    ref = weakref.ref(made)
    del ledger, program, made
    gc.collect()
    assert ref() is None


def test_many_threads_may_publish_and_withdraw() -> None:
    ledger = Ledger()
    shared = ledger.retain(Launcher("shared"), at="pack")
    ledger.publish(RoutePlan(shared))
    errors: list[BaseException] = []
    start = threading.Barrier(8)

    def work(number: int) -> None:
        try:
            start.wait()
            section = ledger.section(f"{number % 4}")
            for _ in range(60):
                own = section.retain(Launcher(f"{number}"), at="held", plan=Holder)
                made = Holder((own, shared))
                with_others = ledger.section(f"own {number}")
                with_others.retain(own, at="held")
                with_others.publish(made)
                section.release(own)
                with_others.withdraw(made)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == []
    assert list(ledger.retained) == [shared]
    assert all(ledger.section(f"own {number}").retained == () for number in range(8))


def test_a_plan_class_that_calls_back_into_the_ledger_gets_an_answer() -> None:
    ledger = Ledger()

    class Curious(Opaque):
        @property
        def name(self) -> str:
            ledger.retain(self)
            return f"one of {len(ledger.retained)}"

    program = Curious(None)
    with pytest.raises(PublishError):
        ledger.publish(Holder(program))
    ledger.publish(Holder(program))


# Publishing, as a law.

programs = st.lists(st.sampled_from([Launcher(str(number)) for number in range(6)]), unique=True, max_size=6)


@given(reachable=programs, retained=programs, data=st.data())
def test_a_plan_is_published_exactly_if_what_it_reaches_is_what_is_retained(
    reachable: list[Launcher], retained: list[Launcher], data: st.DataObject
) -> None:
    nests: list[Any] = [tuple, list, lambda items: tuple((len(items), one) for one in items)]
    nest = data.draw(st.sampled_from(nests))
    ledger = Ledger()
    for program in retained:
        ledger.retain(program, at=data.draw(st.sampled_from([None, "held"])))
    made = Holder(nest(reachable))
    if set(reachable) == set(retained):
        ledger.publish(made)
        return
    with pytest.raises(PublishError) as caught:
        ledger.publish(made)
    lost = {one.program for one in differences(caught) if isinstance(one, UnreachableProgramError)}
    loose = {one.program for one in differences(caught) if isinstance(one, UnretainedProgramError)}
    assert lost <= set(retained) - set(reachable)
    assert bool(lost) == bool(set(retained) - set(reachable))
    assert loose == set(reachable) - set(retained)


def test_errors_travel_and_copies_are_refused(ledger: Ledger) -> None:
    ledger.retain(FOLD, at="held")
    with pytest.raises(PublishError) as caught:
        ledger.publish(Holder(PENDING))
    back = pickle.loads(pickle.dumps(caught.value))
    assert str(back) == str(caught.value)
    assert back.plans == (Holder,)
    with pytest.raises(TypeError):
        copy.deepcopy(ledger)
    assert "1 retained" in repr(ledger)
