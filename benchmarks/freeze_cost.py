"""Host time of a prepared Triton launch: without a guard, under a freeze, in record mode, and without the JIT.

    python -m benchmarks.freeze_cost                    a table; needs a CUDA device
    python -m benchmarks.freeze_cost --check            exit status 1 when a freeze costs 1 % or more

The ways take turns in every round, in another order each time, so that clocks and caches treat them alike. A round
times a burst of launches that the queue of the device can hold, from an idle device. What a freeze costs is taken from
the differences within rounds, and given with the range in which their median lies with 95 % confidence.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib.util
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from benchmarks.device import libraries
from ownership.resolution import freeze

KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def fold(source, target, scale, n_rows, n_columns, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    values = tl.load(source + offsets, mask=offsets < n_rows)
    tl.store(target + offsets, values * scale + n_columns, mask=offsets < n_rows)
"""

FREE, FROZEN, RECORD, DIRECT = "no guard", "freeze", "freeze, record", "kernel launched directly"
GOAL = 0.01


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and say whether a freeze costs less than the goal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=400, help="rounds, each with a burst of each way (400)")
    parser.add_argument("--burst", type=int, default=200, help="launches in a burst (200)")
    parser.add_argument("--check", action="store_true", help="exit status 1 when the goal is missed")
    options = parser.parse_args(arguments)
    found = libraries("freeze_cost")
    if found is None:
        return 2
    torch, triton = found
    print(f"{torch.cuda.get_device_name()}, Triton {triton.__version__}, Python {sys.version.split()[0]}")
    times = _measured(torch, rounds=options.rounds, burst=options.burst)
    print(_table(times))
    low, middle, high = _cost(times[FREE], times[FROZEN])
    print(f"A freeze costs {middle:+.2%} of a launch (95 %: {low:+.2%} to {high:+.2%}); the goal is below {GOAL:.0%}.")
    return 1 if options.check and middle >= GOAL else 0


def _measured(torch: Any, *, rounds: int, burst: int) -> dict[str, list[float]]:
    """Seconds of one launch, by way and round."""
    with tempfile.TemporaryDirectory() as folder:
        fold = _kernel(Path(folder))
        source, target = torch.ones(128, device="cuda"), torch.zeros(128, device="cuda")
        arguments = (source, target, 0.5, 67, 4096, 128)
        prepared = fold[(1,)](*arguments)[1, 1, 1]

        def through_the_jit() -> None:
            fold[(1,)](*arguments)

        def direct() -> None:
            prepared(*arguments)

        ways: dict[str, tuple[Callable[[], None], Callable[[], AbstractContextManager[object]]]] = {
            FREE: (through_the_jit, contextlib.nullcontext),
            FROZEN: (through_the_jit, lambda: freeze("serving")),
            RECORD: (through_the_jit, lambda: freeze("serving", mode="record")),
            DIRECT: (direct, contextlib.nullcontext),
        }
        times: dict[str, list[float]] = {name: [] for name in ways}
        turns, chance = list(ways), random.Random(0)
        gc.collect()
        gc.disable()
        try:
            for number in range(rounds + rounds // 10):
                chance.shuffle(turns)
                for name in turns:
                    launch, guard = ways[name]
                    with guard():
                        launch()
                        torch.cuda.synchronize()
                        start = time.perf_counter()
                        for _ in range(burst):
                            launch()
                        taken = time.perf_counter() - start
                        torch.cuda.synchronize()
                    if number >= rounds // 10:  # the first ones warm up
                        times[name].append(taken / burst)
        finally:
            gc.enable()
        return times


def _kernel(folder: Path) -> Any:
    # Triton reads the source of a kernel from its file, and this module must be importable without Triton.
    path = folder / "freeze_cost_kernel.py"
    path.write_text(KERNEL, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.fold


def _table(times: dict[str, list[float]]) -> str:
    lines = [f"{'way':26}{'median µs':>11}{'p10':>8}{'p90':>8}{'against no guard':>18}"]
    base = statistics.median(times[FREE])
    for name, seconds in times.items():
        tenths = statistics.quantiles(seconds, n=10)
        middle = statistics.median(seconds)
        against = "" if name == FREE else f"{middle / base - 1:+.2%}"
        lines.append(f"{name:26}{middle * 1e6:11.2f}{tenths[0] * 1e6:8.2f}{tenths[-1] * 1e6:8.2f}{against:>18}")
    return "\n".join(lines)


def _cost(free: Sequence[float], frozen: Sequence[float]) -> tuple[float, float, float]:
    """The median of the relative differences within rounds, between the ends of its 95 % confidence interval."""
    shares = sorted(ours / theirs - 1 for theirs, ours in zip(free, frozen, strict=True))
    # Ranks of a sign test, in its normal approximation.
    half = round(0.98 * len(shares) ** 0.5)
    middle = len(shares) // 2
    low, high = shares[max(0, middle - half)], shares[min(len(shares) - 1, middle + half)]
    return low, statistics.median(shares), high


if __name__ == "__main__":
    sys.exit(main())
