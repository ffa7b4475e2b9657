"""The flow analysis of a project: every function that could copy a plan is run, and the copies that it makes judged."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lint_rules.findings import Place, Problem
from lint_rules.flow.interest import Interest
from lint_rules.flow.interpreter import Interpreter
from lint_rules.flow.judge import Judge
from lint_rules.flow.roundtrip import judge_round_trips
from lint_rules.index.build import last_name
from lint_rules.index.model import ClassInfo, Imported, ValueBinding

if TYPE_CHECKING:
    from collections.abc import Callable

    from lint_rules.flow.rebinds import Rebinding
    from lint_rules.flow.sites import CopySite
    from lint_rules.index.model import Binding, FunctionInfo, ModuleInfo
    from lint_rules.index.plans import PlanTable
    from lint_rules.index.project import Project

__all__ = ["Flow", "analyze_flow"]

#: Rounds in which functions that return plans make their callers interesting.
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Flow:
    """What became of plans: the places where one is copied and a field of it is dropped, rebuilt or leaked, ...

    ... and those where a carrier of one that was given is replaced in place.
    """

    sites: tuple[CopySite, ...] = ()
    rebindings: tuple[Rebinding, ...] = ()


def analyze_flow(
    project: Project,
    plans: PlanTable,
    materializers: frozenset[str] = frozenset(),
    progress: Callable[[int, int], None] | None = None,
) -> Flow:
    """Run every function of the project that could copy or change a plan."""
    if not len(plans):
        return Flow()
    names = plans.names() | {name.rpartition(".")[2] for name in materializers}
    interest = Interest(project, plans, names)
    while interest.add_class_names(_aliases(project, plans, interest)):
        pass
    judge = Judge(project, plans, materializers)
    interpreter = Interpreter(project, plans, judge, interest)
    done: set[FunctionInfo] = set()
    modules_done: set[str] = set()
    for _ in range(_ROUNDS):
        modules = [module for path in interest.paths() if (module := project.module_at(path)) is not None]
        interest.learn(modules)
        for count, module in enumerate(modules):
            for info in module.functions:
                if info not in done and interest.is_root(info):
                    done.add(info)
                    try:
                        interpreter.analyze(info)
                    except RecursionError:
                        _tell_too_deep(project, f"`{info.qualname}`", module.place(info.node))
            if module.path not in modules_done and _top_level_speaks(module, interest):
                modules_done.add(module.path)
                try:
                    interpreter.analyze_module(module)
                except RecursionError:
                    _tell_too_deep(project, "a statement of the module", Place(module.path, 1))
            if progress is not None:
                progress(count + 1, len(modules))
        if not interest.add(interest.rare(judge.carrying)):
            break
    judge_round_trips(project, plans, interpreter, judge)
    return Flow(tuple(judge.results()), tuple(judge.rebindings.results()))


def _tell_too_deep(project: Project, what: str, place: Place) -> None:
    project.problems.append(Problem(f"{what} is nested too deeply to be checked", place))


def _aliases(project: Project, plans: PlanTable, interest: Interest) -> set[str]:
    """Other names under which modules know plan classes (`from .records import StageRecord as Stage`); subclasses."""
    found: set[str] = set()
    for path in interest.paths():
        module = project.module_at(path)
        for name, binding in module.bindings.items() if module is not None else ():
            if _may_name_plan(binding, interest.names) and name not in interest.names and module is not None:
                symbol = project.resolve(module, name)
                if isinstance(symbol, ValueBinding):
                    symbol = project.resolve_expression(symbol.module, symbol.expression)
                if isinstance(symbol, ClassInfo) and plans.of(symbol) is not None:
                    found.add(name)
    return found


def _may_name_plan(binding: Binding, names: set[str]) -> bool:
    """Whether an import, a variable or a subclass may be a plan class; the rest need not be followed."""
    if isinstance(binding, Imported):
        return binding.name in names
    if isinstance(binding, ClassInfo):
        return any(last_name(base) in names for base in binding.node.bases)
    return isinstance(binding, ValueBinding) and isinstance(binding.expression, ast.Name | ast.Attribute)


def _top_level_speaks(module: ModuleInfo, interest: Interest) -> bool:
    return any(interest.speaks(module, node.lineno, node.end_lineno or node.lineno) for node in module.top_level())
