"""The format: every golden vector bit for bit, and the properties that the format promises."""

from __future__ import annotations

import hashlib
import pickle
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")

from backend.weights import trellis as t  # noqa: E402
from backend.weights.errors import TensorMismatchError, UnsupportedRateError  # noqa: E402
from tests.backend.golden import DECODE_VECTORS, EXLLAMAV3_MATRICES, golden  # noqa: E402

FORMATS = [t.TrellisFormat.of_bits(t.Codebook(codebook), float(bits)) for codebook, bits in DECODE_VECTORS]
DIGESTS = {
    "3inst": "ad88de2dcff5bb05fff2faec37cceceb43aa1c2e8203f9d81a6fbd6dd3393eea",
    "mcg": "95383563929baa9d1ae5de0be22490284382673620bdd85929feea7bdbef04a9",
    "mul1": "bc48d02cb1c14939dc47b90f870dd689d63e3b1ab69a157e65538db68677a6c8",
}


def same_bits(found: Any, wanted: Any) -> bool:
    return found.dtype == wanted.dtype and bool(torch.equal(found.view(torch.int16), wanted.view(torch.int16)))


def random_trellis(fmt: t.TrellisFormat, down: int, across: int) -> Any:
    return torch.randint(-(1 << 15), 1 << 15, (down, across, fmt.units), dtype=torch.int16)


@pytest.mark.parametrize("codebook", t.Codebook, ids=str)
def test_all_65536_codewords_are_those_of_the_format(codebook: t.Codebook) -> None:
    values = t.codebook_values(codebook)
    assert hashlib.sha256(values.numpy().astype("<f2").tobytes()).hexdigest() == DIGESTS[codebook.value]


@pytest.mark.parametrize(("codebook", "bits"), DECODE_VECTORS)
def test_a_golden_vector_is_decoded_bit_for_bit(codebook: str, bits: str) -> None:
    vectors = golden("decode")
    fmt = t.TrellisFormat.of_bits(t.Codebook(codebook), float(bits))
    found = t.decode(vectors[f"{codebook}.{bits}.trellis"], fmt)
    assert same_bits(found, vectors[f"{codebook}.{bits}.decoded"])


@pytest.mark.parametrize(("codebook", "name", "bits"), EXLLAMAV3_MATRICES)
def test_a_matrix_of_exllamav3_is_decoded_bit_for_bit(codebook: str, name: str, bits: int) -> None:
    tensors = golden(f"exllamav3_h200_{codebook}")
    fmt = t.TrellisFormat.of_bits(t.Codebook(codebook), bits)
    assert same_bits(t.decode(tensors[f"{name}.trellis"], fmt), tensors[f"{name}.w_rotated"])


@pytest.mark.parametrize("codebook", ["3inst", "mcg", "mul1"])
@pytest.mark.parametrize("projection", ["gate_proj", "down_proj"])
def test_the_original_basis_is_that_of_exllamav3(codebook: str, projection: str) -> None:
    tensors = golden(f"exllamav3_h200_{codebook}")
    prefix = f"experts.0.{projection}"
    found = t.unrotate(tensors[f"{prefix}.w_rotated"], tensors[f"{prefix}.suh"], tensors[f"{prefix}.svh"])
    wanted = tensors[f"{prefix}.w_folded"].double()  # through fp16 at each step
    assert (found - wanted).norm() / wanted.norm() < 2e-3


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_states_and_pack_are_inverse_to_each_other(fmt: t.TrellisFormat) -> None:
    trellis = random_trellis(fmt, 3, 2)
    assert torch.equal(t.pack(t.states(trellis, fmt), fmt), trellis)


@pytest.mark.parametrize("fmt", FORMATS, ids=str)
def test_a_state_is_its_predecessor_shifted_by_the_fresh_bits_around_the_ring(fmt: t.TrellisFormat) -> None:
    state = t.states(random_trellis(fmt, 2, 2), fmt).long()
    fresh = torch.tensor([fmt.fresh(position) for position in range(256)])
    assert torch.equal(state >> fresh, state.roll(1, -1) & ((1 << (16 - fresh)) - 1))


