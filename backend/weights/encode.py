"""A plain encoder for EXL3 linears: rotation, trellis search, and a least-squares fit of the scales.

It uses no calibration data: every weight counts the same (an identity Hessian). That is enough to try the backend
without a download; a model to be served is better quantized with calibration, by exllamav3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import torch

from backend.weights.errors import NotFiniteError, TensorMismatchError
from backend.weights.linear import TrellisLinear
from backend.weights.progress import Progress, silent
from backend.weights.trellis import (
    HADAMARD_BLOCK,
    Codebook,
    TrellisFormat,
    codebook_values,
    hadamard,
    pack,
    to_matrix,
    to_tiles,
)
from backend.weights.viterbi import nearest_states

__all__ = ["Encoded", "encode_linear", "input_rms"]

Tensor: TypeAlias = torch.Tensor

# The standard deviation of Gaussian input for which each codebook's error is least, by half bits a weight.
_HASHED = {2: 1.40, 4: 1.22, 6: 1.14, 8: 1.10, 10: 1.02, 12: 0.97, 14: 0.95, 16: 0.93}
_SUMMED = {2: 1.09, 3: 1.02, 4: 0.98, 5: 0.94, 6: 0.92, 7: 0.92, 8: 0.88, 10: 0.87, 12: 0.82, 14: 0.79, 16: 0.76}
_FIT_ROUNDS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """An encoded linear, padded to multiples of 128, and what it cost.

    Attributes:
        linear: The weights as a checkpoint holds them.
        error: Squared error relative to the squared weights, in the basis of the model.

    """

    linear: TrellisLinear
    error: float


def input_rms(fmt: TrellisFormat) -> float:
    """The root mean square that rotated weights should have before the trellis search."""
    return (_SUMMED if fmt.codebook is Codebook.MUL1 else _HASHED)[fmt.half_bits]


def encode_linear(
    weight: Tensor,
    fmt: TrellisFormat,
    *,
    name: str = "weight",
    generator: torch.Generator | None = None,
    progress: Progress = silent,
) -> Encoded:
    """Encode W [K, N] (inputs first: the transpose of what `torch.nn.Linear` keeps), on the device that it lies on.

    Both axes are padded with zeros to multiples of 128. `generator`, on the CPU, draws the signs of the rotations.

    Raises:
        TensorMismatchError: `weight` is no floating-point matrix, or it is empty.
        NotFiniteError: it holds infinities or NaN, is zero everywhere, or its scales leave the range of fp16.

    """
    if weight.ndim != 2 or not weight.is_floating_point() or not weight.numel():
        given = f"{str(weight.dtype).removeprefix('torch.')}{list(weight.shape)}"
        raise TensorMismatchError(name=name, given=given, wanted="a floating-point matrix [K, N]")
    if not bool(weight.isfinite().all()):
        raise NotFiniteError(name=name, found="it holds infinities or NaN")
    if not bool(weight.any()):
        raise NotFiniteError(name=name, found="every weight is zero")
    rows, columns = (-(-extent // HADAMARD_BLOCK) * HADAMARD_BLOCK for extent in weight.shape)
    padded = torch.zeros(rows, columns, dtype=torch.float64, device=weight.device)
    padded[: weight.shape[0], : weight.shape[1]] = weight

    # Columns of one size, then (rotated over the columns) rows of one size, then (rotated over the rows) near-Gaussian.
    size = padded.square().mean(0).sqrt()
    svh = _random_signs(columns, generator, weight.device) * size / size[size > 0].mean()
    flat = hadamard(_divided(padded, svh), 1)
    suh = _random_signs(rows, generator, weight.device) * flat.square().mean(1).sqrt()
    flat = hadamard(_divided(flat.T, suh).T, 0)
    scale = input_rms(fmt) / float(flat.square().mean().sqrt())
    suh = suh / scale
    for field, scales in (("suh", suh), ("svh", svh)):
        _halves(name, field, scales)  # what cannot be stored is refused before the search
    tiles = to_tiles((flat * scale).float())
    states = nearest_states(tiles.flatten(0, 1), fmt, progress).view(tiles.shape)

    table = codebook_values(fmt.codebook, weight.device)
    turned = hadamard(hadamard(to_matrix(table[states.long()]).double(), 0), 1)
    suh, svh = _fitted(padded, turned, suh, svh)
    halves = _halves(name, "suh", suh), _halves(name, "svh", svh)
    error = padded - halves[0].double()[:, None] * turned * halves[1].double()
    return Encoded(
        linear=TrellisLinear(name, fmt, pack(states, fmt), *halves),
        error=float(error.square().sum() / padded.square().sum()),
    )


def _random_signs(count: int, generator: torch.Generator | None, device: torch.device) -> Tensor:
    return (torch.randint(2, (count,), generator=generator) * 2 - 1).double().to(device)


def _divided(matrix: Tensor, scales: Tensor) -> Tensor:
    """Each column by its scale; where that is zero, the column is, too."""
    return matrix / torch.where(scales == 0, torch.ones_like(scales), scales)


def _fitted(weight: Tensor, turned: Tensor, suh: Tensor, svh: Tensor) -> tuple[Tensor, Tensor]:
    """The scales that make `diag(suh) turned diag(svh)` nearest to the weight, in turn; padding stays zero."""
    for _ in range(_FIT_ROUNDS):
        basis = turned * svh
        suh = torch.where(suh == 0, suh, (weight * basis).sum(1) / basis.square().sum(1))
        basis = turned * suh[:, None]
        svh = torch.where(svh == 0, svh, (weight * basis).sum(0) / basis.square().sum(0))
    return suh, svh


def _halves(name: str, field: str, scales: Tensor) -> Tensor:
    halves = scales.half()
    # Normal fp16 numbers are within 2^-11 of what they stand for; beyond 2^-6 the scale has left their range.
    if bool(((halves.double() - scales).abs() > scales.abs() / 64).any()):
        least, most = float(scales[scales != 0].abs().min()), float(scales.abs().max())
        raise NotFiniteError(name=name, found=f"its {field} reaches from {least:.3g} to {most:.3g}, which is not fp16")
    return halves
