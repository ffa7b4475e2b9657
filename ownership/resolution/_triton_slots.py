"""Our hooks in Triton's hook slots, in front of whatever others put there, and whenever they do.

`knobs.runtime.jit_cache_hook` is one slot: who sets it, ends what was there. So ours is not put into the slot. While a
guard is in force, a descriptor on the class of `knobs.runtime` makes each reading of the slot give our hook followed by
the one that was set. What others set, read back, restore or `reset` lives in `knobs.runtime.__dict__` as always, and
there is nothing to restore there when the descriptor goes.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Hashable
from typing import Any

__all__ = ["Chained", "Slot"]

_MISSING: Any = object()
_local = threading.local()

#: Says what event the arguments of a hook are about.
Identify = Callable[..., Hashable]
#: Sees the event, and returns what is to be called when others have seen it, too (to raise, say).
Ours = Callable[..., Callable[[], None] | None]


class Chained:
    """What the slot reads as: our hook, then the one that was found there. Anything else goes to that one."""

    def __init__(self, slot: Slot, found: Any) -> None:
        self._slot = slot
        self.found = found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # Somebody who has read the slot may go on calling what he got, from his own hook or after we are gone.
        event = (self._slot.name, self._slot.identify(*args, **kwargs))
        seen: list[Any] = _local.__dict__.setdefault("events", [])
        if not self._slot.installed or event in seen:
            return self._others(args, kwargs)
        seen.append(event)
        try:
            enforce = self._slot.ours(*args, **kwargs)
            result = self._others(args, kwargs)
            if enforce is not None:
                enforce()
            return result
        finally:
            seen.remove(event)

    def _others(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.found(*args, **kwargs) if self.found is not None else None

    @property
    def __signature__(self) -> inspect.Signature:
        # Inductor passes a hook what its signature asks for.
        if self.found is None:
            raise AttributeError("__signature__")
        return inspect.signature(self.found)

    def __getattr__(self, name: str) -> Any:
        # `add` and `remove` of a chain of hooks.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.found, name)


class Slot:
    """The descriptor for one slot; a data descriptor, so that it comes before the instance's own dictionary."""

    def __init__(self, name: str, ours: Ours, identify: Identify) -> None:
        self.name = name
        self.ours = ours
        self.identify = identify
        self.installed = False
        self._default: Any = None

    def install(self, holder: type) -> None:
        """Stand before the slot of the class; `AttributeError` if it has none."""
        self._default = getattr(holder, self.name)
        setattr(holder, self.name, self)
        self.installed = True

    def in_place(self, holder: type) -> bool:
        """Whether it still stands there."""
        return vars(holder).get(self.name) is self

    def uninstall(self, holder: type) -> None:
        """Leave the class as it was found."""
        self.installed = False
        if self.in_place(holder):
            setattr(holder, self.name, self._default)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self._default
        return Chained(self, _unwrapped(vars(instance).get(self.name, self._default)))

    def __set__(self, instance: Any, value: Any) -> None:
        vars(instance)[self.name] = _unwrapped(value)

    def __delete__(self, instance: Any) -> None:
        if vars(instance).pop(self.name, _MISSING) is _MISSING:
            raise AttributeError(self.name)


def _unwrapped(value: Any) -> Any:
    while isinstance(value, Chained):
        value = value.found
    return value
