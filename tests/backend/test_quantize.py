"""The command that quantizes a layer: from random weights, from a checkpoint, and what it says when it cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
safetensors = pytest.importorskip("safetensors.torch")

from backend.quantize import main  # noqa: E402
from backend.weights.checkpoint import Checkpoint  # noqa: E402
from backend.weights.trellis import Codebook, TrellisFormat  # noqa: E402


def test_random_experts_are_quantized_and_load(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "layer.safetensors"
    sizes = ["--experts", "1", "--hidden", "100", "--intermediate", "128"]
    arguments = ["--random", *sizes, "--codebook", "mcg", "--bits", "8", "--down-bits", "7", "--layer", "5"]
    assert main([str(output), *arguments]) == 0
    assert "up    mcg at 8 bits: relative squared error 0.0000" in capsys.readouterr().out
    layer = Checkpoint(output).layer(5)
    assert (len(layer.experts), layer.hidden, layer.intermediate) == (1, 128, 128)
    assert layer.experts[0].down.fmt == TrellisFormat(Codebook.MCG, 14)
    assert [path.name for path in tmp_path.iterdir()] == ["layer.safetensors"]


@pytest.mark.parametrize(("codebook", "names"), [("3inst", ("w3", "w2")), ("mul1", ("w1", "w3", "w2"))])
def test_the_experts_of_a_checkpoint_are_quantized(tmp_path: Path, codebook: str, names: tuple[str, ...]) -> None:
    shapes = {"w1": (128, 100), "w3": (128, 100), "w2": (100, 128)}  # [N, K]
    stem = "model.layers.2.block_sparse_moe.experts.0"
    # A weight beyond the codebook's range, as there is now and then, doubles the error of so small a matrix.
    torch.manual_seed(1)
    tensors: dict[str, Any] = {f"{stem}.{name}.weight": torch.randn(shapes[name]).bfloat16() for name in names}
    safetensors.save_file(tensors, tmp_path / "in.safetensors")
    arguments = ["--input", str(tmp_path / "in.safetensors"), "--layer", "2", "--bits", "8", "--codebook", codebook]
    assert main([str(tmp_path / "out.safetensors"), *arguments]) == 0
    expert = Checkpoint(tmp_path / "out.safetensors").layer(2).experts[0]
    found = dict(expert.linears())
    assert len(found) == len(names)
    for projection, linear in found.items():
        assert linear.fmt == TrellisFormat(Codebook(codebook), 16)
        name = {"gate": "w1", "up": "w3", "down": "w2"}[projection]
        wanted = tensors[f"{stem}.{name}.weight"].double().T
        difference = linear.weight()[: wanted.shape[0], : wanted.shape[1]] - wanted
        assert difference.square().sum() / wanted.square().sum() < 5e-5


def test_what_cannot_be_quantized_is_said_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out.safetensors"
    assert main([str(output), "--random", "--codebook", "mcg", "--bits", "2.5"]) == 2
    assert "no EXL3 trellis has 2.5 bits a weight with the codebook mcg" in capsys.readouterr().err
    weights = {f"model.layers.0.mlp.experts.{expert}.up_proj.weight": torch.ones(4, 4) for expert in (0, 2)}
    safetensors.save_file(weights, tmp_path / "in.safetensors")
    assert main([str(output), "--input", str(tmp_path / "in.safetensors")]) == 2
    assert "1 of 3 experts have no up projection: 1;" in capsys.readouterr().err
    assert main([str(output), "--input", str(tmp_path / "in.safetensors"), "--layer", "3"]) == 2
    assert "in layer 3; it has model.layers.0.mlp.experts" in capsys.readouterr().err
    for wrong in (["--random", "--hidden", "0"], ["--random", "--input", "x"], []):
        with pytest.raises(SystemExit) as caught:
            main([str(output), *wrong])
        assert caught.value.code == 2
    assert not output.exists()
