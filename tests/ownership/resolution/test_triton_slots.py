"""The descriptor before a hook slot, against every way in which others use the slot; no Triton needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ownership.resolution._triton_slots import Chained, Slot


class Foreign:
    """A hook of somebody else, which calls what it found, or not."""

    def __init__(self, seen: list[object], before: Callable[[int], object] | None) -> None:
        self.seen = seen
        self.before = before

    def __call__(self, event: int) -> object:
        self.seen.append(self)
        return self.before(event) if self.before is not None else self


class Games(RuleBasedStateMachine):
    """Whoever sets what, whenever: each event reaches us once and the chain that others have built once, too."""

    @initialize()
    def start(self) -> None:
        self.seen: list[object] = []

        class Knobs:
            hook: Any = None

        self.knobs = Knobs()
        self.slot = Slot("hook", self.ours, lambda event: event)
        self.saved: list[Any] = [None]
        self.events = 0

    def ours(self, event: int) -> Callable[[], None] | None:
        self.seen.append("ours")
        return None

    @rule()
    def install(self) -> None:
        if not self.slot.installed:
            self.slot.install(type(self.knobs))

    @rule()
    def install_another(self) -> None:
        """As a new adapter would."""
        if not self.slot.installed:
            self.slot = Slot("hook", self.ours, lambda event: event)
            self.slot.install(type(self.knobs))

    @rule()
    def uninstall(self) -> None:
        if self.slot.installed:
            self.slot.uninstall(type(self.knobs))
            assert vars(type(self.knobs))["hook"] is None

    @rule()
    def overwrite(self) -> None:
        self.knobs.hook = Foreign(self.seen, None)

    @rule()
    def chain(self) -> None:
        self.knobs.hook = Foreign(self.seen, self.knobs.hook)

    @rule()
    def save(self) -> None:
        self.saved.append(self.knobs.hook)

    @rule(index=st.integers(0, 20))
    def put_back(self, index: int) -> None:
        self.knobs.hook = self.saved[index % len(self.saved)]

    @rule()
    def forget(self) -> None:
        vars(self.knobs).pop("hook", None)

    @rule()
    def fire(self) -> None:
        self.events += 1
        hook: Any = self.knobs.hook
        expected: list[object] = ["ours"] if self.slot.installed else []
        below, innermost = hook, None
        while below is not None:
            if isinstance(below, Chained):
                below = below.found
            else:
                expected.append(below)
                innermost = below
                below = below.before
        self.seen.clear()
        result = hook(self.events) if hook is not None else None
        assert self.seen == expected
        assert result is (innermost if innermost is not None and innermost.before is None else None)

    @invariant()
    def nothing_piles_up(self) -> None:
        hook: Any = self.knobs.hook if hasattr(self, "knobs") else None
        assert not isinstance(hook, Chained) or not isinstance(hook.found, Chained) or not self.slot.installed


Games.TestCase.settings = settings(max_examples=200, stateful_step_count=40, deadline=None)
TestGames = Games.TestCase


def test_what_we_raise_flies_after_others_have_seen_the_event() -> None:
    seen: list[object] = []

    class Knobs:
        hook: Any = None

    def enforce() -> None:
        raise KeyError("ours")

    slot = Slot("hook", lambda event: enforce, lambda event: event)
    slot.install(Knobs)
    knobs = Knobs()
    knobs.hook = foreign = Foreign(seen, None)
    for _ in range(2):
        with pytest.raises(KeyError, match="ours"):
            knobs.hook(1)
    assert seen == [foreign, foreign]
    slot.uninstall(Knobs)
    assert knobs.hook is foreign


def test_a_slot_that_is_not_there_is_an_error_and_none_is_made() -> None:
    class Knobs:
        """Has no hooks."""

    slot = Slot("hook", lambda event: None, lambda event: event)
    with pytest.raises(AttributeError):
        slot.install(Knobs)
    assert not hasattr(Knobs, "hook")
    assert not slot.installed
