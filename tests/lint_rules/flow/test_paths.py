"""Branches, loops, exceptions and early ends: a carrier must arrive on every path."""

from __future__ import annotations

from tests.lint_rules.flow.programs import check


def test_completion_in_several_steps_is_enough() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            new = replace(plan_fresh(old.rows), fold=old.fold)
            new = replace(new, pack=old.pack)
            return new

        def renew_by_names(old: Plan) -> Plan:
            first = replace(plan_fresh(old.rows), fold=old.fold)
            second = replace(first, pack=old.pack)
            return second

        def renew_by_both(old: Plan) -> Plan:
            new = replace(plan_fresh(old.rows), fold=old.fold)
            new.pack = old.pack
            return new

        def renew_under_another_name(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            same = new
            new.fold = old.fold
            same.pack = old.pack
            return new
    """)


def test_completion_on_both_branches_is_enough() -> None:
    check("""
        def renew(old: Plan, warm: bool) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold
            if warm:
                new.pack = old.pack
            else:
                new.pack = old.pack
            return new

        def renew_otherwise(old: Plan, warm: bool) -> Plan:
            if warm:
                new = replace(plan_fresh(1), fold=old.fold, pack=old.pack)
            else:
                new = replace(plan_fresh(old.rows), fold=old.fold, pack=old.pack)
            return new
    """)


def test_completion_on_one_branch_is_found() -> None:
    check("""
        def renew(old: Plan, warm: bool) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold  # OWN001: pack
            if warm:
                new.pack = old.pack
            return new

        def renew_by_replace(old: Plan, warm: bool) -> Plan:
            new = replace(plan_fresh(old.rows), fold=old.fold)  # OWN001: pack
            if warm:
                new = replace(new, pack=old.pack)
            return new

        def renew_on_the_other(old: Plan, warm: bool) -> Plan:
            if warm:
                return replace(plan_fresh(old.rows), fold=old.fold, pack=old.pack)
            return replace(plan_fresh(old.rows), fold=old.fold)  # OWN001: pack

        def renew_by_expression(old: Plan, warm: bool) -> Plan:
            fresh = plan_fresh(old.rows)
            return replace(fresh, fold=old.fold) if warm else fresh  # OWN001: pack

        def renew_by_elif(old: Plan, mode: int) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold  # OWN001: pack
            if mode == 1:
                new.pack = old.pack
            elif mode == 2:
                pass
            else:
                new.pack = old.pack
            return new
    """)


def test_an_early_return_leaves_what_comes_later_out() -> None:
    check("""
        def renew(old: Plan, warm: bool) -> Plan:
            new = replace(plan_fresh(old.rows), fold=old.fold)  # OWN001: pack
            if warm:
                return new
            new.pack = old.pack
            return new

        def renew_or_give_up(old: Plan) -> Plan | None:
            if old.rows == 0:
                return None
            new = plan_fresh(old.rows)
            new.fold = old.fold
            if old.rows < 0:
                raise ValueError(old.rows)
            new.pack = old.pack
            return new

        def renew_or_blank(old: Plan, cold: bool) -> Plan:
            new = plan_fresh(old.rows)
            if cold:
                return new
            new.fold = old.fold
            new.pack = old.pack
            return new
    """)


def test_guards_on_the_source_are_no_drop() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold
            if old.pack is not None:
                new.pack = old.pack
            return new

        def renew_by_truth(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold
            if old.pack:
                new.pack = old.pack
            return new

        def renew_by_isinstance(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold
            if not isinstance(old.pack, Absent):
                new.pack = old.pack
            return new

        def renew_by_isinstance_of_two(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold
            if not isinstance(old.pack, (Absent, Dropped)):
                new.pack = old.pack
            return new

        def renew_by_hasattr(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold
            if hasattr(old, "pack"):
                new.pack = old.pack
            return new

        def renew_by_local(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold
            pack = old.pack
            if pack is not None:
                new.pack = pack
            return new

        def renew_by_walrus(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold
            if (pack := old.pack) is not None:
                new.pack = pack
            return new

        def renew_by_getattr(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold
            pack = getattr(old, "pack", None)
            if pack is not None:
                new.pack = pack
            return new

        def renew_by_expression(old: Plan) -> Plan:
            return replace(
                plan_fresh(old.rows), fold=old.fold, pack=old.pack if old.pack is not None else Absent("nothing")
            )

        def renew_or_default(old: Plan) -> Plan:
            return replace(plan_fresh(old.rows), fold=old.fold, pack=old.pack or Absent("nothing"))

        def renew_unless_absent(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold
            if isinstance(old.pack, Absent):
                return new
            new.pack = old.pack
            return new

        def renew_in_loop(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            for name in ("fold", "pack"):
                value = getattr(old, name)
                if value is not None:
                    setattr(new, name, value)
            return new

        def renew_if_any(old: Plan | None, rows: int) -> Plan:
            new = plan_fresh(rows)
            if old is not None:
                new.fold = old.fold
                new.pack = old.pack
            return new

        def renew_unless_none(old: Plan | None, rows: int) -> Plan:
            new = plan_fresh(rows)
            if old is None:
                return new
            return replace(new, fold=old.fold, pack=old.pack)

        def renew_with_none(old: Plan | None, rows: int) -> Plan:
            return Plan(rows, old.fold if old else None, old.pack if old else None)

        def renew_nested_guards(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            if old.fold is not None and old.pack is not None:
                new.fold = old.fold
                new.pack = old.pack
            return new
    """)


