"""`carriers(plan)`: every carrier that can be reached from a plan by its fields; `@carrier`: a class of carriers."""

from __future__ import annotations

from typing import TypeVar

from ownership._launchables import CARRIER
from ownership._walk import Sort, walk
from ownership.errors import NotAPlanError
from ownership.ledger_errors import NotACarrierError
from ownership.plan import is_plan

__all__ = ["carrier", "carriers"]

T = TypeVar("T")


def carrier(cls: type[T], /) -> type[T]:
    """Declare that the instances of a class are carriers: each launches a program that is compiled already.

    Returns the same class. `carriers()` and `publish()` then take an instance as one carrier and do not open it, also
    where it is a dataclass without a `__call__`; a function that captures one is refused as a plan's value. Subclasses
    are carriers, too. Classes of others are declared by a call: `carrier(TheirLauncher)`.

    Raises:
        NotACarrierError: it is not a class, a plan, or a class that takes no attributes (derive one, and declare that).

    """
    if not isinstance(cls, type):
        raise NotACarrierError(given=cls, function="@carrier", problem="which is not a class; put it above a class")
    if hasattr(cls, "__ownership_plan__"):
        problem = "which is a plan: its transferable fields hold the carriers, and it is none itself"
        raise NotACarrierError(given=cls, function="@carrier", problem=problem)
    try:
        setattr(cls, CARRIER, True)
    except TypeError:
        problem = "which takes no attributes; derive a class from it and declare that"
        raise NotACarrierError(given=cls, function="@carrier", problem=problem) from None
    return cls


def carriers(plan: object) -> dict[str, object]:
    """The carriers of a plan by path, in the order of the fields: `"fold"`, `"mixer.gate"`, `"launches[128]"`.

    Walks the transferable fields, and from there nested plans, mappings, tuples and lists, and dataclasses (attrs
    classes, named tuples) that bundle carriers. A callable, an instance of a class declared with `@carrier`, or a
    record of nothing but plain data, is a carrier itself and is not opened. Absent, dropped, missing and `None` values
    are left out. Each path occurs once (`[key#2]` for a second key that looks like the first); an object on two paths
    is listed on both, and one that contains itself ends the walk there.

    Raises:
        NotAPlanError: `plan` is not an instance of a plan.

    """
    if not is_plan(plan):
        raise NotAPlanError(given=plan, wanted="an instance of a plan", function="carriers()")
    return {node.path: node.value for node in walk(plan) if node.sort is Sort.CARRIER}
