"""The project: modules by name, parsed when they are first needed, and what a name in one of them leads to."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from lint_rules.findings import Place, Problem
from lint_rules.index.build import build_module, unquoted
from lint_rules.index.model import ClassInfo, External, FunctionInfo, Imported, ModuleInfo, ValueBinding
from lint_rules.index.source import SourceError, decode, parse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lint_rules.files import SourceFile, SourceTree
    from lint_rules.index.model import Binding, FieldInfo, Flavor, Symbol

__all__ = ["OWNERSHIP", "Project"]

#: The package whose names are the vocabulary: never followed into its source, even where that is in the project.
OWNERSHIP = "ownership"

#: How many links an import chain may have before it counts as a loop.
_LONGEST_CHAIN = 24


class Project:
    """The source tree as modules; parsing is lazy, a broken file becomes a problem once."""

    def __init__(self, tree: SourceTree) -> None:
        self.tree = tree
        self.problems: list[Problem] = []
        self._parsed: dict[str, ModuleInfo | None] = {}
        self._texts: dict[str, str | None] = {}
        self._by_name: dict[str, list[str]] = {}
        self._names: dict[str, str] = {}
        self._mro: dict[ClassInfo, tuple[ClassInfo, ...]] = {}
        packages = {name.rpartition("/")[0] for name in tree.files if name.endswith("__init__.py")}
        roots = sorted({self._relative_root(str(root)) for root in tree.import_roots}, key=len, reverse=True)
        self._prefix = _package_prefix(tree.root) if "" in packages else ""
        for name in tree.files:
            for dotted in self._module_names(name, packages, roots):
                self._by_name.setdefault(dotted, []).append(name)

    def _relative_root(self, root: str) -> str:
        base = str(self.tree.root)
        if root == base:
            return ""
        return root.removeprefix(base.rstrip("/") + "/")

    def _module_names(self, name: str, packages: set[str], roots: list[str]) -> Iterator[str]:
        """The dotted names under which the file may be imported, the likeliest first."""
        stem = name.removesuffix(".py")
        if stem.endswith("/__init__") or stem == "__init__":
            stem = stem.removesuffix("__init__").rstrip("/")
        folder = name.rpartition("/")[0]
        top = folder
        while top in packages:
            top = top.rpartition("/")[0] if "/" in top else ""
            if top == "":
                break
        seen = set()
        for root in [top, *roots]:
            if root and not (stem + "/").startswith(root + "/"):
                continue
            inner = stem[len(root) :].strip("/") if root else stem.strip("/")
            dotted = inner.replace("/", ".")
            if root == "" and self._prefix:
                dotted = f"{self._prefix}.{dotted}".rstrip(".")
            if dotted and dotted not in seen:
                seen.add(dotted)
                self._names.setdefault(name, dotted)
                yield dotted

    def module_name(self, path: str) -> str:
        return self._names.get(path, path.removesuffix(".py").replace("/", "."))

    def paths_of(self, dotted: str) -> list[str]:
        """The files that can be imported under a dotted name."""
        return self._by_name.get(dotted, [])

    def text(self, path: str) -> str | None:
        """The decoded text of a file; None (and a problem, once) where it cannot be decoded."""
        if path not in self._texts:
            try:
                self._texts[path] = decode(self.tree.files[path].data)
            except SourceError as error:
                self.report(path, error)
                self._texts[path] = None
        return self._texts[path]

    def report(self, path: str, error: SourceError) -> None:
        self.problems.append(Problem(error.message, Place(path, error.line or 1)))

    def module_at(self, path: str) -> ModuleInfo | None:
        """The module in a file; None where the file is unknown or cannot be read as Python."""
        if path not in self._parsed:
            self._parsed[path] = None
            file = self.tree.files.get(path)
            if file is not None:
                self._parsed[path] = self._parse(file)
        return self._parsed[path]

    def _parse(self, file: SourceFile) -> ModuleInfo | None:
        text = self.text(file.name)
        if text is None:
            return None
        try:
            syntax = parse(text, file.name)
        except SourceError as error:
            self.report(file.name, error)
            return None
        is_package = file.name.endswith("__init__.py")
        return build_module(self.module_name(file.name), file.name, text, syntax, is_package=is_package)

    def is_read(self, path: str) -> bool:
        """Whether the file was parsed, or its problem reported."""
        return path in self._parsed

    def module(self, dotted: str, near: str = "") -> ModuleInfo | None:
        """The module with a dotted name; of several, the one whose path has most in common with `near`."""
        paths = self._by_name.get(dotted)
        if not paths:
            return None
        if len(paths) == 1:
            return self.module_at(paths[0])
        return self.module_at(max(paths, key=lambda path: _shared_folders(path, near)))

    # Names

    def resolve(self, module: ModuleInfo, name: str, depth: int = 0) -> Symbol | None:
        """What a module-level name of a module leads to, through imports and re-exports."""
        binding = module.bindings.get(name)
        if binding is not None:
            return self.follow(binding, depth, module.path)
        for source in module.stars:
            if depth < _LONGEST_CHAIN and not _is_ownership(source):
                found = self.resolve_in(source, name, depth + 1, module.path)
                if found is not None and (not isinstance(found, External) or self.paths_of(source)):
                    return found
            elif _is_ownership(source):
                return External(f"{source}.{name}")
        if module.is_package:
            return self.module(f"{module.name}.{name}", module.path)
        return None

    def follow(self, binding: Binding, depth: int = 0, near: str = "") -> Symbol | None:
        """What a binding leads to; `near` is the file that has it."""
        if not isinstance(binding, Imported):
            return binding
        if depth > _LONGEST_CHAIN:
            return None
        if binding.name is None:
            if _is_ownership(binding.module):
                return External(binding.module)
            return self.module(binding.module, near) or External(binding.module)
        return self.resolve_in(binding.module, binding.name, depth + 1, near)

    def resolve_in(self, dotted: str, name: str, depth: int = 0, near: str = "") -> Symbol | None:
        """What `from dotted import name` binds."""
        if _is_ownership(dotted):
            return External(f"{dotted}.{name}")
        source = self.module(dotted, near)
        if source is None:
            return self.module(f"{dotted}.{name}", near) or External(f"{dotted}.{name}")
        return self.resolve(source, name, depth + 1) or self.module(f"{dotted}.{name}", near)

    def attribute(self, owner: Symbol, name: str) -> Symbol | None:
        """What `owner.name` leads to where owner is a module, something external, or a class with inner classes."""
        if isinstance(owner, External):
            inner = self.module(f"{owner.name}.{name}") if not _is_ownership(owner.name) else None
            return inner or External(f"{owner.name}.{name}")
        if isinstance(owner, ModuleInfo):
            return self.resolve(owner, name) or self.module(f"{owner.name}.{name}", owner.path)
        if isinstance(owner, ClassInfo):
            inner_class = owner.module.class_named(f"{owner.qualname}.{name}")
            return inner_class or self.find_method(owner, name)
        return None

    def resolve_expression(self, module: ModuleInfo, node: ast.expr | None) -> Symbol | None:
        """What a dotted expression at module level leads to; subscripts are looked through."""
        if isinstance(node, ast.Name):
            return self.resolve(module, node.id)
        if isinstance(node, ast.Attribute):
            owner = self.resolve_expression(module, node.value)
            return self.attribute(owner, node.attr) if owner is not None else None
        if isinstance(node, ast.Subscript):
            return self.resolve_expression(module, node.value)
        return None

    def annotated_class(self, module: ModuleInfo, annotation: ast.expr | None) -> ClassInfo | None:
        """The one project class that an annotation stands for: quotes, `Optional`, unions with others, kinds."""
        node = unquoted(annotation)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self.annotated_class(module, node.left) or self.annotated_class(module, node.right)
        if isinstance(node, ast.Subscript):
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            found = self.resolve_expression(module, node.value)
            if isinstance(found, ClassInfo):
                return found
            if isinstance(found, External) and found.name.rpartition(".")[2] in _TRANSPARENT:
                return next((cls for part in inner if (cls := self.annotated_class(module, part))), None)
            return None
        found = self.resolve_expression(module, node) if node is not None else None
        if isinstance(found, ValueBinding) and found.expression is not None and found.module is not module:
            return self.annotated_class(found.module, found.expression)
        if isinstance(found, ValueBinding) and isinstance(found.expression, ast.Name | ast.Attribute | ast.Subscript):
            return self.annotated_class(found.module, found.expression)
        return found if isinstance(found, ClassInfo) else None

    # Classes

    def mro(self, cls: ClassInfo) -> tuple[ClassInfo, ...]:
        """The class and its project bases, depth first; good enough where bases do not form a diamond."""
        if cls not in self._mro:
            self._mro[cls] = (cls,)
            chain = [cls]
            for base in cls.node.bases:
                found = self.resolve_expression(cls.module, base)
                if isinstance(found, ClassInfo):
                    chain += [c for c in self.mro(found) if c not in chain]
            self._mro[cls] = tuple(chain)
        return self._mro[cls]

    def flavor(self, cls: ClassInfo) -> Flavor:
        """How instances are made: the class' own way, or that of the first base that has one."""
        for base in self.mro(cls):
            if "__init__" in base.methods:
                return "plain"
            if base.flavor != "plain":
                return base.flavor
        return "plain"

    def frozen(self, cls: ClassInfo) -> bool:
        return any(base.frozen for base in self.mro(cls))

    def fields(self, cls: ClassInfo) -> dict[str, FieldInfo]:
        """All fields, those of bases first, in the order of the constructor."""
        found: dict[str, FieldInfo] = {}
        for base in reversed(self.mro(cls)):
            found.update(base.fields)
        return found

    def field_owner(self, cls: ClassInfo, name: str) -> ClassInfo | None:
        """The class of the hierarchy that declares a field."""
        return next((base for base in self.mro(cls) if name in base.fields), None)

    def find_method(self, cls: ClassInfo, name: str, *, above: ClassInfo | None = None) -> FunctionInfo | None:
        """A method by name along the bases; `above` starts behind that class, as `super()` does."""
        chain = self.mro(cls)
        if above is not None and above in chain:
            chain = chain[chain.index(above) + 1 :]
        return next((base.methods[name] for base in chain if name in base.methods), None)

    def find_constant(self, cls: ClassInfo, name: str) -> tuple[ClassInfo, ast.expr] | None:
        return next(((base, base.constants[name]) for base in self.mro(cls) if name in base.constants), None)


#: Annotation heads whose arguments say what the value is.
_TRANSPARENT = {
    "Optional",
    "Union",
    "Annotated",
    "Final",
    "Transferable",
    "Fact",
    "Derived",
    "Borrowed",
    "Ephemeral",
    "InitVar",
    "Awaitable",
    "Coroutine",
    "Required",
    "NotRequired",
    "ReadOnly",
}


def _package_prefix(root: Path) -> str:
    """The dotted name of a root that is itself a package, as when a checker is pointed at the inside of one."""
    parts = [root.name]
    while (root.parent / "__init__.py").exists() and root.parent != root:
        root = root.parent
        parts.insert(0, root.name)
    return ".".join(parts)


def _shared_folders(path: str, other: str) -> int:
    """How many folders two paths have in common, from the top."""
    count = 0
    for left, right in zip(path.split("/")[:-1], other.split("/")[:-1], strict=False):
        if left != right:
            break
        count += 1
    return count


def _is_ownership(dotted: str) -> bool:
    return dotted == OWNERSHIP or dotted.startswith(OWNERSHIP + ".")
