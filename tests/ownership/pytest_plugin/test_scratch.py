"""`PoisonedScratch`: what buffers hold, where they lie, what is noticed beside them, what may depend on them."""

from __future__ import annotations

import copy
import ctypes
import math
import pickle
import struct
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ownership.pytest_plugin import (
    PoisonDependenceError,
    PoisonedScratch,
    ScratchOverrunError,
    ScratchRequestError,
)
from ownership.pytest_plugin._results import difference, leaves
from ownership.pytest_plugin._scratch import parsed_pattern

LIBRARIES = ["bytes", "numpy", "torch"]
#: How each library calls the same types.
TYPES = {
    "bytes": {"float32": "f", "float64": "d", "int32": "i"},
    "numpy": {"float32": "float32", "float64": "float64", "int32": "int32"},
}


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name != "bytes":
        pytest.importorskip(name, reason=f"needs {name}: make test, without KERNELS=0")
    return name


def dtype(library: str, name: str) -> Any:
    if library == "torch":
        import torch

        return getattr(torch, name)
    return TYPES[library][name]


def address(buffer: Any) -> int:
    if isinstance(buffer, memoryview):
        return ctypes.addressof(ctypes.c_char.from_buffer(buffer.cast("B") if buffer.format != "B" else buffer))
    pointer = buffer.data_ptr() if hasattr(buffer, "data_ptr") else buffer.ctypes.data
    return int(pointer)


def poke(buffer: Any, offset: int, data: bytes) -> None:
    """What a kernel does that writes out of bounds: only an address and an offset."""
    ctypes.memmove(address(buffer) + offset, data, len(data))


def raw(buffer: Any, nbytes: int) -> bytes:
    return ctypes.string_at(address(buffer), nbytes)


def overrun(scratch: PoisonedScratch) -> ScratchOverrunError:
    with pytest.raises(ScratchOverrunError) as caught:
        scratch.check()
    return caught.value


class TestBuffers:
    def test_it_holds_the_pattern_and_nothing_else(self, library: str) -> None:
        buffer = PoisonedScratch()(1000, library=library)
        assert len(buffer) == 1000
        assert raw(buffer, 1000) == b"\xff" * 1000

    def test_all_ones_is_no_number(self, library: str) -> None:
        buffer = PoisonedScratch()(64, library=library, dtype=dtype(library, "float32"))
        assert len(buffer) == 16
        assert all(math.isnan(value) for value in buffer.tolist())
        assert PoisonedScratch()(64, library=library, dtype=dtype(library, "int32")).tolist() == [-1] * 16

    @pytest.mark.parametrize("name", ["float32", "float64"])
    def test_nan_is_a_nan_of_the_type(self, library: str, name: str) -> None:
        size = {"float32": 4, "float64": 8}[name]
        buffer = PoisonedScratch("nan")(64, library=library, dtype=dtype(library, name))
        assert all(math.isnan(value) for value in buffer.tolist())
        assert raw(buffer, size) == struct.pack({4: "=f", 8: "=d"}[size], float("nan"))

    def test_a_call_may_have_a_pattern_of_its_own(self, library: str) -> None:
        scratch = PoisonedScratch(0x00)
        assert raw(scratch(8, library=library), 8) == bytes(8)
        assert raw(scratch(8, library=library, pattern=b"\x01\x02\x03"), 8) == b"\x01\x02\x03\x01\x02\x03\x01\x02"

    @pytest.mark.parametrize("alignment", [1, 16, 256, 4096])
    def test_it_is_aligned_as_was_asked_and_no_more(self, library: str, alignment: int) -> None:
        for nbytes in (0, 100):
            buffer = PoisonedScratch()(nbytes + 1, library=library, alignment=alignment)
            assert address(buffer) % (2 * alignment) == alignment

    def test_the_library_follows_from_what_is_asked_for(self) -> None:
        numpy = pytest.importorskip("numpy", reason="needs numpy: make test, without KERNELS=0")
        torch = pytest.importorskip("torch", reason="needs torch: make test, without KERNELS=0")
        scratch = PoisonedScratch()
        assert isinstance(scratch(8, dtype="f"), memoryview)
        assert isinstance(scratch(8, dtype=numpy.float32), numpy.ndarray)
        assert isinstance(scratch(8, dtype=numpy.dtype("float32")), numpy.ndarray)
        assert isinstance(scratch(8, dtype=torch.bfloat16), torch.Tensor)
        assert isinstance(scratch(8, device="cpu"), torch.Tensor)
        assert isinstance(scratch(8), torch.Tensor)

    def test_small_types_of_torch_have_a_nan_too_if_they_have_one(self) -> None:
        torch = pytest.importorskip("torch", reason="needs torch: make test, without KERNELS=0")
        for name in ("float16", "bfloat16", "float8_e5m2", "float8_e4m3fn", "complex64"):
            buffer = PoisonedScratch("nan")(64, dtype=getattr(torch, name))
            assert bool(buffer.to(torch.complex64).isnan().all()), name
        for name in ("int8", "uint8", "bool", "float4_e2m1fn_x2"):
            with pytest.raises(ScratchRequestError, match="has no NaN"):
                PoisonedScratch("nan")(64, dtype=getattr(torch, name))

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ({"nbytes": -1}, "nbytes=-1; wanted: a number of bytes, 0 or more"),
            ({"nbytes": 1.5}, "nbytes=1.5; wanted: a number of bytes"),
            ({"nbytes": True}, "nbytes=True"),
            ({"nbytes": 6, "dtype": "f"}, "nbytes=6; wanted: a multiple of 4 bytes, the size of f"),
            ({"nbytes": 8, "alignment": 24}, "alignment=24; wanted: a power of two"),
            ({"nbytes": 8, "dtype": "d", "alignment": 4}, "alignment=4; wanted: a multiple of 8 bytes"),
            ({"nbytes": 8, "guard": -1}, "guard=-1"),
            ({"nbytes": 8, "dtype": "float32", "library": "bytes"}, "dtype='float32'; wanted: a format character"),
            ({"nbytes": 8, "dtype": "!", "library": "bytes"}, "dtype='!'; wanted: a format character"),
            ({"nbytes": 8, "device": "cuda", "library": "bytes"}, "device='cuda'; wanted: no device"),
            ({"nbytes": 8, "library": "jax"}, "library='jax'; wanted: one of torch, numpy, bytes"),
            ({"nbytes": 8, "library": "bytes", "pattern": "nan"}, "pattern='nan'; wanted: a byte value or bytes"),
            ({"nbytes": 8, "library": "bytes", "pattern": 256}, "pattern=256; wanted: a byte value from 0 to 255"),
            ({"nbytes": 8, "library": "bytes", "pattern": b""}, "pattern="),
            ({"nbytes": 8, "library": "bytes", "pattern": "inf"}, "pattern='inf'"),
        ],
    )
    def test_bad_requests_are_refused_in_words(self, arguments: dict[str, Any], words: str) -> None:
        with pytest.raises(ScratchRequestError) as caught:
            PoisonedScratch()(**arguments)
        assert words in str(caught.value)

    @pytest.mark.parametrize(("text", "pattern"), [("0xff", 255), (" 0 ", 0), ("165", 165), ("NaN", "nan")])
    def test_a_pattern_of_the_ini_file(self, text: str, pattern: object) -> None:
        assert parsed_pattern(text) == pattern

    @pytest.mark.parametrize("text", ["", "ff", "0x100", "-1", "inf"])
    def test_a_bad_pattern_of_the_ini_file(self, text: str) -> None:
        with pytest.raises(ScratchRequestError, match="wanted: a byte"):
            parsed_pattern(text)


