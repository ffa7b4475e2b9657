"""Ten thousand random transitions over random plan shapes: what the runtime says is what a small specification says.

Each example is decoded from a tape of bytes, which hypothesis draws and shrinks: the shapes of plan classes, their
instances, a way to make one from the other, and at most one planted mistake. The specification below reads nothing of
the package: it knows the kinds because the tests chose them, and looks at the objects by the names it gave.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import time
import types
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import InitVar, dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar, cast

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ownership import (
    Absent,
    Borrowed,
    CarrierMap,
    DefaultedTransferableError,
    Dropped,
    DroppedFieldError,
    Fact,
    Kind,
    LeakedFieldError,
    MisnamedDropError,
    OwnershipError,
    RebuiltFieldError,
    Transferable,
    kinds,
    materializer,
    plan,
    transfer,
)

C = TypeVar("C")
LENGTH = 64
FRESH = Absent("fresh")
UNSET = object()
MARKS: dict[str, Any] = {kind.value: getattr(kinds, kind.alias)[object] for kind in Kind}
KINDS = ["transferable", "fact", "transferable", "derived", "borrowed", "ephemeral"]
NAMES = ["fold", "pack", "_prewarmed", "rows", "seen", "x1"]
MAKERS = ["dataclass", "late", "inherited", "generic", "initvar", "attrs", "namedtuple"]


class Tape:
    """Choices, read from bytes; the first option is the simplest."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0

    def pick(self, options: Any) -> Any:
        byte = self._data[self._place] if self._place < len(self._data) else 0
        self._place += 1
        return options[byte % len(options)]

    def chance(self, percent: int) -> bool:
        byte = self._data[self._place] if self._place < len(self._data) else 0
        self._place += 1
        return byte > 255 - 256 * percent // 100


class Opaque:
    """A carrier, or state: only its identity counts."""


