"""The package's own words: `Absent`, `Dropped`, `transfer`, `@materializer`, and the configured materializers."""

from __future__ import annotations

from lint_rules.config import Config
from tests.lint_rules.flow.programs import check


def test_transfer_carries_everything() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            return transfer(old, into=plan_fresh(old.rows))

        def renew_by_position(old: Plan) -> Plan:
            return transfer(old, plan_fresh(old.rows))

        def renew_with_facts(old: Plan) -> Plan:
            return transfer(old, into=plan_fresh(old.rows), rows=4)

        def renew_without(old: Plan) -> Plan:
            return transfer(old, into=plan_fresh(old.rows), pack=Dropped("pack", "new shape"))

        def renew_as_materializer(old: Plan) -> Plan:
            fresh = plan_fresh(old.rows)
            return transfer(old, fresh)
    """)


def test_a_transfer_whose_result_is_thrown_away_carries_nothing() -> None:
    check("""
        @materializer
        def renew(old: Plan) -> Plan:
            fresh = plan_fresh(old.rows)
            transfer(old, into=fresh)
            return fresh  # OWN001: fold, pack
    """)


def test_transfer_is_known_by_its_module_and_by_other_names() -> None:
    check("""
        import ownership
        from ownership import transfer as carry

        @materializer
        def renew(old: Plan) -> Plan:
            return ownership.transfer(old, into=plan_fresh(old.rows))

        @ownership.materializer
        def renew_again(old: Plan) -> Plan:
            return carry(old, into=plan_fresh(old.rows))
    """)


def test_a_materializer_that_takes_nothing_drops_everything() -> None:
    check("""
        import ownership
        from ownership import materializer as prepares

        @materializer
        def renew(old: Plan) -> Plan:
            return plan_fresh(old.rows)  # OWN001: fold, pack

        @ownership.materializer
        def renew_again(old: Plan) -> Plan:
            return Plan(old.rows, None, None)  # OWN001: fold, pack

        @prepares
        def renew_once_more(old: Plan, warm: bool) -> Plan:
            if warm:
                return old
            fresh = plan_fresh(old.rows)
            return fresh  # OWN001: fold, pack
    """)


def test_a_planner_that_takes_nothing_is_no_copy() -> None:
    check("""
        def plan_like(old: Plan) -> Plan:
            return plan_fresh(old.rows)

        def plan_again(rows: int) -> Plan:
            return Plan(rows=rows, fold=Absent("later"), pack=None)

        @materializer
        def prepare(rows: int) -> Plan:
            return plan_fresh(rows)
    """)


def test_a_materializer_that_returns_what_it_was_given_is_silent() -> None:
    check("""
        @materializer
        def same(old: Plan) -> Plan:
            return old

        @materializer
        def resized(old: Plan) -> Plan:
            return replace(old, rows=3)

        @materializer
        def complete(old: Plan) -> Plan:
            return replace(plan_fresh(old.rows), fold=old.fold, pack=old.pack)

        @materializer
        def without(old: Plan) -> Plan:
            return replace(plan_fresh(old.rows), fold=old.fold, pack=Dropped("pack", "new shape"))

        @materializer
        def helped(old: Plan) -> Plan:
            return complete(old)
    """)


def test_a_materializer_must_say_dropped_not_absent() -> None:
    check("""
        @materializer
        def renew(old: Plan) -> Plan:
            return replace(plan_fresh(old.rows), fold=old.fold, pack=Absent("none"))  # OWN001: pack
    """)


def test_the_configuration_names_materializers_that_one_may_not_decorate() -> None:
    check(
        """
        def renew(old: Plan) -> Plan:
            return plan_fresh(old.rows)  # OWN001: fold, pack

        def plan_like(old: Plan) -> Plan:
            return plan_fresh(old.rows)

        class Runner:
            def renew(self, old: Plan) -> Plan:
                return plan_fresh(old.rows)  # OWN001: fold, pack
        """,
        Config(materializers=("use.renew", "use.Runner.renew")),
    )


def test_a_drop_in_a_variable_is_a_drop_with_a_reason() -> None:
    check("""
        GONE = Dropped("pack", "new shape")
        NONE = Absent("none")

        def renew(old: Plan) -> Plan:
            return replace(plan_fresh(old.rows), fold=old.fold, pack=GONE)

        def renew_locally(old: Plan) -> Plan:
            gone = Dropped("pack", "new shape")
            new = plan_fresh(old.rows)
            new.fold = old.fold
            new.pack = gone
            return new

        def renew_absent(old: Plan) -> Plan:
            return Plan(old.rows, old.fold, NONE)

        def renew_by_branch(old: Plan, same: bool) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold
            if same:
                new.pack = old.pack
            else:
                new.pack = Dropped("pack", "new shape")
            return new

        def renew_by_expression(old: Plan, same: bool) -> Plan:
            pack = old.pack if same else Dropped("pack", "new shape")
            return replace(plan_fresh(old.rows), fold=old.fold, pack=pack)
    """)


def test_a_reason_survives_the_steps_that_follow() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            new = replace(plan_fresh(old.rows), fold=old.fold, pack=Dropped("pack", "new shape"))
            return replace(new, rows=7)

        def renew_the_other_way(old: Plan) -> Plan:
            new = replace(plan_fresh(old.rows), pack=Dropped("pack", "new shape"))
            return replace(new, fold=old.fold)
    """)


def test_a_materializer_may_skip_what_is_not_there_but_not_everything() -> None:
    check("""
        @materializer

        def renew(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            for name in ("fold", "pack"):
                if getattr(old, name) is not None:
                    setattr(new, name, getattr(old, name))
            return new

        @materializer
        def renew2(old: Plan, rows: int) -> Plan:
            if rows == old.rows:
                return old
            return transfer(old, into=plan_fresh(rows))

        @materializer
        def renew3(old: Plan, flag: bool) -> Plan:
            new = plan_fresh(old.rows)
            if flag:
                new = transfer(old, into=new)
            return new  # OWN001: fold, pack
    """)


def test_methods_may_be_materializers() -> None:
    check("""
        class M:
            @materializer
            def renew(self, old: Plan) -> Plan:
                return self.finish(plan_fresh(1), old)
            def finish(self, new, old):
                return replace(new, fold=old.fold, pack=old.pack)
            @materializer
            @staticmethod
            def renew2(old: Plan) -> Plan:
                return plan_fresh(1)  # OWN001: fold, pack
            @classmethod
            @materializer
            def renew3(cls, old: Plan) -> Plan:
                return replace(plan_fresh(1), pack=old.pack)  # OWN001: fold
    """)


def test_a_materializer_may_return_more_than_the_plan() -> None:
    check("""
        @materializer

        def renew(old: Plan) -> tuple[Plan, int]:
            return plan_fresh(1), 3  # OWN001: fold, pack

        @materializer
        async def renew2(old: Plan) -> Plan:
            return plan_fresh(1)  # OWN001: fold, pack
    """)


def test_a_materializer_may_take_from_two_plans() -> None:
    check("""
        @materializer

        def merge(a: Plan, b: Plan) -> Plan:
            return replace(plan_fresh(1), fold=a.fold, pack=b.pack)
    """)


def test_a_dropped_that_names_another_field_gives_nothing_up() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            return Plan(old.rows, old.fold, pack=Dropped("fold", "a single row is never packed"))  # OWN001: pack
    """)
