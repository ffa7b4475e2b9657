"""The Triton kernels; each module is importable only where torch and Triton are."""

from __future__ import annotations

__all__: list[str] = []
