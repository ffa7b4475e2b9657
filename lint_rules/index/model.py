"""The records of the index: what a module, a class, a field and a function are to the checker."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from lint_rules.findings import Place

__all__ = [
    "Binding",
    "ClassInfo",
    "External",
    "FieldInfo",
    "Flavor",
    "FunctionInfo",
    "FunctionNode",
    "Imported",
    "Kind",
    "ModuleInfo",
    "Symbol",
    "ValueBinding",
]

#: How a class gets its constructor: written by hand, or made from its annotations.
Flavor = Literal["plain", "dataclass", "attrs", "namedtuple", "pydantic"]

#: What a field of a plan is; the names of `ownership.kinds`.
Kind = Literal["Transferable", "Fact", "Derived", "Borrowed", "Ephemeral"]

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class FieldInfo:
    """A field of a class, as its declaration states it.

    `default` is the default's expression, or None where there is none; a factory counts as a default.
    """

    name: str
    place: Place
    annotation: ast.expr | None
    default: ast.expr | None = None
    in_init: bool = True
    keyword_only: bool = False
    init_only: bool = False
    init_name: str = ""


@dataclass(slots=True, eq=False)
class FunctionInfo:
    """A function or method; `owner` is the class in whose body it stands."""

    module: ModuleInfo
    qualname: str
    node: FunctionNode
    owner: ClassInfo | None = None

    @property
    def full_name(self) -> str:
        return f"{self.module.name}.{self.qualname}"

    @property
    def decorators(self) -> list[ast.expr]:
        return self.node.decorator_list


@dataclass(slots=True, eq=False)
class ClassInfo:
    """A class: its own fields in order, its methods, and its bases as they are written."""

    module: ModuleInfo
    qualname: str
    node: ast.ClassDef
    flavor: Flavor = "plain"
    frozen: bool = False
    fields: dict[str, FieldInfo] = field(default_factory=dict)
    methods: dict[str, FunctionInfo] = field(default_factory=dict)
    constants: dict[str, ast.expr] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        return f"{self.module.name}.{self.qualname}"

    @property
    def place(self) -> Place:
        return Place(self.module.path, self.node.lineno, self.node.col_offset + 1)


@dataclass(frozen=True, slots=True)
class Imported:
    """A name bound by an import: `module` alone for `import module`, with `name` for `from module import name`."""

    module: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class External:
    """Something outside the project, by its dotted name."""

    name: str


@dataclass(slots=True, eq=False)
class ValueBinding:
    """A module-level variable and the expression that is assigned to it (None: cannot be told)."""

    module: ModuleInfo
    name: str
    expression: ast.expr | None


Binding: TypeAlias = "ClassInfo | FunctionInfo | Imported | ValueBinding"
Symbol: TypeAlias = "ClassInfo | FunctionInfo | ModuleInfo | External | ValueBinding"


@dataclass(slots=True, eq=False)
class ModuleInfo:
    """A parsed module and what its names are bound to."""

    name: str
    path: str
    text: str
    tree: ast.Module
    is_package: bool
    bindings: dict[str, Binding] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    classes: list[ClassInfo] = field(default_factory=list)
    functions: list[FunctionInfo] = field(default_factory=list)

    def place(self, node: ast.expr | ast.stmt | ast.keyword) -> Place:
        return Place(self.path, node.lineno, node.col_offset + 1)

    def top_level(self) -> list[ast.stmt]:
        """The statements that run on import, definitions and imports left out."""
        definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
        return [node for node in self.tree.body if not isinstance(node, definitions)]

    def class_named(self, qualname: str) -> ClassInfo | None:
        return next((cls for cls in self.classes if cls.qualname == qualname), None)
