"""The Triton decoders without a GPU: bit for bit in the interpreter, and compiled ahead of time for four targets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")
pytest.importorskip("numpy")

from backend.kernels.decode import DECODERS, decode_matrix, decode_matrix_kernel  # noqa: E402
from backend.weights.errors import TensorMismatchError  # noqa: E402
from backend.weights.layout import prepare_matrix  # noqa: E402
from backend.weights.trellis import Codebook, TrellisFormat  # noqa: E402
from tests.backend.aot import CAPABILITIES, HEAD, compile_for  # noqa: E402
from tests.backend.golden import DECODE_VECTORS, EXLLAMAV3_MATRICES  # noqa: E402
from tests.backend.kernels.dot_kernel import product  # noqa: E402

MATRICES = [f"{codebook}.{name}" for codebook, name, _ in EXLLAMAV3_MATRICES]
VECTORS = [f"{codebook}.{bits}" for codebook, bits in DECODE_VECTORS]


@pytest.fixture(scope="module")
def interpreted(root: Path) -> Any:
    """What the interpreter found: in a process of its own, for Triton chooses it once, when it is imported."""
    environment = os.environ | {"TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join([str(root), *sys.path[1:]])}
    command = [sys.executable, "-m", "tests.backend.kernels.interpreted_decode"]
    done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("key", VECTORS + MATRICES)
def test_the_interpreter_decodes_a_golden_matrix_bit_for_bit(interpreted: Any, key: str, decoder: str) -> None:
    assert interpreted["different"][f"{key}.{decoder}"] == 0


@pytest.mark.parametrize("key", [key for key in VECTORS if key.startswith("mul1")])
def test_a_product_with_decoded_weights_is_that_of_the_matrices(interpreted: Any, key: str) -> None:
    assert interpreted["products"][key] < 1e-6


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_the_decoders_compile_ahead_of_time_without_spills(
    capability: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    signature = {"words": "*i32", "table": "*fp16", "x": "*fp16", "y": "*fp32", "columns": "i32"}
    print(HEAD)  # `pytest -s` shows the table
    for codebook, half_bits, decoder in [("mul1", 6, "computed"), ("mcg", 8, "computed"), ("mul1", 5, "table")]:
        constants: dict[str, object] = {"STEPS": 16, "ROWS": 16, "ASSEMBLY": True}
        constants |= {"HALF_BITS": half_bits, "CODEBOOK": codebook, "DECODER": decoder}
        made = compile_for(capability, product, signature, constants, tmp_path, num_warps=4, num_stages=3)
        print(made.row(f"product sm_{capability} {codebook} {half_bits / 2:g} {decoder}"))
        assert made.stack == 0
        assert made.registers <= 128
        assert "local_store" not in made.ttgir
        if decoder == "computed" and capability != 100:
            # Between its words and the matrix instruction a weight never leaves its thread: the one conversion is of
            # the sum. (On sm_100 the operand has to go into tensor memory.)
            assert made.ttgir.count("ttg.convert_layout") == 1


@pytest.mark.parametrize("assembly", [False, True])
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("codebook", Codebook, ids=str)
def test_the_kernel_that_writes_a_whole_matrix_compiles(
    codebook: Codebook, decoder: str, assembly: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    constants = {"HALF_BITS": 6, "CODEBOOK": codebook.value, "DECODER": decoder, "ASSEMBLY": assembly}
    signature = {"words": "*i32", "table": "*fp16", "out": "*fp16", "steps": "i32", "stride": "i32"}
    made = compile_for(90, decode_matrix_kernel, signature, constants, tmp_path)
    assert ("dp4a" in made.ptx) == (assembly and decoder == "computed" and codebook is Codebook.MUL1)


def test_what_cannot_be_decoded_is_an_error_before_any_launch() -> None:
    fmt = TrellisFormat(Codebook.MCG, 6)
    words = prepare_matrix(torch.zeros(4, 8, 48, dtype=torch.int16), fmt)
    with pytest.raises(TensorMismatchError, match=r"words.* int32\[N/128, K/64, 8, 3, 32\], contiguous"):
        decode_matrix(words[..., :16], fmt, "computed")
    with pytest.raises(TensorMismatchError, match="words"):
        decode_matrix(words, TrellisFormat(Codebook.MCG, 8), "computed")
    with pytest.raises(TensorMismatchError, match=r"words.* not contiguous"):
        decode_matrix(words.expand(2, -1, -1, -1, -1), fmt, "computed")
    with pytest.raises(TensorMismatchError, match=r"decoder.*'fast'.*computed, table"):
        decode_matrix(words, fmt, "fast")
    with pytest.raises(TensorMismatchError, match=r"table.* None"):
        decode_matrix(words, fmt, "table")
    with pytest.raises(TensorMismatchError, match=r"table.* torch.float32\[65536\]"):
        decode_matrix(words, fmt, "table", table=torch.zeros(65536))
