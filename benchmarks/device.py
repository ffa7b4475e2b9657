"""The device that a benchmark runs on."""

from __future__ import annotations

import importlib
import sys
from typing import Any

__all__ = ["libraries"]


def libraries(benchmark: str) -> tuple[Any, Any] | None:
    """Torch and Triton with a CUDA device; None, with a line that says what is missing, where one is not there."""
    try:
        torch, triton = importlib.import_module("torch"), importlib.import_module("triton")
    except ImportError as error:
        print(f"{benchmark}: needs torch and Triton: {error}", file=sys.stderr)
        return None
    if not torch.cuda.is_available():
        print(f"{benchmark}: needs a CUDA device", file=sys.stderr)
        return None
    return torch, triton
