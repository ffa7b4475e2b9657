"""The route pack without a GPU: its facts, its reference, all of it in the interpreter, and four targets compiled."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")
np = pytest.importorskip("numpy")

from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

from backend.kernels import _pack_kernels as kernels  # noqa: E402
from backend.kernels._pack_errors import InterpreterError, PackFactError  # noqa: E402
from backend.kernels.route_pack import RoutePackDeclaration, prepare_route_pack, route_pack_layout  # noqa: E402
from backend.reference_pack import packed_routes_reference  # noqa: E402

FACTS: dict[str, Any] = {"algorithm": "stable", "capacity_tokens": 129, "topk": 8, "experts": 256, "block": 16}


def test_everything_holds_in_the_interpreter(root: Path) -> None:
    # In a process of its own: Triton chooses the interpreter once, when it is imported.
    environment = os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join([str(root), *sys.path[1:]])}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["tests/backend/kernels/interpreted_route_pack.py"]
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\d{3} passed", done.stdout), done.stdout


@pytest.mark.parametrize(
    ("changed", "fact"),
    [
        ({"algorithm": "fast"}, "algorithm"),
        ({"id_dtype": "int16"}, "id_dtype"),
        ({"id_dtype": torch.int32}, "id_dtype"),
        ({"capacity_tokens": 0}, "capacity_tokens"),
        ({"capacity_tokens": True}, "capacity_tokens"),
        ({"capacity_tokens": 8.0}, "capacity_tokens"),
        ({"topk": 0}, "topk"),
        ({"experts": 0}, "experts"),
        ({"experts": 4097}, "experts"),
        ({"block": 0}, "block"),
        ({"local_experts": 0}, "local_experts"),
        ({"live_in_memory": 1}, "live_in_memory"),
        ({"bucketed": None}, "bucketed"),
        ({"device": "xpu"}, "device"),
        ({"device": "cuda:"}, "device"),
        ({"device": "cuda0"}, "device"),
        ({"device": 0}, "device"),
        ({"capacity_tokens": 2**28, "topk": 8}, "capacity_tokens"),
        ({"capacity_tokens": 2**28 + 1, "bucketed": True, "topk": 4}, "capacity_tokens"),
    ],
    ids=str,
)
def test_a_wrong_fact_is_refused_by_name(changed: dict[str, Any], fact: str) -> None:
    with pytest.raises(PackFactError, match=rf"declared with {fact} =") as caught:
        RoutePackDeclaration(**FACTS | changed)
    assert caught.value.fact == fact


@pytest.mark.parametrize(
    ("changed", "slots", "blocks"),
    [
        ({}, 129 * 8 + 256 * 15, 305),
        ({"capacity_tokens": 1}, 8 * 16, 8),  # fewer routes than experts reach that many experts only
        ({"capacity_tokens": 1, "topk": 1}, 16, 1),
        ({"capacity_tokens": 1, "topk": 1, "block": 1}, 1, 1),
        ({"bucketed": True}, 256 * 8 + 256 * 15, 368),
        ({"local_experts": 32}, 129 * 8 + 32 * 15, 95),
        ({"block": 3}, 129 * 8 + 256 * 2, 515),
    ],
    ids=str,
)
def test_capacity_decides_the_size_of_everything(changed: dict[str, Any], slots: int, blocks: int) -> None:
    facts = RoutePackDeclaration(**FACTS | changed)
    layout = route_pack_layout(facts)
    assert (facts.slots, facts.blocks) == (slots, blocks)
    assert layout.by_name["packed_routes"].elements == slots
    assert layout.by_name["block_experts"].elements == blocks
    assert layout.by_name["expert_offsets"].elements == facts.packed_experts + 1


@pytest.mark.parametrize("capacity", [1, 129, 512, 513, 4096, 16384, 100_000])
@pytest.mark.parametrize("algorithm", ["ordinary", "stable"])
@pytest.mark.parametrize("in_memory", [False, True])
def test_regions_are_aligned_apart_and_within_the_scratch(capacity: int, algorithm: str, in_memory: bool) -> None:
    changed = {"capacity_tokens": capacity, "algorithm": algorithm, "live_in_memory": in_memory}
    layout = route_pack_layout(RoutePackDeclaration(**FACTS | changed))
    end = 0
    for region in layout.regions:
        assert region.offset % 64 == 0
        assert end <= region.offset < end + 64
        end = region.offset + region.nbytes
    assert end <= layout.nbytes < end + 64
    routes = capacity * 8
    assert layout.chunks <= 256
    assert (layout.chunk > 0) == (routes > 4096)
    assert layout.chunk * layout.chunks >= layout.chunks * layout.step
    assert layout.chunk == 0 or layout.chunk * (layout.chunks - 1) < routes <= layout.chunk * layout.chunks
    assert layout.single_routes == (0 if in_memory and routes > 4096 else min(routes, 4096))


def test_up_to_129_tokens_of_16_experts_take_one_launch() -> None:
    assert route_pack_layout(RoutePackDeclaration(**FACTS | {"topk": 16})).chunk == 0


def test_the_reference_is_what_a_plain_loop_gives() -> None:
    chance = np.random.default_rng()
    for _ in range(50):
        experts, block, count = (int(chance.integers(1, high)) for high in (9, 6, 60))
        local = int(chance.integers(1, experts + 1))
        expert_map = chance.integers(-2, local + 2, experts) if chance.integers(2) else None
        ids = chance.integers(-2, experts + 2, count)
        lists: list[list[int]] = [[] for _ in range(experts if expert_map is None else local)]
        for route, expert in enumerate(ids.tolist()):
            if 0 <= expert < experts:
                expert = expert if expert_map is None else int(expert_map[expert])
                if 0 <= expert < len(lists):
                    lists[expert].append(route)
        routes, owners, offsets = [], [], [0]
        for expert, members in enumerate(lists):
            padded = members + [count] * (-len(members) % block)
            routes += padded
            owners += [expert] * (len(padded) // block)
            offsets.append(len(routes))
        slots = len(routes) + int(chance.integers(0, 20))
        got = packed_routes_reference(
            ids, experts=experts, block=block, slots=slots, expert_map=expert_map, local_experts=local
        )
        assert got.packed_routes.tolist() == routes + [count] * (slots - len(routes))
        assert got.block_experts.tolist() == owners + [-1] * (-(-slots // block) - len(owners))
        assert got.packed_count.tolist() == [len(routes)]
        assert got.expert_offsets.tolist() == offsets


def test_the_cpu_without_the_interpreter_is_refused() -> None:
    with pytest.raises(InterpreterError, match="set TRITON_INTERPRET=1 before Triton is imported"):
        prepare_route_pack(RoutePackDeclaration(**FACTS, device="cpu"))


@pytest.mark.parametrize("kernel", [kernels.count_routes, kernels.scan_counts, kernels.place_routes], ids=str)
def test_no_integer_and_no_address_of_the_caller_specializes_a_kernel(kernel: Any) -> None:
    for parameter in kernel.params:
        if parameter.name in ("live_routes", "chunk", "slots", "blocks"):
            assert parameter.do_not_specialize
        elif parameter.name in ("ids", "expert_map", "live_tokens"):
            assert parameter.do_not_specialize_on_alignment


def source(kernel: Any, constants: dict[str, Any]) -> Any:
    """What a preparation would compile: constants as given, pointers into the scratch aligned, the rest as it comes."""
    kinds: dict[str, str] = {}
    aligned = {}
    for index, parameter in enumerate(kernel.params):
        name = parameter.name
        scalar = name in ("live_routes", "chunk", "slots", "blocks")
        kinds[name] = "constexpr" if name in constants else "i32" if scalar else "*i64" if name == "ids" else "*i32"
        if kinds[name].startswith("*") and not parameter.do_not_specialize_on_alignment:
            aligned[index,] = [["tt.divisibility", 16]]
    return ASTSource(kernel, signature=kinds, constexprs=constants, attrs=aligned)


def resources(compiled: Any, folder: Path) -> tuple[int, int]:
    """Registers a thread and bytes of stack a thread, from the binary."""
    cubin = folder / "kernel.cubin"
    cubin.write_bytes(compiled.asm["cubin"])
    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    done = subprocess.run([str(tool), "-res-usage", str(cubin)], capture_output=True, text=True, check=True)
    found = re.search(r"REG:(\d+) STACK:(\d+)", done.stdout)
    assert found is not None, done.stdout
    return int(found[1]), int(found[2])


def programs() -> dict[str, tuple[Any, dict[str, Any], int]]:
    """Every kind of program by name: kernel, constants, warps; 896 experts with a map and 256 without."""
    kinds: dict[str, tuple[Any, dict[str, Any], int]] = {}
    for experts, bins in ((256, 256), (896, 1024)):
        inputs: dict[str, Any] = {"live_tokens": None} | ({"expert_map": None} if experts == 256 else {})
        route = {"TOPK": 8, "EXPERTS": experts, "PACKED": experts}
        scanning = {"TOPK": 8, "PACKED": experts, "ROWS": 256, "COLUMNS": 16, "live_tokens": None}
        kinds[f"count {experts}"] = kernels.count_routes, inputs | route | {"BINS": bins, "TILE": 128}, 4
        kinds[f"scan {experts}"] = kernels.scan_counts, scanning, 8
        for algorithm, step, warps in (("ordinary", 128, 4), ("stable", 64, 8)):
            fixed = {"BINS": bins, "BLOCK": 16, "STEP": step, "SCAN": 512, "STABLE": algorithm == "stable"}
            kinds[f"place {algorithm} {experts}"] = kernels.place_routes, inputs | route | fixed, warps
            alone = inputs | {"prefix": None, "totals": None} | route | fixed
            kinds[f"single {algorithm} {experts}"] = kernels.place_routes, alone, warps
    return kinds


@pytest.mark.parametrize("capability", [80, 90, 100, 120])
def test_every_program_compiles_ahead_of_time(capability: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    print(f"\n{f'sm_{capability}':24}{'registers':>10}{'spills':>8}{'shared':>8}")  # `pytest -s` shows the table
    for name, (kernel, constants, warps) in programs().items():
        # The choice about fusion is the default; newer versions of Triton warn unless it is made.
        options = {"num_warps": warps, "enable_fp_fusion": True}
        made = triton.compile(source(kernel, constants), target=GPUTarget("cuda", capability, 32), options=options)
        registers, stack = resources(made, tmp_path)
        print(f"{name:24}{registers:10}{stack:8}{made.metadata.shared:8}")
        assert registers * 32 * warps <= 65536
        assert stack <= 64
        assert made.metadata.shared <= 16384
        # The stable algorithm places by order alone; the ordinary one by atomics on memory of its own program.
        ordinary = constants.get("STABLE") is False
        assert ("atom.global" in made.asm["ptx"]) == ordinary
