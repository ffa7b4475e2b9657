"""Results, taken apart into what can be compared bit for bit."""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

from ownership.pytest_plugin._errors import ScratchRequestError

__all__ = ["Leaf", "difference", "leaves"]


class Leaf(NamedTuple):
    """A part of a result: where it is, what it is, its bits, and how to show an element."""

    path: str
    what: str
    bits: bytes
    itemsize: int
    element: Callable[[int], object]


def leaves(value: Any, path: str = "result") -> Iterator[Leaf]:
    """The parts of a result, copied: a later run may write over what the result is a view of."""
    if value is None or isinstance(value, (bool, int, str)):
        bits = repr(value).encode()
        yield Leaf(path, type(value).__name__, bits, max(len(bits), 1), lambda index: value)
    elif isinstance(value, (float, complex)):
        bits = struct.pack("=2d", complex(value).real, complex(value).imag)
        yield Leaf(path, type(value).__name__, bits, len(bits), lambda index: value)
    elif isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value)
        yield Leaf(path, f"{len(data)} bytes", data, 1, lambda index: f"{data[index]:#04x}")
    elif _is(value, "torch", "Tensor"):
        yield _tensor(value, path)
    elif _is(value, "numpy", "ndarray") or _is(value, "numpy", "generic"):
        flat = value.copy().reshape(-1)
        shape = ", ".join(map(str, value.shape))
        yield Leaf(path, f"{flat.dtype}[{shape}]", flat.tobytes(), flat.itemsize, lambda index: flat[index].item())
    elif isinstance(value, Mapping):
        yield Leaf(path, "mapping", repr([str(key) for key in value]).encode(), sys.maxsize, lambda index: list(value))
        for key, inner in value.items():
            yield from leaves(inner, f"{path}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        yield Leaf(path, type(value).__name__, str(len(value)).encode(), sys.maxsize, lambda index: len(value))
        for index, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{index}]")
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from leaves(getattr(value, field.name), f"{path}.{field.name}")
    else:
        raise ScratchRequestError(
            argument=path,
            given=value,
            wanted="a result of tensors, arrays, bytes, numbers, strings, and lists, tuples, mappings and dataclasses "
            "of them",
        )


def difference(first: list[Leaf], second: list[Leaf]) -> tuple[str, str] | None:
    """Where two results differ first, and how; `None` if they are equal, bit for bit."""
    for one, other in zip(first, second, strict=False):
        if (one.path, one.what) != (other.path, other.what):
            return one.path, f"{one.what} and {other.what} at {other.path}"
        if one.bits != other.bits:
            size = one.itemsize
            count = max(len(one.bits), len(other.bits))
            # Bits of equal length are compared in pieces of an element; others (numbers as text) as a whole.
            places = [
                start // size
                for start in range(0, count, size)
                if one.bits[start : start + size] != other.bits[start : start + size]
            ]
            shown = f"{_shown(one, places[0])} and {_shown(other, places[0])}"
            if count <= size:
                return one.path, shown
            return (
                one.path,
                f"{len(places)} of {count // size} elements differ, the first at index {places[0]}: {shown}",
            )
    if len(first) != len(second):
        return "result", f"{len(first)} and {len(second)} parts"
    return None


def _shown(leaf: Leaf, index: int) -> object:
    return leaf.element(index)


def _is(value: object, library: str, name: str) -> bool:
    cls = getattr(sys.modules.get(library), name, None)
    return isinstance(cls, type) and isinstance(value, cls)


def _tensor(value: Any, path: str) -> Leaf:
    flat = value.detach().cpu().clone().contiguous().reshape(-1)
    size = flat.element_size()
    # Not through NumPy, which need not be there and does not know all types.
    bits = ctypes.string_at(flat.data_ptr(), flat.numel() * size) if flat.numel() else b""
    shape = ", ".join(map(str, value.shape))
    return Leaf(
        path, f"{str(value.dtype).removeprefix('torch.')}[{shape}]", bits, size, lambda index: flat[index].item()
    )
