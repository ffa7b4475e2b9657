"""What the tests of `ownership` share."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

Load = Callable[..., ModuleType]

_numbers = itertools.count()


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Load]:
    """Import a program from a file of its own: source, module globals and pickling are then as in a user's project."""
    known: list[str] = []

    def import_text(text: str, *, name: str | None = None) -> ModuleType:
        name = name or f"program_{next(_numbers)}"
        path = tmp_path / f"{name}.py"
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        known.append(name)
        spec.loader.exec_module(module)
        return module

    yield import_text
    for name in known:
        del sys.modules[name]