class TestGuardZones:
    def test_writes_inside_are_nobodys_business(self, library: str) -> None:
        scratch = PoisonedScratch()
        poke(scratch(64, library=library), 0, bytes(64))
        scratch.check()

    @pytest.mark.parametrize(
        ("offset", "words"),
        [
            (64, "4 bytes written from 0 bytes after its end (offset 64): 00 00 80 3f, as elements: 1.0"),
            (72, "4 bytes written from 8 bytes after its end (offset 72): 00 00 80 3f, as elements: 1.0"),
            (-4, "4 bytes written from 4 bytes before its start (offset -4): 00 00 80 3f, as elements: 1.0"),
            (-16, "4 bytes written from 16 bytes before its start to 12 before (offset -16): 00 00 80 3f"),
        ],
    )
    def test_a_write_outside_is_named_with_offset_and_values(self, library: str, offset: int, words: str) -> None:
        scratch = PoisonedScratch()
        poke(scratch(64, library=library, dtype=dtype(library, "float32")), offset, struct.pack("=f", 1.0))
        error = overrun(scratch)
        assert words in str(error)
        assert f"the buffer of 64 bytes made at {__file__}:" in str(error)
        assert pickle.loads(pickle.dumps(error)).overruns == error.overruns

    def test_each_damage_is_reported_once(self, library: str) -> None:
        scratch = PoisonedScratch()
        one, two = scratch(64, library=library), scratch(32, library=library)
        poke(one, -1, b"\x00")
        poke(one, 64, b"\x00")
        poke(two, 40, b"\x00")
        assert [(found.nbytes, found.offset) for found in overrun(scratch).overruns] == [(64, -1), (64, 64), (32, 40)]
        scratch.check()

    @given(st.data())
    def test_any_constant_and_any_element_written_anywhere_in_the_zones_is_noticed(self, data: st.DataObject) -> None:
        nbytes = data.draw(st.integers(0, 70))
        element = data.draw(st.binary(min_size=1, max_size=8))
        count = data.draw(st.integers(2, 4))
        written = element * count
        guard = 64
        starts = [*range(-guard, 1 - len(written)), *range(nbytes, nbytes + guard - len(written))]
        offset = data.draw(st.sampled_from(starts))
        scratch = PoisonedScratch()
        buffer = scratch(nbytes, library="bytes", guard=guard)
        memory: bytearray = buffer.obj
        begin = scratch._memories[0].start + offset
        memory[begin : begin + len(written)] = written
        assert overrun(scratch).overruns[0].offset >= offset

    def test_a_buffer_without_bytes_still_has_its_zones(self, library: str) -> None:
        scratch = PoisonedScratch()
        scratch(0, library=library)
        scratch.check()


