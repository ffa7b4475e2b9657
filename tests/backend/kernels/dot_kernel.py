"""A matrix product that uses the decoders as a kernel is meant to: the weights are the first operand of `tl.dot`."""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"
# ruff: noqa: N803, N806

from __future__ import annotations

import triton
import triton.language as tl

from backend.kernels.decode import decode_slices, load_slices


@triton.jit
def product(
    words,
    table,
    x,
    y,
    columns,
    STEPS: tl.constexpr,
    HALF_BITS: tl.constexpr,
    CODEBOOK: tl.constexpr,
    DECODER: tl.constexpr,
    ASSEMBLY: tl.constexpr,
    ROWS: tl.constexpr,
):
    """`y = x W` for fp16 x [ROWS, K] in step order and fp32 y [ROWS, N]; program: panel.

    The number of steps is a constant: with NumPy 2.4 the interpreter of Triton 3.6 takes no tensor in `range`,
    and a loop by `while` is not pipelined.
    """
    PLANES: tl.constexpr = (HALF_BITS + 1) // 2
    panel = tl.program_id(0)
    block = words + panel.to(tl.int64) * STEPS * (256 * PLANES)
    row = tl.arange(0, ROWS)
    k = tl.arange(0, 64)
    total = tl.zeros((128, ROWS), tl.float32)
    for step in range(STEPS):
        slices = load_slices(block + step * (256 * PLANES), 8, HALF_BITS)
        inputs = tl.load(x + row[None, :] * (STEPS * 64) + step * 64 + k[:, None])
        weights = decode_slices(slices, table, 8, HALF_BITS, CODEBOOK, DECODER, ASSEMBLY)
        total = tl.dot(weights, inputs, total)
    tl.store(y + row[None, :] * columns + panel * 128 + tl.arange(0, 128)[:, None], total)
