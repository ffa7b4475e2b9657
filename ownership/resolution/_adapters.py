"""Adapters: how the guard gets to see what a library resolves.

An adapter is installed by the first guard that comes into force, if its library has been imported, and removed with
the last one. A library that is imported later is noticed by a finder that stands in `sys.meta_path` while a guard is in
force and a library is missing: there is no other moment at which a program could look, since a library without an
adapter reports nothing. Nothing is imported for the sake of a freeze.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import warnings
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Protocol

from ownership.resolution.errors import ResolutionWarning

__all__ = ["Adapter", "install", "uninstall"]


class Adapter(Protocol):
    """Stands between a library and the guard. The methods are called with the lock of the guards held."""

    def install(self) -> None:
        """Start to report to the guard; raise `CannotWatchError` and leave nothing behind where that is impossible."""

    def update(self) -> None:
        """Look again: the guards in force have changed while the adapter is installed."""

    def uninstall(self) -> None:
        """Stop, and leave the library as it was found."""


#: Library, and the module that has its `adapter`.
_KNOWN = {"triton": "ownership.resolution.triton", "torch": "ownership.resolution.torch"}
_installed: dict[str, Adapter] = {}


def _imported(library: str) -> bool:
    module = sys.modules.get(library)
    # A module that is still being imported has not got its parts yet.
    return module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False)


def install() -> None:
    """Install the adapter of each library that has been imported, and tell those that are installed."""
    for library, name in _KNOWN.items():
        if library in _installed:
            _installed[library].update()
        elif _imported(library) and (adapter := _load(name)) is not None:
            adapter.install()
            _installed[library] = adapter
    missing = _KNOWN.keys() - _installed.keys()
    if missing and _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    elif not missing:
        _withdraw()


def _load(name: str) -> Adapter | None:
    if importlib.util.find_spec(name) is None:
        return None
    adapter: Adapter = importlib.import_module(name).adapter
    return adapter


def uninstall() -> None:
    """Remove all of them."""
    _withdraw()
    while _installed:
        library = next(reversed(_installed))
        _installed[library].uninstall()
        del _installed[library]


def _withdraw() -> None:
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)


class _Finder:
    """Finds nothing itself; sees to it that the adapter is installed when a library has been imported."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in _KNOWN or path is not None:
            return None
        spec = None
        for finder in [other for other in sys.meta_path if other is not self]:
            find = getattr(finder, "find_spec", None)
            spec = find(fullname, path, target) if find is not None else None
            if spec is not None:
                break
        if spec is not None and spec.loader is not None:
            self._follow(fullname, spec.loader)
        return spec

    def _follow(self, library: str, loader: Any) -> None:
        execute = getattr(loader, "exec_module", None)
        if execute is None or isinstance(loader, type):
            return

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module
            execute(module)
            _arrived(library)

        # On the instance, so that the loader stays what it is to everybody who asks it for sources or resources. One
        # that takes no attributes is left alone; the library is then noticed at the next freeze, lift or report.
        with contextlib.suppress(AttributeError):
            loader.exec_module = exec_module


_finder: Any = _Finder()


def _arrived(library: str) -> None:
    from ownership.resolution._process import process

    with process.lock:
        if not process.entries or library in _installed:
            return
        try:
            adapter = _load(_KNOWN[library])
            if adapter is not None:
                adapter.install()
                _installed[library] = adapter
        except Exception as error:  # noqa: BLE001 - the import of the library must not fail for our reasons
            warnings.warn(f"{library} was imported under a freeze: {error}", ResolutionWarning, stacklevel=2)
