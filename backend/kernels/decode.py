"""The decoders: device functions that turn prepared trellis words into fp16 weights, inside any kernel.

A kernel takes a step of a panel (`backend.weights.layout`) with `load_slices`, which only loads, and turns it into a
weight tile with `decode_slices`, which only computes. Two decoders give the same bits: `"computed"` does the codebook's
arithmetic, `"table"` loads from the table of all 65,536 codewords (`backend.weights.trellis.codebook_values`, 128 KiB).

Both exist in plain Triton, which also runs in the interpreter, and with inline PTX (`ASSEMBLY`), for two reasons: byte
sums and packed fp16 arithmetic, which plain Triton does not reach (6 instead of 12 instructions a weight for MUL1 on
sm_90); and a gather in the layout of the matrix operand, where `tl.load` would take every address and every weight
through shared memory.
"""

# Triton reads these functions, and an annotation on a parameter means something to it. Constants are in capitals,
# tuples grow by concatenation, and branches are taken while compiling.
# mypy: disable-error-code="no-untyped-def, untyped-decorator, assignment, misc"
# ruff: noqa: N803, N806, RUF005, SIM108

from __future__ import annotations

from typing import Any, Final

import torch
import triton
import triton.language as tl

from backend.weights.errors import TensorMismatchError
from backend.weights.layout import LANES, PANEL, STEP, plane_count
from backend.weights.trellis import STATES, TrellisFormat

__all__ = ["DECODERS", "decode_matrix", "decode_matrix_kernel", "decode_slices", "load_slices", "step_position"]

#: The names of the decoders.
DECODERS: Final = ("computed", "table")

_ADD_HALVES: Final = """
    lop3.b32 x, x, 0x8fff8fff, 0x3b603b60, 0x6a;
    lop3.b32 y, y, 0x8fff8fff, 0x3b603b60, 0x6a;
    prmt.b32 u, x, y, 0x5410;
    prmt.b32 v, x, y, 0x7632;
    add.rn.f16x2 u, u, v;
    mov.b32 {$0, $1}, u; }
"""
_MCG: Final = tl.constexpr(
    "{ .reg .b32 x, y, u, v; mul.lo.u32 x, $2, 0xCBAC1FED; mul.lo.u32 y, $3, 0xCBAC1FED;" + _ADD_HALVES
)
_DEFAULT: Final = tl.constexpr(
    "{ .reg .b32 x, y, u, v; mad.lo.u32 x, $2, 89226354, 64248484; mad.lo.u32 y, $3, 89226354, 64248484;" + _ADD_HALVES
)
# 0x6400 are the bits of 1024: adding a byte sum below 1024 to them gives the bits of 1024 + sum.
_MUL1: Final = tl.constexpr("""
    { .reg .b32 x, y, scale, bias;
    mul.lo.u32 x, $2, 0x83DCD12D;
    mul.lo.u32 y, $3, 0x83DCD12D;
    dp4a.u32.u32 x, x, 0x01010101, 0x6400;
    dp4a.u32.u32 y, y, 0x01010101, 0x6400;
    prmt.b32 x, x, y, 0x5410;
    mov.b32 scale, 0x1eee1eee;
    mov.b32 bias, 0xc931c931;
    fma.rn.f16x2 x, x, scale, bias;
    mov.b32 {$0, $1}, x; }
""")
_GATHER: Final = tl.constexpr("{ .reg .b64 at; mad.wide.u32 at, $1, 2, $2; ld.global.nc.b16 $0, [at]; }")


@triton.jit
def step_position(k):
    """Where row k stands in its step of 64, as the kernels read it (`backend.weights.layout`); its own inverse."""
    return (k & -55) | ((k >> 3) & 6) | ((k & 6) << 3)


