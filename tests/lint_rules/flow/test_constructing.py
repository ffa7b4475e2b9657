"""Constructors: by keyword, by position, both, and through `*args` and `**kwargs`."""

from __future__ import annotations

from textwrap import dedent

from tests.lint_rules.flow.programs import RECORDS, check, check_files, declared

#: A class of someone else, whose carriers have defaults.
OPEN_PLAN = """
from __future__ import annotations
import copy
from dataclasses import dataclass, field, InitVar, replace

@dataclass
class Plan:
    rows: int
    fold: object = None
    pack: object = None
"""


def check_declared(source: str) -> None:
    check_files({"use.py": OPEN_PLAN + dedent(source)}, declared("use.Plan", "fold", "pack"))


def test_a_missing_keyword_is_found() -> None:
    check_declared("""
        def renew(old: Plan) -> Plan:
            return Plan(rows=old.rows, fold=old.fold)  # OWN001: pack
    """)


def test_a_missing_position_is_found() -> None:
    check_declared("""
        def renew(old: Plan) -> Plan:
            return Plan(old.rows, old.fold)  # OWN001: pack
    """)


def test_positions_and_keywords_together_are_understood() -> None:
    check_declared("""
        def renew(old: Plan) -> Plan:
            return Plan(old.rows, pack=old.pack)  # OWN001: fold

        def renew_all(old: Plan) -> Plan:
            return Plan(old.rows, old.fold, pack=old.pack)
    """)


def test_a_call_that_takes_nothing_is_no_copy() -> None:
    check_declared("""
        def make(rows: int) -> Plan:
            return Plan(rows)

        def make_like(old: Plan) -> Plan:
            return Plan(old.rows)
    """)


def test_unknown_positions_and_keywords_may_hold_anything() -> None:
    check_declared("""
        def renew(old: Plan, *args, **kwargs) -> Plan:
            return Plan(old.rows, old.fold, *args)

        def renew_with(old: Plan, **kwargs) -> Plan:
            return Plan(old.rows, old.fold, **kwargs)
    """)


def test_known_positions_are_counted() -> None:
    check_declared("""
        def renew(old: Plan) -> Plan:
            args = (old.rows, old.fold)
            return Plan(*args)  # OWN001: pack

        def renew_all(old: Plan) -> Plan:
            args = (old.rows, old.fold, old.pack)
            return Plan(*args)
    """)


def test_an_explicit_none_is_a_drop() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            return Plan(old.rows, old.fold, None)  # OWN001: pack
    """)


def test_absent_and_dropped_are_reasons() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            return Plan(old.rows, old.fold, Absent("not for the copy"))

        def renew_without(old: Plan) -> Plan:
            return Plan(old.rows, fold=old.fold, pack=Dropped("pack", "not for the copy"))
    """)


def test_the_class_may_be_reached_through_the_object() -> None:
    check_declared("""
        def renew(old: Plan) -> Plan:
            return type(old)(old.rows, fold=old.fold)  # OWN001: pack

        def renew_again(old: Plan) -> Plan:
            return old.__class__(old.rows, fold=old.fold)  # OWN001: pack
    """)


def test_classmethods_build_through_cls() -> None:
    check_files(
        {
            "use.py": """
            from __future__ import annotations
            from dataclasses import dataclass

            @dataclass
            class Plan:
                rows: int
                fold: object = None
                pack: object = None

                @classmethod
                def renew(cls, old: Plan) -> Plan:
                    return cls(old.rows, old.fold)  # OWN001: pack

                @classmethod
                def renew_all(cls, old: Plan) -> Plan:
                    return cls(old.rows, old.fold, old.pack)

                def clone(self) -> Plan:
                    return Plan(self.rows, fold=self.fold)  # OWN001: pack

                def clone_all(self) -> Plan:
                    return self.__class__(self.rows, fold=self.fold, pack=self.pack)

                @staticmethod
                def again(old: Plan) -> Plan:
                    return Plan(old.rows, pack=old.pack)  # OWN001: fold
            """
        },
        declared("use.Plan", "fold", "pack"),
    )


