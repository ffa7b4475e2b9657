"""OWN006: which fallbacks are seen, and which code may resolve."""

from __future__ import annotations

import pytest

from tests.lint_rules.checking import declare, findings_in

HEAD = """\
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ownership import Absent, Fact, Transferable, materializer, plan
from ownership.resolution import resolver


class Kernel:
    def __init__(self, symbol: str) -> None:
        self.symbol = symbol


def compile_pack(width: int) -> Kernel:
    return Kernel("pack")


def make_pack(width: int) -> Kernel:
    return compile_pack(width)


@resolver
def fetch(width: int) -> Kernel:
    return Kernel("fetched")


def reference(width: int) -> Kernel:
    return Kernel


@plan
@dataclass(frozen=True)
class PackPlan:
    width: Fact[int]
    pack: Transferable[Kernel | Absent]
    sizes: Transferable[Mapping[int, Kernel]]
    label: Fact[str | None] = None


def prepare(width: int) -> PackPlan:
    return PackPlan(width, compile_pack(width), {})


class Holder:
    def __init__(self, plan: PackPlan) -> None:
        self.plan: PackPlan = plan


"""


RUN = "def run(p: PackPlan):\n    "
RUN_N = "def run(p: PackPlan, n: int):\n    "
MAKE = "@materializer\ndef make(p: PackPlan) -> PackPlan:\n    "


def found(body: str) -> list[tuple[str, tuple[str, ...], int]]:
    first = HEAD.count("\n")
    return [(f.code, f.fields, f.place.line - first) for f in findings_in(HEAD + body)]


@pytest.mark.parametrize(
    ("body", "field", "line"),
    [
        (RUN + "return p.pack or compile_pack(p.width)\n", "pack", 2),
        (RUN + "if p.pack is None:\n        p.prepare_it()\n    return p.pack\n", "pack", 3),
        (RUN + "return p.pack or make_pack(p.width)\n", "pack", 2),
        (RUN + "return p.pack or fetch(p.width)\n", "pack", 2),
        (RUN + "return p.pack or Kernel('pack')\n", "pack", 2),
        ("def run(p: PackPlan, c):\n    return p.pack or c.session.jit(p.width)\n", "pack", 2),
        (RUN + "return getattr(p, 'pack', None) or compile_pack(1)\n", "pack", 2),
        (RUN + "return getattr(p, 'pack', compile_pack(1))\n", "pack", 2),
        (RUN + "return p.pack if p.pack is not None else compile_pack(1)\n", "pack", 2),
        (RUN + "if p.pack is None:\n        return compile_pack(1)\n    return p.pack\n", "pack", 3),
        (RUN + "if not p.pack:\n        x = compile_pack(1)\n        return x\n", "pack", 3),
        (RUN + "if p.pack is not None:\n        return p.pack\n    return compile_pack(1)\n", "pack", 4),
        (RUN + "if p.pack:\n        x = 1\n    else:\n        x = compile_pack(1)\n", "pack", 5),
        (RUN_N + "if n > 1 and p.pack is None:\n        return build(1)\n", "pack", 3),
        (RUN + "if (pack := p.pack) is None:\n        pack = compile_pack(1)\n", "pack", 3),
        (RUN_N + "if n not in p.sizes:\n        return compile_pack(n)\n", "sizes", 3),
        (RUN_N + "return p.sizes.get(n, compile_pack(n))\n", "sizes", 2),
        (RUN_N + "s = p.sizes\n    return s.setdefault(n, compile_pack(n))\n", "sizes", 3),
        (RUN_N + "k = p.sizes.get(n)\n    if k is None:\n        k = build_it(n)\n", "sizes", 4),
        (RUN + "match p.pack:\n        case Absent():\n            return compile_pack(1)\n", "pack", 4),
        (RUN + "if not hasattr(p, 'pack'):\n        return compile_pack(1)\n", "pack", 3),
        ("def run(h: Holder):\n    return h.plan.pack or compile_pack(1)\n", "pack", 2),
        ("def run(ps: list[PackPlan]):\n    return [p.pack or compile_pack(1) for p in ps]\n", "pack", 2),
        ("def run():\n    p = prepare(8)\n    return p.pack or compile_pack(1)\n", "pack", 3),
        ("def run(p):\n    p.sizes[1]()\n    return p.pack or compile_pack(1)\n", "pack", 3),
        ("def get_or_compile(p: PackPlan):\n    return p.pack or compile_pack(1)\n", "pack", 2),
        (
            MAKE + "return replace(p, pack=p.pack or compile_pack(1))\n",
            "pack",
            3,
        ),
    ],
)  # fmt: skip
def test_a_resolution_that_stands_in_for_a_carrier_is_reported(body: str, field: str, line: int) -> None:
    assert found(body) == [("OWN006", (field,), line)]


@pytest.mark.parametrize(
    "body",
    [
        RUN + "return p.label or compile_pack(1)\n",
        "def run(p: PackPlan, q: PackPlan):\n    return p.pack or q.pack\n",
        RUN + "return p.pack or reference(1)\n",
        RUN + "return p.pack or None\n",
        RUN + "if p.pack is None:\n        log_compile(p)\n    return p.pack\n",
        RUN + "return p.pack or re.compile('x')\n",
        RUN + "if p.pack is None:\n        raise LookupError(compile_message(p))\n    return p.pack\n",
        RUN + "if p.pack is not None:\n        return compile_pack(1)\n    raise LookupError\n",
        RUN + "if p.pack is None:\n        return lambda: compile_pack(1)\n    return p.pack\n",
        RUN_N + "if n in p.sizes:\n        return p.sizes[n]\n    raise KeyError(n)\n",
        RUN_N + "try:\n        return p.sizes[n]\n    except OSError:\n        return build(n)\n",
        RUN + "return Absent('gone') if p.pack is None else p.pack\n",
        "def prepare_pack(p: PackPlan):\n    return p.pack or compile_pack(p.width)\n",
        "class PackCompiler:\n    def pack(self, p: PackPlan):\n        return p.pack or compile_pack(p.width)\n",
        "@resolver\ndef slow(p: PackPlan):\n    return p.pack or compile_pack(p.width)\n",
        "def full(p: PackPlan) -> PackPlan:\n    return replace(p, pack=p.pack or compile_pack(1))\n",
        "def full(p: PackPlan):\n    k = p.pack or compile_pack(1)\n    return PackPlan(p.width, k, p.sizes)\n",
        "def run(p):\n    return p.pack or compile_pack(1)\n",
        "def run(p: Holder):\n    return p.pack or compile_pack(1)\n",
        "def run(p: PackPlan, pack):\n    return pack or compile_pack(1)\n",
    ],
)
def test_everything_else_is_left_alone(body: str) -> None:
    assert found(body) == []


def test_the_message_says_what_is_missing_and_what_stands_in() -> None:
    (finding,) = findings_in(HEAD + RUN + "return p.pack or compile_pack(p.width)\n")
    assert finding.message == (
        "where a PackPlan lacks `pack` (declared at a.py:35), `compile_pack(...)` stands in for it, so a carrier that"
        " was lost is compiled in silence while requests wait. Raise an error here, and resolve in a function of its"
        " own that is called before the freeze."
    )
    assert [fix.safety for fix in finding.fixes] == ["display"]


def test_a_declared_plan_is_no_different() -> None:
    text = """\
        class Step:
            def __init__(self, fold=None):
                self.fold = fold

            def run(self, rows):
                return (self.fold or jit(rows))(rows)
        """
    assert [f.code for f in findings_in(text, declare("a.Step", "fold"))] == ["OWN006"]
    assert findings_in(text) == ()