def test_the_ring_order_is_a_bijection_and_its_matrix_form_is_inverted() -> None:
    row, column = t.ring_order()
    assert sorted((row * 16 + column).tolist()) == list(range(256))
    matrix = torch.randn(48, 32)
    assert torch.equal(t.to_matrix(t.to_tiles(matrix)), matrix)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_hadamard_transform_is_the_matrix_of_its_definition(dtype: Any) -> None:
    matrix = torch.ones(1, 1, dtype=torch.float64)
    for _ in range(7):
        matrix = torch.kron(torch.tensor([[1.0, 1.0], [1.0, -1.0]], dtype=torch.float64), matrix)
    matrix *= 128**-0.5
    x = torch.randn(3, 256, dtype=dtype)
    wanted = (x.double().unflatten(-1, (2, 128)) @ matrix).flatten(-2)
    precision = 1e-6 if dtype == torch.float32 else 1e-13
    assert (t.hadamard(x).double() - wanted).abs().max() < precision * 10
    assert (t.hadamard(x.T, 0).double() - wanted.T).abs().max() < precision * 10
    assert (t.hadamard(t.hadamard(x)) - x).abs().max() < precision * 10


@pytest.mark.parametrize("codebook", ["3inst", "mcg", "mul1"])
@pytest.mark.parametrize("linear", ["gate_proj", "down_proj"])
def test_a_rotated_input_is_that_of_exllamav3_bit_for_bit(codebook: str, linear: str) -> None:
    tensors = golden(f"exllamav3_h200_{codebook}")
    scaled = tensors[f"linear.{linear}.x"] * tensors[f"experts.0.{linear}.suh"]  # fp16, as its dense kernels do
    assert same_bits(t.hadamard(scaled.float()).half(), tensors[f"linear.{linear}.x_had"])


def test_legacy_sign_words_hold_sixteen_channels_lowest_bit_first() -> None:
    packed = torch.tensor([0b101, -32768], dtype=torch.int16)
    wanted = torch.ones(32)
    wanted[[0, 2, 31]] = -1
    assert torch.equal(t.signs(packed), wanted.half())


@pytest.mark.parametrize(
    ("codebook", "bits"),
    [("3inst", 0), ("mcg", 9), ("mcg", 1.5), ("3inst", 2.5), ("mul1", 0.5), ("mul1", 4.5), ("mul1", 2.25)],
)
def test_a_rate_that_does_not_exist_is_an_error(codebook: str, bits: float) -> None:
    with pytest.raises(UnsupportedRateError, match=f"{bits:g} bits .* {codebook}") as caught:
        t.TrellisFormat.of_bits(t.Codebook(codebook), bits)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.bits) == (str(caught.value), bits)


def test_a_tensor_of_another_shape_or_dtype_is_an_error_that_says_so() -> None:
    fmt = t.TrellisFormat(t.Codebook.MCG, 6)
    with pytest.raises(TensorMismatchError, match=r"`trellis` is int16\[2, 2, 32\], but .* int16\[..., 48\]"):
        t.decode(torch.zeros(2, 2, 32, dtype=torch.int16), fmt)
    with pytest.raises(TensorMismatchError, match="int32"):
        t.states(torch.zeros(2, 2, 48, dtype=torch.int32), fmt)
    with pytest.raises(TensorMismatchError, match="2-dimensional"):
        t.decode(torch.zeros(2, 48, dtype=torch.int16), fmt)
    with pytest.raises(TensorMismatchError, match="float16"):
        t.hadamard(torch.zeros(128, dtype=torch.float16))
    with pytest.raises(TensorMismatchError, match="multiple of 128"):
        t.hadamard(torch.zeros(100))
    with pytest.raises(TensorMismatchError, match="packed"):
        t.signs(torch.zeros(3))
    with pytest.raises(TensorMismatchError, match="state"):
        t.pack(torch.zeros(255, dtype=torch.int32), fmt)