def test_keyword_only_fields_take_no_position() -> None:
    check_files(
        {
            "use.py": """
            from __future__ import annotations
            from dataclasses import KW_ONLY, dataclass, field

            @dataclass(kw_only=True)
            class Plan:
                rows: int
                fold: object = None
                pack: object = None

            @dataclass
            class Late:
                rows: int
                _: KW_ONLY
                fold: object = None
                pack: object = None

            @dataclass
            class Single:
                rows: int
                fold: object = field(default=None, kw_only=True)
                pack: object = None

            def renew(old: Plan) -> Plan:
                return Plan(rows=old.rows, fold=old.fold)  # OWN001: pack

            def renew_late(old: Late) -> Late:
                return Late(old.rows, fold=old.fold)  # OWN001: pack

            def renew_single(old: Single) -> Single:
                return Single(old.rows, old.pack)  # OWN001: fold

            def renew_single_all(old: Single) -> Single:
                return Single(old.rows, old.pack, fold=old.fold)
            """
        },
        declared(
            "use.Single",
            "fold",
            "pack",
            config=declared("use.Late", "fold", "pack", config=declared("use.Plan", "fold", "pack")),
        ),
    )


def test_a_constructor_written_by_hand_is_followed() -> None:
    check_files(
        {
            "use.py": """
            class Plan:
                def __init__(self, rows, fold=None, *, pack=None):
                    self.rows = rows
                    self.fold = fold
                    self.pack = pack

            def renew(old: Plan) -> Plan:
                return Plan(old.rows, old.fold)  # OWN001: pack

            def renew_all(old: Plan) -> Plan:
                return Plan(old.rows, old.fold, pack=old.pack)

            def renew_in_steps(old: Plan) -> Plan:
                new = Plan(old.rows, old.fold)
                new.pack = old.pack
                return new
            """
        },
        declared("use.Plan", "fold", "pack"),
    )


def test_a_constructor_with_slots_and_setattr_is_followed() -> None:
    check_files(
        {
            "use.py": """
            class Plan:
                __slots__ = ("rows", "fold", "pack")

                def __init__(self, rows, fold=None, pack=None):
                    object.__setattr__(self, "rows", rows)
                    object.__setattr__(self, "fold", fold)
                    object.__setattr__(self, "pack", pack)

                def clone(self):
                    return Plan(self.rows, self.fold)  # OWN001: pack

                def clone_all(self):
                    return Plan(self.rows, self.fold, self.pack)
            """
        },
        declared("use.Plan", "fold", "pack"),
    )


def test_a_field_that_the_constructor_does_not_take_is_reset_by_replace() -> None:
    check_files(
        {
            "use.py": """
            from __future__ import annotations
            from dataclasses import dataclass, field, replace

            @dataclass
            class Plan:
                rows: int
                fold: object = None
                pack: object = field(default=None, init=False)

            def resize(old: Plan) -> Plan:
                return replace(old, rows=1)  # OWN001: pack

            def resize_all(old: Plan) -> Plan:
                new = replace(old, rows=1)
                new.pack = old.pack
                return new

            def renew(old: Plan) -> Plan:
                return Plan(old.rows, old.fold)  # OWN001: pack
            """
        },
        declared("use.Plan", "fold", "pack"),
    )


def test_an_init_only_variable_takes_a_position() -> None:
    check_files(
        {
            "use.py": """
            from __future__ import annotations
            from dataclasses import InitVar, dataclass

            @dataclass
            class Plan:
                rows: int
                device: InitVar[str]
                fold: object = None
                pack: object = None

            def renew(old: Plan) -> Plan:
                return Plan(old.rows, "cpu", old.fold)  # OWN001: pack

            def renew_all(old: Plan) -> Plan:
                return Plan(old.rows, "cpu", old.fold, old.pack)
            """
        },
        declared("use.Plan", "fold", "pack"),
    )


