"""The examples of docs/resolution.md run; those in `py` blocks use Triton, here with an imaginary device."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from docs.sessions import blocks

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "resolution.md").read_text(encoding="utf-8")
WITHOUT_DEVICE = """
import runpy
import sys
import torch
import triton
from triton.backends.compiler import GPUTarget

class Driver:
    def __init__(self): self.utils = self
    def get_current_target(self): return GPUTarget("cuda", 90, 32)
    def get_current_device(self): return 0
    def get_current_stream(self, device): return 0
    def get_device_properties(self, device): return {"max_shared_mem": 232448}
    def load_binary(self, *args): return object(), object(), 32, 0, 1024
    def unload_module(self, module): pass
    def launcher_cls(self, source, metadata): return lambda *args: None

triton.runtime.driver.set_active(Driver())
zeros = torch.zeros
torch.zeros = lambda *shape, device: zeros(*shape)
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def examples(language: str) -> list[str]:
    return [block.body for block in blocks(PAGE) if block.language == language]


def run(body: str, folder: Path, *prelude: str) -> None:
    path = folder / "example.py"
    path.write_text(body, encoding="utf-8")
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        "TRITON_CACHE_DIR": str(folder / "cache"),
        "TRITON_DEFAULT_FP_FUSION": "1",
    }
    command = [sys.executable, "-W", "error", *prelude, str(path)]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, body + done.stderr


@pytest.mark.parametrize("number", range(len(examples("python"))))
def test_an_example_runs(number: int, tmp_path: Path) -> None:
    run(examples("python")[number], tmp_path)


@pytest.mark.parametrize("number", range(len(examples("py"))))
def test_an_example_with_triton_runs(number: int, tmp_path: Path) -> None:
    pytest.importorskip("triton")
    pytest.importorskip("torch")
    # torch itself warns at its import, on some machines.
    run(examples("py")[number], tmp_path, "-W", "default", "-c", WITHOUT_DEVICE)


def test_there_are_examples_and_all_of_them_are_run() -> None:
    assert len(examples("python")) >= 6
    assert len(examples("py")) >= 3
    assert {block.language for block in blocks(PAGE)} == {"python", "py"}
