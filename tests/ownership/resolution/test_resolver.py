from __future__ import annotations

import asyncio
import functools
import inspect
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from ownership.resolution import (
    BlankReasonError,
    Difference,
    NotResolvableError,
    ResolutionFrozenError,
    freeze,
    permit,
    report,
    resolver,
    watch,
)


class Tensor:
    """Has the two attributes by which a tensor is known; looking at its content would synchronize."""

    def __init__(self, dtype: str, *shape: int) -> None:
        self.dtype = dtype
        self.shape = shape

    def __repr__(self) -> str:
        raise AssertionError("a tensor was printed")


@resolver(name="cute.compile", program=lambda kernel, *_, **__: str(kernel.__name__))
def compile_kernel(kernel: object, tensor: Tensor, *, rows: int, stages: int = 2) -> tuple[object, ...]:
    """Compile it."""
    return kernel, tensor, rows, stages


def gemm() -> None:
    """Stands for a kernel."""


def test_a_call_under_a_freeze_raises_before_the_function_runs() -> None:
    ran: list[int] = []

    @resolver
    def build(rows: int) -> int:
        ran.append(rows)
        return rows

    assert build(3) == 3
    with freeze("serving"), pytest.raises(ResolutionFrozenError):
        build(16)
    with freeze("serving"), permit("on purpose"):
        assert build(5) == 5
    assert ran == [3, 5]


def test_the_error_compares_with_the_nearest_earlier_call() -> None:
    tensor = Tensor("bf16", 8, 4096)
    with watch():
        compile_kernel(gemm, Tensor("fp16", 1, 1), rows=16, stages=3)
        compile_kernel(gemm, tensor, rows=3)
    with freeze("serving"), pytest.raises(ResolutionFrozenError) as caught:
        compile_kernel(gemm, tensor, rows=16)
    error = caught.value
    assert (error.resolver, error.program, error.action) == ("cute.compile", "gemm", "resolve")
    assert error.differences == (Difference("rows", "16", "3"),)
    assert error.specialization["tensor"] == "bf16[8, 4096]"
    assert error.specialization["stages"] == "2"
    assert error.nearest is not None
    assert "rows: 16 where prepared: 3" in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_calls_are_remembered_without_a_guard_too() -> None:
    @resolver
    def build(rows: int) -> int:
        return rows

    build(3)
    assert report().count() == 1
    with freeze("serving"), pytest.raises(ResolutionFrozenError) as caught:
        build(16)
    assert caught.value.differences == (Difference("rows", "16", "3"),)


def test_a_call_that_failed_has_prepared_nothing() -> None:
    @resolver
    def build(rows: int) -> None:
        raise KeyError(rows)

    with pytest.raises(KeyError):
        build(3)
    with freeze("serving"), pytest.raises(ResolutionFrozenError, match="nothing is prepared") as caught:
        build(3)
    assert caught.value.nearest is None
    assert [one.seconds for one in report().resolutions] == [None, None]


def test_the_same_call_again_is_a_resolution_again() -> None:
    @resolver
    def build(rows: int) -> int:
        return rows

    build(3)
    with freeze("serving"), pytest.raises(ResolutionFrozenError, match="the same was resolved before"):
        build(3)


def test_a_function_without_arguments_can_be_asked_again() -> None:
    @resolver
    def build() -> int:
        return 3

    build()
    with freeze("serving"), pytest.raises(ResolutionFrozenError, match="the same was resolved before") as caught:
        build()
    assert caught.value.nearest == {}


def test_what_is_remembered_is_bounded_and_the_latest_stay() -> None:
    @resolver
    def build(rows: int) -> int:
        return rows

    for rows in range(1000):
        build(rows)
    with freeze("serving"), pytest.raises(ResolutionFrozenError) as caught:
        build(-1)
    assert caught.value.nearest == {"rows": "999"}
    with freeze("serving"), pytest.raises(ResolutionFrozenError) as caught:
        build(0)
    assert caught.value.differences


@pytest.mark.parametrize("above", [True, False], ids=["above the cache", "below the cache"])
def test_hits_of_a_cache_pass(above: bool) -> None:
    def build(rows: int) -> object:
        return object()

    cached: Any = resolver(functools.cache(build)) if above else functools.cache(resolver(build))
    first = cached(3)
    with freeze("serving"):
        assert cached(3) is first
        with pytest.raises(ResolutionFrozenError):
            cached(16)
    assert cached(16) is cached(16)
    assert report().count() == 3
    assert cached.cache_info().currsize == 2


def test_the_size_of_a_cache_is_kept() -> None:
    @resolver(name="small")
    @functools.lru_cache(maxsize=1)
    def build(rows: int) -> object:
        return object()

    first = build(1)
    build(2)
    assert build(1) is not first
    assert report().count() == 3


