"""Looking into dataclasses, attrs classes and named tuples alike, without importing any of them.

Whoever made the class has imported what it takes; `ownership` itself must stay cheap to import.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

__all__ = ["RecordField", "init_vars", "is_record", "own_annotations", "record_fields", "record_items"]

_MISSING = object()


class RecordField:
    """One field of a record, whatever made the record.

    `alias` is the name of the constructor's argument (attrs strips leading underscores); `default` is the default
    value, or a private placeholder where there is none, or a factory.
    """

    # Not a NamedTuple: each of those costs the import of the package half a millisecond.
    __slots__ = ("alias", "annotation", "default", "has_default", "init", "name")

    def __init__(
        self, name: str, annotation: Any, *, init: bool, has_default: bool, alias: str, default: Any = _MISSING
    ) -> None:
        self.name = name
        self.annotation = annotation
        self.init = init
        self.has_default = has_default
        self.alias = alias
        self.default = default


def is_record(cls: type, *, own: bool = False) -> bool:
    """Whether `cls` is a dataclass, an attrs class or a NamedTuple; with `own`, itself and not by inheritance."""
    if own:
        space = vars(cls)
        named = "_fields" in space and "_field_defaults" in space and issubclass(cls, tuple)
        return "__dataclass_fields__" in space or "__attrs_attrs__" in space or named
    return hasattr(cls, "__dataclass_fields__") or hasattr(cls, "__attrs_attrs__") or hasattr(cls, "_field_defaults")


def record_fields(cls: type) -> tuple[RecordField, ...]:
    """The fields of a record class, in order; empty for any other class."""
    if hasattr(cls, "__attrs_attrs__"):
        return tuple(_attrs_fields(cls))
    if hasattr(cls, "__dataclass_fields__"):
        return tuple(_dataclass_fields(cls))
    if hasattr(cls, "_field_defaults") and issubclass(cls, tuple):
        return tuple(_namedtuple_fields(cls))
    return ()


def record_items(value: object) -> Iterator[tuple[str, Any]]:
    """The fields of a record and their values; a field that was never set is left out."""
    for field in record_fields(type(value)):
        held = getattr(value, field.name, _MISSING)
        if held is not _MISSING:
            yield field.name, held


def init_vars(cls: type) -> dict[str, bool]:
    """The `InitVar`s of a dataclass, and whether each has a default."""
    from dataclasses import MISSING

    known: dict[str, Any] = getattr(cls, "__dataclass_fields__", {})
    return {
        name: field.default is not MISSING or field.default_factory is not MISSING
        for name, field in known.items()
        if field._field_type.name == "_FIELD_INITVAR"
    }


def own_annotations(cls: type) -> dict[str, Any]:
    """The annotations in the body of `cls`, evaluated only as far as they can be."""
    if sys.version_info >= (3, 14):
        import annotationlib

        return dict(annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF))
    found = vars(cls).get("__annotations__", {})
    return dict(found) if isinstance(found, dict) else {}


def _dataclass_fields(cls: type) -> Iterator[RecordField]:
    from dataclasses import MISSING, fields

    for field in fields(cls):
        has_default = field.default is not MISSING or field.default_factory is not MISSING
        default = _MISSING if field.default is MISSING else field.default
        yield RecordField(
            field.name, field.type, init=field.init, has_default=has_default, alias=field.name, default=default
        )


def _attrs_fields(cls: type) -> Iterator[RecordField]:
    nothing = sys.modules["attr"].NOTHING
    for field in cls.__attrs_attrs__:  # type: ignore[attr-defined]
        alias = getattr(field, "alias", None) or field.name.lstrip("_")
        has_default = field.default is not nothing
        default = field.default if has_default else _MISSING
        yield RecordField(
            field.name, field.type, init=field.init, has_default=has_default, alias=alias, default=default
        )


def _namedtuple_fields(cls: type) -> Iterator[RecordField]:
    notes: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        notes.update(own_annotations(base))
    for name in cls._fields:  # type: ignore[attr-defined]
        defaults: dict[str, Any] = cls._field_defaults  # type: ignore[attr-defined]
        default = defaults.get(name, _MISSING)
        yield RecordField(name, notes.get(name), init=True, has_default=name in defaults, alias=name, default=default)
