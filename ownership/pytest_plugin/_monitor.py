"""`--kernel-compiles`: who resolved what, over the whole run, with pytest-xdist too."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Final

import pytest

from ownership.resolution import Resolution, labelled, subscribe, watch

__all__ = ["Monitor", "Row", "table"]

_KEY: Final = "carryall_kernel_compiles"
_WORDS: Final = 100


@dataclass(frozen=True)
class Row:
    """A line of the table: plain values, which pytest-xdist can send."""

    started: float
    seconds: float | None
    action: str
    verdict: str
    resolver: str
    program: str
    specialization: str
    permit: str | None
    test: str
    phase: str
    worker: str = ""


class Monitor:
    """Watches resolution from the configuration of pytest to its end; registered as a plugin by the flag."""

    def __init__(self, config: pytest.Config, mode: str) -> None:
        self._config = config
        self._mode = mode
        self._started = time.time()
        self._rows: list[Row] = []
        self._silent: list[str] = []
        self._test, self._phase = "", "collection"
        self._watch = watch()
        self._unsubscribe = subscribe(self._seen)

    def _seen(self, event: Resolution) -> None:
        self._rows.append(
            Row(
                started=event.started,
                seconds=event.seconds,
                action=event.action,
                verdict=event.verdict,
                resolver=event.resolver,
                program=event.program,
                specialization=", ".join(f"{name}: {value}" for name, value in event.specialization.items()),
                permit=event.permit,
                test=self._test,
                phase=self._phase,
            )
        )

    @contextmanager
    def _during(self, item: pytest.Item, phase: str) -> Iterator[None]:
        self._test, self._phase = item.nodeid, phase
        try:
            with labelled(f"{item.nodeid} ({phase})"):
                yield
        finally:
            self._phase = "between tests"

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        """Fixtures, also those of a class, module or session that this test is the first to need."""
        __tracebackhide__ = True
        with self._during(item, "setup"):
            yield

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """The test function."""
        __tracebackhide__ = True
        with self._during(item, "call"):
            yield

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        """Finalizers."""
        __tracebackhide__ = True
        with self._during(item, "teardown"):
            yield

    def pytest_sessionfinish(self) -> None:
        """A worker of pytest-xdist hands its rows to the controller."""
        output = getattr(self._config, "workeroutput", None)
        if output is not None:
            output[_KEY] = [asdict(row) for row in self._rows]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """The controller of pytest-xdist takes them."""
        worker = str(node.gateway.id)
        rows = getattr(node, "workeroutput", {}).get(_KEY)
        if rows is None:
            self._silent.append(worker)
        else:
            self._rows += [Row(**{**row, "worker": worker}) for row in rows]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table, if there is anything in it."""
        lines = table(sorted(self._rows, key=lambda row: row.started), self._started)
        lines += [f"{worker} ended without a report of what it compiled" for worker in self._silent]
        if lines:
            terminalreporter.section(f"kernels resolved (--kernel-compiles={self._mode})")
            for line in lines:
                terminalreporter.write_line(line)

    def pytest_unconfigure(self) -> None:
        """Stop watching."""
        self._unsubscribe()
        self._watch.lift()


def table(rows: list[Row], start: float) -> list[str]:
    """The lines of the table: when (since the run began), how long, what, and for which test, in order of time."""
    if not rows:
        return []
    cells = [("at", "took", "what", "by", "program")]
    for row in rows:
        took = "-" if row.seconds is None else f"{1000 * row.seconds:.1f} ms"
        what = f"{row.resolver} {row.action}" + (", refused" if row.verdict == "refused" else "")
        by = f"{row.test} ({row.phase})" if row.test else f"({row.phase})"
        if row.worker:
            by = f"[{row.worker}] {by}"
        words = row.specialization if len(row.specialization) <= _WORDS else f"{row.specialization[: _WORDS - 3]}..."
        program = f"{row.program}  {words}".rstrip()
        if row.permit is not None:
            program += f"  (permitted: {row.permit})"
        cells.append((f"{row.started - start:+.2f} s", took, what, by, program))
    widths = [max(len(line[column]) for line in cells) for column in range(4)]
    lines = [
        f"{line[0]:>{widths[0]}}  {line[1]:>{widths[1]}}  {line[2]:<{widths[2]}}  {line[3]:<{widths[3]}}  {line[4]}"
        for line in cells
    ]
    done = [row for row in rows if row.verdict != "refused"]
    phases = ", ".join(
        f"{sum(row.phase == phase for row in done)} in {phase}" for phase in dict.fromkeys(row.phase for row in done)
    )
    total = f"{len(done)} resolved in {sum(row.seconds or 0.0 for row in done):.2f} s" + (
        f" ({phases})" if done else ""
    )
    refused = len(rows) - len(done)
    return [*lines, f"{total}; {refused} refused" if refused else total]
