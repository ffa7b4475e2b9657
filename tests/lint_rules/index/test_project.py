"""Names lead through imports, packages and re-exports to where things are defined."""

from __future__ import annotations

from lint_rules.index.model import ClassInfo, External, FunctionInfo, ModuleInfo
from tests.lint_rules.checking import project_of

KIT = {
    "kit/__init__.py": "from .records import Stage as Step\nfrom .deep import *\nfrom . import records\n",
    "kit/records.py": "class Stage: ...\n\n\ndef make() -> Stage: ...\n",
    "kit/deep/__init__.py": "from ..records import make\n",
    "use.py": (
        "import kit\nimport kit.records as r\nfrom kit import Step\nfrom elsewhere.far import thing\n"
        "from dataclasses import replace as again\n"
    ),
}


def test_an_alias_leads_through_a_re_export_to_the_class() -> None:
    project = project_of(KIT)
    use = project.module("use")
    assert use is not None
    found = project.resolve(use, "Step")
    assert isinstance(found, ClassInfo)
    assert found.full_name == "kit.records.Stage"


def test_a_star_import_and_a_relative_one_lead_to_the_function() -> None:
    project = project_of(KIT)
    kit = project.module("kit")
    assert kit is not None
    found = project.resolve(kit, "make")
    assert isinstance(found, FunctionInfo)
    assert found.full_name == "kit.records.make"


def test_a_module_under_an_alias_is_a_module() -> None:
    project = project_of(KIT)
    use = project.module("use")
    assert use is not None
    found = project.resolve(use, "r")
    assert isinstance(found, ModuleInfo)
    assert found.name == "kit.records"


def test_what_is_outside_keeps_its_full_name() -> None:
    project = project_of(KIT)
    use = project.module("use")
    assert use is not None
    assert project.resolve(use, "thing") == External("elsewhere.far.thing")
    assert project.resolve(use, "again") == External("dataclasses.replace")


def test_ownership_is_a_vocabulary_and_never_followed_into_its_source() -> None:
    project = project_of(
        {"ownership/__init__.py": "def plan(cls): return cls\n", "a.py": "from ownership import plan\n"}
    )
    module = project.module("a")
    assert module is not None
    assert project.resolve(module, "plan") == External("ownership.plan")


def test_circular_imports_end() -> None:
    project = project_of({"a.py": "from b import x\n", "b.py": "from a import x\n"})
    module = project.module("a")
    assert module is not None
    assert project.resolve(module, "x") is None


def test_of_two_modules_with_one_name_the_nearer_one_is_meant() -> None:
    project = project_of({
        "one/records.py": "class Stage: ...\n",
        "one/use.py": "from records import Stage\n",
        "two/records.py": "class Stage: ...\n",
        "two/use.py": "from records import Stage\n",
    })  # fmt: skip
    for folder in ("one", "two"):
        module = project.module_at(f"{folder}/use.py")
        assert module is not None
        found = project.resolve(module, "Stage")
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
    project = project_of({
        "a.py": "try:\n    from dataclasses import replace\nexcept ImportError:\n    from mine import replace\n",
    })  # fmt: skip
    module = project.module("a")
    assert module is not None
    assert project.resolve(module, "replace") == External("dataclasses.replace")


def test_a_module_inside_a_package_root_is_named_with_the_package() -> None:
    project = project_of({"__init__.py": "", "records.py": "class Stage: ...\n"})
    assert project.module_name("records.py") == "project.records"
