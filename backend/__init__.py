"""The reference kernel backend: not written yet.

This package is here so that its name, its place in the layers and its entry in the wheel are settled. It has no
functions. What it will be is a fused mixture-of-experts layer in Triton that lives the life of a plan (declare,
prepare, freeze, materialize, bind, run) and is checked by the two packages beside it.
"""

from __future__ import annotations

__all__: list[str] = []
