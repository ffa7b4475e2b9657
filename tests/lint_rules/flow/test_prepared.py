"""Bases that have their carriers: changes keep them, unless a carrier is blanked."""

from __future__ import annotations

from tests.lint_rules.flow.programs import check


def test_carriers_may_be_taken_from_another_plan() -> None:
    check("""
        def swap(a: Plan, b: Plan) -> tuple[Plan, Plan]:
            return replace(a, fold=b.fold, pack=b.pack), replace(b, fold=a.fold, pack=a.pack)
    """)


def test_one_carrier_may_be_taken_from_another_plan() -> None:
    check("""
        def refold(old: Plan, donor: Plan) -> Plan:
            return replace(old, fold=donor.fold)
    """)


def test_one_carrier_of_a_given_plan_may_be_assigned() -> None:
    check("""
        def refold(old: Plan, donor: Plan) -> None:
            old.fold = donor.fold
    """)


def test_a_copy_made_to_compare_is_silent() -> None:
    check("""
        def same(a: Plan, b: Plan) -> bool:
            return replace(a, rows=0) == replace(b, rows=0)
    """)


def test_a_base_that_is_fresh_on_one_path_is_completed_on_both() -> None:
    check("""
        def renew(old: Plan, reuse: bool) -> Plan:
            base = old if reuse else plan_fresh(1)
            return replace(base, fold=old.fold, pack=old.pack)
    """)


def test_a_base_that_may_be_given_is_completed() -> None:
    check("""
        def renew(old: Plan, given: Plan | None) -> Plan:
            base = given or plan_fresh(old.rows)
            return replace(base, fold=old.fold, pack=old.pack)
    """)


def test_a_base_that_may_be_given_is_changed() -> None:
    check("""
        def renew(old: Plan, given: Plan | None) -> Plan:
            base = given if given is not None else plan_fresh(old.rows)
            return replace(base, rows=4)
    """)


def test_a_copy_whose_carrier_is_set_to_none_is_found() -> None:
    check("""
        def strip(old: Plan) -> Plan:
            new = copy.copy(old)
            new.pack = None  # OWN001: pack
            return new
    """)


def test_a_base_that_is_fresh_is_found_in_tests_too() -> None:
    check("""
        def test_replace():
            base = plan_fresh(3)
            other = Plan(3, "f", "p")
            new = replace(base, fold=other.fold)  # OWN001: pack
            assert new.fold == "f"
    """)


def test_a_plan_of_the_module_is_a_source() -> None:
    check("""
        CURRENT: Plan = plan_fresh(1)

        def renew() -> Plan:
            return replace(plan_fresh(2), fold=CURRENT.fold)  # OWN001: pack

        def renew2() -> None:
            global CURRENT
            CURRENT = replace(plan_fresh(2), fold=CURRENT.fold, pack=CURRENT.pack)

        def renew3() -> None:
            global CURRENT
            CURRENT = replace(plan_fresh(2), fold=CURRENT.fold)  # OWN001: pack
    """)


def test_plans_kept_in_a_cache_are_judged_when_they_are_put_there() -> None:
    check("""
        class R:
            def __init__(self) -> None:
                self.cache: dict[int, Plan] = {}
            def get(self, rows: int, old: Plan) -> Plan:
                hit = self.cache.get(rows)
                if hit is None:
                    hit = self.cache[rows] = replace(plan_fresh(rows), fold=old.fold, pack=old.pack)
                return hit
            def get2(self, rows: int, old: Plan) -> Plan:
                if rows not in self.cache:
                    self.cache[rows] = replace(plan_fresh(rows), fold=old.fold)  # OWN001: pack
                return self.cache[rows]
    """)


def test_plans_given_to_a_property_are_judged() -> None:
    check("""
        class Holder:
            def __init__(self, plan: Plan):
                self._plan = plan
            @property
            def plan(self) -> Plan:
                return self._plan
            @plan.setter
            def plan(self, value: Plan) -> None:
                self._plan = value
            def renew(self) -> None:
                self.plan = replace(plan_fresh(1), fold=self.plan.fold)  # OWN001: pack
            def renew2(self) -> None:
                self.plan = replace(plan_fresh(1), fold=self.plan.fold, pack=self.plan.pack)
    """)


def test_a_plan_searched_in_a_loop_is_a_source() -> None:
    check("""
        def renew(plans: list[Plan], rows: int) -> Plan:
            found = None
            for p in plans:
                if p.rows == rows:
                    found = p
                    break
            if found is None:
                return plan_fresh(rows)
            return replace(plan_fresh(rows), fold=found.fold, pack=found.pack)
    """)


