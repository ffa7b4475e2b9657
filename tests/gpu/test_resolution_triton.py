"""The freeze on a real device; run on the GPU machine: `python -m pytest tests/gpu -q`."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ownership.resolution import (
    Difference,
    ResolutionFrozenError,
    freeze,
    freezes,
    manifest,
    permit,
    report,
    watch,
)
from ownership.resolution._history import history
from tests.modules import imported
from tests.ownership.resolution.programs import KERNELS, calls_of

triton = pytest.importorskip("triton")
torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)

NEITHER = "i32, neither 1 nor divisible by 16"
ALIGNED = "*fp32, aligned to 16 bytes"


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Kernels that nobody has compiled, not even on disk."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")  # without a choice, newer versions of Triton warn
    path = tmp_path / "gpu_kernels.py"
    path.write_text(KERNELS, encoding="utf-8")
    history.renew()
    with imported(path) as module:
        yield module
    assert not freezes()


@pytest.fixture
def x() -> Any:
    return torch.zeros(64, device="cuda")


def launch(kernel: Any, *args: Any, **options: Any) -> None:
    kernel[(1,)](*args, **{"BLOCK": 64, **options})


def refusal(kernel: Any, *args: Any, **options: Any) -> ResolutionFrozenError:
    with pytest.raises(ResolutionFrozenError) as caught:
        launch(kernel, *args, **options)
    return caught.value


def added(x: Any) -> list[float]:
    """What is in the first rows, by now."""
    numbers: list[float] = x[:5].tolist()
    return numbers


CASES: dict[str, tuple[Any, Difference]] = {
    "sixteen": (lambda x: ((x, 16), {}), Difference("n_rows", "16 (i32, divisible by 16)", NEITHER)),
    "one": (lambda x: ((x, 1), {}), Difference("n_rows", "constant 1", NEITHER)),
    "dtype": (lambda x: ((x.half(), 3), {}), Difference("x", "*fp16, aligned to 16 bytes", ALIGNED)),
    "unaligned": (lambda x: ((x[1:], 3), {}), Difference("x", "*fp32, not aligned to 16 bytes", ALIGNED)),
    "constexpr": (lambda x: ((x, 3), {"BLOCK": 32}), Difference("BLOCK", "constexpr 32", "constexpr 64")),
    "warps": (lambda x: ((x, 3), {"num_warps": 8}), Difference("num_warps", "8", "4")),
    "stages": (lambda x: ((x, 3), {"num_stages": 1}), Difference("num_stages", "1", "3")),
}


@pytest.mark.parametrize("case", CASES)
def test_what_was_not_prepared_raises_naming_the_argument_and_prepared_launches_go_on(
    kernels: ModuleType, x: Any, case: str
) -> None:
    ask, expected = CASES[case]
    args, options = ask(x)
    launch(kernels.add, x, 3)
    with freeze("serving") as guard:
        launch(kernels.add, x, 3)
        error = refusal(kernels.add, *args, **options)
        launch(kernels.add, x, 3)
        refusal(kernels.add, *args, **options)
        assert added(x) == [3, 3, 3, 0, 0]
    assert error.differences == (expected,)
    assert str(expected) in str(error)
    assert guard.info.place in str(error)
    launch(kernels.add, *args, **options)
    torch.cuda.synchronize()


def test_a_graph_that_was_captured_before_still_replays(kernels: ModuleType, x: Any) -> None:
    launch(kernels.add, x, 3)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch(kernels.add, x, 3)
    before = added(x)
    with freeze("serving"):
        for _ in range(3):
            graph.replay()
        refusal(kernels.add, x, 16)
        graph.replay()
        torch.cuda.synchronize()
        assert added(x) == [number + 4 for number in before[:3]] + before[3:]


def test_a_prepared_launch_can_be_captured_under_the_freeze_and_a_miss_leaves_the_capture_usable(
    kernels: ModuleType, x: Any
) -> None:
    launch(kernels.add, x, 3)
    gc.collect()  # a graph that an earlier test has left, reset while this one is captured, would break the capture
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with freeze("serving"):
        with torch.cuda.graph(graph):
            launch(kernels.add, x, 3)
            refusal(kernels.add, x, 16)
        graph.replay()
        torch.cuda.synchronize()
        assert added(x) == [2, 2, 2, 0, 0]


def test_leaving_the_freeze_restores_the_hook_that_was_there(kernels: ModuleType, x: Any) -> None:
    events: list[str] = []

    def foreign(**event: Any) -> None:
        events.append(event["fn"].name)

    runtime = triton.knobs.runtime
    before = vars(type(runtime)).copy()
    runtime.jit_cache_hook = foreign
    try:
        with freeze("serving"):
            refusal(kernels.add, x, 3)
        assert runtime.jit_cache_hook is foreign
        assert vars(type(runtime)) == before
    finally:
        del runtime.jit_cache_hook
    assert events == ["add"]


@pytest.mark.parametrize("chains", [False, True], ids=["overwrites", "chains"])
def test_a_hook_that_is_installed_after_ours_sees_every_event_and_so_do_we(
    kernels: ModuleType, x: Any, chains: bool
) -> None:
    events: list[str] = []
    runtime = triton.knobs.runtime
    with freeze("serving"):
        inner = runtime.jit_cache_hook if chains else None

        def foreign(**event: Any) -> object:
            events.append(event["fn"].name)
            return inner(**event) if inner is not None else None

        runtime.jit_cache_hook = foreign
        refusal(kernels.add, x, 3)
    del runtime.jit_cache_hook
    assert events == ["add"]
    assert [one.verdict for one in report().resolutions] == ["refused"]


def test_a_program_that_was_never_loaded_is_refused_until_it_is_loaded(kernels: ModuleType, x: Any) -> None:
    kernel = kernels.add.warmup(torch.float32, 3, BLOCK=64, grid=(1,))
    with freeze("serving"):
        for _ in range(2):
            assert refusal(kernels.add, x, 3).action == "load"
            with pytest.raises(ResolutionFrozenError, match="never loaded"):
                kernel[1, 1, 1](x, 3, 64)
    kernel._init_handles()
    with freeze("serving"):
        kernel[1, 1, 1](x, 3, 64)
        launch(kernels.add, x, 3)
        assert added(x) == [2, 2, 2, 0, 0]


def test_tuned_kernels(kernels: ModuleType, x: Any) -> None:
    launch(kernels.tuned, x, 3)
    with freeze("serving"):
        launch(kernels.tuned, x, 3)
        assert refusal(kernels.tuned, x, 5).differences == (Difference("n_rows", "5", "3"),)
        assert refusal(kernels.tuned, x, 3, BLOCK=32).differences[0].argument == "BLOCK"


def test_a_permit_lets_one_through_and_the_report_has_it(kernels: ModuleType, x: Any) -> None:
    with freeze("serving"), permit("a new adapter"):
        launch(kernels.add, x, 3)
    assert added(x) == [1, 1, 1, 0, 0]
    compiled, loaded = report().resolutions
    assert (compiled.action, loaded.action) == ("compile", "load")
    assert compiled.permit == loaded.permit == "a new adapter"
    assert (compiled.seconds or 0) > 0.001
    assert (loaded.seconds or 0) > 0


def test_a_manifest_prepares_the_next_start(kernels: ModuleType, x: Any, tmp_path: Path) -> None:
    with watch():
        launch(kernels.add, x, 3)
        launch(kernels.add, x, 16, num_warps=8)
    assert manifest.save(tmp_path / "manifest.json") == 2
    kernels.add.device_caches.clear()
    replayed = manifest.replay(tmp_path / "manifest.json")
    assert replayed.count == 2
    assert not replayed.skipped
    x.zero_()
    with freeze("serving"):
        launch(kernels.add, x, 3)
        launch(kernels.add, x, 16, num_warps=8)
        refusal(kernels.add, x, 1)
    assert added(x) == [2, 2, 2, 1, 1]


def test_a_prepared_launch_runs_not_one_call_more_under_a_freeze(kernels: ModuleType, x: Any) -> None:
    def again() -> None:
        launch(kernels.add, x, 3)

    again()
    free = calls_of(again)
    with freeze("serving"):
        frozen = calls_of(again)
    assert frozen == free
