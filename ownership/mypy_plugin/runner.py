"""Run mypy and keep only the messages of the plugin.

    python -m ownership.mypy_plugin.runner [--cache-dir DIR] -- MYPY ARGUMENTS

The command `carryall types` starts it with the Python of the project. mypy reads its arguments and its configuration as
ever; on top of that the plugin is added, bodies of unannotated functions are checked, and nothing that a project says
to silence mypy as a whole (`ignore_errors`, the limit on the number of errors) silences the plugin.

Standard output gets one JSON object a line for each message, with the keys `path`, `line`, `column` (both from 1),
`code`, `message` and `hint`; the last line is `{"summary": ...}`. Without that last line mypy did not come to an end,
and nothing can be said. What else mypy prints goes to standard error.

Exit status: 0 no message, 1 messages, 2 the job could not be done in full.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from mypy.modulefinder import BuildSource
    from mypy.options import Options

__all__ = ["main"]

PLUGIN = "ownership.mypy_plugin"
PREFIX = "ownership-"

#: mypy stops at a file that it cannot parse. It is left out then, and the rest is checked; more such files than this
#: are a sign of something else.
_LEFT_OUT_AT_MOST = 25
#: As the command `mypy` has it; the constant moves from version to version.
_RECURSION_LIMIT = 2**14
#: Settings for a part of a project that would silence the plugin there along with mypy.
_SILENCERS = ("ignore_errors", "check_untyped_defs")

#: What mypy 1.18 prints in place of JSON when it stops.
_PLAIN = re.compile(
    r"(?P<file>.*?\.pyi?|[^:]+):(?:(?P<line>\d+):)?(?:\d+:){0,3} (?P<severity>error|note): (?P<message>.*)"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run mypy and print what it has to say about ownership. Returns the exit status."""
    own, mypy_arguments = _arguments(sys.argv[1:] if arguments is None else arguments)
    output = sys.stdout
    # mypy, its plugins and `warnings` print to where they like; standard output is ours.
    with contextlib.redirect_stdout(sys.stderr):
        try:
            run = _Run(mypy_arguments, own.cache_dir)
            run.build()
        except SystemExit as exc:  # wrong arguments, or a crash that mypy has reported
            if isinstance(exc.code, str):
                print(exc.code, file=sys.stderr)
            return 2
        except Exception as exc:
            traceback.print_exc()
            raise SystemExit(2) from exc
    return run.report(output)


def _arguments(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    own, rest = list(arguments), []
    if "--" in own:
        at = own.index("--")
        own, rest = own[:at], own[at + 1 :]
    parser = argparse.ArgumentParser(prog=f"python -m {PLUGIN}.runner", usage="%(prog)s [options] -- [mypy arguments]")
    parser.add_argument("--cache-dir", help="where mypy keeps its cache; not the one of other runs of mypy")
    return parser.parse_args(own), rest


@dataclass
class _LeftOut:
    """What mypy cannot go on with: files that it is not given, and modules that it is not to follow."""

    paths: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)

    def add(self, path: str | None, module: str | None, sources: Sequence[BuildSource]) -> bool:
        """Leave this out, too. False if that is nothing new, or too much."""
        given = {_shown(each.path): each.module for each in sources if each.path is not None}
        if path is None:
            path = next((name for name, owner in given.items() if owner == module), None)
        before = len(self.paths), len(self.modules)
        if path is not None and _shown(path) in given:
            self.paths.add(_shown(path))
        if module is not None:
            self.modules.add(module)
        return before != (len(self.paths), len(self.modules)) and len(self.paths) <= _LEFT_OUT_AT_MOST

    def applied(self, sources: Sequence[BuildSource], options: Options) -> list[BuildSource]:
        """The sources that are left."""
        kept = [source for source in sources if source.path is None or _shown(source.path) not in self.paths]
        for module in self.modules - {source.module for source in kept}:
            options.per_module_options.setdefault(module, {})["follow_imports"] = "skip"
        return kept


