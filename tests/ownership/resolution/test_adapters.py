"""When adapters come and go."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import ownership
from ownership.resolution import CannotWatchError, ResolutionWarning, _adapters, freeze, freezes, report, watch

LIBRARY = "some_compiler"


class FakeAdapter:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.failing = False

    def install(self) -> None:
        if self.failing:
            raise CannotWatchError(library=LIBRARY, problem="is too old")
        self.calls.append("install")

    def update(self) -> None:
        self.calls.append("update")

    def uninstall(self) -> None:
        self.calls.append("uninstall")


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAdapter]:
    """The adapter of a library that is not imported yet, and the only one that is known."""
    module: Any = ModuleType("adapter_of_some_compiler")
    module.__spec__ = importlib.machinery.ModuleSpec(module.__name__, None)
    module.adapter = FakeAdapter()
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(_adapters, "_KNOWN", {LIBRARY: module.__name__})
    yield module.adapter
    sys.modules.pop(LIBRARY, None)


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / f"{LIBRARY}.py").write_text("STATE = 'imported'\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_without_the_library_nothing_is_imported_and_nothing_is_left_behind(adapter: FakeAdapter) -> None:
    before = list(sys.meta_path)
    with freeze("serving"):
        pass
    assert adapter.calls == []
    assert sys.meta_path == before


def test_the_first_guard_installs_and_the_last_removes(adapter: FakeAdapter, library: Path) -> None:
    importlib.import_module(LIBRARY)
    first = freeze("a")
    second = freeze("b")
    first.lift()
    assert adapter.calls == ["install", "update", "update"]
    second.lift()
    assert adapter.calls[3:] == ["uninstall"]
    with watch():
        assert adapter.calls[4:] == ["install"]
        report()
        assert adapter.calls[5:] == ["update"]


def test_a_library_that_is_imported_under_a_freeze_is_watched_from_then_on(adapter: FakeAdapter, library: Path) -> None:
    before = list(sys.meta_path)
    with freeze("serving"):
        module = importlib.import_module(LIBRARY)
        assert adapter.calls == ["install"]
        assert module.STATE == "imported"
        loader = module.__spec__.loader if module.__spec__ else None
        assert loader is not None
        assert "exec_module" not in vars(loader)
        assert importlib.import_module("inspect").getsource(module) == "STATE = 'imported'\n"
    assert adapter.calls == ["install", "uninstall"]
    assert sys.meta_path == before


def test_a_library_that_fails_to_import_fails_as_it_would(adapter: FakeAdapter, library: Path) -> None:
    (library / f"{LIBRARY}.py").write_text("raise KeyError('theirs')\n", encoding="utf-8")
    with freeze("serving"):
        with pytest.raises(KeyError, match="theirs"):
            importlib.import_module(LIBRARY)
        assert adapter.calls == []
        (library / f"{LIBRARY}.py").write_text("STATE = 'at last'\n", encoding="utf-8")
        importlib.invalidate_caches()
        importlib.import_module(LIBRARY)
        assert adapter.calls == ["install"]


def test_a_loader_that_takes_no_attributes_is_left_alone(adapter: FakeAdapter, monkeypatch: pytest.MonkeyPatch) -> None:
    class Loader:
        __slots__ = ()

        def create_module(self, spec: object) -> None:
            """The default will do."""

        def exec_module(self, module: ModuleType) -> None:
            """There is nothing in it."""

    class Finder:
        def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
            return importlib.machinery.ModuleSpec(name, Loader()) if name == LIBRARY else None  # type: ignore[arg-type]

    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    with freeze("serving"):
        importlib.import_module(LIBRARY)
        assert adapter.calls == []
        report()
        assert adapter.calls == ["install"]


def test_a_library_that_is_not_there_is_still_not_found(adapter: FakeAdapter) -> None:
    with freeze("serving"), pytest.raises(ModuleNotFoundError, match=LIBRARY):
        importlib.import_module(LIBRARY)


def test_a_library_that_cannot_be_watched_makes_the_freeze_fail_and_changes_nothing(
    adapter: FakeAdapter, library: Path
) -> None:
    importlib.import_module(LIBRARY)
    adapter.failing = True
    before = list(sys.meta_path)
    with pytest.raises(CannotWatchError, match=LIBRARY):
        freeze("serving")
    assert not freezes()
    assert sys.meta_path == before


def test_imported_later_it_is_a_warning_and_the_import_succeeds(adapter: FakeAdapter, library: Path) -> None:
    adapter.failing = True
    with freeze("serving"), pytest.warns(ResolutionWarning, match="some_compiler was imported under a freeze"):
        assert importlib.import_module(LIBRARY).STATE == "imported"
    assert adapter.calls == []


def test_a_library_that_is_being_imported_is_not_there_yet(adapter: FakeAdapter, library: Path) -> None:
    (library / f"{LIBRARY}.py").write_text(
        "from ownership.resolution import freeze\nguard = freeze('while it is imported')\n", encoding="utf-8"
    )
    module = importlib.import_module(LIBRARY)
    assert adapter.calls == []
    with freeze("serving"):
        assert adapter.calls == ["install"]
    module.guard.lift()
    assert adapter.calls[-1] == "uninstall"


def test_a_freeze_imports_neither_triton_nor_torch() -> None:
    program = (
        "import sys; from ownership.resolution import freeze, report, manifest\n"
        "with freeze('serving'):\n    report().text()\n"
        "assert {'torch', 'triton'}.isdisjoint(sys.modules)"
    )
    root = Path(ownership.__file__).resolve().parent.parent
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_importing_ownership_does_not_import_the_guard() -> None:
    root = Path(ownership.__file__).resolve().parent.parent
    program = "import sys, ownership; assert 'ownership.resolution' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
