"""Reads the vectors of `tests/data/golden` with nothing but NumPy and torch, so that it works on any machine."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

FOLDER = Path(__file__).resolve().parent.parent / "data" / "golden"

#: The 27 pairs of `decode.safetensors`: codebook and bits as they are named there.
DECODE_VECTORS = tuple(
    [(codebook, str(bits)) for codebook in ("3inst", "mcg", "mul1") for bits in range(1, 9)]
    + [("mul1", bits) for bits in ("1.5", "2.5", "3.5")]
)
_EXPERTS = [(f"experts.{expert}.{projection}_proj", 3) for expert in (0, 1) for projection in ("gate", "up", "down")]
#: The 24 matrices that exllamav3 decoded: codebook, name and bits.
EXLLAMAV3_MATRICES = tuple(
    (codebook, name, bits) for codebook in ("3inst", "mcg", "mul1") for name, bits in [*_EXPERTS, ("k2", 2), ("k4", 4)]
)
_DTYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I16": "<i2", "I32": "<i4", "I64": "<i8"}


@cache
def golden(name: str) -> dict[str, Any]:
    """The tensors of `{name}.safetensors`; do not write to them."""
    data = (FOLDER / f"{name}.safetensors").read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for key, entry in json.loads(data[8:start]).items():
        if key != "__metadata__":
            begin, end = entry["data_offsets"]
            array = np.frombuffer(data[start + begin : start + end], _DTYPES[entry["dtype"]])
            tensors[key] = torch.from_numpy(array.reshape(entry["shape"]).copy())
    return tensors
