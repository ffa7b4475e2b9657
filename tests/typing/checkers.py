"""Type checkers, the linter and the running program, asked about the programs of `tests/typing/programs`.

Each checker gets a copy of all of them to itself, so that no configuration of another one (or of this repository)
reaches it, and says where it sees errors. One that cannot do its job raises; nothing is taken for silence.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "CHECKERS",
    "MISTAKES",
    "PATTERNS",
    "TYPE_CHECKERS",
    "CheckerFailedError",
    "Outcome",
    "Report",
    "all_outcomes",
    "all_reports",
    "marked_lines",
    "mistakes",
]

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).resolve().parent / "programs"
#: Wrong steps, each with its right twin.
MISTAKES = PROGRAMS / "mistakes"
#: Ways to write a plan so that type checkers see what is missing.
PATTERNS = PROGRAMS / "patterns"
SCRIPTS = Path(sysconfig.get_path("scripts"))


class Report(NamedTuple):
    """An error that a checker sees: `file` is a name in the folder, `code` the checker's own name for it."""

    file: str
    line: int
    code: str


class CheckerFailedError(Exception):
    """A checker did not do its job."""

    def __init__(self, command: Sequence[str], status: int, printed: str) -> None:
        self.command = command
        self.status = status
        super().__init__(f"{' '.join(command)} ended with status {status} and printed:\n{printed[-2000:]}")


@functools.cache
def all_reports() -> Mapping[str, Sequence[Report]]:
    """What each of `CHECKERS` says about all programs, in order. It takes some seconds, once a process."""
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(max_workers=2) as pool:

        def ask(number: int, checker: Callable[[Path], Iterable[Report]]) -> list[Report]:
            folder = Path(scratch) / f"programs_{number}"
            for source in (MISTAKES, PATTERNS):
                shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
            return sorted(set(checker(folder)))

        asked = {name: pool.submit(ask, number, checker) for number, (name, checker) in enumerate(CHECKERS.items())}
        return {name: future.result() for name, future in asked.items()}


def mistakes() -> list[str]:
    """The names of the programs in `MISTAKES`, in order; neither their common plan nor the twins of some."""
    names = {path.stem for path in MISTAKES.glob("*.py")} - {"scratch"}
    return sorted(name for name in names if name.removesuffix("_right") not in names - {name})


def marked_lines(programs: Path, mark: str) -> dict[str, dict[int, str]]:
    """By file and line, what stands behind the mark `# {mark}` at the end of a line: nothing, or `: ...`."""
    pattern = re.compile(rf"# {mark}(?:: (?P<rest>.+))?$")
    found: dict[str, dict[int, str]] = {}
    for path in sorted(programs.glob("*.py")):
        matches = {n: pattern.search(line) for n, line in enumerate(path.read_text("utf-8").splitlines(), start=1)}
        found[path.name] = {line: match["rest"] or "" for line, match in matches.items() if match}
    return found


