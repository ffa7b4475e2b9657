"""Triton's hook slots belong to everybody: others see every event, and so do we, whatever they do."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from ownership.resolution import (
    CannotWatchError,
    ResolutionFrozenError,
    ResolutionWarning,
    freeze,
    freezes,
    report,
    watch,
)

triton = pytest.importorskip("triton")
torch = pytest.importorskip("torch")

SLOTS = ["jit_cache_hook", "jit_post_compile_hook", "kernel_load_start_hook", "kernel_load_end_hook"]


@pytest.fixture(autouse=True)
def untouched() -> Any:
    """Each test must leave Triton as it found it."""
    from triton.runtime import autotuner, jit

    def state() -> tuple[object, ...]:
        runtime = triton.knobs.runtime
        found = {name: vars(type(runtime))[name] for name in SLOTS}
        chains = [list(found[name].calls) for name in SLOTS[2:]]
        patched = (jit.serialize_specialization_data, autotuner.Autotuner._bench, autotuner.Autotuner.prune_configs)
        return found, chains, dict(vars(runtime)), patched

    before = state()
    yield
    assert state() == before


class Foreign:
    """Another engine's hook."""

    def __init__(self, before: Callable[..., object] | None = None, answer: object = None) -> None:
        self.before = before
        self.answer = answer
        self.events: list[str] = []

    def __call__(self, **event: Any) -> object:
        self.events.append(event["fn"].name)
        if self.before is not None:
            self.before(**event)
        return self.answer


def launch(kernel: Any, count: int) -> None:
    kernel[(1,)](torch.zeros(64), count, BLOCK=64)


