"""Which launchers are recognized as carriers of a kernel; no Triton needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from ownership._published import note
from ownership.resolution._plan_fields import plan_field


class Kernel:
    """Stands for a `JITFunction`."""


class Source:
    def __init__(self, fn: Kernel) -> None:
        self.fn = fn


class Compiled:
    """Stands for a `CompiledKernel`."""

    def __init__(self, fn: Kernel) -> None:
        self.src = Source(fn)


@dataclass(eq=False)
class Launcher:
    program: Any


class Slotted:
    __slots__ = ("__weakref__", "program", "unset")

    def __init__(self, program: object) -> None:
        self.program = program


class Explosive:
    """Has a property that must not be asked for."""

    def __init__(self, program: object) -> None:
        self.held = program

    @property
    def program(self) -> object:
        raise AssertionError("a property of a carrier was run")


class Plan:
    """Stands for a plan's class."""


WRAPS: dict[str, Any] = {
    "the program": lambda program: program,
    "an attribute": Launcher,
    "a slot": Slotted,
    "beside a property": Explosive,
    "in a mapping": lambda program: Launcher({8: program}),
    "in a tuple": lambda program: Launcher((None, 3, "x", program)),
    "two levels": lambda program: Launcher(Slotted(program)),
}


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
def test_a_carrier_is_recognized(wrap: Any) -> None:
    kernel = Kernel()
    carrier = wrap(Compiled(kernel))
    assert plan_field(kernel) is None
    note(carrier, plan=Plan, path="fold")
    assert plan_field(kernel) == f"{Plan.__module__}.Plan.fold"
    assert plan_field(Kernel()) is None


def test_a_launcher_that_holds_the_kernel_itself_is_recognized() -> None:
    kernel = Kernel()
    carrier = Launcher(kernel)
    note(carrier, plan=Plan, path="fold")
    assert plan_field(kernel) is not None


def test_a_program_that_lies_too_deep_is_not_looked_for() -> None:
    kernel = Kernel()
    carrier = Launcher([Launcher([Compiled(kernel)])])
    note(carrier, plan=Plan, path="fold")
    assert plan_field(kernel) is None


def test_several_fields_are_all_named_up_to_three() -> None:
    kernel = Kernel()
    carriers = [Compiled(kernel) for _ in range(5)]
    for number, carrier in enumerate(carriers):
        note(carrier, plan=Plan, path=f"fold[{number}]")
    found = plan_field(kernel)
    assert found is not None
    assert found.count(" or ") == 2


def test_a_carrier_that_refers_to_itself_ends() -> None:
    kernel = Kernel()
    carrier = Launcher(None)
    carrier.program = [carrier, carrier]
    note(carrier, plan=Plan, path="fold")
    assert plan_field(kernel) is None