@dataclass
class Outcome:
    values: Any
    names: tuple[str, ...]


RESULTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


class TestSameFor:
    @given(RESULTS)
    def test_no_result_differs_from_its_copy(self, result: object) -> None:
        PoisonedScratch().same_for(lambda scratch: copy.deepcopy(result))

    @given(RESULTS, RESULTS)
    def test_two_results_are_the_same_only_if_they_are_equal(self, one: object, other: object) -> None:
        first, second = list(leaves(one)), list(leaves(other))
        if difference(first, second) is None:
            assert repr(one) == repr(other)

    def test_what_writes_before_it_reads_is_the_same(self, library: str) -> None:
        def clean(scratch: PoisonedScratch) -> Any:
            buffer = scratch(16, library=library, dtype=dtype(library, "float32"))
            for index in range(4):
                buffer[index] = float(index)
            return buffer

        assert PoisonedScratch().same_for(clean).tolist() == [0.0, 1.0, 2.0, 3.0]

    def test_what_reads_before_it_writes_is_found_with_place_and_values(self, library: str) -> None:
        def careless(scratch: PoisonedScratch) -> Outcome:
            buffer = scratch(16, library=library, dtype=dtype(library, "int32"))
            for index in range(3):
                buffer[index] = index
            return Outcome(values=buffer, names=("a",))

        with pytest.raises(PoisonDependenceError) as caught:
            PoisonedScratch().same_for(careless)
        error = caught.value
        assert error.path == "result.values"
        assert error.patterns == (0xFF, 0x00)
        if library == "bytes":
            assert "4 of 16 elements differ, the first at index 12: 0xff and 0x00" in str(error)
        else:
            assert "1 of 4 elements differ, the first at index 3: -1 and 0" in str(error)

    @pytest.mark.parametrize(
        ("make", "path"),
        [
            (lambda value: value, "result"),
            (lambda value: [1, {"sum": value}], "result[1]['sum']"),
            (lambda value: (value, 2.0), "result[0]"),
            (lambda value: value / 3, "result"),
            (str, "result"),
            (lambda value: [0] * value, "result"),
            (lambda value: {value: 1}, "result"),
            (lambda value: 1 if value else 1.0, "result"),
        ],
    )
    def test_results_of_many_shapes_are_compared(self, make: Any, path: str) -> None:
        with pytest.raises(PoisonDependenceError) as caught:
            PoisonedScratch().same_for(lambda scratch: make(scratch(1, library="bytes")[0]), patterns=[3, 3, 0])
        assert caught.value.path == path
        assert caught.value.patterns == (3, 0)

    def test_nans_with_the_same_bits_are_equal(self) -> None:
        assert math.isnan(PoisonedScratch().same_for(lambda scratch: float("nan")))

    def test_it_verifies_the_guard_zones_of_each_run(self) -> None:
        def wild(scratch: PoisonedScratch) -> None:
            poke(scratch(8, library="bytes"), 8, b"\x00")

        with pytest.raises(ScratchOverrunError):
            PoisonedScratch().same_for(wild)

    def test_one_pattern_shows_nothing(self) -> None:
        with pytest.raises(ScratchRequestError, match="two patterns or more"):
            PoisonedScratch().same_for(lambda scratch: 1, patterns=[0xFF])

    def test_what_cannot_be_compared_is_refused(self) -> None:
        with pytest.raises(ScratchRequestError, match=r"result\[0\]=.*wanted: a result of tensors"):
            PoisonedScratch().same_for(lambda scratch: [object()])

    def test_a_result_that_is_a_view_of_scratch_is_copied_first(self) -> None:
        numpy: ModuleType = pytest.importorskip("numpy", reason="needs numpy: make test, without KERNELS=0")
        kept = numpy.zeros(4)

        def same_memory(scratch: PoisonedScratch) -> Any:
            kept[:] = scratch(1, library="bytes")[0]
            return kept

        with pytest.raises(
            PoisonDependenceError, match=r"4 of 4 elements differ, the first at index 0: 255\.0 and 0\.0"
        ):
            PoisonedScratch().same_for(same_memory)
