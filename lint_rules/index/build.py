"""From a syntax tree to the index of one module: its imports, classes, fields and functions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from lint_rules.findings import Place
from lint_rules.index.model import ClassInfo, FieldInfo, FunctionInfo, Imported, ModuleInfo, ValueBinding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lint_rules.index.model import Flavor

__all__ = ["absolute_import", "build_class", "build_module", "last_name", "unquoted"]

#: `type X = ...` of Python 3.12; what reads it on 3.11 has made an assignment of it.
_TYPE_ALIAS: tuple[type[Any], ...] = (ast.__dict__["TypeAlias"],) if "TypeAlias" in ast.__dict__ else ()

_DATACLASS_DECORATORS = {"dataclass", "pydantic_dataclass"}
_ATTRS_DECORATORS = {"define", "frozen", "mutable", "attrs", "attributes", "s", "dataclass"}
_FIELD_CALLS = {"field", "Factory", "attrib", "ib", "Field"}


def last_name(node: ast.expr | None) -> str:
    """The last part of a dotted name, through calls and subscripts: `a.b.C[int](x)` gives `C`."""
    node = _head(node) if node is not None else None
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def unquoted(node: ast.expr | None) -> ast.expr | None:
    """An annotation with its quotes taken off; None where the text in them is no expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            inner = ast.parse(node.value.strip(), mode="eval").body
        except SyntaxError:
            return None
        for part in ast.walk(inner):
            # Positions of the inner tree count from the string's own start and would mislead.
            if isinstance(part, ast.expr):
                ast.copy_location(part, node)
        return inner
    return node


def build_module(name: str, path: str, text: str, tree: ast.Module, *, is_package: bool) -> ModuleInfo:
    """Index one parsed module. `name` is its dotted name, `path` is relative to the project root."""
    module = ModuleInfo(name, path, text, tree, is_package)
    _bind_block(module, tree.body)
    return module


