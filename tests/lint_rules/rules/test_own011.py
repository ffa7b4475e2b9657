"""OWN011: what counts as borrowed, and what keeps it beyond the call."""

from __future__ import annotations

import pytest

from tests.lint_rules.checking import findings_in

HEAD = """\
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import ClassVar

from ownership import Borrowed, Derived, Ephemeral, Fact, Transferable, plan
from torch import Tensor

LAST = {}
KEPT = []
now = None


class Registry: ...


@plan
@dataclass(frozen=True)
class LayerPlan:
    rows: Fact[int]
    fold: Transferable[Callable]
    first: Fact[object]
    log: Ephemeral[object]


@plan
@dataclass(frozen=True)
class Binding:
    rows: Fact[int]
    scratch: Borrowed[Tensor]
    text: Borrowed[bytearray]
    window: Borrowed[memoryview]
    head: Derived[object]
    fold: Transferable[Callable]


class Holder:
    def __init__(self) -> None:
        self.now = None
        self.table = {}


"""

SELF = "class Runner:\n    def run(self, b: Binding):\n        "
RUN = "def run(b: Binding):\n    "
BIND = "(rows, scratch):\n    made = Binding(rows, scratch, text=None, window=None, head=None, fold=abs)\n    "


def found(body: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(finding.code, finding.fields) for finding in findings_in(HEAD + body)]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (RUN + "LAST[b.rows] = b.scratch\n", "scratch"),
        (RUN + "LAST[b.rows] = (b.scratch, 1)\n", "scratch"),
        (RUN + "LAST[b.rows] = b.text\n", "text"),
        (RUN + "LAST[b.rows] = b.window[1:]\n", "window"),
        (RUN + "LAST[b.rows] = b.scratch[0]\n", "scratch"),
        (RUN + "KEPT.append(b.scratch.view(-1)[:4].narrow(0, 1, 2))\n", "scratch"),
        (RUN + "KEPT.append(memoryview(b.text))\n", "text"),
        (RUN + "KEPT.extend([b.scratch])\n", "scratch"),
        (RUN + "part = b.scratch\n    KEPT.append(lambda: b.fold(part))\n", "scratch"),
        (RUN + "LAST.setdefault(1, b.scratch)\n", "scratch"),
        (RUN + "LAST.update(last=b.scratch)\n", "scratch"),
        (RUN + "global now\n    now = b.scratch\n", "scratch"),
        (RUN + "Registry.last = b.scratch\n", "scratch"),
        (RUN + "part = b.scratch\n    if part is not None:\n        LAST[1] = part\n", "scratch"),
        (RUN + "a, part = b.rows, b.scratch\n    LAST[1] = part\n", "scratch"),
        (RUN + "LAST[1] = b.scratch if b.rows else None\n", "scratch"),
        (SELF + "self.now = b.scratch\n", "scratch"),
        (SELF + "self.table[b.rows] = b.scratch\n", "scratch"),
        (SELF + "self.table.kept.append(b.scratch)\n", "scratch"),
        (SELF + "self._run = partial(b.fold, b.scratch)\n", "scratch"),
        ("class R:\n    @classmethod\n    def run(cls, b: Binding):\n        cls.last = b.scratch\n", "scratch"),
        ("@lru_cache\ndef first(b: Binding):\n    return b.rows\n", "scratch"),
        ("@lru_cache(8)\ndef first(n: int, b: Binding):\n    return b.text\n", "text"),
        (RUN + "part = b.scratch\n    def inner():\n        return b.fold(part)\n    return inner\n", "scratch"),
        (RUN + "return partial(b.fold, b.scratch)\n", "scratch"),
        (RUN + "return LayerPlan(b.rows, b.fold, first=b.scratch, log=None)\n", "scratch"),
        (RUN + "return LayerPlan(b.rows, b.fold, None, [b.scratch])\n", "scratch"),
        ("def f(p: LayerPlan, b: Binding):\n    return replace(p, log=b.scratch)\n", "scratch"),
        ("def bind" + BIND + "KEPT.append(scratch)\n    return made\n", "scratch"),
        ("def bind" + BIND + "return lambda: made.fold(scratch)\n", "scratch"),
    ],
)  # fmt: skip
def test_what_keeps_borrowed_storage_is_reported(body: str, field: str) -> None:
    assert found(body) == [("OWN011", (field,))]


@pytest.mark.parametrize(
    "body",
    [
        RUN + "LAST[b.rows] = b.scratch.clone()\n",
        RUN + "LAST[b.rows] = bytes(b.text)\n",
        RUN + "LAST[b.rows] = b.text[1:]\n",
        RUN + "LAST[b.rows] = b.window[0]\n",
        RUN + "LAST[b.rows] = b.scratch.shape\n",
        RUN + "LAST[b.rows] = len(b.scratch)\n",
        RUN + "LAST[b.rows] = b.fold\n",
        RUN + "table = {}\n    table[1] = b.scratch\n    return table[1]\n",
        RUN + "LAST = {}\n    LAST[1] = b.scratch\n",
        RUN + "now = b.scratch\n    return now\n",
        RUN + "return lambda: b.fold(b.scratch)\n",
        RUN + "part = b.scratch\n    def inner(part):\n        return part\n    return inner\n",
        RUN + "return b.scratch\n",
        RUN + "def inner():\n        part = b.scratch\n        return part\n    return inner\n",
        "def run(b: Binding, out):\n    out.append(b.scratch)\n    out.last = b.scratch\n",
        SELF + "self.now = b.scratch\n        self.run()\n        self.now = None\n",
        SELF + "self.table[1] = b.scratch\n        del self.table[1]\n",
        SELF + "self.table[1] = b.scratch\n        self.table.clear()\n",
        SELF + "self.binding = b\n",
        "class Runner:\n    def __init__(self, b: Binding):\n        self.scratch = b.scratch\n",
        "class Sub(Binding):\n    def f(self, b: Binding):\n        object.__setattr__(self, 'x', b.scratch)\n",
        "@lru_cache\ndef first(p: LayerPlan):\n    return p.fold\n",
        "def f(b: Binding):\n    return replace(b, head=b.scratch[:1])\n",
        "def bind" + BIND + "return made\n",
        "def bind" + BIND + "scratch = scratch.clone()\n    KEPT.append(scratch)\n    return made\n",
        "def run(b):\n    LAST[1] = b.scratch\n",
    ],
)
def test_copies_locals_bindings_and_short_lived_places_are_silent(body: str) -> None:
    assert found(body) == []


def test_the_message_says_whose_storage_it_is_and_what_keeps_it() -> None:
    (finding,) = findings_in(HEAD + RUN + "LAST[b.rows] = b.scratch\n")
    assert finding.message == (
        "`b.scratch` is the caller's storage, borrowed for one call as `scratch` of Binding (declared at a.py:30), but"
        " `LAST` of the module keeps it for longer. Keep a copy of what is needed, or ask for the storage at each call."
    )
    assert finding.class_name == "a.Binding"
    (plan,) = findings_in(HEAD + RUN + "return LayerPlan(b.rows, b.fold, first=b.scratch, log=None)\n")
    assert "but `LayerPlan.first` takes it, and that plan is no binding and lives on." in plan.message
