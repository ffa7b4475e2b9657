"""The weights of a layer as a checkpoint holds them: EXL3 linears, experts of them, and ranges cut out of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import torch

from backend.weights.errors import ExtentError
from backend.weights.trellis import HADAMARD_BLOCK, TILE, TrellisFormat, decode, unrotate

__all__ = ["PROJECTIONS", "Expert", "ExpertLayer", "TrellisLinear"]

Tensor: TypeAlias = torch.Tensor

#: The linears of an expert; a family without gates has no `gate`.
PROJECTIONS = ("gate", "up", "down")


def _check_range(axis: str, extent: tuple[int, int], length: int) -> None:
    begin, end = extent
    if not 0 <= begin < end <= length or begin % HADAMARD_BLOCK or end % HADAMARD_BLOCK:
        raise ExtentError(axis=axis, given=extent, length=length)


@dataclass(frozen=True, slots=True, eq=False)
class TrellisLinear:
    """One EXL3 linear `y = x W + bias` with W [K, N]; its tensors may be views into a memory-mapped file.

    Attributes:
        name: Its path in the checkpoint.
        fmt: Codebook and rate.
        trellis: int16 [K/16, N/16, 16 * bits].
        suh: Scales of the input with sign, fp16 [K].
        svh: Scales of the output with sign, fp16 [N].
        bias: fp16 [N], or None.

    """

    name: str
    fmt: TrellisFormat
    trellis: Tensor
    suh: Tensor
    svh: Tensor
    bias: Tensor | None = None

    @property
    def rows(self) -> int:
        """K, the inputs."""
        return int(self.trellis.shape[0]) * TILE

    @property
    def columns(self) -> int:
        """N, the outputs."""
        return int(self.trellis.shape[1]) * TILE

    def cut_rows(self, begin: int, end: int) -> TrellisLinear:
        """The linear of the inputs [begin, end): views, nothing is copied. The bias stays with the first input.

        Partial outputs of a partition of the inputs then sum to the whole output.

        Raises:
            ExtentError: the range is not within the inputs or not on boundaries of 128.

        """
        _check_range("input", (begin, end), self.rows)
        bias = self.bias if begin == 0 else None
        trellis = self.trellis[begin // TILE : end // TILE]
        return TrellisLinear(self.name, self.fmt, trellis, self.suh[begin:end], self.svh, bias)

    def cut_columns(self, begin: int, end: int) -> TrellisLinear:
        """The linear of the outputs [begin, end): views, nothing is copied.

        Raises:
            ExtentError: the range is not within the outputs or not on boundaries of 128.

        """
        _check_range("output", (begin, end), self.columns)
        bias = None if self.bias is None else self.bias[begin:end]
        trellis = self.trellis[:, begin // TILE : end // TILE]
        return TrellisLinear(self.name, self.fmt, trellis, self.suh, self.svh[begin:end], bias)

    def weight(self) -> Tensor:
        """W in the basis of the model, float64 [K, N]."""
        return unrotate(decode(self.trellis, self.fmt), self.suh, self.svh)


@dataclass(frozen=True, slots=True, eq=False)
class Expert:
    """The linears of one expert; `gate` is None in a family without gates."""

    gate: TrellisLinear | None
    up: TrellisLinear
    down: TrellisLinear

    def linears(self) -> Iterator[tuple[str, TrellisLinear]]:
        """Those that are there, with the names of their projections."""
        for projection in PROJECTIONS:
            linear = getattr(self, projection)
            if linear is not None:
                yield projection, linear


@dataclass(frozen=True, slots=True, eq=False)
class ExpertLayer:
    """The routed experts of a layer, all of the same shape; rates and codebooks may differ.

    Attributes:
        name: The path that the experts have in common.
        experts: In the order of their numbers.

    """

    name: str
    experts: tuple[Expert, ...]

    @property
    def hidden(self) -> int:
        """Width of the input and the output, as stored (a multiple of 128)."""
        return self.experts[0].up.rows

    @property
    def intermediate(self) -> int:
        """Width between up and down, as stored (a multiple of 128)."""
        return self.experts[0].up.columns

    def projection(self, name: str) -> tuple[TrellisLinear, ...]:
        """A projection of all experts; empty for the gate of a family without gates."""
        return tuple(linear for expert in self.experts if (linear := getattr(expert, name)) is not None)

    def cut(self, begin: int, end: int) -> ExpertLayer:
        """The layer with the range [begin, end) of the intermediate axis: views, nothing is copied.

        The outputs of the layers of a partition sum to that of the whole.

        Raises:
            ExtentError: the range is not within the axis or not on boundaries of 128.

        """
        _check_range("intermediate", (begin, end), self.intermediate)
        experts = tuple(
            Expert(
                gate=None if expert.gate is None else expert.gate.cut_columns(begin, end),
                up=expert.up.cut_columns(begin, end),
                down=expert.down.cut_rows(begin, end),
            )
            for expert in self.experts
        )
        return ExpertLayer(self.name, experts)
