"""The Triton decoders on a real device, bit for bit; run on the GPU machine: `python -m pytest tests/gpu -q`."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")
if not torch.cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)

from backend.kernels.decode import DECODERS, decode_matrix  # noqa: E402
from backend.weights.layout import prepare_matrix, restore_matrix, step_order  # noqa: E402
from backend.weights.trellis import STATES, Codebook, TrellisFormat, codebook_values, decode, pack  # noqa: E402
from tests.backend.golden import DECODE_VECTORS, EXLLAMAV3_MATRICES, golden  # noqa: E402
from tests.backend.kernels.dot_kernel import product  # noqa: E402

WAYS = [(decoder, assembly) for decoder in DECODERS for assembly in (False, True)]
FORMATS = [TrellisFormat.of_bits(Codebook(codebook), float(bits)) for codebook, bits in DECODE_VECTORS]


@pytest.fixture(autouse=True)
def fusion_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")  # without a choice, newer versions of Triton warn


def different(trellis: Any, wanted: Any, fmt: TrellisFormat, decoder: str, assembly: bool) -> int:
    """How many weights are not those, bit for bit."""
    table = codebook_values(fmt.codebook, "cuda")
    found = decode_matrix(prepare_matrix(trellis.cuda(), fmt), fmt, decoder, table=table, assembly=assembly).cpu()
    assert found.shape == wanted.shape
    return int((found.view(torch.int16) != wanted.view(torch.int16)).sum())


@pytest.mark.parametrize(("decoder", "assembly"), WAYS)
@pytest.mark.parametrize(("codebook", "bits"), DECODE_VECTORS)
def test_a_golden_vector_is_decoded_bit_for_bit(codebook: str, bits: str, decoder: str, assembly: bool) -> None:
    vectors = golden("decode")
    fmt = TrellisFormat.of_bits(Codebook(codebook), float(bits))
    key = f"{codebook}.{bits}"
    assert different(vectors[f"{key}.trellis"], vectors[f"{key}.decoded"], fmt, decoder, assembly) == 0


@pytest.mark.parametrize(("decoder", "assembly"), WAYS)
@pytest.mark.parametrize(("codebook", "name", "bits"), EXLLAMAV3_MATRICES)
def test_a_matrix_of_exllamav3_is_decoded_bit_for_bit(
    codebook: str, name: str, bits: int, decoder: str, assembly: bool
) -> None:
    tensors = golden(f"exllamav3_h200_{codebook}")
    fmt = TrellisFormat.of_bits(Codebook(codebook), bits)
    assert different(tensors[f"{name}.trellis"], tensors[f"{name}.w_rotated"], fmt, decoder, assembly) == 0


@pytest.mark.parametrize(("decoder", "assembly"), WAYS)
@pytest.mark.parametrize("codebook", Codebook, ids=str)
def test_every_state_is_decoded_bit_for_bit(codebook: Codebook, decoder: str, assembly: bool) -> None:
    # At 8 bits, a position's own byte and its predecessor's are its state: every other position has a free state.
    fmt = TrellisFormat(codebook, 16)
    free = torch.randperm(STATES).reshape(32, 16, 128)
    ring = torch.stack((free >> 8, free), -1).flatten(-2)
    trellis = pack(ring, fmt)
    assert different(trellis, decode(trellis, fmt), fmt, decoder, assembly) == 0


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_the_plain_decoder_gives_the_same_on_the_device(fmt: TrellisFormat) -> None:
    trellis = torch.randint(-(1 << 15), 1 << 15, (8, 16, fmt.units), dtype=torch.int16)
    assert torch.equal(decode(trellis.cuda(), fmt).cpu(), decode(trellis, fmt))
    prepared = prepare_matrix(trellis.cuda(), fmt)
    assert torch.equal(prepared.cpu(), prepare_matrix(trellis, fmt))
    assert torch.equal(restore_matrix(prepared, fmt).cpu(), trellis)


@pytest.mark.parametrize(("decoder", "assembly"), WAYS)
@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_weights_are_bit_exact_through_a_matrix_product(fmt: TrellisFormat, decoder: str, assembly: bool) -> None:
    rows, columns = 256, 384
    trellis = torch.randint(-(1 << 15), 1 << 15, (rows // 16, columns // 16, fmt.units), dtype=torch.int16)
    wanted = decode(trellis, fmt)
    words, table = prepare_matrix(trellis.cuda(), fmt), codebook_values(fmt.codebook, "cuda")
    # Each input row picks one row of the weights, so the sums are exact.
    for first in range(0, rows, 64):
        x = torch.zeros(64, rows, dtype=torch.float16, device="cuda")
        x[torch.arange(64), first + torch.arange(64)] = 1
        y = torch.full((64, columns), float("nan"), device="cuda")
        ordered = x[:, step_order(rows, "cuda")].contiguous()
        book, steps = fmt.codebook.value, rows // 64
        product[(columns // 128,)](
            words, table, ordered, y, columns, steps, fmt.half_bits, book, decoder, assembly, 64, num_warps=4
        )
        assert torch.equal(y.cpu(), wanted[first : first + 64].float())


def test_a_matrix_far_inside_a_pool_is_decoded() -> None:
    fmt = TrellisFormat(Codebook.MUL1, 6)
    trellis = torch.randint(-(1 << 15), 1 << 15, (16, 16, 48), dtype=torch.int16)
    count = 256 * 256 * 3 // 32
    start = (1 << 30) + 128  # in words: past 2^32 bytes
    pool = torch.empty(start + count, dtype=torch.int32, device="cuda")
    words = prepare_matrix(trellis.cuda(), fmt, pool[start:])
    assert torch.equal(decode_matrix(words, fmt, "computed").cpu(), decode(trellis, fmt))
