"""Storage that was borrowed for one call is kept for longer.

A `Borrowed` field is the caller's memory: scratch, a staging buffer, a live tensor. It lives in a binding, and the
caller uses it for something else as soon as the call is over. Whoever keeps it, or a view of it, reads the bytes of
another layer later, or writes through it into memory that was given to somebody else.

The rule reports a borrowed field, a view of one (slices, `view`, `narrow`, `memoryview`, ...), or a parameter that the
same function binds to one, where it is stored

* in a variable, a table or a list of the module,
* in an attribute of `self` or of a class, or in a container there, except in a constructor and in the binding itself,
* in the cache of a memoized function, as a result or as an argument,
* in a function that is returned, by capture or through `functools.partial`,
* in a field of a plan that has no borrowed fields, and so is no binding.

A copy may be kept, locals may hold what they like, and a place that the same function clears again is no escape. A
function that asks its binding for the storage when it is called holds the binding, which is what bindings are for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lint_rules.findings import Finding, Fix
from lint_rules.rules.base import Context, Rule
from lint_rules.usage.escapes import find_escapes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.usage.escapes import Escape

__all__ = ["RULE"]

CODE = "OWN011"

_KEEPS = {
    "module": "`{keeper}` of the module keeps it for longer",
    "object": "`{keeper}` keeps it for longer",
    "cache": "{keeper} keeps it for longer",
    "closure": "{keeper} keeps it for longer",
    "plan": "`{keeper}` takes it, and that plan is no binding and lives on",
}


def run(context: Context) -> Iterator[Finding]:
    for escape in find_escapes(context.usage()):
        yield finding(escape)


def finding(escape: Escape) -> Finding:
    loan = escape.loan
    place = loan.plan.fields[loan.field].place
    keeps = _KEEPS[escape.how].format(keeper=escape.keeper)
    return Finding(
        code=CODE,
        place=escape.view.module.place(escape.node),
        class_name=loan.plan.cls.full_name,
        fields=(loan.field,),
        message=(
            f"`{loan.text}` is the caller's storage, borrowed for one call as `{loan.field}` of"
            f" {loan.plan.cls.qualname} (declared at {place}), but {keeps}."
            " Keep a copy of what is needed, or ask for the storage at each call."
        ),
        declared_at=(place,),
        fixes=(Fix(f"keep a copy of `{loan.text}`, or nothing", "display"),),
    )


_HEAD = """\
from collections.abc import Callable
from dataclasses import dataclass

from ownership import Borrowed, Fact, Transferable, plan

Program = Callable[[memoryview], None]

_LAST: dict[int, memoryview | bytes] = {}


@plan
@dataclass(frozen=True)
class LayerPlan:
    layer: Fact[int]
    project: Transferable[Program]
    first: Fact[memoryview | None]


@plan
@dataclass(frozen=True)
class LayerBinding:
    layer: Fact[int]
    scratch: Borrowed[memoryview]
    project: Transferable[Program]
"""

RULE = Rule(
    code=CODE,
    name="escapes",
    summary="storage that was borrowed for one call is kept for longer",
    explanation=__doc__ or "",
    bad=(
        _HEAD
        + """

def run(binding: LayerBinding) -> None:
    binding.project(binding.scratch)
    _LAST[binding.layer] = binding.scratch
""",
        _HEAD
        + """

class Runner:
    def bind(self, prepared: LayerPlan, scratch: memoryview) -> LayerBinding:
        self._window = scratch[:16]
        return LayerBinding(prepared.layer, scratch, prepared.project)
""",
        _HEAD
        + """

def replayer(binding: LayerBinding) -> Callable[[], None]:
    window = binding.scratch
    return lambda: binding.project(window)
""",
        _HEAD
        + """

def remember(binding: LayerBinding) -> LayerPlan:
    return LayerPlan(binding.layer, binding.project, first=binding.scratch[:1])
""",
    ),
    good=(
        _HEAD
        + """

def run(binding: LayerBinding) -> bytes:
    views = [binding.scratch[:8], binding.scratch[8:]]
    for each in views:
        binding.project(each)
    _LAST[binding.layer] = bytes(binding.scratch)
    return bytes(views[0])
""",
        _HEAD
        + """

def replayer(binding: LayerBinding) -> Callable[[], None]:
    return lambda: binding.project(binding.scratch)
""",
    ),
    fix="Not offered: whether a copy will do, or the storage has to be asked for again, is the author's to tell.",
    run=run,
)
