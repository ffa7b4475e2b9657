"""Which values have an identity that matters."""

from __future__ import annotations

import sys
from enum import Enum
from types import BuiltinFunctionType, FunctionType, ModuleType

from ownership.absence import Absent

__all__ = ["is_data", "is_inert"]

_DATA = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    range,
    slice,
    type(None),
    type(...),
    Enum,
    Absent,
)
_PROCESS_WIDE = (type, ModuleType, FunctionType, BuiltinFunctionType)


def is_data(value: object) -> bool:
    """Whether the value is immutable data: a number, text, an enum member, a tuple or frozenset of such."""
    if isinstance(value, (tuple, frozenset)):
        return all(map(is_data, value))
    return isinstance(value, _DATA)


def is_inert(value: object) -> bool:
    """Whether sharing the value between two plans can do no harm, and finding it in both proves nothing.

    True for immutable data, which Python may make one object of at will, for what belongs to the process and not to a
    plan (classes, functions, modules, loggers), and for tuples and frozensets of such values.
    """
    if isinstance(value, (*_DATA, *_PROCESS_WIDE)):
        return True
    if isinstance(value, (tuple, frozenset)):
        return all(map(is_inert, value))
    logging = sys.modules.get("logging")
    return logging is not None and isinstance(value, logging.Logger)
