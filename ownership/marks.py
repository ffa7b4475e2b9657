"""Reading the kind of a field from its annotation, evaluated or not.

Only the outermost part of an annotation is resolved. The type inside may exist for type checkers alone (an import under
`TYPE_CHECKING`, a forward reference, a name of a function that has returned), and must never be the reason why a plan
cannot be declared.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, ForwardRef

from ownership.kinds import Kind

if TYPE_CHECKING:
    import ast

__all__ = ["Mark", "Names", "names_of", "read_mark"]

_BY_ALIAS = {kind.alias: kind for kind in Kind}
_UNRESOLVED = object()


class Mark:
    """What an annotation says: the distinct kinds, outermost first, and the non-generic alias they hide behind.

    `inner`: a kind occurs further inside, where it marks nothing: in a union, or as an argument of another type.
    """

    __slots__ = ("alias", "inner", "kinds")

    def __init__(self, kinds: Iterable[Kind] = (), *, alias: str | None = None, inner: bool = False) -> None:
        self.kinds = tuple(dict.fromkeys(kinds))
        self.alias = alias
        self.inner = inner


class Names:
    """The names an annotation can use, as Python looks them up: in the class, its function, its module, builtins."""

    def __init__(self, *spaces: Mapping[str, Any]) -> None:
        self.spaces = (*spaces, vars(builtins))

    def get(self, name: str) -> object:
        """The value of a name, or a private placeholder."""
        for space in self.spaces:
            if name in space:
                return space[name]
        return _UNRESOLVED

    def spell(self, value: object) -> bool:
        """Whether this very object has a name, here or in a module that is imported here."""
        for space in self.spaces:
            for known in list(space.values()):
                if known is value:
                    return True
                if isinstance(known, ModuleType) and any(held is value for held in list(vars(known).values())):
                    return True
        return False


def names_of(cls: type, local: Mapping[str, Any]) -> Names:
    """The names that the annotations of `cls` can use; `local` are those of the function that declares the class."""
    module = sys.modules.get(cls.__module__)
    return Names(vars(cls), local, vars(module) if module is not None else {})


def read_mark(annotation: object, *, cls: type, field: str, names: Names) -> Mark:
    """The mark in the annotation of `cls`' own field `field`."""
    if isinstance(annotation, ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        return _read_text(annotation, names)
    mark = _read_value(annotation)
    if mark.kinds and mark.alias is None and not getattr(annotation, "__parameters__", ()) and names.spell(annotation):
        # `typing` caches, so this object may be the value of an alias although the field spells the mark out. Only the
        # source can tell; without it the field gets the benefit of the doubt.
        return Mark(mark.kinds, alias=_alias_in_source(cls, field))
    return mark


def _read_value(annotation: object) -> Mark:
    origin = getattr(annotation, "__origin__", None)
    if _is_type_alias(annotation):
        mark = _read_value(_value_of(annotation))
        generic = bool(getattr(annotation, "__type_params__", ()))
        return mark if generic or not mark.kinds else Mark(mark.kinds, alias=str(annotation))
    if _is_type_alias(origin):
        return Mark(_read_value(_value_of(origin)).kinds)
    if _is_final(origin):
        return _read_value(annotation.__args__[0])  # type: ignore[attr-defined]
    metadata = getattr(annotation, "__metadata__", None)
    if metadata is not None:
        # Nested `Annotated` is flattened, innermost metadata first.
        own = Mark(item for item in reversed(metadata) if isinstance(item, Kind))
        inside = _read_value(origin)
        return Mark((*own.kinds, *inside.kinds), alias=None if own.kinds else inside.alias, inner=inside.inner)
    arguments = getattr(annotation, "__args__", ())
    inner = isinstance(arguments, tuple) and any(
        found.kinds or found.inner for found in map(_read_value, arguments) if found is not None
    )
    return Mark(inner=inner)


def _is_type_alias(value: object) -> bool:
    return type(value).__name__ == "TypeAliasType" and hasattr(type(value), "__value__")


def _value_of(alias: object) -> object:
    try:
        return alias.__value__  # type: ignore[attr-defined]
    except Exception:  # noqa: BLE001 - evaluated here for the first time, and may name things for checkers only
        return None


def _is_final(value: object) -> bool:
    return value is not None and str(value) in ("typing.Final", "typing_extensions.Final")


def _read_text(text: str, names: Names) -> Mark:
    import ast

    try:
        node = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return Mark()
    return _read_node(node, names)


def _read_node(node: ast.expr, names: Names) -> Mark:
    import ast

    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _read_text(node.value, names)
    if isinstance(node, ast.Name | ast.Attribute):
        return _read_name(node, names)
    if isinstance(node, ast.Subscript):
        return _read_subscript(node, names)
    inner = any(
        isinstance(child, ast.expr) and _marked_within(_read_node(child, names)) for child in ast.iter_child_nodes(node)
    )
    return Mark(inner=inner)


def _marked_within(mark: Mark) -> bool:
    return bool(mark.kinds) or mark.inner


def _read_name(node: ast.Name | ast.Attribute, names: Names) -> Mark:
    import ast

    value = _resolve(node, names)
    if value is _UNRESOLVED:
        kind = _BY_ALIAS.get(_last(node))
        return Mark((kind,) if kind else ())
    mark = _read_value(value)
    generic = getattr(value, "__parameters__", ()) or getattr(value, "__type_params__", ())
    return Mark(mark.kinds, alias=None if generic or not mark.kinds else ast.unparse(node))


def _read_subscript(node: ast.Subscript, names: Names) -> Mark:
    import ast

    head = _resolve(node.value, names)
    arguments = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    last = _last(node.value)
    inside = _read_node(arguments[0], names) if arguments else Mark()
    if head is _UNRESOLVED:
        final, annotated, own = (
            last == "Final",
            last == "Annotated",
            Mark([_BY_ALIAS[last]] if last in _BY_ALIAS else ()),
        )
    else:
        final, annotated, own = _is_final(head), head is Annotated, _read_value(head)
    if annotated:
        own = Mark(kind for item in reversed(arguments[1:]) if (kind := _kind(item, names)) is not None)
    elif not own.kinds and not final:
        return Mark(inner=any(_marked_within(_read_node(item, names)) for item in arguments))
    return Mark((*own.kinds, *inside.kinds), alias=None if own.kinds else inside.alias, inner=inside.inner)


def _kind(node: ast.expr, names: Names) -> Kind | None:
    import ast

    value = _resolve(node, names)
    if isinstance(value, Kind):
        return value
    if value is _UNRESOLVED and isinstance(node, ast.Attribute) and _last(node.value) == "Kind":
        return Kind.__members__.get(node.attr)
    return None


def _resolve(node: ast.expr, names: Names) -> object:
    import ast

    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        value = _resolve(node.value, names)
        return value if value is _UNRESOLVED else getattr(value, node.attr, _UNRESOLVED)
    return _UNRESOLVED


def _last(node: ast.expr) -> str:
    import ast

    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _alias_in_source(cls: type, field: str) -> str | None:
    """The name that the source of `cls` annotates `field` with, if it is a name and nothing more."""
    import ast
    import inspect
    import textwrap

    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    body = next((node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == cls.__name__), [])
    found = [
        node.annotation
        for node in body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == field
    ]
    return ast.unparse(found[-1]) if found and isinstance(found[-1], ast.Name | ast.Attribute) else None
