"""`carriers(plan)`: every carrier that can be reached from a plan by its declared fields, and the path to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ownership._records import is_record, record_items
from ownership._values import is_data
from ownership.absence import is_absent
from ownership.errors import NotAPlanError
from ownership.plan import is_plan, transferables

__all__ = ["carriers"]


def carriers(plan: object) -> dict[str, object]:
    """The carriers of a plan by path, in the order of the fields: `"fold"`, `"mixer.gate"`, `"launches[128]"`.

    Walks the transferable fields, and from there nested plans, mappings, tuples and lists, and dataclasses (attrs
    classes, named tuples) that bundle carriers. A callable, or a record of nothing but plain data, is a carrier itself
    and is not opened. Absent, dropped, missing and `None` values are left out. Each path occurs once; an object on two
    paths is listed on both, and one that contains itself ends the walk there.

    Raises:
        NotAPlanError: `plan` is not an instance of a plan.

    """
    if not is_plan(plan):
        raise NotAPlanError(given=plan, wanted="an instance of a plan", function="carriers()")
    return dict(_of_plan(plan, "", ()))


def _of_plan(plan: object, prefix: str, above: tuple[int, ...]) -> Iterator[tuple[str, object]]:
    for name in transferables(plan):
        yield from _of_value(getattr(plan, name, None), f"{prefix}{name}", (*above, id(plan)))


def _of_value(value: object, path: str, above: tuple[int, ...]) -> Iterator[tuple[str, object]]:
    if is_absent(value) or id(value) in above:
        return
    inside = (*above, id(value))
    if is_plan(value):
        yield from _of_plan(value, f"{path}.", above)
    elif callable(value):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _of_value(item, f"{path}[{key!r}]", inside)
    elif is_record(type(value)):
        parts = [(name, item) for name, item in record_items(value) if not is_data(item)]
        if not parts:
            yield path, value
        for name, item in parts:
            yield from _of_value(item, f"{path}.{name}", inside)
    elif isinstance(value, (tuple, list)):
        for index, item in enumerate(value):
            yield from _of_value(item, f"{path}[{index}]", inside)
    else:
        yield path, value
