"""The route pack in Triton's interpreter; `test_route_pack.py` runs this module in a process of its own."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.kernels import _pack_errors as errors
from backend.kernels import _pack_facts
from backend.kernels.route_pack import (
    OrdinaryRoutePack,
    RoutePackDeclaration,
    RoutePackViews,
    StableRoutePack,
    prepare_route_pack,
)
from ownership import Transferable, carriers, plan
from ownership.resolution import ResolutionFrozenError, freeze, report
from tests.backend.kernels.packing import Packing, hostile_ids, poisoned

ALGORITHMS = ("ordinary", "stable")
HOSTILE = ("one expert", "none valid", "edges", "ascending", "descending", "random")
#: capacity, topk, experts, block; the last takes three launches.
SIZES = [(1, 8, 16, 16), (8, 2, 5, 4), (129, 4, 64, 16), (4096, 2, 32, 8)]


def lives(capacity: int) -> list[int]:
    return sorted({0, 1, min(8, capacity), min(17, capacity), capacity})


@pytest.fixture
def chance() -> Any:
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    print(f"seed {seed}")
    return np.random.default_rng(seed)


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three launches for more than 48 routes, in at most three chunks, so that one takes many steps."""
    monkeypatch.setattr(_pack_facts, "SINGLE_ROUTES", 48)
    monkeypatch.setattr(_pack_facts, "CHUNKS", 3)


