"""The prepared layout: the order in which the kernels read trellis words, made once at load.

A checkpoint keeps 16 x 16 tiles one behind the other. A matrix kernel wants, for 128 output columns at a time, a stream
in which each lane finds its words at a constant place and every window at a constant shift. That is a reordering of the
32-bit words, so the prepared weights are exactly as large as the checkpoint's; only half rates grow (below).

**Slices.** The ring positions 32 q .. 32 q + 31 of a tile are its columns q and q + 8, all 16 rows, and begin on a word
boundary for integer rates: `bits` words. Of the first window of a slice up to 15 bits lie in the last word of
slice q - 1 (around the ring), which is the only word of a neighbour that is ever read.

**Order.** int32 `[N/128, K/64, 8, planes, 32]`: panel of 128 columns, step of 64 rows, tile of 16 columns in the panel,
word in the slice, lane. Lane `4 q + g` is slice q of the g-th of the four tiles (along k) of the step. A panel is one
contiguous stream, a step of it `1024 * planes` bytes.

**Half rates** (1.5, 2.5, 3.5 bits; MUL1 only): a slice has an odd number of 16-bit units. Each is stored with the unit
in front of it, so that it is 2, 3 or 4 whole words, needs no neighbour, and is 33, 20 or 14 % larger than in the file.

**k inside a step.** Lane 4 q + g then has, for the matrix instruction's four steps s, the pairs (k, k + 1) that the
instruction's operand wants, if k is renamed within each 64: bits (g1 g0 h s1 s0 j) of k become (s1 s0 h g1 g0 j). The
renaming is its own inverse (`step_order`); the kernels that write rotated inputs write them in this order.

Bytes of a projection of E experts, at b bits: `E * K * N * b / 8` words, `2 * E * (K + N)` scales (twice `E * N` with
bias), `12 * E` for offsets and formats. Offsets are int64, in words.
"""

from __future__ import annotations

from typing import TypeAlias

import torch

from backend.weights.errors import TensorMismatchError
from backend.weights.trellis import TILE, TrellisFormat, check_trellis, words

__all__ = [
    "LANES",
    "PANEL",
    "STEP",
    "matrix_words",
    "plane_count",
    "prepare_matrix",
    "restore_matrix",
    "step_order",
]

Tensor: TypeAlias = torch.Tensor

#: Output columns of a panel.
PANEL = 128
#: Rows (k) of a step.
STEP = 64
#: Slices side by side in a plane: 8 of each of the 4 tiles of a step.
LANES = 32

_SLICES = 8
_DOWN = STEP // TILE
_ACROSS = PANEL // TILE


def plane_count(fmt: TrellisFormat) -> int:
    """32-bit words of a prepared slice: the bits a weight, rounded up."""
    return (fmt.half_bits + 1) // 2


def matrix_words(rows: int, columns: int, fmt: TrellisFormat) -> int:
    """32-bit words of a prepared matrix [rows, columns]."""
    return rows * columns // (LANES * 32) * plane_count(fmt) * LANES


def prepare_matrix(trellis: Tensor, fmt: TrellisFormat, out: Tensor | None = None) -> Tensor:
    """The words of a trellis in the prepared order: int32 [N/128, K/64, 8, planes, 32].

    `trellis` is int16 [K/16, N/16, 16 * bits] of any strides. `out`, where given, is a flat int32 tensor of
    `matrix_words` elements on any device, which the result is then a view of.

    Raises:
        TensorMismatchError: `trellis` is no trellis of `fmt`, K is no multiple of 64, N none of 128, or `out` does not
            fit.

    """
    check_trellis(trellis, fmt)
    if trellis.ndim != 3 or trellis.shape[0] % _DOWN or trellis.shape[1] % _ACROSS:
        wanted = f"[K/16, N/16, {fmt.units}] with K a multiple of {STEP} and N of {PANEL}"
        raise TensorMismatchError(name="trellis", given=f"of shape {list(trellis.shape)}", wanted=wanted)
    steps, panels, planes = trellis.shape[0] // _DOWN, trellis.shape[1] // _ACROSS, plane_count(fmt)
    shape = (panels, steps, _ACROSS, planes, LANES)
    if out is not None and (out.dtype != torch.int32 or out.ndim != 1 or out.numel() != panels * steps * planes * 256):
        wanted = f"int32[{panels * steps * planes * 256}]"
        raise TensorMismatchError(name="out", given=f"{out.dtype}{list(out.shape)}", wanted=wanted)
    if fmt.half_bits % 2:
        slices = _half_slices(trellis, fmt)
    else:
        slices = trellis.contiguous().view(torch.int32).unflatten(-1, (_SLICES, planes))
    # [step, g, panel, tile, q, plane] -> [panel, step, tile, plane, q, g]
    ordered = slices.unflatten(1, (panels, _ACROSS)).unflatten(0, (steps, _DOWN)).permute(2, 0, 3, 5, 4, 1)
    if out is None:
        return ordered.reshape(shape)
    out.view(panels, steps, _ACROSS, planes, _SLICES, _DOWN).copy_(ordered)
    return out.view(shape)


def _half_slices(trellis: Tensor, fmt: TrellisFormat) -> Tensor:
    """Self-contained slices of a half rate: int32 [K/16, N/16, 8, planes]."""
    ring = words(trellis)
    units = torch.stack((ring >> 16, ring & 0xFFFF), -1).flatten(-2)
    own = fmt.units // _SLICES
    index = torch.arange(_SLICES)[:, None] * own + torch.arange(-1, own)
    pairs = units[..., index % fmt.units].unflatten(-1, (-1, 2))
    joined = pairs[..., 0] << 16 | pairs[..., 1]
    return (joined - ((joined & 0x80000000) << 1)).to(torch.int32)


def restore_matrix(prepared: Tensor, fmt: TrellisFormat) -> Tensor:
    """The trellis int16 [K/16, N/16, 16 * bits] that `prepare_matrix` made `prepared` of: its inverse."""
    panels, steps = prepared.shape[:2]
    lanes = prepared.unflatten(-1, (_SLICES, _DOWN))
    slices = lanes.permute(1, 5, 0, 2, 4, 3).reshape(steps * _DOWN, panels * _ACROSS, _SLICES, -1)
    if fmt.half_bits % 2 == 0:
        return slices.flatten(-2).contiguous().view(torch.int16)
    halves = slices.contiguous().view(torch.int16).unflatten(-1, (-1, 2)).flip(-1).flatten(-2)
    stream = halves[..., 1:].flatten(-2)
    return stream.unflatten(-1, (-1, 2)).flip(-1).flatten(-2).contiguous()


def step_order(rows: int, device: torch.device | str = "cpu") -> Tensor:
    """Where each row k stands in a rotated input as the kernels read it, int64 [rows]; its own inverse.

    `x[..., step_order(K)]` is an input in the kernels' order, and the same again brings it back.
    """
    k = torch.arange(rows, device=device)
    return (k & ~0b110110) | (k >> 3 & 0b110) | ((k & 0b110) << 3)