@dataclass
class _Run:
    """mypy on some arguments, and what it said."""

    arguments: list[str]
    cache_dir: str | None
    findings: list[dict[str, Any]] = field(default_factory=list)
    #: Why some file, or everything, was not checked.
    problems: list[dict[str, Any]] = field(default_factory=list)
    others: int = 0
    files: int = 0
    printed: set[str] = field(default_factory=set)

    def build(self) -> None:
        """Run mypy; again without the file that stopped it, as long as there is such a file."""
        sys.setrecursionlimit(_RECURSION_LIMIT)
        left_out = _LeftOut()
        while self._stopped(left_out):
            pass

    def _stopped(self, left_out: _LeftOut) -> bool:
        """One build. Whether a file stopped it that was not left out yet; it is from now on."""
        from mypy.build import build
        from mypy.errors import CompileError
        from mypy.fscache import FileSystemCache

        fscache = FileSystemCache()
        sources, options = self._options(fscache)
        kept = left_out.applied(sources, options)
        self.findings, self.others, self.files = [], 0, len(kept)
        if sources and not kept:
            return False
        lines: list[str] = []
        try:
            self._result = build(kept, options, None, lambda _, new, __: lines.extend(new), fscache)
        except CompileError as exc:
            said = [each for each in _messages(exc.messages or lines) if each["severity"] == "error"]
            said = said or [_raw("mypy stopped and did not say why")]
            first = next((each for each in said if each["code"] in (None, "syntax")), said[0])
            self.files = 0
            left = left_out.add(first["path"], exc.module_with_blocker, kept)
            self.problems.append({"left_out": left, **{key: first[key] for key in ("path", "line", "message")}})
            return left
        for message in _messages(lines):
            if message["severity"] == "error" and str(message["code"]).startswith(PREFIX):
                keys = ("path", "line", "column", "code", "message", "hint")
                self.findings.append({key: message[key] for key in keys})
            elif message["severity"] == "error":
                self.others += 1
        return False

    def _options(self, fscache: Any) -> tuple[list[BuildSource], Options]:
        from mypy.main import process_options

        def read(*more: str) -> tuple[list[BuildSource], Options]:
            given = [*self.arguments, *more]
            printed = io.StringIO()
            try:
                return process_options(given, printed, printed, require_targets=False, fscache=fscache)
            finally:
                # What mypy thinks of its configuration; it is read more than once here.
                new = [line for line in printed.getvalue().splitlines() if line not in self.printed]
                self.printed.update(new)
                print(*new, sep="\n", end="\n" if new else "", file=sys.stderr)

        sources, options = read()
        if not sources:
            sources, options = read(".")
        _prepare(options, self.cache_dir)
        return sources, options

    def report(self, output: TextIO) -> int:
        """Print everything; the summary comes last and says that there is nothing more. Returns the exit status."""
        from mypy.version import __version__

        for finding in sorted(self.findings, key=lambda each: (each["path"], each["line"], each["column"])):
            print(json.dumps(finding), file=output)
        summary = {"mypy": __version__, "files": self.files, "others": self.others, "problems": self.problems}
        print(json.dumps({"summary": summary}), file=output, flush=True)
        if self.problems:
            return 2
        return 1 if self.findings else 0


def _prepare(options: Options, cache_dir: str | None) -> None:
    """Change mypy's options so that the plugin runs, everywhere, and answers in JSON."""
    if not any(name.partition(":")[0] == PLUGIN for name in options.plugins):
        options.plugins.append(PLUGIN)
    if options.config_file is None:
        # mypy loads plugins only together with a configuration file, which it names if one cannot be loaded.
        options.config_file = str(_nearest_pyproject())
    options.check_untyped_defs = True
    options.ignore_errors = False
    for section in options.per_module_options.values():
        for name in _SILENCERS:
            section.pop(name, None)
    options.output = "json"
    options.pretty = False
    options.many_errors_threshold = -1
    options.report_dirs = {}
    if cache_dir is not None:
        options.cache_dir = cache_dir
    if getattr(options, "num_workers", 0):  # mypy 2: the parser that its workers share
        options.native_parser = True


def _nearest_pyproject() -> Path:
    here = Path.cwd()
    found = (folder / "pyproject.toml" for folder in (here, *here.parents))
    return next((path for path in found if path.is_file()), here / "pyproject.toml")


def _messages(lines: Sequence[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            said = json.loads(line)
        except ValueError:
            yield _plain(line)
            continue
        yield {
            "path": said["file"],
            "line": max(said["line"], 1),
            "column": max(said["column"], 0) + 1,
            "code": said["code"],
            "message": said["message"],
            "hint": said["hint"],
            "severity": said["severity"],
        }


def _plain(line: str) -> dict[str, Any]:
    match = _PLAIN.fullmatch(line)
    if match is None:
        return _raw(line)
    found = _raw(match["message"].removesuffix("  [syntax]"))
    found.update(path=match["file"], line=int(match["line"] or 1), severity=match["severity"])
    if match["file"] == "mypy":  # "mypy: error: ..." is about no file
        found.update(path=None)
    return found


def _raw(line: str) -> dict[str, Any]:
    return {"path": None, "line": 1, "column": 1, "code": None, "message": line, "hint": None, "severity": "error"}


def _shown(path: str) -> str:
    """The path as mypy's messages have it: relative, if it is below the current folder."""
    absolute = os.path.abspath(path)
    return absolute.removeprefix(os.path.join(os.getcwd(), ""))


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # as mypy does it: taking its trees apart would cost seconds