@pytest.mark.parametrize("poison", ["0xFF", "random"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_live_count_packs_as_the_reference_does(
    size: tuple[int, ...], algorithm: str, poison: str, chance: Any
) -> None:
    capacity, topk, experts, block = size
    pack = Packing(poison, algorithm=algorithm, capacity_tokens=capacity, topk=topk, experts=experts, block=block)
    # In falling order, too: what a larger call has left behind must not show.
    for live in lives(capacity) + lives(capacity)[-2::-1]:
        pack.check(pack.ids(chance.integers(-1, experts + 1, live * topk)))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", [*HOSTILE, "beyond 2^31"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_hostile_ids(kind: str, dtype: str, algorithm: str, chance: Any) -> None:
    if kind == "beyond 2^31" and dtype == "int32":
        kind = "none valid"
    facts: dict[str, Any] = {
        "capacity_tokens": 40,
        "topk": 3,
        "experts": 9,
        "block": 4,
        "id_dtype": dtype,
        "algorithm": algorithm,
    }
    pack = Packing("random", **facts)
    for rows in (1, 17, 40):
        pack.check(pack.ids(hostile_ids(kind, 9, rows * 3, chance)))


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", [*HOSTILE, "beyond 2^31"])
def test_hostile_ids_in_three_launches(kind: str, algorithm: str, chance: Any) -> None:
    pack = Packing("random", capacity_tokens=250, topk=3, experts=9, block=4, algorithm=algorithm)
    assert len(pack.carrier.programs) == 4
    assert pack.carrier.layout.chunk > pack.carrier.layout.step
    for rows in (250, 100, 17, 16):
        pack.check(pack.ids(hostile_ids(kind, 9, rows * 3, chance)))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("local", [None, 112])
def test_896_experts(algorithm: str, local: int | None, chance: Any) -> None:
    facts: dict[str, Any] = {"capacity_tokens": 129, "topk": 16, "experts": 896, "block": 16, "local_experts": local}
    pack = Packing(algorithm=algorithm, **facts)
    expert_map = None
    if local is not None:
        expert_map = torch.full((896,), -1, dtype=torch.int32)
        expert_map[chance.permutation(896)[:local]] = torch.arange(local, dtype=torch.int32)
    for live in (129, 8):
        pack.check(pack.ids(chance.integers(-1, 897, live * 16)), expert_map)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("capacity", "topk", "experts"), [(1, 8, 16), (20, 1, 4), (5, 4, 20)], ids=str)
def test_the_most_padding_that_there_can_be_fills_every_slot(
    capacity: int, topk: int, experts: int, algorithm: str
) -> None:
    pack = Packing("random", algorithm=algorithm, capacity_tokens=capacity, topk=topk, experts=experts, block=4)
    pack.check(pack.ids(np.arange(capacity * topk) % experts))
    assert int(pack.views.packed_count) == pack.facts.slots


def test_a_map_that_leads_outside_of_the_rank_drops_the_route(chance: Any) -> None:
    pack = Packing(algorithm="stable", capacity_tokens=60, topk=2, experts=8, block=4, local_experts=3)
    ids = pack.ids(chance.integers(-1, 9, 120))
    pack.check(ids, torch.tensor([2, -1, 3, 2**31 - 1, -(2**31), 0, 1, 2], dtype=torch.int32))
    pack.check(ids, torch.full((8,), -1, dtype=torch.int32))
    assert int(pack.views.packed_count) == 0
    assert (pack.views.block_experts == -1).all()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("capacity", [30, 250])
def test_a_live_count_in_memory_is_read_by_the_kernels_and_never_leads_outside(
    capacity: int, algorithm: str, chance: Any, small_chunks: None
) -> None:
    facts: dict[str, Any] = {"capacity_tokens": capacity, "topk": 3, "experts": 9, "block": 4, "live_in_memory": True}
    pack = Packing(algorithm=algorithm, **facts)
    ids = pack.ids(chance.integers(-1, 10, capacity * 3))
    for live in (0, 1, 16, 17, capacity, capacity + 1, 2**31 - 1, -1, -(2**31)):
        pack.check(ids, live=live)


def test_only_the_live_rows_count(chance: Any) -> None:
    pack = Packing(algorithm="stable", capacity_tokens=50, topk=2, experts=7, block=4)
    ids = pack.ids(chance.integers(0, 7, 100))
    for live in (0, 1, 16, 33, 50):
        pack.check(ids, live=live)


@st.composite
def packings(draw: st.DrawFn) -> tuple[dict[str, Any], Any, Any, int]:
    """Facts, ids, a map or `None`, and how many routes take one launch."""
    experts, topk = draw(st.integers(1, 40)), draw(st.integers(1, 5))
    local = draw(st.none() | st.integers(1, experts))
    facts: dict[str, Any] = {
        "algorithm": draw(st.sampled_from(ALGORITHMS)),
        "capacity_tokens": draw(st.integers(1, 90)),
        "topk": topk,
        "experts": experts,
        "block": draw(st.integers(1, 9)),
        "id_dtype": draw(st.sampled_from(["int32", "int64"])),
        "local_experts": local,
        "live_in_memory": draw(st.booleans()),
        "bucketed": draw(st.booleans()),
    }
    live = draw(st.integers(0, facts["capacity_tokens"]))
    chance = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from([*HOSTILE, *(["beyond 2^31"] if facts["id_dtype"] == "int64" else [])]))
    ids = hostile_ids(kind, experts, live * topk, chance)
    expert_map = None
    if local is not None:
        expert_map = torch.from_numpy(chance.integers(-2, local + 2, experts).astype(np.int32))
    return facts, ids, expert_map, draw(st.sampled_from([16, 4096]))


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(packings())
def test_any_pack_equals_the_reference(case: tuple[dict[str, Any], Any, Any, int]) -> None:
    facts, ids, expert_map, single = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pack_facts, "SINGLE_ROUTES", single)
        patch.setattr(_pack_facts, "CHUNKS", 3)
        pack = Packing("random", **facts)
        pack.check(pack.ids(ids), expert_map)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("capacity", [1, 8, 129, 4096])
def test_under_a_freeze_every_live_count_runs_without_a_resolution(algorithm: str, capacity: int, chance: Any) -> None:
    facts: dict[str, Any] = {"algorithm": algorithm, "topk": 2, "experts": 16, "block": 4}
    pack = Packing(capacity_tokens=capacity, **facts)
    with freeze("serving"):
        before = len(report().resolutions)
        for live in (1, min(8, capacity), capacity, min(17, capacity)):
            pack.check(pack.ids(chance.integers(0, 16, live * 2)))
        assert len(report().resolutions) == before
        with pytest.raises(ResolutionFrozenError) as caught:
            Packing(capacity_tokens=capacity + 1, **facts)
    assert [one.argument for one in caught.value.differences] == ["capacity_tokens"]


