"""A class that is constructed again from an object of its own, with all of the parameters but one or two."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from lint_rules.agreement.constructions import class_of, mentions
from lint_rules.agreement.signatures import constructor_signature
from lint_rules.audit.model import Suggestion, declaration_of, marks_of
from lint_rules.findings import Edit, Finding, Fix
from lint_rules.index.build import last_name
from lint_rules.rules._wording import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.agreement.constructions import Construction
    from lint_rules.agreement.scope import Agreement
    from lint_rules.index.model import ClassInfo

__all__ = ["IncompleteCopies"]

#: Parameters that the call must take from the object, for each one that it leaves out.
_TAKEN_FOR_EACH = 2


class IncompleteCopies:
    """Finds them, function by function."""

    def __init__(self, agreement: Agreement) -> None:
        self.agreement = agreement
        self.project = agreement.project
        self._subclasses: dict[ClassInfo, list[ClassInfo]] = {}

    def of(self, made: Construction) -> Iterator[Suggestion]:
        """What one construction leaves out, for its class and for subclasses that are made by the same call."""
        sources: dict[str, list[str]] = {}
        for name, source in made.taken.items():
            sources.setdefault(source, []).append(name)
        for source, taken in sources.items():
            cls = class_of(self.project, made.function, source)
            if cls is None or not self._same(cls, made.cls) or self.agreement.plans.of(made.cls) is not None:
                continue
            left = self._left_out(made, cls, made.omitted())
            if _is_telling(taken, left):
                yield self._suggestion(made, made.cls, source, taken, left)
            elif not left and made.open_class:
                yield from self._in_subclasses(made, source, taken)

    def _same(self, one: ClassInfo, other: ClassInfo) -> bool:
        return other in self.project.mro(one) or one in self.project.mro(other)

    def _left_out(self, made: Construction, cls: ClassInfo, omitted: list[str]) -> list[str]:
        """The parameters that the source could supply, and that the function does not speak of elsewhere."""
        body = self.agreement.bodies.of(made.function)
        return [name for name in omitted if self._has(cls, made, name) and not mentions(body, name)]

    def _has(self, cls: ClassInfo, made: Construction, name: str) -> bool:
        parameter = made.signature.get(name)
        fields = self.project.fields(cls)
        known = parameter.field if parameter is not None and parameter.field else name
        return known in fields or f"_{name}" in fields

    def _in_subclasses(self, made: Construction, source: str, taken: list[str]) -> Iterator[Suggestion]:
        known = {each.name for each in made.signature.parameters}
        for cls in self._subclasses_of(made.cls):
            if made.function.node.name in cls.methods:
                continue
            signature = constructor_signature(self.project, cls)
            if signature is None or signature.open_keywords or signature.open_positional:
                continue
            more = [each.name for each in signature.parameters if each.has_default and each.name not in known]
            left = [name for name in more if name in self.project.fields(cls)]
            if _is_telling(taken, left):
                yield self._suggestion(made, cls, source, taken, left)

    def _subclasses_of(self, cls: ClassInfo) -> list[ClassInfo]:
        if cls not in self._subclasses:
            pattern = re.compile(rb"^[ \t]*class \w+\([^)]*\b" + cls.node.name.encode() + rb"\b", re.MULTILINE)
            found: list[ClassInfo] = []
            for path, file in self.project.tree.files.items():
                module = self.project.module_at(path) if pattern.search(file.data) else None
                if module is not None:
                    found += [each for each in module.classes if each is not cls and cls in self.project.mro(each)]
            self._subclasses[cls] = found
        return self._subclasses[cls]

    def _suggestion(
        self, made: Construction, cls: ClassInfo, source: str, taken: list[str], left: list[str]
    ) -> Suggestion:
        info = made.function
        fields = self.project.fields(cls)
        names = tuple(self._field(cls, made, name) for name in left)
        given = ", ".join(f"{name}={source}.{field}" for name, field in zip(left, names, strict=True))
        through = f" ({cls.qualname} inherits it)" if cls is not made.cls else ""
        message = (
            f"`{info.qualname}` makes a {cls.qualname} from `{source}`{through} and leaves out {quoted(names)}: the"
            f" copy falls back to {'its default' if len(names) == 1 else 'the defaults'}. Pass `{given}`."
        )
        reason = f"the call takes {quoted(taken)} from `{source}`, which has {quoted(names)} too"
        finding = Finding(
            code="OWN001",
            place=info.module.place(made.call),
            class_name=cls.full_name,
            fields=names,
            message=message,
            declared_at=tuple(fields[name].place for name in names),
            fixes=(_fix(made, cls, given, left, names, source),),
        )
        carried = [self._field(cls, made, name) for name in taken]
        every = [name for name in dict.fromkeys([*carried, *names]) if name in fields]
        sure = len(names) == 1 and len(taken) > _TAKEN_FOR_EACH
        declaration, marks = declaration_of(cls, every), marks_of(cls, every)
        return Suggestion(finding, reason, "high" if sure else "medium", declaration, marks)

    def _field(self, cls: ClassInfo, made: Construction, name: str) -> str:
        """The attribute that holds what a parameter was given."""
        parameter = made.signature.get(name)
        if parameter is not None and parameter.field:
            return parameter.field
        return name if name in self.project.fields(cls) else f"_{name}"


def _is_telling(taken: list[str], left: list[str]) -> bool:
    return bool(left) and len(taken) >= _TAKEN_FOR_EACH * len(left)


def _fix(made: Construction, cls: ClassInfo, given: str, left: list[str], names: tuple[str, ...], source: str) -> Fix:
    call = made.call
    if not isinstance(call, ast.Call) or cls is not made.cls or not hasattr(call.func, "lineno"):
        return Fix(f"pass {given}", "display")
    place = made.function.module.place(call)
    callee = last_name(call.func)
    edits = tuple(Edit(place, name, f"{source}.{field}", callee) for name, field in zip(left, names, strict=True))
    return Fix(f"pass {given}", "unsafe", edits)
