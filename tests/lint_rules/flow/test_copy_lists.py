"""Copy lists: attributes assigned one by one, by name, in a loop, or in a helper."""

from __future__ import annotations

from textwrap import indent

import pytest

from tests.lint_rules.flow.programs import check, check_files, declared

#: Statements that complete `new`, COPY for the copy of `name`; the first that takes a carrier has the finding.
LISTS = {
    "attributes": "new.fold = old.fold\nnew.pack = old.pack",
    "one line": "new.fold, new.pack = old.fold, old.pack",
    "setattr": 'setattr(new, "fold", old.fold)\nsetattr(new, "pack", old.pack)',
    "object.__setattr__": 'object.__setattr__(new, "fold", old.fold)\nobject.__setattr__(new, "pack", old.pack)',
    "loop over a tuple": 'for name in ("fold", "pack"):\n    COPY',
    "loop over a list": 'for name in ["fold", "pack"]:\n    COPY',
    "loop over a constant": "for name in NAMES:\n    COPY",
    "loop over a local": 'names = ("fold", "pack")\nfor name in names:\n    COPY',
    "loop over a sum": 'for name in ("fold",) + ("pack",):\n    COPY',
    "loop over a spread": 'for name in ("rows", *NAMES):\n    COPY',
    "loop over pairs": 'for a, b in (("fold", "fold"), ("pack", "pack")):\n    setattr(new, a, getattr(old, b))',
    "loop over a dict": 'for a, b in {"fold": "fold", "pack": "pack"}.items():\n    setattr(new, a, getattr(old, b))',
    "dict update": "new.__dict__.update(fold=old.fold, pack=old.pack)",
    "dict update by dict": 'new.__dict__.update({"fold": old.fold, "pack": old.pack})',
    "vars items": 'vars(new)["fold"] = old.fold\nvars(new)["pack"] = old.pack',
    "everything": "new.__dict__.update(old.__dict__)",
    "everything by vars": "vars(new).update(vars(old))",
    "fields": "for f in dataclasses.fields(old):\n        setattr(new, f.name, getattr(old, f.name))",
    "with a default": 'new.fold = getattr(old, "fold", None)\nnew.pack = getattr(old, "pack", None)',
    "helper": "copy_all(old, new)",
    "helper by keyword": "copy_all(target=new, source=old)",
    "helper of helpers": "copy_both(old, new)",
    "helper for one": "copy_one(old, new, 'fold')\ncopy_one(old, new, 'pack')",
    "helper with names": "copy_names(old, new, NAMES)",
    "nested function": "def put(name):\n    COPY\nput('fold')\nput('pack')",
    "lambda": "put = lambda name: COPY\nput('fold')\nput('pack')",
    "list of lambdas": "for name in map(str, NAMES):\n    COPY",
    "comprehension": "[COPY for name in NAMES]",
}

LACKING = {
    "attributes": "new.fold = old.fold  # OWN001: pack\nnew.rows = old.rows",
    "one line": "new.fold, new.rows = old.fold, old.rows  # OWN001: pack",
    "setattr": 'setattr(new, "fold", old.fold)  # OWN001: pack',
    "object.__setattr__": 'object.__setattr__(new, "fold", old.fold)  # OWN001: pack',
    "loop over a tuple": 'for name in ("fold", "rows"):\n    COPY  # OWN001: pack',
    "loop over a constant": "for name in FEW:\n    COPY  # OWN001: pack",
    "loop over an imported constant": "for name in more.FEW:\n    COPY  # OWN001: pack",
    "loop over a class constant": "for name in Names.FEW:\n    COPY  # OWN001: pack",
    "loop over a dict": 'for a, b in {"fold": "fold"}.items():\n    setattr(new, a, getattr(old, b))  # OWN001: pack',
    "dict update": "new.__dict__.update(fold=old.fold)  # OWN001: pack",
    "dict update by dict": 'new.__dict__.update({"fold": old.fold})  # OWN001: pack',
    "vars items": 'vars(new)["fold"] = old.fold  # OWN001: pack',
    "helper": "copy_few(old, new)  # OWN001: pack",
    "helper by keyword": "copy_few(target=new, source=old)  # OWN001: pack",
    "helper for one": "copy_one(old, new, 'fold')  # OWN001: pack",
    "helper with names": "copy_names(old, new, FEW)  # OWN001: pack",
    "nested function": "def put(name):\n    COPY\nput('fold')  # OWN001: pack",
    "comprehension": "[COPY for name in FEW]  # OWN001: pack",
    "blanked again": "new.fold = old.fold  # OWN001: pack\nnew.pack = old.pack\nnew.pack = None",
}

