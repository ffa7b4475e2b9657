"""Quantize the experts of a layer to EXL3: `python -m backend.quantize --help`.

It reads the experts of a safetensors checkpoint, or draws random ones, and writes one safetensors file that
`backend.weights.checkpoint.Checkpoint` loads.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.weights.errors import MissingExpertError, MissingLayerError, WeightsError

if TYPE_CHECKING:
    from backend.weights.trellis import TrellisFormat

__all__ = ["main"]

_NAMES = {"gate": "gate_proj", "up": "up_proj", "down": "down_proj"}
_ALIASES = {"gate_proj": "gate", "up_proj": "up", "down_proj": "down", "w1": "gate", "w3": "up", "w2": "down"}
_SOURCE = re.compile(
    rf"(?P<stem>(?:.*\.)?layers\.(?P<layer>\d+)\.(?:[^.]+\.)*experts)\.(?P<expert>\d+)\.(?P<linear>{'|'.join(_ALIASES)})\.weight"
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m backend.quantize",
        description="Quantize the experts of a layer to EXL3, without calibration. On a CPU, 256 weights take a thread "
        "about 0.05 s: seconds for small experts, days for those of a large model.",
    )
    parser.add_argument("output", type=Path, help="the safetensors file to write")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--input", type=Path, help="a checkpoint with unquantized experts: a file or a folder")
    source.add_argument("--random", action="store_true", help="random experts, of the sizes below")
    parser.add_argument("--layer", type=int, default=0, help="number of the layer (default: 0)")
    parser.add_argument("--experts", type=int, default=4, help="random experts: how many (default: 4)")
    parser.add_argument("--hidden", type=int, default=128, help="random experts: width of the input (default: 128)")
    parser.add_argument("--intermediate", type=int, default=128, help="random experts: inner width (default: 128)")
    parser.add_argument("--codebook", choices=["3inst", "mcg", "mul1"], default="mul1", help="default: mul1")
    parser.add_argument("--bits", type=float, default=3, help="bits a weight (default: 3)")
    for projection in _NAMES:
        parser.add_argument(f"--{projection}-bits", type=float, help=f"bits of the {projection} projection, if others")
    parser.add_argument("--seed", type=int, default=0, help="of random experts and signs (default: 0)")
    parser.add_argument("--device", default="cpu", help="where to search, such as cuda (default: cpu)")
    return parser


def _random(options: argparse.Namespace) -> Iterator[tuple[str, str, Any]]:
    """Experts of independent normal weights: name of the linear, its projection, W [K, N]."""
    import torch

    generator = torch.Generator().manual_seed(options.seed)
    hidden, inner = options.hidden, options.intermediate
    for expert in range(options.experts):
        for projection, name in _NAMES.items():
            shape = (inner, hidden) if projection == "down" else (hidden, inner)
            weight = torch.randn(shape, generator=generator) * shape[0] ** -0.5
            yield f"model.layers.{options.layer}.mlp.experts.{expert}.{name}", projection, weight


def _read(options: argparse.Namespace) -> list[tuple[str, str, Any]]:
    """The experts of a checkpoint, in the same form; its tensors are [N, K]."""
    from backend.weights.checkpoint import Checkpoint

    checkpoint = Checkpoint(options.input)
    matches = [match for name in checkpoint.names() if (match := _SOURCE.fullmatch(name))]
    chosen = [match for match in matches if int(match["layer"]) == options.layer]
    if not chosen:
        stems = sorted({match["stem"] for match in matches})
        raise MissingLayerError(path=options.input, layer=options.layer, stems=stems)
    stem = chosen[0]["stem"]
    chosen = [match for match in chosen if match["stem"] == stem]
    total = max(int(match["expert"]) for match in chosen) + 1
    for linear in sorted({match["linear"] for match in chosen}):
        have = {int(match["expert"]) for match in chosen if match["linear"] == linear}
        if missing := [expert for expert in range(total) if expert not in have]:
            raise MissingExpertError(stem=stem, missing=missing, wanted=total, projection=_ALIASES[linear])
    chosen.sort(key=lambda match: (int(match["expert"]), match["linear"]))
    return [
        (match[0].removesuffix(".weight"), _ALIASES[match["linear"]], checkpoint.tensor(match[0]).T) for match in chosen
    ]


def _formats(options: argparse.Namespace) -> dict[str, TrellisFormat]:
    from backend.weights.trellis import Codebook, TrellisFormat

    codebook = Codebook(options.codebook)
    given = {projection: getattr(options, f"{projection}_bits") for projection in _NAMES}
    return {
        projection: TrellisFormat.of_bits(codebook, options.bits if bits is None else bits)
        for projection, bits in given.items()
    }


def _quantize(options: argparse.Namespace) -> None:
    import torch
    from safetensors.torch import save_file

    from backend.weights.encode import encode_linear
    from backend.weights.progress import ProgressLine
    from backend.weights.trellis import Codebook

    formats = _formats(options)
    linears = list(_random(options)) if options.random else _read(options)
    generator = torch.Generator().manual_seed(options.seed + 1)
    line = ProgressLine("quantize")
    tensors: dict[str, Any] = {}
    errors: dict[str, list[float]] = {}
    tiles = [-(-weight.shape[0] // 128) * -(-weight.shape[1] // 128) * 64 for _, _, weight in linears]
    for number, (name, projection, weight) in enumerate(linears):
        fmt = formats[projection]

        def report(done: int, _total: int, _what: str, /, name: str = name, before: int = sum(tiles[:number])) -> None:
            line(before + done, sum(tiles), f"tiles, {name}")

        encoded = encode_linear(weight.to(options.device).float(), fmt, name=name, generator=generator, progress=report)
        for field in ("trellis", "suh", "svh"):
            tensors[f"{name}.{field}"] = getattr(encoded.linear, field).cpu().contiguous()
        if fmt.codebook is not Codebook.DEFAULT:
            signed = (fmt.codebook.multiplier ^ 0x80000000) - 0x80000000
            tensors[f"{name}.{fmt.codebook.value}"] = torch.tensor(signed, dtype=torch.int32)
        errors.setdefault(projection, []).append(encoded.error)
    # Under another name first: a run that is broken off leaves no half a file behind.
    partial = options.output.with_name(f".{options.output.name}.{os.getpid()}")
    try:
        save_file(tensors, partial)
        partial.replace(options.output)
    finally:
        partial.unlink(missing_ok=True)
    print(f"{options.output}: {len(linears)} linears, {options.output.stat().st_size} bytes")
    for projection, found in errors.items():
        mean = sum(found) / len(found)
        print(f"{projection:<5} {formats[projection]}: relative squared error {mean:.5f}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 when the file is written, 2 when it could not be, with the reason on standard error."""
    parser = _parser()
    options = parser.parse_args(arguments)
    for size in ("experts", "hidden", "intermediate"):
        if getattr(options, size) < 1:
            parser.error(f"--{size} must be at least 1")
    if not options.output.parent.is_dir():
        parser.error(f"there is no folder {options.output.parent}")
    try:
        _quantize(options)
    except WeightsError as error:
        print(f"quantize: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