def test_a_carrier_says_what_it_was_compiled_for() -> None:
    made = Packing(algorithm="stable", capacity_tokens=5, topk=2, experts=4, block=4, bucketed=True, local_experts=2)
    carrier = made.carrier
    assert type(carrier) is StableRoutePack
    assert (carrier.algorithm, carrier.id_dtype, carrier.mapped, carrier.capacity_tokens) == (
        "stable",
        "int64",
        True,
        8,
    )
    assert [one.name for one in carrier.programs] == ["place_routes"]
    assert carrier.programs[0].constants["STABLE"] is True
    assert not hasattr(carrier, "__dict__")
    with pytest.raises(dataclasses.FrozenInstanceError):
        carrier.single = None  # type: ignore[misc]


def test_one_algorithm_cannot_stand_in_for_the_other() -> None:
    ordinary = Packing(algorithm="ordinary", capacity_tokens=5, topk=2, experts=4, block=4).carrier
    assert type(ordinary) is OrdinaryRoutePack
    assert not isinstance(ordinary, StableRoutePack)
    parts = {field.name: getattr(ordinary, field.name) for field in dataclasses.fields(ordinary)}
    with pytest.raises(errors.PackingAlgorithmError, match="ordinary"):
        StableRoutePack(**parts)


def test_a_plan_takes_it_as_one_carrier() -> None:
    @plan
    @dataclasses.dataclass(frozen=True)
    class Layer:
        pack: Transferable[StableRoutePack]

    made = Packing(algorithm="stable", capacity_tokens=5, topk=2, experts=4, block=4).carrier
    assert isinstance(made, StableRoutePack)
    assert carriers(Layer(pack=made)) == {"pack": made}


def strided(rows: int) -> Any:
    return torch.zeros(rows, 4, dtype=torch.int64)[:, ::2]


IDS = torch.zeros(4, 2, dtype=torch.int64)
MAP = torch.zeros(4, dtype=torch.int32)
LIVE = torch.ones(1, dtype=torch.int32)
BAD_RUNS: dict[str, tuple[dict[str, Any], Callable[[Packing], dict[str, Any]], type[Exception]]] = {
    "ids are a list": ({}, lambda _: {"topk_ids": [[0, 1]]}, errors.NotATensorError),
    "ids of another dtype": ({}, lambda _: {"topk_ids": IDS.int()}, errors.PackDtypeError),
    "ids of floats": ({}, lambda _: {"topk_ids": IDS.double()}, errors.PackDtypeError),
    "ids elsewhere": ({}, lambda _: {"topk_ids": IDS.to("meta")}, errors.WrongDeviceError),
    "ids with gaps": ({}, lambda _: {"topk_ids": strided(4)}, errors.PackStrideError),
    "ids transposed": ({}, lambda _: {"topk_ids": torch.zeros(2, 4, dtype=torch.int64).T}, errors.PackStrideError),
    "ids at an odd address": (
        {},
        lambda _: {"topk_ids": torch.frombuffer(bytearray(68), dtype=torch.int64, offset=4).view(4, 2)},
        errors.MisalignedTensorError,
    ),
    "ids of another topk": ({}, lambda _: {"topk_ids": torch.zeros(4, 3, dtype=torch.int64)}, errors.PackShapeError),
    "ids without a dimension": ({}, lambda _: {"topk_ids": torch.tensor(0)}, errors.PackShapeError),
    "ids in the scratch": (
        {},
        lambda pack: {"topk_ids": pack.buffer[64:128].view(torch.int64).view(-1, 2)},
        errors.OverlappingTensorError,
    ),
    "more rows than the capacity": (
        {},
        lambda _: {"topk_ids": torch.zeros(9, 2, dtype=torch.int64)},
        errors.LiveAboveCapacityError,
    ),
    "live above the capacity": ({}, lambda _: {"live_tokens": 9}, errors.LiveAboveCapacityError),
    "live above the rows": ({}, lambda _: {"live_tokens": 5}, errors.LiveAboveCapacityError),
    "live below zero": ({}, lambda _: {"live_tokens": -1}, errors.LiveCountError),
    "live is a bool": ({}, lambda _: {"live_tokens": True}, errors.LiveCountError),
    "live in memory, not declared": ({}, lambda _: {"live_tokens": LIVE}, errors.LiveCountError),
    "live not in memory": ({"live_in_memory": True}, lambda _: {"live_tokens": 1}, errors.LiveCountError),
    "live of another dtype": (
        {"live_in_memory": True},
        lambda _: {"live_tokens": LIVE.long()},
        errors.PackDtypeError,
    ),
    "two live counts": (
        {"live_in_memory": True},
        lambda _: {"live_tokens": torch.ones(2, dtype=torch.int32)},
        errors.PackShapeError,
    ),
    "a map that was not declared": ({}, lambda _: {"expert_map": MAP}, errors.PackMapError),
    "no map": ({"local_experts": 2}, lambda _: {}, errors.PackMapError),
    "a short map": ({"local_experts": 2}, lambda _: {"expert_map": MAP[:3]}, errors.PackShapeError),
    "a map of another dtype": ({"local_experts": 2}, lambda _: {"expert_map": MAP.long()}, errors.PackDtypeError),
    "no views": ({}, lambda _: {"views": None}, errors.ForeignPackViewsError),
    "views of another plan": (
        {},
        lambda _: {"views": Packing(algorithm="stable", capacity_tokens=9, topk=2, experts=4, block=4).views},
        errors.ForeignPackViewsError,
    ),
}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("case", BAD_RUNS)
def test_a_bad_call_is_refused_and_nothing_is_written(case: str, algorithm: str) -> None:
    facts, arguments, wanted = BAD_RUNS[case]
    pack = Packing("random", algorithm=algorithm, capacity_tokens=8, topk=2, experts=4, block=4, **facts)
    before = pack.buffer.clone()
    given: dict[str, Any] = {"topk_ids": IDS, "views": pack.views} | arguments(pack)
    with pytest.raises(wanted) as caught:
        pack.carrier.run(**given)
    assert isinstance(caught.value, errors.RoutePackError)
    assert torch.equal(pack.buffer, before)
    again = pickle.loads(pickle.dumps(caught.value)) if case != "no views" else caught.value
    assert str(again) == str(caught.value)


