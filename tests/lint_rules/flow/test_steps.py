"""Plans that come about in several functions: a helper that starts, a caller that finishes, a builder."""

from __future__ import annotations

from tests.lint_rules.flow.programs import check


def test_a_caller_may_finish_by_replace_what_a_helper_started() -> None:
    check("""
        def start(old: Plan) -> Plan:
            return replace(plan_fresh(old.rows), fold=old.fold)

        def renew(old: Plan) -> Plan:
            return replace(start(old), pack=old.pack)
    """)


def test_a_caller_may_finish_by_assignment_what_a_helper_started() -> None:
    check("""
        def start(old: Plan) -> Plan:
            return replace(plan_fresh(old.rows), fold=old.fold)

        def renew(old: Plan) -> Plan:
            new = start(old)
            new.pack = old.pack
            return new
    """)


def test_a_caller_may_finish_what_a_helper_constructed() -> None:
    check("""
        def half(old: Plan) -> Plan:
            return Plan(old.rows, old.fold, None)

        def renew(old: Plan) -> Plan:
            new = half(old)
            setattr(new, "pack", old.pack)
            return new
    """)


def test_the_caller_that_does_not_finish_is_found() -> None:
    check("""
        def start(old: Plan) -> Plan:
            return replace(plan_fresh(old.rows), fold=old.fold)

        def renew(old: Plan) -> Plan:
            return replace(start(old), pack=old.pack)

        def renew2(old: Plan) -> Plan:
            new = start(old)  # OWN001: pack
            new.rows = 3
            return new
    """)


def test_a_caller_that_asks_for_the_complete_one_does_not_excuse_the_others() -> None:
    check("""
        def renew(old: Plan, warm: bool) -> Plan:
            new = replace(plan_fresh(old.rows), fold=old.fold)  # OWN001: pack
            if warm:
                new.pack = old.pack
            return new

        def use(old: Plan) -> Plan:
            return renew(old, True)
    """)


def test_all_results_of_a_helper_may_be_finished_at_once() -> None:
    check("""
        def start(old: Plan, warm: bool) -> Plan:
            if warm:
                return replace(plan_fresh(1), fold=old.fold, pack=old.pack)
            return plan_fresh(1)

        def renew(old: Plan, warm: bool) -> Plan:
            return replace(start(old, warm), fold=old.fold, pack=old.pack)
    """)


