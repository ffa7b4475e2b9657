"""The functions that speak of plans, each walked once for all rules about the use of plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lint_rules.flow.interest import Interest
from lint_rules.usage.owners import Owners
from lint_rules.usage.views import View, view_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.index.model import FunctionInfo, ModuleInfo
    from lint_rules.index.plans import PlanTable
    from lint_rules.index.project import Project

__all__ = ["Usage"]

#: Kinds whose fields some rule follows.
_FOLLOWED = frozenset({"Transferable", "Borrowed"})


class Usage:
    """The views of a project, and the answers about their expressions."""

    def __init__(self, project: Project, plans: PlanTable) -> None:
        self.project = project
        self.plans = plans
        self.owners = Owners(project, plans)
        self._views: dict[FunctionInfo, View] = {}
        self.views: list[View] = list(self._find()) if len(plans) else []

    def view(self, info: FunctionInfo) -> View:
        """The view of any function, of those too that speak of no plan."""
        known = self._views.get(info)
        if known is None:
            known = self._views[info] = view_of(info.module, info, info.node.body)
        return known

    def _find(self) -> Iterator[View]:
        """The functions that may hold a plan of which the class can be told.

        That takes the name of the class in the module, or two carriers that are read from something without a type.
        """
        names = self.plans.names()
        fields = {
            name
            for plan in self.plans.direct.values()
            for name, field in plan.fields.items()
            if field.kind in _FOLLOWED
        }
        interest = Interest(self.project, self.plans, names)
        classes = [name.encode() for name in interest.classes]
        spoken = Interest(self.project, self.plans, names | fields)
        for path in interest.paths():
            module = self.project.module_at(path)
            if module is None:
                continue
            data = self.project.tree.files[path].data
            is_named = any(name in data for name in classes)
            for info in module.functions:
                if self.plans.of(info.owner) is not None or (
                    spoken.is_spoken_of(info) and (is_named or spoken.names_carriers(info))
                ):
                    yield self.view(info)
            if is_named and self._speaks_at_top_level(module, spoken):
                yield view_of(module, None, module.top_level())

    @staticmethod
    def _speaks_at_top_level(module: ModuleInfo, spoken: Interest) -> bool:
        return any(spoken.speaks(module, node.lineno, node.end_lineno or node.lineno) for node in module.top_level())
