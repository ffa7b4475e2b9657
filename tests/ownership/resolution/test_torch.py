"""The adapter for `torch.compile`: what raises, what it says, what goes on, and what torch looks like afterwards."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ownership
from ownership.resolution import (
    Difference,
    Resolution,
    ResolutionFrozenError,
    ResolutionWarning,
    freeze,
    owned_by,
    permit,
    subscribe,
    watch,
)

# The module of this name in the package, not the library.
torch_adapter = importlib.import_module("ownership.resolution.torch")
torch = pytest.importorskip("torch", reason="needs torch: make test, without KERNELS=0")

ROOT = Path(ownership.__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    yield
    torch._dynamo.reset()


@pytest.fixture
def seen() -> Iterator[list[Resolution]]:
    """What is resolved during the test."""
    events: list[Resolution] = []
    unsubscribe = subscribe(events.append)
    yield events
    unsubscribe()


def compiled(function: Any, **options: Any) -> Any:
    return torch.compile(function, **{"backend": "eager", "dynamic": False, **options})


def scaled(x: Any, n: int = 2) -> Any:
    return x * n


def refused(function: Callable[..., object], *args: object) -> ResolutionFrozenError:
    with pytest.raises(ResolutionFrozenError) as caught:
        function(*args)
    return caught.value


def parts() -> tuple[object, ...]:
    """What the adapter replaces."""
    from torch._dynamo import convert_frame
    from torch._dynamo.callback import callback_handler

    return (
        convert_frame._compile,
        convert_frame.ConvertFrame.__call__,
        "install_callbacks" in vars(callback_handler),
        list(sys.meta_path),
    )


class TestWhatRaises:
    def test_a_first_compile(self) -> None:
        function = compiled(scaled)
        with freeze("serving"):
            error = refused(function, torch.ones(3, 4))
        assert error.resolver == "torch.compile"
        assert error.nearest is None
        assert error.specialization == {"x": "float32[3, 4]", "n": "2"}
        assert function(torch.ones(3)).tolist() == [2.0, 2.0, 2.0]

    def test_it_names_the_function_the_file_and_the_line(self) -> None:
        with freeze("serving"):
            error = refused(compiled(scaled), torch.ones(3))
        line = scaled.__code__.co_firstlineno
        assert error.program.startswith(f"{__name__}.scaled (")
        assert error.program.endswith(f"test_torch.py:{line})")

    @pytest.mark.parametrize("backend", ["eager", "aot_eager"])
    @pytest.mark.parametrize("fullgraph", [False, True])
    @pytest.mark.parametrize(
        ("make", "argument", "asked", "prepared"),
        [
            (lambda: (torch.ones(5, 4), 2), "x", "float32[5, 4]", "float32[3, 4]"),
            (lambda: (torch.ones(3), 2), "x", "float32[3]", "float32[3, 4]"),
            (lambda: (torch.ones(3, 4, dtype=torch.float64), 2), "x", "float64[3, 4]", "float32[3, 4]"),
            (
                lambda: (torch.ones(4, 3).t(), 2),
                "x",
                "float32[3, 4] with strides (1, 3)",
                "float32[3, 4] with strides (4, 1)",
            ),
            (
                lambda: (torch.ones(3, 4, requires_grad=True), 2),
                "x",
                "float32[3, 4], requires grad",
                "float32[3, 4]",
            ),
            (lambda: (torch.ones(3, 4), 3), "n", "3", "2"),
            (lambda: (torch.ones(3, 4), 2.0), "n", "2.0", "2"),
        ],
    )
    def test_a_recompile_says_which_argument_changed(
        self,
        make: Callable[[], tuple[Any, ...]],
        argument: str,
        asked: str,
        prepared: str,
        backend: str,
        fullgraph: bool,
    ) -> None:
        function = compiled(scaled, backend=backend, fullgraph=fullgraph)
        function(torch.ones(3, 4), 2)
        with freeze("serving"):
            error = refused(function, *make())
            assert error.differences == (Difference(argument, asked, prepared),)
            assert f"{argument}: {asked} where prepared: {prepared}" in str(error)
            function(torch.ones(3, 4), 2)

    def test_every_argument_that_changed_is_named_and_the_nearest_graph_is_taken(self) -> None:
        def many(x: Any, n: int, items: list[int]) -> Any:
            return x * n + len(items)

        function = compiled(many)
        function(torch.ones(3), 2, [1])
        function(torch.ones(9), 7, [1, 2])
        with freeze("serving"):
            error = refused(function, torch.ones(4), 3, [1])
            assert set(error.differences) == {
                Difference("x", "float32[4]", "float32[3]"),
                Difference("n", "3", "2"),
            }
            error = refused(function, torch.ones(9), 8, [1, 2])
            assert error.differences == (Difference("n", "8", "7"),)
            error = refused(function, torch.ones(9), 7, [1, 2, 3])
            assert error.differences == (Difference("len(items)", "3", "2"),)

    def test_an_attribute_of_a_module(self) -> None:
        from torch import nn

        class Scale(nn.Module):  # type: ignore[misc]  # it is Any to mypy, see pyproject.toml
            def __init__(self) -> None:
                super().__init__()
                self.linear = nn.Linear(4, 4)
                self.factor = 2

            def forward(self, x: Any) -> Any:
                return self.linear(x) * self.factor

        module = compiled(Scale())
        module(torch.ones(3, 4))
        with freeze("serving"):
            module.factor = 3
            error = refused(module, torch.ones(3, 4))
            assert error.differences == (Difference("self.factor", "3", "2"),)
            assert "Scale.forward" in error.program
            module.factor = 2
            module(torch.ones(3, 4))

    def test_a_parameter_of_a_module(self) -> None:
        from torch import nn

        if torch.__version__.startswith("2.11."):
            pytest.skip("torch 2.11 compiles nothing anew for it")
        module = compiled(nn.Linear(4, 4))
        module(torch.ones(3, 4))
        with freeze("serving"):
            module.weight.requires_grad_(False)
            error = refused(module, torch.ones(3, 4))
            # torch wraps a module of its own in a function, whose argument this is.
            assert [difference.argument for difference in error.differences] == ["fn.weight"]

    def test_the_state_of_torch(self) -> None:
        function = compiled(scaled)
        function(torch.ones(3))
        with freeze("serving"), torch.no_grad():
            error = refused(function, torch.ones(3))
        assert error.differences == (Difference("grad_mode", "false", "true"),)

    def test_another_backend(self) -> None:
        compiled(scaled)(torch.ones(3))
        with freeze("serving"):
            error = refused(compiled(scaled, backend="aot_eager"), torch.ones(3))
        assert error.differences == (Difference("backend", "aot_eager", "eager"),)

    def test_what_a_dynamic_graph_was_not_made_for(self) -> None:
        def added(x: Any, y: Any) -> Any:
            return x + y

        function = compiled(added, dynamic=True)
        function(torch.ones(4), torch.ones(4))
        with freeze("serving"):
            function(torch.ones(9), torch.ones(9))
            error = refused(function, torch.ones(1), torch.ones(1))
            assert error.differences
            assert any("1" in difference.asked for difference in error.differences)
            one = torch.ones(4)
            error = refused(function, one, one)
            assert error.differences == (Difference("x, y", "the same tensor", "different tensors"),)

    def test_what_follows_a_graph_break(self) -> None:
        def broken(x: Any, deep: bool) -> Any:
            y = x + 1
            torch._dynamo.graph_break()
            return y * 2 if deep else y * 3

        function = compiled(broken)
        function(torch.ones(3), False)
        with freeze("serving"):
            assert function(torch.ones(3), False).tolist() == [6.0, 6.0, 6.0]
            error = refused(function, torch.ones(4), False)
            assert error.differences == (Difference("x", "float32[4]", "float32[3]"),)
            error = refused(function, torch.ones(3), True)
        assert "broken from line" in error.program
        assert [difference.argument for difference in error.differences] == ["deep"]

    def test_a_compiled_function_inside_another_one(self) -> None:
        inner = compiled(scaled)

        def outer(x: Any) -> Any:
            torch._dynamo.graph_break()
            return inner(x, 2)

        function = compiled(outer)
        function(torch.ones(3))
        with freeze("serving"):
            function(torch.ones(3))
            error = refused(function, torch.ones(4))
        assert error.differences == (Difference("x", "float32[4]", "float32[3]"),)

    def test_a_backward_graph_that_is_compiled_late(self) -> None:
        def loss(x: Any) -> Any:
            return (x * x).sum()

        function = compiled(loss, backend="aot_eager")
        x = torch.ones(3, requires_grad=True)
        with watch():
            value = function(x)
        with freeze("serving"):
            error = refused(value.backward)
        assert "loss (" in error.program
        assert error.program.endswith(", backward")
        function(x).backward()
        assert x.grad.tolist() == [2.0, 2.0, 2.0]
        with freeze("serving"):
            function(x).backward()

    def test_in_a_thread_that_the_freeze_knows_nothing_of(self) -> None:
        function = compiled(scaled)
        function(torch.ones(3))
        results: list[object] = []

        def serve() -> None:
            results.append(function(torch.ones(3)).tolist())
            results.append(refused(function, torch.ones(4)))

        with freeze("serving"):
            thread = threading.Thread(target=serve)
            thread.start()
            thread.join()
        assert results[0] == [2.0, 2.0, 2.0]
        assert isinstance(results[1], ResolutionFrozenError)

    def test_also_where_errors_of_the_compiler_are_suppressed(self) -> None:
        function = compiled(scaled)
        function(torch.ones(3))
        with torch._dynamo.config.patch(suppress_errors=True):
            with freeze("serving"):
                refused(function, torch.ones(4))
                function(torch.ones(3))
            assert function(torch.ones(4)).tolist() == [2.0] * 4

    def test_the_error_travels_between_processes(self) -> None:
        function = compiled(scaled)
        function(torch.ones(3))
        with freeze("serving"):
            error = refused(function, torch.ones(4))
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == str(error)
        assert again.differences == error.differences


class TestWhatGoesOn:
    def test_after_the_freeze_it_compiles_as_before(self, seen: list[Resolution]) -> None:
        function = compiled(scaled)
        function(torch.ones(3))
        with freeze("serving"):
            refused(function, torch.ones(4))
        assert function(torch.ones(4)).tolist() == [2.0] * 4
        with freeze("serving"):
            assert function(torch.ones(4)).tolist() == [2.0] * 4
        assert [event.verdict for event in seen] == ["refused"]

    def test_a_refusal_leaves_the_automatic_choice_of_dynamic_shapes_alone(self) -> None:
        graphs: list[Any] = []

        def backend(module: Any, inputs: Any) -> Any:
            graphs.append(module)
            return module.forward

        function = torch.compile(scaled, backend=backend)
        function(torch.ones(3))
        with freeze("serving"):
            refused(function, torch.ones(4))
        function(torch.ones(5))
        function(torch.ones(6))
        assert len(graphs) == 2, "the second graph is dynamic, as it would have been without the freeze"

    @pytest.mark.parametrize("mode", ["warn", "record"])
    def test_milder_modes_change_no_result(self, mode: Any, seen: list[Resolution]) -> None:
        function = compiled(scaled)
        function(torch.ones(3))
        with freeze("serving", mode=mode):
            if mode == "warn":
                with pytest.warns(ResolutionWarning, match=r"x: float32\[4\] where prepared: float32\[3\]"):
                    result = function(torch.ones(4))
            else:
                result = function(torch.ones(4))
            function(torch.ones(4))
        assert result.tolist() == [2.0] * 4
        (event,) = seen
        assert event.verdict == {"warn": "warned", "record": "recorded"}[mode]
        assert event.seconds is not None
        assert event.seconds > 0
        assert event.differences == (Difference("x", "float32[4]", "float32[3]"),)
        assert Path(event.caller.rpartition(":")[0]) == Path(__file__)

    def test_a_permit_lets_this_thread_compile(self, seen: list[Resolution]) -> None:
        function = compiled(scaled)
        with freeze("serving"):
            with permit("a new shape was announced"):
                assert function(torch.ones(3)).tolist() == [2.0] * 3
            function(torch.ones(3))
            refused(function, torch.ones(4))
        assert [(event.verdict, event.permit) for event in seen] == [
            ("allowed", "a new shape was announced"),
            ("refused", None),
        ]

    def test_a_freeze_of_one_owner_leaves_the_others_alone(self) -> None:
        function = compiled(scaled)
        with freeze("serving", owner="engine-a"):
            with owned_by("engine-b"):
                function(torch.ones(3))
            with owned_by("engine-a"):
                function(torch.ones(3))
                refused(function, torch.ones(4))

    def test_compiling_while_watched_gives_what_it_gives_otherwise(self, seen: list[Resolution]) -> None:
        function = compiled(scaled)
        with watch():
            assert function(torch.ones(3)).tolist() == [2.0] * 3
        (event,) = seen
        assert (event.action, event.verdict, event.nearest) == ("compile", "allowed", None)


class TestTheStanceOfTheUser:
    def test_force_eager_compiles_nothing_so_nothing_is_refused(self, seen: list[Resolution]) -> None:
        function = compiled(scaled)
        with torch.compiler.set_stance("force_eager"), freeze("serving"):
            assert function(torch.ones(3)).tolist() == [2.0] * 3
        assert seen == []

    def test_eager_on_recompile_falls_back_as_it_says(self, seen: list[Resolution]) -> None:
        function = compiled(scaled)
        function(torch.ones(3))
        with freeze("serving"), torch.compiler.set_stance("eager_on_recompile"):
            assert function(torch.ones(4)).tolist() == [2.0] * 4
        assert seen == []

    def test_fail_on_recompile_fails_in_the_words_of_torch(self) -> None:
        function = compiled(scaled)
        function(torch.ones(3))
        with (
            torch.compiler.set_stance("fail_on_recompile"),
            freeze("serving"),
            pytest.raises(RuntimeError, match="fail_on_recompile") as caught,
        ):
            function(torch.ones(4))
        assert not isinstance(caught.value, ResolutionFrozenError)

    def test_eager_then_compile_is_refused_when_it_compiles(self) -> None:
        function = compiled(scaled)
        with torch.compiler.set_stance("eager_then_compile"), freeze("serving"):
            assert function(torch.ones(3)).tolist() == [2.0] * 3
            refused(function, torch.ones(3))

    def test_a_freeze_never_sets_one(self) -> None:
        from torch._dynamo import eval_frame

        with torch.compiler.set_stance("eager_on_recompile"):
            before = eval_frame._stance
            with freeze("serving"):
                assert eval_frame._stance is before
            assert eval_frame._stance is before


class TestWhatTorchLooksLike:
    def test_as_before_when_the_last_guard_has_ended(self) -> None:
        compiled(scaled)(torch.ones(3))
        before = parts()
        outer, inner = freeze("outer"), freeze("inner")
        assert parts()[:3] != before[:3]
        outer.lift()
        assert parts()[:3] != before[:3]
        inner.lift()
        assert parts() == before
        assert before[2] is False, "a method of the class, not an attribute of the object"

    def test_what_somebody_else_put_there_is_called_and_stays(
        self, monkeypatch: pytest.MonkeyPatch, seen: list[Resolution]
    ) -> None:
        from torch._dynamo import convert_frame

        names: list[str] = []
        theirs_below: Any = convert_frame._compile

        def below(code: Any, *args: Any, **kwargs: Any) -> Any:
            names.append("below")
            return theirs_below(code, *args, **kwargs)

        monkeypatch.setattr(convert_frame, "_compile", below)
        frozen = freeze("serving", mode="record")
        ours: Any = convert_frame._compile

        def above(*args: Any, **kwargs: Any) -> Any:
            names.append("above")
            return ours(*args, **kwargs)

        monkeypatch.setattr(convert_frame, "_compile", above)
        compiled(scaled)(torch.ones(3))
        assert names == ["above", "below"]
        frozen.lift()
        assert convert_frame._compile is above
        compiled(scaled)(torch.ones(4))
        assert names == ["above", "below"] * 2
        with freeze("again", mode="record"):
            compiled(scaled)(torch.ones(5))
        assert len(seen) == 2, "what the first freeze left in the middle does not judge a second time"

    def test_a_callback_of_torch_still_sees_every_compile(self) -> None:
        from torch._dynamo.callback import callback_handler

        calls: list[object] = []
        callback_handler.register_start_callback(calls.append)
        try:
            with freeze("serving", mode="record"):
                compiled(scaled, backend="aot_eager")(torch.ones(3))
        finally:
            callback_handler.remove_start_callback(calls.append)
        assert len(calls) == 1

    def test_calls_that_hit_cost_what_they_did(self) -> None:
        """Nothing of ours is called: neither is the function that compiles, nor what stands before it."""
        function = compiled(scaled)
        x = torch.ones(3)
        function(x)
        calls: list[str] = []

        def profile(frame: Any, event: str, argument: object) -> None:
            name = frame.f_globals.get("__name__", "")
            if event == "call" and name.startswith("ownership"):
                calls.append(f"{name}.{frame.f_code.co_name}")

        with freeze("serving"):
            sys.setprofile(profile)
            try:
                function(x)
            finally:
                sys.setprofile(None)
        assert calls == []


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class TestWhenItIsImported:
    def test_a_freeze_before_torch_is_imported_holds(self) -> None:
        program = """
            import sys
            from ownership.resolution import ResolutionFrozenError, freeze
            frozen = freeze("serving")
            assert "torch" not in sys.modules
            import torch
            assert "torch._dynamo" not in sys.modules
            function = torch.compile(lambda x: x + 1, backend="eager")
            try:
                function(torch.ones(3))
            except ResolutionFrozenError as error:
                print(error.specialization)
            frozen.lift()
            print(function(torch.ones(3)).tolist(), [finder for finder in sys.meta_path if "ownership" in repr(finder)])
        """
        assert run(program).splitlines() == ["{'x': 'float32[3]'}", "[2.0, 2.0, 2.0] []"]

    def test_a_freeze_imports_nothing_of_torch(self) -> None:
        program = """
            import sys, torch
            from ownership.resolution import freeze
            with freeze("serving"):
                print("torch._dynamo" in sys.modules)
        """
        assert run(program) == "False"

    def test_a_torch_that_compiles_elsewhere_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from torch._dynamo import convert_frame

        from ownership.resolution import CannotWatchError

        before = parts()
        monkeypatch.delattr(convert_frame, "_compile")
        with pytest.raises(CannotWatchError, match="compiles in a way that is not known"):
            freeze("serving")
        monkeypatch.undo()
        assert parts() == before

    def test_one_that_is_imported_later_is_complained_of_and_imported_all_the_same(self) -> None:
        arrived = torch_adapter.TorchAdapter()
        arrived._session = object()
        with pytest.warns(ResolutionWarning, match="torch.compile came into use under a freeze"):
            arrived._dynamo_arrived(ModuleType("torch._dynamo.convert_frame"))
        arrived.uninstall()

    def test_one_that_is_imported_after_the_freeze_has_ended_is_left_alone(self) -> None:
        late = ModuleType("torch._dynamo.convert_frame")
        torch_adapter.TorchAdapter()._dynamo_arrived(late)
        assert "_compile" not in vars(late)


def test_a_cached_call_takes_as_long_as_without_a_freeze() -> None:
    """Medians of interleaved rounds, with room for a busy machine; `TestWhatTorchLooksLike` has the exact statement."""
    function = compiled(scaled)
    x = torch.ones(3)
    function(x)

    def round_() -> float:
        start = time.perf_counter()
        for _ in range(300):
            function(x)
        return time.perf_counter() - start

    plain, frozen = [], []
    for _ in range(15):
        plain.append(round_())
        with freeze("serving"):
            frozen.append(round_())
    assert sorted(frozen)[7] < 1.5 * sorted(plain)[7]
