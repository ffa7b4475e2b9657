"""The adapter for Triton: compilation, the first load of a module, and tuning.

Triton asks its hooks only when a launch finds no program in memory, so a guard costs prepared launches nothing. A cache
hook that answers "true" makes the launch return without having launched, so this one raises. It runs before Triton has
changed anything: the refused specialization compiles once the freeze is lifted, and prepared ones go on meanwhile.
"""

from __future__ import annotations

import functools
import importlib
import json
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple, ParamSpec, TypeVar

from ownership.resolution._frames import frames
from ownership.resolution._observe import Observation, judge
from ownership.resolution._plan_fields import plan_field
from ownership.resolution._triton_slots import Slot
from ownership.resolution._triton_tuning import Tunings
from ownership.resolution._triton_words import (
    Request,
    described,
    is_compiled,
    nearest,
    option_words,
    program_name,
    replayed,
)
from ownership.resolution.errors import CannotWatchError, ResolutionWarning

__all__ = ["Sample", "TritonAdapter", "adapter", "sample"]

A = ParamSpec("A")
R = TypeVar("R")

_RESOLVER = "triton"
#: Programs that are being compiled or loaded; one whose compilation fails is never heard of again.
_PENDING = 1024


class Sample(NamedTuple):
    """How a program was first asked for: the values of that call and all launch options."""

    values: Mapping[str, int]
    options: Mapping[str, Any]


_Begun = tuple[Observation, Sample | None]
_samples: weakref.WeakKeyDictionary[Any, Sample] = weakref.WeakKeyDictionary()


def sample(kernel: object) -> Sample | None:
    """How a compiled kernel was first asked for, if a guard was in force then."""
    return _samples.get(kernel)


class TritonAdapter:
    """Reports to the guard what Triton resolves."""

    def __init__(self) -> None:
        self._pending: OrderedDict[Hashable, list[_Begun]] = OrderedDict()
        self._slots = (
            Slot("jit_cache_hook", self._compile, _compile_event),
            Slot("jit_post_compile_hook", self._compiled, _compile_event),
            Slot("kernel_load_start_hook", self._load, _load_event),
            Slot("kernel_load_end_hook", self._loaded, _load_event),
        )
        self._undo: list[Callable[[], None]] = []

    def install(self) -> None:
        """Stand before Triton's hook slots.

        Raises:
            CannotWatchError: this Triton has no such slots.

        """
        try:
            holder = type(importlib.import_module("triton.knobs").runtime)
            jit = importlib.import_module("triton.runtime.jit")
            autotuner = importlib.import_module("triton.runtime.autotuner").Autotuner
            tuning = Tunings()
            for slot in self._slots:
                slot.install(holder)
                self._undo.append(functools.partial(slot.uninstall, holder))
            self._replace(jit, "serialize_specialization_data", _tolerant)
            self._replace(autotuner, "prune_configs", tuning.judged)
            self._replace(autotuner, "_bench", tuning.counted)
        except (AttributeError, ImportError) as error:
            self.uninstall()
            raise CannotWatchError(library=_RESOLVER, problem=f"lacks what the guard watches ({error})") from error

    def _replace(self, holder: Any, name: str, wrap: Callable[[Any], Any]) -> None:
        found = getattr(holder, name)
        ours = wrap(found)
        setattr(holder, name, ours)

        def restore() -> None:
            if vars(holder).get(name) is ours:
                setattr(holder, name, found)

        self._undo.append(restore)

    def update(self) -> None:
        """Stand before the slots again where somebody has put something else on the class, and say so."""
        holder = type(importlib.import_module("triton.knobs").runtime)
        for slot in self._slots:
            if slot.installed and not slot.in_place(holder):
                intruder = vars(holder).get(slot.name)
                slot.install(holder)
                warnings.warn(
                    f"The resolution guard was taken out of triton.knobs.runtime.{slot.name} by {intruder!r} and has "
                    "put itself before that again. What was resolved in between may have gone unseen: set hooks on "
                    "triton.knobs.runtime, not on its class.",
                    ResolutionWarning,
                    stacklevel=2,
                )

    def uninstall(self) -> None:
        """Leave Triton as it was found; hooks that others have set since then stay."""
        while self._undo:
            self._undo.pop()()
        self._pending.clear()

    def _compile(self, *, key: str, fn: Any, compile: Mapping[str, Any], **_: Any) -> Callable[[], None]:  # noqa: A002
        self.update()
        function, device = fn.jit_function, compile["device"]
        data = compile["specialization_data"]
        values = _values(function)
        options = json.loads(data)["options"]
        attributes = compile["configs"][0]
        words = _tried({}, described, function, compile["signature"], compile["constants"], attributes, values)
        found = _tried(None, nearest, Request(function, device, key, words, options))
        differences = found.differences if found is not None else ()
        observation = judge(
            resolver=_RESOLVER,
            program=program_name(function),
            specialization=words | option_words(options, more=[one.argument for one in differences]),
            action="compile",
            nearest=found.words if found is not None else None,
            differences=differences,
            plan_field=_tried(None, plan_field, function),
            replay=_tried(None, replayed, data, function, device),
        )
        self._await(_compile_event(key=key, fn=fn), observation, Sample(values, options))
        return observation.enforce

    def _compiled(self, *, key: str, fn: Any, compile: Mapping[str, Any], **_: Any) -> None:  # noqa: A002
        observation, seen = self._ended(_compile_event(key=key, fn=fn))
        if observation is None or seen is None:
            # Not from Triton: Inductor calls this hook itself, with other things in the same places.
            return
        caches = fn.jit_function.device_caches.get(compile["device"])
        kernel = caches[0].get(key) if caches is not None else None
        if is_compiled(kernel):
            _samples[kernel] = seen
        observation.done()

    def _load(self, module: Any, function: Any, name: str, metadata_group: Any, hash: str) -> Callable[[], None]:  # noqa: A002
        self.update()
        kernel = _kernel_in_frames(hash)
        source: Any = getattr(kernel, "src", None)
        owner = getattr(source, "fn", None)
        words: dict[str, str] = {}
        if owner is not None and hasattr(owner, "params"):
            seen = _samples.get(kernel)
            values = seen.values if seen is not None else None
            words = _tried({}, described, owner, source.signature, source.constants, source.attrs, values)
        if kernel is not None:
            words |= option_words(kernel.metadata._asdict())
        observation = judge(
            resolver=_RESOLVER,
            program=name if owner is None else program_name(owner),
            specialization=words,
            action="load",
            plan_field=None if owner is None else _tried(None, plan_field, owner),
        )
        self._await(_load_event(module, function, name, metadata_group, hash), observation, None)

        def enforce() -> None:
            try:
                observation.enforce()
            except BaseException:
                # Triton has made the launcher by now, and would take its presence for a loaded program.
                if kernel is not None:
                    kernel._run = None
                raise

        return enforce

    def _loaded(self, module: Any, function: Any, name: str, metadata_group: Any, hash: str) -> None:  # noqa: A002
        observation, _ = self._ended(_load_event(module, function, name, metadata_group, hash))
        if observation is not None:
            observation.done()

    def _await(self, event: Hashable, observation: Observation, seen: Sample | None) -> None:
        if observation.resolution.verdict == "refused":
            return
        # Several threads may be compiling the same program.
        self._pending.setdefault(event, []).append((observation, seen))
        while len(self._pending) > _PENDING:
            self._pending.popitem(last=False)

    def _ended(self, event: Hashable) -> _Begun | tuple[None, None]:
        begun = self._pending.get(event)
        if not begun:
            return None, None
        last = begun.pop()
        if not begun:
            self._pending.pop(event, None)
        return last


