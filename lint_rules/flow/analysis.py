"""The flow analysis of a project: which functions are worth a run, and the copy sites that they show."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from lint_rules.flow.interpreter import Interpreter
from lint_rules.flow.judge import Judge
from lint_rules.flow.roundtrip import judge_round_trips
from lint_rules.index.model import ClassInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lint_rules.flow.sites import CopySite
    from lint_rules.index.model import FunctionInfo, ModuleInfo
    from lint_rules.index.plans import PlanTable
    from lint_rules.index.project import Project

__all__ = ["Interest", "find_copy_sites"]

#: Rounds in which functions that return plans make their callers interesting.
_ROUNDS = 3

#: A name that stands in more files than this says nothing about plans.
_COMMON = 60


class Interest:
    """Which texts speak of plans: the names to look for, and the lines of each file that have them."""

    def __init__(self, project: Project, names: Iterable[str]) -> None:
        self.project = project
        self.names: set[str] = set(names)
        self._pattern = _pattern(self.names)
        self._lines: dict[str, list[int]] = {}

    def add(self, names: Iterable[str]) -> bool:
        fresh = set(names) - self.names
        self.names |= fresh
        if fresh:
            self._pattern = _pattern(self.names)
            self._lines.clear()
        return bool(fresh)

    def paths(self) -> list[str]:
        """The files whose text has one of the names."""
        needles = [name.encode() for name in self.names]
        return [path for path, file in self.project.tree.files.items() if any(n in file.data for n in needles)]

    def rare(self, names: Iterable[str]) -> set[str]:
        """Those of the names that are not all over the project."""
        files = self.project.tree.files.values()
        return {
            name
            for name in names
            if not name.startswith("__") and sum(name.encode() in file.data for file in files) <= _COMMON
        }

    def lines(self, module: ModuleInfo) -> list[int]:
        found = self._lines.get(module.path)
        if found is None:
            found = self._lines[module.path] = self._scan(module.text)
        return found

    def _scan(self, text: str) -> list[int]:
        lines: list[int] = []
        line, last = 1, 0
        for match in self._pattern.finditer(text):
            line += text.count("\n", last, match.start())
            last = match.start()
            if not lines or lines[-1] != line:
                lines.append(line)
        return lines

    def in_span(self, module: ModuleInfo, first: int, last: int) -> bool:
        lines = self.lines(module)
        at = bisect_left(lines, first)
        return at < len(lines) and lines[at] <= last

    def in_function(self, info: FunctionInfo) -> bool:
        first = min([info.node.lineno, *(d.lineno for d in info.decorators)])
        return self.in_span(info.module, first, info.node.end_lineno or info.node.lineno)


def _pattern(names: set[str]) -> re.Pattern[str]:
    if not names:
        return re.compile(r"(?!)")
    return re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, names), key=len, reverse=True))})\b")


def find_copy_sites(
    project: Project,
    plans: PlanTable,
    materializers: frozenset[str] = frozenset(),
    progress: Callable[[int, int], None] | None = None,
) -> list[CopySite]:
    """Every place of the project where a plan is copied and a field of it is dropped, rebuilt or leaked."""
    if not len(plans):
        return []
    interest = Interest(project, plans.names() | {name.rpartition(".")[2] for name in materializers})
    while interest.add(_aliases(project, plans, interest)):
        pass
    judge = Judge(project, plans, materializers)
    interpreter = Interpreter(project, plans, judge, interest.in_function)
    done: set[FunctionInfo] = set()
    modules_done: set[str] = set()
    for _ in range(_ROUNDS):
        paths = interest.paths()
        for count, path in enumerate(paths):
            module = project.module_at(path)
            if module is None:
                continue
            for info in module.functions:
                if info not in done and interest.in_function(info):
                    done.add(info)
                    interpreter.analyze(info)
            if path not in modules_done and _top_level_is_interesting(module, interest):
                modules_done.add(path)
                interpreter.analyze_module(module)
            if progress is not None:
                progress(count + 1, len(paths))
        if not interest.add(interest.rare(judge.carrying)):
            break
    judge_round_trips(project, plans, interpreter, judge)
    return judge.results()


def _aliases(project: Project, plans: PlanTable, interest: Interest) -> set[str]:
    """Other names under which modules know the plan classes (`from .records import StageRecord as Stage`)."""
    found: set[str] = set()
    for path in interest.paths():
        module = project.module_at(path)
        for name in module.bindings if module is not None else ():
            if name not in interest.names and module is not None:
                symbol = project.resolve(module, name)
                if isinstance(symbol, ClassInfo) and plans.of(symbol) is not None:
                    found.add(name)
    return found


def _top_level_is_interesting(module: ModuleInfo, interest: Interest) -> bool:
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    return any(
        interest.in_span(module, node.lineno, node.end_lineno or node.lineno)
        for node in module.tree.body
        if not isinstance(node, definitions)
    )
