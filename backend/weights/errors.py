"""What can go wrong with EXL3 weights: one class a mistake, each carrying what was given and what was wanted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = [
    "AmbiguousLayerError",
    "CheckpointDtypeError",
    "CheckpointFileError",
    "CheckpointShapeError",
    "CodebookMarkerError",
    "ConflictingTensorsError",
    "ExtentError",
    "MissingExpertError",
    "MissingLayerError",
    "MissingTensorError",
    "NotFiniteError",
    "TensorMismatchError",
    "TruncatedCheckpointError",
    "UnsupportedRateError",
    "WeightsError",
]


class WeightsError(Exception):
    """The base of every error about weights."""

    def __reduce__(self) -> tuple[Any, ...]:
        # The default calls the class with the message, which the keyword-only constructors below do not take.
        return _again, (type(self), self.args), self.__dict__


def _again(cls: type[WeightsError], args: tuple[Any, ...]) -> WeightsError:
    return cls.__new__(cls, *args)


class UnsupportedRateError(WeightsError):
    """EXL3 has no trellis of this rate with this codebook."""

    def __init__(self, *, codebook: str, bits: float, where: str = "") -> None:
        self.codebook, self.bits, self.where = codebook, bits, where
        super().__init__(
            f"{where + ': ' if where else ''}no EXL3 trellis has {bits:g} bits a weight with the codebook {codebook}; "
            "there are 1 to 8 bits for every codebook, and 1.5, 2.5 and 3.5 for mul1"
        )


class TensorMismatchError(WeightsError):
    """A tensor that was handed to a function is not of the dtype, shape or layout that it works on."""

    def __init__(self, *, name: str, given: str, wanted: str) -> None:
        self.name, self.given, self.wanted = name, given, wanted
        super().__init__(f"`{name}` is {given}, but must be {wanted}")


class NotFiniteError(WeightsError):
    """Weights to encode hold infinities or NaN, or leave the range of the format's fp16 scales."""

    def __init__(self, *, name: str, found: str) -> None:
        self.name, self.found = name, found
        super().__init__(f"`{name}` cannot be encoded: {found}; mend or rescale the weights first")


class ExtentError(WeightsError):
    """A range of an axis cannot be cut out of the format: it does not lie on the boundaries of Hadamard blocks."""

    def __init__(self, *, axis: str, given: tuple[int, int], length: int) -> None:
        self.axis, self.given, self.length = axis, given, length
        super().__init__(
            f"[{given[0]}, {given[1]}) is not a range of the {axis} axis of length {length} that can be cut out: "
            "both ends must be multiples of 128 within it, and the range must not be empty"
        )


class CheckpointFileError(WeightsError):
    """A file or a folder is not a checkpoint that can be read."""

    def __init__(self, *, path: Path, problem: str) -> None:
        self.path, self.problem = path, problem
        super().__init__(f"{path}: {problem}")


class TruncatedCheckpointError(CheckpointFileError):
    """A file ends before the data that its own header announces."""

    def __init__(self, *, path: Path, size: int, wanted: int) -> None:
        self.size, self.wanted = size, wanted
        super().__init__(
            path=path,
            problem=f"the file has {size} bytes, but its header announces {wanted}: fetch it again, it is not complete",
        )


class MissingLayerError(WeightsError):
    """A checkpoint has no expert weights in the layer that was asked for."""

    def __init__(self, *, path: Path, layer: int | str, stems: Sequence[str]) -> None:
        self.path, self.layer, self.stems = path, layer, tuple(stems)
        found = f"it has {', '.join(stems)}" if stems else "it has none at all"
        super().__init__(f"{path} has no experts of this kind in layer {layer}; {found}")


class AmbiguousLayerError(WeightsError):
    """Several stacks of layers of a checkpoint have experts in a layer of that number."""

    def __init__(self, *, path: Path, layer: int, stems: Sequence[str]) -> None:
        self.path, self.layer, self.stems = path, layer, tuple(stems)
        super().__init__(f"{path} has more than one layer {layer}: {', '.join(stems)}; name one of them instead")


class MissingExpertError(WeightsError):
    """Experts of a layer have no weights although their neighbours do, or the configuration counts more of them."""

    def __init__(self, *, stem: str, missing: Sequence[int], wanted: int, projection: str) -> None:
        self.stem, self.missing, self.wanted, self.projection = stem, tuple(missing), wanted, projection
        shown = ", ".join(map(str, missing[:8])) + (", ..." if len(missing) > 8 else "")
        super().__init__(
            f"{stem}: {len(missing)} of {wanted} experts have no {projection} projection: {shown}; "
            "is the checkpoint complete?"
        )


class MissingTensorError(WeightsError):
    """A linear is there, but one of the tensors it consists of is not."""

    def __init__(self, *, linear: str, missing: str, found: Sequence[str]) -> None:
        self.linear, self.missing, self.found = linear, missing, tuple(found)
        super().__init__(f"{linear} has {', '.join(found)}, but no {missing}; an EXL3 linear needs it")


class ConflictingTensorsError(WeightsError):
    """A linear has two tensors of which it may have one only."""

    def __init__(self, *, linear: str, both: tuple[str, str]) -> None:
        self.linear, self.both = linear, both
        super().__init__(f"{linear} has both {both[0]} and {both[1]}; an EXL3 linear has one of them")


class CodebookMarkerError(WeightsError):
    """A codebook marker holds a multiplier that no known codebook has."""

    def __init__(self, *, linear: str, marker: str, given: int, wanted: int) -> None:
        self.linear, self.marker, self.given, self.wanted = linear, marker, given, wanted
        super().__init__(
            f"{linear}.{marker} is 0x{given & 0xFFFFFFFF:08X}, but the multiplier of this codebook is 0x{wanted:08X}: "
            "the weights were made by another codebook and would decode to noise"
        )


class CheckpointShapeError(WeightsError):
    """A tensor of a checkpoint has a shape that does not fit the format or its neighbours."""

    def __init__(self, *, tensor: str, given: Sequence[int], wanted: str) -> None:
        self.tensor, self.given, self.wanted = tensor, tuple(given), wanted
        super().__init__(f"{tensor} has the shape {list(given)}, but {wanted}")


class CheckpointDtypeError(WeightsError):
    """A tensor of a checkpoint has another dtype than the format gives it."""

    def __init__(self, *, tensor: str, given: str, wanted: str) -> None:
        self.tensor, self.given, self.wanted = tensor, given, wanted
        super().__init__(f"{tensor} is {given}, but must be {wanted}")
