"""What the tests of the freeze need with a device and without one: kernels, and the calls that a launch makes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["KERNELS", "calls_of"]

KERNELS = """
import triton
import triton.language as tl


@triton.jit
def add(x, n_rows, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    values = tl.load(x + offsets, mask=offsets < n_rows)
    tl.store(x + offsets, values + 1, mask=offsets < n_rows)


@triton.autotune([triton.Config({}, num_warps=4), triton.Config({}, num_warps=8)], key=["n_rows"])
@triton.jit
def tuned(x, n_rows, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x + offsets, 2.0, mask=offsets < n_rows)


@triton.heuristics({"BLOCK": lambda given: 32 if given["n_rows"] < 32 else 64})
@triton.jit
def guessed(x, n_rows, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x + offsets, 0.0, mask=offsets < n_rows)


@triton.jit(do_not_specialize=["n_rows"])
def general(x, n_rows, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x + offsets, 0.0, mask=offsets < n_rows)


@triton.jit
def with_mode(x, MODE: tl.constexpr):
    tl.store(x, 1.0)


@triton.jit
def in_tuple(given):
    tl.store(given[0], given[1])


def made():
    @triton.jit
    def made_again(x):
        tl.store(x, 1.0)

    return made_again
"""


def calls_of(launch: Callable[[], object]) -> list[object]:
    """The functions that a call runs, of Python by their code, others by their name."""
    seen: list[object] = []

    def profile(frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            seen.append(frame.f_code)
        elif event == "c_call":
            seen.append(getattr(argument, "__qualname__", None))

    gc.disable()  # a collection would be seen, with the callbacks of whoever is told of it
    sys.setprofile(profile)
    try:
        launch()
    finally:
        sys.setprofile(None)
        gc.enable()
    return seen
