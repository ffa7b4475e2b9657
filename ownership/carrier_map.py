"""`CarrierMap`: carriers by key, total over a domain that is declared.

    launches = CarrierMap(
        {(1, "int32"): one, (1, "int64"): two, (8, "int32"): three, (8, "int64"): Absent("ids are int32 at this size")},
        capacity=(1, 8),
        dtype=("int32", "int64"),
    )
    launches[8, "int32"]
    launches.at(capacity=8, dtype="int32")
    launches.smallest_fit("capacity", 5, dtype="int32")

A plain dictionary cannot tell an entry that was lost from one that was never meant to be; `publish()` refuses it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

from ownership.absence import Absent
from ownership.ledger_errors import IncompleteMapError, InvalidAxisError, NotACarrierError, OutsideDomainError

__all__ = ["CarrierMap"]

K = TypeVar("K")
V = TypeVar("V")
W = TypeVar("W")


@final
class CarrierMap(Mapping[K, V], Generic[K, V]):
    """An immutable map of carriers, total over the product of its axes.

    Each keyword is an axis and gives its values, in order. A key is a tuple with one value of each axis, in the order
    of the axes; of a single axis, the value itself. Iteration follows the axes, whatever the order of `entries`.

    A point that is given up on purpose holds `Absent(reason)`; `None` is no carrier. Looking up a point outside the
    domain is an error, `get()` included, so that no `get(key) or compile(key)` can be written over it. (`key in map`
    asks.) Two maps are equal only if they are the same object, as with all carriers; a copy is another map.

    Raises:
        InvalidAxisError: no axis, an axis without values, with a value twice, or with one that cannot be a key.
        IncompleteMapError: points of the domain are missing in `entries`, or it has others; each is named.
        NotACarrierError: `entries` is no mapping, or a value is `None`.

    """

    __slots__ = ("__weakref__", "_axes", "_entries")

    _axes: dict[str, tuple[Any, ...]]
    _entries: dict[K, V]

    def __init__(self, entries: Mapping[K, V], /, **axes: Iterable[Hashable]) -> None:
        if not isinstance(entries, Mapping):
            raise NotACarrierError(given=entries, function="CarrierMap()", problem="which is no mapping of carriers")
        checked = _axes(axes)
        keys = _keys(checked)
        domain = dict.fromkeys(keys)
        missing = [key for key in keys if key not in entries]
        surplus = [key for key in entries if key not in domain]
        if missing or surplus:
            raise IncompleteMapError(axes=checked, missing=missing, surplus=surplus)
        found = {key: entries[key] for key in keys}
        for key, value in found.items():
            if value is None:
                problem = f"which stands for {key!r} and says nothing; give a carrier, or Absent(reason)"
                raise NotACarrierError(given=None, function="CarrierMap()", problem=problem)
        object.__setattr__(self, "_axes", checked)
        object.__setattr__(self, "_entries", found)

    @staticmethod
    def build(make: Callable[..., W], /, **axes: Iterable[Hashable]) -> CarrierMap[Any, W]:
        """Make the map by calling `make(capacity=1, dtype="int32")`, and so on, once for each point of the domain.

        Raises:
            InvalidAxisError: as the constructor does, before anything is made.
            NotACarrierError: `make` returned `None`.

        """
        checked = _axes(axes)
        points = itertools.product(*checked.values())
        made = {
            key: make(**dict(zip(checked, point, strict=True)))
            for key, point in zip(_keys(checked), points, strict=True)
        }
        return CarrierMap(made, **checked)

    @property
    def axes(self) -> dict[str, tuple[Any, ...]]:
        """The declared domain: each axis and its values (a copy)."""
        return dict(self._axes)

    def at(self, /, **point: object) -> V:
        """The carrier at a point, each axis by its name.

        Raises:
            InvalidAxisError: an axis is missing, or there is none of that name.
            OutsideDomainError: a value is not one of its axis.

        """
        return self._entries[self._key(point)]

    def smallest_fit(self, axis: str, live: int, /, **point: object) -> V:
        """The carrier at the smallest value of `axis` that is not below `live`; the other axes are given by name.

        What stands there is returned even if it is an `Absent`: no larger program stands in for one that was given up.

        Raises:
            InvalidAxisError: there is no such axis, its values are not numbers, or the others are not all given.
            OutsideDomainError: `live` exceeds every value of the axis, or the point is outside the domain.

        """
        sizes = self._axes.get(axis)
        if sizes is None or axis in point:
            raise InvalidAxisError(axis=axis, problem=f"is not to be chosen here; the axes are {', '.join(self._axes)}")
        for size in (*sizes, live):
            if not isinstance(size, (int, float)) or isinstance(size, bool):
                raise InvalidAxisError(axis=axis, problem=f"cannot be searched: {size!r} is not a number")
        fits = [size for size in sizes if size >= live]
        if not fits:
            raise OutsideDomainError(key=live, axes=self._axes, problem=f"exceeds every {axis} of")
        return self.at(**point, **{axis: min(fits)})

    def _key(self, point: Mapping[str, object]) -> Any:
        for name in (*point, *self._axes):
            if name not in self._axes or name not in point:
                problem = "is not given" if name in self._axes else "does not exist"
                raise InvalidAxisError(axis=name, problem=f"{problem}; the axes are {', '.join(self._axes)}")
        values = [point[name] for name in self._axes]
        key: Any = tuple(values) if len(values) > 1 else values[0]
        if key not in self:
            raise OutsideDomainError(key=key, axes=self._axes)
        return key

    def __getitem__(self, key: K) -> V:
        if key not in self:
            raise OutsideDomainError(key=key, axes=self._axes)
        return self._entries[key]

    def get(self, key: K, default: object = None, /) -> V:
        """The carrier at `key`; outside the domain an error all the same, whatever the default.

        Raises:
            OutsideDomainError: `key` is not in the domain.

        """
        return self[key]

    def __contains__(self, key: object) -> bool:
        try:
            return key in self._entries
        except TypeError:  # it cannot be hashed
            return False

    def __iter__(self) -> Iterator[K]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __repr__(self) -> str:
        domain = ", ".join(f"{name}={values!r}" for name, values in self._axes.items())
        absent = sum(issubclass(type(value), Absent) for value in self._entries.values())
        return f"<CarrierMap over {domain}; {len(self) - absent} carriers, {absent} absent>"

    if not TYPE_CHECKING:  # to a type checker, a `__setattr__` means that any attribute can be set

        def __setattr__(self, name: str, value: object) -> None:
            raise AttributeError(f"cannot set {name!r}: a CarrierMap is immutable; make another one")

        def __delattr__(self, name: str) -> None:
            raise AttributeError(f"cannot delete {name!r}: a CarrierMap is immutable; make another one")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._axes, tuple(self._entries.values()))


def _axes(axes: Mapping[str, Iterable[Hashable]]) -> dict[str, tuple[Any, ...]]:
    if not axes:
        raise InvalidAxisError(
            axis=None, problem="has no axis; declare its domain: CarrierMap(entries, capacity=(1, 8))"
        )
    checked: dict[str, tuple[Any, ...]] = {}
    for name, given in axes.items():
        if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
            raise InvalidAxisError(
                axis=name, problem=f"was given {given!r}; wanted: its values, ({given!r},) for example"
            )
        values = tuple(given)
        if not values:
            raise InvalidAxisError(axis=name, problem="has no values")
        seen: set[Any] = set()
        for value in values:
            try:
                twice = value in seen
                seen.add(value)
            except TypeError:
                raise InvalidAxisError(axis=name, problem=f"has {value!r}, which cannot be a key") from None
            if twice:
                raise InvalidAxisError(axis=name, problem=f"has {value!r} twice (values count as one if they are ==)")
        checked[name] = values
    return checked


def _keys(axes: Mapping[str, tuple[Any, ...]]) -> list[Any]:
    points = list(itertools.product(*axes.values()))
    return [point[0] for point in points] if len(axes) == 1 else list(points)


def _restore(axes: dict[str, tuple[Any, ...]], values: tuple[Any, ...]) -> CarrierMap[Any, Any]:
    return CarrierMap(dict(zip(_keys(axes), values, strict=True)), **axes)
