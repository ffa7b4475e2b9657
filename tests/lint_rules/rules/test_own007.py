"""OWN007: which lists are meant to have all carriers, and how the missing one is added."""

from __future__ import annotations

import pytest

from lint_rules.fixes import apply_fixes
from tests.lint_rules.checking import analysis_of, declare, findings_in
from tests.lint_rules.trees import tree_of

HEAD = """\
from dataclasses import dataclass, field
from itertools import chain

from ownership import Fact, Transferable, plan


class Kernel:
    def load(self): ...


@plan
@dataclass(frozen=True)
class LoomPlan:
    rows: Fact[int]
    warp: Transferable[Kernel]
    weft: Transferable[Kernel]
    comb: Transferable[Kernel]


PROGRAM_NAMES = ("warp", "comb")
FIRST = ("warp", "comb")


"""


def fixed(body: str, *, unsafe: bool = False) -> str:
    """The body once the findings in it are mended."""
    text = HEAD + body
    found = findings_in(text)
    assert [(finding.code, finding.fields) for finding in found] == [("OWN007", ("weft",))]
    return apply_fixes(tree_of({"a.py": text}), found, unsafe=unsafe).texts.get("a.py", text)[len(HEAD) :]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def carriers(p: LoomPlan):\n    return (p.warp, p.comb)\n", "p.warp, p.weft, p.comb"),
        ("def all_kernels(p: LoomPlan):\n    return [p.comb, p.warp]\n", "[p.comb, p.warp, p.weft]"),
        ("def kernels(p: LoomPlan):\n    return frozenset({p.warp, p.comb})\n", "{p.warp, p.weft, p.comb}"),
        ("def programs(p: LoomPlan):\n    return {'warp': p.warp, 'comb': p.comb}\n", "'weft': p.weft,"),
        ("def kernel_count(p: LoomPlan):\n    return len((p.warp, p.comb))\n", "(p.warp, p.weft, p.comb)"),
        ("def f(s, p: LoomPlan):\n    s._retained += [p.warp, p.comb]\n", "[p.warp, p.weft, p.comb]"),
        ("def f(s, p: LoomPlan):\n    s._kept[p] = (p.warp, p.comb)\n", "(p.warp, p.weft, p.comb)"),
        ("def f(s, p: LoomPlan):\n    kept = chain((p.warp, p.comb), s)\n", "(p.warp, p.weft, p.comb)"),
        ("def f(s, p: LoomPlan):\n    s.retained.extend([p.warp, p.comb])\n", "[p.warp, p.weft, p.comb]"),
        ("def f(s, p: LoomPlan):\n    s.retain(p.warp, p.comb)\n", "s.retain(p.warp, p.weft, p.comb)"),
        ("def f(s, p: LoomPlan):\n    s.retain([k() for k in (p.warp, p.comb)])\n", "(p.warp, p.weft, p.comb)"),
        ("def f(p: LoomPlan):\n    for k in (p.warp, p.comb):\n        k.load()\n", "(p.warp, p.weft, p.comb)"),
        (
            "def f(s, p: LoomPlan):\n    s.kept.append(p.warp)\n    s.kept.append(p.comb)\n",
            "    s.kept.append(p.warp)\n    s.kept.append(p.weft)\n    s.kept.append(p.comb)\n",
        ),
        (
            "def programs(p: LoomPlan):\n    yield p.warp\n    yield p.comb\n",
            "    yield p.warp\n    yield p.weft\n    yield p.comb\n",
        ),
        (
            "def programs(p: LoomPlan):\n    return [\n        p.warp,  # é\n        p.comb,\n    ]\n",
            "    return [\n        p.warp,\n        p.weft,  # é\n        p.comb,\n    ]\n",
        ),
        ("def f(p: LoomPlan):\n    for n in ('warp', 'comb'):\n        getattr(p, n).load()\n    load(p)\n", None),
        ("def load(p):\n    for n in ('warp', 'comb'):\n        getattr(p, n)()\n", "('warp', 'weft', 'comb')"),
        ("def load(p):\n    return [getattr(p, n)() for n in ('warp', 'comb')]\n", "('warp', 'weft', 'comb')"),
    ],
)
def test_a_list_that_lacks_one_is_reported_and_completed(before: str, after: str | None) -> None:
    if after is None:
        assert findings_in(HEAD + before) == ()
        return
    mended = fixed(before)
    assert after in mended
    assert findings_in(HEAD + mended) == ()


