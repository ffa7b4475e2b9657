"""Tests, assertions and handlers that say there is nothing to carry."""

from __future__ import annotations

from tests.lint_rules.flow.programs import check


def test_an_assertion_that_the_carrier_is_none_excuses() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            assert old.pack is None
            return replace(plan_fresh(1), fold=old.fold)
    """)


def test_a_carrier_that_would_have_raised_excuses() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            if old.pack is not None:
                raise ValueError
            return replace(plan_fresh(1), fold=old.fold)
    """)


def test_a_carrier_that_is_absent_or_raises_excuses() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            if not isinstance(old.pack, Absent):
                raise ValueError
            return replace(plan_fresh(1), fold=old.fold)
    """)


def test_a_loop_may_skip_what_is_absent() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            for name in ("fold", "pack"):
                value = getattr(old, name)
                if isinstance(value, Absent):
                    continue
                setattr(new, name, value)
            return new
    """)


def test_a_loop_may_skip_what_is_none() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            for name in ("fold", "pack"):
                value = getattr(old, name, None)
                if value is None:
                    continue
                setattr(new, name, value)
            return new
    """)


def test_a_helper_may_skip_what_is_none() -> None:
    check("""
        def put(new, old, name):
            value = getattr(old, name, None)
            if value is None:
                return
            setattr(new, name, value)

        def renew(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            put(new, old, "fold")
            put(new, old, "pack")
            return new
    """)


def test_a_helper_may_give_absent_for_none() -> None:
    check("""
        def carried(value):
            if value is None:
                return Absent("none")
            return value

        def renew(old: Plan) -> Plan:
            return Plan(old.rows, carried(old.fold), carried(old.pack))
    """)


def test_a_handler_may_give_none_for_a_missing_attribute() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            try:
                pack = old.pack
            except AttributeError:
                pack = None
            return replace(plan_fresh(1), fold=old.fold, pack=pack)
    """)


def test_a_handler_may_pass_over_a_missing_attribute() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            new = plan_fresh(1)
            new.fold = old.fold
            try:
                new.pack = old.pack
            except AttributeError:
                pass
            return new
    """)


def test_a_suppressed_error_is_no_path() -> None:
    check("""
        import contextlib

        def renew(old: Plan) -> Plan:
            new = plan_fresh(1)
            new.fold = old.fold
            with contextlib.suppress(AttributeError):
                new.pack = old.pack
            return new
    """)


def test_a_try_with_finally_is_one_path() -> None:
    check("""
        def renew(old: Plan, lock) -> Plan:
            lock.acquire()
            try:
                new = plan_fresh(1)
                new.fold = old.fold
                new.pack = old.pack
            finally:
                lock.release()
            return new
    """)


def test_what_was_assigned_before_the_call_that_failed_is_there() -> None:
    check("""
        def renew(old: Plan, launch, log) -> Plan:
            new = plan_fresh(1)
            try:
                new.fold = old.fold
                new.pack = old.pack
                launch(new.rows)
            except RuntimeError:
                log()
            return new
    """)


def test_a_handler_that_gives_up_is_no_path() -> None:
    check("""
        def renew(old: Plan, launch, log) -> Plan | None:
            new = plan_fresh(1)
            try:
                launch(new.rows)
                new.fold = old.fold
                new.pack = old.pack
            except RuntimeError:
                return None
            return new
    """)


def test_what_finally_completes_is_complete() -> None:
    check("""
        def renew(old: Plan, log) -> Plan:
            new = plan_fresh(1)
            try:
                new.fold = old.fold
                log()
            finally:
                new.pack = old.pack
                return new
    """)


def test_every_way_out_of_a_try_may_complete_the_plan() -> None:
    check("""
        def renew(old: Plan, log) -> Plan:
            new = plan_fresh(1)
            new.fold = old.fold
            try:
                log()
            except ValueError:
                raise
            except (TypeError, KeyError) as e:
                new.pack = old.pack
            else:
                new.pack = old.pack
            return new
    """)


def test_a_loop_left_by_break_has_run() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            new = plan_fresh(1)
            while True:
                new.fold = old.fold
                new.pack = old.pack
                break
            return new
    """)


def test_a_flag_of_the_caller_chooses() -> None:
    check("""
        def finish(old: Plan, keep: bool = True) -> Plan:
            return Plan(old.rows, old.fold, old.pack if keep else None)
    """)


def test_a_flag_of_the_caller_chooses_a_drop_with_a_reason() -> None:
    check("""
        def finish(old: Plan, keep: bool = True) -> Plan:
            return Plan(old.rows, old.fold, old.pack if keep else Dropped("pack", "asked"))

        def renew(old: Plan) -> Plan:
            return finish(old, keep=False)
    """)


def test_a_parameter_that_is_none_is_replaced_by_the_carrier() -> None:
    check("""
        def renew(old: Plan, pack=None) -> Plan:
            if pack is None:
                pack = old.pack
            return Plan(old.rows, old.fold, pack)
    """)


def test_a_variable_that_may_be_none_is_a_choice() -> None:
    check("""
        def renew(old: Plan, warm: bool) -> Plan:
            pack = None
            if warm:
                pack = old.pack
            return Plan(old.rows, old.fold, pack)
    """)


def test_what_follows_a_handler_that_leaves_is_one_path() -> None:
    check("""
        def renew(old: Plan, f) -> Plan:
            new = plan_fresh(1)
            try:
                x = f()
            except ValueError:
                return new
            new.fold = old.fold
            new.pack = old.pack
            return new
    """)
