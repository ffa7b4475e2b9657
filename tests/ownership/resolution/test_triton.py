"""The adapter for Triton, on Triton's own paths; only the device is imaginary."""

from __future__ import annotations

import enum
import gc
import pickle
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

import ownership._published as published
from ownership.resolution import (
    Difference,
    Resolution,
    ResolutionFrozenError,
    ResolutionWarning,
    freeze,
    owned_by,
    permit,
    report,
    subscribe,
    watch,
)
from tests.ownership.resolution.programs import calls_of

if TYPE_CHECKING:
    from tests.ownership.resolution.conftest import FakeDriver

pytest.importorskip("triton")
torch = pytest.importorskip("torch")

NEITHER = "i32, neither 1 nor divisible by 16"
ALIGNED = "*fp32, aligned to 16 bytes"


@pytest.fixture
def x() -> Any:
    return torch.zeros(64)


def launch(kernel: Any, *args: Any, **options: Any) -> None:
    kernel[(1,)](*args, **{"BLOCK": 64, **options})


def refusal(kernel: Any, *args: Any, **options: Any) -> ResolutionFrozenError:
    with pytest.raises(ResolutionFrozenError) as caught:
        launch(kernel, *args, **options)
    return caught.value


def other_launches(x: Any) -> dict[str, tuple[tuple[Any, ...], dict[str, Any], Difference]]:
    """Launches of a kernel that was prepared for live count 3, by what is new in them."""
    return {
        "sixteen": ((x, 16), {}, Difference("n_rows", "16 (i32, divisible by 16)", NEITHER)),
        "one": ((x, 1), {}, Difference("n_rows", "constant 1", NEITHER)),
        "wide": (
            (x, 3 << 32 | 1),
            {},
            Difference("n_rows", f"{3 << 32 | 1} (i64, neither 1 nor divisible by 16)", NEITHER),
        ),
        "dtype": ((x.half(), 3), {}, Difference("x", "*fp16, aligned to 16 bytes", ALIGNED)),
        "unaligned": ((x[1:], 3), {}, Difference("x", "*fp32, not aligned to 16 bytes", ALIGNED)),
        "constexpr": ((x, 3), {"BLOCK": 32}, Difference("BLOCK", "constexpr 32", "constexpr 64")),
        "warps": ((x, 3), {"num_warps": 8}, Difference("num_warps", "8", "4")),
        "stages": ((x, 3), {"num_stages": 1}, Difference("num_stages", "1", "3")),
    }


CASES = ["sixteen", "one", "wide", "dtype", "unaligned", "constexpr", "warps", "stages"]


@pytest.mark.parametrize("case", CASES)
def test_a_specialization_that_was_not_prepared_raises_and_names_the_argument(
    kernels: ModuleType, x: Any, gpu: FakeDriver, case: str
) -> None:
    launch(kernels.add, x, 3)
    args, options, expected = other_launches(x)[case]
    with freeze("serving") as guard:
        error = refusal(kernels.add, *args, **options)
    assert error.differences == (expected,)
    assert error.freezes == (guard.info,)
    assert error.action == "compile"
    assert error.nearest is not None
    assert error.nearest[expected.argument] == expected.prepared
    assert error.specialization[expected.argument] == expected.asked
    for part in (f"{kernels.__name__}.add", str(expected), "'serving'", guard.info.place):
        assert part in str(error)
    assert len(gpu.launches) == 1


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_leaves_no_trace_in_triton(kernels: ModuleType, x: Any, gpu: FakeDriver, case: str) -> None:
    launch(kernels.add, x, 3)
    args, options, _ = other_launches(x)[case]
    with freeze("serving"):
        for _ in range(2):
            refusal(kernels.add, *args, **options)
            launch(kernels.add, x, 3)
            launch(kernels.add, x, 5)  # the same program
    assert len(kernels.add.device_caches[0][0]) == 1
    launch(kernels.add, *args, **options)
    assert len(gpu.launches) == 6
    assert gpu.loads == ["add", "add"]


def test_warming_up_is_refused_too(kernels: ModuleType, x: Any) -> None:
    with freeze("serving"), pytest.raises(ResolutionFrozenError, match="nothing is prepared") as caught:
        kernels.add.warmup(torch.float32, 16, BLOCK=64, grid=(1,))
    assert caught.value.nearest is None


def test_when_it_was_watched_the_error_says_with_which_value_it_was_prepared(kernels: ModuleType, x: Any) -> None:
    with watch():
        launch(kernels.add, x, 3)
    with freeze("serving"):
        error = refusal(kernels.add, x, 16)
    assert str(error.differences[0]) == (
        "n_rows: 16 (i32, divisible by 16) where prepared: 3 (i32, neither 1 nor divisible by 16)"
    )


