"""The audit suggests what to mark, with its reason, and is silent otherwise."""

from __future__ import annotations

import tomllib

from lint_rules.audit import Suggestion, audit
from lint_rules.config import Config, PlanDeclaration
from tests.lint_rules.checking import findings_in
from tests.lint_rules.trees import tree_of

CONV = """\
from dataclasses import dataclass, field, replace


class Compiled: ...


@dataclass(frozen=True)
class ConvPlan:
    height: int
    taps: int = 3
    _unfold: Compiled | None = field(default=None, repr=False)
    _filter: Compiled | None = field(default=None, repr=False)
    _border: Compiled | None = field(default=None, repr=False)


def plan_conv(height: int, compile_now: bool = True) -> ConvPlan:
    unfold = border = None
    if compile_now:
        unfold, border = Compiled(), Compiled()
    return ConvPlan(height, _unfold=unfold, _filter=Compiled() if compile_now else None, _border=border)


"""

LOSES = "def resize(ready, height):\n    return replace(plan_conv(height, {off}), {kept})\n"


def suggestions(text: str, *plans: PlanDeclaration) -> tuple[Suggestion, ...]:
    found, problems = audit(tree_of({"conv.py": text}), Config(plans=plans))
    assert problems == ()
    return found


def test_a_flagged_field_that_is_not_put_back_is_suggested_with_the_reason() -> None:
    lost = LOSES.format(off="compile_now=False", kept="_unfold=ready._unfold, _filter=ready._filter")
    (found,) = suggestions(CONV + lost)
    assert (found.finding.fields, str(found.finding.place), found.confidence) == (("_border",), "conv.py:24", "high")
    assert "fills `_unfold`, `_filter` and `_border` only when `compile_now` is true" in found.reason


def test_the_flag_may_be_turned_off_by_position() -> None:
    assert len(suggestions(CONV + LOSES.format(off="False", kept="_unfold=ready._unfold"))) == 1


def test_the_declaration_that_is_suggested_makes_the_check_find_the_place() -> None:
    lost = CONV + LOSES.format(off="False", kept="_unfold=ready._unfold, _filter=ready._filter")
    (found,) = suggestions(lost)
    (table,) = tomllib.loads(found.declaration)["tool"]["carryall"]["plan"]
    name = table["class"].replace("conv.", "a.")
    (finding,) = findings_in(lost, PlanDeclaration(name, tuple(table["transferable"])))
    assert (finding.code, finding.fields) == ("OWN001", ("_border",))


def test_the_marks_that_are_suggested_are_python_and_mark_every_field() -> None:
    (found,) = suggestions(CONV + LOSES.format(off="False", kept="_unfold=ready._unfold"))
    compile(found.marks, "marks", "exec")
    assert "    _border: Transferable[Compiled | None]\n" in found.marks
    assert "    taps: Fact[int] = 3\n" in found.marks


def test_a_complete_copy_and_one_that_keeps_the_flag_on_are_no_suggestions() -> None:
    complete = "_unfold=ready._unfold, _filter=ready._filter, _border=ready._border"
    assert suggestions(CONV + LOSES.format(off="False", kept=complete)) == ()
    assert suggestions(CONV + LOSES.format(off="True", kept="_unfold=ready._unfold")) == ()


def test_a_fact_that_is_changed_on_a_blank_plan_is_no_suggestion() -> None:
    assert suggestions(CONV + LOSES.format(off="False", kept="height=2")) == ()


def test_what_is_declared_already_is_left_to_the_check() -> None:
    lost = CONV + LOSES.format(off="False", kept="_unfold=ready._unfold")
    assert suggestions(lost, PlanDeclaration("conv.ConvPlan", ("_unfold", "_border"))) == ()
