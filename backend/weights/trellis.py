"""The EXL3 trellis format, bit for bit, in plain torch on any device: what every kernel is compared with.

A linear `y = x W` with `W[K, N]` is stored as 16 x 16 tiles. A tile is a ring of 256 positions; each position is
decoded from the 16 ring bits that end with its own (its *state*), so no position depends on another. The decoded
matrix is the *rotated* weight; `W = diag(suh) H W_rotated H diag(svh)` with `H` in blocks of 128 on both axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import accumulate
from typing import TypeAlias

import torch

from backend.weights.errors import TensorMismatchError, UnsupportedRateError

__all__ = [
    "HADAMARD_BLOCK",
    "STATES",
    "TILE",
    "Codebook",
    "TrellisFormat",
    "check_trellis",
    "codebook_values",
    "decode",
    "hadamard",
    "pack",
    "ring_order",
    "signs",
    "states",
    "to_matrix",
    "to_tiles",
    "unrotate",
    "words",
]

Tensor: TypeAlias = torch.Tensor

#: Rows and columns of a tile.
TILE = 16
#: Channels of one Hadamard block; both axes of a linear are multiples of it.
HADAMARD_BLOCK = 128
#: How many states there are, which is how many codewords a table has.
STATES = 1 << 16

_RING = TILE * TILE
# 1/sqrt(128), as the float32 constant that the format fixes.
_HADAMARD_SCALE = 0.088388347648
_WORD = 0xFFFFFFFF


class Codebook(Enum):
    """The function from a 16-bit state to a weight; the value is the name that `quantization_config` uses."""

    DEFAULT = "3inst"
    MCG = "mcg"
    MUL1 = "mul1"

    @property
    def multiplier(self) -> int:
        """The factor of the state's hash, mod 2^32; for MCG and MUL1 it is what the marker tensor holds."""
        return {"3inst": 89226354, "mcg": 0xCBAC1FED, "mul1": 0x83DCD12D}[self.value]


@dataclass(frozen=True, slots=True)
class TrellisFormat:
    """A codebook and a rate: all that one must know to decode a trellis.

    The rate is counted in half bits a weight, so that it is an integer: 2, 4, ..., 16 for every codebook, and
    3, 5, 7 (1.5, 2.5 and 3.5 bits) for MUL1.

    Raises:
        UnsupportedRateError: there is no such pair.

    """

    codebook: Codebook
    half_bits: int

    def __post_init__(self) -> None:
        whole = self.half_bits % 2 == 0 and 2 <= self.half_bits <= 16
        if not whole and not (self.codebook is Codebook.MUL1 and self.half_bits in (3, 5, 7)):
            raise UnsupportedRateError(codebook=self.codebook.value, bits=self.half_bits / 2)

    @classmethod
    def of_bits(cls, codebook: Codebook, bits: float) -> TrellisFormat:
        """The format with so many bits a weight; raises `UnsupportedRateError` where there is none."""
        if bits * 2 != int(bits * 2):
            raise UnsupportedRateError(codebook=codebook.value, bits=bits)
        return cls(codebook, int(bits * 2))

    @property
    def bits(self) -> float:
        """Bits a weight, averaged over a tile."""
        return self.half_bits / 2

    @property
    def units(self) -> int:
        """16-bit units of a tile: the last dimension of a trellis tensor."""
        return self.half_bits * 8

    def fresh(self, position: int) -> int:
        """How many new bits a ring position takes; only for half rates does it depend on the position."""
        return self.half_bits // 2 + (self.half_bits & position & 1)

    def ends(self) -> tuple[int, ...]:
        """For each of the 256 ring positions, the bit just behind its window."""
        return tuple(accumulate(self.fresh(position) for position in range(_RING)))

    def __str__(self) -> str:
        return f"{self.codebook.value} at {self.bits:g} bits"


def ring_order(device: torch.device | str = "cpu") -> tuple[Tensor, Tensor]:
    """Row (k) and column (n) within the tile of each ring position: two int64 tensors [256].

    Eight consecutive positions are the values that one lane holds of the B operand of a 16 x 8 x 16 matrix instruction,
    twice (columns 0 to 7, then 8 to 15).
    """
    position = torch.arange(_RING, device=device)
    lane, register = position >> 3, position & 7
    row = 2 * (lane & 3) + (register & 1) + 8 * (register >> 1 & 1)
    column = (lane >> 2) + 8 * (register >> 2)
    return row, column


