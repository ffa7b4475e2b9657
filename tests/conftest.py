"""What several test files share."""

from __future__ import annotations

from pathlib import Path

import pytest

from demo.wheel import RegistryUnreachableError, fetch

#: Programs for the checker to read, never to be imported by pytest.
collect_ignore = ["corpus"]


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of this repository."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def b12x_wheel() -> Path:
    """The published wheel that carries the bug; skips only where the registry gives no answer."""
    try:
        return fetch()
    except RegistryUnreachableError as error:
        pytest.skip(f"needs the package registry: {error}")
