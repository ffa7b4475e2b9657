"""The functions that are about plans: where the rules of agreement speak, and nowhere else."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, ParamSpec, TypeVar

from lint_rules.agreement.ambient import AmbientReads
from lint_rules.agreement.signatures import callee_of, is_bound, own_parameters
from lint_rules.findings import Problem
from lint_rules.index.bodies import Bodies
from lint_rules.index.build import last_name
from lint_rules.index.model import FunctionInfo
from lint_rules.index.plans import is_ownership_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lint_rules.config import Config
    from lint_rules.index.model import ClassInfo, ModuleInfo
    from lint_rules.index.plans import PlanInfo, PlanTable
    from lint_rules.index.project import Project

__all__ = ["Agreement", "PlanFunction", "hidden_names"]

_Found = TypeVar("_Found")
_Given = ParamSpec("_Given")

#: Methods that make an object: what they read is read at its declaration.
_MAKERS = frozenset({"__init__", "__post_init__", "__attrs_post_init__", "__new__"})


@dataclass(frozen=True, slots=True)
class PlanFunction:
    """A function that is given a plan, belongs to one, makes one or returns one.

    `later` says that the plan is there when the function starts: a method of it, a parameter, or a materializer.
    """

    info: FunctionInfo
    plan: PlanInfo
    how: Literal["owner", "parameter", "materializer", "returns"]

    @property
    def later(self) -> bool:
        if self.how == "owner":
            made = self.info.node.name in _MAKERS or {last_name(d) for d in self.info.decorators} & {
                "classmethod",
                "staticmethod",
            }
            return not made
        return self.how != "returns"


class Agreement:
    """What the rules of agreement share: bodies of functions, reads of the environment, functions about plans."""

    def __init__(self, project: Project, plans: PlanTable, config: Config) -> None:
        self.project = project
        self.plans = plans
        self.bodies = Bodies()
        self.ambient = AmbientReads(project, self.bodies)
        self._materializers = frozenset(config.materializers)
        self._modules: list[ModuleInfo] | None = None
        self._functions: list[PlanFunction] | None = None

    def modules(self) -> list[ModuleInfo]:
        """The modules whose text names a plan class or a subclass of one."""
        if self._modules is None:
            self._modules = _modules_about_plans(self.project, self.plans, self._materializers)
        return self._modules

    def functions(self) -> list[PlanFunction]:
        """The functions about plans, in the order of files and lines."""
        if self._functions is None:
            self._functions = [
                found
                for module in self.modules()
                for info in module.functions
                if (found := self._about_plan(info)) is not None
            ]
        return self._functions

    def look(
        self, info: FunctionInfo, what: Callable[_Given, Iterable[_Found]], *args: _Given.args, **kwargs: _Given.kwargs
    ) -> list[_Found]:
        """What is found in a function; one that is nested too deeply is named as a problem, not passed over."""
        try:
            return list(what(*args, **kwargs))
        except RecursionError:
            place = info.module.place(info.node)
            problem = Problem(f"`{info.qualname}` is nested too deeply to be checked", place)
            if problem not in self.project.problems:
                self.project.problems.append(problem)
            return []

    def reached(self, function: PlanFunction, depth: int = 2) -> Iterator[FunctionInfo]:
        """The function itself, and the functions of the project that it calls."""
        seen = {function.info}
        level = [function.info]
        yield function.info
        for _ in range(depth):
            following: list[FunctionInfo] = []
            for info in level:
                hidden = hidden_names(self.bodies, info)
                for call in self.bodies.of(info).calls:
                    callee = callee_of(self.project, info, call, hidden)
                    if isinstance(callee, FunctionInfo) and callee not in seen:
                        seen.add(callee)
                        following.append(callee)
                        yield callee
            level = following

    def _about_plan(self, info: FunctionInfo) -> PlanFunction | None:
        if any(last_name(each) == "overload" for each in info.decorators):
            return None
        owner = self.plans.of(info.owner)
        if owner is not None:
            return PlanFunction(info, owner, "owner")
        returned = self._plan_in(info.module, info.node.returns)
        for parameter in own_parameters(info.node, skip_first=is_bound(info)):
            plan = self._plan_in(info.module, parameter.annotation)
            if plan is not None:
                return PlanFunction(info, plan, "parameter")
        if returned is not None:
            how: Literal["materializer", "returns"] = "materializer" if self._is_materializer(info) else "returns"
            return PlanFunction(info, returned, how)
        return None

    def _plan_in(self, module: ModuleInfo, annotation: ast.expr | None) -> PlanInfo | None:
        return self.plans.of(self.project.annotated_class(module, annotation)) if annotation is not None else None

    def _is_materializer(self, info: FunctionInfo) -> bool:
        return info.full_name in self._materializers or any(
            is_ownership_name(
                self.project.resolve_expression(info.module, d.func if isinstance(d, ast.Call) else d), "materializer"
            )
            for d in info.decorators
        )


def hidden_names(bodies: Bodies, info: FunctionInfo) -> set[str]:
    """The names that are local in a function, so that the module's mean nothing there."""
    body = bodies.of(info)
    own = {each.arg for each in own_parameters(info.node, skip_first=False)}
    return (own | body.stores | body.inner) - body.globals


def _modules_about_plans(project: Project, plans: PlanTable, materializers: frozenset[str]) -> list[ModuleInfo]:
    classes = {cls.qualname.rpartition(".")[2] for cls in plans.direct}
    names = classes | {name.rpartition(".")[2] for name in materializers}
    found: dict[str, ModuleInfo] = {}
    while names:
        pattern = re.compile(rb"\b(?:" + b"|".join(re.escape(name).encode() for name in sorted(names)) + rb")\b")
        fresh: set[str] = set()
        for path, file in project.tree.files.items():
            if path in found or not pattern.search(file.data):
                continue
            module = project.module_at(path)
            if module is not None:
                found[path] = module
                fresh |= {cls.node.name for cls in _plans_of(module.classes, plans)}
        names = fresh - classes
        classes |= fresh
    return [found[path] for path in sorted(found)]


def _plans_of(classes: list[ClassInfo], plans: PlanTable) -> Iterator[ClassInfo]:
    return (cls for cls in classes if plans.of(cls) is not None)
