"""The prepared layout: a reordering, as documented, that can be undone."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from backend.weights import layout  # noqa: E402
from backend.weights.errors import TensorMismatchError  # noqa: E402
from backend.weights.trellis import Codebook, TrellisFormat, states  # noqa: E402
from tests.backend.golden import DECODE_VECTORS  # noqa: E402

FORMATS = [TrellisFormat.of_bits(Codebook(codebook), float(bits)) for codebook, bits in DECODE_VECTORS]


def random_trellis(fmt: TrellisFormat, down: int = 12, across: int = 16) -> Any:
    return torch.randint(-(1 << 15), 1 << 15, (down, across, fmt.units), dtype=torch.int16)


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_a_prepared_matrix_can_be_restored(fmt: TrellisFormat) -> None:
    trellis = random_trellis(fmt)
    prepared = layout.prepare_matrix(trellis, fmt)
    assert prepared.is_contiguous()
    assert torch.equal(layout.restore_matrix(prepared, fmt), trellis)


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_it_is_as_large_as_the_file_except_for_half_rates(fmt: TrellisFormat) -> None:
    trellis = random_trellis(fmt)
    grown = {3: 4 / 3, 5: 6 / 5, 7: 8 / 7}.get(fmt.half_bits, 1)
    prepared = layout.prepare_matrix(trellis, fmt)
    assert prepared.numel() * 4 == pytest.approx(trellis.numel() * 2 * grown)
    assert prepared.numel() == layout.matrix_words(192, 256, fmt)


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_a_lane_holds_the_slice_that_the_documentation_names(fmt: TrellisFormat) -> None:
    trellis = random_trellis(fmt)
    prepared = layout.prepare_matrix(trellis, fmt).long() & 0xFFFFFFFF
    state = states(trellis, fmt)
    # The last state of a slice is the lower half of its last word.
    for panel, step, tile, q, g in [(0, 0, 0, 0, 0), (1, 2, 7, 3, 1), (0, 1, 4, 7, 3)]:
        found = int(prepared[panel, step, tile, -1, 4 * q + g]) & 0xFFFF
        assert found == state[4 * step + g, 8 * panel + tile, 32 * q + 31]


def test_a_slice_of_a_trellis_is_prepared_like_a_copy_of_it() -> None:
    fmt = TrellisFormat(Codebook.MCG, 6)
    whole = random_trellis(fmt, 16, 32)
    cut = whole[4:12, 8:24]
    assert torch.equal(layout.prepare_matrix(cut, fmt), layout.prepare_matrix(cut.clone(), fmt))


@pytest.mark.parametrize("half_bits", [5, 6])
def test_a_prepared_matrix_is_written_where_it_is_asked_for(half_bits: int) -> None:
    fmt = TrellisFormat(Codebook.MUL1, half_bits)
    trellis = random_trellis(fmt)
    pool = torch.full((layout.matrix_words(192, 256, fmt) + 64,), -1, dtype=torch.int32)
    made = layout.prepare_matrix(trellis, fmt, pool[32:-32])
    assert made.data_ptr() == pool[32:].data_ptr()
    assert torch.equal(made, layout.prepare_matrix(trellis, fmt))
    assert (pool[:32] == -1).all()
    assert (pool[-32:] == -1).all()


def test_the_step_order_is_the_documented_one_and_its_own_inverse() -> None:
    order = layout.step_order(192)
    assert torch.equal(order[order], torch.arange(192))
    assert order[64 + 0b010011] == 64 + 0b010011 | 0  # g = 01, h = 0, s = 01, j = 1
    assert order[0b100010] == 0b010100
    assert order[0b001001] == 0b001001


def test_what_is_no_trellis_or_does_not_fit_is_an_error() -> None:
    fmt = TrellisFormat(Codebook.MCG, 6)
    with pytest.raises(TensorMismatchError, match="multiple of 64"):
        layout.prepare_matrix(random_trellis(fmt, down=6), fmt)
    with pytest.raises(TensorMismatchError, match="of 128"):
        layout.prepare_matrix(random_trellis(fmt, across=12), fmt)
    with pytest.raises(TensorMismatchError, match="48"):
        layout.prepare_matrix(random_trellis(TrellisFormat(Codebook.MCG, 8)), fmt)
    with pytest.raises(TensorMismatchError, match=r"out.* int32\[4608\]"):
        layout.prepare_matrix(random_trellis(fmt), fmt, torch.zeros(7, dtype=torch.int32))
