"""Which classes are plans, and what kind each of their fields has: by alias, by `@plan`'s record, by declaration.

Nothing is kept here from one look at a function to the next: the daemon rewrites its trees in place.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mypy.nodes import Decorator, FuncDef, TypeInfo, Var
from mypy.types import CallableType, Instance, TypeAliasType, TypeVarType, UnionType, get_proper_type

from ownership.kinds import Kind

if TYPE_CHECKING:
    from mypy.types import Type

    from ownership.mypy_plugin._config import Settings

__all__ = [
    "METADATA",
    "Constructor",
    "Plan",
    "Plans",
    "aliased_kind",
    "hiding_alias",
    "plan_class",
    "record_fields",
]

#: The key under which `@plan` leaves the kinds that are written out as `Annotated[T, Kind.X]`.
METADATA = "carryall"

#: Modules whose classes are no plans, and which are the bases of most classes.
_NEVER = frozenset({"builtins", "typing", "abc", "enum", "typing_extensions", "collections.abc"})
_ALIASES = {f"ownership.kinds.{kind.alias}": kind for kind in Kind}


@dataclass(frozen=True)
class Plan:
    """A plan class with the kinds of its fields, bases included; `missing` is declared and does not exist."""

    info: TypeInfo
    kinds: dict[str, Kind]
    missing: tuple[str, ...] = ()

    @cached_property
    def transferable(self) -> tuple[str, ...]:
        return tuple(name for name, kind in self.kinds.items() if kind.transferable)

    @cached_property
    def constructor(self) -> Constructor:
        return Constructor.of(self.info)


@dataclass(frozen=True, slots=True)
class Constructor:
    """The constructor of a class: its arguments by position, the fields by argument, those that it does not take."""

    positions: list[str | None]
    fields: dict[str, str]
    outside: set[str]
    is_record: bool

    @classmethod
    def of(cls, info: TypeInfo) -> Constructor:
        arguments: dict[str, str] = {}
        outside: set[str] = set()
        fields = record_fields(info)
        for name, in_init, _, alias in fields or ():
            if in_init:
                arguments[alias] = name
                arguments.setdefault(name.lstrip("_"), name)
                arguments[name] = name
            else:
                outside.add(name)
        return cls(constructor_names(info), arguments, outside, fields is not None)


class Plans:
    """Answers whether a class is a plan."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        tables = [*settings.classes.values(), *settings.files.values()]
        self._declares = bool(tables)
        self._declared_names = frozenset(name for table in tables for name in table)
        #: The plans that were asked for since the last look at a function began.
        self.seen: dict[str, TypeInfo] = {}
        self._answers: dict[TypeInfo, Plan | None] | None = None

    @contextmanager
    def look(self) -> Iterator[None]:
        """One look at a function, in which no class changes: what was answered is kept for as long."""
        self.seen, self._answers = {}, {}
        try:
            yield
        finally:
            self._answers = None

    def of(self, info: TypeInfo | None) -> Plan | None:
        """The plan that this class is, or None; a class without a transferable field has nothing to lose."""
        if info is None:
            return None
        if self._answers is None:
            return self._read(info)
        if info not in self._answers:
            self._answers[info] = self._read(info)
        return self._answers[info]

    def _read(self, info: TypeInfo) -> Plan | None:
        if not self._may_be(info):
            return None
        missing: list[str] = []
        kinds = {name: kind for base in reversed(info.mro) for name, kind in self._own(base, missing)}
        self.seen[info.fullname] = info
        if not any(kind.transferable for kind in kinds.values()) and not missing:
            return None
        return Plan(info, kinds, tuple(missing))

    def _may_be(self, info: TypeInfo) -> bool:
        """Whether the class has marks or declarations at all; this is asked for every class that mypy comes across."""
        for base in info.mro:
            if base.module_name in _NEVER:
                continue
            if METADATA in base.metadata or (self._declares and self._settings.kinds_of(base)):
                return True
            for symbol in base.names.values():
                if type(getattr(symbol.node, "type", None)) is TypeAliasType:
                    return True
        return False

    def is_carrier(self, info: TypeInfo, name: str) -> bool:
        """Whether this field of the class is transferable."""
        symbol = info.get(name)
        node = symbol.node if symbol is not None else None
        marked = name in self._declared_names or isinstance(getattr(node, "type", None), TypeAliasType)
        if not marked and METADATA not in info.metadata:
            return False
        plan = self.of(info)
        return plan is not None and name in plan.transferable

    def _own(self, info: TypeInfo, missing: list[str]) -> Iterator[tuple[str, Kind]]:
        declared = self._settings.kinds_of(info)
        written = info.metadata.get(METADATA, {}).get("kinds", {})
        if not declared and not written and not info.names:
            return
        for name, symbol in info.names.items():
            node = symbol.node
            if not isinstance(node, Var) or node.is_classvar or "-" in name:  # "fold-redefinition" of a NamedTuple
                continue
            if name in declared:
                yield name, declared[name]
            elif name in written:
                yield name, Kind(written[name])
            elif isinstance(node.type, TypeAliasType) and (kind := aliased_kind(node.type)) is not None:
                yield name, kind
        for name in declared:
            if info.get(name) is None:
                missing.append(name)
            elif name not in info.names:
                yield name, declared[name]


