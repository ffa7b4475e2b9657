"""OWN008: which parameters count as not passed on, and what the finding says."""

from __future__ import annotations

import pytest

from lint_rules.fixes import apply_fixes
from tests.lint_rules.checking import analysis_of, declare, findings_in
from tests.lint_rules.trees import tree_of

HEAD = """\
from dataclasses import dataclass

from ownership import Fact, Transferable, plan


class Kernel: ...


@plan
@dataclass(frozen=True)
class RowPlan:
    capacity: Fact[int]
    pack: Transferable[Kernel]


def pack_rows(ready: RowPlan, rows: list[int], *, stable: bool = False, align: int = 1) -> list[int]:
    return sorted(rows) if stable else rows * align


"""

RUN = "def run(ready: RowPlan, rows: list[int], *, stable: bool = False) -> list[int]:\n"


def lost(body: str, head: str = RUN) -> list[tuple[str, ...]]:
    return [each.fields for each in findings_in(HEAD + head + body) if each.code == "OWN008"]


def test_the_message_says_where_it_is_declared_and_what_to_pass() -> None:
    (finding,) = findings_in(HEAD + RUN + "    return pack_rows(ready, rows)\n")
    assert finding.message == (
        "`run` accepts `stable` (declared at a.py:20) and does not pass it on: this `pack_rows(...)` has it too and"
        " falls back to its default, whatever the caller asked for. Pass `stable=stable`, or take the parameter away."
    )
    assert (finding.class_name, finding.place.line, finding.declared_at[0].line) == ("a.RowPlan", 21, 20)


def test_several_parameters_of_one_call_are_one_finding() -> None:
    head = "def run(ready: RowPlan, rows: list[int], *, align: int, stable: bool) -> list[int]:\n"
    assert lost("    return pack_rows(ready, rows)\n", head) == [("align", "stable")]


def test_a_parameter_that_is_only_checked_is_not_passed_on() -> None:
    body = "    assert not (stable and len(rows) > 9)\n    return pack_rows(ready, rows)\n"
    (finding,) = findings_in(HEAD + RUN + body)
    assert "only checks it and does not pass it on" in finding.message


@pytest.mark.parametrize(
    "body",
    [
        "    return pack_rows(ready, rows, stable=stable)\n",
        "    return pack_rows(ready, sorted(rows) if stable else rows)\n",
        "    del stable\n    return pack_rows(ready, rows)\n",
        "    if stable:\n        raise ValueError('no')\n    return pack_rows(ready, rows)\n",
        "    if stable is not False or not rows:\n        raise ValueError('no')\n    return pack_rows(ready, rows)\n",
        "    assert not stable\n    return pack_rows(ready, rows)\n",
        "    options = dict(align=2)\n    return pack_rows(ready, rows, **options)\n",
        "    stable = True\n    return pack_rows(ready, rows)\n",
        "    print(locals())\n    return pack_rows(ready, rows)\n",
        "    def inner(stable: bool) -> bool:\n        return stable\n    return pack_rows(ready, rows)\n",
        "    pack_rows = sorted\n    return pack_rows(ready, rows)\n",
        "    return pack_rows(RowPlan(1, Kernel()), [1])\n",
        "    if stable:\n        print('slow')\n    return pack_rows(ready, rows)\n",
    ],
)
def test_a_parameter_that_is_used_refused_or_given_up_is_silent(body: str) -> None:
    assert lost(body) == []


def test_methods_and_constructors_are_callees_too() -> None:
    body = """\
    @dataclass
    class Bound:
        ready: RowPlan
        stable: bool = False

        def rows(self, *, align: int = 1) -> int:
            return align

        def first(self, ready: RowPlan, align: int = 1) -> int:
            return self.then(ready)

        def then(self, ready: RowPlan, align: int = 1) -> int:
            return align


    def bind(ready: RowPlan, stable: bool = False) -> Bound:
        return Bound(ready)
    """.replace("\n    ", "\n").removeprefix("    ")
    found = findings_in(HEAD + body)
    assert [(each.code, each.fields) for each in found] == [("OWN008", ("align",)), ("OWN008", ("stable",))]


def test_a_function_that_is_not_about_plans_is_left_alone() -> None:
    assert lost("    return pack_rows(ready, rows)\n", "def run(ready, rows, stable=False):\n") == []


def test_nothing_is_said_where_no_plan_is_marked_or_declared() -> None:
    text = "def f(a, rows, *, wide=False): return rows\n\n\ndef g(a, rows, *, wide=False): return f(a, rows)\n"
    assert findings_in(text) == ()


def test_a_declared_plan_counts_in_other_files() -> None:
    files = {
        "plans.py": "class RowPlan:\n    def __init__(self, pack): self.pack = pack\n",
        "low.py": "def low(plan, *, wide: bool = False): return wide\n",
        "high.py": (
            "from plans import RowPlan\nfrom low import low\n\n\n"
            "def high(plan: RowPlan, wide: bool = False):\n    return low(plan)\n"
        ),
    }
    (finding,) = analysis_of(files, declare("plans.RowPlan", "pack")).findings
    assert (finding.code, str(finding.place), finding.class_name) == ("OWN008", "high.py:6", "plans.RowPlan")


def test_the_fix_passes_it_on_and_removes_the_finding() -> None:
    text = HEAD + RUN + "    return pack_rows(ready, rows)\n"
    findings = findings_in(text)
    assert apply_fixes(tree_of({"a.py": text}), findings, unsafe=False).texts == {}
    mended = apply_fixes(tree_of({"a.py": text}), findings, unsafe=True).texts["a.py"]
    assert "return pack_rows(ready, rows, stable=stable)\n" in mended
    assert findings_in(mended) == ()