def test_a_class_variable_takes_no_position() -> None:
    check_files(
        {
            "use.py": """
            from __future__ import annotations
            from dataclasses import dataclass
            from typing import ClassVar

            @dataclass
            class Plan:
                rows: int
                registry: ClassVar[dict] = {}
                fold: object = None
                pack: object = None

            def renew(old: Plan) -> Plan:
                return Plan(old.rows, old.fold)  # OWN001: pack

            def renew_all(old: Plan) -> Plan:
                return Plan(old.rows, old.fold, old.pack)
            """
        },
        declared("use.Plan", "fold", "pack"),
    )


def test_a_generic_class_is_built_through_its_subscript() -> None:
    check_files(
        {
            "use.py": """
            from __future__ import annotations
            from dataclasses import dataclass
            from typing import Generic, TypeVar

            T = TypeVar("T")

            @dataclass
            class Plan(Generic[T]):
                rows: int
                fold: T | None = None
                pack: T | None = None

            def renew(old: Plan[int]) -> Plan[int]:
                return Plan[int](old.rows, old.fold)  # OWN001: pack

            def renew_all(old: Plan[T]) -> Plan[T]:
                return Plan[T](old.rows, old.fold, old.pack)
            """
        },
        declared("use.Plan", "fold", "pack"),
    )


def test_type_parameter_lists_are_no_obstacle() -> None:
    check_files(
        {
            "use.py": """
            from dataclasses import dataclass

            type Carrier = object | None

            @dataclass
            class Plan[T]:
                rows: int
                fold: T | None = None
                pack: Carrier = None

            def renew[T](old: Plan[T]) -> Plan[T]:
                return Plan(old.rows, old.fold)  # OWN001: pack

            def renew_all[T](old: Plan[T]) -> Plan[T]:
                return Plan(old.rows, old.fold, old.pack)
            """
        },
        declared("use.Plan", "fold", "pack"),
    )


def test_fields_of_a_base_come_first() -> None:
    check_files(
        {
            "base.py": """
            from dataclasses import dataclass

            @dataclass
            class Base:
                rows: int
                pack: object = None
            """,
            "use.py": """
            from dataclasses import dataclass
            from base import Base

            @dataclass
            class Plan(Base):
                fold: object = None

            def renew(old: Plan) -> Plan:
                return Plan(old.rows, old.pack)  # OWN001: fold

            def renew_other(old: Plan) -> Plan:
                return Plan(old.rows, fold=old.fold)  # OWN001: pack

            def renew_all(old: Plan) -> Plan:
                return Plan(old.rows, old.pack, old.fold)
            """,
        },
        declared("use.Plan", "fold", "pack"),
    )


def test_the_constructor_of_the_base_is_followed() -> None:
    check_files(
        {
            "use.py": """
            class Base:
                def __init__(self, rows, fold=None, pack=None):
                    self.rows = rows
                    self.fold = fold
                    self.pack = pack

            class Plan(Base):
                def __init__(self, rows, fold=None, pack=None):
                    super().__init__(rows, fold, pack)

            class Named(Base):
                def __init__(self, rows, fold=None, pack=None):
                    Base.__init__(self, rows, fold=fold, pack=pack)

            class Forgetful(Base):
                def __init__(self, rows, fold=None, pack=None):
                    super().__init__(rows, fold)  # OWN008: pack

            def renew(old: Plan) -> Plan:
                return Plan(old.rows, old.fold)  # OWN001: pack

            def renew_all(old: Plan) -> Plan:
                return Plan(old.rows, old.fold, old.pack)

            def renew_named(old: Named) -> Named:
                return Named(old.rows, pack=old.pack)  # OWN001: fold

            def renew_named_all(old: Named) -> Named:
                return Named(old.rows, pack=old.pack, fold=old.fold)

            def renew_forgetful(old: Forgetful) -> Forgetful:
                return Forgetful(old.rows, old.fold, old.pack)  # OWN001: pack
            """
        },
        declared("use.Base", "fold", "pack"),
    )