_HELPERS = """
import more

NAMES = ("fold", "pack")
FEW = ("fold",)

class Names:
    FEW = ("fold",)

def copy_all(source, target):
    target.fold = source.fold
    target.pack = source.pack

def copy_few(source, target):
    target.fold = source.fold

def copy_pack(source, target):
    target.pack = source.pack

def copy_both(source, target):
    copy_few(source, target)
    copy_pack(source, target)

def copy_one(source, target, name):
    setattr(target, name, getattr(source, name))

def copy_names(source, target, names):
    for name in names:
        copy_one(source, target, name)

def renew(old: Plan) -> Plan:
    new = plan_fresh(old.rows)
{statements}
    return new
"""


def with_statements(statements: str) -> str:
    statements = statements.replace("COPY", "setattr(new, name, getattr(old, name))")
    return _HELPERS.format(statements=indent(statements, "    "))


@pytest.mark.parametrize("statements", LISTS.values(), ids=LISTS)
def test_a_copy_list_with_all_carriers_is_enough(statements: str) -> None:
    check(with_statements(statements), beside={"more": "FEW = ('fold',)\n"})


@pytest.mark.parametrize("statements", LACKING.values(), ids=LACKING)
def test_a_copy_list_that_lacks_a_carrier_is_found(statements: str) -> None:
    check(with_statements(statements), beside={"more": "FEW = ('fold',)\n"})


def test_a_copy_list_on_a_target_of_the_caller_is_found() -> None:
    check_files(
        {
            "use.py": """
            from dataclasses import dataclass

            @dataclass
            class Plan:
                rows: int
                fold: object = None
                pack: object = None
                tune: object = None

            def move(old: Plan, new: Plan) -> None:
                new.fold = old.fold  # OWN001: tune
                new.pack = old.pack

            def move_all(old: Plan, new: Plan) -> None:
                new.fold = old.fold
                new.pack = old.pack
                new.tune = old.tune

            def move_one(old: Plan, new: Plan) -> None:
                new.tune = old.tune
            """
        },
        declared("use.Plan", "fold", "pack", "tune"),
    )


def test_an_empty_object_is_filled_by_hand() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            new = Plan.__new__(Plan)
            new.rows = old.rows
            new.fold = old.fold  # OWN001: pack
            return new

        def renew_by_object(old: Plan) -> Plan:
            new = object.__new__(type(old))
            new.rows = old.rows
            new.fold = old.fold  # OWN001: pack
            return new

        def renew_all(old: Plan) -> Plan:
            new = object.__new__(Plan)
            new.__dict__.update(old.__dict__)
            return new
    """)


def test_a_shallow_copy_keeps_everything() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            new = copy.copy(old)
            new.rows = 3
            return new

        def renew_without(old: Plan) -> Plan:
            new = copy.copy(old)
            new.pack = Dropped("pack", "rows changed")
            return new
    """)


def test_a_copy_that_clears_a_carrier_is_found() -> None:
    check_files(
        {
            "use.py": """
            import copy
            from dataclasses import dataclass

            @dataclass
            class Plan:
                rows: int
                fold: object = None
                pack: object = None

                def __copy__(self):
                    new = type(self)(self.rows)
                    new.fold = self.fold  # OWN001: pack
                    return new

                def to(self, rows):
                    new = Plan(rows)
                    new.fold = self.fold
                    new.pack = self.pack
                    return new
            """
        },
        declared("use.Plan", "fold", "pack"),
    )


NAMES = {
    "set": 'FEW = {"fold"}',
    "frozen set": 'FEW = frozenset({"fold"})',
    "tuple": 'FEW = ("fold",)',
    "sum of tuples": 'FEW = ("rows",) + ("fold",)',
    "fields without some": 'FEW = [f.name for f in dataclasses.fields(Plan) if f.name not in ("rows", "pack")]',
}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_names_kept_in_a_module_variable_are_read(names: str) -> None:
    check(f"""
{names}

def renew(old: Plan) -> Plan:
    return replace(plan_fresh(1), **{{name: getattr(old, name) for name in FEW}})  # OWN001: pack

def renew_sorted(old: Plan) -> Plan:
    return replace(plan_fresh(1), **{{name: getattr(old, name) for name in sorted(FEW)}})  # OWN001: pack
""")


def test_carriers_that_are_all_copied_are_all_rebuilt() -> None:
    check("""
        def renew(old: Plan) -> Plan:
            return Plan(old.rows, copy.copy(old.fold), copy.deepcopy(old.pack))  # OWN004: fold, pack

        def renew_by_dict(old: Plan) -> Plan:
            return Plan(**{**dataclasses.asdict(old), "rows": 1})  # OWN004: fold, pack

        def renew_whole(old: Plan) -> Plan:
            return copy.deepcopy(old)  # OWN004: fold, pack
    """)
