"""EXL3 weights: the format (`trellis`), checkpoints, the layout that the kernels read (`layout`), and an encoder.

Import the modules themselves; this package imports nothing, so that naming it costs neither torch nor safetensors.
"""

from __future__ import annotations

__all__: list[str] = []
