"""Memory between guard zones: of torch, of NumPy, or plain bytes. No library is imported that is not asked for."""

from __future__ import annotations

import ctypes
import importlib
import struct
import sys
from abc import ABC, abstractmethod
from typing import Any

from ownership.pytest_plugin._errors import Overrun, ScratchRequestError

__all__ = ["LIBRARIES", "BytesMemory", "Memory", "NumpyMemory", "TorchMemory", "memory_class"]


def _canary(length: int) -> bytes:
    # No two neighbours are equal, so no constant, and no run of one element, can pass for it.
    return bytes((37 * index + 0xA5) % 251 for index in range(length))


class Memory(ABC):
    """`guard` bytes, the buffer, `guard` bytes. `buffer` is what the test gets."""

    buffer: Any
    itemsize: int

    def __init__(self, nbytes: int, *, dtype: Any, device: Any, alignment: int, guard: int, place: str) -> None:
        self.nbytes = nbytes
        self.guard = guard
        self.place = place
        self.total = guard + 2 * alignment + nbytes + guard
        self.itemsize = self._itemsize(dtype)
        if nbytes % self.itemsize or alignment % self.itemsize:
            raise ScratchRequestError(
                argument="nbytes" if nbytes % self.itemsize else "alignment",
                given=nbytes if nbytes % self.itemsize else alignment,
                wanted=f"a multiple of {self.itemsize} bytes, the size of {dtype}",
            )
        address = self._allocate(device)
        # An odd multiple: a kernel that assumes more than it was promised must not be right by accident.
        self.start = guard + (alignment - address - guard) % (2 * alignment)
        self.buffer = self._view(dtype)
        self.restore()

    @abstractmethod
    def fill(self, pattern: bytes) -> None:
        """Fill the buffer with a pattern, repeated; the last repetition may be cut."""

    @abstractmethod
    def nan(self) -> bytes | None:
        """The bytes of a quiet NaN of the buffer's type, or `None` if it has none."""

    @abstractmethod
    def _itemsize(self, dtype: Any) -> int: ...

    @abstractmethod
    def _allocate(self, device: Any) -> int:
        """Get `total` bytes and return their address."""

    @abstractmethod
    def _view(self, dtype: Any) -> Any: ...

    @abstractmethod
    def _read(self, start: int, length: int) -> bytes: ...

    @abstractmethod
    def _write(self, start: int, data: bytes) -> None: ...

    @abstractmethod
    def _values(self, data: bytes) -> str:
        """Whole elements in words."""

    def restore(self) -> None:
        """Put the guard zones in order."""
        canary = _canary(self.guard)
        self._write(self.start - self.guard, canary)
        self._write(self.start + self.nbytes, canary)

    def overruns(self) -> list[Overrun]:
        """What was changed in the guard zones."""
        canary = _canary(self.guard)
        found = []
        for offset in (-self.guard, self.nbytes):
            zone = self._read(self.start + offset, self.guard)
            changed = [index for index in range(self.guard) if zone[index] != canary[index]]
            if changed:
                first, last = changed[0], changed[-1] + 1
                # Whole elements: some bytes of an element may happen to be those of the guard.
                begin = first - (offset + first) % self.itemsize
                end = min(begin + 4 * self.itemsize, last + -(offset + last) % self.itemsize, self.guard)
                values = self._values(zone[begin : end - (end - begin) % self.itemsize]) if begin >= 0 else ""
                found.append(Overrun(self.nbytes, self.place, offset + first, zone[first:last], values))
        return found


