"""The adapter for `torch.compile`: first compiles, recompiles, and backward graphs that are compiled late.

Why not `torch.compiler.set_stance("fail_on_recompile")`: a stance is one global of the process. It belongs to the user,
who may have set one; it knows no owners, no permits and no modes that only warn; and it is looked at when a compiled
function is entered, so it changes nothing for a call that is under way. The guard stands where Dynamo compiles instead,
in the thread that asks and after every cache has missed. That respects the stance in force: with "force_eager" or
"eager_on_recompile" nothing is compiled, so there is nothing to refuse, and "fail_on_recompile" fails in torch's words.
Calls that hit Dynamo's cache never come by here and cost what they did before.

What is not seen: what Inductor does at the first launches of a graph that is compiled already (picking a configuration
by timing, recording CUDA graphs), so call each graph in preparation as often as it takes to settle; and libraries that
are compiled ahead of time (AOTInductor).
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final

from ownership.resolution._observe import Observation, judge, observe
from ownership.resolution._process import process
from ownership.resolution._torch_guards import Prepared, arguments, nearest
from ownership.resolution.errors import CannotWatchError, ResolutionFrozenError, ResolutionWarning
from ownership.resolution.events import Difference

__all__ = ["RESOLVER", "TorchAdapter", "adapter"]

#: The name under which the adapter reports.
RESOLVER: Final = "torch.compile"
#: What torch imports when `torch.compile` is called for the first time, long after `import torch`.
_DYNAMO: Final = "torch._dynamo.convert_frame"
_RESUME: Final = "torch_dynamo_resume_in_"
#: The parameters of `convert_frame._compile` that have had these places in all known versions.
_PARAMETERS: Final = ("code", "globals", "locals", "builtins", "closure", "compiler_fn")
_NAMES_KEPT: Final = 4096


class TorchAdapter:
    """Reports to the guards in force what Dynamo is about to compile."""

    def __init__(self) -> None:
        self._restore: list[Callable[[], None]] = []
        # One for each installation: what an earlier one has left below the hook of others must not judge a second time.
        self._session: object | None = None
        self._converted = threading.local()
        # The forward graphs that were seen, by compile id: a backward graph is known by that only.
        self._programs: OrderedDict[str, str] = OrderedDict()

    def install(self) -> None:
        """Stand where Dynamo compiles: now if it is there, or else when it arrives.

        Raises:
            CannotWatchError: this version of torch compiles elsewhere.

        """
        self._session = object()
        if _DYNAMO in sys.modules:
            try:
                # Waits for another thread that is importing it.
                self._attach(importlib.import_module(_DYNAMO))
            except BaseException:
                self.uninstall()
                raise
        else:
            finder: Any = _Finder(self._dynamo_arrived)
            sys.meta_path.insert(0, finder)
            self._restore.append(lambda: sys.meta_path.remove(finder) if finder in sys.meta_path else None)

    def update(self) -> None:
        """Nothing to do: the guards are asked at each compile."""

    def uninstall(self) -> None:
        """Leave torch as it was found. What others have put around us stays, and passes through."""
        self._session = None
        while self._restore:
            self._restore.pop()()

    def _dynamo_arrived(self, module: ModuleType) -> None:
        with process.lock:
            if self._session is not None:
                try:
                    self._attach(module)
                except CannotWatchError as error:
                    # The import of a library must not fail for our reasons.
                    warnings.warn(
                        f"torch.compile came into use under a freeze: {error}", ResolutionWarning, stacklevel=2
                    )

    def _attach(self, module: ModuleType) -> None:
        """Stand between Dynamo's caches and its compiler."""
        callbacks = getattr(sys.modules.get("torch._dynamo.callback"), "callback_handler", None)
        frame = getattr(module, "ConvertFrame", None)
        if not callable(getattr(module, "_compile", None)) or frame is None or callbacks is None:
            version = getattr(sys.modules.get("torch"), "__version__", "(no version)")
            raise CannotWatchError(library="torch", problem=f"{version} compiles in a way that is not known here")
        self._replace(module, "_compile", self._compiling)
        self._replace(frame, "__call__", self._converting)
        self._replace(callbacks, "install_callbacks", self._calling_back)

    def _replace(self, holder: Any, name: str, make: Callable[[Any], Any]) -> None:
        own = name in vars(holder)
        found = getattr(holder, name)
        ours = make(found)
        setattr(holder, name, ours)

        def restore() -> None:
            if vars(holder).get(name) is ours:
                setattr(holder, name, found) if own else delattr(holder, name)

        self._restore.append(restore)

    def _compiling(self, compile_frame: Any) -> Any:
        session = self._session

        def _compile(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if self._session is not session:
                return compile_frame(*args, **kwargs)
            observation = self._judged({**dict(zip(_PARAMETERS, args, strict=False)), **kwargs})
            try:
                observation.enforce()
            except ResolutionFrozenError as error:
                if self._converted.__dict__.get("nesting"):
                    self._converted.refusal = error
                raise
            if isinstance(kwargs.get("skip"), int):
                # Dynamo counts the frames of its own that it leaves out of the stacks it logs.
                kwargs["skip"] += 1
            result = compile_frame(*args, **kwargs)
            observation.done()
            return result

        return _compile

    def _converting(self, convert: Any) -> Any:
        """`torch._dynamo.config.suppress_errors` turns an error into an eager run; a refusal must not end like that."""

        def __call__(this: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 - it stands for that method
            __tracebackhide__ = True
            state = self._converted.__dict__
            state["nesting"] = state.get("nesting", 0) + 1
            try:
                result = convert(this, *args, **kwargs)
            finally:
                state["nesting"] -= 1
                refusal = state.pop("refusal", None)
            if refusal is not None:
                raise refusal
            return result

        return __call__

    def _calling_back(self, install_callbacks: Any) -> Any:
        """A backward graph is compiled when `backward()` first runs; only this context manager gives notice of it."""
        session = self._session

        @contextlib.contextmanager
        def watched(trigger: Any, compile_id: str) -> Iterator[None]:
            observation: Observation | None = None
            if self._session is session and getattr(trigger, "name", "") == "LAZY_BACKWARD":
                program = self._programs.get(compile_id, f"graph {compile_id}")
                observation = observe(
                    resolver=RESOLVER,
                    program=f"{program}, backward",
                    specialization={"graph": compile_id},
                    action="compile",
                )
            with install_callbacks(trigger, compile_id):
                yield
            if observation is not None:
                observation.done()

        return watched

    def _judged(self, call: dict[str, Any]) -> Observation:
        code, local = call["code"], call["locals"]
        program = _program(code, call["globals"])
        compile_id = str(call.get("compile_id"))
        self._programs[compile_id] = program
        while len(self._programs) > _NAMES_KEPT:
            self._programs.popitem(last=False)
        prepared = _prepared(code, local, call["compiler_fn"])
        return judge(
            resolver=RESOLVER,
            program=program,
            specialization=arguments(code, local),
            action="compile",
            nearest=None if prepared is None else prepared.specialization,
            differences=() if prepared is None else prepared.differences,
        )


def _prepared(code: CodeType, local: dict[str, Any], compiler: Any) -> Prepared | None:
    """The compiled graph of this code that is nearest to the call."""
    try:
        from torch._C._dynamo.eval_frame import _debug_get_cache_entry_list

        while hasattr(compiler, "_torchdynamo_orig_backend"):
            compiler = compiler._torchdynamo_orig_backend
        return nearest(_debug_get_cache_entry_list(code), local, compiler)
    except Exception as error:  # noqa: BLE001 - an explanation that fails must not fail what it explains
        return Prepared({}, (Difference("(the guards could not be read)", type(error).__name__, str(error)),))


def _program(code: CodeType, namespace: dict[str, Any]) -> str:
    """`module.Class.method (file:line)`; what follows a graph break is called by the function that was broken."""
    name = code.co_qualname
    if name.rpartition(".")[2].startswith(_RESUME):
        outer, _, line = name.rpartition(".")[2].removeprefix(_RESUME).rpartition("_at_")
        name = f"{outer} from line {line} on"
    path = code.co_filename
    with contextlib.suppress(OSError, ValueError):
        path = str(Path(path).relative_to(Path.cwd()))
    module = namespace.get("__name__")
    return f"{f'{module}.' if isinstance(module, str) else ''}{name} ({path}:{code.co_firstlineno})"


class _Finder:
    """Finds nothing itself; says when Dynamo has been imported."""

    def __init__(self, arrived: Callable[[ModuleType], None]) -> None:
        self._arrived = arrived

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _DYNAMO:
            return None
        for finder in [other for other in sys.meta_path if other is not self]:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = None if find is None else find(fullname, path, target)
            if spec is not None and spec.loader is not None:
                self._follow(spec.loader)
                return spec
        return None

    def _follow(self, loader: Any) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module
            execute(module)
            self._arrived(module)

        loader.exec_module = exec_module


#: The adapter of this process.
adapter: Final = TorchAdapter()
