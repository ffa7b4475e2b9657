"""Calls that are followed: helpers of any kind, any number of calls away."""

from __future__ import annotations

import pytest

from tests.lint_rules.flow.programs import check, check_files, declared, reported

#: A definition of `finish(fresh, old)` and whether it carries `pack` too. `{pack}` is the place for it.
HELPERS = {
    "function": """
def finish(fresh, old):
    return replace(fresh, fold=old.fold{pack})
""",
    "typed function": """
def finish(fresh: Plan, old: Plan) -> Plan:
    return replace(fresh, fold=old.fold{pack})
""",
    "two calls": """
def finish_rest(base, source):
    return replace(base, fold=source.fold{pack})

def finish(fresh, old):
    return finish_rest(fresh, old)
""",
    "three calls": """
def finish_last(b, s):
    return replace(b, fold=s.fold{pack})

def finish_rest(base, source):
    made = finish_last(base, s=source)
    return made

def finish(fresh, old):
    return finish_rest(source=old, base=fresh)
""",
    "values by themselves": """
def finish_with(base, fold, pack=None):
    return replace(base, fold=fold, pack=pack)

def finish(fresh, old):
    return finish_with(fresh, old.fold{by_position})
""",
    "keywords passed on": """
def finish_with(base, **values):
    return replace(base, **values)

def finish(fresh, old):
    return finish_with(fresh, fold=old.fold{pack})
""",
    "positions passed on": """
def finish_with(*args, **values):
    return replace(*args, **values)

def finish(fresh, old):
    return finish_with(fresh, fold=old.fold{pack})
""",
    "partial": """
def finish(fresh, old):
    return functools.partial(replace, fresh, fold=old.fold{pack})()
""",
    "partial by name": """
def finish(fresh, old):
    make = functools.partial(replace, fold=old.fold{pack})
    return make(fresh)
""",
    "lambda": """
finish = lambda fresh, old: replace(fresh, fold=old.fold{pack})
""",
    "static method": """
class Finisher:
    @staticmethod
    def finish(fresh, old):
        return replace(fresh, fold=old.fold{pack})

finish = Finisher.finish
""",
    "class method": """
class Finisher:
    @classmethod
    def finish(cls, fresh, old):
        return replace(fresh, fold=old.fold{pack})

def finish(fresh, old):
    return Finisher.finish(fresh, old)
""",
    "method": """
class Finisher:
    def __init__(self, old):
        self.old = old

    def finish(self, fresh):
        return replace(fresh, fold=self.old.fold{pack_of_self})

def finish(fresh, old):
    return Finisher(old).finish(fresh)
""",
    "decorated": """
def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper

@logged
def finish(fresh, old):
    return replace(fresh, fold=old.fold{pack})
""",
    "cached": """
@functools.lru_cache(maxsize=None)
def finish(fresh, old):
    return replace(fresh, fold=old.fold{pack})
""",
    "callable object": """
class Finisher:
    def __call__(self, fresh, old):
        return replace(fresh, fold=old.fold{pack})

def finish(fresh, old):
    return Finisher()(fresh, old)
""",
    "through a local": """
def finish(fresh, old):
    fold = old.fold
    values = dict(fold=fold{pack})
    made = replace(fresh, **values)
    return made
""",
    "through a tuple": """
def carriers(plan):
    return plan.fold, plan.pack

def finish(fresh, old):
    fold, pack = carriers(old)
    return replace(fresh, fold=fold{unpacked})
""",
    "default argument": """
def finish(fresh, old, make=replace):
    return make(fresh, fold=old.fold{pack})
""",
}


def written(helper: str, *, complete: bool) -> str:
    lines = helper.replace("{pack}", ", pack=old.pack" if complete else "")
    lines = lines.replace("{by_position}", ", old.pack" if complete else "")
    lines = lines.replace("{pack_of_self}", ", pack=self.old.pack" if complete else "")
    lines = lines.replace("{unpacked}", ", pack=pack" if complete else "")
    for source in ("source", "s"):
        lines = lines.replace(f"fold={source}.fold, pack=old.pack", f"fold={source}.fold, pack={source}.pack")
    return lines