class Alike:
    """Equal to all others of its class, and still another object."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alike)

    def __hash__(self) -> int:
        return 1


@dataclass
class Bundle:
    """A record of carriers that is no plan."""

    left: object
    right: object


# Shapes.


class Shape(NamedTuple):
    """A plan class: how it is made, and the kind of each field, as the test chose them."""

    maker: str
    fields: tuple[tuple[str, str], ...]
    frozen: bool
    slots: bool
    kw_only: bool


#: The kinds of the classes made here, by class: the specification's own knowledge.
KNOWN: dict[type, dict[str, str]] = {}


@functools.cache
def made(shape: Shape) -> type:
    build: Callable[[Shape], type] = globals()[f"by_{shape.maker}"]
    cls: type = plan(build(shape))
    KNOWN[cls] = dict(shape.fields)
    return cls


def options(shape: Shape) -> dict[str, Any]:
    return {"frozen": shape.frozen, "slots": shape.slots, "kw_only": shape.kw_only}


def by_dataclass(shape: Shape) -> type:
    return dataclasses.make_dataclass("Plain", [(name, MARKS[kind]) for name, kind in shape.fields], **options(shape))


def by_late(shape: Shape) -> type:
    """Carriers stand outside the constructor, which resets them."""
    late = [name for name, kind in shape.fields if kind == "transferable"]

    def reset(self: object) -> None:
        for name in late:
            object.__setattr__(self, name, FRESH)

    described = [(name, MARKS[kind], field(init=name not in late)) for name, kind in shape.fields]
    return dataclasses.make_dataclass("Late", described, namespace={"__post_init__": reset}, **options(shape))


def by_inherited(shape: Shape) -> type:
    half = len(shape.fields) // 2
    base = dataclasses.make_dataclass(
        "Base", [(name, MARKS[kind]) for name, kind in shape.fields[:half]], **options(shape)
    )
    if half % 2:
        plan(base)
    described = [(name, MARKS[kind]) for name, kind in shape.fields[half:]]
    return dataclasses.make_dataclass("Derived", described, bases=(base,), **options(shape))


def by_generic(shape: Shape) -> type:
    described = [(name, MARKS[kind]) for name, kind in shape.fields]
    return dataclasses.make_dataclass("Generic", described, bases=(cast("Any", Generic)[C],), **options(shape))


def by_initvar(shape: Shape) -> type:
    """One argument of the constructor is stored nowhere."""

    def after(self: object, reverse: bool) -> None:
        assert reverse is True

    described: list[Any] = [("reverse", InitVar[bool]), *((name, MARKS[kind]) for name, kind in shape.fields)]
    return dataclasses.make_dataclass("WithInitVar", described, namespace={"__post_init__": after}, **options(shape))


def by_attrs(shape: Shape) -> type:
    described: dict[str, Any] = {name: attrs.field(type=MARKS[kind]) for name, kind in shape.fields}
    return attrs.make_class("Attrs", described, **options(shape))


def by_namedtuple(shape: Shape) -> type:
    # NamedTuple fields cannot begin with an underscore.
    body = {"__annotations__": {name: MARKS[kind] for name, kind in shape.fields}, "__module__": __name__}
    return types.new_class("Tupled", (NamedTuple,), {}, lambda space: space.update(body))


def shape_of(tape: Tape, *, carrying: tuple[str, ...] = (), without: str = "") -> Shape:
    """A shape; of another class that is to take over carriers, one that has their names, but for one perhaps."""
    maker = tape.pick(MAKERS)
    names = NAMES[: 1 + tape.pick(range(len(NAMES)))]
    fields = {name: tape.pick(KINDS) for name in names}
    fields.update(dict.fromkeys(carrying, "transferable"))
    fields.pop(without, None)
    if maker == "namedtuple":
        if any(name.startswith("_") for name in fields):
            maker = "dataclass"
        return Shape(maker, tuple(fields.items()), True, False, False)
    if not fields:
        fields = {"rows": "fact"}
    frozen, slots = tape.pick([True, False]), tape.pick([False, True])
    return Shape(maker, tuple(fields.items()), frozen, slots, tape.pick([False, True]))


# Instances.


def call(cls: type, values: dict[str, object]) -> Any:
    """The constructor, given what it takes; the rest is put in afterwards."""
    maker = cls.__name__
    if maker == "Late":
        late = [name for name, kind in KNOWN[cls].items() if kind == "transferable"]
        instance = cls(**{name: value for name, value in values.items() if name not in late})
        for name in late:
            put(instance, name, values[name])
        return instance
    if maker == "WithInitVar":
        return cls(reverse=True, **values)
    if maker == "Attrs":
        return cls(**{name.lstrip("_"): value for name, value in values.items()})
    return cls(**values)


def replaced(instance: Any, changes: dict[str, object]) -> Any:
    """What the library of the class offers to change fields."""
    cls = type(instance)
    maker = cls.__name__
    if maker == "Attrs":
        return attrs.evolve(instance, **{name.lstrip("_"): value for name, value in changes.items()})
    if maker == "Tupled":
        return instance._replace(**changes)
    if maker == "Late":
        carriers = {name: getattr(instance, name) for name, kind in KNOWN[cls].items() if kind == "transferable"}
        inside = {name: value for name, value in changes.items() if name not in carriers}
        result = dataclasses.replace(instance, **inside)
        for name, value in (carriers | changes).items():
            put(result, name, value)
        return result
    more = {"reverse": True} if maker == "WithInitVar" else {}
    return dataclasses.replace(instance, **changes, **more)


def put(instance: object, name: str, value: object) -> None:
    if value is UNSET:
        object.__delattr__(instance, name)
    else:
        object.__setattr__(instance, name, value)


def fresh(cls: type) -> Any:
    return call(cls, {name: FRESH if kind == "transferable" else own(kind) for name, kind in KNOWN[cls].items()})


def own(kind: str) -> object:
    return 8 if kind in ("fact", "derived") else Opaque()


def nested() -> object:
    return Inner(Opaque(), Opaque(), 8)


@plan
@dataclass(frozen=True)
class Inner:
    """A plan inside a plan."""

    gate: Transferable[object]
    arena: Borrowed[object]
    width: Fact[object]


KNOWN[Inner] = {"gate": "transferable", "arena": "borrowed", "width": "fact"}

VALUES: list[Callable[[], object]] = [
    Opaque,
    lambda: (Opaque(), 8),
    lambda: FRESH,
    Alike,
    lambda: {1: Opaque()},
    lambda: [Opaque()],
    nested,
    lambda: Bundle(Opaque(), Opaque()),
    lambda: CarrierMap({1: Opaque(), 8: FRESH}, capacity=(1, 8)),
    lambda: None,
    lambda: Dropped("fold", "given up before"),
    lambda: len,
    lambda: (),
]
STATE: list[Callable[[], object]] = [Opaque, list, lambda: None, lambda: 7, lambda: (), lambda: (Opaque(),)]


def prepared(tape: Tape, cls: type) -> Any:
    values = {}
    for name, kind in KNOWN[cls].items():
        if kind == "transferable":
            values[name] = tape.pick(VALUES)()
        else:
            values[name] = tape.pick(STATE)() if kind in ("borrowed", "ephemeral") else tape.pick([8, 9])
    return call(cls, values)


# The ways from one plan to the next, all of them right.

Take = dict[str, object]


def by_constructor(into: Any, take: Take) -> Any:
    return call(type(into), {name: getattr(into, name) for name in KNOWN[type(into)]} | take)


def by_replace(into: Any, take: Take) -> Any:
    return replaced(into, take)


def by_two_steps(into: Any, take: Take) -> Any:
    first = dict(list(take.items())[::2])
    return replaced(replaced(into, first), {name: value for name, value in take.items() if name not in first})


def by_assignment(into: Any, take: Take) -> Any:
    if isinstance(into, tuple):
        return replaced(into, take)
    for name, value in take.items():
        put(into, name, value)
    return into


def by_helper(into: Any, take: Take) -> Any:
    def helper(**carriers: object) -> Any:
        return by_replace(into, carriers)

    return helper(**take)


WAYS = [by_constructor, by_replace, by_two_steps, by_assignment, by_helper]


@plan
@dataclass(frozen=True)
class Outer:
    """A plan that holds the plan that was made."""

    inner: Transferable[object]
    size: Fact[object]


KNOWN[Outer] = {"inner": "transferable", "size": "fact"}

WRAPS: list[Callable[[Any], Any]] = [
    lambda made: made,
    lambda made: made,
    lambda made: (made, 8),
    lambda made: {"plan": made},
    lambda made: Bundle(made, None),
    lambda made: Outer(made, 8),
    lambda made: [(made,)],
]

# Mistakes: each takes the result, a field, its value, the source, and gives another result.


def drop_to_none(result: Any, name: str, value: object, source: Any) -> Any:
    return changed(result, name, None)


def drop_to_absent(result: Any, name: str, value: object, source: Any) -> Any:
    return changed(result, name, FRESH)


def give_up(result: Any, name: str, value: object, source: Any) -> Any:
    return changed(result, name, Dropped(name, "on purpose"))


def give_up_another(result: Any, name: str, value: object, source: Any) -> Any:
    return changed(result, name, Dropped("settle", "the wrong name"))


def unset(result: Any, name: str, value: object, source: Any) -> Any:
    return result if isinstance(result, tuple) else changed(result, name, UNSET)


def copied(result: Any, name: str, value: object, source: Any) -> Any:
    return changed(result, name, copy.copy(value))


def deeply_copied(result: Any, name: str, value: object, source: Any) -> Any:
    return changed(result, name, copy.deepcopy(value))


def made_equal(result: Any, name: str, value: object, source: Any) -> Any:
    return changed(result, name, Alike())


def repacked(result: Any, name: str, value: object, source: Any) -> Any:
    return changed(result, name, (*value,) if isinstance(value, (tuple, list)) and value else (value,))


def swapped(result: Any, name: str, value: object, source: Any) -> Any:
    """Two carriers change places."""
    other = next(name for name, kind in reversed(KNOWN[type(result)].items()) if kind == "transferable")
    return changed(changed(result, name, getattr(result, other)), other, value)


def state_of(source: Any) -> Iterator[tuple[str, object]]:
    for name, kind in KNOWN[type(source)].items():
        if kind in ("borrowed", "ephemeral"):
            yield name, getattr(source, name)


def leaked_same(result: Any, name: str, value: object, source: Any) -> Any:
    """State arrives in the field of its name."""
    for held, kept in state_of(source):
        if held in KNOWN[type(result)] and KNOWN[type(result)][held] != "transferable":
            return changed(result, held, kept)
    return result


def leaked_elsewhere(result: Any, name: str, value: object, source: Any) -> Any:
    """State arrives in some other field that carries nothing."""
    return _leak(result, source, lambda kept: kept)


def leaked_in_tuple(result: Any, name: str, value: object, source: Any) -> Any:
    return _leak(result, source, lambda kept: (8, [kept]))


def leaked_in_record(result: Any, name: str, value: object, source: Any) -> Any:
    return _leak(result, source, lambda kept: {"state": Bundle(8, kept)})


def leaked_in_plan(result: Any, name: str, value: object, source: Any) -> Any:
    return _leak(result, source, lambda kept: Inner(Opaque(), kept, 8))


def _leak(result: Any, source: Any, wrap: Callable[[object], object]) -> Any:
    spare = [name for name, kind in KNOWN[type(result)].items() if kind != "transferable"]
    for _, kept in state_of(source):
        if spare:
            return changed(result, spare[-1], wrap(kept))
    return result


def changed(result: Any, name: str, value: object) -> Any:
    if isinstance(result, tuple):
        return result._replace(**{name: value})  # type: ignore[attr-defined]
    put(result, name, value)
    return result


Fault = Callable[[Any, str, object, Any], Any]
FAULTS: list[Fault] = [
    drop_to_none,
    drop_to_absent,
    give_up,
    give_up_another,
    unset,
    copied,
    deeply_copied,
    made_equal,
    repacked,
    swapped,
    leaked_same,
    leaked_elsewhere,
    leaked_in_tuple,
    leaked_in_record,
    leaked_in_plan,
]

# The specification.


class Before(NamedTuple):
    """A source as it was when the function was called."""

    plan: Any
    carriers: dict[str, object]
    state: dict[str, object]


def before(source: Any) -> Before:
    values = {name: (kind, getattr(source, name)) for name, kind in KNOWN[type(source)].items()}
    return Before(
        source,
        {
            name: value
            for name, (kind, value) in values.items()
            if kind == "transferable" and value is not None and not isinstance(value, Absent)
        },
        {name: value for name, (kind, value) in values.items() if kind in ("borrowed", "ephemeral") and lives(value)},
    )


def lives(value: object) -> bool:
    """Whether sharing it could do harm: not data, and not what belongs to the process."""
    if isinstance(value, tuple):
        return any(lives(item) for item in value)
    return not isinstance(value, (int, str, type(None), Absent, types.BuiltinFunctionType))


def is_one(value: object) -> bool:
    return type(value) in KNOWN


def held_by(value: object) -> list[tuple[str, object]]:
    """What a value holds, one level down."""
    if is_one(value):
        return [(name, getattr(value, name, None)) for name in KNOWN[type(value)]]
    if isinstance(value, (dict, CarrierMap)):
        return [("", item) for item in value.values()]
    if isinstance(value, Bundle):
        return [("left", value.left), ("right", value.right)]
    return [("", item) for item in value] if isinstance(value, (tuple, list)) else []


def outermost(value: object) -> list[Any]:
    return [value] if is_one(value) else [one for _, item in held_by(value) for one in outermost(item)]


def below(value: object, closed: list[object]) -> Iterator[tuple[str, object]]:
    """All that can be reached from a value, with the field in which it is; not from what is closed, nor from itself."""
    for name, item in held_by(value):
        yield name, item
        if not among(item, closed):
            yield from below(item, closed)


def among(value: object, values: Any) -> bool:
    return any(value is one for one in values)


Verdict = set[tuple[type[OwnershipError], str]]


def verdict(sources: list[Before], given: list[object], result: object) -> Verdict:
    """All that is wrong with a transition: the errors that may be raised; none, if it is right."""
    sources = [source for source in sources if source.carriers]
    wrong: Verdict = set()
    roots = outermost(result)
    # Ephemeral fields make nothing reachable; the state of a source inside it is nobody's concern here.
    reached = [item for root in (roots or [result]) for name, item in [("", root), *below(root, [])]]
    for source in sources:
        for name, value in source.carriers.items():
            suppliers = [other for other in sources if name in other.carriers]
            family = [other.carriers[name] for other in suppliers if type(other.plan) is type(source.plan)]
            arrived = False
            places = [getattr(root, name, UNSET) for root in roots if KNOWN[type(root)].get(name) == "transferable"]
            for held in places:
                if among(held, [other.carriers[name] for other in suppliers]):
                    arrived = arrived or among(held, family)
                elif isinstance(held, Dropped):
                    arrived = arrived or held.field == name
                    if held.field != name:
                        wrong.add((MisnamedDropError, name))
                elif held is UNSET or held is None or isinstance(held, Absent):
                    wrong.add((DroppedFieldError, name))
                else:
                    wrong.add((RebuiltFieldError, name))
            given_up = any(isinstance(item, Dropped) and item.field == name for item in reached)
            if not arrived and not given_up and not any(among(one, family) for one in reached):
                wrong.add((DroppedFieldError, name))
            assert value is not None
        for name, kept in source.state.items():
            excused = among(kept, given) or among(kept, source.carriers.values())
            closed = [*given, *(value for one in sources for value in one.carriers.values())]
            for root in roots:
                if root is source.plan or excused:
                    continue
                if any(item is kept for _, item in below(root, closed)):
                    wrong.add((LeakedFieldError, name))
    return wrong


# One transition.


class Story(NamedTuple):
    """What happened, for the count and for a failing example."""

    way: str
    fault: str
    verdict: str


@materializer
def returned(*sources: object, make: Callable[[], object], others: tuple[object, ...] = ()) -> object:
    return make()


@materializer
async def returned_later(*sources: object, make: Callable[[], object], others: tuple[object, ...] = ()) -> object:
    return make()


def through(asynchronous: bool, sources: list[Any], make: Callable[[], object]) -> object:
    if not asynchronous:
        return returned(*sources, make=make)
    try:
        cast("Any", returned_later(*sources, make=make)).send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waits for nothing")


def transition(tape: Tape) -> Story:
    cls = made(shape_of(tape))
    source = prepared(tape, cls)
    sources = [source]
    # A second source: of the same class, whose carriers will do as well; or of another, which is made anew beside it.
    other = prepared(tape, made(shape_of(tape))) if tape.chance(10) else None
    if other is not None:
        sources.append(other)
    elif tape.chance(15):
        sources.append(prepared(tape, cls))
    snapshots = [before(one) for one in sources]
    carrying = transferables(cls)
    target = cls
    if tape.chance(30):
        target = made(shape_of(tape, carrying=carrying, without=tape.pick(["", "", "", *carrying])))
    into = fresh(target)
    mine = [name for name in carrying if name in transferables(target)]
    take = {name: getattr(tape.pick([one for one in sources if type(one) is cls]), name) for name in mine}
    way = tape.pick([*WAYS, "transfer", "transfer", "transfer to the second", "self"])
    if way == "transfer to the second":
        into = sources[-1] if len(sources) > 1 and target is cls and other is None else into
    wrap = tape.pick(WRAPS)
    fault = tape.pick(FAULTS) if tape.chance(65) else None
    field_at = tape.pick(mine or [""])
    also_given = [kept for _, kept in state_of(source)] if tape.chance(10) else []
    outcome: list[object] = []

    def make() -> object:
        if way == "self":
            result = source
        elif isinstance(way, str):
            more = {"reverse": True} if target.__name__ == "WithInitVar" else {}
            lost = {name: Dropped(name, "no such field") for name in carrying if name not in mine}
            result = transfer(source, into=into, **more, **lost)
        else:
            result = way(into, take)
        if fault is not None and field_at:
            result = fault(result, field_at, getattr(result, field_at), source)
        wrapped = wrap(result)
        if other is not None:
            beside = {name: getattr(other, name) for name in transferables(type(other))}
            wrapped = [wrapped, by_constructor(fresh(type(other)), beside)]
        outcome.append(wrapped)
        return wrapped

    arguments = [*sources, *also_given]
    caught: OwnershipError | None = None
    try:
        found = through(tape.pick([False, False, True]), arguments, make)
    except OwnershipError as error:
        caught = error
    else:
        assert found is outcome[0], "the result is handed on as it is"
    (result,) = outcome
    expected = verdict(snapshots, arguments, result)
    said = set() if caught is None else {(type(caught), getattr(caught, "field", ""))}
    assert said <= expected, f"{said} was raised of {expected}: {caught}"
    assert bool(said) == bool(expected), f"nothing was said of {expected}"
    return Story(
        way if isinstance(way, str) else way.__name__,
        "none" if fault is None or not field_at else fault.__name__,
        type(caught).__name__ if caught else "right",
    )


def transferables(cls: type) -> tuple[str, ...]:
    return tuple(name for name, kind in KNOWN[cls].items() if kind == "transferable")


COUNT = 10_000


def test_ten_thousand_transitions_are_judged_as_the_specification_judges_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    stories: Counter[Story] = Counter()

    @settings(
        max_examples=COUNT, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.binary(min_size=LENGTH, max_size=LENGTH))
    def run(tape: bytes) -> None:
        stories[transition(Tape(tape))] += 1

    start = time.perf_counter()
    run()
    seconds = time.perf_counter() - start
    verdicts: Counter[str] = Counter()
    caught: Counter[str] = Counter()
    for story, times in stories.items():
        verdicts[story.verdict] += times
        caught[story.fault] += times if story.verdict != "right" else 0
    with capsys.disabled():
        print(f"\n{stories.total()} transitions over {len(KNOWN)} classes in {seconds:.0f} s: {dict(verdicts)}")
    assert stories.total() >= COUNT
    # Each kind of mistake was planted and caught, often; a proof of something that never happens is none.
    assert verdicts["right"] > COUNT / 4
    for error in (DroppedFieldError, RebuiltFieldError, LeakedFieldError, MisnamedDropError):
        assert verdicts[error.__name__] > COUNT / 100, error
    for fault in FAULTS:
        assert caught[fault.__name__] > COUNT / 1000 or fault is give_up, fault
    for way in (*(way.__name__ for way in WAYS), "transfer", "transfer to the second", "self"):
        assert sum(times for story, times in stories.items() if story.way == way) > COUNT / 100, way


@settings(max_examples=300, derandomize=True, deadline=None, database=None)
@given(st.binary(min_size=LENGTH, max_size=LENGTH))
def test_a_carrier_cannot_be_dropped_by_a_default(data: bytes) -> None:
    """No plan class can be made that has one: the mistake is impossible, not merely found."""
    tape = Tape(data)
    shape = shape_of(tape)
    by_value, init = tape.pick([True, False]), tape.pick([True, False])
    default: Any = {"default": None} if by_value else {"default_factory": Opaque}
    described = [(name, MARKS[kind], field(init=init, **default)) for name, kind in shape.fields]
    cls = dataclasses.make_dataclass("Defaulted", described, **options(shape))
    if "transferable" in dict(shape.fields).values():
        with pytest.raises(DefaultedTransferableError):
            plan(cls)
    else:
        plan(cls)
