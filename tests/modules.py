"""Programs that tests import from a file: source, module globals and pickling are then as in a user's project."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

__all__ = ["imported"]


@contextmanager
def imported(path: Path) -> Iterator[ModuleType]:
    """The module that the file is, known to others by the name of the file until the end of the block."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[path.stem]
