"""What the tests of `ownership.resolution` share."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import pytest

from ownership.resolution._history import history
from ownership.resolution._process import process
from tests.ownership.resolution.programs import KERNELS


class FakeDriver(Protocol):
    """A Triton driver without a device: everything up to its own calls is real, `ptxas` included."""

    #: The current device; there is no end of them.
    device: int
    #: Grids and arguments of what would have been launched.
    launches: list[tuple[Any, ...]]
    #: Names of what would have been loaded.
    loads: list[str]


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """No guard is in force before or after a test, and nothing has been resolved."""
    assert not process.entries
    history.renew()
    yield
    assert not process.entries, "the test left a guard in force"
    history.renew()


@pytest.fixture
def gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDriver]:
    """Compile for an H200 and load into nothing; skips without Triton."""
    triton = pytest.importorskip("triton")
    pytest.importorskip("torch")
    target = pytest.importorskip("triton.backends.compiler").GPUTarget
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")  # without a choice, Triton 3.9 warns

    class Driver:
        def __init__(self) -> None:
            self.utils = self
            self.device = 0
            self.launches: list[tuple[Any, ...]] = []
            self.loads: list[str] = []
            self.loaded: list[weakref.ref[Any]] = []

        def get_current_target(self) -> Any:
            return target("cuda", 90, 32)

        def get_current_device(self) -> int:
            return self.device

        def get_current_stream(self, device: int) -> int:
            return device

        def get_device_properties(self, device: int) -> dict[str, int]:
            return {"max_shared_mem": 232448}

        def load_binary(self, name: str, binary: bytes, *rest: int) -> tuple[object, object, int, int, int]:
            assert binary
            self.loads.append(name)
            self.loaded.append(weakref.ref(sys._getframe(1).f_locals["self"]))
            return object(), object(), 32, 0, 1024

        def unload_module(self, module: object) -> None:
            """Nothing was loaded."""

        def launcher_cls(self, source: object, metadata: object) -> Any:
            def launch(x: int, y: int, z: int, stream: int, function: object, *rest: Any) -> None:
                assert function is not None, "a launch of a program that was never loaded"
                self.launches.append((x, y, z, *rest[4:]))

            return launch

        def get_benchmarker(self) -> Any:
            def bench(call: Any, *, quantiles: object) -> list[float]:
                call()
                return [1.0, 1.0, 1.0]

            return bench

    driver = Driver()
    before = triton.runtime.driver._active
    triton.runtime.driver.set_active(driver)
    yield driver
    triton.runtime.driver._active = before
    for reference in driver.loaded:
        kernel = reference()
        if kernel is not None:
            # It would unload its module through the driver that is active when it dies.
            kernel.module = None


@pytest.fixture
def kernels(gpu: FakeDriver, load: Any) -> ModuleType:
    """Kernels that nobody has compiled."""
    module: ModuleType = load(KERNELS)
    return module
