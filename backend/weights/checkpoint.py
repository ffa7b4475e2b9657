"""EXL3 checkpoints: finds the experts of a layer in safetensors files, checks them, and memory-maps their tensors.

Nothing is copied and hardly anything is read before a tensor is used: the tensors are views into the mapped files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

import torch

from backend.weights.errors import (
    AmbiguousLayerError,
    CheckpointDtypeError,
    CheckpointFileError,
    CheckpointShapeError,
    CodebookMarkerError,
    ConflictingTensorsError,
    MissingExpertError,
    MissingLayerError,
    MissingTensorError,
    TruncatedCheckpointError,
)
from backend.weights.linear import PROJECTIONS, Expert, ExpertLayer, TrellisLinear
from backend.weights.progress import Progress, silent
from backend.weights.trellis import HADAMARD_BLOCK, TILE, Codebook, TrellisFormat, signs

__all__ = ["Checkpoint"]

Tensor: TypeAlias = torch.Tensor

_INDEX: Final = "model.safetensors.index.json"
_FIELDS: Final = ("trellis", "suh", "su", "svh", "sv", "mcg", "mul1", "bias", "scale")
#: `w1`, `w3`, `w2` are what Mixtral, MiniMax and DeepSeek-V4 call them.
_PROJECTION: Final = {
    "gate_proj": "gate",
    "up_proj": "up",
    "down_proj": "down",
    "w1": "gate",
    "w3": "up",
    "w2": "down",
}
_NAME: Final = re.compile(
    r"(?P<stem>(?:.*\.)?layers\.(?P<layer>\d+)\.(?:[^.]+\.)*experts)\.(?P<expert>\d+)"
    rf"\.(?P<linear>{'|'.join(_PROJECTION)})\.(?P<field>{'|'.join(_FIELDS)})"
)
_EXPERT_COUNTS: Final = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")


class Checkpoint:
    """A folder of safetensors files (with or without an index), or one such file; a context manager.

    Args:
        path: The folder or the file.

    Raises:
        CheckpointFileError: there is no such thing, it is not a checkpoint, or a shard that the index names is missing.
        TruncatedCheckpointError: a file ends before the data that its header announces.

    """

    def __init__(self, path: str | Path) -> None:
        self.path: Final = Path(path)
        self._open: dict[Path, Any] = {}
        self._where = _where(self.path)
        # stem -> expert -> linear -> field -> name of the tensor
        self._names: dict[str, dict[int, dict[str, dict[str, str]]]] = {}
        self._layers: dict[int, list[str]] = {}
        for name in self._where:
            if match := _NAME.fullmatch(name):
                stem = match["stem"]
                if stem not in self._names:
                    self._names[stem] = {}
                    self._layers.setdefault(int(match["layer"]), []).append(stem)
                linears = self._names[stem].setdefault(int(match["expert"]), {})
                linears.setdefault(match["linear"], {})[match["field"]] = name

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the files; tensors that were read stay valid."""
        self._open.clear()

    def stems(self) -> tuple[str, ...]:
        """What the names of the experts of each layer begin with: `model.layers.3.mlp.experts` and the like."""
        return tuple(stem for layer in sorted(self._layers) for stem in sorted(self._layers[layer]))

    def layer(self, layer: int | str, *, experts: int | None = None, progress: Progress = silent) -> ExpertLayer:
        """The experts of a layer, named by its number or, where that is ambiguous, by its stem.

        `experts` is how many there must be; where it is not given, `config.json` says it if it is there, and the
        highest number otherwise.

        Raises:
            MissingLayerError: there are no EXL3 experts in that layer.
            AmbiguousLayerError: several stacks have a layer of that number.
            MissingExpertError: an expert, or one of its projections, is not there.
            MissingTensorError: a linear lacks one of its tensors.
            ConflictingTensorsError: a linear has two codebook markers, or scales and legacy signs for one side.
            CodebookMarkerError: a marker holds an unknown multiplier.
            CheckpointShapeError: a tensor's shape does not fit the format, or differs from those of other experts.
            CheckpointDtypeError: a tensor has another dtype than the format gives it.
            UnsupportedRateError: the codebook has no such rate.

        """
        stem = self._stem(layer)
        found = self._names[stem]
        total = experts if experts is not None else max(self._configured() or 0, max(found) + 1)
        missing = [expert for expert in range(total) if expert not in found]
        if missing:
            raise MissingExpertError(stem=stem, missing=missing, wanted=total, projection="up")
        known = {_PROJECTION[linear] for expert in range(total) for linear in found[expert]}
        for projection in PROJECTIONS:
            have = [any(_PROJECTION[linear] == projection for linear in found[expert]) for expert in range(total)]
            if not all(have) and (projection in known or projection != "gate"):
                missing = [expert for expert in range(total) if not have[expert]]
                raise MissingExpertError(stem=stem, missing=missing, wanted=total, projection=projection)
        made: list[Expert] = []
        for expert in range(total):
            linears = {
                _PROJECTION[linear]: self._linear(f"{stem}.{expert}.{linear}", fields)
                for linear, fields in found[expert].items()
            }
            made.append(Expert(gate=linears.get("gate"), up=linears["up"], down=linears["down"]))
            _check_shapes(made[0], made[-1])
            progress(expert + 1, total, f"expert {expert} of {stem}")
        return ExpertLayer(stem, tuple(made))

    def _stem(self, layer: int | str) -> str:
        if isinstance(layer, str):
            if layer in self._names:
                return layer
        elif stems := self._layers.get(layer):
            if len(stems) > 1:
                raise AmbiguousLayerError(path=self.path, layer=layer, stems=stems)
            return stems[0]
        raise MissingLayerError(path=self.path, layer=layer, stems=self.stems())

    def _configured(self) -> int | None:
        """How many routed experts `config.json` counts, if it is there and does."""
        path = (self.path if self.path.is_dir() else self.path.parent) / "config.json"
        if not path.is_file():
            return None
        config = _json(path)
        for part in (config, config.get("text_config", {})):
            for key in _EXPERT_COUNTS:
                if isinstance(part, Mapping) and isinstance(part.get(key), int):
                    return int(part[key])
        return None

    def names(self) -> tuple[str, ...]:
        """The names of all tensors, those that are no EXL3 weights included."""
        return tuple(self._where)

    def tensor(self, name: str) -> Tensor:
        """A tensor by its name, a view into the mapped file; `KeyError` if there is none.

        Raises:
            CheckpointFileError: its file cannot be read, or lacks the tensor.

        """
        path = self._where[name]
        if path not in self._open:
            from safetensors import SafetensorError, safe_open

            _header(path)
            try:
                self._open[path] = safe_open(path, framework="pt", device="cpu")
            except SafetensorError as error:
                raise CheckpointFileError(path=path, problem=f"not a safetensors file: {error}") from error
        file = self._open[path]
        if name not in file.keys():  # noqa: SIM118  (it is no mapping)
            raise CheckpointFileError(path=path, problem=f"it has no tensor {name}, although the index says so")
        return file.get_tensor(name)

    def _linear(self, name: str, fields: Mapping[str, str]) -> TrellisLinear:
        for field, pair in (("trellis", ("trellis",)), ("suh", ("suh", "su")), ("svh", ("svh", "sv"))):
            if not any(one in fields for one in pair):
                raise MissingTensorError(linear=name, missing=" or ".join(pair), found=sorted(fields))
            if len(pair) == 2 and all(one in fields for one in pair):
                raise ConflictingTensorsError(linear=name, both=(field, pair[1]))
        if "mcg" in fields and "mul1" in fields:
            raise ConflictingTensorsError(linear=name, both=("mcg", "mul1"))
        if "scale" in fields:
            raise ConflictingTensorsError(linear=name, both=("suh", "scale"))
        trellis = self._typed(fields["trellis"], torch.int16)
        fmt = self._format(name, fields, trellis)
        rows, columns = trellis.shape[0] * TILE, trellis.shape[1] * TILE
        bias = None
        if "bias" in fields:
            bias = self._vector(fields["bias"], columns, torch.float16, torch.float32).half()
        return TrellisLinear(
            name=name,
            fmt=fmt,
            trellis=trellis,
            suh=self._scales(fields, "suh", "su", rows),
            svh=self._scales(fields, "svh", "sv", columns),
            bias=bias,
        )

    def _format(self, name: str, fields: Mapping[str, str], trellis: Tensor) -> TrellisFormat:
        block = HADAMARD_BLOCK // TILE
        shape = trellis.shape
        if len(shape) != 3 or shape[0] % block or shape[1] % block or 0 in shape or shape[2] % 8:
            wanted = "an EXL3 trellis is [K/16, N/16, 16 * bits] with K and N multiples of 128"
            raise CheckpointShapeError(tensor=fields["trellis"], given=shape, wanted=wanted)
        codebook = Codebook.DEFAULT
        for marked in (Codebook.MCG, Codebook.MUL1):
            if marked.value in fields:
                codebook = marked
                marker = self._typed(fields[marked.value], torch.int32)
                if marker.numel() != 1:
                    wanted = "a marker is one number"
                    raise CheckpointShapeError(tensor=fields[marked.value], given=marker.shape, wanted=wanted)
                if int(marker) & 0xFFFFFFFF != marked.multiplier:
                    raise CodebookMarkerError(
                        linear=name, marker=marked.value, given=int(marker), wanted=marked.multiplier
                    )
        return TrellisFormat.of_bits(codebook, shape[2] / TILE)

    def _scales(self, fields: Mapping[str, str], scales: str, legacy: str, length: int) -> Tensor:
        if scales in fields:
            return self._vector(fields[scales], length, torch.float16)
        return signs(self._vector(fields[legacy], length // 16, torch.int16))

    def _vector(self, name: str, length: int, *dtypes: Any) -> Tensor:
        vector = self._typed(name, *dtypes)
        if tuple(vector.shape) != (length,):
            raise CheckpointShapeError(tensor=name, given=vector.shape, wanted=f"its trellis wants [{length}]")
        return vector

    def _typed(self, name: str, *dtypes: Any) -> Tensor:
        tensor = self.tensor(name)
        if tensor.dtype not in dtypes:
            wanted = " or ".join(str(dtype).removeprefix("torch.") for dtype in dtypes)
            raise CheckpointDtypeError(tensor=name, given=str(tensor.dtype).removeprefix("torch."), wanted=wanted)
        return tensor


def _check_shapes(first: Expert, expert: Expert) -> None:
    """Gate and up of a layer are [hidden, intermediate], down is [intermediate, hidden], in all of its experts."""
    hidden, intermediate = first.up.rows, first.up.columns
    for projection, linear in expert.linears():
        wanted = (intermediate, hidden) if projection == "down" else (hidden, intermediate)
        if (linear.rows, linear.columns) != wanted:
            raise CheckpointShapeError(
                tensor=f"{linear.name}.trellis",
                given=linear.trellis.shape,
                wanted=f"beside {first.up.name} it must be [{wanted[0] // TILE}, {wanted[1] // TILE}, ...]",
            )


def _where(path: Path) -> dict[str, Path]:
    """The file of each tensor."""
    if path.is_file():
        return dict.fromkeys(_header(path), path)
    if not path.is_dir():
        raise CheckpointFileError(path=path, problem="there is no such file or folder")
    index = path / _INDEX
    if index.is_file():
        weights = _json(index).get("weight_map")
        if not isinstance(weights, dict) or not all(isinstance(file, str) for file in weights.values()):
            raise CheckpointFileError(path=index, problem="it has no `weight_map` from tensors to files")
        for file in sorted(set(weights.values())):
            if not (path / file).is_file():
                raise CheckpointFileError(path=path / file, problem=f"this shard is missing, but {_INDEX} names it")
        return {name: path / file for name, file in weights.items()}
    files = sorted(path.glob("*.safetensors"))
    if not files:
        raise CheckpointFileError(path=path, problem="there are no safetensors files in this folder")
    return {name: file for file in files for name in _header(file)}


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except ValueError as error:
        raise CheckpointFileError(path=path, problem=f"not JSON: {error}") from error
    if not isinstance(content, dict):
        raise CheckpointFileError(path=path, problem="not a JSON object")
    return content


def _header(path: Path) -> Sequence[str]:
    """The names of a file's tensors, after a look at its size: eight bytes of length, a JSON header, the data."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8:
            raise TruncatedCheckpointError(path=path, size=size, wanted=8)
        # A header is some megabytes at most; other files begin with any eight bytes.
        if length > 100_000_000:
            raise CheckpointFileError(path=path, problem="not a safetensors file: it does not begin with a header")
        if size < 8 + length:
            raise TruncatedCheckpointError(path=path, size=size, wanted=8 + length)
        try:
            header = json.loads(file.read(length))
            entries = {name: entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"}
            end = 8 + length + max(entries.values(), default=0)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            raise CheckpointFileError(path=path, problem=f"not a safetensors file: {error!r}") from error
    if size < end:
        raise TruncatedCheckpointError(path=path, size=size, wanted=end)
    return tuple(entries)
