"""Copies that leave a carrier behind."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from cases.plans import Absent, Binding, Kernel, Programs, Scratch, Written, plan_scratch, plan_written
from ownership import Dropped, materializer, transfer


def forgotten_in_replace(prepared: Scratch, rows: int) -> Scratch:
    return replace(plan_scratch(rows), fold=prepared.fold)  # E: drop pack


def none_in_constructor(prepared: Scratch, nothing: None) -> Binding:
    return Binding(prepared.fold, None, nothing)  # type: ignore[arg-type]  # E: drop pack


def absent_of_the_planner(prepared: Scratch, rows: int) -> Scratch:
    fresh = plan_scratch(rows)
    fresh = replace(fresh, pack=prepared.pack)  # E: drop fold
    return fresh


def from_an_untyped_bundle(programs: Any, rows: int) -> Scratch:
    return replace(plan_scratch(rows), fold=programs.folding)  # E: drop pack


def untyped(programs, rows):  # type: ignore[no-untyped-def]
    return replace(plan_scratch(rows), fold=programs.fold)  # E: drop pack


def marks_written_out(prepared: Written, rows: int) -> Written:
    return replace(plan_written(rows), pack=prepared.pack)  # E: drop fold


def stepwise_and_one_forgotten(prepared: Scratch, rows: int) -> int:
    first = replace(plan_scratch(rows), fold=prepared.fold)  # E: drop pack
    second = replace(first, rows=3)
    return consume(second)


def consume(scratch: Scratch) -> int:
    return scratch.rows


def copy_list(prepared: Scratch, rows: int) -> Scratch:
    grown = plan_scratch(rows)
    object.__setattr__(grown, "fold", prepared.fold)  # E: drop pack
    return grown


def complete_into(new: Binding, old: Binding, more: Binding) -> None:
    new.fold = old.fold
    new.pack = old.pack


def keywords(prepared: Scratch) -> Scratch:
    shared: dict[str, Any] = {"fold": prepared.fold, "rows": 3}
    shared["size"] = 9
    return replace(plan_scratch(3), **shared)  # E: drop pack


def wrong_name(prepared: Scratch) -> Scratch:
    return replace(prepared, fold=Dropped("pack", "the wrong field"))  # E: drop fold


def copied_and_emptied(prepared: Scratch) -> Scratch:
    return replace(copy.copy(prepared), fold=None)  # type: ignore[arg-type]  # E: drop fold


def by_position(old: Programs, rows: int) -> Programs:
    return Programs(rows, old.fold, Absent("x") if rows else Absent("y"))


class Engine:
    def __init__(self, prepared: Scratch) -> None:
        self.prepared = prepared
        self.small = replace(plan_scratch(1), fold=prepared.fold)  # E: drop pack

    def resized(self, rows: int) -> Scratch:
        return replace(plan_scratch(rows), pack=self.prepared.pack)  # E: drop fold

    def table(self) -> dict[int, Scratch]:
        return {rows: replace(plan_scratch(rows), fold=self.prepared.fold) for rows in range(3)}  # E: drop pack


def helper(fresh: Scratch, old: Scratch) -> Scratch:
    return replace(fresh, fold=old.fold)  # E: drop pack


def through_a_helper(prepared: Scratch, rows: int) -> Scratch:
    return helper(plan_scratch(rows), prepared)


later = lambda prepared: replace(plan_scratch(1), fold=prepared.fold)  # E: drop pack  # noqa: E731


def unused(kernel: Kernel) -> None: ...


def a_dict_and_its_copy(prepared: Scratch) -> Scratch:
    shared: dict[str, Any] = {"fold": prepared.fold}
    whole = dict(shared)
    whole["pack"] = prepared.pack
    return replace(plan_scratch(1), **shared)  # E: drop pack


def pairs_for_a_dict(prepared: Scratch) -> Scratch:
    return replace(plan_scratch(1), **dict([("fold", prepared.fold)]))  # type: ignore[arg-type]  # E: drop pack


def names_in_a_comprehension(prepared: Scratch) -> Scratch:
    return replace(plan_scratch(1), **{name: getattr(prepared, name) for name in ("fold",)})  # E: drop pack


def united(prepared: Scratch) -> Scratch:
    first: dict[str, Any] = {"rows": 3}
    return replace(plan_scratch(1), **(first | {"fold": prepared.fold}))  # E: drop pack


def names_with_values(prepared: Scratch) -> Scratch:
    fresh = plan_scratch(1)
    for name, value in zip(("fold", "size"), (prepared.fold, 3), strict=True):
        object.__setattr__(fresh, name, value)  # E: drop pack
    return fresh


def by_partial(prepared: Scratch) -> Binding:
    make = partial(Binding, prepared.fold, stream=object())
    return make(pack=None)  # type: ignore[arg-type]  # E: drop pack


def by_a_lambda(prepared: Scratch) -> Scratch:
    finish = lambda fresh: replace(fresh, fold=prepared.fold)  # E: drop pack  # noqa: E731
    made: Scratch = finish(plan_scratch(1))
    return made


def one_of_two_is_used(prepared: Scratch, rows: int) -> int:
    if rows:
        made = replace(plan_scratch(rows), fold=prepared.fold)  # E: drop pack
    else:
        made = replace(plan_scratch(1), fold=prepared.fold)  # E: drop pack
    return consume(made)


@materializer
def by_a_function_inside(prepared: Scratch) -> Iterable[Scratch]:
    def one(old: Scratch) -> Scratch:
        moved = transfer(old, into=plan_scratch(1))  # E: drop pack
        return replace(moved, pack=Absent("lost"))

    return [one(each) for each in (prepared,)][0:1]