@triton.jit
def load_slices(step, TILES: tl.constexpr, HALF_BITS: tl.constexpr):
    """The words of `TILES` tiles of a step that begins at `step` (int32 pointer).

    A tuple of 1 + planes tensors, uint32 [TILES, 32]: in front the last word of the slice before (for half rates, which
    do not need it, the first plane again), then the planes.
    """
    PLANES: tl.constexpr = (HALF_BITS + 1) // 2
    lane = tl.arange(0, 32)[None, :]
    tile = step + tl.arange(0, TILES)[:, None] * (PLANES * 32)
    planes = ()
    for plane in tl.static_range(PLANES):
        planes = planes + (tl.load(tile + (plane * 32 + lane)).to(tl.uint32, bitcast=True),)
    if HALF_BITS % 2 == 0:
        before = tl.load(tile + ((PLANES - 1) * 32 + (lane + 28) % 32)).to(tl.uint32, bitcast=True)
    else:
        before = planes[0]
    return (before,) + planes


@triton.jit
def _state(slices, POSITION: tl.constexpr, HALF_BITS: tl.constexpr):
    """The 16-bit state of one of the 32 positions of a slice: uint32, upper half zero."""
    # A half rate's slice begins with 16 bits of its predecessor; an integer rate's predecessor is `slices[0]`.
    START: tl.constexpr = (HALF_BITS * (POSITION + 1)) // 2 + (HALF_BITS % 2) * 16 + 16
    FIRST: tl.constexpr = START // 32
    LAST: tl.constexpr = (START + 15) // 32
    SHIFT: tl.constexpr = 32 * LAST + 16 - START
    if FIRST == LAST:
        window = slices[LAST] >> SHIFT
    else:
        window = (slices[FIRST] << (32 - SHIFT)) | (slices[LAST] >> SHIFT)
    return window & 0xFFFF


@triton.jit
def _codeword(state, CODEBOOK: tl.constexpr):
    """The weight of a state: fp16."""
    if CODEBOOK == "mul1":
        x = state * 0x83DCD12D
        total = (x & 0xFF) + ((x >> 8) & 0xFF) + ((x >> 16) & 0xFF) + (x >> 24)
        # 0x1eee and 0xc931 as fp16; float32 with one rounding is the same as the fused fp16 operation, state by state.
        word = ((total + 1024).to(tl.float32) * 0.00676727294921875 - 10.3828125).to(tl.float16)
    else:
        if CODEBOOK == "mcg":
            x = state * 0xCBAC1FED
        else:
            x = state * 89226354 + 64248484
        x = (x & 0x8FFF8FFF) ^ 0x3B603B60
        low = (x & 0xFFFF).to(tl.uint16).to(tl.float16, bitcast=True)
        high = (x >> 16).to(tl.uint16).to(tl.float16, bitcast=True)
        word = low + high
    return word


@triton.jit
def _gathered(state, table, ASSEMBLY: tl.constexpr):
    """The weight of a state, out of the table."""
    if ASSEMBLY:
        address = table.to(tl.int64)
        word = tl.inline_asm_elementwise(_GATHER, "=h,r,l", [state, address], dtype=tl.float16, is_pure=True, pack=1)
    else:
        word = tl.load(table + state.to(tl.int32))
    return word


@triton.jit
def _pair(first, second, table, CODEBOOK: tl.constexpr, DECODER: tl.constexpr, ASSEMBLY: tl.constexpr):
    """The weights of two states."""
    if DECODER == "table":
        pair = (_gathered(first, table, ASSEMBLY), _gathered(second, table, ASSEMBLY))
    elif ASSEMBLY:
        PROGRAM: tl.constexpr = _MUL1 if CODEBOOK == "mul1" else (_MCG if CODEBOOK == "mcg" else _DEFAULT)
        pair = tl.inline_asm_elementwise(
            PROGRAM, "=h,=h,r,r", [first, second], dtype=(tl.float16, tl.float16), is_pure=True, pack=1
        )
    else:
        pair = (_codeword(first, CODEBOOK), _codeword(second, CODEBOOK))
    return pair


