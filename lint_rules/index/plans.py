"""The plan table: which classes are plans, by mark or by declaration, and the kind of each of their fields."""

from __future__ import annotations

import ast
import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lint_rules.findings import Place, Problem
from lint_rules.index.build import last_name, unquoted
from lint_rules.index.model import ClassInfo, External, ModuleInfo, ValueBinding
from lint_rules.index.project import OWNERSHIP

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lint_rules.config import Config, PlanDeclaration
    from lint_rules.index.model import FieldInfo, Kind
    from lint_rules.index.project import Project

__all__ = ["KINDS", "PlanField", "PlanInfo", "PlanTable", "build_plan_table", "is_ownership_name"]

KINDS: tuple[Kind, ...] = ("Transferable", "Fact", "Derived", "Borrowed", "Ephemeral")

_KIND_BY_MEMBER = {kind.upper(): kind for kind in KINDS}

#: What a file that marks a plan, or passes the marks on, must contain: an import of the vocabulary ...
_IMPORT = re.compile(rb"^[ \t]*(?:from|import)\b[^\n#]*\b" + OWNERSHIP.encode() + rb"\b", re.MULTILINE)

#: ... or the one mark that every plan has, imported from a module of the project.
_SEEDS = (b"Transferable",)


@dataclass(frozen=True, slots=True)
class PlanField:
    """A field of a plan. `kind` is None where it says nothing; `alias` names a non-generic alias that hides a mark."""

    name: str
    kind: Kind | None
    place: Place
    owner: ClassInfo
    info: FieldInfo | None
    alias: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class PlanInfo:
    """A plan class and its fields by name, in order."""

    cls: ClassInfo
    origin: Literal["marked", "declared", "inherited"]
    fields: dict[str, PlanField]

    @property
    def transferable(self) -> tuple[str, ...]:
        return tuple(name for name, field in self.fields.items() if field.kind == "Transferable")

    def kind(self, name: str) -> Kind | None:
        field = self.fields.get(name)
        return field.kind if field is not None else None


