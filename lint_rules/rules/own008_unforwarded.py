"""A function accepts an option and does not pass it on to a callee that would take it.

`bind(plan, rows, stable=True)` calls `bind_rows(plan, rows)`. Both have the parameter, the second has a default, and so
nothing complains: the caller asked for stable order and gets the other one. It happens when an option is added to the
callee and to the public wrapper, and the line between them is not changed.

The rule looks at functions that are given a plan, belong to one or return one. It reports a parameter that the function
does nothing with, but to refuse some of its values, where a call has a parameter of the same name with a default,
leaves it out, and takes another of the function's parameters under its own name.

Not reported: a parameter that is read anywhere in the function, or given up with `del`; one of which every value but
the default is refused (`if stable: raise ...`); calls that expand `*args` or `**options`; overloads, abstract methods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lint_rules.agreement.forwarding import unforwarded
from lint_rules.findings import Edit, Finding, Fix, Place
from lint_rules.index.build import last_name
from lint_rules.rules._wording import quoted
from lint_rules.rules.base import Context, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.agreement.forwarding import Unforwarded
    from lint_rules.agreement.scope import Agreement
    from lint_rules.index.model import FunctionInfo

__all__ = ["RULE", "finding"]

CODE = "OWN008"


def run(context: Context) -> Iterator[Finding]:
    agreement = context.agreement()
    for function in agreement.functions():
        info = function.info
        yield from agreement.look(info, _findings, agreement, info, function.plan.cls.full_name)


def _findings(agreement: Agreement, info: FunctionInfo, class_name: str) -> Iterator[Finding]:
    lost = unforwarded(agreement.project, agreement.bodies, info)
    if lost is not None:
        yield finding(lost, class_name)


def finding(lost: Unforwarded, class_name: str) -> Finding:
    """The finding for one call; `class_name` is the class that it is reported for."""
    info, names = lost.function, lost.names
    one = len(names) == 1
    parameters = {each.arg: each for each in lost.parameters}
    places = tuple(Place(info.module.path, parameters[name].lineno, parameters[name].col_offset + 1) for name in names)
    callee = last_name(lost.call.func) if not lost.is_super else f"super().{last_name(lost.call.func)}"
    checked = ", only checks it" if lost.checked and one else ", only checks some of them" if lost.checked else ""
    given = ", ".join(f"{name}={name}" for name in names)
    message = (
        f"`{info.qualname}` accepts {quoted(names)} (declared at {', '.join(dict.fromkeys(map(str, places)))}){checked}"
        f" and does not pass {'it' if one else 'them'} on: this `{callee}(...)` has {'it' if one else 'them'} too and"
        f" falls back to {'its default' if one else 'the defaults'}, whatever the caller asked for."
        f" Pass `{given}`, or take the {'parameter' if one else 'parameters'} away."
    )
    place = info.module.place(lost.call)
    edits = tuple(Edit(place, name, name, last_name(lost.call.func)) for name in names)
    return Finding(CODE, place, class_name, names, message, places, (Fix(f"pass it on: {given}", "unsafe", edits),))


_HEAD = """\
from collections.abc import Callable
from dataclasses import dataclass

from ownership import Fact, Transferable, plan

Pack = Callable[[list[int], bool], list[int]]


@plan
@dataclass(frozen=True)
class RowPlan:
    capacity: Fact[int]
    pack: Transferable[Pack]


def pack_rows(prepared: RowPlan, rows: list[int], *, stable: bool = False) -> list[int]:
    return prepared.pack(rows[: prepared.capacity], stable)
"""

RULE = Rule(
    code=CODE,
    name="unforwarded",
    summary="a parameter is accepted and not passed on to a callee that has it with a default",
    explanation=__doc__ or "",
    bad=(
        _HEAD
        + """

def run(prepared: RowPlan, rows: list[int], *, stable: bool = False) -> list[int]:
    return pack_rows(prepared, rows)
""",
        _HEAD
        + """

def run(prepared: RowPlan, rows: list[int], *, stable: bool = False) -> list[int]:
    if stable and len(rows) > 1024:
        raise ValueError("stable order is limited to 1024 rows")
    return pack_rows(prepared, rows)
""",
    ),
    good=(
        _HEAD
        + """

def run(prepared: RowPlan, rows: list[int], *, stable: bool = False) -> list[int]:
    return pack_rows(prepared, rows, stable=stable)
""",
        _HEAD
        + """

def run(prepared: RowPlan, rows: list[int], *, stable: bool = False) -> list[int]:
    if stable:
        rows = sorted(rows)
    return pack_rows(prepared, rows)
""",
        _HEAD
        + """

def run(prepared: RowPlan, rows: list[int], *, stable: bool = False) -> list[int]:
    if stable:
        raise NotImplementedError("this machine has no stable order")
    return pack_rows(prepared, rows)
""",
    ),
    fix="Unsafe, as it changes what the call does: the keyword is added.",
    run=run,
)