def test_the_nearest_is_the_one_with_the_fewest_differences(kernels: ModuleType, x: Any) -> None:
    launch(kernels.add, x.half(), 16, BLOCK=32, num_warps=2)
    launch(kernels.add, x, 3, num_warps=2)
    launch(kernels.add, x.half(), 1)
    with freeze("serving"):
        error = refusal(kernels.add, x, 3, num_warps=8)
    assert error.differences == (Difference("num_warps", "8", "2"),)


def test_a_kernel_that_was_decorated_again_is_told_so(kernels: ModuleType, x: Any) -> None:
    with watch():
        kernels.made()[(1,)](x)
    with freeze("serving"), pytest.raises(ResolutionFrozenError, match="made or decorated again") as caught:
        kernels.made()[(1,)](x)
    assert caught.value.differences == ()


def test_the_same_program_on_another_device_is_another_one(kernels: ModuleType, x: Any, gpu: FakeDriver) -> None:
    launch(kernels.add, x, 3)
    gpu.device = 1
    with freeze("serving"):
        error = refusal(kernels.add, x, 3)
    assert error.differences == (Difference("device", "1", "0"),)


def test_arguments_that_are_not_specialized_are_said_to_be_so(kernels: ModuleType, x: Any) -> None:
    launch(kernels.general, x, 3)
    with freeze("serving"):
        launch(kernels.general, x, 16)
        launch(kernels.general, x, 1)
        error = refusal(kernels.general, x[1:], 1)
    assert error.specialization["n_rows"] == "1 (i32)"


class TestLoad:
    def test_a_program_that_was_compiled_and_never_loaded_is_refused_each_time(
        self, kernels: ModuleType, x: Any, gpu: FakeDriver
    ) -> None:
        kernel = kernels.add.warmup(torch.float32, 3, BLOCK=64, grid=(1,))
        with freeze("serving"):
            for start in (lambda: launch(kernels.add, x, 3), lambda: kernel[1, 1, 1](x, 3, 64), lambda: kernel.run) * 2:
                with pytest.raises(ResolutionFrozenError, match="load it at preparation") as caught:
                    start()
                assert caught.value.action == "load"
                assert caught.value.specialization["n_rows"] == NEITHER
                assert caught.value.program == f"{kernels.__name__}.add"
        assert gpu.loads == []
        launch(kernels.add, x, 3)
        kernel[1, 1, 1](x, 3, 64)
        assert gpu.loads == ["add"]
        assert len(gpu.launches) == 2

    def test_a_program_that_was_loaded_at_preparation_launches(
        self, kernels: ModuleType, x: Any, gpu: FakeDriver
    ) -> None:
        kernel = kernels.add.warmup(torch.float32, 3, BLOCK=64, grid=(1,))
        kernel._init_handles()
        with freeze("serving"):
            kernel[1, 1, 1](x, 3, 64)
            launch(kernels.add, x, 3)
        assert len(gpu.launches) == 2

    def test_a_permit_covers_both_steps_and_the_report_has_both(self, kernels: ModuleType, x: Any) -> None:
        with freeze("serving"), permit("a new adapter"):
            launch(kernels.add, x, 3)
        assert [(one.action, one.verdict, one.permit) for one in report().resolutions] == [
            ("compile", "allowed", "a new adapter"),
            ("load", "allowed", "a new adapter"),
        ]
        assert all(one.seconds is not None and one.seconds >= 0 for one in report().resolutions)


class TestAutotune:
    def test_a_new_key_is_refused_even_when_all_programs_are_ready(
        self, kernels: ModuleType, x: Any, gpu: FakeDriver
    ) -> None:
        launch(kernels.tuned, x, 3)
        before = len(gpu.launches)
        with freeze("serving"):
            launch(kernels.tuned, x, 3)
            error = refusal(kernels.tuned, x, 5)
        assert error.resolver == "triton.autotune"
        assert error.program == f"{kernels.__name__}.tuned"
        assert error.differences == (Difference("n_rows", "5", "3"),)
        assert len(gpu.launches) == before + 1
        launch(kernels.tuned, x, 5)

    def test_a_tuned_choice_whose_specialization_is_new_is_refused(self, kernels: ModuleType, x: Any) -> None:
        launch(kernels.tuned, x, 3)
        with freeze("serving"):
            error = refusal(kernels.tuned, x, 3, BLOCK=32)
        assert error.differences == (Difference("BLOCK", "constexpr 32", "constexpr 64"),)

    def test_a_tuning_run_is_one_resolution_that_ends_with_the_last_measurement(
        self, kernels: ModuleType, x: Any
    ) -> None:
        with watch():
            launch(kernels.tuned, x, 3)
        resolved = report().resolutions
        assert [one.resolver for one in resolved] == ["triton.autotune", *["triton"] * 4]
        seconds = [one.seconds or 0.0 for one in resolved]
        assert seconds[0] > sum(seconds[1:]) > 0

    def test_warming_up_all_configurations_is_no_tuning(self, kernels: ModuleType) -> None:
        with watch():
            kernels.tuned.warmup(torch.float32, 3, BLOCK=64, grid=(1,))
        assert [one.resolver for one in report().resolutions] == ["triton", "triton"]

    def test_heuristics_that_choose_another_constant_are_refused(self, kernels: ModuleType, x: Any) -> None:
        kernels.guessed[(1,)](x, 3)
        with freeze("serving"):
            kernels.guessed[(1,)](x, 5)
            with pytest.raises(ResolutionFrozenError) as caught:
                kernels.guessed[(1,)](x, 35)
        assert caught.value.differences == (Difference("BLOCK", "constexpr 64", "constexpr 32"),)


