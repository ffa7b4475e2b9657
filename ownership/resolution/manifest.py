"""A manifest: what was resolved in one process, to be resolved again at the start of the next.

The disk cache of Triton saves the compiler's work; a manifest also says which programs there were, so that the next
start has them in memory, compiled and loaded, before the first request and without a warm-up that finds them all.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ownership.resolution._history import history
from ownership.resolution.errors import ManifestError, ResolutionFrozenError

__all__ = ["Replayed", "Skipped", "replay", "save"]

_VERSION = 1
_ENTRY = frozenset({"resolver", "version", "target", "module", "name", "source", "data"})


@dataclass(frozen=True)
class Skipped:
    """A program of the manifest that was not prepared, and why."""

    program: str
    problem: str


@dataclass(frozen=True)
class Replayed:
    """What came of a manifest: the programs that are ready, by name, and those that are not.

    `programs` maps the qualified name to the compiled kernels, in the order of the manifest.
    """

    programs: Mapping[str, tuple[object, ...]]
    skipped: tuple[Skipped, ...]

    @property
    def count(self) -> int:
        """How many programs are ready."""
        return sum(map(len, self.programs.values()))


def save(path: str | os.PathLike[str]) -> int:
    """Write what was compiled in this process while a guard was in force; returns the number of programs.

    `watch()` before the warm-up, so that nothing is missed. The file is replaced at once or not at all. Triton programs
    are kept, unless they have constants that JSON cannot hold; what a `resolver` resolved is the user's to repeat.
    """
    target = Path(path)
    entries = list(history.snapshot().replays)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"version": _VERSION, "programs": entries}, file, indent=1)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    return len(entries)


def replay(path: str | os.PathLike[str], *, load: bool = True) -> Replayed:
    """Compile (from Triton's disk cache, if it is there) and load what a manifest has, on the current device.

    A program is skipped, with the reason, when its module cannot be imported, its kernel is not there or has changed,
    or the device or Triton does not take it. Under a freeze each one needs a `permit`, as anything that is resolved.

    Args:
        path: what `save` wrote.
        load: load the modules, too; without, the first launch does it, which a freeze refuses.

    Raises:
        ManifestError: the file is not a manifest.
        ResolutionFrozenError: a freeze is in force and no permit.

    """
    ready: dict[str, list[object]] = {}
    skipped: list[Skipped] = []
    for entry in _read(Path(path)):
        program = f"{entry['module']}.{entry['name']}"
        try:
            kernel = _prepared(entry, load)
        except ResolutionFrozenError:
            raise
        except Exception as error:  # noqa: BLE001 - one stale program must not keep the others from being prepared
            skipped.append(Skipped(program, f"{type(error).__name__}: {error}"))
        else:
            ready.setdefault(program, []).append(kernel)
    return Replayed({program: tuple(kernels) for program, kernels in ready.items()}, tuple(skipped))


def _read(path: Path) -> list[dict[str, str]]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ManifestError(path=str(path), problem=f"it is not JSON ({error})") from error
    version = content.get("version") if isinstance(content, dict) else None
    if version != _VERSION:
        raise ManifestError(path=str(path), problem=f"its version is {version!r}, not {_VERSION}")
    programs = content.get("programs")
    if not isinstance(programs, list):
        raise ManifestError(path=str(path), problem="it has no list of programs")
    for entry in programs:
        if not isinstance(entry, dict) or not entry.keys() >= _ENTRY or set(map(type, entry.values())) != {str}:
            raise ManifestError(path=str(path), problem=f"this is no program: {str(entry)[:80]}")
    return programs


def _prepared(entry: Mapping[str, str], load: bool) -> object:
    prepare = _RESOLVERS.get(entry["resolver"])
    if prepare is None:
        raise LookupError(f"nothing here replays {entry['resolver']}")
    return prepare(entry, load)


def _triton(entry: Mapping[str, str], load: bool) -> object:
    triton: Any = importlib.import_module("triton")
    if triton.__version__ != entry["version"]:
        raise LookupError(f"it is of Triton {entry['version']}, this is {triton.__version__}")
    found: Any = importlib.import_module(entry["module"])
    for part in entry["name"].split("."):
        found = getattr(found, part)
    # The autotuner and heuristics hold the kernel in `fn`, and so do other decorators.
    while not hasattr(found, "preload"):
        found = found.fn
    if found.cache_key != entry["source"]:
        raise LookupError("the kernel's source, or that of what it calls, has changed since")
    target = str(triton.runtime.driver.active.get_current_target())
    if target != entry["target"]:
        raise LookupError(f"it is for {entry['target']}, this is {target}")
    kernel = found.preload(entry["data"])
    if kernel is None:
        raise LookupError("another cache hook kept Triton from compiling it")
    if hasattr(kernel, "result"):
        kernel = kernel.result()
    if load:
        kernel._init_handles()
    return kernel


_RESOLVERS: dict[str, Callable[[Mapping[str, str], bool], object]] = {"triton": _triton}
