"""Right code: nothing here is reported."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar, cast

from ownership import Transferable, materializer, plan, transfer

from cases.plans import (
    Absent,
    Binding,
    Derived,
    Fact,
    Kernel,
    Launches,
    Programs,
    Scratch,
    Written,
    compile_kernel,
    plan_scratch,
    plan_written,
)
from ownership import Dropped


def prepare(rows: int) -> Scratch:
    return replace(plan_scratch(rows), fold=compile_kernel("fold"), pack=compile_kernel("pack"))


def prepared_in_part(rows: int) -> Scratch:
    return replace(plan_scratch(rows), fold=compile_kernel("fold"))


def base_has_them(prepared: Scratch, rows: int) -> Scratch:
    return replace(prepared, rows=rows)


def two_names(prepared: Scratch, rows: int) -> Scratch:
    first = replace(plan_scratch(rows), fold=prepared.fold)
    print(first.rows)
    return replace(first, pack=prepared.pack)


def one_name(prepared: Scratch, rows: int) -> Scratch:
    fresh = plan_scratch(rows)
    fresh = replace(fresh, fold=prepared.fold)
    fresh = replace(fresh, pack=prepared.pack)
    return fresh


def both_branches(prepared: Scratch, rows: int) -> Scratch:
    fresh = replace(plan_scratch(rows), fold=prepared.fold)
    if rows > 8:
        fresh = replace(fresh, pack=prepared.pack)
    else:
        fresh = replace(fresh, pack=prepared.pack, rows=8)
    return fresh


def early_return(prepared: Scratch, rows: int) -> Scratch:
    if isinstance(prepared.pack, Absent):
        return replace(plan_scratch(rows), fold=prepared.fold)
    return replace(plan_scratch(rows), fold=prepared.fold, pack=prepared.pack)


def in_a_loop(prepared: Scratch, rows: int) -> Scratch:
    fresh = plan_scratch(rows)
    for name in ("fold", "pack"):
        object.__setattr__(fresh, name, getattr(prepared, name))
    return fresh


def on_purpose(prepared: Scratch) -> Scratch:
    return replace(plan_scratch(1), fold=prepared.fold, pack=Dropped("pack", "one row is never packed"))


def absent_on_purpose(prepared: Scratch) -> Binding:
    return Binding(fold=prepared.fold, pack=Absent("the binding does not pack"), stream=object())


@materializer
def through_locals(prepared: Scratch, rows: int) -> Scratch:
    fold = prepared.fold
    pack = cast("Kernel", getattr(prepared, "pack"))  # noqa: B009
    if (again := prepared.fold) is fold:
        return replace(plan_scratch(rows), fold=again, pack=pack)
    return replace(prepared, rows=rows)


@materializer
def transferred(prepared: Scratch, rows: int) -> Scratch:
    return transfer(prepared, into=plan_scratch(rows), rows=rows)


@materializer
def itself(prepared: Scratch) -> Scratch:
    return prepared


@materializer
def by_a_helper(prepared: Scratch, rows: int) -> Scratch:
    return _complete(replace(plan_scratch(rows), fold=prepared.fold), prepared)


def _complete(fresh: Scratch, old: Scratch) -> Scratch:
    return replace(fresh, pack=old.pack)


def _half(old: Scratch, rows: int) -> Scratch:
    return replace(plan_scratch(rows), fold=old.fold)


@materializer
def finished_by_the_caller(prepared: Scratch, rows: int) -> Scratch:
    return replace(_half(prepared, rows), pack=prepared.pack)


def unknown_keywords(prepared: Scratch, **facts: Any) -> Scratch:
    return replace(plan_scratch(1), fold=prepared.fold, **facts)


def all_of_it(prepared: Scratch) -> Scratch:
    return Scratch(**vars(prepared))


def all_but_one(prepared: Launches) -> Launches:
    return Launches(**{**vars(prepared), "rows": 3})


def shared(prepared: Scratch) -> Scratch:
    other = copy.copy(prepared)
    object.__setattr__(other, "rows", 3)
    return other


def same_map(prepared: Launches, rows: int) -> Launches:
    table: Mapping[int, Kernel] = prepared.table
    return Launches(rows, table)


def named_tuple(programs: Programs) -> Programs:
    return programs._replace(rows=3)


def written(prepared: Written) -> Written:
    return replace(plan_written(3), fold=prepared.fold, pack=prepared.pack)


def two_sources(one: Scratch, other: Launches) -> Binding:
    return Binding(one.fold, one.pack, other)


def complete_into(new: Binding, old: Scratch) -> None:
    new.fold = old.fold
    new.pack = old.pack


def line_of_a_report(prepared: Scratch) -> dict[str, object]:
    return {"fold": prepared.fold, "rows": prepared.rows}


@materializer
def bind(prepared: Scratch, stream: object) -> Binding:
    return Binding(prepared.fold, prepared.pack, stream)


@materializer
def rebind(binding: Binding, stream: object) -> Binding:
    return Binding(binding.fold, binding.pack, stream, calls=binding.calls + 1)


def ignored(prepared: Scratch) -> Scratch:
    return replace(plan_scratch(1), fold=prepared.fold)  # type: ignore[ownership-drop]


def suppressed(prepared: Scratch) -> Scratch:
    return replace(plan_scratch(1), fold=prepared.fold)  # carryall: ignore[OWN001:pack] -- measured without it


def only_where_there_is_none(prepared: Scratch) -> Scratch:
    return replace(prepared, fold=compile_kernel("f")) if isinstance(prepared.fold, Absent) else prepared


def made_and_then_another_path(binding: Holder) -> None:
    if isinstance(binding.plan.fold, Absent):
        binding.plan = replace(binding.plan, fold=compile_kernel("fold"))


class Holder:
    def __init__(self, plan: Scratch) -> None:
        self.plan = plan


def a_long_chain(prepared: Scratch, builder: Any) -> Scratch:
    builder.a().b().c().d().e().f().g().h().i().j().k().l().m().n().o().p().q().r().s().t().u().v().w().x().y()
    return replace(plan_scratch(1), fold=prepared.fold, pack=prepared.pack)


def a_dict_that_is_copied(prepared: Scratch) -> Scratch:
    shared: dict[str, Any] = {"fold": prepared.fold, "pack": prepared.pack}
    other = shared.copy()
    other["pack"] = None
    return replace(plan_scratch(1), **shared)


def all_by_partial(prepared: Scratch) -> Binding:
    return partial(Binding, prepared.fold)(pack=prepared.pack, stream=object())


C = TypeVar("C")


@plan
@dataclass(frozen=True)
class Carriers:
    fold: Transferable[Kernel]
    pack: Transferable[Kernel]


@plan
@dataclass(frozen=True)
class Bundled(Generic[C]):
    rows: Fact[int]
    size: Derived[int]
    carriers: Transferable[C]


def plan_bundled(rows: int) -> Bundled[None]:
    return Bundled(rows, rows * 64, None)


@materializer
def bundled(prepared: Bundled[Carriers], rows: int) -> Bundled[Carriers]:
    fresh = plan_bundled(rows)
    return Bundled(fresh.rows, fresh.size, prepared.carriers)


class Builder:
    def __init__(self) -> None:
        self.fold: Kernel | Absent = Absent("not built")
        self.pack: Kernel | Absent = Absent("not built")

    def build(self, rows: int) -> Scratch:
        return Scratch(rows, rows * 64, self.fold, self.pack)
