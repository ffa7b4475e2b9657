"""Which classes are plans, and what kind each of their fields has."""

from __future__ import annotations

import pytest

from tests.lint_rules.checking import declare, table_of

MARKED = """\
    from dataclasses import KW_ONLY, InitVar, dataclass, field
    from typing import Annotated, ClassVar, Final

    import ownership as own
    from ownership import Fact, Kind, plan
    from ownership import Transferable as Carried

    Launch = Carried[object]
    Renamed = Carried


    @plan
    @dataclass
    class Stage:
        LIMIT: ClassVar[int] = 3
        rows: Fact[int]
        quoted: "own.Transferable[object]"
        inline: Annotated[object, Kind.EPHEMERAL]
        final: Final[own.Borrowed[bytes]]
        renamed: Renamed[object]
        hidden: Launch
        bare: int
        _: KW_ONLY
        verbose: InitVar[bool] = False
"""


def kinds(files: dict[str, str], name: str) -> dict[str, str | None]:
    table, problems = table_of(files)
    assert problems == []
    (plan,) = [plan for cls, plan in table.direct.items() if cls.qualname == name]
    return {field.name: field.kind for field in plan.fields.values()}


def test_kinds_are_read_through_quotes_aliases_and_wrappers() -> None:
    assert kinds({"a.py": MARKED}, "Stage") == {
        "rows": "Fact",
        "quoted": "Transferable",
        "inline": "Ephemeral",
        "final": "Borrowed",
        "renamed": "Transferable",
        "hidden": "Transferable",
        "bare": None,
    }


def test_a_non_generic_alias_is_remembered() -> None:
    table, _ = table_of({"a.py": MARKED})
    (plan,) = table.direct.values()
    assert plan.fields["hidden"].alias == "Launch"
    assert plan.fields["renamed"].alias == ""


def test_a_type_statement_is_an_alias_like_any_other() -> None:
    table, problems = table_of({
        "a.py": "from dataclasses import dataclass\nfrom ownership import Transferable, plan\n\n"
        "type Launch = Transferable[object]\n\n\n@plan\n@dataclass\nclass Stage[T]:\n    fold: Launch\n",
    })  # fmt: skip
    assert problems == []
    (plan,) = table.direct.values()
    assert (plan.fields["fold"].kind, plan.fields["fold"].alias) == ("Transferable", "Launch")


def test_marks_that_a_module_of_the_project_passes_on_under_other_names_are_found() -> None:
    files = {
        "marks.py": "from ownership import Fact as Known\nfrom ownership import Transferable as Kept\n"
        "from ownership import plan as record\n",
        "a.py": "import attrs\nfrom marks import Kept, Known, record\n\n\n"
        "@record\n@attrs.frozen\nclass Stage:\n    rows: Known[int]\n    fold: Kept[object]\n",
    }
    assert kinds(files, "Stage") == {"rows": "Fact", "fold": "Transferable"}


def test_a_subclass_of_a_plan_is_one() -> None:
    files = {"a.py": MARKED + "\n\n    class Longer(Stage):\n        more: own.Transferable[object]\n"}
    table, _ = table_of(files)
    module = table.project.module("a")
    assert module is not None
    plan = table.of(module.class_named("Longer"))
    assert plan is not None
    assert plan.origin == "inherited"
    assert plan.transferable == ("quoted", "renamed", "hidden", "more")


def test_the_word_in_a_comment_marks_nothing() -> None:
    table, _ = table_of({"a.py": "# about ownership and Transferable things\nclass Stage:\n    rows: int\n"})
    assert len(table) == 0


DECLARED = {
    "kit/__init__.py": "from .plans import Stage\n",
    "kit/plans.py": "class Stage:\n    def __init__(self, fold=None):\n        self.fold = fold\n\n"
    "    def prepare(self):\n        self.late = 1\n",
    "other/plans.py": "class Stage:\n    fold: int\n",
}


@pytest.mark.parametrize("name", ["kit.plans.Stage", "kit.Stage", "kit/plans.py::Stage"])
def test_a_class_is_declared_by_its_own_name_by_a_re_export_or_by_its_file(name: str) -> None:
    table, problems = table_of(DECLARED, declare(name, "fold"))
    assert problems == []
    assert [cls.full_name for cls in table.direct] == ["kit.plans.Stage"]


def test_an_attribute_that_a_method_sets_can_be_declared() -> None:
    table, problems = table_of(DECLARED, declare("kit.plans.Stage", "late"))
    assert problems == []
    (plan,) = table.direct.values()
    assert plan.transferable == ("late",)


@pytest.mark.parametrize(
    ("name", "field", "said"),
    [
        ("kit.plans.Stagee", "fold", "module kit.plans has no such class; did you mean Stage?"),
        ("kit.gone.Stage", "fold", "module kit has no such class"),
        ("nowhere.Stage", "fold", "no module 'nowhere' among the 3 files that were read"),
        ("kit/gone.py::Stage", "fold", "no file kit/gone.py was read"),
        ("kit/plans.py::Gone", "fold", "kit/plans.py has no class Gone"),
        ("kit.plans.Stage", "fodl", "declared field 'fodl' of kit.plans.Stage does not exist; did you mean 'fold'?"),
        ("plans.Stage", "fold", "is ambiguous; declare one of kit/plans.py::Stage, other/plans.py::Stage"),
    ],
)
def test_a_declaration_that_leads_nowhere_is_a_problem_that_says_so(name: str, field: str, said: str) -> None:
    files = DECLARED if name != "plans.Stage" else {k: v for k, v in DECLARED.items() if "__init__" not in k}
    _, (problem,) = table_of(files, declare(name, field))
    assert said in problem.message
    assert str(problem.place) == "pyproject.toml:1"
