"""An attribute that is set on instances of a dataclass but is no field, so that `replace` cannot carry it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from lint_rules.agreement.constructions import class_of
from lint_rules.agreement.scope import hidden_names
from lint_rules.agreement.signatures import callee_of
from lint_rules.audit.model import Suggestion
from lint_rules.findings import Finding, Fix
from lint_rules.index.build import last_name
from lint_rules.index.model import ClassInfo, External
from lint_rules.rules._wording import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.agreement.scope import Agreement
    from lint_rules.findings import Place
    from lint_rules.index.model import FunctionInfo, ModuleInfo

__all__ = ["LooseAttributes"]

_REPLACERS = frozenset({"dataclasses.replace", "copy.replace", "attrs.evolve", "attr.evolve"})


class LooseAttributes:
    """Collects both halves, function by function: what is set beside the fields, and what is replaced."""

    def __init__(self, agreement: Agreement) -> None:
        self.agreement = agreement
        self._set: dict[ClassInfo, dict[str, Place]] = {}
        self._replaced: list[tuple[FunctionInfo, ast.Call, ClassInfo]] = []

    def look(self, info: FunctionInfo) -> tuple[Suggestion, ...]:
        """Note what one function sets and replaces; nothing can be said before all were looked at."""
        body = self.agreement.bodies.of(info)
        for name, values in body.values.items():
            if name in body.fed and len(values) == 1 and isinstance(values[0], ast.Call):
                self._note_made(info, name, values[0])
        for call in body.calls:
            if last_name(call.func) in {"replace", "evolve"} and call.args and isinstance(call.args[0], ast.Name):
                cls = class_of(self.agreement.project, info, call.args[0].id)
                if cls is not None and self._is_replacer(info.module, call.func):
                    self._replaced.append((info, call, cls))
        return ()

    def _is_replacer(self, module: ModuleInfo, node: ast.expr) -> bool:
        symbol = self.agreement.project.resolve_expression(module, node)
        return isinstance(symbol, External) and symbol.name in _REPLACERS

    def _note_made(self, info: FunctionInfo, name: str, call: ast.Call) -> None:
        """What a function sets on an object that it has just made; what an object sets on itself is its own affair."""
        project = self.agreement.project
        cls = callee_of(project, info, call, hidden_names(self.agreement.bodies, info) - _receiver(info))
        if not isinstance(cls, ClassInfo) or project.flavor(cls) not in {"dataclass", "attrs"}:
            return
        known = {
            *project.fields(cls),
            *(each for base in project.mro(cls) for each in (*base.methods, *base.constants)),
        }
        targets = [each for targets, _, _ in self.agreement.bodies.of(info).assignments for each in targets]
        for target in targets:
            if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
                continue
            if target.value.id == name and target.attr not in known:
                self._set.setdefault(cls, {}).setdefault(target.attr, info.module.place(target))

    def suggestions(self) -> Iterator[Suggestion]:
        """The places where an object that may have such an attribute is replaced."""
        for info, call, cls in self._replaced:
            loose = self._set.get(cls)
            if not loose or self.agreement.plans.of(cls) is not None:
                continue
            names = tuple(loose)
            one = len(names) == 1
            places = ", ".join(dict.fromkeys(map(str, loose.values())))
            message = (
                f"{quoted(names)} {'is' if one else 'are'} set on {cls.qualname} ({places}) but"
                f" {'is no field' if one else 'are no fields'}, so this `{last_name(call.func)}(...)` makes an object"
                f" without {'it' if one else 'them'}. Declare {'it as a field' if one else 'them as fields'}."
            )
            title = f"declare {quoted(names)} in {cls.qualname}"
            finding = Finding(
                code="OWN001",
                place=info.module.place(call),
                class_name=cls.full_name,
                fields=names,
                message=message,
                declared_at=tuple(loose.values()),
                fixes=(Fix(title, "display"),),
            )
            reason = f"{'it is' if one else 'they are'} set from outside, right after a {cls.qualname} was made"
            yield Suggestion(finding, reason, "high")


def _receiver(info: FunctionInfo) -> set[str]:
    arguments = info.node.args.args
    return {arguments[0].arg} if arguments else set()
