"""Carriers of plans that a function was given: which assignments replace them."""

from __future__ import annotations

import pytest

from tests.lint_rules.flow.programs import check

KERNEL = "class Kernel: ...\n\n\ndef compiled(): return Kernel()\n\n\n"


@pytest.mark.parametrize(
    "source",
    [
        "def f(p: Plan):\n    p.fold = compiled()  # OWN013: fold\n",
        "def f(p: Plan):\n    p.fold = Kernel()  # OWN013: fold\n",
        "def f(p: Plan):\n    p.fold = None  # OWN013: fold\n",
        "def f(p: Plan):\n    p.fold = {}  # OWN013: fold\n",
        "def f(p: Plan):\n    p.fold = copy.copy(p.fold)  # OWN013: fold\n",
        "def f(p: Plan):\n    setattr(p, 'fold', compiled())  # OWN013: fold\n",
        "def f(p: Plan):\n    object.__setattr__(p, 'pack', compiled())  # OWN013: pack\n",
        "def f(p: Plan, rows):\n    if rows:\n        p.fold = compiled()  # OWN013: fold\n",
        "def f(p: Plan):\n    q = p\n    q.fold = compiled()  # OWN013: fold\n",
        "class Runner:\n    plan: Plan\n    def f(self):\n        self.plan.fold = compiled()  # OWN013: fold\n",
        "def f(p: Plan):\n    def inner():\n        p.fold = compiled()  # OWN013: fold\n    return inner\n",
        "def fill(p: Plan):\n    p.fold = compiled()  # OWN013: fold\n\n\ndef f(p: Plan):\n    fill(p)\n",
        "def swap(p: Plan):\n    p.fold = Kernel()  # OWN013: fold\n\n\ndef f():\n    swap(Plan(8, Kernel(), 2))\n",
    ],
)
def test_a_new_object_in_a_plan_that_was_given_is_reported(source: str) -> None:
    check(KERNEL + source)


@pytest.mark.parametrize(
    "source",
    [
        "def f(p: Plan):\n    p.rows = 8\n",
        "def f(p: Plan, fold: Kernel):\n    p.fold = fold\n",
        "def f(p: Plan, q: Plan):\n    p.fold = q.fold\n",
        "def f(p: Plan):\n    p.fold = wrapped(p.fold)\n",
        "def f(p: Plan):\n    p.fold = Absent('closed')\n",
        "def f(p: Plan):\n    p.fold = Dropped('fold', 'no longer')\n",
        "def f():\n    p = plan_fresh(8)\n    p.fold = compiled()\n    return p\n",
        "def f(p):\n    p.fold = compiled()\n",
        "def f(p: Plan, build):\n    p.fold = build(8)\n",
        "def prepare(p: Plan):\n    p.fold = compiled()\n    return p\n",
        "def f(p: Plan):\n    if p.fold is None:\n        p.fold = make()\n",
        "def fill(p: Plan):\n    p.fold = compiled()\n\n\ndef f():\n    p = plan_fresh(8)\n    fill(p)\n    return p\n",
        "class Own(Plan):\n    def close(self):\n        self.fold = None\n",
        "class Own(Plan):\n    def __post_init__(self):\n        self.other = Kernel()\n        self.pack = Kernel()\n",
        "class Wrap:\n    def __init__(self, p: Plan):\n        p.fold = compiled()\n",
    ],
)
def test_completing_stating_and_a_plans_own_methods_are_silent(source: str) -> None:
    check(KERNEL + source)
