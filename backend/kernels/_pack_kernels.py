"""The Triton kernels of route packing: count, scan, place.

A route is a token's choice of an expert; flat route `r = token * topk + k`. Routes are cut into chunks of consecutive
ones, a program each. For every chunk and expert, `prefix` is the number of routes of that expert in earlier chunks, so
that each program knows where its routes go and no two write to one place; nothing needs to be cleared beforehand.

* Few routes: `place_routes` alone. Each program counts all of them, which costs less than a launch.
* Many: `count_routes` counts within chunks, `scan_counts` sums over chunks, `place_routes` places.

No integer that a call may change (`live_routes`) or that follows from the capacity alone (`chunk`, `slots`, `blocks`)
specializes a program, and neither does the alignment of the caller's ids and map. Pointers into the scratch are
aligned to 64 bytes. Ids may lie beyond 2^31 bytes; their index is computed in 64 bits.

Loops are written with `while`: with NumPy 2.4 the interpreter of Triton 3.6 takes no bound of `range` from a tensor.
"""

# Triton reads these functions, and an annotation on a parameter means something to it. Constants are in capitals.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# ruff: noqa: N803

from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["count_routes", "place_routes", "scan_counts"]


@triton.jit
def _live(live_tokens, live_routes, TOPK: tl.constexpr):
    """The live routes: as given, or from memory, where nothing that lies there may lead outside of the ids."""
    if live_tokens is None:
        live = live_routes
    else:
        tokens = tl.load(live_tokens).to(tl.int64)
        live = tl.minimum(tl.maximum(tokens * TOPK, 0), live_routes).to(tl.int32)
    return live


@triton.jit
def _experts(ids, expert_map, index, inside, EXPERTS: tl.constexpr, PACKED: tl.constexpr):
    """The packed expert of each route, -1 for those that are dropped."""
    raw = tl.load(ids + index, mask=inside, other=-1)
    valid = inside & (raw >= 0) & (raw < EXPERTS)
    # Compared in the width of the ids: an id beyond 2^31 must not become a valid one by truncation.
    expert = tl.where(valid, raw, 0).to(tl.int32)
    if expert_map is not None:
        expert = tl.load(expert_map + expert, mask=valid, other=-1)
        valid = valid & (expert >= 0) & (expert < PACKED)
    return tl.where(valid, expert, -1)


@triton.jit
def _histogram(expert, counted, BINS: tl.constexpr):
    """How many of the counted routes each expert has; dropped ones are not counted."""
    kept = counted & (expert >= 0)
    return tl.histogram(tl.where(kept, expert, 0), BINS, mask=kept)


@triton.jit(
    do_not_specialize=["live_routes", "chunk"],
    do_not_specialize_on_alignment=["ids", "expert_map", "live_tokens"],
)
def count_routes(
    ids,
    expert_map,
    live_tokens,
    counts,
    live_routes,
    chunk,
    TOPK: tl.constexpr,
    EXPERTS: tl.constexpr,
    PACKED: tl.constexpr,
    BINS: tl.constexpr,
    TILE: tl.constexpr,
):
    """Count the routes of each expert in one chunk: row `program_id` of `counts` [chunks, PACKED]."""
    pid = tl.program_id(0)
    live = _live(live_tokens, live_routes, TOPK)
    start = pid.to(tl.int64) * chunk
    if start < live:
        found = tl.zeros([BINS], tl.int32)
        offset = 0
        while offset < chunk:
            index = start + offset + tl.arange(0, TILE)
            inside = index < live
            found += _histogram(_experts(ids, expert_map, index, inside, EXPERTS, PACKED), inside, BINS)
            offset += TILE
        bins = tl.arange(0, BINS)
        tl.store(counts + pid * PACKED + bins, found, mask=bins < PACKED)


