"""The table of published carriers: it tells where each one stands, and keeps nothing alive."""

from __future__ import annotations

import gc
import os
import threading
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from ownership import Ledger, Transferable, plan
from ownership._published import Published, note, places, retract


class Launcher: ...


class Slotted:
    """Cannot be referred to weakly."""

    __slots__ = ()


@plan
@dataclass
class Plan:
    held: Transferable[Any]


@plan
class Tupled(NamedTuple):
    held: Transferable[Any]


def of(*plans: type) -> list[Published]:
    return [place for place in places() if place.plan in plans]


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    yield
    gc.collect()
    assert of(Plan, Tupled) == []


def test_a_carrier_is_listed_once_for_each_path_while_it_lives() -> None:
    one = Launcher()
    for path in ("a", "b", "a"):
        note(one, plan=Plan, path=path)
    assert of(Plan) == [(one, Plan, "a"), (one, Plan, "b")]
    del one
    gc.collect()
    assert of(Plan) == []


def test_what_is_noted_twice_is_taken_back_twice() -> None:
    one = Launcher()
    note(one, plan=Plan, path="a")
    note(one, plan=Plan, path="a")
    retract(one, plan=Plan, path="a")
    assert of(Plan) == [(one, Plan, "a")]
    retract(one, plan=Plan, path="a")
    retract(one, plan=Plan, path="a")
    assert of(Plan) == []


def test_a_carrier_without_weak_references_is_found_through_its_plan() -> None:
    ledger = Ledger()
    program = ledger.retain(Slotted())
    held = Plan((program,))
    ledger.publish(held)
    assert [(one.carrier is program, one.path) for one in of(Plan)] == [(True, "held[0]")]
    held.held = None
    assert of(Plan) == []
    ref = weakref.ref(held)
    del held, ledger, program
    gc.collect()
    assert ref() is None


def test_where_neither_can_be_referred_to_weakly_nothing_is_listed() -> None:
    ledger = Ledger()
    ledger.publish(Tupled(ledger.retain(Slotted())))
    assert of(Tupled) == []
    ledger.publish(Tupled(ledger.retain(Launcher(), plan=Tupled)), Tupled(ledger.retained[0]))
    assert [one.path for one in of(Tupled)] == ["held"]


def test_a_carrier_that_outlives_its_plan_is_not_listed_for_it() -> None:
    """A launcher that a whole process shares must not gather a place for each plan that ever had it."""
    program = Launcher()
    for _ in range(3):
        ledger = Ledger()
        ledger.retain(program)
        ledger.publish(Plan((program,) * 100))
        assert len(of(Plan)) == 100
        del ledger
        gc.collect()
        assert of(Plan) == []


def test_a_plan_class_can_go() -> None:
    def local() -> tuple[object, weakref.ref[type]]:
        @plan
        @dataclass
        class Local:
            held: Transferable[Any]

        one = Launcher()
        note(one, plan=Local, path="held")
        return one, weakref.ref(Local)

    one, ref = local()
    gc.collect()
    assert ref() is None
    assert one not in [place.carrier for place in places()]


def test_a_place_in_memory_that_is_used_again_belongs_to_the_new_object() -> None:
    for number in range(500):
        one = Launcher()
        note(one, plan=Plan, path="held")
        assert [place.carrier for place in of(Plan)] == [one], number
        del one


def test_two_plans_of_a_class_with_the_same_carrier_may_go_one_by_one() -> None:
    ledger = Ledger()
    program = ledger.retain(Launcher())
    first, second = Plan(program), Plan(program)
    ledger.publish(first, second)
    ledger.publish(first)
    ledger.withdraw(first)
    assert of(Plan) == [(program, Plan, "held")]
    ledger.withdraw(second)
    assert of(Plan) == []


def test_threads_and_the_collector_do_not_disturb_it() -> None:
    errors: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(300):
                ring = Launcher()
                ring.self = ring  # type: ignore[attr-defined]
                note(ring, plan=Plan, path="held")
                places()
                del ring
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    before = gc.get_threshold()
    gc.set_threshold(5)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        gc.set_threshold(*before)
    assert errors == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_fork_while_another_thread_is_at_work_leaves_it_usable() -> None:
    from ownership import _published

    one = Launcher()
    note(one, plan=Plan, path="held")
    taken, done = threading.Event(), threading.Event()

    def hold() -> None:
        with _published._lock:
            taken.set()
            done.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait(30)
    child = os.fork()
    if child == 0:  # the lock's holder does not exist here
        os._exit(0 if [place.path for place in places() if place.plan is Plan] == ["held"] else 1)
    done.set()
    thread.join(30)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
