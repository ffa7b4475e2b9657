"""Which objects can launch a program, and what hides inside others: in launchers, and in what functions capture.

Triton's classes are known by their names, so that nothing is imported for them.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)

from ownership._records import is_record, record_items
from ownership._values import is_inert
from ownership.plan import is_plan

__all__ = ["CARRIER", "captured_launchable", "is_declared", "is_launchable", "is_resolver", "programs_inside"]

#: Where a class declared with `@carrier` says so.
CARRIER = "__ownership_carrier__"
#: How many containers deep a launchable is looked for.
_DEPTH = 3
_FUNCTIONS = (
    FunctionType,
    MethodType,
    BuiltinFunctionType,
    MethodWrapperType,
    functools.partial,
    functools.partialmethod,
)
_CACHED = type(functools.lru_cache(maxsize=1)(lambda: None))
_COMPILED = frozenset({"CompiledKernel"})
_RESOLVERS = frozenset({"JITFunction", "Autotuner", "Heuristics"})
_MISSING = object()

Known = Callable[[object], bool]


def is_declared(value: object) -> bool:
    """Whether the value is an instance of a class declared with `@carrier`."""
    return getattr(type(value), CARRIER, False) is True


def is_compiled(value: object) -> bool:
    """Whether the value is a kernel that Triton has compiled."""
    return _is_of_triton(value, _COMPILED)


def is_resolver(value: object) -> bool:
    """Whether launching the value may make Triton compile."""
    return _is_of_triton(value, _RESOLVERS)


def _is_of_triton(value: object, names: Collection[str]) -> bool:
    return any(base.__name__ in names and _package(base) == "triton" for base in type(value).__mro__)


def _package(cls: type) -> str:
    module = cls.__module__
    return module.partition(".")[0] if isinstance(module, str) else ""


def is_function(value: object) -> bool:
    """Whether the value is a function, a method or a partial call: what can hide things and is no declared class."""
    return issubclass(type(value), (*_FUNCTIONS, _CACHED)) and not is_declared(value)


def is_launchable(value: object, known: Known) -> bool:
    """Whether the value can launch: a declared carrier, a kernel of Triton, a retained object, a callable object."""
    if is_declared(value) or is_compiled(value) or is_resolver(value) or known(value):
        return True
    return callable(value) and not is_inert(value) and not is_function(value) and not is_plan(value)


def captured_launchable(function: object, known: Known) -> tuple[object, str] | None:
    """The first launchable that a function captured, and where; also through other functions and a few containers."""
    seen = {id(function)}
    waiting = deque((part, via, 0) for part, via in _captures(function))
    while waiting:
        value, via, depth = waiting.popleft()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if is_function(value):
            if known(value):
                return value, via
            waiting.extend((part, via, depth) for part, _ in _captures(value))
        elif is_launchable(value, known):
            return value, via
        elif depth < _DEPTH:
            waiting.extend((part, via, depth + 1) for part in _parts(value))
    for value, name in _globals_of(function):
        # Anything may be called through a global; only what is certainly a program is hidden by it.
        if is_declared(value) or is_compiled(value) or is_resolver(value) or known(value):
            return value, f"globals, as {name},"
    return None


def _globals_of(function: object) -> Iterator[tuple[object, str]]:
    """The globals that a function reads, also in functions and comprehensions inside of it."""
    if not issubclass(type(function), FunctionType):
        return
    import dis

    waiting: list[CodeType] = [function.__code__]  # type: ignore[attr-defined]
    space: dict[str, object] = function.__globals__  # type: ignore[attr-defined]
    while waiting:
        code = waiting.pop()
        waiting.extend(one for one in code.co_consts if isinstance(one, CodeType))
        for step in dis.get_instructions(code):
            if step.opname == "LOAD_GLOBAL" and step.argval in space:
                yield space[step.argval], step.argval


def programs_inside(launcher: object, known: Known) -> list[object]:
    """The programs that a launcher object holds in its attributes, or in containers there."""
    found: list[object] = []
    seen = {id(launcher)}
    waiting = deque((part, 1) for part in _attributes(launcher))
    while waiting:
        value, depth = waiting.popleft()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if known(value):
            found.append(value)
        elif is_inert(value):
            continue
        elif is_declared(value) or is_compiled(value):
            found.append(value)
        elif depth < _DEPTH and not is_plan(value):
            waiting.extend((part, depth + 1) for part in (*_parts(value), *_attributes(value)))
    return found


def _captures(function: object) -> Iterator[tuple[object, str]]:
    cls = type(function)
    if issubclass(cls, FunctionType):
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):  # type: ignore[attr-defined]
            try:
                yield cell.cell_contents, f"closure, as {name},"
            except ValueError:  # not filled yet
                continue
        for value in function.__defaults__ or ():  # type: ignore[attr-defined]
            yield value, "defaults"
        for value in (function.__kwdefaults__ or {}).values():  # type: ignore[attr-defined]
            yield value, "defaults"
        for value in function.__dict__.values():
            yield value, "attributes"
    elif issubclass(cls, (functools.partial, functools.partialmethod)):
        yield function.func, "partial call"  # type: ignore[attr-defined]
        for value in (*function.args, *function.keywords.values()):  # type: ignore[attr-defined]
            yield value, "partial call"
    elif issubclass(cls, _CACHED):
        yield function.__wrapped__, "cache"  # type: ignore[attr-defined]
    else:
        owner = getattr(function, "__self__", None)
        if owner is None or issubclass(type(owner), (ModuleType, type)):
            return
        yield owner, "__self__"
        if not is_inert(owner):
            for part in _attributes(owner):
                yield part, "__self__"
        if issubclass(cls, MethodType):
            yield function.__func__, "__func__"  # type: ignore[attr-defined]


def _parts(value: object) -> Iterator[object]:
    cls = type(value)
    if issubclass(cls, (dict, MappingProxyType)) or issubclass(cls, Mapping):
        yield from value.values()  # type: ignore[attr-defined]
    elif is_record(cls):
        yield from (part for _, part in record_items(value))
    elif issubclass(cls, (tuple, list, set, frozenset)):
        yield from value  # type: ignore[misc]


def _attributes(value: object) -> Iterator[object]:
    """What an object holds itself: read past any `__getattr__`, and without computing a property."""
    cls = type(value)
    if issubclass(cls, (tuple, list, set, frozenset, Mapping, type, ModuleType)):
        return
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        held = {}
    yield from held.values() if type(held) is dict else ()
    for base in cls.__mro__:
        slots = vars(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            if name in ("__dict__", "__weakref__"):
                continue
            private = name.startswith("__") and not name.endswith("__")
            descriptor = vars(base).get(f"_{base.__name__.lstrip('_')}{name}" if private else name)
            try:
                part = descriptor.__get__(value, cls) if descriptor is not None else _MISSING
            except AttributeError:
                continue
            if part is not _MISSING:
                yield part