@triton.jit(do_not_specialize=["live_routes", "chunk"], do_not_specialize_on_alignment=["live_tokens"])
def scan_counts(
    live_tokens,
    counts,
    prefix,
    totals,
    live_routes,
    chunk,
    TOPK: tl.constexpr,
    PACKED: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """Sum the counts over the chunks: those of earlier chunks into `prefix`, those of all into `totals` [PACKED]."""
    live = _live(live_tokens, live_routes, TOPK)
    # Rows past the live chunks were not written by this call.
    chunks = (live.to(tl.int64) + chunk - 1) // chunk
    rows = tl.arange(0, ROWS)[:, None]
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    where = rows * PACKED + columns[None, :]
    mask = (rows < chunks) & (columns[None, :] < PACKED)
    found = tl.load(counts + where, mask=mask, other=0)
    tl.store(prefix + where, tl.cumsum(found, 0) - found, mask=mask)
    tl.store(totals + columns, tl.sum(found, 0), mask=columns < PACKED)


@triton.jit(
    do_not_specialize=["live_routes", "chunk", "slots", "blocks"],
    do_not_specialize_on_alignment=["ids", "expert_map", "live_tokens"],
)
def place_routes(
    ids,
    expert_map,
    live_tokens,
    cursors,
    prefix,
    totals,
    packed_routes,
    block_experts,
    packed_count,
    expert_offsets,
    live_routes,
    chunk,
    slots,
    blocks,
    TOPK: tl.constexpr,
    EXPERTS: tl.constexpr,
    PACKED: tl.constexpr,
    BINS: tl.constexpr,
    BLOCK: tl.constexpr,
    STEP: tl.constexpr,
    SCAN: tl.constexpr,
    STABLE: tl.constexpr,
):
    """Write the outputs: each program the routes of its chunk, and its share of the padding.

    `prefix` and `totals` are `None` where every program counts for itself. The grid has at least one program, and one
    for every live chunk; more of them share the padding.
    """
    pid = tl.program_id(0)
    programs = tl.num_programs(0)
    live = _live(live_tokens, live_routes, TOPK)
    start = pid.to(tl.int64) * chunk
    bins = tl.arange(0, BINS)
    known = bins < PACKED
    if totals is None:
        total = tl.zeros([BINS], tl.int32)
        before = tl.zeros([BINS], tl.int32)
        first_route = 0
        while first_route < live:
            index = first_route + tl.arange(0, SCAN)
            inside = index < live
            expert = _experts(ids, expert_map, index, inside, EXPERTS, PACKED)
            total += _histogram(expert, inside, BINS)
            if first_route < start:
                before += _histogram(expert, inside & (index < start), BINS)
            first_route += SCAN
    else:
        total = tl.load(totals + bins, mask=known, other=0)

    block_count = (total + BLOCK - 1) // BLOCK
    padded = block_count * BLOCK
    ends = tl.cumsum(padded, 0)
    firsts = ends - padded
    used = tl.sum(padded, 0)

    if start < live:
        # Where the next route of each expert goes. The row is this program's own.
        cursor = cursors + pid * PACKED
        if totals is not None:
            before = tl.load(prefix + pid * PACKED + bins, mask=known, other=0)
        tl.store(cursor + bins, firsts + before, mask=known)
        tl.debug_barrier()
        offset = 0
        while offset < chunk:
            index = start + offset + tl.arange(0, STEP)
            expert = _experts(ids, expert_map, index, index < live, EXPERTS, PACKED)
            kept = expert >= 0
            if STABLE:
                # How many routes of the same expert come earlier in this step, and, STEP times, how many later.
                lanes = tl.arange(0, STEP)
                weight = tl.where(
                    lanes[None, :] < lanes[:, None], 1, tl.where(lanes[None, :] > lanes[:, None], STEP, 0)
                )
                around = tl.sum(tl.where(expert[:, None] == expert[None, :], weight, 0), 1)
                rank = around % STEP
                last = around < STEP
                position = tl.load(cursor + expert, mask=kept, other=0) + rank
                # All have read before the last route of each expert moves the cursor on for the next step.
                tl.debug_barrier()
                tl.store(cursor + expert, position + 1, mask=kept & last)
                tl.debug_barrier()
            else:
                position = tl.atomic_add(cursor + expert, 1, mask=kept, sem="relaxed", scope="cta")
            tl.store(packed_routes + position, index.to(tl.int32), mask=kept)
            offset += STEP

    # The padding of each expert, position by position, for all experts at once.
    sentinel = tl.zeros([BINS], tl.int32) + live
    gap = pid
    while gap < BLOCK - 1:
        position = firsts + total + gap
        tl.store(packed_routes + position, sentinel, mask=known & (position < ends))
        gap += programs
    most = tl.max(block_count, 0)
    number = pid
    while number < most:
        tl.store(block_experts + firsts // BLOCK + number, bins, mask=known & (number < block_count))
        number += programs
    # The tails, in 64 bits: the last step may pass the end of int32.
    lanes = tl.arange(0, SCAN)
    free = (used // BLOCK).to(tl.int64) + pid * SCAN
    while free < blocks:
        tl.store(block_experts + free + lanes, tl.full([SCAN], -1, tl.int32), mask=lanes < blocks - free)
        free += programs * SCAN
    slot = used.to(tl.int64) + pid * SCAN
    while slot < slots:
        tl.store(packed_routes + slot + lanes, tl.zeros([SCAN], tl.int32) + live, mask=lanes < slots - slot)
        slot += programs * SCAN
    if pid == 0:
        tl.store(expert_offsets + bins, firsts, mask=known)
        tl.store(expert_offsets + PACKED, used)
        tl.store(packed_count, used)
