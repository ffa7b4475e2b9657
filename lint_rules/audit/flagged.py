"""Fields that a factory fills only under a flag, where somebody calls it with the flag off and puts back some of them.

This pattern has proved to be worth reporting: what is put back by hand after a call that leaves it out on purpose is
what must be carried, and the field that is not put back has been forgotten.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lint_rules.audit.model import Suggestion, declaration_of, marks_of
from lint_rules.findings import Finding, Fix
from lint_rules.flow.interest import Interest
from lint_rules.flow.interpreter import Interpreter
from lint_rules.flow.judge import Judge
from lint_rules.flow.state import Frame, State
from lint_rules.flow.values import Const, Obj, Param, bare, is_blank, one
from lint_rules.index.build import last_name
from lint_rules.index.model import External, FunctionInfo, Imported
from lint_rules.index.plans import PlanTable
from lint_rules.rules._wording import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.index.bodies import Bodies
    from lint_rules.index.model import ClassInfo, ModuleInfo
    from lint_rules.index.project import Project

__all__ = ["FlaggedFields"]

_REPLACERS = {"dataclasses.replace", "copy.replace", "attrs.evolve", "attr.evolve"}

_NAMES = frozenset({"replace", "evolve"})
_MODULES = frozenset({"dataclasses", "copy", "attr", "attrs"})


@dataclass(frozen=True, slots=True)
class _Flagged:
    """A factory's class, and the fields that it fills only when the flag is on."""

    cls: ClassInfo
    fields: tuple[str, ...]


class FlaggedFields:
    """Finds them, module by module."""

    def __init__(self, project: Project, plans: PlanTable, bodies: Bodies) -> None:
        self.project = project
        self.bodies = bodies
        self.plans = plans
        # Factories are run as they are; nothing in them is a plan yet, so nothing that they call is followed.
        blank = PlanTable(project)
        self.interpreter = Interpreter(project, blank, Judge(project, blank), Interest(project, blank, ()))
        self._flagged: dict[tuple[FunctionInfo, str], _Flagged | None] = {}

    def in_module(self, module: ModuleInfo) -> Iterator[Suggestion]:
        """The calls of a module that put back some of the fields, and not all."""
        spoken = any(name in module.text for name in _NAMES)  # a regular expression would cost more than the rest
        names = _replacers_of(module) if spoken else set()
        for function in module.functions if names else ():
            for call in self.bodies.of(function).calls:
                if not call.keywords or not call.args or last_name(call.func) not in names:
                    continue
                if self._is_replacer(module, call.func):
                    base = _made_by(call.args[0], function.node, call)
                    suggestion = self._suggest(module, function, call, base) if base is not None else None
                    if suggestion is not None:
                        yield suggestion

    def _is_replacer(self, module: ModuleInfo, node: ast.expr) -> bool:
        symbol = self.project.resolve_expression(module, node)
        return isinstance(symbol, External) and symbol.name in _REPLACERS

    def _suggest(self, module: ModuleInfo, function: FunctionInfo, call: ast.Call, base: ast.Call) -> Suggestion | None:
        factory = self.project.resolve_expression(module, base.func)
        if not isinstance(factory, FunctionInfo) or any(keyword.arg is None for keyword in call.keywords):
            return None
        given = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
        for flag in _flags_turned_off(base, factory):
            flagged = self._fields_under(factory, flag)
            if flagged is None or self.plans.of(flagged.cls) is not None:
                continue
            missing = tuple(name for name in flagged.fields if name not in given)
            if missing and len(missing) < len(flagged.fields):
                return _suggestion(module, function, call, factory, flag, flagged, missing)
        return None

    def _fields_under(self, factory: FunctionInfo, flag: str) -> _Flagged | None:
        key = (factory, flag)
        if key not in self._flagged:
            self._flagged[key] = self._compare(factory, flag)
        return self._flagged[key]

    def _compare(self, factory: FunctionInfo, flag: str) -> _Flagged | None:
        on, off = self._results(factory, flag, value=True), self._results(factory, flag, value=False)
        if not on or not off or any(obj.cls is not off[0][0].cls for obj, _ in [*on, *off]):
            return None
        cls = off[0][0].cls
        names = []
        for name in self.project.fields(cls):
            empty = all(_is_blank_field(obj, name, state) for obj, state in off)
            filled = any(not _is_blank_field(obj, name, state) for obj, state in on)
            if empty and filled:
                names.append(name)
        return _Flagged(cls, tuple(names)) if names else None

    def _results(self, factory: FunctionInfo, flag: str, *, value: bool) -> list[tuple[Obj, State]]:
        """The objects that the factory returns when the flag has a value, each with the state at its return."""
        self.interpreter.budget = 4_000
        frame = Frame(factory.module, factory, None, depth=1, owner=factory.owner)
        state = State()
        slots = state.writable(frame)
        arguments = factory.node.args
        for parameter in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
            slots[parameter.arg] = one(Const.of(value)) if parameter.arg == flag else one(Param(parameter.arg))
        self.interpreter.block(factory.node.body, frame, state)
        return [
            (inner, end)
            for returned, end, _ in frame.returns
            for part in returned
            if isinstance(inner := bare(part), Obj)
        ]