def test_an_object_that_only_hands_its_values_on_is_a_step() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            first = Plan(old.rows, old.fold, None)
            return Plan(first.rows, first.fold, old.pack)
    """)


def test_a_builder_with_a_dict_is_followed() -> None:
    check("""
        class Builder:
            def __init__(self, rows):
                self.rows = rows
                self.values = {}
            def put(self, name, value):
                self.values[name] = value
                return self
            def build(self):
                return Plan(self.rows, **self.values)

        def renew(old: Plan) -> Plan:
            return Builder(old.rows).put("fold", old.fold).put("pack", old.pack).build()
    """)


def test_a_builder_with_attributes_is_followed() -> None:
    check("""
        class Builder:
            def __init__(self, rows):
                self.rows = rows
                self.fold = None
                self.pack = None
            def with_fold(self, value):
                self.fold = value
                return self
            def with_pack(self, value):
                self.pack = value
                return self
            def build(self):
                return Plan(self.rows, self.fold, self.pack)

        def renew(old: Plan) -> Plan:
            return Builder(old.rows).with_fold(old.fold).with_pack(old.pack).build()

        def renew2(old: Plan) -> Plan:
            return Builder(old.rows).with_fold(old.fold).build()  # OWN001: pack
    """)


def test_a_bundle_of_carriers_is_followed() -> None:
    check("""
        @dataclass

        class Bundle:
            fold: object
            pack: object

        def bundle_of(old: Plan) -> Bundle:
            return Bundle(old.fold, old.pack)

        def renew(old: Plan) -> Plan:
            b = bundle_of(old)
            return replace(plan_fresh(1), fold=b.fold, pack=b.pack)

        def renew2(old: Plan) -> Plan:
            b = bundle_of(old)
            return replace(plan_fresh(1), fold=b.fold)  # OWN001: pack
    """)


def test_methods_that_fill_a_plan_are_followed() -> None:
    check("""
        class Maker:
            def __init__(self, rows):
                self.rows = rows
            def make(self, source: Plan) -> Plan:
                new = self._blank()
                self._fill(new, source)
                return new
            def _blank(self) -> Plan:
                return plan_fresh(self.rows)
            def _fill(self, new, source):
                new.fold = source.fold
                self._fill_rest(new, source)
            def _fill_rest(self, new, source):
                new.pack = source.pack
    """)


def test_a_method_that_fills_too_little_is_found_at_the_call() -> None:
    check("""
        class Maker:
            def make(self, source: Plan) -> Plan:
                new = self._blank()
                self._fill(new, source)  # OWN001: pack
                return new
            def _blank(self) -> Plan:
                return plan_fresh(1)
            def _fill(self, new, source):
                new.fold = source.fold
    """)


def test_methods_that_give_base_and_values_are_followed() -> None:
    check("""
        class Engine:
            def __init__(self, plan: Plan) -> None:
                self.plan = plan
            def fresh(self) -> Plan:
                return plan_fresh(self.plan.rows)
            def carried(self) -> dict[str, object]:
                return {"fold": self.plan.fold}
            def renew(self) -> Plan:
                return replace(self.fresh(), **self.carried())  # OWN001: pack
    """)


def test_keywords_that_a_function_passes_on_are_followed() -> None:
    check("""
        def with_changes(old: Plan, **changes) -> Plan:
            return replace(old, **changes)

        def renew(old: Plan) -> Plan:
            return with_changes(old, rows=3)

        def fresh_with(rows, **changes) -> Plan:
            return replace(plan_fresh(rows), **changes)

        def renew2(old: Plan) -> Plan:
            return fresh_with(1, fold=old.fold)  # OWN001: pack

        def renew3(old: Plan) -> Plan:
            return fresh_with(1, fold=old.fold, pack=old.pack)
    """)


def test_keywords_completed_before_they_are_passed_on_are_enough() -> None:
    check("""
        def fresh_with(old: Plan, **changes) -> Plan:
            changes.setdefault("fold", old.fold)
            changes.setdefault("pack", old.pack)
            return replace(plan_fresh(1), **changes)

        def renew(old: Plan) -> Plan:
            return fresh_with(old, rows=2)
    """)


def test_keywords_of_an_unknown_caller_may_complete_the_plan() -> None:
    check("""
        def fresh_with(old: Plan, **changes) -> Plan:
            return replace(plan_fresh(1), **{"fold": old.fold, **changes})
    """)


def test_a_default_that_leaves_a_carrier_out_is_found_where_it_is_used() -> None:
    check("""
        def finish(old: Plan, pack: object = None) -> Plan:
            return Plan(old.rows, old.fold, pack)

        def renew(old: Plan) -> Plan:
            return finish(old)  # OWN001: pack

        def renew2(old: Plan) -> Plan:
            return finish(old, old.pack)
    """)


def test_a_carrier_given_apart_may_be_the_right_one() -> None:
    check("""
        def renew(old: Plan, pack: object = None) -> Plan:
            return Plan(old.rows, old.fold, pack)
    """)


def test_a_partial_of_the_class_is_completed_by_its_call() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            make = functools.partial(Plan, old.rows, fold=old.fold)
            return make(pack=old.pack)

        def renew2(old: Plan) -> Plan:
            make = functools.partial(Plan, old.rows, fold=old.fold)
            return make(pack=None)  # OWN001: pack
    """)


def test_a_function_that_calls_itself_comes_to_an_end() -> None:
    check("""
        def renew(old: Plan, n: int) -> Plan:
            if n == 0:
                return old
            return renew(replace(old, rows=n), n - 1)
    """)


def test_a_plan_handed_out_beside_a_flag_may_be_finished() -> None:
    check("""
        def start(old: Plan) -> tuple[Plan, bool]:
            return replace(plan_fresh(1), fold=old.fold), True

        def renew(old: Plan) -> Plan:
            new, ok = start(old)
            new.pack = old.pack
            return new
    """)


def test_values_given_one_by_one_may_be_none() -> None:
    check("""
        def finish(new: Plan, *, fold: object, pack: object = None) -> Plan:
            new.fold = fold
            if pack is not None:
                new.pack = pack
            return new

        def renew(old: Plan) -> Plan:
            return finish(plan_fresh(1), fold=old.fold, pack=old.pack)

        def renew2(old: Plan) -> Plan:
            return finish(plan_fresh(1), fold=old.fold)  # OWN001: pack
    """)
