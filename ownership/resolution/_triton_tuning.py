"""Tuning runs of `triton.autotune`: they measure for seconds, even when every configuration is compiled already.

Triton has no hook for them. A tuning run asks once for the configurations to try and then measures each: those two
methods are replaced while a guard is in force. A launch whose configuration is known calls neither.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping
from typing import Any

from ownership.resolution._frames import frames
from ownership.resolution._observe import Observation, judge
from ownership.resolution._triton_words import Prepared, program_name
from ownership.resolution.events import Difference

__all__ = ["Tunings"]


class Tunings:
    """The tuning runs that go on, by tuner and thread, with the number of configurations still to measure."""

    def __init__(self) -> None:
        self._running: dict[tuple[int, int], tuple[Observation, int]] = {}

    def judged(self, prune: Callable[..., Any]) -> Callable[..., Any]:
        """`Autotuner.prune_configs`, which judges the run that asks."""

        @functools.wraps(prune)
        def prune_configs(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            caller = next(frame for frame in frames() if frame.f_globals.get("__name__") != __name__)
            key = caller.f_locals.get("key")
            if caller.f_code.co_name != "run" or not isinstance(key, tuple):
                # `warmup` compiles all configurations; each of them is judged by itself.
                return prune(tuner, *args, **kwargs)
            observation = _judged(tuner, key)
            observation.enforce()
            configs = prune(tuner, *args, **kwargs)
            self._running[id(tuner), threading.get_ident()] = (observation, len(configs))
            return configs

        return prune_configs

    def counted(self, bench: Callable[..., Any]) -> Callable[..., Any]:
        """`Autotuner._bench`, which ends the run with its last configuration."""

        @functools.wraps(bench)
        def measured(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            me = (id(tuner), threading.get_ident())
            observation, left = self._running.pop(me, (None, 0))
            result = bench(tuner, *args, **kwargs)
            if observation is not None and left > 1:
                self._running[me] = (observation, left - 1)
            elif observation is not None:
                observation.done()
            return result

        return measured


def _judged(tuner: Any, key: tuple[Any, ...]) -> Observation:
    words = _words(tuner, key)
    known = [_words(tuner, other) for other in list(tuner.cache)]
    prepared = [Prepared(one, _differences(words, one)) for one in known]
    best = min(prepared, key=lambda one: len(one.differences), default=None)
    return judge(
        resolver="triton.autotune",
        program=program_name(tuner.base_fn),
        specialization=words,
        nearest=best.words if best is not None else None,
        differences=best.differences if best is not None else (),
    )


def _words(tuner: Any, key: tuple[Any, ...]) -> dict[str, str]:
    names = [name for name in tuner.keys if name in tuner.arg_names]
    names += [f"dtype {number}" for number in range(1, len(key) - len(names) + 1)]
    return {name: str(value) for name, value in zip(names, key, strict=False)}


def _differences(asked: Mapping[str, str], prepared: Mapping[str, str]) -> tuple[Difference, ...]:
    return tuple(
        Difference(name, text, prepared.get(name, "(not there)"))
        for name, text in asked.items()
        if prepared.get(name) != text
    )