class PlanTable:
    """The plans of a project by class; a subclass of a plan is one too."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.direct: dict[ClassInfo, PlanInfo] = {}
        self._derived: dict[ClassInfo, PlanInfo | None] = {}

    def __len__(self) -> int:
        return len(self.direct)

    def of(self, cls: ClassInfo | None) -> PlanInfo | None:
        if cls is None:
            return None
        if cls in self.direct:
            return self.direct[cls]
        if cls not in self._derived:
            self._derived[cls] = self._inherited(cls)
        return self._derived[cls]

    def _inherited(self, cls: ClassInfo) -> PlanInfo | None:
        bases = [base for base in self.project.mro(cls) if base in self.direct]
        if not bases:
            return None
        fields: dict[str, PlanField] = {}
        for base in reversed(bases):
            fields.update(self.direct[base].fields)
        for name, info in cls.fields.items():
            kind, alias = field_kind(self.project, cls.module, info)
            if kind is not None or name not in fields:
                fields[name] = PlanField(name, kind, info.place, cls, info, alias)
        return PlanInfo(cls, "inherited", fields)

    def names(self) -> set[str]:
        """The texts by which code can speak of a plan: class names and the names of transferable fields."""
        found = {cls.qualname.rpartition(".")[2] for cls in self.direct}
        for plan in self.direct.values():
            found.update(plan.transferable)
        return found


def is_ownership_name(symbol: object, *names: str) -> bool:
    """Whether a symbol is one of these names of the `ownership` package."""
    if not isinstance(symbol, External):
        return False
    top, _, last = symbol.name.rpartition(".")
    return last in names and (top == OWNERSHIP or top.startswith(OWNERSHIP + "."))


def build_plan_table(project: Project, config: Config) -> tuple[PlanTable, list[Problem]]:
    """Find the marked plans and add the declared ones; a declaration that leads nowhere is a problem."""
    table = PlanTable(project)
    for module in marked_modules(project):
        for cls in module.classes:
            if any(is_plan_decorator(project, module, decorator) for decorator in cls.node.decorator_list):
                table.direct[cls] = marked_plan(project, cls)
    problems = []
    for declaration in config.plans:
        problem = _declare(project, table, declaration)
        if problem is not None:
            problems.append(problem)
    return table, problems


def marked_modules(project: Project) -> list[ModuleInfo]:
    """Modules that could mark a plan, those included that import the marks under other names from elsewhere."""
    seeds = set(_SEEDS)
    found: dict[str, ModuleInfo] = {}
    while True:
        fresh: set[bytes] = set()
        for path, file in project.tree.files.items():
            if path in found or not _may_mark(file.data, seeds):
                continue
            module = project.module_at(path)
            if module is not None:
                found[path] = module
                fresh.update(_other_names_of_marks(project, module))
        if fresh <= seeds:
            return list(found.values())
        seeds |= fresh


def _may_mark(data: bytes, seeds: set[bytes]) -> bool:
    if any(seed in data for seed in seeds):
        return True
    return OWNERSHIP.encode() in data and _IMPORT.search(data) is not None


def _other_names_of_marks(project: Project, module: ModuleInfo) -> Iterable[bytes]:
    for name in module.bindings:
        if name not in KINDS and is_ownership_name(project.resolve(module, name), "plan", *KINDS) and name != "plan":
            yield name.encode()


def is_plan_decorator(project: Project, module: ModuleInfo, node: ast.expr) -> bool:
    callee = node.func if isinstance(node, ast.Call) else node
    return is_ownership_name(project.resolve_expression(module, callee), "plan")


def marked_plan(project: Project, cls: ClassInfo) -> PlanInfo:
    fields: dict[str, PlanField] = {}
    for name, info in project.fields(cls).items():
        if info.init_only:
            continue
        owner = project.field_owner(cls, name) or cls
        kind, alias = field_kind(project, owner.module, info)
        fields[name] = PlanField(name, kind, info.place, owner, info, alias)
    return PlanInfo(cls, "marked", fields)


def field_kind(project: Project, module: ModuleInfo, info: FieldInfo) -> tuple[Kind | None, str]:
    """The kind that an annotation states, and the name of the non-generic alias that states it, if one does."""
    return _annotation_kind(project, module, info.annotation, 0)


def _annotation_kind(
    project: Project, module: ModuleInfo, annotation: ast.expr | None, depth: int
) -> tuple[Kind | None, str]:
    node = unquoted(annotation)
    if node is None or depth > 8:
        return None, ""
    head = node.value if isinstance(node, ast.Subscript) else node
    symbol = project.resolve_expression(module, head)
    if isinstance(symbol, External):
        if is_ownership_name(symbol, *KINDS):
            return symbol.name.rpartition(".")[2], ""  # type: ignore[return-value]
        last = symbol.name.rpartition(".")[2]
        if last in {"Final", "Required", "ReadOnly"} and isinstance(node, ast.Subscript):
            return _annotation_kind(project, module, node.slice, depth + 1)
        if last == "Annotated" and isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
            for mark in node.slice.elts[1:]:
                name = last_name(mark)
                if name in _KIND_BY_MEMBER and _is_kind_member(project, module, mark):
                    return _KIND_BY_MEMBER[name], ""
        return None, ""
    if isinstance(symbol, ValueBinding) and symbol.expression is not None:
        kind, _ = _annotation_kind(project, symbol.module, symbol.expression, depth + 1)
        generic = isinstance(node, ast.Subscript) or not isinstance(symbol.expression, ast.Subscript)
        return kind, "" if generic or kind is None else symbol.name
    return None, ""


def _is_kind_member(project: Project, module: ModuleInfo, mark: ast.expr) -> bool:
    symbol = project.resolve_expression(module, mark)
    return isinstance(symbol, External) and symbol.name.startswith(OWNERSHIP + ".")


def _declare(project: Project, table: PlanTable, declaration: PlanDeclaration) -> Problem | None:
    found = _declared_class(project, declaration)
    if not isinstance(found, ClassInfo):
        return found
    known = project.fields(found)
    stated: dict[str, Kind] = {}
    for kind in KINDS:
        for name in getattr(declaration, kind.lower()):
            stated[name] = kind
    assigned: dict[str, Place] = {}
    for base in project.mro(found):
        assigned = _assigned_attributes(base) | assigned
    missing = [name for name in stated if name not in known and name not in assigned]
    if missing:
        close = difflib.get_close_matches(missing[0], known, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else f"; its fields are {', '.join(known) or 'none'}"
        return Problem(
            f"declared field {', '.join(map(repr, missing))} of {declaration.class_name} does not exist{hint}",
            declaration.origin,
        )
    fields = dict(table.direct[found].fields) if found in table.direct else {}
    for name, info in known.items():
        if not info.init_only:
            owner = project.field_owner(found, name) or found
            fields[name] = PlanField(name, stated.get(name) or _kept(fields, name), info.place, owner, info)
    for name, kind in stated.items():
        if name not in fields:
            fields[name] = PlanField(name, kind, assigned[name], found, None)
    table.direct[found] = PlanInfo(found, "declared", fields)
    return None


def _kept(fields: dict[str, PlanField], name: str) -> Kind | None:
    return fields[name].kind if name in fields else None


def _assigned_attributes(cls: ClassInfo) -> dict[str, Place]:
    """Attributes that any method of the class assigns on its first parameter."""
    found: dict[str, Place] = {}
    for method in cls.methods.values():
        arguments = [*method.node.args.posonlyargs, *method.node.args.args]
        if not arguments:
            continue
        for node in ast.walk(method.node):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Store)
                and isinstance(node.value, ast.Name)
                and node.value.id == arguments[0].arg
            ):
                found.setdefault(node.attr, cls.module.place(node))
    return found


def _declared_class(project: Project, declaration: PlanDeclaration) -> ClassInfo | Problem | None:
    """The class, or why there is none; None where its file cannot be read, which is reported as such."""
    wanted = declaration.class_name
    path, separator, qualname = wanted.partition("::")
    if separator:
        return _class_in_file(project, declaration, path, qualname)
    parts = wanted.split(".")
    known_module = ""
    unreadable = False
    for cut in range(len(parts) - 1, 0, -1):
        dotted, qualname = ".".join(parts[:cut]), ".".join(parts[cut:])
        paths = project.paths_of(dotted)
        if paths and not known_module:
            known_module = dotted
        found = []
        for candidate in paths:
            module = project.module_at(candidate)
            unreadable = unreadable or module is None
            cls = _class_named(project, module, qualname) if module is not None else None
            if cls is not None and cls not in found:
                found.append(cls)
        if len(found) > 1:
            places = ", ".join(f"{cls.module.path}::{qualname}" for cls in found)
            return Problem(f"declared class {wanted} is ambiguous; declare one of {places}", declaration.origin)
        if found:
            return found[0]
    if unreadable:
        return None
    if not known_module:
        missing = ".".join(parts[:-1]) or wanted
        detail = f"no module {missing!r} among the {len(project.tree.files)} files that were read"
    else:
        module = project.module(known_module)
        names = [cls.qualname for cls in module.classes] if module is not None else []
        close = difflib.get_close_matches(parts[-1], names, n=1)
        detail = f"module {known_module} has no such class" + (f"; did you mean {close[0]}?" if close else "")
    return Problem(f"declared class {wanted} does not exist: {detail}", declaration.origin)


def _class_in_file(
    project: Project, declaration: PlanDeclaration, path: str, qualname: str
) -> ClassInfo | Problem | None:
    wanted = path.removeprefix("./")
    matches = [name for name in project.tree.files if name == wanted or name.endswith("/" + wanted)]
    if wanted in matches:
        matches = [wanted]
    if not matches:
        return Problem(f"declared class {declaration.class_name}: no file {path} was read", declaration.origin)
    modules = [project.module_at(match) for match in matches]
    found = [cls for module in modules if module is not None and (cls := module.class_named(qualname)) is not None]
    if len(found) == 1:
        return found[0]
    if found:
        places = ", ".join(f"{cls.module.path}::{qualname}" for cls in found)
        text = f"declared class {declaration.class_name} is ambiguous; declare one of {places}"
        return Problem(text, declaration.origin)
    if None in modules:
        return None
    return Problem(
        f"declared class {declaration.class_name} does not exist: {path} has no class {qualname}", declaration.origin
    )


def _class_named(project: Project, module: ModuleInfo, qualname: str) -> ClassInfo | None:
    """A class of the module itself, or one that it re-exports."""
    found = module.class_named(qualname)
    if found is not None or "." in qualname:
        return found
    symbol = project.resolve(module, qualname)
    return symbol if isinstance(symbol, ClassInfo) else None
