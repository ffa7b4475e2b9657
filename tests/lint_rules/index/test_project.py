"""Names lead through imports, packages and re-exports to where things are defined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lint_rules.index.model import ClassInfo, External, FunctionInfo, ModuleInfo
from tests.lint_rules.checking import project_of

if TYPE_CHECKING:
    from lint_rules.index.model import Symbol

KIT = {
    "kit/__init__.py": "from .records import Stage as Step\nfrom .deep import *\nfrom . import records\n",
    "kit/records.py": "class Stage: ...\n\n\ndef make() -> Stage: ...\n",
    "kit/deep/__init__.py": "from ..records import make\n",
    "use.py": (
        "import kit\nimport kit.records as r\nfrom kit import Step\nfrom elsewhere.far import thing\n"
        "from dataclasses import replace as again\n"
    ),
}


def resolved(files: dict[str, str], module: str, name: str) -> Symbol | None:
    """What a name in a module leads to."""
    project = project_of(files)
    found = project.module(module) or project.module_at(module)
    assert found is not None
    return project.resolve(found, name)


def test_an_alias_leads_through_a_re_export_to_the_class() -> None:
    found = resolved(KIT, "use", "Step")
    assert isinstance(found, ClassInfo)
    assert found.full_name == "kit.records.Stage"


def test_a_star_import_and_a_relative_one_lead_to_the_function() -> None:
    found = resolved(KIT, "kit", "make")
    assert isinstance(found, FunctionInfo)
    assert found.full_name == "kit.records.make"


def test_a_module_under_an_alias_is_a_module() -> None:
    found = resolved(KIT, "use", "r")
    assert isinstance(found, ModuleInfo)
    assert found.name == "kit.records"


def test_what_is_outside_keeps_its_full_name() -> None:
    assert resolved(KIT, "use", "thing") == External("elsewhere.far.thing")
    assert resolved(KIT, "use", "again") == External("dataclasses.replace")


def test_ownership_is_a_vocabulary_and_never_followed_into_its_source() -> None:
    files = {"ownership/__init__.py": "def plan(cls): return cls\n", "a.py": "from ownership import plan\n"}
    assert resolved(files, "a", "plan") == External("ownership.plan")


def test_circular_imports_end() -> None:
    assert resolved({"a.py": "from b import x\n", "b.py": "from a import x\n"}, "a", "x") is None


def test_of_two_modules_with_one_name_the_nearer_one_is_meant() -> None:
    files = {
        "one/records.py": "class Stage: ...\n",
        "one/use.py": "from records import Stage\n",
        "two/records.py": "class Stage: ...\n",
        "two/use.py": "from records import Stage\n",
    }
    for folder in ("one", "two"):
        found = resolved(files, f"{folder}/use.py", "Stage")
        assert isinstance(found, ClassInfo)
        assert found.module.path == f"{folder}/records.py"


def test_fields_of_a_base_come_first_and_keep_their_owner() -> None:
    project = project_of({
        "base.py": "from dataclasses import dataclass\n@dataclass\nclass Base:\n    a: int\n    b: int\n",
        "sub.py": (
            "from dataclasses import dataclass\nfrom base import Base\n"
            "@dataclass\nclass Sub(Base):\n    c: int\n    a: str\n"
        ),
    })  # fmt: skip
    module = project.module("sub")
    assert module is not None
    sub = module.class_named("Sub")
    assert sub is not None
    assert list(project.fields(sub)) == ["a", "b", "c"]
    owner = project.field_owner(sub, "b")
    assert owner is not None
    assert owner.full_name == "base.Base"


def test_the_first_branch_of_a_guarded_import_stands() -> None:
    text = "try:\n    from dataclasses import replace\nexcept ImportError:\n    from mine import replace\n"
    assert resolved({"a.py": text}, "a", "replace") == External("dataclasses.replace")


def test_a_module_inside_a_package_root_is_named_with_the_package() -> None:
    project = project_of({"__init__.py": "", "records.py": "class Stage: ...\n"})
    assert project.module_name("records.py") == "project.records"
