"""The walk over what a plan declares: fields, nested plans, mappings, records, tuples and lists, down to the carriers.

It asks objects for their type and nothing else: no truth, no equality, no hash, no attribute of a carrier.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto
from typing import cast

from ownership._launchables import is_declared
from ownership._records import is_record, record_items
from ownership._values import is_data
from ownership.absence import Absent
from ownership.ledger_errors import key_text
from ownership.plan import is_plan, transferables

__all__ = ["MISSING", "Node", "Sort", "children", "follow", "is_plain", "joined", "walk"]

MISSING: object = object()


class Sort(Enum):
    """What a place in a plan holds."""

    CARRIER = auto()
    ABSENT = auto()
    MAPPING = auto()
    #: A plan, a record, a tuple or a list.
    BUNDLE = auto()


class Node:
    """One place in a plan: the path to it, what stands there, and what that is."""

    __slots__ = ("path", "sort", "value")

    def __init__(self, path: str, value: object, sort: Sort) -> None:
        self.path = path
        self.value = value
        self.sort = sort


def sort_of(value: object) -> Sort:
    """What a value is to the walk."""
    cls = type(value)
    if value is None or value is MISSING or issubclass(cls, Absent):
        return Sort.ABSENT
    if is_plan(value):
        return Sort.BUNDLE
    if is_declared(value) or callable(value):
        return Sort.CARRIER
    if issubclass(cls, Mapping):
        return Sort.MAPPING
    if is_record(cls):
        return Sort.BUNDLE if any(_is_part(item) for _, item in record_items(value)) else Sort.CARRIER
    return Sort.BUNDLE if issubclass(cls, (tuple, list)) else Sort.CARRIER


def _is_part(item: object) -> bool:
    """Whether a field of a record makes it a bundle: a place for a carrier, though none may be there."""
    return not is_data(item) or issubclass(type(item), Absent)


def children(value: object) -> Iterator[tuple[str, object]]:
    """The places one level down, and the end of the path to each: `.gate`, `[128]`."""
    if is_plan(value):
        for name in transferables(value):
            yield f".{name}", getattr(value, name, MISSING)
        return
    cls = type(value)
    if issubclass(cls, Mapping):
        times: dict[str, int] = {}
        for key, item in cast("Mapping[object, object]", value).items():
            text = key_text(key)
            times[text] = count = times.get(text, 0) + 1
            # Keys may look the same and differ; a carrier must not vanish behind another one for that.
            yield f"[{text}]" if count == 1 else f"[{text}#{count}]", item
    elif is_record(cls):
        yield from ((f".{name}", item) for name, item in record_items(value) if item is None or _is_part(item))
    else:
        yield from ((f"[{index}]", item) for index, item in enumerate(cast("Iterable[object]", value)))


def joined(path: str, end: str) -> str:
    """The path one level down."""
    return f"{path}{end}" if path else end.removeprefix(".")


def walk(root: object, *, once: bool = False, path: str = "") -> Iterator[Node]:
    """Every place below `root` (itself left out), outer before inner, in the order of the fields.

    A container that holds itself is not entered again. With `once`, one that is shared is entered where it is met first
    and nowhere else: containers that share containers can have more paths than can be walked.
    """
    entered = {id(root)}
    # The containers that are open, and what is still to be visited of each: recursion ends at a thousand levels.
    stack = [(root, path, children(root))]
    above = {id(root)}
    while stack:
        container, prefix, rest = stack[-1]
        step = next(rest, None)
        if step is None:
            stack.pop()
            above.discard(id(container))
            continue
        end, value = step
        here = joined(prefix, end)
        sort = sort_of(value)
        if sort in (Sort.BUNDLE, Sort.MAPPING):
            if id(value) in above or (once and id(value) in entered):
                continue
            yield Node(here, value, sort)
            entered.add(id(value))
            above.add(id(value))
            stack.append((value, here, children(value)))
        else:
            yield Node(here, value, sort)


def follow(root: object, path: str) -> tuple[str, object]:
    """How far a path leads, and what stands there: the whole path, or the longest part of it that exists."""
    best = ("", root)
    waiting = [("", root)]
    while waiting:
        reached, value = waiting.pop()
        if len(reached) >= len(best[0]):
            best = (reached, value)
        if reached == path:
            return reached, value
        if reached and sort_of(value) not in (Sort.BUNDLE, Sort.MAPPING):
            continue
        for end, item in children(value):
            longer = joined(reached, end)
            if path == longer or (path.startswith(longer) and path[len(longer)] in ".["):
                waiting.append((longer, item))
    return best


def is_plain(value: object) -> bool:
    """Whether the value is a declared fact that stands among carriers, as keys and types do in bundles of pairs."""
    cls = type(value)
    if is_data(value) or issubclass(cls, type):
        return True
    package = cls.__module__.partition(".")[0] if isinstance(cls.__module__, str) else ""
    # A `dtype` is a value to whoever bundles launches by it; neither library need be imported to know one.
    return package in ("torch", "numpy") and package in sys.modules and "dtype" in (c.__name__ for c in cls.__mro__)
