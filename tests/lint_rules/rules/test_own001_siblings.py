"""OWN001: constructions of one plan in one family of functions that do not agree."""

from __future__ import annotations

import pytest

from lint_rules.fixes import apply_fixes
from tests.lint_rules.checking import declare, findings_in
from tests.lint_rules.trees import tree_of

GEMM = """\
from dataclasses import dataclass

from ownership import Borrowed, Derived, Fact, Transferable, plan


class Kernel: ...


@plan
@dataclass(frozen=True)
class GemmPlan:
    rows: Fact[int]
    columns: Fact[int]
    scale: Fact[float]
    gemm: Transferable[Kernel]


@plan
@dataclass(frozen=True)
class GemmBinding:
    rows: Fact[int]
    columns: Fact[int]
    gemm: Transferable[Kernel]
    memory: Borrowed[object]
    scale: Fact[float] = 1.0


def bind_arena(ready: GemmPlan, arena: object) -> GemmBinding:
    return GemmBinding(ready.rows, ready.columns, ready.gemm, arena, scale=ready.scale)


def bind_workspace(ready: GemmPlan, workspace: object) -> GemmBinding:
    return GemmBinding(ready.rows, ready.columns, ready.gemm, workspace)
"""


def test_an_option_that_a_sibling_carries_is_reported_with_both_places() -> None:
    (finding,) = findings_in(GEMM)
    assert finding.message == (
        "`scale` of GemmBinding (declared at a.py:25) is left at its default by `bind_workspace`, while its sibling"
        " `bind_arena` passes `scale=ready.scale` (a.py:29), and `ready` is here too. Pass `scale=ready.scale`."
    )
    assert (finding.code, finding.fields, finding.class_name) == ("OWN001", ("scale",), "a.GemmBinding")
    assert finding.place.line == 33


@pytest.mark.parametrize("kind", ["Derived", "Borrowed"])
def test_a_field_that_is_recomputed_or_lent_may_differ(kind: str) -> None:
    text = GEMM.replace("scale: Fact[float] = 1.0", f"scale: {kind}[float] = 1.0")
    assert [each for each in findings_in(text) if each.fields == ("scale",) and each.code == "OWN001"] == []


def test_other_families_and_a_function_that_speaks_of_the_field_are_silent() -> None:
    assert findings_in(GEMM.replace("bind_workspace", "probe_workspace")) == ()
    spoken = GEMM.replace("    return GemmBinding(ready.rows, ready.columns, ready.gemm, workspace)\n", "")
    spoken += (
        "    if ready.scale != 1.0:\n        raise ValueError('scaled')\n"
        "    return GemmBinding(ready.rows, ready.columns, ready.gemm, workspace)\n"
    )
    assert findings_in(spoken) == ()


def test_a_transferable_field_that_the_flow_shows_as_dropped_is_reported_once() -> None:
    text = GEMM.replace("from ownership import Borrowed, Derived, Fact, Transferable, plan\n", "")
    for kind in ("Borrowed", "Fact", "Transferable"):
        for inner in ("int", "float", "object", "Kernel"):
            text = text.replace(f"{kind}[{inner}]", inner)
    text = text.replace("@plan\n", "")
    both = (declare("a.GemmPlan", "gemm", "scale"), declare("a.GemmBinding", "gemm", "scale"))
    (finding,) = findings_in(text, *both)
    assert (finding.code, finding.fields) == ("OWN001", ("scale",))
    (sibling,) = findings_in(text, declare("a.GemmBinding", "gemm"))
    assert (sibling.code, sibling.fields) == ("OWN001", ("scale",))


def test_the_fix_passes_what_the_sibling_passes() -> None:
    findings = findings_in(GEMM)
    assert apply_fixes(tree_of({"a.py": GEMM}), findings, unsafe=False).texts == {}
    changed = apply_fixes(tree_of({"a.py": GEMM}), findings, unsafe=True).texts["a.py"]
    assert "ready.gemm, workspace, scale=ready.scale)" in changed
    assert findings_in(changed) == ()
