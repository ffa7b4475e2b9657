"""OWN005: which bundles count, and what their fix does."""

from __future__ import annotations

import pytest

from lint_rules.fixes import apply_fixes
from tests.lint_rules.checking import declare, findings_in
from tests.lint_rules.trees import tree_of

HEAD = """\
from dataclasses import KW_ONLY, dataclass, replace
from typing import NamedTuple

from ownership import Fact, Transferable, plan


class Kernel: ...


@plan
@dataclass
class TilePlan:
    rows: Fact[int]
    load: Transferable[Kernel]
    merge: Transferable[Kernel]
    attend: Transferable[Kernel]
    store: Transferable[Kernel]


def launch(load: Kernel, merge: Kernel, attend: Kernel, store: Kernel, rows: int) -> None: ...


def launch_all(*kernels: Kernel) -> None: ...


def compile_all(rows: int): ...


def programs(tile: TilePlan):
    return tile.load, tile.merge, tile.attend, tile.store


"""

ALL = ("load", "merge", "attend", "store")
MADE = "    return TilePlan(1, load=a, merge=b, attend=c, store=d)\n"
REPLACED = "    return replace(t, load=a, merge=b, attend=c, store=d)\n"


def fixed(body: str, *, unsafe: bool = False) -> str:
    """The body once the findings in it are mended."""
    text = HEAD + body
    return apply_fixes(tree_of({"a.py": text}), findings_in(text), unsafe=unsafe).texts.get("a.py", text)[len(HEAD) :]


@pytest.mark.parametrize(
    "body",
    [
        "def f(a, b, c, d):\n    return TilePlan(1, a, b, c, d)\n",
        "def f(a, b, c, d):\n    return TilePlan(\n        1, a, b,\n        c, d,\n    )\n",
        "MADE = TilePlan(1, Kernel(), Kernel(), Kernel(), Kernel())\n",
        "class Sub(TilePlan):\n    @classmethod\n    def f(cls, a, b, c, d):\n        return cls(1, a, b, c, d)\n",
        "def f(t: TilePlan):\n    launch(t.load, t.merge, t.attend, t.store, 1)\n",
        "def f(t: TilePlan):\n    a, b, c, d = t.load, t.merge, t.attend, t.store\n    launch(a, b, c, d, 1)\n",
        "def f(t: TilePlan):\n    a, b, c, d = programs(t)\n    return a\n",
        "def f():\n    a, b, c, d = compile_all(1)\n" + MADE,
        "async def f(s):\n    a, b, c, d = await s.all(1)\n" + MADE,
        "def f(t: TilePlan, p):\n    a, b, c, d = p\n" + REPLACED,
        "def f(t: TilePlan, p):\n    [a, b, c, e, d] = p.all\n" + REPLACED,
    ],
)
def test_four_carriers_by_position_are_one_finding(body: str) -> None:
    (finding,) = findings_in(HEAD + body)
    assert (finding.code, sorted(finding.fields)) == ("OWN005", sorted(ALL))
    assert finding.class_name in {"a.TilePlan", "a.Sub"}


@pytest.mark.parametrize(
    "body",
    [
        "def f(a, b, c, d):\n    return TilePlan(1, load=a, merge=b, attend=c, store=d)\n",
        "def f(a, b, c, d):\n    return TilePlan(1, a, b, c, store=d)\n",
        "def f(kernels):\n    return TilePlan(1, *kernels)\n",
        "def f(t: TilePlan):\n    launch_all(t.load, t.merge, t.attend, t.store)\n",
        "def f(t: TilePlan, s):\n    s.launch(t.load, t.merge, t.attend, t.store)\n",
        "def f(t: TilePlan):\n    return [k for k in (t.load, t.merge, t.attend, t.store)]\n",
        "def f(t: TilePlan):\n    a, b, c, d = t.load, t.merge, t.attend, t.store\n    return a\n",
        "def f():\n    a, b, c, d = map(compile_all, ALL)\n" + MADE,
        "def f():\n    a, b, c, d = (Kernel() for _ in ALL)\n" + MADE,
        "def f():\n    a, b, c, d = compile_all(1)\n    return a.shape, b, c, d\n",
        "def f(t):\n    a, b, c, d = compile_all(t)\n    return replace(t, rows=a, load=b, merge=c, attend=d)\n",
        "def f(a, b, c, d, TilePlan):\n    return TilePlan(1, a, b, c, d)\n",
    ],
)  # fmt: skip
def test_fewer_named_or_unordered_carriers_are_silent(body: str) -> None:
    assert findings_in(HEAD + body) == ()


def test_keywords_are_put_before_the_values_as_they_stand() -> None:
    before = "def f(load, merge, attend, store):\n    return TilePlan(1, load, merge,  # é\n        attend, store)\n"
    after = (
        "def f(load, merge, attend, store):\n    return TilePlan(1, load=load, merge=merge,  # é\n"
        "        attend=attend, store=store)\n"
    )
    assert fixed(before) == after
    assert findings_in(HEAD + after) == ()


def test_a_call_is_mended_by_the_names_of_the_parameters() -> None:
    body = "def f(t: TilePlan):\n    launch(t.load, t.merge, t.attend, t.store, t.rows)\n"
    wanted = "    launch(load=t.load, merge=t.merge, attend=t.attend, store=t.store, rows=t.rows)\n"
    assert fixed(body) == f"def f(t: TilePlan):\n{wanted}"


def test_values_that_bear_the_names_of_others_are_pointed_out_and_left_to_a_person() -> None:
    body = "def f(load, merge, attend, store):\n    return TilePlan(1, load, attend, merge, store)\n"
    (finding,) = findings_in(HEAD + body)
    assert finding.message == (
        "`load`, `merge`, `attend` and `store` of TilePlan (declared at a.py:14, a.py:15, a.py:16, a.py:17) are given"
        " to `TilePlan(...)` by position, and `merge` is given `attend`, which has the name of another one. Give each"
        " of them by keyword."
    )
    assert fixed(body) == body
    assert "TilePlan(1, load=load, merge=attend, attend=merge, store=store)" in fixed(body, unsafe=True)


def test_a_star_behind_the_carriers_keeps_the_fix_away() -> None:
    body = "def f(a, b, c, d, rest):\n    return TilePlan(1, a, b, c, d, *rest)\n"
    (finding,) = findings_in(HEAD + body)
    assert finding.fixes == ()


@pytest.mark.parametrize(
    ("head", "keyword"),
    [
        (
            "from typing import NamedTuple\n\n\nclass P(NamedTuple):\n    a: int\n    b: int\n    c: int\n    d: int\n",
            "d",
        ),
        ("import attrs\n\n\n@attrs.define\nclass P:\n    a: int\n    b: int\n    c: int\n    _d: int\n", "d"),
        ("class P:\n    def __init__(self, a, b, c, d):\n        self.a, self.b, self.c, self._d = a, b, c, d\n", "d"),
    ],
)
def test_a_declared_class_of_any_flavor_is_mended_by_its_parameters(head: str, keyword: str) -> None:
    text = head + "\n\ndef f(w, x, y, z):\n    return P(w, x, y, z)\n"
    last = "d" if "NamedTuple" in head else "_d"
    found = findings_in(text, declare("a.P", "a", "b", "c", last))
    assert [finding.code for finding in found] == ["OWN005"]
    changes = apply_fixes(tree_of({"a.py": text}), found, unsafe=False)
    assert changes.texts["a.py"].endswith(f"return P(a=w, b=x, c=y, {keyword}=z)\n")
