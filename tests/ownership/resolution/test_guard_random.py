"""Guards that come and go at random, against a model that a child could check."""

from __future__ import annotations

import contextlib
import random
import threading
import time
import warnings
from dataclasses import dataclass

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from ownership.resolution import (
    Freeze,
    Mode,
    Resolution,
    ResolutionFrozenError,
    ResolutionWarning,
    Watch,
    freeze,
    freezes,
    observe,
    owned_by,
    permit,
    report,
    subscribe,
    watch,
)
from ownership.resolution._history import history
from ownership.resolution._process import process

OWNERS = st.sampled_from([None, "a", "b", "pkg"])
MODES: st.SearchStrategy[Mode] = st.sampled_from(["error", "warn", "record"])
PROGRAMS = st.sampled_from(["pkg.kernel", "pkg2.kernel", "kernel"])


@dataclass(eq=False)
class Model:
    """A freeze, as simple as can be."""

    mode: Mode
    owner: str | None
    in_force: bool = True
    entered: int = 0


@dataclass(eq=False)
class Pair:
    guard: Freeze
    model: Model


class Guards(RuleBasedStateMachine):
    """Freezing, lifting, entering, leaving, permitting and resolving, in whatever order."""

    pairs = Bundle("pairs")
    watches = Bundle("watches")

    @initialize()
    def start(self) -> None:
        assert not process.entries
        history.renew()
        self.models: list[Model] = []
        self.open: list[Pair] = []
        self.alive: list[Watch] = []
        self.scopes = contextlib.ExitStack()
        self.permits: list[str] = []
        self.owners: list[str] = []
        self.expected: list[str] = []
        self.heard: list[Resolution] = []
        self.unsubscribe = subscribe(self.heard.append)

    @rule(target=pairs, mode=MODES, owner=OWNERS)
    def begin(self, mode: Mode, owner: str | None) -> Pair:
        model = Model(mode, owner)
        self.models.append(model)
        pair = Pair(freeze("some reason", owner=owner, mode=mode), model)
        self.alive.append(pair.guard)
        return pair

    @rule(target=watches)
    def begin_watch(self) -> Watch:
        guard = watch()
        self.alive.append(guard)
        return guard

    @rule(guard=consumes(watches))
    def end_watch(self, guard: Watch) -> None:
        guard.lift()

    @rule(pair=pairs)
    def lift(self, pair: Pair) -> None:
        pair.guard.lift()
        pair.model.in_force = False

    @rule(pair=pairs)
    def enter(self, pair: Pair) -> None:
        pair.guard.__enter__()
        if not pair.model.in_force:
            # Back in force, it comes after the others.
            self.models.remove(pair.model)
            self.models.append(pair.model)
        pair.model.in_force = True
        pair.model.entered += 1
        self.open.append(pair)

    @rule(index=st.integers(0, 10))
    def leave(self, index: int) -> None:
        if self.open:
            pair = self.open.pop(index % len(self.open))
            pair.guard.__exit__(None, None, None)
            pair.model.entered -= 1
            if pair.model.entered == 0:
                pair.model.in_force = False

    @rule(pair=pairs)
    def decorate(self, pair: Pair) -> None:
        decorated = pair.guard(freezes)
        if pair.model.entered == 0:
            pair.model.in_force = False
        inside = decorated()
        assert len(inside) == sum(model.in_force for model in self.models) + 1
        assert inside[-1] == pair.guard.info

    @rule(reason=st.sampled_from(["one", "two"]))
    def allow(self, reason: str) -> None:
        self.scopes.enter_context(permit(reason))
        self.permits.append(reason)

    @rule(owner=st.sampled_from(["a", "b"]))
    def own(self, owner: str) -> None:
        self.scopes.enter_context(owned_by(owner))
        self.owners.append(owner)

    @rule()
    def forget_scopes(self) -> None:
        self.scopes.close()
        self.permits.clear()
        self.owners.clear()

    @rule(program=PROGRAMS, stated=st.sampled_from([None, "a", "b"]))
    def resolve(self, program: str, stated: str | None) -> None:
        owner = self.owners[-1] if self.owners else stated
        modes = {
            model.mode
            for model in self.models
            if model.in_force
            and (
                model.owner is None
                or model.owner == owner
                or (owner is None and program.partition(".")[0] == model.owner)
            )
        }
        if self.permits or not modes:
            verdict = "allowed"
        else:
            verdict = next(
                word
                for mode, word in (("error", "refused"), ("warn", "warned"), ("record", "recorded"))
                if mode in modes
            )
        self.expected.append(verdict)
        refused = warned = False
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                observe(resolver="test", program=program, specialization={}, owner=stated).done(0.0)
            except ResolutionFrozenError:
                refused = True
        warned = any(issubclass(one.category, ResolutionWarning) for one in caught)
        assert (refused, warned) == (verdict == "refused", verdict == "warned")
        latest = report().resolutions[-1]
        assert latest.verdict == verdict
        assert latest.owner == owner
        assert latest.permit == (self.permits[-1] if self.permits and modes else None)

    @invariant()
    def what_is_in_force_is_what_the_model_says(self) -> None:
        if hasattr(self, "models"):
            assert [(one.mode, one.owner) for one in freezes()] == [
                (model.mode, model.owner) for model in self.models if model.in_force
            ]

    @invariant()
    def everything_is_reported_and_heard_once(self) -> None:
        if hasattr(self, "models"):
            assert [one.verdict for one in report().resolutions] == self.expected
            assert [one.verdict for one in self.heard] == self.expected

    def teardown(self) -> None:
        if hasattr(self, "models"):
            self.scopes.close()
            self.unsubscribe()
            for guard in self.alive:
                guard.lift()
        assert not process.entries


Guards.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
TestGuards = Guards.TestCase


@pytest.mark.parametrize("seed", range(3))
def test_threads_that_freeze_and_lift_at_random_never_unfreeze_what_another_has_frozen(seed: int) -> None:
    stop = time.monotonic() + 0.7
    failures: list[BaseException] = []

    def refused() -> bool:
        try:
            observe(resolver="test", program="p", specialization={}).done(0.0)
        except ResolutionFrozenError:
            return True
        return False

    def work(number: int) -> None:
        chance = random.Random(seed * 100 + number)
        mine: list[Freeze] = []
        try:
            while time.monotonic() < stop:
                match chance.randrange(5):
                    case 0:
                        mine.append(freeze(f"thread {number}"))
                    case 1 if mine:
                        mine.pop(chance.randrange(len(mine))).lift()
                    case 2 if mine:
                        with chance.choice(mine) as guard:
                            assert refused()
                        mine.remove(guard)
                    case 3:
                        with permit("here"):
                            assert not refused()
                    case _:
                        assert refused() or not mine
                assert all(guard.in_force for guard in mine)
        except BaseException as error:  # noqa: BLE001 - it is raised in the main thread
            failures.append(error)
        finally:
            for guard in mine:
                guard.lift()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    assert not refused()