class BytesMemory(Memory):
    """A `bytearray`; the buffer is a `memoryview`, of the format `dtype` if one is given."""

    def _itemsize(self, dtype: Any) -> int:
        if dtype is None:
            return 1
        try:
            return struct.calcsize(f"={dtype}") if isinstance(dtype, str) and len(dtype) == 1 else self._refuse(dtype)
        except struct.error:
            return self._refuse(dtype)

    @staticmethod
    def _refuse(dtype: object) -> int:
        raise ScratchRequestError(
            argument="dtype", given=dtype, wanted="a format character of the module struct, such as 'f'"
        )

    def _allocate(self, device: Any) -> int:
        if device is not None:
            raise ScratchRequestError(argument="device", given=device, wanted="no device: plain bytes have none")
        self._memory = bytearray(self.total)
        return ctypes.addressof(ctypes.c_char.from_buffer(self._memory))

    def _view(self, dtype: Any) -> Any:
        self._format = dtype
        view = memoryview(self._memory)[self.start : self.start + self.nbytes]
        return view if dtype is None else view.cast(dtype)

    def fill(self, pattern: bytes) -> None:
        repeated = pattern * (self.nbytes // len(pattern) + 1)
        self._write(self.start, repeated[: self.nbytes])

    def nan(self) -> bytes | None:
        return struct.pack(f"={self._format}", float("nan")) if self._format in {"e", "f", "d"} else None

    def _read(self, start: int, length: int) -> bytes:
        return bytes(self._memory[start : start + length])

    def _write(self, start: int, data: bytes) -> None:
        self._memory[start : start + len(data)] = data

    def _values(self, data: bytes) -> str:
        return ", ".join(map(str, memoryview(data).cast(self._format))) if self._format else ""


class NumpyMemory(BytesMemory):
    """The same, seen by NumPy."""

    def _itemsize(self, dtype: Any) -> int:
        numpy = importlib.import_module("numpy")
        try:
            return int(numpy.dtype("uint8" if dtype is None else dtype).itemsize)
        except TypeError:
            raise ScratchRequestError(argument="dtype", given=dtype, wanted="a NumPy dtype") from None

    def _view(self, dtype: Any) -> Any:
        numpy = importlib.import_module("numpy")
        self._type = numpy.dtype("uint8" if dtype is None else dtype)
        return numpy.frombuffer(self._memory, numpy.uint8)[self.start : self.start + self.nbytes].view(self._type)

    def nan(self) -> bytes | None:
        if self._type.kind not in "fc":
            return None
        return bytes(importlib.import_module("numpy").full(1, float("nan"), self._type).tobytes())

    def _values(self, data: bytes) -> str:
        if self._type.itemsize == 1:
            return ""
        return ", ".join(map(str, importlib.import_module("numpy").frombuffer(data, self._type)))


class TorchMemory(Memory):
    """Memory of a device, as torch gives it."""

    def _itemsize(self, dtype: Any) -> int:
        torch = importlib.import_module("torch")
        if dtype is not None and not isinstance(dtype, torch.dtype):
            raise ScratchRequestError(argument="dtype", given=dtype, wanted="a torch.dtype")
        self._type = torch.uint8 if dtype is None else dtype
        return int(self._type.itemsize)

    def _allocate(self, device: Any) -> int:
        torch = importlib.import_module("torch")
        self._memory = torch.empty(self.total, dtype=torch.uint8, device="cpu" if device is None else device)
        return int(self._memory.data_ptr())

    def _view(self, dtype: Any) -> Any:
        return self._memory[self.start : self.start + self.nbytes].view(self._type)

    def fill(self, pattern: bytes) -> None:
        target = self._memory[self.start : self.start + self.nbytes]
        if len(pattern) == 1:
            target.fill_(pattern[0])
            return
        whole = self.nbytes // len(pattern)
        # On the device, so that large scratch is not sent there.
        target[: whole * len(pattern)].view(whole, len(pattern)).copy_(self._bytes(pattern))
        self._write(self.start + whole * len(pattern), pattern[: self.nbytes - whole * len(pattern)])

    def nan(self) -> bytes | None:
        torch = importlib.import_module("torch")
        if not (self._type.is_floating_point or self._type.is_complex):
            return None
        try:
            one = torch.full((1,), float("nan"), dtype=torch.float32).to(self._type)
            back = one.to(torch.complex64)
        except RuntimeError:
            # Types of four bits cannot even be converted.
            return None
        return bytes(one.view(torch.uint8).tolist()) if bool(back.isnan().all()) else None

    def _bytes(self, data: bytes) -> Any:
        torch = importlib.import_module("torch")
        return torch.frombuffer(bytearray(data), dtype=torch.uint8)

    def _read(self, start: int, length: int) -> bytes:
        # Work on other streams may still be about to write.
        synchronize = getattr(
            getattr(importlib.import_module("torch"), self._memory.device.type, None), "synchronize", None
        )
        if synchronize is not None:
            synchronize()
        return bytes(self._memory[start : start + length].tolist())

    def _write(self, start: int, data: bytes) -> None:
        if data:
            self._memory[start : start + len(data)].copy_(self._bytes(data))

    def _values(self, data: bytes) -> str:
        if self.itemsize == 1 or not data:
            return ""
        return ", ".join(str(value) for value in self._bytes(data).view(self._type).tolist())


LIBRARIES: dict[str, type[Memory]] = {"torch": TorchMemory, "numpy": NumpyMemory, "bytes": BytesMemory}


def memory_class(library: str | None, dtype: Any, device: Any) -> type[Memory]:
    """The kind of memory that a request is for: as it says, as its dtype or device imply, as is loaded already."""
    if library is not None:
        if library not in LIBRARIES:
            raise ScratchRequestError(argument="library", given=library, wanted=f"one of {', '.join(LIBRARIES)}")
        return LIBRARIES[library]
    if isinstance(dtype, str):
        return BytesMemory
    origin = str(getattr(dtype, "__module__", None) or type(dtype).__module__).partition(".")[0]
    if device is not None or type(dtype).__module__.partition(".")[0] == "torch":
        return TorchMemory
    if origin == "numpy":
        return NumpyMemory
    return next((LIBRARIES[name] for name in ("torch", "numpy") if name in sys.modules), BytesMemory)
