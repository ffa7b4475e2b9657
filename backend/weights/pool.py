"""One projection of all experts, prepared for the kernels: a pool of words with 64-bit offsets, and the scales.

Experts may differ in rate and codebook. They lie in the pool format by format, so that a kernel that was compiled for
one format serves the experts of its segment; where all are alike there is one segment, and expert e begins at
e * (words of a matrix).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch

from backend.weights.errors import TensorMismatchError
from backend.weights.layout import PANEL, STEP, matrix_words, plane_count, prepare_matrix
from backend.weights.linear import PROJECTIONS, ExpertLayer, TrellisLinear
from backend.weights.progress import Progress, silent
from backend.weights.trellis import TrellisFormat

__all__ = ["PreparedLayer", "PreparedProjection", "Segment", "prepare_layer", "prepare_projection"]

Tensor: TypeAlias = torch.Tensor


@dataclass(frozen=True, slots=True)
class Segment:
    """The experts of one format, in ascending order."""

    fmt: TrellisFormat
    experts: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PreparedProjection:
    """A projection of E experts with weights [K, N] each.

    Attributes:
        name: `gate`, `up` or `down`.
        rows: K, the inputs.
        columns: N, the outputs.
        segments: The formats, each with its experts.
        words: All prepared matrices, int32, flat.
        offsets: Where each expert's begins in `words`, int64 [E], in words.
        segment_of: The segment of each expert, int32 [E].
        suh: Scales of the input with sign, fp16 [E, K].
        svh: Scales of the output with sign, fp16 [E, N].
        bias: fp16 [E, N]; None where no expert has one.

    """

    name: str
    rows: int
    columns: int
    segments: tuple[Segment, ...]
    words: Tensor
    offsets: Tensor
    segment_of: Tensor
    suh: Tensor
    svh: Tensor
    bias: Tensor | None

    @property
    def experts(self) -> int:
        """E."""
        return int(self.offsets.shape[0])

    @property
    def bytes(self) -> int:
        """Bytes of all of its tensors."""
        tensors = [self.words, self.offsets, self.segment_of, self.suh, self.svh, self.bias]
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors if tensor is not None)

    def format_of(self, expert: int) -> TrellisFormat:
        """The format of one expert."""
        return next(segment.fmt for segment in self.segments if expert in segment.experts)

    def matrix(self, expert: int) -> Tensor:
        """The prepared words of one expert, a view int32 [N/128, K/64, 8, planes, 32]."""
        fmt = self.format_of(expert)
        start = int(self.offsets[expert])
        flat = self.words[start : start + matrix_words(self.rows, self.columns, fmt)]
        return flat.view(self.columns // PANEL, self.rows // STEP, PANEL // 16, plane_count(fmt), -1)


@dataclass(frozen=True, slots=True, eq=False)
class PreparedLayer:
    """The prepared projections of a layer's experts; `gate` is None in a family without gates."""

    gate: PreparedProjection | None
    up: PreparedProjection
    down: PreparedProjection

    @property
    def bytes(self) -> int:
        """Bytes of all of its tensors."""
        return sum(one.bytes for one in (self.gate, self.up, self.down) if one is not None)


def prepare_projection(
    name: str,
    linears: Sequence[TrellisLinear],
    device: torch.device | str = "cpu",
    progress: Progress = silent,
) -> PreparedProjection:
    """Copy a projection of all experts to a device, in the prepared layout, one expert at a time.

    Raises:
        TensorMismatchError: there is no expert, or they differ in shape.

    """
    if not linears:
        raise TensorMismatchError(name=name, given="a projection of no expert", wanted="one of at least one")
    rows, columns = linears[0].rows, linears[0].columns
    for linear in linears:
        if (linear.rows, linear.columns) != (rows, columns):
            given = f"[{linear.rows}, {linear.columns}]"
            raise TensorMismatchError(
                name=linear.name, given=given, wanted=f"[{rows}, {columns}] like {linears[0].name}"
            )
    formats = sorted({linear.fmt for linear in linears}, key=lambda fmt: (fmt.codebook.value, fmt.half_bits))
    segments = tuple(
        Segment(fmt, tuple(expert for expert, linear in enumerate(linears) if linear.fmt == fmt)) for fmt in formats
    )
    offsets, segment_of, end = [0] * len(linears), [0] * len(linears), 0
    for number, segment in enumerate(segments):
        for expert in segment.experts:
            offsets[expert], segment_of[expert] = end, number
            end += matrix_words(rows, columns, segment.fmt)
    biased = any(linear.bias is not None for linear in linears)
    prepared = PreparedProjection(
        name=name,
        rows=rows,
        columns=columns,
        segments=segments,
        words=torch.empty(end, dtype=torch.int32, device=device),
        offsets=torch.tensor(offsets, dtype=torch.int64, device=device),
        segment_of=torch.tensor(segment_of, dtype=torch.int32, device=device),
        suh=torch.stack([linear.suh for linear in linears]).to(device),
        svh=torch.stack([linear.svh for linear in linears]).to(device),
        bias=torch.zeros(len(linears), columns, dtype=torch.float16, device=device) if biased else None,
    )
    for expert, linear in enumerate(linears):
        start = offsets[expert]
        out = prepared.words[start : start + matrix_words(rows, columns, linear.fmt)]
        prepare_matrix(linear.trellis.to(device), linear.fmt, out)
        if prepared.bias is not None and linear.bias is not None:
            prepared.bias[expert] = linear.bias
        progress(expert + 1, len(linears), linear.name)
    return prepared


def prepare_layer(layer: ExpertLayer, device: torch.device | str = "cpu", progress: Progress = silent) -> PreparedLayer:
    """Copy the experts of a layer to a device, in the prepared layout.

    For a rank's range of the intermediate axis, give it `layer.cut(begin, end)`: only that part of the file is read.

    Raises:
        TensorMismatchError: there is no expert, or they differ in shape.

    """
    have = [(name, linears) for name in PROJECTIONS if (linears := layer.projection(name))]
    total = sum(len(linears) for _, linears in have)
    made: dict[str, PreparedProjection] = {}
    done = 0
    for name, linears in have:

        def shifted(step: int, _total: int, what: str, /, before: int = done) -> None:
            progress(before + step, total, what)

        made[name] = prepare_projection(name, linears, device, shifted)
        done += len(linears)
    return PreparedLayer(gate=made.get("gate"), up=made["up"], down=made["down"])