def aliased_kind(type_: Type | None) -> Kind | None:
    """The kind that a type carries as its outermost part, through any chain of aliases."""
    return _follow(type_)[0]


def hiding_alias(type_: Type | None) -> str | None:
    """The name of the alias, not generic, behind which a kind is hidden: the run-time check refuses that."""
    return _follow(type_)[1]


def _follow(type_: Type | None) -> tuple[Kind | None, str | None]:
    hiding: str | None = None
    for _ in range(20):
        if not isinstance(type_, TypeAliasType) or type_.alias is None:
            break
        kind = _ALIASES.get(type_.alias.fullname)
        if kind is not None:
            return kind, hiding
        if not type_.alias.alias_tvars:
            hiding = hiding or type_.alias.name
        type_ = type_.alias.target
    return None, None


def plan_class(type_: Type | None) -> TypeInfo | None:
    """The one class of a type, `None` and absence aside; None where there are several, or none."""
    proper = get_proper_type(type_)
    if isinstance(proper, TypeVarType):
        proper = get_proper_type(proper.upper_bound)
    if isinstance(proper, UnionType):
        infos = [info for item in proper.items if (info := plan_class(item)) is not None]
        infos = [info for info in infos if info.fullname not in _ABSENCE]
        return infos[0] if len(infos) == 1 else None
    if isinstance(proper, Instance):
        if proper.type.fullname in _WRAPPERS and proper.args:
            return plan_class(proper.args[-1])
        return proper.type
    fallback = getattr(proper, "partial_fallback", None)
    return fallback.type if isinstance(fallback, Instance) else None


_ABSENCE = {"ownership.absence.Absent", "ownership.absence.Dropped"}
_WRAPPERS = {"typing.Coroutine", "typing.Awaitable", "types.CoroutineType", "collections.abc.Awaitable"}


def record_fields(info: TypeInfo) -> list[tuple[str, bool, bool, str]] | None:
    """The fields of a dataclass, attrs class or NamedTuple: name, is in the constructor, has a default, its argument.

    None where mypy knows no fields of the class.
    """
    for key in ("dataclass", "attrs"):
        data = info.metadata.get(key)
        if isinstance(data, dict) and "attributes" in data:
            fields = [_field(each) for each in data["attributes"] if not each.get("is_init_var")]
            return [each for each in fields if not _is_marker(info, each[0])]
    named = info.metadata.get("namedtuple", {}).get("fields")
    if named:
        defaulted = _defaulted_arguments(info, "__new__")
        return [(name, True, name in defaulted, name) for name in named]
    return None


def _is_marker(info: TypeInfo, name: str) -> bool:
    """`_: KW_ONLY` is no field."""
    symbol = info.get(name)
    proper = get_proper_type(symbol.node.type) if symbol is not None and isinstance(symbol.node, Var) else None
    return isinstance(proper, Instance) and proper.type.fullname == "dataclasses.KW_ONLY"


def _field(data: dict[str, object]) -> tuple[str, bool, bool, str]:
    name = str(data["name"])
    in_init = bool(data.get("is_in_init", data.get("init", True)))
    return name, in_init, bool(data.get("has_default")), str(data.get("alias") or data.get("init_name") or name)


def _defaulted_arguments(info: TypeInfo, method: str) -> set[str]:
    type_ = _signature(info, method)
    if type_ is None:
        return set()
    return {name for name, kind in zip(type_.arg_names, type_.arg_kinds, strict=True) if name and kind.is_optional()}


def constructor_names(info: TypeInfo) -> list[str | None]:
    """The names of the constructor's arguments by position, without `self`."""
    for method in ("__init__", "__new__"):
        symbol = info.get(method)
        if symbol is None or symbol.node is None or symbol.node.fullname.startswith("builtins.object."):
            continue
        type_ = _signature(info, method)
        if type_ is not None:
            return list(type_.arg_names[1:])
    return []


def _signature(info: TypeInfo, method: str) -> CallableType | None:
    symbol = info.get(method)
    node = symbol.node if symbol is not None else None
    if isinstance(node, Decorator):
        node = node.func
    type_ = get_proper_type(node.type) if isinstance(node, FuncDef | Var) else None
    return type_ if isinstance(type_, CallableType) else None
