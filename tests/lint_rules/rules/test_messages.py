"""The wording of findings: which field, declared where, taken from where, and what to do."""

from __future__ import annotations

from tests.lint_rules.checking import analysis_of, declare, findings_in

PLAN = """\
from dataclasses import dataclass, replace

from ownership import Absent, Derived, Dropped, Ephemeral, Fact, Transferable, materializer, plan


class Kernel: ...


@plan
@dataclass(frozen=True)
class MoePlan:
    rows: Fact[int]
    fused: Transferable[Kernel | Absent]
    pack: Transferable[Kernel | Absent]
    seen: Ephemeral[dict[int, int] | None] = None


def plan_moe(rows: int) -> MoePlan:
    later = Absent("planned")
    return MoePlan(rows, fused=later, pack=later)


"""


def message(body: str) -> str:
    (finding,) = findings_in(PLAN + body)
    return finding.message


def test_a_drop_names_the_field_its_place_the_source_and_the_remedy() -> None:
    body = "def grow(old: MoePlan, rows: int) -> MoePlan:\n    return replace(plan_moe(rows), fused=old.fused)\n"
    assert message(body) == (
        "`pack` of MoePlan (declared at a.py:14) is not carried over: this `replace(...)` leaves it at the blank value"
        " of its fresh base, while `fused` comes from `old`. Pass `pack=old.pack`, or give it up with"
        " `Dropped('pack', reason)`."
    )


def test_an_explicit_none_is_called_an_empty_value() -> None:
    body = "def grow(old: MoePlan, rows: int) -> MoePlan:\n    return MoePlan(rows, fused=old.fused, pack=None)\n"
    assert "this `MoePlan(...)` gives it an empty value, while `fused` comes from `old`" in message(body)


def test_a_materializer_that_returns_a_blank_plan_is_told_to_return_what_transfer_makes() -> None:
    body = "@materializer\ndef again(prepared: MoePlan, rows: int) -> MoePlan:\n    return plan_moe(rows)\n"
    text = message(body)
    assert "what is returned here has them blank, although `prepared` has them" in text
    assert "Return the plan that `transfer(...)` makes" in text


def test_absent_in_a_materializer_is_a_drop_without_the_word() -> None:
    body = (
        "@materializer\ndef again(prepared: MoePlan, rows: int) -> MoePlan:\n"
        "    return MoePlan(rows, fused=prepared.fused, pack=Absent('not here'))\n"
    )
    assert "gives it `Absent`, which a materializer may not do" in message(body)


def test_a_rebuilt_carrier_is_told_from_a_copied_one() -> None:
    made = "def f(old: MoePlan, rows: int) -> MoePlan:\n    return MoePlan(rows, fused=old.fused, pack=Kernel())\n"
    copied = (
        "import copy\ndef f(old: MoePlan, rows: int) -> MoePlan:\n"
        "    return MoePlan(rows, fused=old.fused, pack=copy.copy(old.pack))\n"
    )
    assert "puts a new object in its place although `old` has it" in message(made)
    assert "puts a copy in its place although `old` has it" in message(copied)


def test_a_leak_says_whose_the_value_was() -> None:
    body = (
        "def f(old: MoePlan, rows: int) -> MoePlan:\n"
        "    return MoePlan(rows, fused=old.fused, pack=old.pack, seen=old.seen)\n"
    )
    assert message(body) == (
        "this `MoePlan(...)` takes `seen` of MoePlan (declared at a.py:15) over from `old`; it is ephemeral and belongs"
        " to that plan alone. Leave it at its start value."
    )


def test_the_fix_is_safe_only_where_the_source_is_known_to_have_the_field() -> None:
    typed = "def f(old: MoePlan, rows: int) -> MoePlan:\n    return replace(plan_moe(rows), fused=old.fused)\n"
    untyped = "def f(old, rows):\n    return replace(plan_moe(rows), fused=old.fused)\n"
    (safe,), (unsafe,) = findings_in(PLAN + typed), findings_in(PLAN + untyped)
    assert [fix.safety for fix in safe.fixes] == ["safe", "display"]
    assert [fix.safety for fix in unsafe.fixes] == ["unsafe", "display"]
    assert safe.fixes[0].edits[0].expression == unsafe.fixes[0].edits[0].expression == "old.pack"


def test_a_field_that_the_constructor_does_not_take_gets_no_edit() -> None:
    text = """\
        from dataclasses import dataclass, field, replace

        from ownership import Absent, Fact, Transferable, plan


        @plan
        @dataclass
        class SortPlan:
            rows: Fact[int]
            exchange: Transferable[object] = field(init=False)


        def with_rows(prepared: SortPlan, rows: int) -> SortPlan:
            return replace(prepared, rows=rows)
        """
    (finding,) = findings_in(text)
    assert all(not fix.edits for fix in finding.fixes)


def test_a_private_attrs_field_is_mended_under_the_name_of_its_parameter() -> None:
    text = """\
        import attrs


        @attrs.frozen
        class SpanPlan:
            rows: int
            _open: object = None
            _close: object = None


        def at_rows(old: SpanPlan, rows: int) -> SpanPlan:
            return SpanPlan(rows, open=old._open)
        """
    (finding,) = findings_in(text, declare("a.SpanPlan", "_open", "_close"))
    (edit,) = finding.fixes[0].edits
    assert (edit.keyword, edit.expression) == ("close", "old._close")


def test_a_finding_about_two_modules_names_the_class_in_full() -> None:
    files = {
        "kit/__init__.py": "",
        "kit/plans.py": PLAN,
        "kit/use.py": (
            "from dataclasses import replace\nfrom kit.plans import MoePlan, plan_moe\n\n\n"
            "def f(old: MoePlan) -> MoePlan:\n    return replace(plan_moe(1), fused=old.fused)\n"
        ),
    }
    (finding,) = analysis_of(files).findings
    assert finding.class_name == "kit.plans.MoePlan"
    assert str(finding.place) == "kit/use.py:6"
    assert [str(place) for place in finding.declared_at] == ["kit/plans.py:14"]


def test_a_copy_list_is_mended_with_an_assignment_more() -> None:
    body = (
        "def fork(parent: MoePlan, child: MoePlan) -> MoePlan:\n    child = plan_moe(parent.rows)\n"
        "    child.fused = parent.fused\n    return child\n"
    )
    (finding,) = findings_in(PLAN + body)
    assert "Add `child.pack = parent.pack`, or give it up" in finding.message
    (edit,) = finding.fixes[0].edits
    assert (finding.fixes[0].safety, edit.statement, edit.expression) == ("safe", True, "child.pack = parent.pack")


def test_a_carrier_that_is_replaced_in_place_is_told_from_one_that_is_emptied() -> None:
    assert message("def swap(bound: MoePlan) -> None:\n    object.__setattr__(bound, 'pack', Kernel())\n") == (
        "`pack` of MoePlan (declared at a.py:14) is set to another object in `bound`, which this function was given:"
        " what was prepared is lost to all who share that plan. Make a new plan with `replace(...)` or `transfer(...)`."
    )
    assert "is emptied in `bound`" in message("def swap(bound: MoePlan) -> None:\n    bound.pack = None\n")
