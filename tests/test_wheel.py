"""The built wheel holds the three packages and nothing else, and asks for little."""

from __future__ import annotations

import configparser
import email
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from email.message import Message
from pathlib import Path

import pytest

PACKAGES = {"backend", "lint_rules", "ownership"}


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, built with the hatchling that is installed: nothing is fetched."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture
def archive(wheel: Path) -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(wheel) as opened:
        yield opened


@pytest.fixture
def metadata(archive: zipfile.ZipFile) -> Message:
    (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    return email.message_from_bytes(archive.read(name))


def requirements(metadata: Message, extra: str = "") -> set[str]:
    """Names of the distributions that the wheel asks for, without or with one extra."""
    found = set()
    for line in metadata.get_all("Requires-Dist", []):
        requirement, _, marker = line.partition(";")
        if (f"extra == '{extra}'" in marker) if extra else ("extra ==" not in marker):
            found.add(re.split(r"[\[<>=!~ ]", requirement.strip(), maxsplit=1)[0])
    return found


def test_check_wheel_contents_has_no_complaint(root: Path, wheel: Path) -> None:
    command = [sys.executable, "-m", "check_wheel_contents", "--config", str(root / "pyproject.toml"), str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_exactly_the_three_typed_packages_are_in_it(archive: zipfile.ZipFile) -> None:
    names = archive.namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == PACKAGES
    assert {name for name in names if name.endswith("py.typed")} == {f"{package}/py.typed" for package in PACKAGES}


def test_every_module_of_the_tree_is_in_it(root: Path, archive: zipfile.ZipFile) -> None:
    modules = {path.relative_to(root).as_posix() for package in PACKAGES for path in (root / package).rglob("*.py")}
    assert modules == {name for name in archive.namelist() if name.endswith(".py")}


def test_the_licence_is_in_it(archive: zipfile.ZipFile, metadata: Message) -> None:
    assert metadata["License-Expression"] == "MIT"
    assert [name for name in archive.namelist() if name.endswith(".dist-info/licenses/LICENSE")]


def test_it_offers_the_command_and_the_pytest_plugin(archive: zipfile.ZipFile) -> None:
    (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt")]
    points = configparser.ConfigParser()
    points.read_string(archive.read(name).decode())
    assert points["console_scripts"]["carryall"] == "lint_rules.cli:main"
    assert points["pytest11"]["carryall"] == "ownership.pytest_plugin"


def test_the_core_asks_for_two_packages(metadata: Message) -> None:
    assert requirements(metadata) == {"click", "libcst"}


def test_only_the_extras_for_kernels_ask_for_torch(metadata: Message) -> None:
    extras = {extra: requirements(metadata, extra) for extra in metadata.get_all("Provides-Extra", [])}
    assert set(extras) == {"backend", "dev", "mypy", "test-kernels"}
    assert {extra for extra, names in extras.items() if names & {"torch", "triton"}} == {"backend", "test-kernels"}


def test_the_unpacked_wheel_runs_without_the_tree(archive: zipfile.ZipFile, tmp_path: Path) -> None:
    archive.extractall(tmp_path)
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import ownership, lint_rules.cli as c; print(c.__file__)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(tmp_path)
