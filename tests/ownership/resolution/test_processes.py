"""Freezes and worker processes."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

import ownership
from ownership.resolution import ResolutionFrozenError, freeze, freezes, observe, report, watch
from ownership.resolution._process import process
from ownership.resolution.guard import Freeze

ROOT = Path(ownership.__file__).resolve().parent.parent


def resolve(program: str = "engine.fold") -> int:
    """What a worker does."""
    observe(resolver="test", program=program, specialization={"n": "16"}).done(0.0)
    return os.getpid()


def counted() -> int:
    return report().count()


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_freeze_is_an_initializer_and_the_error_travels_back(method: str) -> None:
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(1, mp_context=context, initializer=freeze, initargs=("serving",)) as pool:
        with pytest.raises(ResolutionFrozenError) as caught:
            pool.submit(resolve).result()
        assert caught.value.program == "engine.fold"
        assert caught.value.freezes[0].reason == "serving"
        assert caught.value.specialization == {"n": "16"}
    assert not freezes()
    resolve()


def in_child(check: str) -> None:
    """Run a program that forks; a process of its own, so that pytest's threads and state are not copied."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FORKS + check],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


FORKS = """
import os, signal, sys, threading, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)
from ownership.resolution import ResolutionFrozenError, freeze, freezes, observe, report, watch

def resolve():
    observe(resolver="test", program="p", specialization={}).done(0.0)

def refused():
    try:
        resolve()
    except ResolutionFrozenError:
        return True
    return False

def child(check):
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        status = 1
        try:
            status = 0 if check() else 1
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""


def test_a_forked_child_is_frozen_and_may_lift_its_own_copy() -> None:
    in_child("""
guard = freeze("serving")
def check():
    assert refused()
    guard.lift()
    return not refused()
child(check)
assert refused()
""")


def test_a_forked_child_reports_only_what_it_resolved_itself() -> None:
    in_child("""
with watch():
    resolve()
    def check():
        assert report().count() == 0
        resolve()
        return report().count() == 1
    child(check)
    assert report().count() == 1
""")


def test_a_child_forked_while_other_threads_hold_the_locks_can_freeze_and_resolve() -> None:
    in_child("""
stop = threading.Event()
def busy():
    while not stop.is_set():
        with freeze("busy", mode="record"):
            resolve()
            report()
threads = [threading.Thread(target=busy, daemon=True) for _ in range(4)]
for thread in threads:
    thread.start()
def check():
    seen = []
    with freeze("mine"):
        report()
        thread = threading.Thread(target=lambda: seen.append((refused(), freeze("theirs").lift())))
        thread.start()
        thread.join(10)
        return refused() and seen == [(True, None)]
for _ in range(30):
    child(check)
stop.set()
for thread in threads:
    thread.join()
assert not freezes()
""")


def test_a_signal_handler_may_lift_freeze_and_report_at_any_point() -> None:
    in_child("""
guards = []
def handler(number, frame):
    guards.append(freeze("signal", mode="record"))
    report()
    guards.pop(0).lift() if len(guards) > 1 else None
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
end = time.monotonic() + 1.0
while time.monotonic() < end:
    with freeze("main", mode="record"):
        resolve()
signal.setitimer(signal.ITIMER_REAL, 0, 0)
for guard in guards:
    guard.lift()
assert not freezes()
""")


def test_entering_and_leaving_in_many_threads_ends_with_nothing_in_force() -> None:
    barrier = threading.Barrier(8)
    failures: list[BaseException] = []

    def work() -> None:
        barrier.wait()
        try:
            for _ in range(200):
                guard = freeze("a", mode="record")
                with watch(), freeze("b", mode="record") as inner:
                    assert guard.in_force
                    assert inner.in_force
                    guard.lift()
                    assert not guard.in_force
                    assert inner.in_force
        except BaseException as error:  # noqa: BLE001 - it is raised in the main thread
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    assert not process.entries


def test_a_shared_guard_is_lifted_when_the_last_thread_leaves_it() -> None:
    guard = freeze("shared")
    assert isinstance(guard, Freeze)
    inside = threading.Barrier(5)
    seen: list[bool] = []

    def work() -> None:
        with guard:
            inside.wait()
            seen.append(guard.in_force)
            inside.wait()

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 5
    assert not guard.in_force