def test_a_cache_that_was_used_is_refused() -> None:
    @functools.cache
    def build(rows: int) -> int:
        return rows

    build(3)
    with pytest.raises(NotResolvableError, match="used already"):
        resolver(build)


def test_is_prepared_says_what_a_hand_made_cache_has() -> None:
    programs: dict[int, str] = {}

    @resolver(name="plan cache", is_prepared=lambda rows: rows in programs)
    def program(rows: int) -> str:
        return programs.setdefault(rows, f"program for {rows}")

    program(3)
    with freeze("serving"):
        assert program(3) == "program for 3"
        with pytest.raises(ResolutionFrozenError):
            program(16)
    assert [one.verdict for one in report().resolutions] == ["allowed", "refused"]


def test_the_key_may_be_a_mapping_or_one_value() -> None:
    @resolver(key=lambda rows, debug: {"bucket": rows // 8})
    def by_bucket(rows: int, debug: object) -> None:
        """Nothing to do."""

    @resolver(key=lambda rows: rows // 8)
    def by_value(rows: int) -> None:
        """Nothing to do."""

    by_bucket(9, object())
    by_value(9)
    assert [dict(one.specialization) for one in report().resolutions] == [{"bucket": "1"}, {"key": "1"}]


def test_methods_leave_self_out() -> None:
    class Engine:
        @resolver
        def build(self, rows: int) -> int:
            return rows

        @resolver
        @classmethod
        def of(cls, rows: int) -> type:
            return cls

        @resolver
        @staticmethod
        def plain(rows: int) -> int:
            return rows

    assert Engine().build(3) == 3
    assert Engine.of(3) is Engine
    assert Engine.plain(3) == 3
    assert [dict(one.specialization) for one in report().resolutions] == [{"rows": "3"}] * 3
    assert report().resolutions[0].program.endswith("Engine.build")


def test_coroutine_functions_are_judged_when_they_run_and_done_when_they_return() -> None:
    @resolver
    async def build(rows: int) -> int:
        await asyncio.sleep(0.01)
        return rows

    def through(rows: int) -> Any:
        return build(rows)

    plain = resolver(through)
    assert asyncio.run(build(3)) == 3
    assert asyncio.run(plain(3)) == 3
    with freeze("serving"), pytest.raises(ResolutionFrozenError):
        asyncio.run(build(16))
    seconds = [one.seconds for one in report().resolutions if one.verdict == "allowed"]
    assert all(second is not None and second >= 0.01 for second in seconds)


def test_name_signature_and_documentation_stay() -> None:
    assert compile_kernel.__name__ == "compile_kernel"
    assert compile_kernel.__doc__ == "Compile it."
    assert list(inspect.signature(compile_kernel).parameters) == ["kernel", "tensor", "rows", "stages"]


def test_a_call_with_wrong_arguments_fails_as_it_would() -> None:
    with pytest.raises(TypeError, match="missing"):
        compile_kernel(gemm)  # type: ignore[call-arg]


def test_words_are_the_same_in_another_process_and_bounded() -> None:
    class Opaque:
        """Has the default `repr`, with an address in it."""

    class Broken:
        def __str__(self) -> str:
            raise KeyError

    @resolver
    def build(*values: object, **named: object) -> None:
        """Nothing to do."""

    build(Opaque(), Broken(), gemm, "a" * 1000, [1, (2.5, None)], {"k": b"v"}, list(range(100)), named=Tensor("f32"))
    text = " ".join(report().resolutions[0].specialization.values())
    assert " at 0x" not in text
    assert len(text) < 2000
    assert "f32[]" in text


def test_builtins_without_a_signature_can_be_resolvers() -> None:
    build: Any = resolver(name="max", program="max")(max)
    assert build(3, 5) == 5
    assert dict(report().resolutions[0].specialization) == {"0": "3", "1": "5"}


@pytest.mark.parametrize("given", [int, 3])
def test_what_cannot_be_guarded_is_refused(given: Any) -> None:
    with pytest.raises(NotResolvableError, match="not a function"):
        resolver(given)


def test_generators_are_refused() -> None:
    def build() -> Iterator[int]:
        yield 1

    with pytest.raises(NotResolvableError, match="generator"):
        resolver(build)


def test_blank_names_are_refused() -> None:
    with pytest.raises(BlankReasonError, match="owner"):
        resolver(owner=" ")


def test_a_stated_owner_counts() -> None:
    @resolver(owner="engine-a")
    def build() -> None:
        """Nothing to do."""

    with freeze("serving", owner="engine-a"), pytest.raises(ResolutionFrozenError):
        build()
    with freeze("serving", owner="engine-b"):
        build()
