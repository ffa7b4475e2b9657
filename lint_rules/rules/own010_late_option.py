"""An option is read after the plan was declared.

Options are read once, at declaration, and stored as facts. A `bind` or `run` that asks the environment again answers
for another plan than the one that was prepared: its scratch was sized, and its programs were compiled, for the value
of then. Whoever changes the variable changes what a frozen plan does.

The rule looks at functions that are given a plan, at methods of plans, and at materializers, and follows their helpers
three calls deep. There it reports reads of an environment variable (`os.environ`, `os.getenv`), of an attribute of a
module's option object that somebody sets, and of a global that a setter changes.

Not reported: constructors and class methods of plans, functions whose name says that they declare, parse or load,
helpers under `lru_cache` (they read once), variables that by their name only steer logging, tracing or caching, and the
environment as a whole (`dict(os.environ)`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lint_rules.agreement.ambient import is_cached, steers_nothing
from lint_rules.findings import Finding, Fix, Place
from lint_rules.rules._wording import quoted
from lint_rules.rules.base import Context, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.agreement.ambient import Ambient
    from lint_rules.index.model import FunctionInfo

__all__ = ["RULE", "finding", "first_word"]

CODE = "OWN010"

#: First words of functions that make declarations, also those that are given another plan to start from.
_DECLARES = frozenset({
    "declare", "plan", "parse", "load", "read", "from", "configure", "default", "defaults", "describe", "main", "setup",
})  # fmt: skip


def run(context: Context) -> Iterator[Finding]:
    agreement = context.agreement()
    done: set[tuple[str, int, str]] = set()
    for function in agreement.functions():
        if not function.later or first_word(function.info) in _DECLARES or is_cached(function.info):
            continue
        for read in agreement.look(function.info, agreement.ambient.of, function.info, depth=3):
            key = (read.function.module.path, read.node.lineno, read.name)
            if key not in done and not steers_nothing(read.name):
                done.add(key)
                cls = function.plan.cls
                yield finding(function.info, read, cls.full_name, f"the {cls.qualname}")


def first_word(info: FunctionInfo) -> str:
    """What a function says that it does: `bind` of `_bind_rows`."""
    return info.node.name.strip("_").partition("_")[0]


def finding(info: FunctionInfo, read: Ambient, class_name: str, what: str = "the plan") -> Finding:
    """The finding for one read; `class_name` is the class that it is reported for, `what` what was declared."""
    module = read.function.module
    place = Place(module.path, read.node.lineno, read.node.col_offset + 1)
    names = [each.qualname for each in read.path]
    through = f", through {quoted(names)} ({place})," if names else ""
    message = (
        f"`{info.qualname}` reads {read.text}{through} after {what} was declared: a change of it changes what a"
        " prepared plan does. Read it once, at declaration, store it as a fact, and ask the plan here."
    )
    fix = Fix("store it as a fact of the plan and read that", "display")
    return Finding(CODE, info.module.place(read.site), class_name, (read.name,), message, (place,), (fix,))


_HEAD = """\
import os
from collections.abc import Callable
from dataclasses import dataclass

from ownership import Fact, Transferable, plan

Program = Callable[[list[int]], list[int]]


@plan
@dataclass(frozen=True)
class GatherPlan:
    capacity: Fact[int]
    ordered: Fact[bool]
    gather: Transferable[Program]


def wants_order() -> bool:
    return os.environ.get("GATHER_ORDERED") == "1"


def declare(capacity: int, gather: Program) -> GatherPlan:
    return GatherPlan(capacity, wants_order(), gather)
"""

RULE = Rule(
    code=CODE,
    name="late-option",
    summary="the environment or an option is read after the plan was declared",
    explanation=__doc__ or "",
    bad=(
        _HEAD
        + """

def run(bound: GatherPlan, rows: list[int]) -> list[int]:
    out = bound.gather(rows[: bound.capacity])
    return sorted(out) if os.environ.get("GATHER_ORDERED") == "1" else out
""",
        _HEAD
        + """

def run(bound: GatherPlan, rows: list[int]) -> list[int]:
    out = bound.gather(rows[: bound.capacity])
    return sorted(out) if wants_order() else out
""",
        _HEAD
        + """

_ordered = False


def set_ordered(value: bool) -> None:
    global _ordered
    _ordered = value


def run(bound: GatherPlan, rows: list[int]) -> list[int]:
    out = bound.gather(rows[: bound.capacity])
    return sorted(out) if _ordered else out
""",
    ),
    good=(
        _HEAD
        + """

def run(bound: GatherPlan, rows: list[int]) -> list[int]:
    out = bound.gather(rows[: bound.capacity])
    return sorted(out) if bound.ordered else out
""",
        _HEAD
        + """

def run(bound: GatherPlan, rows: list[int]) -> list[int]:
    if os.environ.get("GATHER_TRACE"):
        print(len(rows))
    return bound.gather(rows[: bound.capacity])
""",
    ),
    fix="Not offered: the value needs a field of the plan.",
    run=run,
)