def test_modes_warn_and_record_let_through(kernels: ModuleType, x: Any, gpu: FakeDriver) -> None:
    with freeze("serving", mode="warn"), pytest.warns(ResolutionWarning, match=r"add \(triton\)"):
        launch(kernels.add, x, 3)
    with freeze("serving", mode="record"):
        launch(kernels.add, x, 16)
    assert len(gpu.launches) == 2
    assert [one.verdict for one in report().resolutions] == ["warned", "warned", "recorded", "recorded"]


def test_an_owner_is_the_engine_of_the_context_or_the_package_of_the_kernel(kernels: ModuleType, x: Any) -> None:
    with freeze("serving", owner="engine-a"):
        launch(kernels.add, x, 3)
        with owned_by("engine-a"):
            assert refusal(kernels.add, x, 16).freezes[0].owner == "engine-a"
    with freeze("serving", owner=kernels.__name__):
        refusal(kernels.add, x, 16)


def test_a_resolution_says_what_when_who_and_how_long(kernels: ModuleType, x: Any) -> None:
    seen: list[Resolution] = []
    unsubscribe = subscribe(seen.append)
    with watch():
        launch(kernels.add, x, 3)
    unsubscribe()
    compiled, loaded = seen
    assert (compiled.resolver, compiled.action, compiled.verdict) == ("triton", "compile", "allowed")
    assert compiled.program == loaded.program == f"{kernels.__name__}.add"
    assert compiled.caller.startswith(f"{__file__}:")
    assert compiled.thread == threading.current_thread().name
    assert (compiled.seconds or 0) > 0.001
    assert dict(compiled.specialization) == {
        "x": ALIGNED,
        "n_rows": f"3 ({NEITHER})",
        "BLOCK": "constexpr 64",
        "num_warps": "4",
        "num_ctas": "1",
        "num_stages": "3",
    }


def test_a_compilation_that_fails_is_listed_without_a_time(kernels: ModuleType, x: Any) -> None:
    with watch(), pytest.raises(Exception, match="arange"):
        launch(kernels.add, x, 3, BLOCK=48)
    (resolution,) = report().resolutions
    assert resolution.seconds is None


class Mode(enum.Enum):
    FAST = 1


def test_constants_that_json_cannot_hold_compile_under_a_watch_as_they_do_without(kernels: ModuleType, x: Any) -> None:
    # Triton serializes the constants as soon as any cache hook is set, and fails on these.
    kernels.with_mode[(1,)](x, "none")
    with watch():
        kernels.with_mode[(1,)](x, Mode.FAST)
    with freeze("serving"):
        kernels.with_mode[(1,)](x, Mode.FAST)
        with pytest.raises(ResolutionFrozenError) as caught:
            kernels.with_mode[(1,)](x, kernels.add)
    assert caught.value.specialization["MODE"] == f"constexpr {kernels.__name__}.add"
    assert "constexpr Mode.FAST" in {one.specialization["MODE"] for one in report().resolutions}


@dataclass(eq=False)
class Launcher:
    programs: Mapping[int, Any]


class ScratchPlan:
    """Stands for a plan's class."""


@pytest.mark.parametrize(
    "wrap", [lambda kernel: kernel, lambda kernel: Launcher({3: kernel})], ids=["itself", "inside"]
)
def test_the_plan_field_that_carries_the_kernel_is_named(kernels: ModuleType, x: Any, wrap: Any) -> None:
    carrier = wrap(kernels.add.warmup(torch.float32, 3, BLOCK=64, grid=(1,)))
    published.note(carrier, plan=ScratchPlan, path="fold[3]")
    with freeze("serving"):
        error = refusal(kernels.add, x, 16)
        assert error.plan_field is not None
        assert error.plan_field.endswith("ScratchPlan.fold[3]")
        assert f"it should have come from {error.plan_field}" in str(error)
        assert refusal(kernels.add, x, 3).action == "load"
        assert refusal(kernels.general, x, 3).plan_field is None


