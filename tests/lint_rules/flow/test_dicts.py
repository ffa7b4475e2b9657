"""Keyword arguments that come out of dicts, built in one expression or over several statements."""

from __future__ import annotations

import pytest

from tests.lint_rules.flow.programs import check

#: Statements that put `fold`, and then `pack`, into a dict called `values`.
COMPLETE = {
    "literal": 'values = {"fold": old.fold, "pack": old.pack}',
    "dict call": "values = dict(fold=old.fold, pack=old.pack)",
    "items": 'values = {}\n    values["fold"] = old.fold\n    values["pack"] = old.pack',
    "update by keyword": "values = {}\n    values.update(fold=old.fold, pack=old.pack)",
    "update by dict": 'values = dict()\n    values.update({"fold": old.fold})\n    values.update({"pack": old.pack})',
    "setdefault": 'values = {"fold": old.fold}\n    values.setdefault("pack", old.pack)',
    "union": 'values = {"fold": old.fold} | {"pack": old.pack}',
    "union in place": 'values = {"fold": old.fold}\n    values |= {"pack": old.pack}',
    "spread": 'first = {"fold": old.fold}\n    values = {**first, "pack": old.pack}',
    "two spreads": 'first = {"fold": old.fold}\n    second = dict(pack=old.pack)\n    values = {**first, **second}',
    "pairs": 'values = dict([("fold", old.fold), ("pack", old.pack)])',
    "comprehension": 'values = {name: getattr(old, name) for name in ("fold", "pack")}',
    "loop": 'values = {}\n    for name in ["fold", "pack"]:\n        values[name] = getattr(old, name)',
    "copy": 'first = {"fold": old.fold, "pack": old.pack}\n    values = first.copy()',
    "dict of dict": 'first = {"fold": old.fold}\n    values = dict(first, pack=old.pack)',
    "pop of another": 'values = {"fold": old.fold, "pack": old.pack, "x": 1}\n    values.pop("x")',
    "fromkeys": 'values = dict.fromkeys(("fold", "pack"))\n    values.update(fold=old.fold, pack=old.pack)',
    "vars": "values = dict(vars(old))\n    values.pop('rows')",
    "vars filtered": 'values = {k: v for k, v in vars(old).items() if k != "rows"}',
    "dunder dict": 'values = {**old.__dict__, "rows": 3}',
    "fields": "values = {f.name: getattr(old, f.name) for f in dataclasses.fields(old)}",
    "fields of the class": "values = {f.name: getattr(old, f.name) for f in dataclasses.fields(Plan)}",
    "zip": 'values = dict(zip(("fold", "pack"), (old.fold, old.pack)))',
}

LACKING = {
    "literal": 'values = {"fold": old.fold}',
    "dict call": "values = dict(fold=old.fold)",
    "items": 'values = {}\n    values["fold"] = old.fold\n    values["rows"] = old.rows',
    "update by keyword": "values = {}\n    values.update(fold=old.fold)",
    "update by dict": 'values = dict()\n    values.update({"fold": old.fold})',
    "setdefault": 'values = {"rows": old.rows}\n    values.setdefault("fold", old.fold)',
    "union": 'values = {"fold": old.fold} | {"rows": old.rows}',
    "union in place": 'values = {"fold": old.fold}\n    values |= {"rows": old.rows}',
    "spread": 'first = {"fold": old.fold}\n    values = {**first, "rows": old.rows}',
    "pop": 'values = {"fold": old.fold, "pack": old.pack}\n    values.pop("pack")',
    "pop with a default": 'values = {"fold": old.fold, "pack": old.pack}\n    values.pop("pack", None)',
    "del": 'values = {"fold": old.fold, "pack": old.pack}\n    del values["pack"]',
    "comprehension": 'values = {name: getattr(old, name) for name in ("fold", "rows")}',
    "loop": 'values = {}\n    for name in ["fold"]:\n        values[name] = getattr(old, name)',
    "dict of dict": "first = dict(rows=1)\n    values = dict(first, fold=old.fold)",
    "copy": 'first = {"fold": old.fold}\n    values = first.copy()',
    "vars": "values = dict(vars(old))\n    del values['pack']",
    "vars filtered": 'values = {k: v for k, v in vars(old).items() if k != "pack"}',
    "pairs": 'values = dict([("fold", old.fold), ("rows", old.rows)])',
    "zip": 'values = dict(zip(("fold", "rows"), (old.fold, old.rows)))',
}


@pytest.mark.parametrize("build", COMPLETE.values(), ids=COMPLETE)
def test_a_dict_with_all_carriers_is_enough(build: str) -> None:
    check(f"""
def renew(old: Plan) -> Plan:
    fresh = plan_fresh(old.rows)
    {build}
    return replace(fresh, **values)
""")


