"""CPU time of mypy on b12x with the plugin and without it, cold and warm.

    python -m benchmarks.types_cost                      b12x, fetched from the registry
    python -m benchmarks.types_cost --b12x FOLDER        an unpacked wheel or a source tree
    python -m benchmarks.types_cost --check              exit status 1 when the goal is missed

The declaration of the published bug is in force, so that the plugin has plans to look at. Each number is user and
system time of one process of its own. On and off take turns, and who begins changes with each pair; the table shows
medians, and the ratio is the median of the pairs' own ratios, which a slow moment of the machine hits alike.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.lint_speed import Cost, copy_sources, expect, measure
from demo.wheel import DECLARATION, fetch, unpack

#: On against off, cold and warm.
GOAL = 1.05

COMMON = "[mypy]\ncheck_untyped_defs = True\nignore_missing_imports = True\n"
CONFIGS = {"off": COMMON, "on": f"{COMMON}plugins = ownership.mypy_plugin\n"}


@dataclass(frozen=True)
class Pair:
    """Two runs, one after the other, that differ in nothing but the plugin."""

    off: Cost
    on: Cost

    @property
    def ratio(self) -> float:
        return self.on.cpu / self.off.cpu


def run(root: Path, name: str) -> Cost:
    """One run of mypy, from what is in its cache."""
    folder = root.parent
    command = [sys.executable, "-m", "mypy", "-p", "b12x", "--config-file", str(folder / f"{name}.ini")]
    cost = measure([*command, "--cache-dir", str(folder / f"cache_{name}")], root)
    return expect(cost, (0, 1), f"mypy, plugin {name}")


def pairs(root: Path, rounds: int) -> tuple[list[Pair], list[Pair]]:
    """The pairs of cold runs, and those of warm ones."""
    cold: list[Pair] = []
    warm: list[Pair] = []
    for number in range(rounds):
        order = ("off", "on") if number % 2 == 0 else ("on", "off")
        for name in order:
            shutil.rmtree(root.parent / f"cache_{name}", ignore_errors=True)
        for found in (cold, warm):
            costs = {name: run(root, name) for name in order}
            found.append(Pair(costs["off"], costs["on"]))
    return cold, warm


def messages(pair: Pair) -> int:
    """How many messages only the plugin gives."""
    return sum("[ownership-" in line for line in pair.on.output.splitlines())


def show(tables: Iterable[tuple[str, list[Pair]]]) -> bool:
    """Print the table and return whether the goal is met."""
    met = True
    print(f"  {'':8}{'off s':>8}{'on s':>8}{'ratio':>8}{'lowest':>8}{'highest':>9}{'goal':>7}")
    for name, found in tables:
        off, on = (statistics.median(getattr(pair, side).cpu for pair in found) for side in ("off", "on"))
        ratios = sorted(pair.ratio for pair in found)
        ratio = statistics.median(ratios)
        remark = "" if ratio <= GOAL else "  goal missed"
        met = met and not remark
        numbers = f"{off:8.2f}{on:8.2f}{ratio:8.3f}{ratios[0]:8.3f}{ratios[-1]:9.3f}{GOAL:7.2f}"
        print(f"  {name:8}{numbers}  messages: {messages(found[0])}{remark}")
    return met


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(description="CPU time of mypy on b12x with the plugin and without it.")
    parser.add_argument("--b12x", type=Path, help="folder that holds the package b12x, version 1.5.1")
    parser.add_argument("--rounds", type=int, default=5, help="how many pairs are measured (default: 5)")
    parser.add_argument("--check", action="store_true", help="exit with status 1 when the goal is missed")
    arguments = parser.parse_args()
    here = Path(__file__).resolve().parent.parent
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(here), os.environ.get("PYTHONPATH"))))
    os.environ["CARRYALL_CONFIG"] = str(DECLARATION)
    with tempfile.TemporaryDirectory() as folder:
        source = arguments.b12x or unpack(fetch(), Path(folder) / "fetched")
        root = Path(folder) / "sources"
        lines = copy_sources(source, root)
        for name, text in CONFIGS.items():
            (Path(folder) / f"{name}.ini").write_text(text, encoding="utf-8")
        print(f"mypy -p b12x: {lines:,} lines, {arguments.rounds} pairs, CPU seconds")
        cold, warm = pairs(root, arguments.rounds)
        met = show((("cold", cold), ("warm", warm)))
    return 0 if met or not arguments.check else 1


if __name__ == "__main__":
    sys.exit(main())