def _replacers_of(module: ModuleInfo) -> set[str]:
    """The names that may mean `replace` here; none where neither it nor a module that has it is imported."""
    imports = {name: each for name, each in module.bindings.items() if isinstance(each, Imported)}
    given = {name for name, each in imports.items() if each.name in _NAMES}
    if given or any(each.name is None and each.module in _MODULES for each in imports.values()):
        return given | _NAMES
    return set()


def _is_blank_field(obj: Obj, name: str, state: State) -> bool:
    value = state.read(obj, name)
    return value is None or all(is_blank(part) for part in value)


def _made_by(node: ast.expr, function: ast.AST, before: ast.Call) -> ast.Call | None:
    """The call that makes the value of an expression: the expression itself, or the last assignment to its name."""
    if isinstance(node, ast.Call):
        return node
    if not isinstance(node, ast.Name):
        return None
    made: ast.Call | None = None
    for statement in ast.walk(function):
        if isinstance(statement, ast.Assign) and statement.lineno < before.lineno:
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
            if node.id in names:
                made = statement.value if isinstance(statement.value, ast.Call) else None
    return made


def _flags_turned_off(call: ast.Call, factory: FunctionInfo) -> Iterator[str]:
    names = [a.arg for a in [*factory.node.args.posonlyargs, *factory.node.args.args]]
    for index, argument in enumerate(call.args):
        if isinstance(argument, ast.Constant) and argument.value is False and index < len(names):
            yield names[index]
    for keyword in call.keywords:
        if keyword.arg and isinstance(keyword.value, ast.Constant) and keyword.value.value is False:
            yield keyword.arg


def _suggestion(
    module: ModuleInfo,
    function: FunctionInfo,
    call: ast.Call,
    factory: FunctionInfo,
    flag: str,
    flagged: _Flagged,
    missing: tuple[str, ...],
) -> Suggestion:
    cls = flagged.cls
    kept = [name for name in flagged.fields if name not in missing]
    reason = (
        f"`{factory.qualname}` fills {quoted(flagged.fields)} only when `{flag}` is true; it is called here with"
        f" `{flag}=False`, and {quoted(kept)} {'is' if len(kept) == 1 else 'are'} put back, but not {quoted(missing)}"
    )
    finding = Finding(
        code="OWN001",
        place=module.place(call),
        class_name=cls.full_name,
        fields=missing,
        message=(
            f"{quoted(missing)} of {cls.qualname} {'seems' if len(missing) == 1 else 'seem'} to be lost when the plan"
            " is made again."
        ),
        declared_at=tuple(cls.fields[name].place for name in missing if name in cls.fields),
        fixes=(Fix("declare or mark the class, then run `carryall check`", "display"),),
    )
    return Suggestion(finding, reason, "high", declaration_of(cls, flagged.fields), marks_of(cls, flagged.fields))