@pytest.mark.parametrize(
    "body",
    [
        "def carriers(p: LoomPlan):\n    return (p.warp, p.weft, p.comb)\n",
        "def carriers(p: LoomPlan):\n    return (p.warp,)\n",
        "def carriers(p: LoomPlan):\n    return (p.warp, p.rows)\n",
        "def carriers(p: LoomPlan, q: LoomPlan):\n    return (p.warp, q.comb)\n",
        "def warp_kernels(p: LoomPlan):\n    return (p.warp, p.comb)\n",
        "def prefill_kernels(p: LoomPlan):\n    return (p.warp, p.comb)\n",
        "def run(p: LoomPlan):\n    return (p.warp, p.comb)\n",
        "def carriers(p: LoomPlan):\n    kept = [p.warp, p.comb]\n    kept.append(p.weft)\n    return kept\n",
        "def carriers(p: LoomPlan):\n    return (p.warp, p.comb)[p.rows]\n",
        "def kept(p: LoomPlan, q):\n    return (p.warp, p.comb) == q\n",
        "def f(p: LoomPlan):\n    for k in (p.warp, p.comb):\n        k(p.rows)\n",
        "def f(s, p: LoomPlan):\n    s.launch(p.warp, p.comb)\n",
        "def f(s, p: LoomPlan):\n    s.stages += [p.warp, p.comb]\n",
        "def copy(p: LoomPlan, q):\n    for n in ('warp', 'comb'):\n        object.__setattr__(q, n, getattr(p, n))\n",
        "def f(p: LoomPlan):\n    return [getattr(p, n) for n in FIRST]\n",
        "def programs(p: LoomPlan):\n    return [getattr(p, n) for n in (*FIRST, 'weft')]\n",
        "def programs(p):\n    return (p.gone, p.left)\n",
        "def programs(p: LoomPlan):\n    def run():\n        return (p.warp, p.comb)\n    return run\n",
    ],
)
def test_complete_narrowed_or_purposeless_lists_are_silent(body: str) -> None:
    assert [f.code for f in findings_in(HEAD + body) if f.code == "OWN007"] == []


def test_a_table_of_names_is_reported_where_it_stands_even_in_another_file() -> None:
    files = {
        "kit/__init__.py": "",
        "kit/plans.py": HEAD,
        "kit/use.py": (
            "from kit.plans import PROGRAM_NAMES, LoomPlan\n\n\n"
            "def f(p: LoomPlan):\n    return [getattr(p, n) for n in PROGRAM_NAMES]\n"
        ),
    }
    (finding,) = analysis_of(files).findings
    assert str(finding.place) == f"kit/plans.py:{HEAD[: HEAD.index('PROGRAM_NAMES')].count(chr(10)) + 1}"
    changes = apply_fixes(tree_of(dict(files)), [finding], unsafe=False)
    assert 'PROGRAM_NAMES = ("warp", "weft", "comb")' in changes.texts["kit/plans.py"]


def test_private_fields_and_two_missing_ones_keep_the_order_of_declaration() -> None:
    fields = "".join(f"    {name}: object = None\n" for name in ("_a", "b", "c", "_d", "e"))
    text = (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass P:\n" + fields + "\n"
        "    def kernels(self):\n        return {'a': self._a, 'c': self.c, 'e': self.e}\n\n"
        "def retained(p: P):\n    return p.c, p._d, p.e\n"
    )
    found = findings_in(text, declare("a.P", "_a", "b", "c", "_d", "e"))
    assert [finding.fields for finding in found] == [("b", "_d"), ("_a", "b")]
    mended = apply_fixes(tree_of({"a.py": text}), found, unsafe=False).texts["a.py"]
    assert "{'a': self._a, 'b': self.b, 'c': self.c, 'd': self._d, 'e': self.e}" in mended
    assert "return p._a, p.b, p.c, p._d, p.e" in mended


def test_the_message_says_what_is_missing_and_the_fix_is_unsafe_where_types_differ() -> None:
    text = (
        HEAD.replace("comb: Transferable[Kernel]", "comb: Transferable[dict[int, Kernel]]")
        + "def programs(p: LoomPlan):\n    return p.warp, p.weft\n"
    )
    (finding,) = findings_in(text)
    assert finding.message == (
        "`comb` of LoomPlan (declared at a.py:17) is missing here, where `warp` and `weft` are listed: what works"
        " through this list leaves it out. Add it, or take the list from `carriers(plan)`, which cannot forget one."
    )
    assert [fix.safety for fix in finding.fixes] == ["unsafe"]
