from __future__ import annotations

import asyncio
import inspect
import pickle
import threading
import warnings
from collections.abc import Callable, Iterator

import pytest

from ownership.resolution import (
    BlankReasonError,
    Freeze,
    NotFreezableError,
    Resolution,
    ResolutionFrozenError,
    ResolutionWarning,
    UnknownModeError,
    freeze,
    freezes,
    labelled,
    observe,
    owned_by,
    permit,
    report,
    subscribe,
    watch,
)


def resolve(program: str = "engine.kernels.fold", owner: str | None = None) -> Resolution:
    observation = observe(resolver="test", program=program, specialization={"n": "16"}, owner=owner)
    observation.done(0.5)
    return observation.resolution


def refused(program: str = "engine.kernels.fold", owner: str | None = None) -> bool:
    try:
        resolve(program, owner)
    except ResolutionFrozenError:
        return True
    return False


def test_a_freeze_is_in_force_when_the_function_returns_and_until_it_is_lifted() -> None:
    guard = freeze("serving")
    assert guard.in_force
    assert refused()
    guard.lift()
    assert not guard.in_force
    assert not refused()
    guard.lift()


def test_a_freeze_stays_in_force_when_nobody_holds_it() -> None:
    freeze("serving")
    assert refused()
    # The way out for a test; programs that want to lift a freeze keep it.
    from ownership.resolution._process import process

    process.leave(process.entries[0])


def test_a_with_block_lifts_at_its_end_and_does_not_freeze_twice() -> None:
    with freeze("serving") as guard:
        assert [info.reason for info in freezes()] == ["serving"]
        assert refused()
    assert not guard.in_force
    assert not refused()


def test_a_with_block_lifts_when_it_raises() -> None:
    with pytest.raises(KeyError), freeze("serving"):
        raise KeyError
    assert not freezes()


def test_the_place_is_the_line_that_froze() -> None:
    frame = inspect.currentframe()
    assert frame is not None
    with freeze("serving") as guard:
        line = frame.f_lineno - 1
    assert guard.info.place == f"{__file__}:{line}"


@pytest.mark.parametrize("first", [0, 1, 2])
@pytest.mark.parametrize("second", [0, 1])
def test_guards_may_be_lifted_in_any_order_and_lift_no_other(first: int, second: int) -> None:
    guards = [freeze("a"), freeze("b"), freeze("c")]
    for index in (first, second, 0):
        guards.pop(min(index, len(guards) - 1)).lift()
        assert [guard.info for guard in guards] == list(freezes())
        assert refused() == bool(guards)


def test_the_strictest_guard_wins_and_a_mild_one_weakens_nothing() -> None:
    with freeze("outer"), freeze("inner", mode="record"):
        assert refused()
    with freeze("outer", mode="record"), freeze("inner"):
        assert refused()
    with freeze("outer", mode="record"), freeze("inner", mode="warn"), pytest.warns(ResolutionWarning, match="fold"):
        assert resolve().verdict == "warned"


def test_record_lets_through_and_records() -> None:
    with freeze("outer", mode="record"):
        resolution = resolve()
    assert resolution.verdict == "recorded"
    assert report().resolutions == (resolution,)


def test_a_watch_records_and_refuses_nothing() -> None:
    with watch() as guard:
        assert resolve().verdict == "allowed"
        assert guard.in_force
        assert not freezes()


def test_a_watch_does_not_soften_a_freeze() -> None:
    with freeze("serving"), watch():
        assert refused()