def codebook_values(codebook: Codebook, device: torch.device | str = "cpu") -> Tensor:
    """The weight of every state: fp16 [65536].

    MUL1 is defined by one fused multiply-add in fp16; float32 arithmetic with one rounding at the end gives the same
    bits for every state, fp16 arithmetic does not. The sum of the other two is one fp16 addition.
    """
    state = torch.arange(STATES, dtype=torch.int64, device=device)
    hashed = state * codebook.multiplier
    if codebook is Codebook.MUL1:
        hashed = hashed & _WORD
        total = sum((hashed >> shift & 0xFF for shift in (8, 16, 24)), hashed & 0xFF)
        scale, bias = _half(0x1EEE, device), _half(0xC931, device)
        values: Tensor = (1024 + total).float() * scale.float() + bias.float()
        return values.half()
    if codebook is Codebook.DEFAULT:
        hashed = hashed + 64248484
    hashed = (hashed & 0x8FFF8FFF) ^ 0x3B603B60
    return _half(hashed & 0xFFFF, device) + _half(hashed >> 16, device)


def _half(bits: Tensor | int, device: torch.device | str) -> Tensor:
    """The fp16 numbers with these bits."""
    unsigned = torch.as_tensor(bits, dtype=torch.int64, device=device)
    return (unsigned - ((unsigned & 0x8000) << 1)).to(torch.int16).view(torch.float16)


def check_trellis(trellis: Tensor, fmt: TrellisFormat, name: str = "trellis") -> None:
    """Raise `TensorMismatchError` unless it is an int16 tensor [..., 16 * bits]."""
    if trellis.dtype != torch.int16 or trellis.ndim < 1 or trellis.shape[-1] != fmt.units:
        given = f"{str(trellis.dtype).removeprefix('torch.')}{list(trellis.shape)}"
        raise TensorMismatchError(name=name, given=given, wanted=f"int16[..., {fmt.units}] for {fmt}")


def words(trellis: Tensor) -> Tensor:
    """The ring's 32-bit words as int64 in [0, 2^32), [..., 8 * bits]; ring bit b is bit 31 - b % 32 of word b // 32."""
    unit = trellis.to(torch.int64) & 0xFFFF
    return unit[..., 0::2] | unit[..., 1::2] << 16


def states(trellis: Tensor, fmt: TrellisFormat) -> Tensor:
    """The state of every ring position: int32 [..., 256] in [0, 65536).

    Raises:
        TensorMismatchError: `trellis` is not int16 [..., 16 * bits].

    """
    check_trellis(trellis, fmt)
    ring = words(trellis)
    count = fmt.units // 2
    end = torch.tensor(fmt.ends(), device=trellis.device)
    last, first = (end - 1) >> 5, (end - 16) >> 5
    shift = 32 * (last + 1) - end
    # A window has at most two words; the left one is shifted so far that it never leaves 63 bits.
    left = ring[..., first % count] & 0xFFFF
    value = (left << 32 | ring[..., last % count]) >> shift
    # Where both ends lie in one word, `left` is that word too, and its bits are shifted out of the 16 that count.
    return (value & 0xFFFF).to(torch.int32)


