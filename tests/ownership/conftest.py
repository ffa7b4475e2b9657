"""What the tests of `ownership` share."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType

import pytest

from tests.modules import imported

Load = Callable[..., ModuleType]

_numbers = itertools.count()


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Load]:
    """Import a program from a file of its own: source, module globals and pickling are then as in a user's project."""
    with ExitStack() as known:

        def import_text(text: str, *, name: str | None = None) -> ModuleType:
            path = tmp_path / f"{name or f'program_{next(_numbers)}'}.py"
            path.write_text(textwrap.dedent(text), encoding="utf-8")
            return known.enter_context(imported(path))

        yield import_text
