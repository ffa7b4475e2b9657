"""The published wheel that the demo, the benchmark and a test read: fetched from the registry once, then kept."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import zipfile
from pathlib import Path

__all__ = [
    "DECLARATION",
    "REQUIREMENT",
    "FetchError",
    "RegistryUnreachableError",
    "fetch",
    "registry_unreachable",
    "unpack",
]

REQUIREMENT = "b12x==1.5.1"
WHEEL = "b12x-1.5.1-py3-none-any.whl"
SHA256 = "8731e23571d8d45db26d78e7699ec0b23e7ba20b52487adf8c1063c8d8b53a3d"

#: `.cache` of the repository; git ignores it.
CACHE = Path(__file__).resolve().parent.parent / ".cache"
#: The four carriers of the plan, as a configuration file.
DECLARATION = Path(__file__).resolve().with_name("b12x.toml")

# What pip prints when no answer came at all. An answer that says no (no such version, wrong hash) is not among them.
_NO_ANSWER = re.compile(
    r"connection broken by|NewConnectionError|NameResolutionError|ConnectTimeoutError|ReadTimeoutError|ProxyError"
    r"|Temporary failure in name resolution|Name or service not known|Network is unreachable|Connection refused"
)


class FetchError(Exception):
    """pip could not fetch the wheel, or fetched another one than the one this code is about."""


class RegistryUnreachableError(FetchError):
    """The package registry gave no answer: nothing can be said about the wheel here and now."""


def registry_unreachable(output: str) -> bool:
    """Whether this output of pip says that the registry gave no answer."""
    return _NO_ANSWER.search(output) is not None


def fetch() -> Path:
    """The wheel, from the cache of this repository or else from the registry.

    Raises `RegistryUnreachableError` when the registry gives no answer, and `FetchError` when pip fails for another
    reason or the wheel is not the expected one.
    """
    wheel = CACHE / WHEEL
    if not _is_expected(wheel):
        CACHE.mkdir(exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--dest", str(CACHE)]
        done = subprocess.run([*command, REQUIREMENT], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            output = done.stdout + done.stderr
            last = output.strip().splitlines()[-1] if output.strip() else "no output"
            if registry_unreachable(output):
                raise RegistryUnreachableError(f"the package registry cannot be reached, so there is no {WHEEL}")
            raise FetchError(f"pip could not download {REQUIREMENT}: {last}")
        if not _is_expected(wheel):
            raise FetchError(f"{wheel} is not the expected file: its SHA-256 is not {SHA256}; delete it and try again")
    return wheel


def unpack(wheel: Path, folder: Path) -> Path:
    """Unpack the wheel into the folder, which must not exist yet, and return the folder."""
    folder.mkdir(parents=True)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def _is_expected(wheel: Path) -> bool:
    return wheel.is_file() and hashlib.sha256(wheel.read_bytes()).hexdigest() == SHA256
