"""What an adapter tells the guard, and what the guard says to it."""

from __future__ import annotations

import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from ownership.resolution._frames import place
from ownership.resolution._history import history
from ownership.resolution._process import process
from ownership.resolution._scopes import innermost, owner_in_context, permit_in_context
from ownership.resolution.errors import ResolutionFrozenError, ResolutionWarning
from ownership.resolution.events import Action, Difference, FreezeInfo, Mode, Resolution, Verdict

__all__ = ["Observation", "judge", "observe", "subscribe"]

_VERDICTS: dict[Mode, Verdict] = {"error": "refused", "warn": "warned", "record": "recorded"}
_local = threading.local()


class Observation:
    """A resolution that was judged. Call `enforce` before it is carried out and `done` when it is."""

    __slots__ = ("_finished", "_number", "_start", "resolution")

    def __init__(self, resolution: Resolution) -> None:
        self.resolution = resolution
        self._number = history.add(resolution)
        self._start = time.perf_counter()
        self._finished = False

    def enforce(self) -> None:
        """Raise `ResolutionFrozenError` if it was refused; warn if a freeze in mode "warn" applies."""
        if self.resolution.verdict == "refused":
            raise ResolutionFrozenError.of(self.resolution)
        if self.resolution.verdict == "warned":
            warnings.warn(str(ResolutionFrozenError.of(self.resolution)), ResolutionWarning, stacklevel=3)

    def done(self, seconds: float | None = None) -> None:
        """The program is there, after so many seconds (by default, those since it was judged). Once is enough."""
        if self._finished:
            return
        self._finished = True
        taken = time.perf_counter() - self._start if seconds is None else seconds
        self.resolution = replace(self.resolution, seconds=taken)
        history.finish(self._number, self.resolution)
        _notify(self.resolution)


def judge(
    *,
    resolver: str,
    program: str,
    specialization: Mapping[str, str],
    action: Action = "resolve",
    owner: str | None = None,
    nearest: Mapping[str, str] | None = None,
    differences: Sequence[Difference] = (),
    plan_field: str | None = None,
    replay: Mapping[str, str] | None = None,
) -> Observation:
    """Record that a program is about to be resolved and what the guards in force say to it, without raising.

    For an adapter that has something to do before the error flies; others call `observe`. The owner of the context
    (`owned_by`) goes before the one given here.
    """
    owner = innermost(owner_in_context) or owner
    freezes = process.applying(owner, program)
    permit = innermost(permit_in_context) if freezes else None
    labels = tuple(process.labels.values())
    observation = Observation(
        Resolution(
            resolver=resolver,
            program=program,
            specialization=dict(specialization),
            action=action,
            owner=owner,
            thread=threading.current_thread().name,
            caller=place(),
            started=time.time(),
            verdict="allowed" if permit is not None else _verdict(freezes),
            freezes=freezes,
            permit=permit,
            label=labels[-1] if labels else None,
            nearest=None if nearest is None else dict(nearest),
            differences=tuple(differences),
            plan_field=plan_field,
            replay=None if replay is None else dict(replay),
        )
    )
    if observation.resolution.verdict == "refused":
        _notify(observation.resolution)
    return observation


def observe(
    *,
    resolver: str,
    program: str,
    specialization: Mapping[str, str],
    action: Action = "resolve",
    owner: str | None = None,
    nearest: Mapping[str, str] | None = None,
    differences: Sequence[Difference] = (),
    plan_field: str | None = None,
    replay: Mapping[str, str] | None = None,
) -> Observation:
    """Record that a program is about to be resolved, and refuse it if a guard in force does.

    Returns a handle: call its `done()` once the program is there.

    Raises:
        ResolutionFrozenError: a freeze in mode "error" applies, and no permit.

    """
    observation = judge(
        resolver=resolver,
        program=program,
        specialization=specialization,
        action=action,
        owner=owner,
        nearest=nearest,
        differences=differences,
        plan_field=plan_field,
        replay=replay,
    )
    observation.enforce()
    return observation


def subscribe(listener: Callable[[Resolution], None]) -> Callable[[], None]:
    """Have `listener` called with each resolution that has finished or was refused; returns what ends that.

    It is called in the thread that resolves. What it raises goes to `sys.unraisablehook`; what it resolves itself is
    judged and reported, but not handed to listeners.
    """
    mine = object()
    process.listeners[mine] = listener

    def unsubscribe() -> None:
        process.listeners.pop(mine, None)

    return unsubscribe


def _notify(resolution: Resolution) -> None:
    if getattr(_local, "notifying", False):
        return
    _local.notifying = True
    try:
        for listener in tuple(process.listeners.values()):
            try:
                listener(resolution)
            except Exception as error:  # noqa: BLE001 - a listener must not change what resolution does
                unraisable: Any = SimpleNamespace(
                    exc_type=type(error),
                    exc_value=error,
                    exc_traceback=error.__traceback__,
                    err_msg="Exception ignored in a resolution listener",
                    object=listener,
                )
                sys.unraisablehook(unraisable)
    finally:
        _local.notifying = False


def _verdict(freezes: tuple[FreezeInfo, ...]) -> Verdict:
    for mode, verdict in _VERDICTS.items():
        if any(freeze.mode == mode for freeze in freezes):
            return verdict
    return "allowed"