_USE = """
def renew(old: Plan) -> Plan:
    return finish(plan_fresh(old.rows), old)
"""


@pytest.mark.parametrize("helper", HELPERS.values(), ids=HELPERS)
def test_a_helper_that_carries_everything_is_enough(helper: str) -> None:
    check(written(helper, complete=True) + _USE)


@pytest.mark.parametrize("helper", HELPERS.values(), ids=HELPERS)
def test_a_helper_that_lacks_a_carrier_is_found_once(helper: str) -> None:
    # At the helper where that alone shows it, or at the call that brings the plan and its base together.
    (line,) = reported(written(helper, complete=False) + _USE)
    assert line.endswith(": pack")
    assert "finish" in line or "fold" in line


def test_a_method_that_makes_the_copy_is_followed() -> None:
    check_files(
        {
            "use.py": """
            from __future__ import annotations
            from dataclasses import dataclass, replace

            @dataclass
            class Plan:
                rows: int
                fold: object = None
                pack: object = None

                def fresh(self) -> Plan:
                    return Plan(self.rows)

                def with_fold(self, fold: object) -> Plan:
                    return replace(self, fold=fold)

                def with_pack(self, pack: object) -> Plan:
                    return replace(self, pack=pack)

                @property
                def blank(self) -> Plan:
                    return Plan(self.rows)

                def take(self, other: Plan) -> None:
                    self.fold = other.fold
                    self.pack = other.pack

            def renew(old: Plan) -> Plan:
                return old.fresh().with_fold(old.fold)  # OWN001: pack

            def renew_all(old: Plan) -> Plan:
                return old.fresh().with_fold(old.fold).with_pack(old.pack)

            def renew_blank(old: Plan) -> Plan:
                return replace(old.blank, fold=old.fold)  # OWN001: pack

            def renew_blank_all(old: Plan) -> Plan:
                new = old.blank
                new.take(old)
                return new
            """
        },
        declared("use.Plan", "fold", "pack"),
    )


def test_a_property_that_reads_a_carrier_counts_as_the_carrier() -> None:
    check_files(
        {
            "use.py": """
            from dataclasses import dataclass

            @dataclass
            class Plan:
                rows: int
                fold: object = None
                _pack: object = None

                @property
                def pack(self) -> object:
                    return self._pack

            def renew(old: Plan) -> Plan:
                return Plan(old.rows, old.fold)  # OWN001: _pack

            def renew_all(old: Plan) -> Plan:
                return Plan(old.rows, old.fold, old.pack)
            """
        },
        declared("use.Plan", "fold", "_pack"),
    )


def test_closures_see_the_variables_of_the_outer_function() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            fresh = plan_fresh(old.rows)

            def finish() -> Plan:
                return replace(fresh, fold=old.fold)  # OWN001: pack

            return finish()

        def renew_all(old: Plan) -> Plan:
            fresh = plan_fresh(old.rows)

            def finish() -> Plan:
                return replace(fresh, fold=old.fold, pack=old.pack)

            return finish()

        def maker(old: Plan):
            def make(rows: int) -> Plan:
                return replace(plan_fresh(rows), fold=old.fold)  # OWN001: pack

            return make

        def maker_of_all(old: Plan):
            return lambda rows: replace(plan_fresh(rows), fold=old.fold, pack=old.pack)
    """)


def test_nonlocal_variables_are_completed_by_the_inner_function() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            new = plan_fresh(old.rows)

            def put() -> None:
                nonlocal new
                new = replace(new, fold=old.fold, pack=old.pack)

            put()
            return new
    """)