@triton.jit
def decode_slices(
    slices,
    table,
    TILES: tl.constexpr,
    HALF_BITS: tl.constexpr,
    CODEBOOK: tl.constexpr,
    DECODER: tl.constexpr,
    ASSEMBLY: tl.constexpr,
):
    """The weights of what `load_slices` loaded: fp16 [16 * TILES, 64], a row an output column, k in step order.

    As the first operand of `tl.dot` it needs no exchange between threads. `table` is read by the table decoder only and
    may be any pointer otherwise; it holds the codewords of one codebook, so `CODEBOOK` is read by the other one only.
    """
    values = ()
    for half in tl.static_range(16):
        even = _state(slices, 2 * half, HALF_BITS)
        odd = _state(slices, 2 * half + 1, HALF_BITS)
        first, second = _pair(even, odd, table, CODEBOOK, DECODER, ASSEMBLY)
        values = values + (tl.join(first, second),)
    # A position within the slice is (s1 s0 c h j): matrix step, left or right column, upper or lower rows, parity.
    for level in tl.static_range(4):
        merged = ()
        for item in tl.static_range(8 >> level):
            merged = merged + (tl.join(values[2 * item], values[2 * item + 1]),)
        values = merged
    # [tile, lane, j, h, c, s0, s1] -> [tile, c, q | s1, s0, h, g, j]
    split = tl.reshape(values[0], (TILES, 8, 4, 2, 2, 2, 2, 2))
    return tl.reshape(tl.permute(split, (0, 5, 1, 7, 6, 4, 2, 3)), (16 * TILES, 64))


@triton.jit
def decode_matrix_kernel(
    words,
    table,
    out,
    steps,
    stride,
    HALF_BITS: tl.constexpr,
    CODEBOOK: tl.constexpr,
    DECODER: tl.constexpr,
    ASSEMBLY: tl.constexpr,
):
    """Write a step of a panel, program (step, panel), to `out` fp16 [K, N] with `stride` elements a row."""
    PLANES: tl.constexpr = (HALF_BITS + 1) // 2
    at = tl.program_id(0)
    panel = tl.program_id(1)
    block = words + (panel.to(tl.int64) * steps + at) * (256 * PLANES)
    slices = load_slices(block, 8, HALF_BITS)
    tile = decode_slices(slices, table, 8, HALF_BITS, CODEBOOK, DECODER, ASSEMBLY)
    column = panel * 128 + tl.arange(0, 128)
    row = at * 64 + step_position(tl.arange(0, 64))
    tl.store(out + row[None, :].to(tl.int64) * stride + column[:, None], tile)


def decode_matrix(
    words: Any, fmt: TrellisFormat, decoder: str, *, table: Any = None, assembly: bool | None = None
) -> Any:
    """The rotated weight fp16 [K, N] of one prepared matrix, int32 [N/128, K/64, 8, planes, 32].

    `table` is `codebook_values(fmt.codebook)` on the same device for the decoder `"table"`, and unused otherwise.
    `assembly` is chosen by the device where it is not given: on CUDA only.

    Raises:
        TensorMismatchError: `words` is not such a tensor, contiguous; the decoder has another name; or the table is
            not fp16 [65536] beside it.

    """
    planes = plane_count(fmt)
    wanted = (PANEL // 16, planes, LANES)
    if words.dtype != torch.int32 or words.ndim != 5 or words.shape[2:] != wanted or not words.is_contiguous():
        given = f"{words.dtype}{list(words.shape)}" + ("" if words.is_contiguous() else ", not contiguous")
        raise TensorMismatchError(name="words", given=given, wanted=f"int32[N/128, K/64, 8, {planes}, 32], contiguous")
    if decoder not in DECODERS:
        raise TensorMismatchError(name="decoder", given=repr(decoder), wanted=f"one of {', '.join(DECODERS)}")
    if decoder == "table" and not (
        isinstance(table, torch.Tensor)
        and table.dtype == torch.float16
        and table.shape == (STATES,)
        and table.is_contiguous()
        and table.device == words.device
    ):
        given = (
            f"{table.dtype}{list(table.shape)} on {table.device}" if isinstance(table, torch.Tensor) else repr(table)
        )
        raise TensorMismatchError(name="table", given=given, wanted=f"float16[{STATES}] on {words.device}")
    panels, steps = words.shape[:2]
    out = torch.empty(steps * STEP, panels * PANEL, dtype=torch.float16, device=words.device)
    decode_matrix_kernel[(steps, panels)](
        words,
        table if decoder == "table" else words,
        out,
        steps,
        out.stride(0),
        HALF_BITS=fmt.half_bits,
        CODEBOOK=fmt.codebook.value,
        DECODER=decoder,
        ASSEMBLY=words.is_cuda if assembly is None else assembly,
    )
    return out
