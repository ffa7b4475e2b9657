"""Launches, warm-ups, loads, freezes and lifts at random, on Triton's own paths, against a model of its memory."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from ownership.resolution import Freeze, ResolutionFrozenError, freeze, permit, watch

if TYPE_CHECKING:
    from tests.ownership.resolution.conftest import FakeDriver

torch = pytest.importorskip("torch")
pytest.importorskip("triton")


class Spec(NamedTuple):
    """One program of the kernel."""

    rows: int
    dtype: str
    block: int
    warps: int


#: What the fields are called in a launch.
ARGUMENTS = ("n_rows", "x", "BLOCK", "num_warps")
SPECS = st.builds(
    Spec,
    st.sampled_from([3, 16, 1]),
    st.sampled_from(["float32", "float16"]),
    st.sampled_from([32, 64]),
    st.sampled_from([4, 8]),
)


def test_triton_under_random_freezes(kernels: ModuleType, gpu: FakeDriver) -> None:
    tensors = {name: torch.zeros(64, dtype=getattr(torch, name)) for name in ("float32", "float16")}

    class Machine(RuleBasedStateMachine):
        @initialize()
        def start(self) -> None:
            kernels.add.device_caches.clear()
            self.memory: dict[Spec, bool] = {}  # loaded?
            self.guards: list[Freeze] = []
            self.watch = watch()

        def run(self, spec: Spec, *, warm: bool) -> None:
            launches = len(gpu.launches)
            options = {"BLOCK": spec.block, "num_warps": spec.warps}
            if warm:
                kernels.add.warmup(getattr(torch, spec.dtype), spec.rows, grid=(1,), **options)
            else:
                kernels.add[(1,)](tensors[spec.dtype], spec.rows, **options)
            assert len(gpu.launches) == launches + (not warm)
            self.memory[spec] = not warm or self.memory.get(spec, False)

        @rule(spec=SPECS, warm=st.booleans())
        def ask(self, spec: Spec, warm: bool) -> None:
            missing = spec not in self.memory
            unloaded = not warm and not self.memory.get(spec, False)
            if not self.guards or not (missing or unloaded):
                self.run(spec, warm=warm)
                return
            launches, loads = len(gpu.launches), len(gpu.loads)
            with pytest.raises(ResolutionFrozenError) as caught:
                self.run(spec, warm=warm)
            assert (len(gpu.launches), len(gpu.loads)) == (launches, loads)
            error = caught.value
            assert error.action == ("compile" if missing else "load")
            assert [info.reason for info in error.freezes] == [guard.info.reason for guard in self.guards]
            if missing and self.memory:
                distances = {
                    other: {name for name, a, b in zip(ARGUMENTS, spec, other, strict=True) if a != b}
                    for other in self.memory
                }
                named = {difference.argument for difference in error.differences}
                assert named in distances.values()
                assert len(named) == min(map(len, distances.values()))

        @rule(spec=SPECS, warm=st.booleans())
        def ask_with_permit(self, spec: Spec, warm: bool) -> None:
            with permit("on purpose"):
                self.run(spec, warm=warm)

        @rule()
        def begin(self) -> None:
            self.guards.append(freeze(f"reason {len(self.guards)}"))

        @rule(index=st.integers(0, 5))
        def end(self, index: int) -> None:
            if self.guards:
                self.guards.pop(index % len(self.guards)).lift()

        @invariant()
        def what_triton_remembers_is_what_was_let_through(self) -> None:
            if hasattr(self, "memory"):
                assert len(kernels.add.device_caches[0][0]) == len(self.memory)

        def teardown(self) -> None:
            if hasattr(self, "memory"):
                self.watch.lift()
                for guard in self.guards:
                    guard.lift()

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=60, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
