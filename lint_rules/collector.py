"""The garbage collector, out of the way while syntax trees are made."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["without_collector"]


@contextmanager
def without_collector() -> Iterator[None]:
    """Without the garbage collector: syntax trees are many objects and few cycles; it would double the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
