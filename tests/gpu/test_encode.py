"""The encoder and the pool of experts on a device; run on the GPU machine: `python -m pytest tests/gpu -q`."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)

from backend.weights.encode import encode_linear  # noqa: E402
from backend.weights.layout import prepare_matrix  # noqa: E402
from backend.weights.pool import prepare_projection  # noqa: E402
from backend.weights.trellis import Codebook, TrellisFormat  # noqa: E402


@pytest.mark.parametrize(
    ("codebook", "bits", "published"), [("mcg", 2, 0.0685), ("mul1", 2.5, 0.03455), ("mul1", 4, 0.00448)]
)
def test_a_matrix_is_encoded_on_the_device_as_well_as_elsewhere(codebook: str, bits: float, published: float) -> None:
    weight = torch.randn(256, 256, device="cuda") * 0.02
    encoded = encode_linear(weight, TrellisFormat.of_bits(Codebook(codebook), bits))
    assert encoded.linear.trellis.is_cuda
    error = (encoded.linear.weight() - weight).square().sum() / weight.double().square().sum()
    assert float(error) == pytest.approx(encoded.error, rel=1e-6)
    assert encoded.error < published * 1.03


def test_experts_of_two_formats_are_pooled_on_the_device() -> None:
    formats = [TrellisFormat(Codebook.MUL1, half_bits) for half_bits in (16, 7, 16)]
    linears = [encode_linear(torch.randn(128, 256), fmt).linear for fmt in formats]
    prepared = prepare_projection("up", linears, "cuda")
    assert prepared.segment_of.tolist() == [1, 0, 1]
    for expert, linear in enumerate(linears):
        assert torch.equal(prepared.matrix(expert).cpu(), prepare_matrix(linear.trellis, linear.fmt))
        assert torch.equal(prepared.suh[expert].cpu(), linear.suh)
