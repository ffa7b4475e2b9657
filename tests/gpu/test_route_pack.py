"""Route packing on a real device; run on the GPU machine: `python -m pytest tests/gpu/test_route_pack.py -q`."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from ownership.resolution import ResolutionFrozenError, freeze, report

np = pytest.importorskip("numpy")
triton = pytest.importorskip("triton")
torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)

from backend.kernels import _pack_errors as errors  # noqa: E402
from backend.kernels import _pack_kernels as kernels  # noqa: E402
from backend.kernels.route_pack import RoutePackDeclaration, prepare_route_pack  # noqa: E402
from tests.backend.kernels.packing import OUTPUTS, Packing, hostile_ids  # noqa: E402

ALGORITHMS = ("ordinary", "stable")
KINDS = ("one expert", "none valid", "edges", "beyond 2^31", "ascending", "descending", "random")


@pytest.fixture(autouse=True)
def fusion_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")  # without a choice, newer versions of Triton warn


@pytest.fixture
def chance() -> Any:
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    print(f"seed {seed}")
    return np.random.default_rng(seed)


def prepared(**facts: Any) -> Packing:
    return Packing(**{"poison": "random", "device": "cuda"} | facts)


def lives(capacity: int) -> list[int]:
    return [1, min(8, capacity), capacity, min(17, capacity), 0, capacity // 2]


@pytest.mark.parametrize("poison", ["0xFF", "random"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("capacity", "topk", "experts", "block"),
    [
        (1, 1, 1, 1),
        (1, 8, 256, 16),
        (8, 8, 64, 16),
        (129, 8, 256, 16),
        (129, 16, 896, 16),
        (512, 8, 256, 64),
        (513, 8, 256, 64),
        (4096, 8, 256, 64),
        (4096, 16, 896, 16),
        (16384, 8, 256, 128),
        (16384, 16, 64, 128),
        (100_000, 7, 33, 5),
    ],
)
def test_live_counts(
    capacity: int, topk: int, experts: int, block: int, algorithm: str, poison: str, chance: Any
) -> None:
    facts = {"capacity_tokens": capacity, "topk": topk, "experts": experts, "block": block}
    pack = prepared(algorithm=algorithm, poison=poison, **facts)
    for live in lives(capacity):
        pack.check(pack.ids(chance.integers(-1, experts + 1, live * topk)))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("experts", [9, 896])
def test_hostile_ids(experts: int, dtype: str, kind: str, algorithm: str, chance: Any) -> None:
    if kind == "beyond 2^31" and dtype == "int32":
        kind = "none valid"
    pack = prepared(algorithm=algorithm, capacity_tokens=8192, topk=8, experts=experts, block=16, id_dtype=dtype)
    for live in lives(8192):
        pack.check(pack.ids(hostile_ids(kind, experts, live * 8, chance)))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("capacity", [129, 4096])
def test_a_map(capacity: int, algorithm: str, chance: Any) -> None:
    facts = {"capacity_tokens": capacity, "topk": 8, "experts": 896, "block": 16, "local_experts": 112}
    pack = prepared(algorithm=algorithm, **facts)
    expert_map = torch.from_numpy(chance.integers(-2, 114, 896).astype(np.int32)).cuda()
    for live in lives(capacity):
        pack.check(pack.ids(chance.integers(-1, 897, live * 8)), expert_map)


def test_random_facts(chance: Any) -> None:
    for _ in range(40):
        experts, topk = int(chance.integers(1, 1000)), int(chance.integers(1, 9))
        local = int(chance.integers(1, experts + 1)) if chance.integers(2) else None
        capacity = int(chance.integers(1, 3000))
        pack = prepared(
            algorithm=ALGORITHMS[chance.integers(2)],
            capacity_tokens=capacity,
            topk=topk,
            experts=experts,
            block=int(chance.integers(1, 100)),
            id_dtype=["int32", "int64"][chance.integers(2)],
            local_experts=local,
            live_in_memory=bool(chance.integers(2)),
            bucketed=bool(chance.integers(2)),
        )
        expert_map = None
        if local is not None:
            expert_map = torch.from_numpy(chance.integers(-2, local + 2, experts).astype(np.int32)).cuda()
        for live in lives(capacity):
            pack.check(pack.ids(hostile_ids("random", experts, live * topk, chance)), expert_map)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("capacity", [1, 8, 129, 4096])
def test_under_a_freeze_every_live_count_runs_without_a_resolution(algorithm: str, capacity: int, chance: Any) -> None:
    facts = {"algorithm": algorithm, "topk": 8, "experts": 256, "block": 16}
    pack = prepared(capacity_tokens=capacity, **facts)
    with freeze("serving"):
        before = len(report().resolutions)
        for live in lives(capacity):
            pack.check(pack.ids(chance.integers(0, 256, live * 8)))
        assert len(report().resolutions) == before
        with pytest.raises(ResolutionFrozenError):
            prepared(capacity_tokens=capacity, **facts | {"experts": 257})


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_live_3_16_and_1_are_one_program(algorithm: str) -> None:
    """Asked of the JIT itself, with every count and with ids at every alignment."""
    pack = prepared(algorithm=algorithm, capacity_tokens=20, topk=1, experts=256, block=16)
    single = pack.carrier.programs[0]
    outputs = [getattr(pack.views, name) for name in OUTPUTS]
    buffer = torch.zeros(64, dtype=torch.int64, device="cuda")
    with freeze("every count"):
        for live in (3, 16, 1, 0, 17, 20):
            for begin in (0, 1):
                arguments = (buffer[begin:], None, None, pack.views.cursors, None, None, *outputs)
                scalars = (live, pack.carrier.layout.step, pack.facts.slots, pack.facts.blocks)
                constants = single.constants.values()
                made = kernels.place_routes[1,](*arguments, *scalars, *constants, num_warps=single.warps)
                assert made is single.kernel


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("capacity", [129, 4096])
def test_a_graph_replays_with_changed_ids(capacity: int, algorithm: str, chance: Any) -> None:
    pack = prepared(algorithm=algorithm, capacity_tokens=capacity, topk=8, experts=256, block=16)
    ids = pack.ids(chance.integers(-1, 257, capacity * 8))
    pack.run(ids)
    gc.collect()  # a graph that an earlier test has left, reset while this one is captured, would break the capture
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with freeze("serving"):
        with torch.cuda.graph(graph):
            pack.run(ids)
        allocated = torch.cuda.memory_allocated()  # a capture itself takes a kilobyte, for the state of the generator
        for kind in KINDS:
            ids.copy_(pack.ids(hostile_ids(kind, 256, capacity * 8, chance)))
            pack.buffer[: pack.carrier.layout.nbytes].fill_(0xFF)
            graph.replay()
            pack.compare(ids)
        gc.collect()
        assert torch.cuda.memory_allocated() == allocated


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("capacity", [129, 4096])
def test_a_graph_replays_with_changed_live_counts(capacity: int, algorithm: str, chance: Any) -> None:
    facts = {"capacity_tokens": capacity, "topk": 8, "experts": 256, "block": 16, "live_in_memory": True}
    pack = prepared(algorithm=algorithm, **facts)
    ids = pack.ids(chance.integers(-1, 257, capacity * 8))
    live = torch.tensor([capacity], dtype=torch.int32, device="cuda")
    pack.carrier(ids, pack.views, live_tokens=live)
    gc.collect()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        pack.carrier(ids, pack.views, live_tokens=live)
    for count in (*lives(capacity), capacity + 1, 2**31 - 1, -1):
        live.fill_(count)
        pack.buffer[: pack.carrier.layout.nbytes].random_(0, 256)
        graph.replay()
        pack.compare(ids, live=count)


def test_stable_is_the_same_in_100_runs_and_ordinary_packs_the_same_sets(chance: Any) -> None:
    facts = {"capacity_tokens": 4096, "topk": 8, "experts": 256, "block": 16}
    stable, ordinary = (prepared(algorithm=algorithm, **facts) for algorithm in ("stable", "ordinary"))
    ids = stable.ids(chance.integers(0, 256, 4096 * 8))
    stable.check(ids)
    first = [getattr(stable.views, name).clone() for name in OUTPUTS]
    for _ in range(100):
        stable.buffer[: stable.carrier.layout.nbytes].random_(0, 256)
        stable.run(ids)
        assert all(torch.equal(getattr(stable.views, name), one) for name, one in zip(OUTPUTS, first, strict=True))
        ordinary.check(ids)


def test_ids_at_every_natural_alignment(chance: Any) -> None:
    for dtype in ("int32", "int64"):
        pack = prepared(algorithm="stable", capacity_tokens=700, topk=7, experts=40, block=4, id_dtype=dtype)
        base = pack.ids(chance.integers(-1, 41, 710 * 7)).reshape(-1)
        for begin in range(5):
            for live in (1, 699):
                pack.check(base[begin : begin + live * 7].view(-1, 7))


def test_ids_beyond_two_gigabytes() -> None:
    """300 million ids of eight bytes: byte offsets pass 2^31."""
    count = 300_000_000
    pack = prepared(algorithm="ordinary", capacity_tokens=count // 4, topk=4, experts=3, block=1, live_in_memory=False)
    ids = torch.full((count // 4, 4), 5, dtype=torch.int64, device="cuda")
    ids[0, 0], ids[-1, -1], ids[-2, 0] = 2, 2, 1
    pack.run(ids)
    assert pack.views.packed_count.item() == 3
    assert pack.views.packed_routes[0].item() == count - 8
    assert sorted(pack.views.packed_routes[1:3].tolist()) == [0, count - 1]
    assert (pack.views.packed_routes[3:] == count).all()
    assert pack.views.block_experts[:4].tolist() == [1, 2, 2, -1]


def test_a_bad_call_launches_nothing(chance: Any) -> None:
    pack = prepared(algorithm="stable", capacity_tokens=8, topk=2, experts=4, block=4)
    ids = pack.ids(chance.integers(0, 4, 16))
    before = pack.buffer.clone()
    bad: list[tuple[Any, dict[str, Any], type[Exception]]] = [
        (ids.cpu(), {}, errors.WrongDeviceError),
        (ids.int(), {}, errors.PackDtypeError),
        (ids.T, {}, errors.PackStrideError),
        (ids.view(-1, 4), {}, errors.PackShapeError),
        (torch.cat([ids, ids]), {}, errors.LiveAboveCapacityError),
        (ids, {"live_tokens": 9}, errors.LiveAboveCapacityError),
        (ids, {"expert_map": torch.zeros(4, dtype=torch.int32, device="cuda")}, errors.PackMapError),
    ]
    for given, more, wanted in bad:
        with pytest.raises(wanted):
            pack.carrier(given, pack.views, **more)
    torch.cuda.synchronize()
    assert torch.equal(pack.buffer, before)
    pack.check(ids)


def test_a_device_that_is_not_there() -> None:
    facts = RoutePackDeclaration("stable", capacity_tokens=8, topk=2, experts=4, block=4, device="cuda:64")
    with pytest.raises(errors.PackFactError, match="device"):
        prepare_route_pack(facts)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two CUDA devices")
def test_another_device_than_the_current_one(chance: Any) -> None:
    pack = prepared(algorithm="stable", capacity_tokens=600, topk=8, experts=64, block=16, device="cuda:1")
    assert torch.cuda.current_device() == 0
    pack.check(pack.ids(chance.integers(-1, 65, 600 * 8)))