def test_a_freeze_holds_in_every_thread() -> None:
    seen: list[bool] = []
    with freeze("serving"):
        thread = threading.Thread(target=lambda: seen.append(refused()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_entered_twice_it_is_lifted_by_the_last_block() -> None:
    guard = freeze("serving")
    with guard:
        with guard:
            pass
        assert refused()
    assert not guard.in_force


def test_entered_after_it_was_lifted_it_is_in_force_again() -> None:
    guard = freeze("serving")
    guard.lift()
    with guard:
        assert refused()
    assert not guard.in_force


class TestOwner:
    def test_a_freeze_with_an_owner_applies_to_what_that_owner_resolves(self) -> None:
        with freeze("serving", owner="engine-a"):
            assert refused(owner="engine-a")
            assert not refused(owner="engine-b")
            assert not refused()
            with owned_by("engine-a"):
                assert refused()

    def test_the_context_goes_before_what_a_resolver_states(self) -> None:
        with freeze("serving", owner="engine-a"), owned_by("engine-b"):
            assert not refused(owner="engine-a")

    def test_a_freeze_without_an_owner_applies_to_all(self) -> None:
        with freeze("serving"), owned_by("engine-b"):
            assert refused()

    def test_without_a_named_owner_a_program_belongs_to_the_packages_that_it_is_in(self) -> None:
        with freeze("serving", owner="engine"):
            assert refused("engine.kernels.fold")
            assert not refused("engine_b.kernels.fold")
            with owned_by("other"):
                assert not refused("engine.kernels.fold")
        with freeze("serving", owner="engine.kernels"):
            assert refused("engine.kernels.fold")
            assert not refused("engine.other.fold")

    def test_an_owner_holds_for_one_context_and_nests(self) -> None:
        with owned_by("a"):
            with owned_by("b"):
                assert resolve().owner == "b"
            assert resolve().owner == "a"
        assert resolve().owner is None


class TestPermit:
    def test_it_lets_through_and_is_reported_with_its_reason(self) -> None:
        with freeze("serving") as guard, permit("a new adapter was loaded"):
            resolution = resolve()
        assert resolution.verdict == "allowed"
        assert resolution.permit == "a new adapter was loaded"
        assert resolution.freezes == (guard.info,)

    def test_it_ends_with_its_block(self) -> None:
        with freeze("serving"):
            with permit("once"):
                pass
            assert refused()

    def test_it_does_not_reach_other_threads(self) -> None:
        seen: list[bool] = []
        with freeze("serving"), permit("here"):
            thread = threading.Thread(target=lambda: seen.append(refused()))
            thread.start()
            thread.join()
        assert seen == [True]

    def test_it_does_not_reach_other_tasks(self) -> None:
        async def other() -> bool:
            await asyncio.sleep(0)
            return refused()

        async def both() -> bool:
            task = asyncio.create_task(other())
            with permit("here"):
                return await task

        with freeze("serving"):
            assert asyncio.run(both())

    def test_without_a_freeze_it_leaves_no_trace(self) -> None:
        with permit("here"):
            assert resolve().permit is None

    def test_the_same_permit_may_be_entered_again(self) -> None:
        capability = permit("here")
        with freeze("serving"):
            with capability, capability:
                assert not refused()
            assert refused()


def test_one_permit_may_be_used_by_many_threads_at_once() -> None:
    capability = permit("adapters")
    inside = threading.Barrier(4)
    seen: list[tuple[bool, bool]] = []

    def work() -> None:
        with capability:
            inside.wait()
            first = refused()
            inside.wait()
        seen.append((first, refused()))

    with freeze("serving"):
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert seen == [(False, True)] * 4


class TestDecorator:
    def test_each_call_is_frozen_and_nothing_else(self) -> None:
        @freeze("step")
        def step(number: int) -> tuple[int, bool]:
            """One step."""
            return number, refused()

        assert not freezes()
        assert step(3) == (3, True)
        assert not refused()
        assert (step.__name__, step.__doc__) == ("step", "One step.")

    def test_recursion_and_exceptions(self) -> None:
        @freeze("step")
        def step(depth: int) -> int:
            if depth == 0:
                raise KeyError
            assert len(freezes()) >= 1
            return step(depth - 1)

        with pytest.raises(KeyError):
            step(5)
        assert not freezes()

    def test_coroutine_functions_are_frozen_until_they_have_returned(self) -> None:
        @freeze("step")
        async def step() -> bool:
            await asyncio.sleep(0)
            return refused()

        coroutine = step()
        assert not freezes()
        assert asyncio.run(coroutine)
        assert not freezes()

    def test_functions_that_return_a_coroutine_too(self) -> None:
        async def inside() -> bool:
            await asyncio.sleep(0)
            return refused()

        @freeze("step")
        def step() -> object:
            return inside()

        coroutine = step()
        assert inspect.iscoroutine(coroutine)
        assert asyncio.run(coroutine)
        assert not freezes()

    def test_methods_static_and_class_methods(self) -> None:
        class Engine:
            @freeze("a")
            def plain(self) -> bool:
                return isinstance(self, Engine) and refused()

            @freeze("b")
            @staticmethod
            def static() -> bool:
                return refused()

            @freeze("c")
            @classmethod
            def of_class(cls) -> bool:
                return cls is Engine and refused()

        assert Engine().plain()
        assert Engine.static()
        assert Engine.of_class()
        assert not freezes()

    def test_a_freeze_that_is_in_use_as_a_block_is_not_lifted_by_decorating(self) -> None:
        with freeze("serving") as guard:
            guard(lambda: None)()
            assert refused()

    @pytest.mark.parametrize("given", [int, 3])
    def test_what_cannot_be_frozen_is_refused_and_nothing_stays_frozen(self, given: object) -> None:
        with pytest.raises(NotFreezableError, match="not a function"):
            freeze("step")(given)  # type: ignore[arg-type]
        assert not freezes()

    def test_generators_are_refused(self) -> None:
        def steps() -> Iterator[int]:
            yield 1

        with pytest.raises(NotFreezableError, match="generator"):
            freeze("step")(steps)
        assert not freezes()


class TestListeners:
    def test_a_listener_gets_what_has_finished_and_what_was_refused(self) -> None:
        seen: list[Resolution] = []
        unsubscribe = subscribe(seen.append)
        resolve()
        with freeze("serving"):
            refused()
        unsubscribe()
        unsubscribe()
        resolve()
        assert [(one.verdict, one.seconds) for one in seen] == [("allowed", 0.5), ("refused", None)]

    def test_done_counts_once(self) -> None:
        seen: list[Resolution] = []
        unsubscribe = subscribe(seen.append)
        observation = observe(resolver="test", program="p", specialization={})
        observation.done(1.0)
        observation.done(2.0)
        unsubscribe()
        assert [one.seconds for one in seen] == [1.0]

    def test_without_a_time_done_measures(self) -> None:
        observation = observe(resolver="test", program="p", specialization={})
        observation.done()
        seconds = observation.resolution.seconds
        assert seconds is not None
        assert 0 <= seconds < 5

    def test_a_listener_that_resolves_does_not_hear_itself(self) -> None:
        seen: list[str] = []

        def listener(resolution: Resolution) -> None:
            seen.append(resolution.program)
            resolve("inner")

        unsubscribe = subscribe(listener)
        resolve("outer")
        unsubscribe()
        assert seen == ["outer"]
        assert {one.program for one in report().resolutions} == {"outer", "inner"}

    def test_a_listener_that_raises_is_reported_and_stops_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        hooked: list[object] = []
        monkeypatch.setattr("sys.unraisablehook", lambda args: hooked.append(args.exc_value))
        error = KeyError("mine")

        def listener(resolution: Resolution) -> None:
            raise error

        unsubscribe = subscribe(listener)
        resolve()
        unsubscribe()
        assert hooked == [error]


def test_a_label_counts_for_all_threads_and_the_latest_counts() -> None:
    with labelled("outer"):
        with labelled("inner"):
            thread = threading.Thread(target=resolve)
            thread.start()
            thread.join()
        resolve()
    resolve()
    assert [one.label for one in report().resolutions] == ["inner", "outer", None]


@pytest.mark.parametrize("function", [freeze, permit, owned_by, labelled])
@pytest.mark.parametrize("given", ["", "  ", None, 3])
def test_words_are_wanted(function: Callable[[object], object], given: object) -> None:
    with pytest.raises(BlankReasonError, match=function.__name__):
        function(given)
    assert not freezes()


def test_a_blank_owner_and_an_unknown_mode_are_refused() -> None:
    with pytest.raises(BlankReasonError, match="owner"):
        freeze("x", owner="")
    with pytest.raises(UnknownModeError, match="error, warn, record"):
        freeze("x", mode="strict")  # type: ignore[arg-type]
    assert not freezes()


def test_a_warning_made_an_error_does_not_lose_the_record() -> None:
    with freeze("serving", mode="warn"), warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ResolutionWarning, match=r"engine\.kernels\.fold"):
            resolve()
    assert [one.verdict for one in report().resolutions] == ["warned"]


def test_a_freeze_cannot_be_sent_elsewhere() -> None:
    with freeze("serving") as guard, pytest.raises(TypeError, match="freeze there too"):
        pickle.dumps(guard)


def test_a_freeze_shows_what_it_is() -> None:
    with freeze("serving", owner="engine-a") as guard:
        assert "freeze of engine-a 'serving'" in repr(guard)
        assert "in force" in repr(guard)
        assert isinstance(guard, Freeze)
    assert "lifted" in repr(guard)
