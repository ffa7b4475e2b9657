"""One program of a route pack: compiled and loaded, or interpreted on the CPU; launched the same way in both cases."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Program", "interpreted", "resolve"]


@dataclass(frozen=True, eq=False, slots=True)
class Program:
    """A kernel with its constants, ready to be launched without asking Triton's JIT.

    Attributes:
        name: the name of the kernel.
        kernel: what Triton compiled; under the interpreter, the interpreted function.
        constants: what was fixed at compilation, by name, in the order of the parameters.
        warps: warps of a program instance.
        seconds: what compiling (or finding it in Triton's cache on disk) and loading took; 0 under the interpreter.

    """

    name: str
    kernel: Any
    constants: Mapping[str, int | bool]
    warps: int
    seconds: float

    def launch(self, grid: int, arguments: Sequence[object]) -> None:
        """Launch `grid` instances on the current stream of the current device."""
        self.kernel[grid, 1, 1](*arguments, *self.constants.values())


def interpreted(function: Any) -> bool:
    """Whether Triton interprets the function, which it decided when the function was decorated."""
    return type(function).__name__ == "InterpretedFunction"


def resolve(function: Any, arguments: Sequence[object], constants: Mapping[str, int | bool], *, warps: int) -> Program:
    """Compile and load a kernel for the current device, so that its first launch finds everything in place.

    `arguments` are those of a launch up to the constants, with a dtype of torch for each pointer.
    """
    name = function.fn.__name__
    if interpreted(function):
        return Program(name, function, dict(constants), warps, 0.0)
    start = time.perf_counter()
    kernel = function.warmup(*arguments, *constants.values(), grid=(1, 1, 1), num_warps=warps)
    # Loading is lazy otherwise, and would come under the freeze.
    kernel._init_handles()
    return Program(name, kernel, dict(constants), warps, time.perf_counter() - start)
