"""CPU time and memory of `carryall check`, beside `ast.parse` and ruff on the same files in the same run.

    python -m benchmarks.lint_speed                                   b12x, fetched from the registry
    python -m benchmarks.lint_speed --b12x FOLDER --torch FOLDER      unpacked wheels or source trees
    python -m benchmarks.lint_speed --check                           exit status 1 when a goal is missed

Only the Python files are copied to a temporary folder, so the folder given is left as it is and no configuration above
it is read. Each number is user and system time of one process of its own; the table shows the median of the rounds.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from demo.wheel import DECLARATION, fetch, unpack

# A plan record that torch copies with `replace`, so that torch is measured with rules at work, not only with an index.
TORCH_DECLARATION = """\
[[tool.carryall.plan]]
class = "torch.distributed.checkpoint.planner.SavePlan"
transferable = ["storage_data", "planner_data"]
"""

PARSE_ALL = """\
import ast, sys, time, warnings
from pathlib import Path
warnings.simplefilter("ignore")
files = [path.read_bytes() for path in sorted(Path(sys.argv[1]).rglob("*.py"))]
start = time.process_time()
for data in files:
    try:
        ast.parse(data)
    except SyntaxError:  # newer syntax than this Python's
        pass
print(time.process_time() - start)
"""

RSS_GOAL = 400.0


@dataclass(frozen=True)
class Corpus:
    """A tree to measure and what is hoped for; the goals are multiples of the `ast.parse` process."""

    name: str
    root: Path
    declaration: str
    cold_goal: float
    warm_goal: float | None


@dataclass(frozen=True)
class Cost:
    """What one process took, and what it printed."""

    cpu: float
    rss: float
    status: int
    output: str


@dataclass(frozen=True)
class Row:
    """One line of the table: the medians of a way of reading the tree."""

    name: str
    cpu: float
    rss: float | None
    goal: float | None
    remark: str = ""


def measure(command: Sequence[str], cwd: Path) -> Cost:
    """Run the command and return what it cost, its own children included.

    `wait4` gives the numbers of this one process; `RUSAGE_CHILDREN` would give the highest memory of all so far.
    """
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, cwd=cwd, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        output = out.read().decode(errors="replace")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode, output)


def copy_sources(source: Path, target: Path) -> int:
    """Copy the Python files, links left out, and return the number of their lines."""
    lines = 0
    for path in sorted(source.rglob("*.py")):
        if path.is_file() and not path.is_symlink():
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
            lines += copy.read_bytes().count(b"\n")
    return lines


def expect(cost: Cost, statuses: tuple[int, ...], what: str) -> Cost:
    """The cost, if the process ended well; a measurement of a failure would be worth nothing."""
    if cost.status not in statuses:
        sys.exit(f"{what} ended with status {cost.status}, so there is nothing to compare:\n{cost.output[-2000:]}")
    return cost


def rows(corpus: Corpus, root: Path, rounds: int) -> list[Row]:
    """Measure one tree. The ways take turns, so that a slow moment of the machine hits them alike."""
    declaration = root.parent / f"{corpus.name}.toml"
    declaration.write_text(corpus.declaration, encoding="utf-8")
    (root / "pyproject.toml").write_text("[tool.carryall]\n", encoding="utf-8")
    parse = [sys.executable, "-c", PARSE_ALL, str(root)]
    ruff = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--isolated",
        "--no-cache",
        "--select",
        "F",
        "--exit-zero",
        "-q",
        ".",
    ]
    check = [sys.executable, "-m", "lint_rules", "check", "--format", "json"]
    declared = [*check, "--config", str(declaration)]
    costs: dict[str, list[Cost]] = {name: [] for name in ("parse", "ruff", "cold", "warm", "undeclared")}
    for _ in range(rounds):
        costs["parse"].append(expect(measure(parse, root), (0,), "ast.parse"))
        costs["ruff"].append(expect(measure(ruff, root), (0,), "ruff"))
        shutil.rmtree(root / ".carryall_cache", ignore_errors=True)
        costs["cold"].append(expect(measure(declared, root), (0, 1), "carryall check, cold"))
        costs["warm"].append(expect(measure(declared, root), (0, 1), "carryall check, warm"))
        shutil.rmtree(root / ".carryall_cache", ignore_errors=True)
        costs["undeclared"].append(expect(measure(check, root), (0,), "carryall check, nothing declared"))
    cpu = {name: statistics.median(cost.cpu for cost in of) for name, of in costs.items()}
    rss = {name: max(cost.rss for cost in of) for name, of in costs.items()}
    loop = statistics.median(float(cost.output) for cost in costs["parse"])
    found = {len(cost.output.splitlines()) for cost in (*costs["cold"], *costs["warm"])}
    remark = f"findings: {', '.join(map(str, sorted(found)))}"
    return [
        Row("ast.parse of every file, its process", cpu["parse"], rss["parse"], None),
        Row("ast.parse of every file, the loop alone", loop, None, None),
        Row("ruff check --select F", cpu["ruff"], rss["ruff"], None),
        Row("carryall check, cold", cpu["cold"], rss["cold"], corpus.cold_goal, remark),
        Row("carryall check, warm", cpu["warm"], rss["warm"], corpus.warm_goal, remark),
        Row("carryall check, cold, nothing declared", cpu["undeclared"], rss["undeclared"], corpus.cold_goal),
    ]


def show(rows: list[Row]) -> bool:
    """Print the table and return whether every goal is met. Ratios are to the first row."""
    base = rows[0].cpu
    met = True
    print(f"  {'':42}{'CPU s':>8}{'ratio':>8}{'goal':>8}{'RSS MB':>9}")
    for row in rows:
        goal = "" if row.goal is None else f"{row.goal:.2f}"
        rss = "" if row.rss is None else f"{row.rss:.0f}"
        missed = []
        if row.goal is not None and row.cpu / base > row.goal:
            missed.append("time")
        if row.name.startswith("carryall") and row.rss is not None and row.rss >= RSS_GOAL:
            missed.append("memory")
        verdict = f"  goal missed: {', '.join(missed)}" if missed else ""
        remark = f"  {row.remark}" if row.remark else ""
        print(f"  {row.name:42}{row.cpu:8.2f}{row.cpu / base:8.2f}{goal:>8}{rss:>9}{remark}{verdict}")
        met = met and not missed
    return met


def corpora(b12x: Path | None, torch: Path | None, scratch: Path) -> list[Corpus]:
    """The trees that were named; b12x from the registry when none was."""
    if b12x is None and torch is None:
        b12x = unpack(fetch(), scratch / "fetched")
    found = []
    if b12x is not None:
        found.append(Corpus("b12x", b12x, DECLARATION.read_text(encoding="utf-8"), cold_goal=1.0, warm_goal=0.15))
    if torch is not None:
        found.append(Corpus("torch", torch, TORCH_DECLARATION, cold_goal=0.6, warm_goal=None))
    return found


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(description="CPU time of `carryall check` beside `ast.parse` and ruff.")
    parser.add_argument("--b12x", type=Path, help="folder that holds the package b12x, version 1.5.1")
    parser.add_argument("--torch", type=Path, help="folder that holds the package torch")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured (default: 5)")
    parser.add_argument("--check", action="store_true", help="exit with status 1 when a goal is missed")
    arguments = parser.parse_args()
    met = True
    with tempfile.TemporaryDirectory() as folder:
        for corpus in corpora(arguments.b12x, arguments.torch, Path(folder)):
            root = Path(folder) / corpus.name
            lines = copy_sources(corpus.root, root)
            print(f"{corpus.name}: {lines:,} lines, median of {arguments.rounds}; RSS goal under {RSS_GOAL:.0f} MB")
            met = show(rows(corpus, root, arguments.rounds)) and met
    return 0 if met or not arguments.check else 1


if __name__ == "__main__":
    sys.exit(main())