def pack(state: Tensor, fmt: TrellisFormat) -> Tensor:
    """The trellis of these states, int16 [..., 16 * bits]; only the fresh bits of each state are looked at.

    For consistent states (each one's old bits are its neighbour's) it is the inverse of `states`.

    Raises:
        TensorMismatchError: `state` is not an integer tensor [..., 256].

    """
    if state.dtype not in (torch.int32, torch.int64) or state.ndim < 1 or state.shape[-1] != _RING:
        raise TensorMismatchError(name="state", given=f"{state.dtype}{list(state.shape)}", wanted="int32[..., 256]")
    source: list[int] = []
    shift: list[int] = []
    for position in range(_RING):
        fresh = fmt.fresh(position)
        source += [position] * fresh
        shift += range(fresh - 1, -1, -1)
    bits = state.to(torch.int64)[..., source] >> torch.tensor(shift, device=state.device) & 1
    weight = 1 << torch.arange(15, -1, -1, device=state.device)
    units = (bits.unflatten(-1, (fmt.units // 2, 2, 16)) * weight).sum(-1)
    swapped = units.flip(-1).flatten(-2)  # the unit with the earlier bits is the upper half of the word
    return (swapped - ((swapped & 0x8000) << 1)).to(torch.int16)


def to_matrix(tiles: Tensor) -> Tensor:
    """Ring-ordered tiles [K/16, N/16, 256] as a matrix [K, N]."""
    row, column = ring_order(tiles.device)
    inverse = torch.empty(_RING, dtype=torch.int64, device=tiles.device)
    inverse[row * TILE + column] = torch.arange(_RING, device=tiles.device)
    down, across, _ = tiles.shape
    square = tiles[..., inverse].unflatten(-1, (TILE, TILE))
    return square.permute(0, 2, 1, 3).reshape(down * TILE, across * TILE)


def to_tiles(matrix: Tensor) -> Tensor:
    """A matrix [K, N] as ring-ordered tiles [K/16, N/16, 256]; the inverse of `to_matrix`."""
    row, column = ring_order(matrix.device)
    down, across = matrix.shape[0] // TILE, matrix.shape[1] // TILE
    square = matrix.reshape(down, TILE, across, TILE).permute(0, 2, 1, 3)
    return square.flatten(-2)[..., row * TILE + column]


def decode(trellis: Tensor, fmt: TrellisFormat) -> Tensor:
    """The weight in the rotated basis, fp16 [K, N], from a trellis int16 [K/16, N/16, 16 * bits].

    Raises:
        TensorMismatchError: `trellis` is not such a tensor.

    """
    check_trellis(trellis, fmt)
    if trellis.ndim != 3:
        raise TensorMismatchError(
            name="trellis", given=f"{trellis.ndim}-dimensional", wanted=f"[K/16, N/16, {fmt.units}] for {fmt}"
        )
    table = codebook_values(fmt.codebook, trellis.device)
    return to_matrix(table[states(trellis, fmt).long()])


def hadamard(x: Tensor, dim: int = -1) -> Tensor:
    """The orthonormal Walsh-Hadamard transform of each block of 128 along an axis, in the dtype of `x`.

    Natural (Sylvester) order, butterflies of strides 1, 2, ..., 64, then one multiplication by 1/sqrt(128): for float32
    input these are the very roundings of the format's own kernels. It is its own inverse.

    Raises:
        TensorMismatchError: the axis is not a multiple of 128, or `x` is neither float32 nor float64.

    """
    if x.dtype not in (torch.float32, torch.float64) or x.shape[dim] % HADAMARD_BLOCK:
        given = f"{str(x.dtype).removeprefix('torch.')}{list(x.shape)}"
        raise TensorMismatchError(name="x", given=given, wanted=f"float32 or float64 with axis {dim} a multiple of 128")
    moved = x.movedim(dim, -1)
    blocks = moved.reshape(*moved.shape[:-1], -1, HADAMARD_BLOCK)
    for exponent in range(7):
        pairs = blocks.unflatten(-1, (-1, 2, 1 << exponent))
        upper, lower = pairs.unbind(-2)
        blocks = torch.stack((upper + lower, upper - lower), -2).flatten(-3)
    scale = torch.tensor(_HADAMARD_SCALE, dtype=torch.float32) if x.dtype == torch.float32 else HADAMARD_BLOCK**-0.5
    return (blocks * scale).reshape(moved.shape).movedim(-1, dim)


def signs(packed: Tensor) -> Tensor:
    """The fp16 sign vector [16 * n] of legacy sign words int16 [n]: bit b of word q is channel 16 q + b, 1 means -1.

    Raises:
        TensorMismatchError: `packed` is not int16 [n].

    """
    if packed.dtype != torch.int16 or packed.ndim != 1:
        given = f"{str(packed.dtype).removeprefix('torch.')}{list(packed.shape)}"
        raise TensorMismatchError(name="packed", given=given, wanted="int16[channels / 16]")
    bits = packed.to(torch.int64)[:, None] >> torch.arange(16, device=packed.device) & 1
    return (1 - 2 * bits).flatten().half()


def unrotate(rotated: Tensor, suh: Tensor, svh: Tensor) -> Tensor:
    """The weight in the basis of the model, float64 [K, N]: `diag(suh) H rotated H diag(svh)`.

    `suh` [K] and `svh` [N] are the checkpoint's scales, signs included.
    """
    turned = hadamard(hadamard(rotated.double(), 0), 1)
    return suh.double()[:, None] * turned * svh.double()
