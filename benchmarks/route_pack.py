"""Device time of packing routes, both algorithms, captured in a graph.

    python -m benchmarks.route_pack                     1 to 4096 tokens x top-8 over 256 experts; needs a CUDA device
    python -m benchmarks.route_pack --check             exit status 1 when a goal is missed
    python -m benchmarks.route_pack --all               1 to 16384 tokens, 64, 256 and 896 experts, top-8 and top-16
    python -m benchmarks.route_pack --capacity 4096     small live counts in a plan of that capacity

A graph holds a row of packs, each of other ids than the one before; a replay is timed with events from an idle device
and divided by the number of packs. So a time has what the device takes between the launches of a graph, and not what it
takes to start one: that is in "alone", the time of a graph with a single pack. "torch.sort" is a stable sort of the ids
in a row of the same kind, which a packing by sorting would begin with.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.device import libraries

#: Tokens, topk, experts and microseconds that a pack may take; fewer tokens must take one launch.
GOAL_SIZE = (4096, 8, 256)
GOALS = {"ordinary": 20.0, "stable": 30.0}
ONE_LAUNCH_TOKENS = 129
ROW = 16


@dataclass(frozen=True)
class Times:
    """Microseconds of one pack: median, first and last tenth."""

    median: float
    p10: float
    p90: float

    def __str__(self) -> str:
        return f"{self.median:9.2f}{self.p10:8.2f}{self.p90:8.2f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and say whether the goals are met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200, help="replays of each graph (200)")
    parser.add_argument("--block", type=int, default=16, help="rows of a block (16)")
    parser.add_argument("--capacity", type=int, help="capacity of every plan, in tokens (by default that of the row)")
    parser.add_argument("--ids", choices=["int32", "int64"], default="int64", help="dtype of the ids (int64)")
    parser.add_argument("--all", action="store_true", help="more shapes")
    parser.add_argument("--check", action="store_true", help="exit status 1 when a goal is missed")
    options = parser.parse_args(arguments)
    found = libraries("route_pack")
    if found is None:
        return 2
    torch, triton = found
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, Triton {triton.__version__}")
    print(f"block {options.block}, ids {options.ids}, microseconds, {options.rounds} replays of {ROW} packs")
    print(
        f"{'tokens':>6}{'topk':>5}{'experts':>8}  {'algorithm':10}{'launches':>8}{'median':>9}{'p10':>8}{'p90':>8}",
        end="",
    )
    print(f"{'alone':>9}{'torch.sort':>12}{'goal':>10}")
    sizes = [(tokens, 8, 256) for tokens in (1, 8, 129, 1024, 4096)]
    if options.all:
        sizes = list(itertools.product((1, 8, 129, 4096, 16384), (8, 16), (64, 256, 896)))
    missed = 0
    for size in sizes:
        for algorithm, goal in GOALS.items():
            missed += _measured(torch, size, algorithm, goal if size == GOAL_SIZE else None, options)
    print("The goals are met." if not missed else f"{missed} goals are missed.")
    return 1 if options.check and missed else 0


def _measured(torch: Any, size: tuple[int, int, int], algorithm: Any, goal: float | None, options: Any) -> bool:
    """Print the row of one size and algorithm, and say whether it misses a goal."""
    from backend.kernels.route_pack import RoutePackDeclaration, prepare_route_pack

    tokens, topk, experts = size
    pack = prepare_route_pack(
        RoutePackDeclaration(
            algorithm,
            capacity_tokens=max(tokens, options.capacity or 0),
            topk=topk,
            experts=experts,
            block=options.block,
            id_dtype=options.ids,
        )
    )
    views = pack.views(torch.empty(pack.layout.nbytes, dtype=torch.uint8, device="cuda"))
    # A router chooses an expert at most once for a token.
    scores = [torch.rand(tokens, experts, device="cuda") for _ in range(ROW)]
    rows = [score.topk(topk).indices.to(getattr(torch, options.ids)) for score in scores]

    def packs(count: int) -> Callable[[], None]:
        def run() -> None:
            for ids in rows[:count]:
                pack(ids, views)

        return run

    def sorts() -> None:
        for ids in rows:
            torch.sort(ids.view(-1), stable=True)

    times = _timed(torch, packs(ROW), ROW, options.rounds)
    alone = _timed(torch, packs(1), 1, options.rounds)
    sorting = _timed(torch, sorts, ROW, options.rounds)
    launches = 1 if tokens * topk <= pack.layout.single_routes else 3
    wanted = f"< {goal:.0f}" if goal is not None else "1 launch" if tokens <= ONE_LAUNCH_TOKENS else ""
    row = f"{tokens:6}{topk:5}{experts:8}  {algorithm:10}{launches:8}{times}"
    print(f"{row}{alone.median:9.2f}{sorting.median:12.2f}{wanted:>10}")
    return times.median >= goal if goal is not None else tokens <= ONE_LAUNCH_TOKENS and launches > 1


def _timed(torch: Any, work: Callable[[], None], count: int, rounds: int) -> Times:
    """The times of one of `count` equal pieces of work, over replays of a graph of all of them."""
    work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    taken = []
    for number in range(rounds + rounds // 10 + 1):
        torch.cuda.synchronize()
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        if number > rounds // 10:  # the first ones warm up
            taken.append(begin.elapsed_time(end) * 1000 / count)
    tenths = statistics.quantiles(taken, n=10)
    return Times(statistics.median(taken), tenths[0], tenths[-1])


if __name__ == "__main__":
    sys.exit(main())