def test_the_error_survives_the_way_to_another_process(kernels: ModuleType, x: Any) -> None:
    launch(kernels.add, x, 3)
    with freeze("serving"):
        error = refusal(kernels.add, x, 16, num_warps=8)
    back = pickle.loads(pickle.dumps(error))
    assert str(back) == str(error)
    assert vars(back) == vars(error)


def test_watching_keeps_no_kernel_alive(kernels: ModuleType, x: Any, load: Any) -> None:
    import weakref

    with watch():
        launch(kernels.add, x, 3)
        (kernel,) = kernels.add.device_caches[0][0].values()
        gone = weakref.ref(kernel)
        del kernel
        kernels.add.device_caches.clear()
        gc.collect()
        assert gone() is None


def test_an_explanation_that_fails_changes_no_verdict(
    kernels: ModuleType, x: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> None:
        raise KeyError("mine")

    monkeypatch.setattr("ownership.resolution.triton.nearest", broken)
    with pytest.warns(ResolutionWarning, match="cannot explain"), watch():
        launch(kernels.add, x, 3)
    with pytest.warns(ResolutionWarning, match="cannot explain"), freeze("serving"):
        assert refusal(kernels.add, x, 16).specialization["n_rows"] == "16 (i32, divisible by 16)"


def test_threads_that_miss_at_once_are_all_refused(kernels: ModuleType, x: Any, gpu: FakeDriver) -> None:
    launch(kernels.add, x, 3)
    errors: list[ResolutionFrozenError] = []
    barrier = threading.Barrier(8)

    def work(number: int) -> None:
        barrier.wait()
        for count in range(20):
            launch(kernels.add, x, 3)
            try:
                launch(kernels.add, x, 16 if (number + count) % 2 else 1)
            except ResolutionFrozenError as error:
                errors.append(error)

    with freeze("serving"):
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(errors) == 160
    assert len(gpu.launches) == 161


def test_a_prepared_launch_runs_not_one_call_more_under_a_freeze(kernels: ModuleType, x: Any) -> None:
    def again() -> None:
        launch(kernels.add, x, 3)

    again()
    free = calls_of(again)
    with freeze("serving"):
        frozen = calls_of(again)
    assert frozen == free
    assert kernels.add.run.__func__.__code__ in free


def test_two_threads_that_compile_the_same_program_are_both_recorded_to_the_end(
    kernels: ModuleType, x: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = threading.Barrier(2)
    triton = pytest.importorskip("triton")

    def meet(**event: object) -> None:
        both.wait()

    monkeypatch.setattr(triton.knobs.runtime, "jit_cache_hook", meet)
    with watch():
        threads = [threading.Thread(target=launch, args=(kernels.add, x, 3)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    compiled = [one for one in report().resolutions if one.action == "compile"]
    assert len(compiled) == 2
    assert all(one.seconds is not None for one in compiled)


def test_compilation_in_the_background_is_judged_when_it_is_asked_for(kernels: ModuleType, x: Any) -> None:
    from concurrent.futures import ThreadPoolExecutor

    mode = pytest.importorskip("triton.runtime._async_compile").AsyncCompileMode
    with watch(), ThreadPoolExecutor(1) as pool, mode(pool):
        kernels.add.warmup(torch.float32, 3, BLOCK=64, grid=(1,))
        with freeze("serving"), pytest.raises(ResolutionFrozenError):
            kernels.add.warmup(torch.float32, 16, BLOCK=64, grid=(1,))
    assert [(one.verdict, one.seconds is None) for one in report().resolutions] == [
        ("allowed", False),
        ("refused", True),
    ]
    launch(kernels.add, x, 16)


def test_a_program_compiled_without_the_jit_is_refused_at_its_load(kernels: ModuleType) -> None:
    compiler = pytest.importorskip("triton.compiler")
    source = compiler.ASTSource(kernels.add, {"x": "*fp32", "n_rows": "i32", "BLOCK": "constexpr"}, {"BLOCK": 64})
    with freeze("serving"):
        kernel = compiler.compile(source)
        with pytest.raises(ResolutionFrozenError) as caught:
            kernel.run  # noqa: B018 - asking for it loads it
    assert caught.value.program == f"{kernels.__name__}.add"
    assert caught.value.specialization["BLOCK"] == "constexpr 64"


def test_arguments_in_tuples_are_compared_part_by_part(kernels: ModuleType, x: Any) -> None:
    kernels.in_tuple[(1,)]((x, 3))
    with freeze("serving"), pytest.raises(ResolutionFrozenError) as caught:
        kernels.in_tuple[(1,)]((x, 1))
    assert caught.value.differences == (Difference("given", f"({ALIGNED}; constant 1)", f"({ALIGNED}; {NEITHER})"),)
