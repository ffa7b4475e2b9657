"""Checkpoints: what is found, how it is cut and prepared, and what is said about those that are wrong."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numpy")
safetensors = pytest.importorskip("safetensors.torch")

from backend.weights import errors  # noqa: E402
from backend.weights.checkpoint import Checkpoint  # noqa: E402
from backend.weights.layout import restore_matrix  # noqa: E402
from backend.weights.linear import PROJECTIONS, ExpertLayer  # noqa: E402
from backend.weights.pool import prepare_layer, prepare_projection  # noqa: E402
from backend.weights.progress import ProgressLine  # noqa: E402
from backend.weights.trellis import Codebook, TrellisFormat  # noqa: E402
from tests.backend.golden import FOLDER, golden  # noqa: E402

STEM = "model.layers.0.mlp.experts"
MARKERS = {"mcg": -877912083, "mul1": -2082680531}


def linear(name: str, rows: int, columns: int, bits: float, codebook: str = "mcg") -> dict[str, Any]:
    tensors = {
        "trellis": torch.randint(-(1 << 15), 1 << 15, (rows // 16, columns // 16, int(16 * bits)), dtype=torch.int16),
        "suh": torch.randn(rows).half(),
        "svh": torch.randn(columns).half(),
    }
    if codebook in MARKERS:
        tensors[codebook] = torch.tensor(MARKERS[codebook], dtype=torch.int32)
    return {f"{name}.{field}": tensor for field, tensor in tensors.items()}


def experts(stem: str = STEM, count: int = 3, names: tuple[str, ...] = ("gate_proj", "up_proj", "down_proj")) -> Any:
    tensors: dict[str, Any] = {}
    for expert in range(count):
        for name in names:
            down = name in ("down_proj", "w2")
            tensors |= linear(f"{stem}.{expert}.{name}", *((256, 128) if down else (128, 256)), 4 if down else 3)
    return tensors


@pytest.fixture
def write(tmp_path: Path) -> Callable[[dict[str, Any]], Path]:
    def writer(tensors: dict[str, Any]) -> Path:
        safetensors.save_file(tensors, tmp_path / "model.safetensors")
        return tmp_path

    return writer


def test_the_golden_layer_is_read() -> None:
    tensors = golden("moe_layer")
    with Checkpoint(FOLDER / "moe_layer.safetensors") as checkpoint:
        assert checkpoint.stems() == (STEM,)
        layer = checkpoint.layer(0)
    assert (len(layer.experts), layer.hidden, layer.intermediate) == (4, 256, 384)
    for number, expert in enumerate(layer.experts):
        for projection, found in expert.linears():
            name = f"{STEM}.{number}.{projection}_proj"
            assert found.name == name
            assert found.fmt == TrellisFormat.of_bits(Codebook.MCG, 4 if projection == "down" else 3)
            for field in ("trellis", "suh", "svh"):
                assert torch.equal(getattr(found, field), tensors[f"{name}.{field}"])


def test_the_golden_layer_computes_the_golden_output() -> None:
    io = golden("moe_io")
    layer = Checkpoint(FOLDER / "moe_layer.safetensors").layer(0)
    found = torch.zeros(7, 256, dtype=torch.float64)
    for number, expert in enumerate(layer.experts):
        assert expert.gate is not None
        x = io["x"].double()
        inner = torch.nn.functional.silu(x @ expert.gate.weight()) * (x @ expert.up.weight())
        chosen = (io["topk_ids"] == number) * io["topk_weights"].double()
        found += chosen.sum(1, keepdim=True) * (inner @ expert.down.weight())
    wanted = io["silu_float64"]
    assert (found - wanted).norm() / wanted.norm() < 1e-12


@pytest.mark.parametrize(
    ("stem", "names"),
    [
        ("model.layers.7.mlp.experts", ("gate_proj", "up_proj", "down_proj")),
        ("model.language_model.layers.7.mlp.experts", ("gate_proj", "up_proj", "down_proj")),
        ("model.layers.7.block_sparse_moe.experts", ("w1", "w3", "w2")),
        ("layers.7.ffn.experts", ("w1", "w3", "w2")),
        ("backbone.layers.7.mixer.experts", ("up_proj", "down_proj")),
    ],
)
def test_the_names_of_each_family_are_found(write: Any, stem: str, names: tuple[str, ...]) -> None:
    tensors = experts(stem, names=names)
    layer = Checkpoint(write(tensors)).layer(7)
    assert layer.name == stem
    for number, expert in enumerate(layer.experts):
        by_role = dict(zip(("gate", "up", "down")[-len(names) :], names, strict=True))
        assert [projection for projection, _ in expert.linears()] == [*by_role]
        for projection, found in expert.linears():
            assert torch.equal(found.trellis, tensors[f"{stem}.{number}.{by_role[projection]}.trellis"])


def test_a_sharded_checkpoint_is_read_through_its_index(tmp_path: Path) -> None:
    tensors = experts()
    shards: dict[str, dict[str, Any]] = {"a.safetensors": {}, "b.safetensors": {}}
    for number, (name, tensor) in enumerate(tensors.items()):
        shards["ab"[number % 2] + ".safetensors"][name] = tensor
    for file, content in shards.items():
        safetensors.save_file(content, tmp_path / file)
    index = {"weight_map": {name: file for file, content in shards.items() for name in content}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    found = Checkpoint(tmp_path).layer(0).experts[2].down
    assert torch.equal(found.trellis, tensors[f"{STEM}.2.down_proj.trellis"])
    (tmp_path / "b.safetensors").unlink()
    with pytest.raises(errors.CheckpointFileError, match=r"b\.safetensors: this shard is missing"):
        Checkpoint(tmp_path)


def test_legacy_signs_bias_and_codebooks_are_understood(write: Any) -> None:
    tensors = experts(count=2)
    name = f"{STEM}.1.up_proj"
    for field in ("suh", "svh", "mcg"):
        del tensors[f"{name}.{field}"]
    tensors[f"{name}.su"] = torch.tensor([1, *[0] * 7], dtype=torch.int16)
    tensors[f"{name}.sv"] = torch.tensor([*[0] * 15, -32768], dtype=torch.int16)
    tensors[f"{name}.bias"] = torch.randn(256)
    tensors |= linear(f"{STEM}.1.gate_proj", 128, 256, 2.5, "mul1")
    del tensors[f"{STEM}.1.gate_proj.mcg"]
    layer = Checkpoint(write(tensors)).layer(0)
    up, gate = layer.experts[1].up, layer.experts[1].gate
    assert gate is not None
    assert up.suh.tolist() == [-1.0] + [1.0] * 127
    assert up.svh.tolist() == [1.0] * 255 + [-1.0]
    assert torch.equal(up.bias, tensors[f"{name}.bias"].half())
    assert (up.fmt, gate.fmt) == (TrellisFormat(Codebook.DEFAULT, 6), TrellisFormat(Codebook.MUL1, 5))
    prepared = prepare_layer(layer)
    assert prepared.up.bias is not None
    assert torch.equal(prepared.up.bias, torch.stack([torch.zeros(256).half(), up.bias]))
    assert [str(segment.fmt) for segment in prepared.up.segments] == ["3inst at 3 bits", "mcg at 3 bits"]


def all_restored(layer: ExpertLayer) -> bool:
    prepared = prepare_layer(layer)
    return all(
        torch.equal(restore_matrix(getattr(prepared, name).matrix(number), linear.fmt), linear.trellis)
        and getattr(prepared, name).format_of(number) == linear.fmt
        for name in PROJECTIONS
        for number, linear in enumerate(layer.projection(name))
    )


def test_a_prepared_layer_has_every_expert_at_its_offset_and_is_no_larger(write: Any) -> None:
    tensors = experts(count=4)
    for expert, (bits, codebook) in {1: (5, "mul1"), 3: (2, "mcg")}.items():
        for name in [name for name in tensors if name.startswith(f"{STEM}.{expert}.up_proj")]:
            del tensors[name]
        tensors |= linear(f"{STEM}.{expert}.up_proj", 128, 256, bits, codebook)
    path = write(tensors)
    layer = Checkpoint(path).layer(0)
    assert all_restored(layer)
    assert all_restored(layer.cut(128, 256))
    prepared = prepare_layer(layer)
    stored = sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())
    assert prepared.bytes <= 1.02 * stored
    assert prepared.up.segment_of.tolist() == [1, 2, 1, 0]
    assert prepared.up.offsets.dtype == torch.int64
    planes = [prepared.up.format_of(expert).half_bits // 2 for expert in range(4)]
    assert planes == [3, 5, 3, 2]


def test_the_parts_of_a_partition_sum_to_the_whole() -> None:
    layer = Checkpoint(FOLDER / "moe_layer.safetensors").layer(0)
    x = torch.randn(5, layer.hidden, dtype=torch.float64)

    def output(part: ExpertLayer) -> Any:
        expert = part.experts[1]
        assert expert.gate is not None
        inner = torch.nn.functional.silu(x @ expert.gate.weight()) * (x @ expert.up.weight())
        return inner @ expert.down.weight()

    found = output(layer.cut(0, 256)) + output(layer.cut(256, 384))
    assert (found - output(layer)).abs().max() < 1e-10
    for begin, end in [(0, 100), (64, 128), (128, 128), (256, 512), (-128, 128)]:
        with pytest.raises(errors.ExtentError, match=re.escape(f"[{begin}, {end})")):
            layer.cut(begin, end)


def test_a_cut_shares_the_mapped_memory() -> None:
    layer = Checkpoint(FOLDER / "moe_layer.safetensors").layer(0)
    whole, part = layer.experts[0].up, layer.cut(128, 384).experts[0].up
    assert part.trellis.untyped_storage().data_ptr() == whole.trellis.untyped_storage().data_ptr()


def test_bias_of_down_is_added_by_one_rank_only(write: Any) -> None:
    tensors = experts(count=1)
    tensors[f"{STEM}.0.down_proj.bias"] = torch.ones(128).half()
    layer = Checkpoint(write(tensors)).layer(0)
    assert layer.cut(0, 128).experts[0].down.bias is not None
    assert layer.cut(128, 256).experts[0].down.bias is None


def test_progress_counts_every_linear_and_a_line_is_written_now_and_then(write: Any) -> None:
    layer = Checkpoint(write(experts())).layer(0)
    seen: list[tuple[int, int]] = []
    prepare_layer(layer, progress=lambda done, total, what: seen.append((done, total)))
    assert seen == [(done, 9) for done in range(1, 10)]
    stream = io.StringIO()
    line = ProgressLine("load", stream, interval=0.0)
    line(1, 4, "expert 0")
    assert re.fullmatch(r"load: 1 of 4 \(expert 0\), \d+ s, about \d+ s left\n", stream.getvalue())
    ProgressLine("load", stream, interval=100.0)(1, 4, "expert 0")
    assert stream.getvalue().count("\n") == 1


Mend = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("spoil", "error", "message"),
    [
        (lambda t: t.pop(f"{STEM}.1.up_proj.suh"), errors.MissingTensorError, r"1\.up_proj has .*, but no suh or su"),
        (lambda t: t.pop(f"{STEM}.1.up_proj.svh"), errors.MissingTensorError, "no svh or sv"),
        (lambda t: t.pop(f"{STEM}.1.up_proj.trellis"), errors.MissingTensorError, "no trellis"),
        (
            lambda t: [t.pop(name) for name in list(t) if name.startswith(f"{STEM}.1.")],
            errors.MissingExpertError,
            "1 of 3 experts have no up projection: 1;",
        ),
        (
            lambda t: [t.pop(name) for name in list(t) if name.startswith(f"{STEM}.0.gate_proj")],
            errors.MissingExpertError,
            "no gate projection: 0;",
        ),
        (
            lambda t: t.update({f"{STEM}.0.up_proj.mcg": torch.tensor(12345, dtype=torch.int32)}),
            errors.CodebookMarkerError,
            r"0\.up_proj\.mcg is 0x00003039, but .* 0xCBAC1FED",
        ),
        (
            lambda t: t.update({f"{STEM}.0.up_proj.mul1": torch.tensor(MARKERS["mul1"], dtype=torch.int32)}),
            errors.ConflictingTensorsError,
            "both mcg and mul1",
        ),
        (
            lambda t: t.update({f"{STEM}.0.up_proj.su": torch.zeros(8, dtype=torch.int16)}),
            errors.ConflictingTensorsError,
            "both suh and su",
        ),
        (
            lambda t: t.update({f"{STEM}.0.up_proj.scale": torch.ones(1)}),
            errors.ConflictingTensorsError,
            "both suh and scale",
        ),
        (
            lambda t: t.update({f"{STEM}.0.up_proj.mcg": torch.tensor(1, dtype=torch.int64)}),
            errors.CheckpointDtypeError,
            r"mcg is int64, but must be int32",
        ),
        (
            lambda t: t.update({f"{STEM}.0.up_proj.suh": torch.ones(128)}),
            errors.CheckpointDtypeError,
            r"suh is float32, but must be float16",
        ),
        (
            lambda t: t.update({f"{STEM}.0.up_proj.suh": torch.ones(256).half()}),
            errors.CheckpointShapeError,
            r"suh has the shape \[256\], but .* \[128\]",
        ),
        (
            lambda t: t.update({f"{STEM}.0.up_proj.trellis": torch.zeros(4, 16, 48, dtype=torch.int16)}),
            errors.CheckpointShapeError,
            r"trellis has the shape \[4, 16, 48\], but .* multiples of 128",
        ),
        (
            lambda t: t.update(linear(f"{STEM}.2.up_proj", 128, 128, 3)),
            errors.CheckpointShapeError,
            r"2\.up_proj\.trellis has the shape \[8, 8, 48\], but .*\[8, 16, \.\.\.\]",
        ),
        (
            lambda t: t.update(linear(f"{STEM}.0.up_proj", 128, 256, 2.5)),
            errors.UnsupportedRateError,
            "2.5 bits .* mcg",
        ),
    ],
)
def test_a_wrong_checkpoint_is_an_error_that_says_what_is_wrong(
    write: Any, spoil: Mend, error: type[Exception], message: str
) -> None:
    tensors = experts()
    spoil(tensors)
    checkpoint = Checkpoint(write(tensors))
    with pytest.raises(error, match=message):
        checkpoint.layer(0)


def test_the_configuration_says_how_many_experts_there_must_be(write: Any) -> None:
    path = write(experts())
    (path / "config.json").write_text(json.dumps({"text_config": {"num_experts": 5}}))
    with pytest.raises(errors.MissingExpertError, match="2 of 5 experts have no up projection: 3, 4;") as caught:
        Checkpoint(path).layer(0)
    assert caught.value.missing == (3, 4)
    assert len(Checkpoint(path).layer(0, experts=2).experts) == 2


def test_a_layer_that_is_not_there_or_is_there_twice_is_an_error(write: Any) -> None:
    checkpoint = Checkpoint(write(experts() | experts("mtp.layers.0.mlp.experts")))
    with pytest.raises(errors.MissingLayerError, match=r"layer 4; it has model\.layers\.0\.mlp\.experts"):
        checkpoint.layer(4)
    with pytest.raises(errors.AmbiguousLayerError, match=r"more than one layer 0: .*mtp\.layers"):
        checkpoint.layer(0)
    assert checkpoint.layer("mtp.layers.0.mlp.experts").name == "mtp.layers.0.mlp.experts"


@pytest.mark.parametrize("size", [4, 100, 20_000, -1])
def test_a_truncated_file_is_an_error_with_both_sizes(write: Any, size: int) -> None:
    file = write(experts()) / "model.safetensors"
    whole = file.read_bytes()
    file.write_bytes(whole[:size])
    with pytest.raises(errors.TruncatedCheckpointError, match="not complete") as caught:
        Checkpoint(file.parent)
    assert caught.value.size == len(whole[:size])
    assert caught.value.size < caught.value.wanted <= len(whole)


@pytest.mark.parametrize("content", [b"", b"no header at all", (2).to_bytes(8, "little") + b"[]"])
def test_another_file_is_no_checkpoint(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(content)
    with pytest.raises(errors.CheckpointFileError):
        Checkpoint(file)
    with pytest.raises(errors.CheckpointFileError, match="no such file"):
        Checkpoint(tmp_path / "nowhere")
    file.unlink()
    with pytest.raises(errors.CheckpointFileError, match="no safetensors files"):
        Checkpoint(tmp_path)


def test_experts_of_different_shapes_cannot_be_pooled(write: Any) -> None:
    layer = Checkpoint(write(experts())).layer(0)
    with pytest.raises(errors.TensorMismatchError, match=r"\[256, 128\], but must be \[128, 256\]"):
        prepare_projection("up", [layer.experts[0].up, layer.experts[0].down])
    with pytest.raises(errors.TensorMismatchError, match="no expert"):
        prepare_projection("up", [])
