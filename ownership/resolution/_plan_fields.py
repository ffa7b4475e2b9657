"""The field of a published plan that carries a program of a given kernel."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from ownership.errors import class_name

__all__ = ["plan_field"]

#: How deep a launcher is opened, and how many parts of it are looked at.
_DEPTH = 2
_PARTS = 64
_NAMED = 3


def plan_field(kernel: object) -> str | None:
    """Where published plans carry a program of this kernel: `engine.ScratchPlan.fold`; `None` if none does."""
    from ownership._published import places

    found: dict[str, None] = {}
    for place in places():
        if len(found) >= _NAMED:
            break
        if _launches(place.carrier, kernel, _DEPTH):
            found[f"{class_name(place.plan)}.{place.path}"] = None
    return " or ".join(found) or None


def _launches(value: object, kernel: object, depth: int) -> bool:
    if value is kernel:
        return True
    own: Mapping[str, Any] = getattr(value, "__dict__", {})
    if getattr(own.get("src"), "fn", None) is kernel:
        return True
    return depth > 0 and any(_launches(part, kernel, depth - 1) for part in itertools.islice(_parts(value), _PARTS))


def _parts(value: object) -> Iterator[object]:
    if isinstance(value, (str, bytes, int, float, type(None), type)):
        return
    if isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, (tuple, list)):
        yield from value
    else:
        yield from getattr(value, "__dict__", {}).values()
        for cls in type(value).__mro__:
            slots = vars(cls).get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else tuple(slots):
                if not name.startswith("__"):
                    yield getattr(value, name, None)
