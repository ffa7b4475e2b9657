from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

import ownership
from ownership.resolution import ManifestError, ResolutionFrozenError, freeze, manifest, permit, report, watch

if TYPE_CHECKING:
    from tests.ownership.resolution.conftest import FakeDriver


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "not JSON"),
        ("\udcff", "not JSON"),
        ("[]", "version is None"),
        ('{"version": 2}', "version is 2, not 1"),
        ('{"version": 1}', "no list of programs"),
        ('{"version": 1, "programs": [3]}', "this is no program: 3"),
        ('{"version": 1, "programs": [{"resolver": "triton"}]}', "this is no program"),
    ],
)
def test_a_file_that_is_no_manifest_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(content, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(ManifestError, match=problem):
        manifest.replay(path)


def test_a_file_that_is_not_there_is_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        manifest.replay(tmp_path / "none.json")
    with pytest.raises(FileNotFoundError):
        manifest.save(tmp_path / "none" / "manifest.json")


def test_saving_replaces_at_once_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "manifest.json"
    path.write_text("before", encoding="utf-8")

    def fail(*args: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        manifest.save(path)
    assert [file.read_text(encoding="utf-8") for file in tmp_path.iterdir()] == ["before"]
    monkeypatch.undo()
    assert manifest.save(path) == 0
    assert manifest.replay(path).count == 0


@pytest.fixture
def saved(kernels: ModuleType, gpu: FakeDriver, tmp_path: Path) -> Path:
    """The manifest of a warm-up, and the same kernels as a new process would have them."""
    torch = pytest.importorskip("torch")
    x = torch.zeros(64)
    with watch():
        kernels.add[(1,)](x, 3, BLOCK=64)
        kernels.add[(1,)](x, 16, BLOCK=64, num_warps=8)
        kernels.tuned[(1,)](x, 3, BLOCK=64)
        kernels.made()[(1,)](x)
    path = tmp_path / "manifest.json"
    assert manifest.save(path) == 5
    for kernel in (kernels.add, kernels.tuned.fn):
        kernel.device_caches.clear()
    gpu.loads.clear()
    return path


def test_what_was_resolved_is_there_again_compiled_and_loaded(
    saved: Path, kernels: ModuleType, gpu: FakeDriver
) -> None:
    torch = pytest.importorskip("torch")
    replayed = manifest.replay(saved)
    assert replayed.count == 4
    assert {name.rpartition(".")[2]: len(programs) for name, programs in replayed.programs.items()} == {
        "add": 2,
        "tuned": 2,
    }
    assert sorted(gpu.loads) == ["add", "add", "tuned", "tuned"]
    (skipped,) = replayed.skipped
    assert "made" in skipped.program
    assert "AttributeError" in skipped.problem
    with freeze("serving"):
        kernels.add[(1,)](torch.zeros(64), 3, BLOCK=64)
        kernels.add[(1,)](torch.zeros(64), 16, BLOCK=64, num_warps=8)
        with pytest.raises(ResolutionFrozenError):
            kernels.add[(1,)](torch.zeros(64), 1, BLOCK=64)


def test_without_loading_the_freeze_still_refuses_the_load(saved: Path, kernels: ModuleType, gpu: FakeDriver) -> None:
    torch = pytest.importorskip("torch")
    manifest.replay(saved, load=False)
    assert gpu.loads == []
    with freeze("serving"), pytest.raises(ResolutionFrozenError, match="never loaded"):
        kernels.add[(1,)](torch.zeros(64), 3, BLOCK=64)


def test_replaying_under_a_freeze_needs_a_permit(saved: Path) -> None:
    with freeze("serving"):
        with pytest.raises(ResolutionFrozenError):
            manifest.replay(saved)
        with permit("start"):
            assert manifest.replay(saved).count == 4


def test_a_replay_that_is_watched_makes_the_same_manifest(saved: Path, tmp_path: Path) -> None:
    report()
    from ownership.resolution._history import history

    history.renew()
    with watch():
        manifest.replay(saved)
    assert manifest.save(tmp_path / "again.json") == 4
    before = json.loads(saved.read_text(encoding="utf-8"))["programs"]
    again = json.loads((tmp_path / "again.json").read_text(encoding="utf-8"))["programs"]
    assert [one for one in before if one["name"] != "made.<locals>.made_again"] == again


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("source", "0", "has changed since"),
        ("target", "GPUTarget(backend='cuda', arch=80, warp_size=32)", "it is for GPUTarget"),
        ("version", "2.0.0", "of Triton 2.0.0"),
        ("module", "no_such_module", "ModuleNotFoundError"),
        ("name", "gone", "AttributeError"),
        ("resolver", "cute.compile", "nothing here replays cute.compile"),
    ],
)
def test_a_program_that_does_not_fit_any_more_is_skipped_with_the_reason(
    saved: Path, field: str, value: str, problem: str
) -> None:
    content = json.loads(saved.read_text(encoding="utf-8"))
    content["programs"] = content["programs"][:2]
    content["programs"][0][field] = value
    saved.write_text(json.dumps(content), encoding="utf-8")
    replayed = manifest.replay(saved)
    assert replayed.count == 1
    assert problem in replayed.skipped[0].problem


def test_a_hook_that_vetoes_leaves_programs_unprepared(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    triton = pytest.importorskip("triton")
    monkeypatch.setattr(triton.knobs.runtime, "jit_cache_hook", lambda **event: True)
    replayed = manifest.replay(saved)
    assert replayed.count == 0
    assert "another cache hook" in replayed.skipped[0].problem


def test_constants_that_json_cannot_hold_are_left_out(kernels: ModuleType, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    with watch():
        kernels.with_mode[(1,)](torch.zeros(64), Path)
    assert manifest.save(tmp_path / "manifest.json") == 0


def test_a_new_process_finds_everything_prepared(saved: Path, kernels: ModuleType, tmp_path: Path) -> None:
    program = f"""
import sys, pathlib
sys.path[:0] = [{str(Path(str(kernels.__file__)).parent)!r}]
import torch, triton, {kernels.__name__} as kernels
from triton.backends.compiler import GPUTarget
class Driver:
    def __init__(self): self.utils = self
    def get_current_target(self): return GPUTarget("cuda", 90, 32)
    def get_current_device(self): return 0
    def get_current_stream(self, device): return 0
    def get_device_properties(self, device): return {{"max_shared_mem": 232448}}
    def load_binary(self, *args): return object(), object(), 32, 0, 1024
    def unload_module(self, module): pass
    def launcher_cls(self, source, metadata): return lambda *args: print("launched")
triton.runtime.driver.set_active(Driver())
from ownership.resolution import ResolutionFrozenError, freeze, manifest
print(manifest.replay({str(saved)!r}).count)
freeze("serving")
kernels.add[(1,)](torch.zeros(64), 3, BLOCK=64)
"""
    root = Path(ownership.__file__).resolve().parent.parent
    env = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["4", "launched"], done.stderr