def test_a_plan_that_may_not_be_found_is_no_drop() -> None:
    check("""
        def renew(plans: list[Plan], rows: int) -> Plan:
            found = None
            for p in plans:
                if p.rows == rows:
                    found = p
                    break
            new = plan_fresh(rows)
            if found is not None:
                new = replace(new, fold=found.fold, pack=found.pack)
            return new
    """)


def test_a_plan_that_next_may_find_is_no_drop() -> None:
    check("""
        def renew(plans: list[Plan], rows: int) -> Plan:
            found = next((p for p in plans if p.rows == rows), None)
            new = plan_fresh(rows)
            if found is not None:
                new = replace(new, fold=found.fold, pack=found.pack)
            return new
    """)


def test_a_plan_that_may_not_be_there_yet_is_no_drop() -> None:
    check("""
        class R:
            def __init__(self) -> None:
                self.plan: Plan | None = None
            def renew(self, rows: int) -> None:
                new = plan_fresh(rows)
                if self.plan is not None:
                    new = replace(new, fold=self.plan.fold, pack=self.plan.pack)
                self.plan = new
    """)


def test_a_prior_plan_that_may_be_none_is_no_drop() -> None:
    check("""
        def renew(prior: Plan | None, rows: int) -> Plan:
            new = plan_fresh(rows)
            return new if prior is None else replace(new, fold=prior.fold, pack=prior.pack)
    """)


def test_a_prior_plan_read_by_and_is_no_drop() -> None:
    check("""
        def renew(prior: Plan | None, rows: int) -> Plan:
            return Plan(rows, prior and prior.fold, prior and prior.pack)
    """)


def test_a_prior_plan_that_gives_only_one_carrier_is_found() -> None:
    check("""
        def renew(prior: Plan | None, rows: int) -> Plan:
            return Plan(rows, prior.fold if prior else None, None)  # OWN001: pack
    """)


def test_values_read_behind_a_test_for_none_are_enough() -> None:
    check("""
        def renew(old: Plan | None = None) -> Plan:
            fold = old.fold if old is not None else Absent("x")
            pack = old.pack if old is not None else Absent("x")
            return Plan(1, fold, pack)
    """)


def test_a_source_may_be_one_of_two() -> None:
    check("""
        def pick(a: Plan, b: Plan, first: bool) -> Plan:
            src = a if first else b
            return replace(plan_fresh(1), fold=src.fold)  # OWN001: pack

        def pick2(a: Plan, b: Plan, first: bool) -> Plan:
            src = a if first else b
            return replace(plan_fresh(1), fold=src.fold, pack=src.pack)
    """)


def test_carriers_may_be_preferred_to_others() -> None:
    check("""
        def merge(new: Plan, old: Plan) -> Plan:
            return replace(new, fold=new.fold if new.fold is not None else old.fold, pack=new.pack or old.pack)

        def merge2(new: Plan, old: Plan) -> Plan:
            return replace(new, fold=new.fold or old.fold)
    """)


def test_the_annotation_of_a_local_variable_tells_its_class() -> None:
    check("""
        def renew(cache) -> Plan:
            old: Plan = cache["x"]
            return replace(plan_fresh(1), fold=old.fold)  # OWN001: pack
    """)


def test_the_annotation_of_an_attribute_tells_its_class() -> None:
    check("""
        class R:
            plan: Plan
            def renew(self) -> Plan:
                return Plan(self.plan.rows, self.plan.fold, None)  # OWN001: pack
    """)


def test_an_assertion_may_tell_the_class() -> None:
    check("""
        def renew(old: object) -> Plan:
            assert isinstance(old, Plan)
            return replace(plan_fresh(1), fold=old.fold)  # OWN001: pack
    """)


def test_an_object_that_holds_one_value_for_the_plan_is_no_source() -> None:
    check("""
        class Options:
            def __init__(self): self.fold = None

        def build(o: Options) -> Plan:
            return Plan(1, o.fold, None)

        def build2(o) -> Plan:
            return Plan(1, o.fold, Absent("x"))
    """)


def test_values_made_by_a_backend_are_no_copy() -> None:
    check("""
        import kernels

        def build(rows) -> Plan:
            return Plan(rows, kernels.fold, None)

        def build2(rows, backend) -> Plan:
            return Plan(rows, backend.make_fold(rows), None)

        class B:
            def build(self, rows) -> Plan:
                return Plan(rows, self.compile(rows), None)
            def build2(self, rows) -> Plan:
                return Plan(rows, self.fold, None)
    """)
