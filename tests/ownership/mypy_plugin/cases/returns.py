"""Materializers whose result lacks a carrier, and plans that are completed on one path only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ownership import materializer

from cases.plans import Scratch, plan_scratch


@materializer
def nothing_carried(prepared: Scratch, rows: int) -> Scratch:
    return plan_scratch(rows)  # E: return fold, return pack


@materializer
def one_path(prepared: Scratch, rows: int) -> Scratch:
    fresh = plan_scratch(rows)
    if rows > 8:
        fresh = replace(fresh, fold=prepared.fold, pack=prepared.pack)
    return fresh  # E: return fold, return pack


def one_branch(prepared: Scratch, rows: int) -> Scratch:
    fresh = replace(plan_scratch(rows), fold=prepared.fold)  # E: drop pack
    if rows > 8:
        fresh = replace(fresh, pack=prepared.pack)
    return fresh


class Holder:
    def __init__(self, plan: Scratch) -> None:
        self.plan = plan


@materializer
def inside_a_holder(prepared: Scratch) -> Holder:
    return Holder(plan_scratch(prepared.rows))  # E: return fold, return pack


@materializer
def in_a_table(prepared: Scratch) -> dict[str, Scratch]:
    return {"small": plan_scratch(1)}  # E: return fold, return pack


@materializer
async def later(prepared: Scratch) -> Scratch:
    return plan_scratch(2)  # E: return fold, return pack


def each(prepared: Scratch) -> Iterator[Scratch]:
    yield replace(plan_scratch(1), fold=prepared.fold)  # E: drop pack
