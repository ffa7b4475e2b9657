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
    return _all_are(value, _DATA)


def is_inert(value: object) -> bool:
    """Whether sharing the value between two plans can do no harm, and finding it in both proves nothing.

    True for immutable data, which Python may make one object of at will, for what belongs to the process and not to a
    plan (classes, functions, modules, loggers), and for tuples and frozensets of such values.
    """
    logging = sys.modules.get("logging")
    loggers = () if logging is None else (logging.Logger,)
    return _all_are(value, (*_DATA, *_PROCESS_WIDE, *loggers))


def _all_are(value: object, types: tuple[type, ...]) -> bool:
    """Whether the value, or all that a tuple or frozenset holds at any depth, is of one of the types."""
    waiting = [value]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        # By the type: what an object claims to be may take a call to find out.
        cls = type(one)
        if issubclass(cls, types):
            continue
        if not issubclass(cls, (tuple, frozenset)):
            return False
        # Tuples that share tuples have more paths than can be walked.
        if id(one) not in seen:
            seen.add(id(one))
            waiting.extend(one)  # type: ignore[arg-type]
    return True