def test_a_marked_base_makes_its_subclasses_plans() -> None:
    check_files(
        {
            "records.py": RECORDS,
            "use.py": """
            from dataclasses import dataclass, replace
            from records import Plan, plan_fresh
            from ownership import Absent, Fact, plan

            @plan
            @dataclass
            class Wide(Plan):
                columns: Fact[int]

            def widen(old: Plan) -> Wide:
                return Wide(old.rows, old.fold, None, 4)  # OWN001: pack

            def widen_all(old: Plan) -> Wide:
                return Wide(old.rows, old.fold, old.pack, 4)

            def narrow(old: Wide) -> Plan:
                return Plan(rows=old.rows, fold=old.fold, pack=old.pack)
            """,
        }
    )


def test_another_plan_with_the_same_fields_is_built_from_one() -> None:
    check("""
        @plan

        @dataclass
        class Bound:
            fold: Transferable[object]
            pack: Transferable[object]
            @classmethod
            def of(cls, old: Plan) -> "Bound":
                return cls(fold=old.fold, pack=None)  # OWN001: pack
            @classmethod
            def of2(cls, old: Plan) -> "Bound":
                return cls(fold=old.fold, pack=old.pack)
            @staticmethod
            def of3(old):
                return Bound(old.fold, None)  # OWN001: pack
    """)


def test_a_list_of_positions_is_counted() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            parts = [old.rows]
            parts.append(old.fold)
            parts.append(old.pack)
            return Plan(*parts)

        def renew2(old: Plan) -> Plan:
            parts = [old.rows, old.fold]
            parts += [None]
            return Plan(*parts)  # OWN001: pack
    """)


def test_a_subclass_that_is_not_marked_is_a_plan_too() -> None:
    check("""
        class P2(Plan):
            def clone(self):
                return type(self)(self.rows, self.fold, None)  # OWN001: pack
            def clone2(self):
                return self.__class__(**vars(self))
            def clone3(self):
                return super().clone3()
    """)


def test_local_variables_passed_as_keywords_may_be_anything() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            fold, pack, rows = old.fold, old.pack, old.rows
            return Plan(**locals())
    """)


def test_a_class_given_as_an_argument_is_built() -> None:
    check("""
        def renew(cls: type[Plan], old: Plan) -> Plan:
            return cls(1, old.fold, None)  # OWN001: pack

        def renew2(cls: type[Plan], old: Plan) -> Plan:
            return cls(1, old.fold, old.pack)
    """)


def test_plans_taken_apart_by_a_star_are_sources() -> None:
    check("""
        def renew(plans: list[Plan]) -> tuple[Plan, ...]:
            first, *rest = plans
            return (Plan(1, first.fold, first.pack), *[Plan(1, p.fold, p.pack) for p in rest])
    """)


def test_the_bound_of_a_type_variable_tells_the_class() -> None:
    check("""
        from typing import TypeVar

        AnyPlan = TypeVar("AnyPlan", bound=Plan)
        Quoted = TypeVar("Quoted", bound="Plan")

        def renew(old: AnyPlan) -> AnyPlan:
            return type(old)(1, old.fold, None)  # OWN001: pack

        def renew_quoted(old: Quoted) -> Quoted:
            return type(old)(1, old.fold, None)  # OWN001: pack

        def renew_all(old: AnyPlan) -> AnyPlan:
            return type(old)(1, old.fold, old.pack)
    """)


def test_single_values_from_objects_that_are_no_plans_make_no_copy() -> None:
    check("""
        class Query:
            def __init__(self, fold):
                self.fold = fold
                self.kind = 1

        def from_query(query: Query) -> Plan:
            return Plan(1, fold=query.fold)

        @plan
        @dataclass
        class Entry:
            source: Transferable[object]
            system: Transferable[object]

        def from_state(state) -> Entry:
            bound = state.bind()
            return Entry(source=bound.source)
    """)


def test_false_is_a_value_and_no_blank() -> None:
    check("""
        def without(old: Plan) -> Plan:
            return dataclasses.replace(old, fold=False)
    """)
