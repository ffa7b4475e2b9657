"""`replace` in all its spellings: on a fresh base it must carry everything, on a prepared one it keeps what it has."""

from __future__ import annotations

import pytest

from tests.lint_rules.flow.programs import check, check_files, declared

#: How a module may get hold of the function, and how it is then called.
SPELLINGS = {
    "module attribute": ("import dataclasses", "dataclasses.replace"),
    "module alias": ("import dataclasses as dc", "dc.replace"),
    "imported name": ("from dataclasses import replace", "replace"),
    "imported alias": ("from dataclasses import replace as substitute", "substitute"),
    "assigned alias": ("import dataclasses\nsubstitute = dataclasses.replace", "substitute"),
    "copy.replace": ("import copy", "copy.replace"),
    "from copy": ("from copy import replace", "replace"),
    "re-export": ("from tools import substitute", "substitute"),
    "re-export through a module": ("import tools", "tools.substitute"),
}
OTHERS = {
    "tools": "from dataclasses import replace as substitute\n",
}


@pytest.mark.parametrize(("imported", "call"), SPELLINGS.values(), ids=SPELLINGS)
def test_a_carrier_left_out_on_a_fresh_base_is_found(imported: str, call: str) -> None:
    source = f"""
def renew(old: Plan) -> Plan:
    fresh = plan_fresh(old.rows)
    return {call}(fresh, fold=old.fold)  # OWN001: pack
"""
    check(imported + "\n" + source, beside=OTHERS)


@pytest.mark.parametrize(("imported", "call"), SPELLINGS.values(), ids=SPELLINGS)
def test_all_carriers_on_a_fresh_base_are_enough(imported: str, call: str) -> None:
    source = f"""
def renew(old: Plan) -> Plan:
    fresh = plan_fresh(old.rows)
    return {call}(fresh, fold=old.fold, pack=old.pack)
"""
    check(imported + "\n" + source, beside=OTHERS)


@pytest.mark.parametrize(("imported", "call"), SPELLINGS.values(), ids=SPELLINGS)
def test_a_base_that_has_the_carriers_keeps_them(imported: str, call: str) -> None:
    source = f"""
def resize(old: Plan, rows: int) -> Plan:
    return {call}(old, rows=rows)
"""
    check(imported + "\n" + source, beside=OTHERS)


def test_replace_imported_inside_the_function_is_known() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            from dataclasses import replace as substitute
            fresh = plan_fresh(old.rows)
            return substitute(fresh, fold=old.fold)  # OWN001: pack
    """)


def test_a_module_imported_inside_the_function_is_known() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            import dataclasses as dc
            fresh = plan_fresh(old.rows)
            return dc.replace(fresh, fold=old.fold)  # OWN001: pack
    """)


def test_the_replace_method_of_the_protocol_is_known() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            return plan_fresh(old.rows).__replace__(fold=old.fold)  # OWN001: pack

        def resize(old: Plan, rows: int) -> Plan:
            return old.__replace__(rows=rows)
    """)


def test_replace_that_blanks_a_carrier_of_a_prepared_base_is_found() -> None:
    check("""
        def resize(old: Plan, rows: int) -> Plan:
            return replace(old, rows=rows, pack=None)  # OWN001: pack
    """)


def test_replace_with_absent_on_a_prepared_base_is_a_stated_drop() -> None:
    check("""
        def resize(old: Plan, rows: int) -> Plan:
            return replace(old, rows=rows, pack=Dropped("pack", "rows changed"))
    """)


def test_one_replace_for_each_carrier_is_enough() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            return replace(replace(plan_fresh(old.rows), fold=old.fold), pack=old.pack)
    """)


def test_two_steps_that_leave_a_carrier_out_are_one_finding() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            step = replace(plan_fresh(old.rows), fold=old.fold)
            return replace(step, rows=old.rows)  # OWN001: pack
    """)


ATTRS = """
from __future__ import annotations
import {module}
from ownership import Fact, Transferable, Absent, plan

@plan
@{module}.{decorator}
class Plan:
    rows: Fact[int]
    fold: Transferable[object | Absent]
    pack: Transferable[object | Absent]
    _arena: Transferable[object | Absent]

def plan_fresh(rows: int) -> Plan:
    return Plan(rows, Absent("planned"), Absent("planned"), Absent("planned"))

def renew(old: Plan) -> Plan:
    return {module}.evolve(plan_fresh(old.rows), fold=old.fold, arena=old._arena)  # OWN001: pack

def renew_all(old: Plan) -> Plan:
    return {module}.evolve(plan_fresh(old.rows), fold=old.fold, pack=old.pack, arena=old._arena)

def renew_by_constructor(old: Plan) -> Plan:
    return Plan(old.rows, old.fold, old.pack, Absent("none"))

def renew_but_the_private(old: Plan) -> Plan:
    return {module}.evolve(plan_fresh(old.rows), fold=old.fold, pack=old.pack)  # OWN001: _arena

def resize(old: Plan, rows: int) -> Plan:
    return {module}.evolve(old, rows=rows)
"""


@pytest.mark.parametrize(
    ("module", "decorator"), [("attrs", "define"), ("attrs", "frozen"), ("attr", "s(auto_attribs=True)")]
)
def test_evolve_is_known_and_private_attributes_go_by_their_public_names(module: str, decorator: str) -> None:
    check_files({"use.py": ATTRS.format(module=module, decorator=decorator)})


def test_the_replace_method_of_a_namedtuple_is_known() -> None:
    check_files(
        {
            "use.py": """
            from typing import NamedTuple

            class Plan(NamedTuple):
                rows: int
                fold: object = None
                pack: object = None

            def plan_fresh(rows: int) -> Plan:
                return Plan(rows)

            def renew(old: Plan) -> Plan:
                return plan_fresh(old.rows)._replace(fold=old.fold)  # OWN001: pack

            def renew_all(old: Plan) -> Plan:
                return plan_fresh(old.rows)._replace(fold=old.fold, pack=old.pack)

            def rebuild(old: Plan) -> Plan:
                return Plan(old.rows, old.fold)  # OWN001: pack

            def resize(old: Plan) -> Plan:
                return old._replace(rows=1)
            """
        },
        declared("use.Plan", "fold", "pack"),
    )


def test_model_copy_is_known() -> None:
    check_files(
        {
            "use.py": """
            from pydantic import BaseModel

            class Plan(BaseModel):
                rows: int
                fold: object = None
                pack: object = None

            def renew(old: Plan) -> Plan:
                return Plan(rows=old.rows).model_copy(update={"fold": old.fold})  # OWN001: pack

            def renew_all(old: Plan) -> Plan:
                return Plan(rows=old.rows).model_copy(update=dict(fold=old.fold, pack=old.pack))

            def resize(old: Plan) -> Plan:
                return old.model_copy(update={"rows": 1})
            """
        },
        declared("use.Plan", "fold", "pack"),
    )
