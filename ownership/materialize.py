"""`@materializer`: check, when a plan has been made from a prepared one, that every carrier arrived."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CoroutineType
from typing import Any, ParamSpec, TypeVar, cast

from ownership._records import record_fields, record_items
from ownership._values import is_inert
from ownership.absence import Dropped, is_absent
from ownership.errors import (
    DroppedFieldError,
    LeakedFieldError,
    MisnamedDropError,
    NotAMaterializerError,
    RebuiltFieldError,
    shown,
)
from ownership.kinds import Kind
from ownership.plan import is_plan, plan_fields

__all__ = ["materializer"]

A = ParamSpec("A")
R = TypeVar("R")

_MISSING = object()
_GENERATOR = 0x20 | 0x200  # inspect.CO_GENERATOR | CO_ASYNC_GENERATOR; importing `inspect` costs 10 ms
_COROUTINE = 0x80 | 0x100  # inspect.CO_COROUTINE | CO_ITERABLE_COROUTINE


def materializer(function: Callable[A, R], /) -> Callable[A, R]:
    """Check on return that each transferable of each source arrived in the result, the same object.

    The sources are the arguments that are plans, `self` included, and that hold a carrier when the function is called.
    The result is a plan, or a tuple, list, mapping, record or plain object with plans in it; of an `__init__`, it is
    the object being made. A carrier has arrived if each outermost plan of the result that has a transferable field of
    its name holds it there, or, where none has such a field, if it can be reached from the result through plans,
    records, tuples, lists and mappings (ephemeral fields aside). `Dropped(field, reason)` in its place, or in a plan
    inside the result, gives it up on purpose. Of several sources of one class, one must have supplied each carrier.
    Returning the source itself is fine.

    A borrowed or ephemeral object of a source must not turn up in a field of another plan in the result, be it inside a
    tuple, a record or a nested plan there, unless the caller passed that very object as an argument, too. What is
    inside of a carrier or of an argument arrived with it.

    Works on functions, methods, coroutine functions, and above or below `staticmethod` and `classmethod`. The function
    keeps its name, signature and `__wrapped__`. Plans that the function makes cost nothing more once it has returned.

    Raises:
        NotAMaterializerError: at decoration, for a class, a generator, or something that cannot be called.
        DroppedFieldError: when the function returns, and a carrier is missing: no such field and not reachable, never
            set, `None`, or a plain `Absent` (which is what a fresh plan has, so it cannot count as a decision).
        RebuiltFieldError: another object stands in its place.
        MisnamedDropError: a `Dropped` stands there that names another field.
        LeakedFieldError: a borrowed or ephemeral object was carried over.

    """
    if isinstance(function, (staticmethod, classmethod)):
        return cast("Callable[A, R]", type(function)(materializer(function.__func__)))
    if isinstance(function, type) or not callable(function):
        raise NotAMaterializerError(given=function, problem="is not a function")
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    if flags & _GENERATOR:
        raise NotAMaterializerError(given=function, problem="is a generator: there is no result to check")
    name = f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', repr(function))}"
    initializer = getattr(function, "__name__", "") == "__init__"

    if flags & _COROUTINE:

        @functools.wraps(function)
        async def checked_later(*args: A.args, **kwargs: A.kwargs) -> Any:
            given = (*args, *kwargs.values())
            sources = _sources(given)
            result = await cast("Any", function(*args, **kwargs))
            _check(sources, given, result, name)
            return result

        return cast("Callable[A, R]", checked_later)

    @functools.wraps(function)
    def checked(*args: A.args, **kwargs: A.kwargs) -> R:
        given = (*args, *kwargs.values())
        sources = _sources(given)
        result = function(*args, **kwargs)
        if isinstance(result, CoroutineType):
            # A plain function may hand on the coroutine of another one, and so may a decorator.
            return cast("R", _check_awaited(sources, given, result, name))
        _check(sources, given, args[0] if initializer and args else result, name)
        return result

    return checked


class _Source:
    """A plan among the arguments, as it was before the call: a materializer may change what it was given."""

    __slots__ = ("carriers", "kept", "plan")

    def __init__(self, plan: object) -> None:
        self.plan = plan
        self.carriers: dict[str, object] = {}
        self.kept: dict[str, tuple[Kind, object]] = {}


def _sources(given: Sequence[object]) -> list[_Source]:
    found: dict[int, _Source] = {}
    for plan in given:
        if not is_plan(plan) or id(plan) in found:
            continue
        source = _Source(plan)
        for spec in plan_fields(plan):
            value = getattr(plan, spec.name, None)
            if spec.kind.transferable and not is_absent(value):
                source.carriers[spec.name] = value
            elif spec.kind in (Kind.BORROWED, Kind.EPHEMERAL) and not is_inert(value):
                source.kept[spec.name] = (spec.kind, value)
        # A plan without a carrier is a fresh one that is to be completed. There is nothing in it to lose, and what
        # else it has is the result's own.
        if source.carriers:
            found[id(plan)] = source
    return list(found.values())


async def _check_awaited(sources: list[_Source], given: Sequence[object], result: Any, function: str) -> Any:
    value = await result
    _check(sources, given, value, function)
    return value


def _check(sources: list[_Source], given: Sequence[object], result: object, function: str) -> None:
    if not sources:
        return
    roots = list(_outermost_plans(result))
    # By field, the outermost plans of the result that have such a field, and what they hold there.
    places: dict[str, list[tuple[object, object]]] = {}
    for root in roots:
        for spec in plan_fields(root):
            if spec.kind.transferable:
                places.setdefault(spec.name, []).append((root, getattr(root, spec.name, _MISSING)))
    reached: set[int] | None = None
    given_up: set[str] = set()
    for name in dict.fromkeys(name for source in sources for name in source.carriers):
        suppliers = [source for source in sources if name in source.carriers]
        _check_places(name, suppliers, places.get(name, []), function)
        for source in suppliers:
            family = [other for other in suppliers if _related(type(other.plan), type(source.plan))]
            values = [other.carriers[name] for other in family]
            if any(isinstance(held, Dropped) or _among(held, values) for _, held in places.get(name, [])):
                continue
            if reached is None:
                reachable = list(_reachable(result))
                reached = {id(value) for value in reachable}
                # A plan that is part of another plan gives up what was its own in the same way.
                given_up = {value.field for value in reachable if isinstance(value, Dropped)}
            if name not in given_up and not any(id(value) in reached for value in values):
                raise DroppedFieldError(
                    field=name,
                    source=type(source.plan),
                    target=type(roots[0] if len(roots) == 1 else result),
                    function=function,
                    value=source.carriers[name],
                    found="which has no such field and does not reach it either"
                    if name not in places
                    else "which holds that of another source",
                )
    carried = [value for source in sources for value in source.carriers.values()]
    for source in sources:
        _check_leaks(source, given, carried, result, function)


def _check_places(name: str, suppliers: list[_Source], places: list[tuple[object, object]], function: str) -> None:
    """Every outermost plan with such a field must hold the carrier of some source, or say that it was given up."""
    values = [source.carriers[name] for source in suppliers]
    for plan, value in places:
        if _among(value, values):
            continue
        # The source that the plan is closest to, for the message.
        source = next((source for source in suppliers if _related(type(source.plan), type(plan))), suppliers[0])
        target, expected = type(plan), source.carriers[name]
        if isinstance(value, Dropped):
            if value.field != name:
                raise MisnamedDropError(field=name, dropped=value, target=target, function=function)
        elif value is _MISSING or is_absent(value):
            raise DroppedFieldError(
                field=name,
                source=type(source.plan),
                target=target,
                function=function,
                value=expected,
                found="which never set it" if value is _MISSING else f"which has {shown(value)} there",
            )
        else:
            raise RebuiltFieldError(
                field=name, source=type(source.plan), target=target, function=function, value=expected, found=value
            )


def _check_leaks(
    source: _Source, given: Sequence[object], carried: Sequence[object], result: object, function: str
) -> None:
    own = {field.name: field.default for field in record_fields(type(source.plan))}
    kept = {
        id(value): (name, kind, value)
        for name, (kind, value) in source.kept.items()
        # What the caller passes on purpose, what every instance has, and what travels as a carrier are no leaks.
        if not _among(value, (*given, own[name], *source.carriers.values()))
    }
    if not kept:
        return
    # What a carrier or an argument has inside arrived with it, and is no business of this plan.
    closed = {id(value) for value in (*given, *carried, source.plan)}
    for plan in _outermost_plans(result):
        for owner, name, value in _held(plan, closed):
            if id(value) in kept:
                field, kind, _ = kept[id(value)]
                raise LeakedFieldError(
                    field=field,
                    kind=kind,
                    source=type(source.plan),
                    target=type(owner),
                    target_field=name,
                    function=function,
                    value=value,
                )


def _held(plan: object, closed: set[int]) -> Iterator[tuple[object, str, object]]:
    """All that a plan holds, through nested plans, records and containers: the plan, its field, and the value."""
    seen = set(closed)
    waiting = [(plan, plan, "")]
    while waiting:
        value, owner, name = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if is_plan(value):
            parts = [(item, value, field) for field, item in record_items(value)]
        else:
            parts = [(item, owner, name) for item in _parts(value)]
        yield from ((holder, field, item) for item, holder, field in parts)
        waiting.extend(parts)


def _among(value: object, values: Sequence[object]) -> bool:
    return any(value is one for one in values)


def _related(one: type, other: type) -> bool:
    return issubclass(one, other) or issubclass(other, one)


def _parts(value: object) -> Iterator[object]:
    """What a container or a record holds, one level down."""
    if isinstance(value, Mapping):
        yield from value.values()
    elif record_fields(type(value)):
        yield from (item for _, item in record_items(value))
    elif isinstance(value, (tuple, list, set, frozenset)):
        yield from value


def _attributes(value: object) -> Iterator[object]:
    """What a plain object holds in its attributes."""
    yield from getattr(value, "__dict__", {}).values()
    for cls in type(value).__mro__:
        slots = vars(cls).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            held = getattr(value, name, _MISSING)
            if held is not _MISSING and name not in ("__dict__", "__weakref__"):
                yield held


def _opened(value: object) -> Iterator[object]:
    """The parts of the result: its attributes too, if it is an object of some other class that holds plans."""
    parts = list(_parts(value))
    yield from parts
    if not parts and not is_inert(value) and not isinstance(value, (Mapping, tuple, list, set, frozenset)):
        yield from _attributes(value)


def _outermost_plans(result: object) -> Iterator[object]:
    """The plans in the result that are not part of another plan."""
    seen: set[int] = set()
    waiting = [result]
    first = True
    while waiting:
        value = waiting.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if is_plan(value):
            yield value
        else:
            waiting.extend(_opened(value) if first else _parts(value))
        first = False


def _reachable(result: object) -> Iterator[object]:
    """All that can be selected from the result through declared fields and containers, ephemeral fields aside."""
    seen: set[int] = set()
    waiting = list(_opened(result)) if not is_plan(result) else [result]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        if is_plan(value):
            specs = [spec for spec in plan_fields(value) if spec.kind is not Kind.EPHEMERAL]
            waiting.extend(getattr(value, spec.name, None) for spec in specs)
        else:
            waiting.extend(_parts(value))
