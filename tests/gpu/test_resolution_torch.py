"""The freeze and poisoned scratch with Inductor and CUDA; run on the GPU machine: `python -m pytest tests/gpu -q`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ownership.pytest_plugin import PoisonDependenceError, PoisonedScratch, ScratchOverrunError
from ownership.resolution import Difference, Resolution, ResolutionFrozenError, freeze, subscribe
from tests.modules import imported

triton = pytest.importorskip("triton")
torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)

KERNELS = """
import triton
import triton.language as tl


@triton.jit
def increment(x, y, n, SHIFT: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y + offsets + SHIFT, tl.load(x + offsets, mask=offsets < n) + 1.0, mask=offsets < n)
"""


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    yield
    torch._dynamo.reset()


@pytest.fixture
def seen() -> Iterator[list[Resolution]]:
    events: list[Resolution] = []
    unsubscribe = subscribe(events.append)
    yield events
    unsubscribe()


@pytest.fixture
def increment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")  # without a choice, newer versions of Triton warn
    path = tmp_path / "gpu_scratch_kernels.py"
    path.write_text(KERNELS, encoding="utf-8")
    with imported(path) as module:
        yield module.increment


def folded(x: Any, n: int) -> Any:
    return (x * n).sin().sum(0)


@pytest.mark.filterwarnings("ignore:The CUDA Graph is empty:UserWarning")  # torch, of its own warm-up
@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_a_graph_of_inductor_goes_on_and_another_one_is_refused(mode: str, seen: list[Resolution]) -> None:
    function = torch.compile(folded, mode=mode, dynamic=False)
    x = torch.ones(64, 8, device="cuda")
    for _ in range(4):
        expected = function(x, 2).clone()
    with freeze("serving"):
        for _ in range(3):
            assert torch.equal(function(x, 2), expected)
        with pytest.raises(ResolutionFrozenError) as caught:
            function(torch.ones(65, 8, device="cuda"), 2)
        assert caught.value.differences == (Difference("x", "float32[65, 8] on cuda:0", "float32[64, 8] on cuda:0"),)
        with pytest.raises(ResolutionFrozenError) as caught:
            function(x, 3)
        assert caught.value.differences == (Difference("n", "3", "2"),)
        with pytest.raises(ResolutionFrozenError) as caught:
            function(torch.ones(64, 8), 2)
        assert caught.value.differences == (Difference("x", "float32[64, 8]", "float32[64, 8] on cuda:0"),)
        assert torch.equal(function(x, 2), expected)
    assert [event.verdict for event in seen] == ["refused"] * 3


def test_a_backward_graph_of_inductor_is_refused_if_it_is_late() -> None:
    function = torch.compile(folded, dynamic=False)
    x = torch.ones(64, 8, device="cuda", requires_grad=True)
    value = function(x, 2).sum()
    with freeze("serving"), pytest.raises(ResolutionFrozenError, match="backward"):
        value.backward()
    function(x, 2).sum().backward()
    with freeze("serving"):
        function(x, 2).sum().backward()


def test_scratch_on_the_device_is_poisoned_aligned_and_guarded(increment: Any) -> None:
    scratch = PoisonedScratch()
    x = torch.ones(16, device="cuda")
    good = scratch(64, dtype=torch.float32, device="cuda")
    assert bool(good.isnan().all())
    assert good.data_ptr() % 512 == 256
    increment[(1,)](x, good, 16, SHIFT=0, BLOCK=16)
    scratch.check()
    assert good.tolist() == [2.0] * 16
    increment[(1,)](x, good, 16, SHIFT=1, BLOCK=16)
    with pytest.raises(ScratchOverrunError, match=r"4 bytes written from 0 bytes after its end .* as elements: 2\.0"):
        scratch.check()


def test_scratch_that_is_read_before_it_is_written_is_found_on_the_device(increment: Any) -> None:
    def run(scratch: PoisonedScratch, n: int) -> Any:
        y = scratch(64, dtype=torch.float32, device="cuda")
        increment[(1,)](torch.ones(16, device="cuda"), y, n, SHIFT=0, BLOCK=16)
        return y

    assert PoisonedScratch().same_for(lambda scratch: run(scratch, 16)).tolist() == [2.0] * 16
    with pytest.raises(PoisonDependenceError, match="1 of 16 elements differ, the first at index 15: nan and 0"):
        PoisonedScratch().same_for(lambda scratch: run(scratch, 15))