def _compile_event(*, key: str, fn: Any, **_: Any) -> Hashable:
    return (id(getattr(fn, "jit_function", fn)), key)


def _load_event(module: Any, function: Any, name: str, metadata_group: Any, hash: str) -> Hashable:  # noqa: A002
    return (name, hash)


def _tried(default: R, explain: Callable[A, R], *args: A.args, **kwargs: A.kwargs) -> R:
    """Explanations are for people: where one fails, the verdict stands all the same."""
    try:
        return explain(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - see above
        warnings.warn(f"The resolution guard cannot explain a program: {error!r}", ResolutionWarning, stacklevel=2)
        return default


def _values(function: Any) -> dict[str, int]:
    """The integers among the arguments of the launch that we are in; the hook is told only their specialization."""
    for frame in frames():
        if frame.f_code.co_name == "run" and frame.f_locals.get("self") is function:
            bound = frame.f_locals.get("bound_args")
            if isinstance(bound, Mapping):
                return {name: value for name, value in bound.items() if type(value) is int}
    return {}


def _kernel_in_frames(digest: str) -> Any:
    """The compiled kernel that is being loaded: the hook is told only its hash."""
    for frame in frames():
        if frame.f_code.co_name == "_init_handles":
            kernel = frame.f_locals.get("self")
            if is_compiled(kernel) and getattr(kernel, "hash", None) == digest:
                return kernel
    return None


def _tolerant(serialize: Callable[..., str]) -> Callable[..., str]:
    """Let kernels compile whose constants JSON cannot hold: Triton serializes them as soon as anyone has set a hook."""

    @functools.wraps(serialize)
    def tolerant(name: str, signature: Any, constants: Any, attrs: Any, options: Any, key: str, *rest: Any) -> str:
        try:
            return serialize(name, signature, constants, attrs, options, key, *rest)
        except (TypeError, ValueError):
            facts = {"name": name, "key": key, "options": vars(options), "unserializable": True}
            return json.dumps(facts, default=str)

    return tolerant


#: The adapter that the guard installs.
adapter = TritonAdapter()
