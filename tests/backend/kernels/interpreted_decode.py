"""Run as a program in Triton's interpreter: decodes every golden vector and prints what differs, as JSON."""

from __future__ import annotations

import json
from typing import Any

import torch

from backend.kernels.decode import DECODERS, decode_matrix
from backend.weights.layout import prepare_matrix, step_order
from backend.weights.trellis import Codebook, TrellisFormat, codebook_values, decode
from tests.backend.golden import DECODE_VECTORS, EXLLAMAV3_MATRICES, golden
from tests.backend.kernels.dot_kernel import product


def main() -> None:
    cases: dict[str, tuple[str, float, Any, Any]] = {}
    for codebook, bits in DECODE_VECTORS:
        tensors, key = golden("decode"), f"{codebook}.{bits}"
        cases[key] = codebook, float(bits), tensors[f"{key}.trellis"], tensors[f"{key}.decoded"]
    for codebook, name, integer in EXLLAMAV3_MATRICES:
        tensors = golden(f"exllamav3_h200_{codebook}")
        cases[f"{codebook}.{name}"] = codebook, float(integer), tensors[f"{name}.trellis"], tensors[f"{name}.w_rotated"]
    different = {}
    for key, (book, rate, trellis, wanted) in cases.items():
        fmt = TrellisFormat.of_bits(Codebook(book), rate)
        words, table = prepare_matrix(trellis, fmt), codebook_values(fmt.codebook)
        for decoder in DECODERS:
            found = decode_matrix(words, fmt, decoder, table=table)
            assert found.shape == wanted.shape
            unequal = found.view(torch.int16) != wanted.view(torch.int16)
            different[f"{key}.{decoder}"] = int(unequal.sum())
    print(json.dumps({"different": different, "products": products()}))


def products() -> dict[str, float]:
    """The largest error of a product with each rate of MUL1, relative to the largest element."""
    errors = {}
    for codebook, bits in [pair for pair in DECODE_VECTORS if pair[0] == "mul1"]:
        fmt = TrellisFormat.of_bits(Codebook(codebook), float(bits))
        trellis = torch.randint(-(1 << 15), 1 << 15, (8, 8, fmt.units), dtype=torch.int16)
        x = torch.randn(16, 128, dtype=torch.float16)
        wanted = x.double() @ decode(trellis, fmt).double()
        y = torch.full((16, 128), float("nan"))
        words = prepare_matrix(trellis, fmt)
        ordered = x[:, step_order(128)].contiguous()
        product[(1,)](words, words, ordered, y, 128, 2, fmt.half_bits, codebook, "computed", False, 16)
        errors[f"{codebook}.{bits}"] = float((y.double() - wanted).abs().max() / wanted.abs().max())
    return errors


if __name__ == "__main__":
    main()
