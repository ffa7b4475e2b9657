"""Facts of a route pack, and the layout of its scratch; pure arithmetic, without torch or Triton."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, get_args

from backend.kernels._pack_errors import PackFactError

__all__ = [
    "ALIGNMENT",
    "Algorithm",
    "IdDtype",
    "Region",
    "RoutePackDeclaration",
    "RoutePackLayout",
    "route_pack_layout",
]

Algorithm = Literal["ordinary", "stable"]
IdDtype = Literal["int32", "int64"]

#: Bytes; where the scratch and each of its regions begin. More than the widest load needs, so that no two regions
#: share a sector of the L2.
ALIGNMENT: Final = 64
#: Routes that a counting program looks at in one step; chunks of the large pack are multiples of it.
TILE: Final = 128
#: Routes that a placing program looks at in one step, and the chunk of the single launch. The stable algorithm compares
#: each with each, and 64 of them fit into the registers of 256 threads with room for other programs on the same core.
STEPS: Final[dict[Algorithm, int]] = {"ordinary": 128, "stable": 64}
#: Up to this many routes, every program of one launch counts all of them; above, counting is a launch of its own.
SINGLE_ROUTES: Final = 4096
#: Most chunks of a large pack: the rows of the matrix of counts, whose columns one program sums.
CHUNKS: Final = 256
_MOST_EXPERTS: Final = 4096
_MOST_BLOCK: Final = 4096
#: Positions are int32, and a step may look past the end before it is masked.
_MOST_SLOTS: Final = 2**31 - 2**16
_ITEM: Final = 4


@dataclass(frozen=True)
class RoutePackDeclaration:
    """Every fact that the programs and the scratch of a route pack depend on.

    Attributes:
        algorithm: "stable" lists the routes of an expert in ascending order, "ordinary" in any order.
        capacity_tokens: most tokens of a call; no size is ever derived from the live count.
        topk: routes of a token, the last dimension of the ids.
        experts: experts that the router knows; ids outside `[0, experts)` are dropped.
        block: rows of a block; the routes of an expert are padded to a multiple of it.
        id_dtype: dtype of the ids.
        local_experts: with an expert map, the experts on this rank: mapped ids outside `[0, local_experts)` are
            dropped, and outputs speak of local experts. `None`: there is no map.
        live_in_memory: the live count is read from device memory, so that a captured graph can replay another one;
            otherwise it is an argument of the launch.
        bucketed: the capacity is rounded up to a power of two.
        device: where it runs, `"cuda"`, `"cuda:1"` or `"cpu"` (Triton's interpreter).

    Raises:
        PackFactError: a fact is of the wrong type or out of range.

    """

    algorithm: Algorithm
    capacity_tokens: int
    topk: int
    experts: int
    block: int
    id_dtype: IdDtype = "int64"
    local_experts: int | None = None
    live_in_memory: bool = False
    bucketed: bool = False
    device: str = "cuda"

    def __post_init__(self) -> None:
        _one_of("algorithm", self.algorithm, get_args(Algorithm))
        _one_of("id_dtype", self.id_dtype, get_args(IdDtype))
        _one_of("live_in_memory", self.live_in_memory, (False, True))
        _one_of("bucketed", self.bucketed, (False, True))
        _within("capacity_tokens", self.capacity_tokens, _MOST_SLOTS)
        _within("topk", self.topk, _MOST_SLOTS)
        _within("experts", self.experts, _MOST_EXPERTS)
        _within("block", self.block, _MOST_BLOCK)
        if self.local_experts is not None:
            _within("local_experts", self.local_experts, _MOST_EXPERTS)
        kind, _, index = self.device.partition(":") if isinstance(self.device, str) else ("", "", "")
        if kind not in ("cuda", "cpu") or not (index.isdecimal() or self.device == kind):
            raise PackFactError(fact="device", given=self.device, wanted="'cpu', 'cuda' or 'cuda:N'")
        if max(self.routes, self.slots) > _MOST_SLOTS:
            wanted = f"so small that all padded positions are below {_MOST_SLOTS} (they are int32), not {self.slots}"
            raise PackFactError(fact="capacity_tokens", given=self.capacity_tokens, wanted=wanted)

    @property
    def mapped(self) -> bool:
        """Whether there is an expert map."""
        return self.local_experts is not None

    @property
    def packed_experts(self) -> int:
        """The experts that outputs speak of: local ones with a map, those of the router without."""
        return self.experts if self.local_experts is None else self.local_experts

    @property
    def capacity(self) -> int:
        """Tokens that the scratch is sized for: as declared, or the next power of two if bucketed."""
        return 1 << (self.capacity_tokens - 1).bit_length() if self.bucketed else self.capacity_tokens

    @property
    def routes(self) -> int:
        """Routes at capacity."""
        return self.capacity * self.topk

    @property
    def slots(self) -> int:
        """Length of `packed_routes`: every route, and what padding can add at most.

        Each expert that has a route is padded by at most `block - 1`; fewer routes than experts reach fewer experts.
        """
        return self.routes + min(self.routes, self.packed_experts) * (self.block - 1)

    @property
    def blocks(self) -> int:
        """Length of `block_experts`."""
        return -(-self.slots // self.block)


def _one_of(fact: str, given: object, choices: tuple[object, ...]) -> None:
    # By type, too: `1 == True`, and a program must not depend on which of the two was written.
    if not any(type(given) is type(choice) and given == choice for choice in choices):
        raise PackFactError(fact=fact, given=given, wanted=" or ".join(repr(choice) for choice in choices))


def _within(fact: str, given: object, most: int) -> None:
    if type(given) is not int or not 1 <= given <= most:
        raise PackFactError(fact=fact, given=given, wanted=f"an int from 1 to {most}")


@dataclass(frozen=True)
class Region:
    """A part of the scratch: `elements` of int32 at the byte `offset`.

    `role` says what its content is worth: an "output" is written whole by each run, "work" is written before it is
    read by each run. Neither needs any content before, nor keeps any for the next run.
    """

    name: str
    offset: int
    elements: int
    role: Literal["output", "work"]

    @property
    def nbytes(self) -> int:
        """Its size in bytes."""
        return self.elements * _ITEM


@dataclass(frozen=True)
class RoutePackLayout:
    """Where everything of a route pack lies in the caller's scratch, and how the routes are cut into chunks.

    Attributes:
        regions: the parts, in the order of their offsets; each begins at a multiple of `ALIGNMENT`.
        nbytes: bytes of scratch that the declared capacity needs.
        step: routes that a placing program looks at in one step; the chunk of the single launch.
        single_routes: most live routes that one launch packs; 0 where the live count, in memory, may be larger.
        chunk: routes of a chunk of the large pack; 0 where every live count takes one launch.
        chunks: chunks at capacity.

    """

    regions: tuple[Region, ...]
    nbytes: int
    step: int
    single_routes: int
    chunk: int
    chunks: int

    @cached_property
    def by_name(self) -> dict[str, Region]:
        """The regions by name."""
        return {region.name: region for region in self.regions}


def route_pack_layout(declaration: RoutePackDeclaration) -> RoutePackLayout:
    """Lay the scratch of a route pack out: the four outputs first, then the work areas."""
    routes, experts = declaration.routes, declaration.packed_experts
    large = routes > SINGLE_ROUTES
    single = 0 if large and declaration.live_in_memory else min(routes, SINGLE_ROUTES)
    chunk = TILE * -(-routes // (TILE * CHUNKS)) if large else 0
    chunks = -(-routes // chunk) if large else 0
    step = STEPS[declaration.algorithm]
    cursors = max(-(-single // step), chunks)
    wanted: list[tuple[str, int, Literal["output", "work"]]] = [
        ("packed_routes", declaration.slots, "output"),
        ("block_experts", declaration.blocks, "output"),
        ("packed_count", 1, "output"),
        ("expert_offsets", experts + 1, "output"),
        ("cursors", cursors * experts, "work"),
    ]
    if large:
        wanted += [("prefix", chunks * experts, "work"), ("totals", experts, "work")]
    regions = []
    end = 0
    for name, elements, role in wanted:
        regions.append(Region(name, end, elements, role))
        end += -(-elements * _ITEM // ALIGNMENT) * ALIGNMENT
    return RoutePackLayout(tuple(regions), end, step, single, chunk, chunks)
