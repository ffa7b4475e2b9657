"""A kernel is resolved after the freeze."""

from __future__ import annotations

from scratch import Launcher, ScratchPlan, compile_launcher, prepare

from ownership import Absent
from ownership.resolution import freeze, resolver

compile_guarded = resolver(compile_launcher)


def lossy(prepared: ScratchPlan) -> Launcher:
    return compile_guarded("pack")  # wrong


def whole(prepared: ScratchPlan) -> Launcher | Absent:
    return prepared.pack


def wrong() -> None:
    prepared = prepare(8)
    with freeze("serving"):
        lossy(prepared)


def right() -> None:
    prepared = prepare(8)
    with freeze("serving"):
        whole(prepared)