def _bind_block(module: ModuleInfo, body: Iterable[ast.stmt]) -> None:
    """Bind the names of module-level code, the branches of `if` and `try` included; the first binding stands."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            _bind_import(module, node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = FunctionInfo(module, node.name, node)
            module.functions.append(function)
            module.bindings[node.name] = function
        elif isinstance(node, ast.ClassDef):
            module.bindings[node.name] = build_class(module, node, node.name)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                _bind_target(module, target, node.value)
        elif isinstance(node, ast.AnnAssign):
            _bind_target(module, node.target, node.value)
        elif isinstance(node, ast.AugAssign):
            _bind_target(module, node.target, None)
        elif isinstance(node, _TYPE_ALIAS):
            _bind_target(module, node.name, node.value)
        elif isinstance(node, ast.If | ast.For | ast.While):
            _bind_branch(module, node.body)
            _bind_branch(module, node.orelse)
        elif isinstance(node, ast.With):
            _bind_branch(module, node.body)
        elif isinstance(node, ast.Try):
            _bind_branch(module, node.body)
            for handler in node.handlers:
                _bind_branch(module, handler.body)
            _bind_branch(module, node.orelse)
            _bind_branch(module, node.finalbody)


def _bind_branch(module: ModuleInfo, body: list[ast.stmt]) -> None:
    before = dict(module.bindings)
    _bind_block(module, body)
    # The other branch of a try or an if is the fallback: what came first is what the author means.
    module.bindings.update(before)


def _bind_target(module: ModuleInfo, target: ast.expr, value: ast.expr | None) -> None:
    if isinstance(target, ast.Name):
        known = module.bindings.get(target.id)
        # A variable that is assigned twice has no one value that a reader could rely on.
        expression = None if isinstance(known, ValueBinding) else value
        module.bindings[target.id] = ValueBinding(module, target.id, expression)
    elif isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            _bind_target(module, element, None)


def _bind_import(module: ModuleInfo, node: ast.Import | ast.ImportFrom) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname:
                module.bindings[alias.asname] = Imported(alias.name)
            else:
                top = alias.name.partition(".")[0]
                module.bindings[top] = Imported(top)
        return
    source = absolute_import(module, node)
    for alias in node.names:
        if alias.name == "*":
            module.stars.append(source)
        else:
            module.bindings[alias.asname or alias.name] = Imported(source, alias.name)


def absolute_import(module: ModuleInfo, node: ast.ImportFrom) -> str:
    """The dotted module name that a `from` import means, relative ones resolved."""
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    keep = len(parts) - node.level + (1 if module.is_package else 0)
    return ".".join([*parts[: max(keep, 0)], *([node.module] if node.module else [])])


def build_class(module: ModuleInfo, node: ast.ClassDef, qualname: str, *, local: bool = False) -> ClassInfo:
    """Index a class and the classes in its body; it is registered with the module unless `local`."""
    flavor, keyword_only, frozen = _flavor(module, node)
    cls = ClassInfo(module, qualname, node, flavor, frozen)
    if not local:
        module.classes.append(cls)
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            keyword_only = _add_annotated(cls, statement, keyword_only=keyword_only)
        elif isinstance(statement, ast.Assign):
            _add_assigned(cls, statement)
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            method = FunctionInfo(module, f"{qualname}.{statement.name}", statement, cls)
            if not _is_overload_or_setter(statement):
                cls.methods[statement.name] = method
                if not local:
                    module.functions.append(method)
        elif isinstance(statement, ast.ClassDef):
            build_class(module, statement, f"{qualname}.{statement.name}", local=local)
    if cls.flavor == "plain":
        _add_init_attributes(cls)
    return cls


def _is_overload_or_setter(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(
        last_name(d) == "overload" or (isinstance(d, ast.Attribute) and d.attr in {"setter", "deleter"})
        for d in node.decorator_list
    )


def _flavor(module: ModuleInfo, node: ast.ClassDef) -> tuple[Flavor, bool, bool]:
    """The flavor, whether all fields are keyword-only, whether instances are frozen."""
    for decorator in node.decorator_list:
        options = {k.arg: k.value for k in decorator.keywords} if isinstance(decorator, ast.Call) else {}
        keyword_only = _is_true(options.get("kw_only"))
        name = _original(module, decorator)
        attrs = isinstance(_callee(decorator), ast.Attribute) and _owner_name(decorator) in {"attr", "attrs"}
        if (attrs and name in _ATTRS_DECORATORS) or name in {"define", "frozen", "mutable"}:
            return "attrs", keyword_only, name == "frozen" or _is_true(options.get("frozen"))
        if name in _DATACLASS_DECORATORS:
            return "dataclass", keyword_only, _is_true(options.get("frozen"))
    bases = {_original(module, base) for base in node.bases}
    if "NamedTuple" in bases:
        return "namedtuple", False, True
    if "BaseModel" in bases:
        return "pydantic", True, False
    return "plain", False, False


def _original(module: ModuleInfo, node: ast.expr) -> str:
    """The last name of an expression, by its own name where an import gives it another."""
    name = last_name(node)
    binding = module.bindings.get(name) if isinstance(_head(node), ast.Name) else None
    return binding.name if isinstance(binding, Imported) and binding.name else name


def _head(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node


def _callee(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _owner_name(node: ast.expr) -> str:
    callee = _callee(node)
    return last_name(callee.value) if isinstance(callee, ast.Attribute) else ""


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _add_annotated(cls: ClassInfo, node: ast.AnnAssign, *, keyword_only: bool) -> bool:
    """Add the field of `name: annotation = default`; returns whether later fields are keyword-only."""
    assert isinstance(node.target, ast.Name)
    name = node.target.id
    annotation = unquoted(node.annotation)
    head = last_name(annotation)
    if head == "KW_ONLY":
        return True
    if head == "ClassVar" or (cls.flavor == "pydantic" and name == "model_config"):
        if node.value is not None:
            cls.constants[name] = node.value
        return keyword_only
    info = FieldInfo(name, cls.module.place(node), annotation, node.value, keyword_only=keyword_only, init_name=name)
    info.init_only = head == "InitVar"
    if isinstance(node.value, ast.Call) and last_name(node.value) in _FIELD_CALLS:
        _read_field_call(info, node.value)
    if cls.flavor == "attrs":
        info.init_name = info.init_name.lstrip("_") or info.init_name
    cls.fields[name] = info
    return keyword_only


def _read_field_call(info: FieldInfo, call: ast.Call) -> None:
    options = {k.arg: k.value for k in call.keywords if k.arg}
    info.default = next((options[k] for k in ("default", "default_factory", "factory") if k in options), None)
    if last_name(call) == "Field" and call.args:
        info.default = None if _is_ellipsis(call.args[0]) else call.args[0]
    if (given := options.get("init")) is not None and isinstance(given, ast.Constant):
        info.in_init = bool(given.value)
    if "kw_only" in options:
        info.keyword_only = _is_true(options["kw_only"])
    alias = options.get("alias")
    if isinstance(alias, ast.Constant) and isinstance(alias.value, str):
        info.init_name = alias.value


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _add_assigned(cls: ClassInfo, node: ast.Assign) -> None:
    for target in node.targets:
        if not isinstance(target, ast.Name):
            continue
        if cls.flavor == "attrs" and isinstance(node.value, ast.Call) and last_name(node.value) in {"ib", "attrib"}:
            info = FieldInfo(target.id, cls.module.place(node), None, None, init_name=target.id.lstrip("_"))
            _read_field_call(info, node.value)
            cls.fields[target.id] = info
        else:
            cls.constants[target.id] = node.value


def _add_init_attributes(cls: ClassInfo) -> None:
    """Fields of a hand-written class: what its `__init__` assigns on self, and its `__slots__`."""
    slots = cls.constants.get("__slots__")
    if isinstance(slots, ast.Tuple | ast.List):
        for element in slots.elts:
            if isinstance(element, ast.Constant) and isinstance(element.value, str):
                _add_attribute(cls, element.value, Place(cls.module.path, element.lineno, element.col_offset + 1), None)
    init = cls.methods.get("__init__")
    if init is None or not init.node.args.args:
        return
    me = init.node.args.args[0].arg
    arguments = init.node.args
    annotations = {a.arg: a.annotation for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
    for node in ast.walk(init.node):
        targets: list[ast.expr] = []
        annotation: ast.expr | None = None
        if isinstance(node, ast.Assign):
            targets = node.targets
            if isinstance(node.value, ast.Name):
                annotation = unquoted(annotations.get(node.value.id))
        elif isinstance(node, ast.AnnAssign):
            targets, annotation = [node.target], unquoted(node.annotation)
        for target in targets:
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == me:
                _add_attribute(cls, target.attr, cls.module.place(target), annotation)


def _add_attribute(cls: ClassInfo, name: str, place: Place, annotation: ast.expr | None) -> None:
    known = cls.fields.get(name)
    if known is None or (known.annotation is None and annotation is not None):
        cls.fields[name] = FieldInfo(name, place, annotation, in_init=False, init_name=name)