def _run(command: Sequence[str | Path], folder: Path, *, env: Mapping[str, str] | None = None) -> str:
    """Standard output of a checker; the statuses of all of them are 0 for "nothing", 1 for "errors"."""
    words = [str(word) for word in command]
    environment = {key: value for key, value in os.environ.items() if key not in {"MYPYPATH", "PYTHONPATH"}}
    done = subprocess.run(
        words, cwd=folder, env={**environment, **(env or {})}, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode not in (0, 1):
        raise CheckerFailedError(words, done.returncode, done.stdout + done.stderr)
    return done.stdout


def _mypy(folder: Path, *, plugin: bool) -> Iterator[Report]:
    config = folder / "mypy.ini"
    config.write_text("[mypy]\n" + "plugins = ownership.mypy_plugin\n" * plugin, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--output=json", "--no-error-summary", "."]
    for line in _run(command, folder, env={"MYPYPATH": str(ROOT), "PYTHONPATH": str(ROOT)}).splitlines():
        said = json.loads(line)
        if said["severity"] == "error":
            yield Report(said["file"], said["line"], said["code"])


def _pyright(folder: Path) -> Iterator[Report]:
    config = {"include": ["."], "extraPaths": [str(ROOT)], "typeCheckingMode": "strict"}
    (folder / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    # The node of the wheel, which is of a known version, and nothing from the network.
    env = {"PYRIGHT_PYTHON_GLOBAL_NODE": "0", "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "--project", "."]
    for said in json.loads(_run(command, folder, env=env))["generalDiagnostics"]:
        if said["severity"] == "error":
            yield Report(Path(said["file"]).name, said["range"]["start"]["line"] + 1, said["rule"])


def _ty(folder: Path) -> Iterator[Report]:
    command: list[str | Path] = [
        SCRIPTS / "ty",
        "check",
        "--project",
        ".",
        "--python",
        sys.prefix,
        "--extra-search-path",
        ROOT,
    ]
    for said in json.loads(_run([*command, "--output-format", "gitlab"], folder)):
        if said["severity"] != "minor":  # a warning
            place = said["location"]
            yield Report(Path(place["path"]).name, place["positions"]["begin"]["line"], said["check_name"])


def _pyrefly(folder: Path) -> Iterator[Report]:
    config = f'search-path = [".", {json.dumps(str(ROOT))}]\npreset = "default"\n'
    (folder / "pyrefly.toml").write_text(config, encoding="utf-8")
    command: list[str | Path] = [
        SCRIPTS / "pyrefly",
        "check",
        "--config",
        "pyrefly.toml",
        "--python-interpreter-path",
        sys.executable,
    ]
    for said in json.loads(_run([*command, "--output-format", "json"], folder))["errors"]:
        if said["severity"] == "error":
            yield Report(Path(said["path"]).name, said["line"], said["name"])


def _carryall(folder: Path) -> Iterator[Report]:
    command = [sys.executable, "-m", "lint_rules", "check", "--format", "json", "--no-cache"]
    for line in _run(command, folder, env={"PYTHONPATH": str(ROOT)}).splitlines():
        said = json.loads(line)
        yield Report(said["path"], said["line"], said["code"])


#: Those that know nothing of this package, the four that the pattern for new code has to satisfy.
TYPE_CHECKERS = ("mypy", "pyright", "ty", "pyrefly")

CHECKERS: Mapping[str, Callable[[Path], Iterable[Report]]] = {
    "mypy": lambda folder: _mypy(folder, plugin=False),
    "mypy + plugin": lambda folder: _mypy(folder, plugin=True),
    "pyright": _pyright,
    "ty": _ty,
    "pyrefly": _pyrefly,
    "carryall check": _carryall,
}

#: Imports a module and calls its functions; prints what each raised, with "own" for an error of this package.
_DRIVER = """\
import importlib, json, sys
from ownership import OwnershipError

def outcome(step):
    try:
        step()
    except Exception as error:
        return {"error": type(error).__name__, "own": isinstance(error, OwnershipError)}
    return {"error": None, "own": False}

def wrong():
    getattr(importlib.import_module(sys.argv[1]), "wrong", lambda: None)()

def right():
    getattr(importlib.import_module(sys.argv[2]), "right", lambda: None)()

print(json.dumps([outcome(wrong), outcome(right)]))
"""


class Outcome(NamedTuple):
    """What a program raised: the name of the class, or None, and whether it is an error of this package."""

    error: str | None
    own: bool


@functools.cache
def all_outcomes() -> Mapping[str, tuple[Outcome, Outcome]]:
    """By name of the program, what the wrong and the right step raise, each pair in a process of its own.

    The steps are the functions `wrong` and `right` of the module. A module that is wrong as it stands raises when it
    is imported; its right twin has the name with `_right` behind it.
    """
    outcomes = {}
    env = {"PYTHONPATH": f"{ROOT}{os.pathsep}{MISTAKES}", "PYTHONDONTWRITEBYTECODE": "1"}
    for name in mistakes():
        twin = f"{name}_right" if (MISTAKES / f"{name}_right.py").exists() else name
        wrong, right = json.loads(_run([sys.executable, "-c", _DRIVER, name, twin], MISTAKES, env=env))
        outcomes[name] = (Outcome(**wrong), Outcome(**right))
    return outcomes
