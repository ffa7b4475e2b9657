"""Route packing in plain numpy: the outputs that the kernels must give, by a stable sort."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = ["PackedRoutes", "packed_routes_reference"]


class PackedRoutes(NamedTuple):
    """The outputs, int32; the routes of each expert are in ascending order."""

    packed_routes: Any
    block_experts: Any
    packed_count: Any
    expert_offsets: Any


def packed_routes_reference(
    topk_ids: Any, *, experts: int, block: int, slots: int, expert_map: Any = None, local_experts: int | None = None
) -> PackedRoutes:
    """Sort the routes by expert, stably, and pad those of each expert to a multiple of `block`.

    Args:
        topk_ids: integer array of any shape and width, all of it live.
        experts: experts of the router; other ids are dropped.
        block: rows of a block.
        slots: length of `packed_routes` in the result.
        expert_map: integer array `[experts]`, global to local.
        local_experts: experts that outputs speak of with a map; others are dropped.

    """
    ids = np.asarray(topk_ids).reshape(-1).astype(np.int64)
    live = ids.size
    kept = np.flatnonzero((ids >= 0) & (ids < experts))
    chosen = ids[kept]
    packed = experts
    if expert_map is not None:
        packed = experts if local_experts is None else local_experts
        chosen = np.asarray(expert_map).astype(np.int64)[chosen]
        local = (chosen >= 0) & (chosen < packed)
        kept, chosen = kept[local], chosen[local]
    order = np.argsort(chosen, kind="stable")
    counts = np.bincount(chosen, minlength=packed)
    blocks = -(-counts // block)
    offsets = np.concatenate([[0], np.cumsum(blocks * block)])
    routes = np.full(slots, live)
    starts = np.cumsum(counts) - counts
    routes[offsets[chosen[order]] + np.arange(kept.size) - starts[chosen[order]]] = kept[order]
    owners = np.full(-(-slots // block), -1)
    owners[: blocks.sum()] = np.repeat(np.arange(packed), blocks)
    return PackedRoutes(*(part.astype(np.int32) for part in (routes, owners, offsets[-1:], offsets)))
