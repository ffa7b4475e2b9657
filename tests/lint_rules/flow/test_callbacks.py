"""Functions that are handed on: what calls them later may complete the plan, or make one."""

from __future__ import annotations

from tests.lint_rules.flow.programs import check


def test_a_nested_function_given_away_may_complete_the_plan() -> None:
    check("""
        def renew(old: Plan, pool) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold
            def put():
                new.pack = old.pack
            pool.submit(put)
            return new
    """)


def test_a_lambda_given_away_may_complete_the_plan() -> None:
    check("""
        def renew(old: Plan, pool) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold
            pool.submit(lambda: setattr(new, "pack", old.pack))
            return new
    """)


def test_a_partial_given_away_may_complete_the_plan() -> None:
    check("""
        def renew(old: Plan, pool) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold
            pool.submit(functools.partial(setattr, new, "pack", old.pack))
            return new
    """)


def test_a_lambda_that_makes_plans_is_judged_itself() -> None:
    check("""
        def renew_each(plans: list[Plan]) -> list[Plan]:
            return list(map(lambda old: replace(plan_fresh(old.rows), fold=old.fold), plans))  # OWN001: pack

        def renew_each2(plans: list[Plan]) -> list[Plan]:
            return list(map(lambda old: replace(plan_fresh(old.rows), fold=old.fold, pack=old.pack), plans))
    """)


def test_a_fold_over_names_may_complete_the_plan() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            step = lambda new, name: replace(new, **{name: getattr(old, name)})
            return functools.reduce(step, ("fold", "pack"), plan_fresh(1))
    """)


def test_a_table_of_steps_is_run_step_by_step() -> None:
    check("""
        def put_fold(new, old): new.fold = old.fold

        def put_pack(new, old): new.pack = old.pack
        STEPS = (put_fold, put_pack)

        def renew(old: Plan) -> Plan:
            new = plan_fresh(1)
            for step in STEPS:
                step(new, old)
            return new
    """)


def test_a_hook_that_raises_is_for_a_subclass_to_fill() -> None:
    check("""
        class Maker:
            def make(self, source: Plan) -> Plan:
                new = plan_fresh(1)
                new.fold = source.fold
                self.fill(new, source)
                return new
            def fill(self, new, source):
                raise NotImplementedError

        class Real(Maker):
            def fill(self, new, source):
                new.pack = source.pack
    """)


def test_a_hook_that_does_nothing_is_for_a_subclass_to_fill() -> None:
    check("""
        class Maker:
            def make(self, source: Plan) -> Plan:
                new = plan_fresh(1)
                new.fold = source.fold
                self.fill(new, source)
                return new
            def fill(self, new, source):
                pass

        class Real(Maker):
            def fill(self, new, source):
                new.pack = source.pack
    """)


def test_an_abstract_method_may_complete_the_plan() -> None:
    check("""
        import abc

        class Maker(abc.ABC):
            def make(self, source: Plan) -> Plan:
                return self.finish(replace(plan_fresh(1), fold=source.fold), source)
            @abc.abstractmethod
            def finish(self, new, source): ...
    """)


def test_an_object_that_is_called_by_protocol_may_complete_the_plan() -> None:
    check("""
        from typing import Protocol

        class Hook(Protocol):
            def __call__(self, new: Plan, source: Plan) -> Plan: ...

        def make(source: Plan, hook: Hook) -> Plan:
            return hook(replace(plan_fresh(1), fold=source.fold), source)
    """)


def test_a_method_of_a_protocol_may_complete_the_plan() -> None:
    check("""
        from typing import Protocol

        class Hook(Protocol):
            def finish(self, new: Plan, source: Plan) -> Plan: ...

        def make(source: Plan, hook: Hook) -> Plan:
            return hook.finish(replace(plan_fresh(1), fold=source.fold), source)

        def make2(source: Plan, hook: Hook) -> Plan:
            new = plan_fresh(1)
            new.fold = source.fold
            hook.finish(new, source)
            return new
    """)


def test_a_dispatching_function_may_complete_the_plan() -> None:
    check("""
        @functools.singledispatch

        def finish(x, old):
            return x

        def renew(old: Plan) -> Plan:
            return finish(replace(plan_fresh(1), fold=old.fold), old)
    """)


def test_a_context_manager_may_hand_out_anything() -> None:
    check("""
        from contextlib import contextmanager

        @contextmanager
        def fresh_for(old):
            yield plan_fresh(old.rows)

        def renew(old: Plan) -> Plan:
            with fresh_for(old) as new:
                return replace(new, fold=old.fold, pack=old.pack)
    """)


def test_names_mapped_to_pairs_are_left_alone() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            return replace(plan_fresh(1), **dict(map(lambda n: (n, getattr(old, n)), ("fold", "pack"))))
    """)


def test_a_decorated_function_is_judged_itself() -> None:
    check("""
        def retry(times):
            def wrap(function):
                @functools.wraps(function)
                def inner(*args, **kwargs):
                    return function(*args, **kwargs)
                return inner
            return wrap

        @retry(3)
        def renew(old: Plan) -> Plan:
            return replace(plan_fresh(1), fold=old.fold)  # OWN001: pack
    """)


def test_coroutines_given_to_others_are_judged_themselves() -> None:
    check("""
        import asyncio

        async def one(old: Plan) -> Plan:
            return replace(plan_fresh(1), fold=old.fold)  # OWN001: pack

        async def every(plans: list[Plan]):
            return await asyncio.gather(*(one(p) for p in plans))
    """)
