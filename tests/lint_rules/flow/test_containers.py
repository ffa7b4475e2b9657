"""Plans that leave a function inside something else, or stay in an object, and plans inside plans."""

from __future__ import annotations

import pytest

from tests.lint_rules.flow.programs import check, check_files

#: How a plan in `new` may leave the function.
EXITS = {
    "tuple": "return new, 3",
    "list": "return [new]",
    "dict": 'return {"plan": new}',
    "dict call": "return dict(plan=new)",
    "nested": 'return [({"plan": (new,)}, 1)]',
    "wrapper": "return Box(new)",
    "wrapper by keyword": "return Box(item=new)",
    "attribute": "box.item = new",
    "item": 'cache["plan"] = new',
    "append": "items = []\n    items.append(new)\n    return items",
    "append elsewhere": "box.items.append(new)",
    "global list": "KEPT.append(new)",
    "set": "return {new}",
    "cast": 'return typing.cast("Plan", new)',
    "conditional": "return new if box else None",
    "or": "return new or None",
    "yield": "yield new",
    "walrus": "return (same := new)",
    "print": "print(new)\n    return new",
    "nothing": "pass",
}

_USE = """
import typing

KEPT = []

class Box:
    def __init__(self, item):
        self.item = item
        self.items = []

def renew(old: Plan, box: Box, cache: dict):
    new = replace(plan_fresh(old.rows), fold=old.fold{rest}
    {exit}
"""


@pytest.mark.parametrize("leave", EXITS.values(), ids=EXITS)
def test_a_plan_that_lacks_a_carrier_is_found_however_it_leaves(leave: str) -> None:
    check(_USE.format(rest=")  # OWN001: pack", exit=leave))


@pytest.mark.parametrize("leave", EXITS.values(), ids=EXITS)
def test_a_complete_plan_is_silent_however_it_leaves(leave: str) -> None:
    check(_USE.format(rest=", pack=old.pack)", exit=leave))


def test_a_plan_kept_on_self_is_judged() -> None:
    check("""
        class Runner:
            def __init__(self, plan: Plan) -> None:
                self.plan = plan
                self.spare: Plan = replace(plan_fresh(1), fold=plan.fold)  # OWN001: pack

            def renew(self) -> None:
                self.plan = replace(plan_fresh(2), fold=self.plan.fold)  # OWN001: pack

            def renew_all(self) -> None:
                self.plan = replace(plan_fresh(2), fold=self.plan.fold, pack=self.plan.pack)

            def renew_in_steps(self) -> None:
                old = self.plan
                self.plan = plan_fresh(2)
                self.plan.fold = old.fold
                self.plan.pack = old.pack

            def renew_in_too_few_steps(self) -> None:
                old = self.plan
                self.plan = plan_fresh(2)
                self.plan.fold = old.fold  # OWN001: pack

            def resize(self, rows: int) -> None:
                self.plan = replace(self.plan, rows=rows)
    """)


def test_plans_inside_plans_are_judged_each() -> None:
    check("""
        @plan
        @dataclass
        class Pair:
            width: Fact[int]
            inner: Transferable[Plan]
            tune: Transferable[object]

        def renew(old: Pair) -> Pair:
            return Pair(3, replace(plan_fresh(3), fold=old.inner.fold), old.tune)  # OWN001: pack

        def renew_outer(old: Pair) -> Pair:
            return Pair(3, old.inner, None)  # OWN001: tune

        def renew_all(old: Pair) -> Pair:
            inner = replace(plan_fresh(3), fold=old.inner.fold, pack=old.inner.pack)
            return Pair(width=3, inner=inner, tune=old.tune)

        def resize(old: Pair) -> Pair:
            return replace(old, inner=replace(old.inner, rows=4))
    """)


def test_plans_from_containers_are_sources() -> None:
    check("""
        def renew_first(plans: list[Plan]) -> Plan:
            return replace(plan_fresh(1), fold=plans[0].fold)  # OWN001: pack

        def renew_named(plans: dict[str, Plan], name: str) -> Plan:
            old = plans[name]
            return replace(plan_fresh(1), fold=old.fold)  # OWN001: pack

        def renew_got(plans: dict[str, Plan], name: str) -> Plan:
            old = plans.get(name)
            return replace(plan_fresh(1), fold=old.fold, pack=old.pack)

        def renew_from_two(first: Plan, second: Plan) -> Plan:
            return replace(plan_fresh(1), fold=first.fold, pack=second.pack)
    """)


def test_the_top_level_of_a_module_is_walked() -> None:
    check("""
        from elsewhere import OLD

        PREPARED: Plan = OLD
        NEW = replace(plan_fresh(1), fold=PREPARED.fold)  # OWN001: pack
        ALL = replace(plan_fresh(1), fold=PREPARED.fold, pack=PREPARED.pack)

        if __name__ == "__main__":
            AGAIN = Plan(1, fold=PREPARED.fold, pack=None)  # OWN001: pack
    """)


def test_two_classes_that_share_fields_are_source_and_target() -> None:
    check_files(
        {
            "use.py": """
            from __future__ import annotations
            from dataclasses import dataclass
            from ownership import Absent, Fact, Transferable, plan

            @plan
            @dataclass
            class Plan:
                rows: Fact[int]
                fold: Transferable[object]
                pack: Transferable[object]

            @plan
            @dataclass
            class Bound:
                fold: Transferable[object]
                pack: Transferable[object]
                tune: Transferable[object]

            def bind(old: Plan) -> Bound:
                return Bound(old.fold, None, None)  # OWN001: pack

            def bind_all(old: Plan, tune: object) -> Bound:
                return Bound(old.fold, old.pack, tune)

            def bind_what_there_is(old: Plan) -> Bound:
                return Bound(old.fold, old.pack, None)
            """
        }
    )


def test_plans_of_a_list_are_completed_in_a_loop() -> None:
    check("""
        def renew(old: Plan) -> list[Plan]:
            out = [plan_fresh(1), plan_fresh(2)]
            for new in out:
                new.fold = old.fold
                new.pack = old.pack
            return out

        def renew2(old: Plan) -> list[Plan]:
            out = [plan_fresh(1)]
            for new in out:
                new.fold = old.fold  # OWN001: pack
            return out

        def renew3(old: Plan) -> list[Plan]:
            out = [plan_fresh(n) for n in range(3)]
            for new in out:
                new.fold = old.fold
                new.pack = old.pack
            return out
    """)


def test_a_plan_kept_in_an_object_is_completed_through_it() -> None:
    check("""
        class Run:
            plan: Plan

        def fill(run: Run, old: Plan) -> None:
            run.plan = plan_fresh(1)
            run.plan.fold = old.fold
            run.plan.pack = old.pack

        def fill2(run: Run, old: Plan) -> None:
            new = plan_fresh(1)
            run.plan = new
            new.fold = old.fold
            run.plan.pack = old.pack

        def fill3(run: Run, old: Plan) -> None:
            run.plan = replace(plan_fresh(1), fold=old.fold)
            run.plan = replace(run.plan, pack=old.pack)
    """)