def test_a_guard_on_something_else_is_no_excuse() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold  # OWN001: pack
            if old.rows > 3:
                new.pack = old.pack
            return new
    """)


def test_exceptions_are_paths_too() -> None:
    check("""
        def renew(old: Plan, log) -> Plan:
            new = replace(plan_fresh(old.rows), fold=old.fold)  # OWN001: pack
            try:
                log(1)
                new.pack = old.pack
            except ValueError:
                log(2)
            return new

        def renew_in_finally(old: Plan, log) -> Plan:
            new = replace(plan_fresh(old.rows), fold=old.fold)
            try:
                log(new.rows)
            finally:
                new.pack = old.pack
            return new

        def renew_or_raise(old: Plan, log) -> Plan:
            new = plan_fresh(old.rows)
            try:
                new.fold = old.fold
                new.pack = old.pack
            except AttributeError as error:
                raise ValueError("no plan") from error
            return new

        def renew_in_else(old: Plan, log) -> Plan:
            new = plan_fresh(old.rows)
            try:
                log(1)
            except ValueError:
                raise
            else:
                new = replace(new, fold=old.fold)  # OWN001: pack
            return new

        def renew_in_try(old: Plan, log) -> Plan:
            try:
                return replace(plan_fresh(old.rows), fold=old.fold)  # OWN001: pack
            except ValueError:
                log(2)
                raise
            finally:
                log(3)

        def renew_by_two_ways(old: Plan, log) -> Plan:
            try:
                new = replace(plan_fresh(old.rows), fold=old.fold, pack=old.pack)
            except ValueError:
                new = plan_fresh(old.rows)
                new.fold = old.fold
                new.pack = old.pack
            return new
    """)


def test_with_blocks_are_walked() -> None:
    check("""
        def renew(old: Plan, lock) -> Plan:
            with lock:
                return replace(plan_fresh(old.rows), fold=old.fold)  # OWN001: pack

        def renew_all(old: Plan, lock) -> Plan:
            new = plan_fresh(old.rows)
            with lock, lock as held:
                new.fold = old.fold
                new.pack = old.pack
            return new
    """)


def test_match_arms_are_branches() -> None:
    check("""
        def renew(old: Plan, mode: str) -> Plan:
            new = plan_fresh(old.rows)
            match mode:
                case "warm":
                    return replace(new, fold=old.fold)  # OWN001: pack
                case _:
                    return replace(new, fold=old.fold, pack=old.pack)

        def renew_all(old: Plan, mode: str) -> Plan:
            new = plan_fresh(old.rows)
            match mode:
                case "warm":
                    new.fold = old.fold
                    new.pack = old.pack
                case _:
                    new.pack = old.pack
                    new.fold = old.fold
            return new

        def renew_in_one_arm(old: Plan, mode: str) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold  # OWN001: pack
            match mode:
                case "warm":
                    new.pack = old.pack
            return new

        def renew_unless_absent(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold
            match old.pack:
                case Absent():
                    pass
                case pack:
                    new.pack = pack
            return new

        def renew_unless_none(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold
            match old.pack:
                case None:
                    pass
                case _:
                    new.pack = old.pack
            return new

        def renew_from_pattern(old: Plan) -> Plan:
            match old:
                case Plan(rows=rows, fold=fold, pack=pack):
                    return Plan(rows, fold, pack)
    """)


def test_plans_made_in_loops_are_judged() -> None:
    check("""
        def renew_each(plans: list[Plan]) -> list[Plan]:
            made = []
            for old in plans:
                made.append(replace(plan_fresh(old.rows), fold=old.fold))  # OWN001: pack
            return made

        def renew_each_fully(plans: list[Plan]) -> list[Plan]:
            made = []
            for old in plans:
                new = plan_fresh(old.rows)
                new.fold = old.fold
                new.pack = old.pack
                made.append(new)
            return made

        def renew_while(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            while new.rows < 10:
                new = replace(plan_fresh(new.rows + 1), fold=old.fold)  # OWN001: pack
            return new

        def renew_with_continue(plans: list[Plan]) -> list[Plan]:
            made = []
            for old in plans:
                if old.rows == 0:
                    continue
                new = plan_fresh(old.rows)
                new.fold = old.fold
                new.pack = old.pack
                made.append(new)
            return made
    """)


def test_comprehensions_are_loops() -> None:
    check("""
        def renew_each(plans: list[Plan]) -> list[Plan]:
            return [replace(plan_fresh(old.rows), fold=old.fold) for old in plans]  # OWN001: pack

        def renew_each_fully(plans: list[Plan]) -> list[Plan]:
            return [replace(plan_fresh(old.rows), fold=old.fold, pack=old.pack) for old in plans]

        def renew_by_name(plans: dict[str, Plan]) -> dict[str, Plan]:
            return {name: Plan(old.rows, old.fold, None) for name, old in plans.items()}  # OWN001: pack

        def renew_lazily(plans: list[Plan]) -> tuple[Plan, ...]:
            return tuple(Plan(old.rows, old.fold, None) for old in plans)  # OWN001: pack
    """)


def test_what_a_generator_hands_out_is_judged() -> None:
    check("""
        def renew_each(plans: list[Plan]):
            for old in plans:
                yield replace(plan_fresh(old.rows), fold=old.fold)  # OWN001: pack

        def renew_each_fully(plans: list[Plan]):
            for old in plans:
                new = plan_fresh(old.rows)
                new.fold = old.fold
                new.pack = old.pack
                yield new

        def renew_from(plans: list[Plan]):
            yield from (Plan(old.rows, old.fold, None) for old in plans)  # OWN001: pack
    """)


def test_async_functions_are_functions() -> None:
    check("""
        async def finish(fresh: Plan, old: Plan) -> Plan:
            return replace(fresh, fold=old.fold, pack=old.pack)

        async def renew(old: Plan) -> Plan:
            return replace(plan_fresh(old.rows), fold=old.fold)  # OWN001: pack

        async def renew_all(old: Plan) -> Plan:
            return await finish(plan_fresh(old.rows), old)

        async def renew_each(plans, lock):
            async with lock:
                async for old in plans:
                    yield Plan(old.rows, old.fold, None)  # OWN001: pack
    """)


def test_a_plan_that_is_finished_between_two_yields_is_complete() -> None:
    check("""
        def each(old: Plan):
            new = replace(plan_fresh(1), fold=old.fold)
            yield 1
            new.pack = old.pack
            yield new
    """)


def test_a_plan_that_was_handed_out_may_be_cleared() -> None:
    check("""
        import contextlib

        @contextlib.contextmanager
        def using(old: Plan):
            new = replace(plan_fresh(1), fold=old.fold, pack=old.pack)
            try:
                yield new
            finally:
                new.pack = None
    """)


def test_paths_that_leave_the_function_count_for_nothing() -> None:
    check("""
        def renew(old: Plan, a: bool, b: bool) -> Plan:
            new = plan_fresh(1)
            if a:
                if b:
                    new.fold = old.fold
                    new.pack = old.pack
                else:
                    return old
            else:
                raise ValueError
            return new
    """)


def test_two_branches_on_one_flag_are_no_drop() -> None:
    check("""
        def renew(old: Plan, warm: bool) -> Plan:
            new = plan_fresh(1)
            if warm:
                new.fold = old.fold
            if warm:
                new.pack = old.pack
            return new
    """)


def test_a_path_that_takes_nothing_is_no_copy() -> None:
    check("""
        def renew(old: Plan, carry: bool) -> Plan:
            new = plan_fresh(1)
            if not carry:
                return new
            new.fold = old.fold
            new.pack = old.pack
            return new
    """)


def test_a_block_that_carries_all_or_nothing_is_no_drop() -> None:
    check("""
        def renew(old: Plan, carry: bool) -> Plan:
            new = plan_fresh(1)
            if carry:
                new.fold = old.fold
                new.pack = old.pack
            return new

        def renew2(old: Plan, carry: bool) -> Plan:
            new = plan_fresh(1)
            if carry:
                new = replace(new, fold=old.fold, pack=old.pack)
            return new

        def renew3(old: Plan, carry: bool) -> Plan:
            values = {}
            if carry:
                values = {"fold": old.fold, "pack": old.pack}
            return replace(plan_fresh(1), **values)
    """)


def test_a_loop_that_may_carry_all_is_no_drop() -> None:
    check("""
        def renew(old: Plan, others) -> Plan:
            new = plan_fresh(1)
            for x in others:
                if x:
                    new.fold = old.fold
                    new.pack = old.pack
                    break
            return new
    """)