def compiled() -> int:
    return sum(one.action == "compile" for one in report().resolutions)


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The knobs; hooks that a test leaves in the instance go away with it."""
    values = dict(vars(triton.knobs.runtime))
    yield triton.knobs.runtime
    vars(triton.knobs.runtime).clear()
    vars(triton.knobs.runtime).update(values)


def test_a_hook_that_was_there_sees_every_event_and_is_there_afterwards(kernels: ModuleType, runtime: Any) -> None:
    runtime.jit_cache_hook = foreign = Foreign()
    with watch():
        launch(kernels.add, 3)
        with freeze("serving"), pytest.raises(ResolutionFrozenError):
            launch(kernels.add, 16)
    assert foreign.events == ["add", "add"]
    assert compiled() == 2
    assert runtime.jit_cache_hook is foreign


def test_a_hook_that_comes_later_and_does_not_chain_sees_every_event_and_so_do_we(
    kernels: ModuleType, runtime: Any
) -> None:
    with freeze("serving"):
        runtime.jit_cache_hook = foreign = Foreign()
        with pytest.raises(ResolutionFrozenError):
            launch(kernels.add, 16)
    assert foreign.events == ["add"]
    assert compiled() == 1
    assert runtime.jit_cache_hook is foreign


def test_a_hook_that_comes_later_and_chains_is_seen_once(kernels: ModuleType, runtime: Any) -> None:
    with freeze("serving", mode="record"):
        runtime.jit_cache_hook = foreign = Foreign(before=runtime.jit_cache_hook)
        launch(kernels.add, 16)
        assert compiled() == 1
    # What it chained to is ours, and has nothing more to say, until we freeze again.
    launch(kernels.add, 3)
    assert compiled() == 1
    with freeze("again"), pytest.raises(ResolutionFrozenError):
        launch(kernels.add, 1)
    assert compiled() == 2
    assert foreign.events == ["add"] * 3


def test_a_hook_that_is_saved_and_put_back_is_itself_again(kernels: ModuleType, runtime: Any) -> None:
    runtime.jit_cache_hook = original = Foreign()
    guard = freeze("serving")
    saved = runtime.jit_cache_hook
    runtime.jit_cache_hook = Foreign()
    runtime.jit_cache_hook = saved
    guard.lift()
    assert runtime.jit_cache_hook is original


def test_a_hook_put_back_after_the_freeze_only_passes_on(kernels: ModuleType, runtime: Any) -> None:
    runtime.jit_cache_hook = original = Foreign()
    with freeze("serving"):
        saved = runtime.jit_cache_hook
    runtime.jit_cache_hook = saved
    launch(kernels.add, 3)
    assert original.events == ["add"]
    with freeze("again"), pytest.raises(ResolutionFrozenError):
        launch(kernels.add, 16)
    assert original.events == ["add", "add"]


def test_resetting_copying_and_scoping_the_knobs_does_not_end_the_freeze(kernels: ModuleType, runtime: Any) -> None:
    with freeze("serving"):
        with runtime.scope():
            runtime.jit_cache_hook = None
            with pytest.raises(ResolutionFrozenError):
                launch(kernels.add, 3)
        runtime.jit_cache_hook = None
        del runtime.jit_cache_hook
        with pytest.raises(AttributeError):
            del runtime.jit_cache_hook
        assert runtime.copy().jit_cache_hook is not None
        with pytest.raises(ResolutionFrozenError):
            launch(kernels.add, 3)
    assert runtime.jit_cache_hook is None


def test_a_freeze_inside_a_scope_of_the_knobs_outlives_it(kernels: ModuleType, runtime: Any) -> None:
    with runtime.scope():
        guard = freeze("serving")
    with guard, pytest.raises(ResolutionFrozenError):
        launch(kernels.add, 3)
    assert runtime.jit_cache_hook is None


def test_a_foreign_hook_that_vetoes_is_obeyed_without_a_freeze_and_overruled_under_one(
    kernels: ModuleType, runtime: Any
) -> None:
    runtime.jit_cache_hook = Foreign(answer=True)
    with watch():
        launch(kernels.add, 3)
        assert not kernels.add.device_caches[0][0]
        with freeze("serving"), pytest.raises(ResolutionFrozenError):
            launch(kernels.add, 3)


def test_what_a_foreign_hook_raises_flies_and_is_recorded(kernels: ModuleType, runtime: Any) -> None:
    def fail(**event: object) -> None:
        raise KeyError("theirs")

    runtime.jit_cache_hook = Foreign(before=fail)
    with freeze("serving"), pytest.raises(KeyError, match="theirs"):
        launch(kernels.add, 3)
    assert [one.verdict for one in report().resolutions] == ["refused"]


def test_a_foreign_hook_that_resolves_itself_is_judged_itself(kernels: ModuleType, runtime: Any) -> None:
    def nested(*, fn: Any, **event: object) -> None:
        if fn.name == "add":
            launch(kernels.general, 3)

    runtime.jit_cache_hook = Foreign(before=nested)
    with freeze("serving"), pytest.raises(ResolutionFrozenError, match="general"):
        launch(kernels.add, 3)
    assert [one.program.rpartition(".")[2] for one in report().resolutions] == ["add", "general"]


def test_chains_of_load_hooks_work_on_as_chains(kernels: ModuleType, runtime: Any) -> None:
    loads: list[str] = []

    def on_load(module: object, function: object, name: str, group: object, digest: str) -> None:
        loads.append(name)

    runtime.kernel_load_start_hook.add(on_load)
    try:
        with watch():
            runtime.kernel_load_end_hook.add(on_load)
            launch(kernels.add, 3)
            runtime.kernel_load_end_hook.remove(on_load)
    finally:
        runtime.kernel_load_start_hook.remove(on_load)
    assert loads == ["add", "add"]
    assert sum(one.action == "load" for one in report().resolutions) == 1


def test_a_load_hook_that_replaces_the_chain_is_called_and_so_are_we(kernels: ModuleType, runtime: Any) -> None:
    loads: list[str] = []
    kernel = kernels.add.warmup(torch.float32, 3, BLOCK=64, grid=(1,))
    with freeze("serving"):
        runtime.kernel_load_start_hook = lambda module, function, name, group, digest: loads.append(name)
        with pytest.raises(ResolutionFrozenError, match="load"):
            kernel._init_handles()
        runtime.kernel_load_start_hook = None
        with pytest.raises(ResolutionFrozenError, match="load"):
            kernel._init_handles()
        del runtime.kernel_load_start_hook
    assert loads == ["add"]


def test_a_hook_on_the_class_is_noticed_at_the_next_look_and_kept(
    kernels: ModuleType, runtime: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = Foreign()
    vars(runtime).pop("jit_cache_hook", None)  # it would hide what the class has; another test may have left `None`
    with freeze("serving"):
        found = vars(type(runtime))["jit_cache_hook"]
        type(runtime).jit_cache_hook = foreign
        # The compilation goes unseen, the load that must follow does not.
        with (
            pytest.warns(ResolutionWarning, match="taken out of .*jit_cache_hook"),
            pytest.raises(ResolutionFrozenError, match="load"),
        ):
            launch(kernels.add, 3)
        with pytest.raises(ResolutionFrozenError, match="compiled"):
            launch(kernels.add, 16)
        type(runtime).jit_cache_hook = foreign
        with pytest.warns(ResolutionWarning, match="taken out"):
            report()
        type(runtime).jit_cache_hook = foreign
        with pytest.warns(ResolutionWarning, match="taken out"), watch():
            pass
        assert vars(type(runtime))["jit_cache_hook"] is found
    assert runtime.jit_cache_hook is foreign
    type(runtime).jit_cache_hook = None
    assert foreign.events == ["add", "add"]


def test_patches_that_others_have_put_over_ours_stay(kernels: ModuleType) -> None:
    from triton.runtime import jit

    original = jit.serialize_specialization_data
    with watch():
        inner = jit.serialize_specialization_data
        theirs = jit.serialize_specialization_data = functools.partial(inner)
        launch(kernels.add, 3)
    assert jit.serialize_specialization_data is theirs
    jit.serialize_specialization_data = original


@pytest.mark.parametrize("missing", ["kernel_load_start_hook", "serialize_specialization_data"])
def test_a_triton_that_cannot_be_watched_is_an_error_and_nothing_is_frozen(
    runtime: Any, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from triton.runtime import jit

    monkeypatch.delattr(type(runtime) if missing in SLOTS else jit, missing)
    with pytest.raises(CannotWatchError, match=missing):
        freeze("serving")
    assert not freezes()
    assert runtime.jit_cache_hook is None
    monkeypatch.undo()
    with freeze("serving"):
        assert runtime.jit_cache_hook is not None


def test_guards_that_come_and_go_leave_no_layers(kernels: ModuleType, runtime: Any) -> None:
    with freeze("outer"):
        for _ in range(50):
            guard = freeze("inner")
            runtime.jit_cache_hook = runtime.jit_cache_hook
            guard.lift()
        assert runtime.jit_cache_hook.found is None
    assert runtime.jit_cache_hook is None


def test_inductor_may_call_the_post_compile_hook_in_its_own_way(kernels: ModuleType, runtime: Any) -> None:
    import inspect

    events: list[object] = []

    def foreign(*, key: object, fn: object, inductor_args: object, **event: object) -> None:
        events.append(inductor_args)

    runtime.jit_post_compile_hook = foreign
    kernel = kernels.add.warmup
    with watch():
        hook = runtime.jit_post_compile_hook
        # As torch._inductor.runtime.triton_heuristics does, with other things in the same places.
        assert "inductor_args" in inspect.signature(hook).parameters
        hook(
            key="k",
            repr="r",
            fn=kernels.add,
            compile=kernel,
            is_manual_warmup=False,
            already_compiled=True,
            inductor_args="mine",
        )
        runtime.jit_post_compile_hook = None
        assert list(inspect.signature(runtime.jit_post_compile_hook).parameters) == ["args", "kwargs"]
    assert events == ["mine"]
    assert report().count() == 0


def test_a_hook_that_captures_specializations_and_keeps_triton_from_compiling_is_left_to_it(
    kernels: ModuleType, runtime: Any
) -> None:
    # As triton._compile_warmup_pool does: it sets a hook, calls the one before, and answers "true".
    from triton.runtime import jit

    captured: list[str] = []
    with watch():
        before, serializer = runtime.jit_cache_hook, jit.serialize_specialization_data

        def capture(**event: Any) -> bool:
            before(**event)
            captured.append(event["compile"]["specialization_data"])
            return True

        runtime.jit_cache_hook = capture
        jit.serialize_specialization_data = lambda *args: serializer(*args)  # noqa: PLW0108 - a layer of its own
        try:
            assert kernels.add.warmup(torch.float32, 3, BLOCK=64, grid=(1,)) is None
        finally:
            jit.serialize_specialization_data = serializer
            runtime.jit_cache_hook = before
        assert kernels.add.warmup(torch.float32, 3, BLOCK=64, grid=(1,)) is not None
    assert len(captured) == 1
    assert [one.seconds is None for one in report().resolutions] == [True, False]