BAD_SCRATCHES: dict[str, tuple[Callable[[int], Any], type[Exception]]] = {
    "one byte short": (lambda n: poisoned(n, "0xFF", "cpu")[: n - 1], errors.ShortScratchError),
    "empty": (lambda n: torch.empty(0, dtype=torch.uint8), errors.ShortScratchError),
    "misaligned": (lambda n: poisoned(n, "0xFF", "cpu")[4 : n + 4], errors.MisalignedTensorError),
    "of int32": (lambda n: torch.zeros(n, dtype=torch.int32), errors.PackDtypeError),
    "elsewhere": (lambda n: torch.zeros(n, dtype=torch.uint8, device="meta"), errors.WrongDeviceError),
    "with gaps": (lambda n: torch.zeros(2 * n, dtype=torch.uint8)[::2], errors.PackStrideError),
    "of two dimensions": (lambda n: torch.zeros(2, n, dtype=torch.uint8), errors.PackShapeError),
    "no tensor": (bytearray, errors.NotATensorError),
}


@pytest.mark.parametrize("case", BAD_SCRATCHES)
def test_a_bad_scratch_is_refused(case: str) -> None:
    make, wanted = BAD_SCRATCHES[case]
    carrier = Packing(algorithm="stable", capacity_tokens=8, topk=2, experts=4, block=4).carrier
    with pytest.raises(wanted):
        carrier.views(make(carrier.layout.nbytes))


def test_views_put_together_by_hand_must_be_those_of_the_layout() -> None:
    pack = Packing(algorithm="stable", capacity_tokens=8, topk=2, experts=4, block=4)
    parts = {field.name: getattr(pack.views, field.name) for field in dataclasses.fields(pack.views)}
    RoutePackViews(**parts)
    for name, wrong in [("block_experts", pack.views.cursors), ("cursors", None), ("packed_count", parts["scratch"])]:
        with pytest.raises(errors.ForeignPackViewsError, match=name):
            RoutePackViews(**parts | {name: wrong})


@pytest.mark.parametrize("device", ["cuda", "cuda:7"])
def test_a_device_that_the_interpreter_does_not_serve_is_refused(device: str) -> None:
    facts = RoutePackDeclaration("stable", capacity_tokens=8, topk=2, experts=4, block=4, device=device)
    with pytest.raises(errors.InterpreterError, match="TRITON_INTERPRET"):
        prepare_route_pack(facts)


def test_something_else_than_a_declaration_is_refused() -> None:
    with pytest.raises(errors.NotAPackDeclarationError, match="RoutePackDeclaration"):
        prepare_route_pack({"capacity_tokens": 8})  # type: ignore[arg-type]
