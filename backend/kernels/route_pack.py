"""Route packing: which rows each expert works on, in blocks of one expert each.

    declaration = RoutePackDeclaration("stable", capacity_tokens=4096, topk=8, experts=256, block=16)
    pack = prepare_route_pack(declaration)               # compiles; the only step that may
    views = pack.views(scratch)                          # scratch: uint8, at least pack.layout.nbytes
    pack(topk_ids, views)                                # any number of live tokens up to the capacity

Outputs, all int32 views of the caller's scratch:

* `packed_routes[slots]`: for each expert in ascending order its flat routes (`token * topk + k`), padded to a multiple
  of `block`. Padding and the tail hold the number of live routes, so that consumers test `route < live`.
* `block_experts[blocks]`: the expert of each block of rows, -1 past the last used block.
* `packed_count[1]`: the padded total. `expert_offsets[experts + 1]`: where the rows of each expert begin.

A route whose id is outside `[0, experts)`, or is mapped outside `[0, local_experts)`, is dropped and appears nowhere.
With an expert map, outputs speak of local experts. The *ordinary* algorithm lists the routes of an expert in any order,
the *stable* one in ascending order, without atomics. Each is a class of its own, so that neither can stand in for the
other.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from backend.kernels._pack_errors import (
    ForeignPackViewsError,
    InterpreterError,
    LiveAboveCapacityError,
    LiveCountError,
    NotAPackDeclarationError,
    PackFactError,
    PackingAlgorithmError,
    PackMapError,
    PackShapeError,
)
from backend.kernels._pack_facts import (
    TILE,
    Algorithm,
    IdDtype,
    Region,
    RoutePackDeclaration,
    RoutePackLayout,
    route_pack_layout,
)
from backend.kernels._pack_kernels import count_routes, place_routes, scan_counts
from backend.kernels._pack_program import Program, interpreted, resolve
from backend.kernels._pack_views import RoutePackViews, checked_input
from ownership import carrier
from ownership.resolution import resolver

__all__ = [
    "OrdinaryRoutePack",
    "Region",
    "RoutePack",
    "RoutePackDeclaration",
    "RoutePackLayout",
    "RoutePackViews",
    "StableRoutePack",
    "prepare_route_pack",
    "route_pack_layout",
]

Tensor = Any

#: Routes that a program of the single launch counts in one step, and slots that it fills in one.
_SCAN = 512
#: Experts whose counts one program sums over all chunks.
_COLUMNS = 16
#: Slots for which one more program pays, where there are fewer chunks than that.
_SLOTS_A_PROGRAM = 4096
_MOST_FILLING = 64


@dataclass(frozen=True, eq=False, slots=True)
class RoutePack:
    """What the carriers of both algorithms are; made by `prepare_route_pack()`.

    Attributes:
        declaration: what it was compiled for.
        layout: the scratch that it needs.
        device: where its programs are loaded.
        single: the one launch for up to `layout.single_routes` live routes; `None` where the live count is in memory
            and the capacity is above that.
        large: counting, scanning and placing, for more; `None` where the capacity is not above it.

    """

    algorithm: ClassVar[Algorithm]

    declaration: RoutePackDeclaration
    layout: RoutePackLayout
    device: Any
    single: Program | None
    large: tuple[Program, Program, Program] | None

    def __post_init__(self) -> None:
        if getattr(type(self), "algorithm", None) != self.declaration.algorithm:
            raise PackingAlgorithmError(carrier=type(self), declared=self.declaration.algorithm)

    @property
    def id_dtype(self) -> IdDtype:
        """The dtype of the ids that it was compiled for."""
        return self.declaration.id_dtype

    @property
    def mapped(self) -> bool:
        """Whether it was compiled for an expert map."""
        return self.declaration.mapped

    @property
    def capacity_tokens(self) -> int:
        """Most live tokens of a run."""
        return self.declaration.capacity

    @property
    def programs(self) -> tuple[Program, ...]:
        """Every program that a run can launch."""
        return (() if self.single is None else (self.single,)) + (self.large or ())

    def views(self, scratch: Tensor) -> RoutePackViews:
        """Cut the caller's scratch up for this carrier; see `RoutePackViews.of()` for what is refused."""
        return RoutePackViews.of(self.layout, scratch, device=self.device)

    def run(
        self,
        topk_ids: Tensor,
        views: RoutePackViews,
        *,
        expert_map: Tensor | None = None,
        live_tokens: int | Tensor | None = None,
    ) -> None:
        """Pack the routes of the live tokens into the views, on the current stream. Nothing is allocated or compiled.

        Args:
            topk_ids: ids of the declared dtype, `[..., topk]`, contiguous, in the order of the flat routes.
            views: made by `views()` of a carrier of the same layout.
            expert_map: int32 `[experts]`, global to local, negative for experts elsewhere; exactly if declared.
            live_tokens: the rows of `topk_ids` that count, all by default. Declared with `live_in_memory`, an int32
                tensor `[1]` that the kernels read: what lies below 0 or above the rows of `topk_ids` counts as that.

        Raises:
            RoutePackError: one class for each way in which an argument is not what was declared; nothing has been
                launched or written then.

        """
        routes = self._checked(topk_ids, views, expert_map, live_tokens)
        in_memory = live_tokens if self.declaration.live_in_memory else None
        with _on(self.device):
            if self.single is not None and routes <= self.layout.single_routes:
                self._place(
                    self.single, self.layout.step, routes, (topk_ids, expert_map, in_memory), views, (None, None)
                )
                return
            # There is always one of the two, and `large` wherever the capacity is above what `single` takes.
            assert self.large is not None
            count, scan, place = self.large
            chunk, experts = self.layout.chunk, self.declaration.packed_experts
            inputs = (topk_ids, expert_map, in_memory)
            count.launch(max(1, -(-routes // chunk)), (*inputs, views.cursors, routes, chunk))
            scan.launch(-(-experts // _COLUMNS), (in_memory, views.cursors, views.prefix, views.totals, routes, chunk))
            self._place(place, chunk, routes, inputs, views, (views.prefix, views.totals))

    __call__ = run

    def _place(
        self,
        program: Program,
        chunk: int,
        routes: int,
        inputs: tuple[Tensor, ...],
        views: RoutePackViews,
        counted: tuple[Tensor, Tensor],
    ) -> None:
        outputs = (views.packed_routes, views.block_experts, views.packed_count, views.expert_offsets)
        slots, blocks = self.declaration.slots, self.declaration.blocks
        filling = min(_MOST_FILLING, -(-slots // _SLOTS_A_PROGRAM))
        grid = max(filling, -(-routes // chunk))
        program.launch(grid, (*inputs, views.cursors, *counted, *outputs, routes, chunk, slots, blocks))

    def _checked(self, topk_ids: Tensor, views: object, expert_map: Tensor, live_tokens: object) -> int:
        """The live routes (in memory: the routes that there may be), after a look at every argument."""
        facts = self.declaration
        if not isinstance(views, RoutePackViews):
            raise ForeignPackViewsError(given=f"a {type(views).__qualname__}", wanted=self.layout)
        if views.layout is not self.layout and views.layout != self.layout:
            raise ForeignPackViewsError(given=views.layout, wanted=self.layout)
        if views.scratch.device != self.device:
            raise ForeignPackViewsError(given=views.scratch.device, wanted=self.device)
        checked_input("topk_ids", topk_ids, views, dtype=getattr(torch, facts.id_dtype))
        if topk_ids.dim() == 0 or topk_ids.shape[-1] != facts.topk:
            wanted = f"topk = {facts.topk} as its last dimension"
            raise PackShapeError(name="topk_ids", given=tuple(topk_ids.shape), wanted=wanted)
        rows: int = topk_ids.numel() // facts.topk
        if rows > facts.capacity:
            raise LiveAboveCapacityError(live=rows, bound=facts.capacity, what="the capacity")
        if (expert_map is not None) != facts.mapped:
            raise PackMapError(declared=facts.mapped)
        if expert_map is not None:
            checked_input("expert_map", expert_map, views, dtype=torch.int32)
            if expert_map.shape != (facts.experts,):
                wanted = f"({facts.experts},), a local id for each expert of the router"
                raise PackShapeError(name="expert_map", given=tuple(expert_map.shape), wanted=wanted)
        if facts.live_in_memory:
            if not isinstance(live_tokens, torch.Tensor):
                raise LiveCountError(given=live_tokens, in_memory=True)
            checked_input("live_tokens", live_tokens, views, dtype=torch.int32)
            if live_tokens.shape != (1,):
                raise PackShapeError(name="live_tokens", given=tuple(live_tokens.shape), wanted="(1,)")
            return rows * facts.topk
        if live_tokens is None:
            return rows * facts.topk
        if type(live_tokens) is not int or live_tokens < 0:
            raise LiveCountError(given=live_tokens, in_memory=False)
        if live_tokens > facts.capacity:
            raise LiveAboveCapacityError(live=live_tokens, bound=facts.capacity, what="the capacity")
        if live_tokens > rows:
            raise LiveAboveCapacityError(live=live_tokens, bound=rows, what="the rows of `topk_ids`")
        return live_tokens * facts.topk


@carrier
@dataclass(frozen=True, eq=False, slots=True)
class OrdinaryRoutePack(RoutePack):
    """The carrier of the ordinary algorithm: routes take their places by relaxed atomics, in any order."""

    algorithm: ClassVar[Algorithm] = "ordinary"


@carrier
@dataclass(frozen=True, eq=False, slots=True)
class StableRoutePack(RoutePack):
    """The carrier of the stable algorithm: the routes of an expert are in ascending order, the same in every run."""

    algorithm: ClassVar[Algorithm] = "stable"


def _on(device: Any) -> Any:
    """Make the device the current one, where it is not: a launch goes to the current device."""
    if device.type == "cuda" and torch.cuda.current_device() != device.index:
        return torch.cuda.device(device)
    return contextlib.nullcontext()


def _facts(declaration: object) -> dict[str, object]:
    """What a resolution is told apart by, for the report of the freeze."""
    if not isinstance(declaration, RoutePackDeclaration):
        return {}
    return {name: getattr(declaration, name) for name in declaration.__dataclass_fields__}


@resolver(name="backend.route_pack", key=_facts)
def prepare_route_pack(declaration: RoutePackDeclaration) -> OrdinaryRoutePack | StableRoutePack:
    """Compile and load every program that the declaration can reach, for its device.

    Raises:
        NotAPackDeclarationError: it is no declaration.
        PackFactError: there is no such device.
        InterpreterError: the device is the CPU and Triton does not interpret, or the other way round.
        ResolutionFrozenError: resolution is frozen.

    """
    if not isinstance(declaration, RoutePackDeclaration):
        raise NotAPackDeclarationError(given=declaration)
    device = _device(declaration)
    layout = route_pack_layout(declaration)
    ids = getattr(torch, declaration.id_dtype)
    expert_map = torch.int32 if declaration.mapped else None
    live = torch.int32 if declaration.live_in_memory else None
    inputs = (ids, expert_map, live)
    bins = max(32, 1 << (declaration.packed_experts - 1).bit_length())
    route = {"TOPK": declaration.topk, "EXPERTS": declaration.experts, "PACKED": declaration.packed_experts}
    packing = route | {"BINS": bins, "BLOCK": declaration.block, "STEP": layout.step, "SCAN": _SCAN}
    packing |= {"STABLE": declaration.algorithm == "stable"}
    # A thread a route, so that no atomic is asked for twice; or 16 comparisons a thread.
    warps = layout.step // 32 if declaration.algorithm == "ordinary" else 8
    work = torch.int32
    with _on(device):
        single = large = None
        if layout.single_routes:
            arguments = (*inputs, work, None, None, *(work,) * 4, 3, 3, 3, 3)
            single = resolve(place_routes, arguments, packing, warps=warps)
        if layout.chunks:
            counting = route | {"BINS": bins, "TILE": TILE}
            rows = max(16, 1 << (layout.chunks - 1).bit_length())
            scanning = {"TOPK": declaration.topk, "PACKED": declaration.packed_experts, "ROWS": rows}
            scanning |= {"COLUMNS": _COLUMNS}
            large = (
                resolve(count_routes, (*inputs, work, 3, 3), counting, warps=4),
                resolve(scan_counts, (live, work, work, work, 3, 3), scanning, warps=8),
                resolve(place_routes, (*inputs, work, work, work, *(work,) * 4, 3, 3, 3, 3), packing, warps=warps),
            )
    made = StableRoutePack if declaration.algorithm == "stable" else OrdinaryRoutePack
    return made(declaration=declaration, layout=layout, device=device, single=single, large=large)


def _device(declaration: RoutePackDeclaration) -> Any:
    device = torch.device(declaration.device)
    if (device.type == "cpu") != interpreted(place_routes):
        raise InterpreterError(device=declaration.device, interpreted=interpreted(place_routes))
    if device.type == "cpu":
        return torch.device("cpu")
    if (device.index or 0) >= torch.cuda.device_count():
        wanted = f"one of the {torch.cuda.device_count()} CUDA devices of this process"
        raise PackFactError(fact="device", given=declaration.device, wanted=wanted)
    return device if device.index is not None else torch.device("cuda", torch.cuda.current_device())
