"""The hook on `@plan`: every field has a kind, and no carrier has a default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy.nodes import AssignmentStmt, ClassDef, NameExpr, Var
from mypy.types import UnboundType

from ownership.kinds import Kind
from ownership.mypy_plugin import _wording
from ownership.mypy_plugin._codes import DEFAULT, UNMARKED
from ownership.mypy_plugin._plans import METADATA, aliased_kind, hiding_alias, record_fields
from ownership.mypy_plugin._walk import nodes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mypy.errorcodes import ErrorCode
    from mypy.nodes import Context, MypyFile, TypeInfo
    from mypy.plugin import ClassDefContext
    from mypy.types import Type

    from ownership.mypy_plugin._config import Settings

__all__ = ["check_plan_class", "class_of_decorator", "record_written_kinds"]

_WRITTEN = {f"Kind.{kind.name}": kind for kind in Kind}
_TRANSPARENT = {"Final", "typing.Final", "typing_extensions.Final"}


def record_written_kinds(ctx: ClassDefContext) -> bool:
    """Keep the kinds that are written as `Annotated[T, Kind.X]`: later, mypy has nothing of them."""
    written = {name: kind for name, type_ in _annotations(ctx.cls).items() if (kind := _written_kind(type_))}
    ctx.cls.info.metadata[METADATA] = {"kinds": {name: kind.value for name, kind in written.items()}}
    return True


def check_plan_class(cls: ClassDef, settings: Settings) -> Iterator[tuple[ErrorCode, Context, str]]:
    """What is wrong with the fields of a class that `@plan` is put on.

    Of a class that is no record as far as mypy knows, nothing is said: the run-time check looks at its fields.
    """
    info = cls.info
    for name, _, has_default, _ in record_fields(info) or ():
        kind, owner = _kind(info, name, settings)
        place = _place(cls, name) if owner is info else None
        where = "" if owner is None or owner is info else f" (declared in {owner.fullname})"
        if kind is None:
            yield UNMARKED, place or cls, _wording.unmarked(info.name, name, where)
        elif owner is info and (alias := _hiding_alias(info, name)) is not None:
            yield UNMARKED, place or cls, _wording.aliased(info.name, name, alias, kind)
        elif kind.transferable and has_default:
            yield DEFAULT, place or cls, _wording.defaulted(info.name, name, where)


def class_of_decorator(tree: MypyFile, decorator: Context) -> ClassDef | None:
    """The class on which `@plan()` stands, from the call that mypy is looking at."""
    return next(
        (node for node in nodes(tree) if isinstance(node, ClassDef) and any(d is decorator for d in node.decorators)),
        None,
    )


def _kind(info: TypeInfo, name: str, settings: Settings) -> tuple[Kind | None, TypeInfo | None]:
    """The kind of a field and the class that declares it: the first that annotates it."""
    for base in info.mro:
        declared = settings.kinds_of(base)
        if name in declared:
            return declared[name], base
        symbol = base.names.get(name)
        if symbol is None or not isinstance(symbol.node, Var):
            continue
        written: Mapping[str, str] = base.metadata.get(METADATA, {}).get("kinds", {})
        if name in written:
            return Kind(written[name]), base
        return aliased_kind(symbol.node.type), base
    return None, None


def _hiding_alias(info: TypeInfo, name: str) -> str | None:
    symbol = info.names.get(name)
    return hiding_alias(symbol.node.type) if symbol is not None and isinstance(symbol.node, Var) else None


def _annotations(cls: ClassDef) -> dict[str, Type]:
    found: dict[str, Type] = {}
    for statement in cls.defs.body:
        if isinstance(statement, AssignmentStmt) and statement.unanalyzed_type is not None:
            for target in statement.lvalues:
                if isinstance(target, NameExpr):
                    found[target.name] = statement.unanalyzed_type
    return found


def _written_kind(type_: Type | None) -> Kind | None:
    """The kind in `Annotated[T, Kind.X]`, outermost mark first; mypy itself keeps nothing of it."""
    if not isinstance(type_, UnboundType):
        return None
    head = type_.name.rpartition(".")[2]
    if type_.name in _TRANSPARENT:
        return _written_kind(type_.args[0]) if type_.args else None
    if head != "Annotated":
        return None
    for argument in type_.args[:0:-1]:
        if isinstance(argument, UnboundType):
            kind = _WRITTEN.get(".".join(argument.name.split(".")[-2:]))
            if kind is not None:
                return kind
    return _written_kind(type_.args[0]) if type_.args else None


def _place(cls: ClassDef, name: str) -> Context | None:
    for statement in cls.defs.body:
        if isinstance(statement, AssignmentStmt) and any(
            isinstance(target, NameExpr) and target.name == name for target in statement.lvalues
        ):
            return statement
    return None