@pytest.mark.parametrize("build", LACKING.values(), ids=LACKING)
def test_a_dict_that_lacks_a_carrier_is_found(build: str) -> None:
    check(f"""
def renew(old: Plan) -> Plan:
    fresh = plan_fresh(old.rows)
    {build}
    return replace(fresh, **values)  # OWN001: pack
""")


def test_a_dict_written_in_the_call_is_read() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            return replace(plan_fresh(old.rows), **dict(fold=old.fold))  # OWN001: pack

        def renew_again(old: Plan) -> Plan:
            return replace(plan_fresh(old.rows), **{"fold": old.fold})  # OWN001: pack

        def renew_all(old: Plan) -> Plan:
            return replace(plan_fresh(old.rows), **{"fold": old.fold, **{"pack": old.pack}})
    """)


def test_a_dict_from_elsewhere_may_hold_anything() -> None:
    check("""
        def renew(old: Plan, more: dict[str, object]) -> Plan:
            return replace(plan_fresh(old.rows), fold=old.fold, **more)

        def renew_again(old: Plan, load) -> Plan:
            values = {"fold": old.fold}
            values.update(load())
            return replace(plan_fresh(old.rows), **values)

        def renew_with(old: Plan, more) -> Plan:
            values = {"fold": old.fold}
            for name, value in more:
                values[name] = value
            return replace(plan_fresh(old.rows), **values)
    """)


def test_a_dict_that_a_helper_fills_is_followed() -> None:
    check("""
        def carriers_of(old: Plan) -> dict[str, object]:
            return {"fold": old.fold}

        def all_carriers_of(old: Plan) -> dict[str, object]:
            return {"fold": old.fold, "pack": old.pack}

        def renew(old: Plan) -> Plan:
            return replace(plan_fresh(old.rows), **carriers_of(old))  # OWN001: pack

        def renew_all(old: Plan) -> Plan:
            return replace(plan_fresh(old.rows), **all_carriers_of(old))
    """)


def test_a_dict_given_to_a_helper_is_followed() -> None:
    check("""
        def put_pack(values: dict[str, object], old: Plan) -> None:
            values["pack"] = old.pack

        def renew_all(old: Plan) -> Plan:
            values = {"fold": old.fold}
            put_pack(values, old)
            return replace(plan_fresh(old.rows), **values)
    """)


def test_a_key_set_on_one_branch_only_is_found() -> None:
    check("""
        def renew(old: Plan, warm: bool) -> Plan:
            values = {"fold": old.fold}
            if warm:
                values["pack"] = old.pack
            return replace(plan_fresh(old.rows), **values)

        def renew_guarded(old: Plan) -> Plan:
            values = {"fold": old.fold}
            if old.pack is not None:
                values["pack"] = old.pack
            return replace(plan_fresh(old.rows), **values)
    """)


def test_a_key_popped_from_all_attributes_is_missing() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            values = vars(old).copy()
            values.pop("pack", None)
            return Plan(**values, pack=None)  # OWN001: pack
    """)


def test_names_of_fields_are_filtered() -> None:
    check("""
        SKIP = {"rows"}
        SKIP_MORE = ("rows", "pack")

        def renew(old: Plan) -> Plan:
            values = {f.name: getattr(old, f.name) for f in dataclasses.fields(Plan) if f.name not in SKIP}
            return Plan(rows=1, **values)

        def renew_less(old: Plan) -> Plan:
            values = {f.name: getattr(old, f.name) for f in dataclasses.fields(Plan) if f.name not in SKIP_MORE}
            return replace(plan_fresh(1), **values)  # OWN001: pack

        def renew_by_loop(old: Plan) -> Plan:
            values = {}
            for f in dataclasses.fields(Plan):
                if f.name in ("rows", "pack"):
                    continue
                values[f.name] = getattr(old, f.name)
            return replace(plan_fresh(1), **values)  # OWN001: pack
    """)


def test_entries_that_are_none_may_be_left_out() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            values = {n: getattr(old, n) for n in ("fold", "pack")}
            values = {k: v for k, v in values.items() if v is not None}
            return replace(plan_fresh(1), **values)
    """)


def test_entries_are_read_by_key_and_by_get() -> None:
    check("""
        def renew(old: Plan, more: dict) -> Plan:
            values = {"fold": old.fold, "pack": old.pack}
            return replace(plan_fresh(1), fold=values["fold"], pack=values.get("pack"))
    """)


def test_another_kind_of_mapping_may_hold_anything() -> None:
    check("""
        import collections

        def renew(old: Plan) -> Plan:
            return replace(plan_fresh(1), **collections.ChainMap({"fold": old.fold}, {"pack": old.pack}))
    """)


def test_pairs_of_names_in_a_module_variable_are_read() -> None:
    check("""
        PAIRS = [("fold", "fold"), ("pack", "pack")]

        def renew(old: Plan) -> Plan:
            return replace(plan_fresh(1), **{a: getattr(old, b) for a, b in PAIRS})
    """)
