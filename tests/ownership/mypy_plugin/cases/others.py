"""Copies, carriers that are made again, rebinding, leaks."""

from __future__ import annotations

import copy
from dataclasses import asdict, replace

from ownership import materializer, transfer

from cases.plans import Absent, Binding, Kernel, Launches, Scratch, compile_kernel, plan_scratch


def deep(prepared: Scratch) -> Scratch:
    return copy.deepcopy(prepared)  # E: copy


def through_a_dict(prepared: Scratch) -> Scratch:
    return Scratch(**asdict(prepared))  # E: identity fold, identity pack


@materializer
def compiled_again(prepared: Scratch) -> Scratch:
    return replace(prepared, fold=compile_kernel("fold"))  # E: identity fold


def compiled_by_a_class(prepared: Scratch) -> Scratch:
    return Scratch(1, 64, prepared.fold, Kernel("pack"))  # E: identity pack


def another_dict(prepared: Launches) -> Launches:
    return Launches(prepared.rows, dict(prepared.table))  # E: identity table


def another_table(prepared: Launches) -> Launches:
    return replace(prepared, table={rows: Kernel(str(rows)) for rows in prepared.table})  # E: identity table


def copied_carrier(prepared: Scratch) -> Scratch:
    return replace(prepared, pack=copy.copy(prepared.pack))  # E: identity pack


def in_transfer(prepared: Scratch) -> Scratch:
    return transfer(prepared, into=plan_scratch(1), fold=compile_kernel("fold"))  # E: identity fold


def rebound(binding: Binding) -> None:
    binding.fold = compile_kernel("fold")  # E: rebind fold


def behind_its_back(prepared: Scratch) -> None:
    object.__setattr__(prepared, "pack", compile_kernel("pack"))  # E: rebind pack


def lazily(binding: Binding) -> Kernel:
    if isinstance(binding.pack, Absent):
        setattr(binding, "pack", compile_kernel("pack"))  # E: rebind pack  # noqa: B010
    assert isinstance(binding.pack, Kernel)
    return binding.pack


@materializer
def leaks(binding: Binding, stream: object) -> Binding:
    return Binding(binding.fold, binding.pack, binding.stream, seen=binding.seen)  # E: leak stream, leak seen


@materializer
def keeps(binding: Binding, stream: object) -> Binding:
    return replace(binding, stream=stream)  # E: leak seen


def stale(prepared: Scratch, rows: int) -> Scratch:
    return Scratch(rows, prepared.size, prepared.fold, prepared.pack)  # E: leak size