def test_a_helper_in_another_file_is_followed() -> None:
    check(
        """
        import tools
        from tools import finish, finish_all

        def renew(old: Plan) -> Plan:
            return finish(plan_fresh(old.rows), old.fold)  # OWN001: pack

        def renew_all(old: Plan) -> Plan:
            return finish_all(plan_fresh(old.rows), old)

        def renew_by_module(old: Plan) -> Plan:
            return tools.finish(plan_fresh(old.rows), old.fold)  # OWN001: pack
        """,
        beside={
            "tools": """
        from dataclasses import replace

        def finish(fresh, fold):
            return replace(fresh, fold=fold)

        def finish_all(fresh, old):
            return replace(fresh, fold=old.fold, pack=old.pack)
        """
        },
    )


def test_a_factory_in_another_file_is_followed() -> None:
    check(
        """
        from tools import blank_like, copy_of

        def renew(old: Plan) -> Plan:
            return replace(blank_like(old), fold=old.fold)  # OWN001: pack

        def resize(old: Plan) -> Plan:
            return replace(copy_of(old), rows=3)
        """,
        beside={
            "tools": """
        from records import Plan, plan_fresh

        def blank_like(plan):
            return plan_fresh(plan.rows)

        def copy_of(plan):
            return Plan(plan.rows, plan.fold, plan.pack)
        """
        },
    )


def test_a_result_of_unknown_code_may_be_complete() -> None:
    check("""
        from elsewhere import prepare, remake

        def renew(old: Plan) -> Plan:
            return replace(remake(old), fold=old.fold)

        def renew_again(old: Plan) -> Plan:
            new = plan_fresh(old.rows)
            new.fold = old.fold
            prepare(new, old)
            return new
    """)


def test_keyword_only_parameters_are_followed() -> None:
    check("""
        def make(*, rows, fold=None, pack=None) -> Plan:
            return Plan(rows, fold, pack)

        def renew(old: Plan) -> Plan:
            return make(rows=1, fold=old.fold)  # OWN001: pack

        def renew2(old: Plan) -> Plan:
            return make(rows=1, fold=old.fold, pack=old.pack)

        def renew3(old: Plan) -> Plan:
            return make(**vars(old))
    """)


def test_class_methods_of_a_base_are_followed() -> None:
    check("""
        class Base:
            @classmethod
            def blank(cls, rows):
                return cls(rows, None, None)
            @classmethod
            def like(cls, other):
                return cls(other.rows, other.fold, None)

        @dataclass
        class Mine(Base, Plan):
            pass

        def renew(old: Mine) -> Mine:
            return replace(Mine.blank(1), fold=old.fold)  # OWN001: pack

        def renew2(old: Mine) -> Mine:
            return Mine.like(old)  # OWN001: pack
    """)


def test_a_cached_property_is_followed() -> None:
    check("""
        class Engine:
            @functools.cached_property
            def blank(self) -> Plan:
                return plan_fresh(1)
            def renew(self, old: Plan) -> Plan:
                return replace(self.blank, fold=old.fold)  # OWN001: pack
    """)


def test_a_method_of_an_unknown_object_may_do_anything() -> None:
    check("""
        def renew(old: Plan, m) -> Plan:
            return m.finish(old, fold=old.fold)
    """)


def test_a_plan_made_by_an_unknown_planner_may_be_complete() -> None:
    check("""
        def renew(old: Plan, planner) -> Plan:
            fresh: Plan = planner.plan(old.rows)
            return replace(fresh, fold=old.fold)
    """)


def test_a_plan_made_by_code_outside_may_be_complete() -> None:
    check("""
        from elsewhere import compute

        def planned(rows: int) -> Plan:
            return compute(rows)

        def renew(old: Plan) -> Plan:
            return replace(planned(old.rows), fold=old.fold)
    """)


def test_a_default_of_a_nested_function_is_a_source() -> None:
    check("""
        def outer(old: Plan):
            def make(rows, old=old):
                return Plan(rows, old.fold, None)  # OWN001: pack
            return make
    """)


def test_methods_of_a_class_inside_a_function_are_judged() -> None:
    check("""
        def outer(old: Plan):
            class Maker:
                def make(self):
                    return Plan(1, old.fold, None)  # OWN001: pack
            return Maker()
    """)
