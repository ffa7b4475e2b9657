"""Laws of the checker on random projects: silence on what is right, and exactly the planted mistake elsewhere.

The projects are also run, with the real `ownership` package, so that the verdicts are those of the programs.
"""

from __future__ import annotations

import ast
import importlib
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from hypothesis import HealthCheck, given, settings

from lint_rules.engine import analyze
from lint_rules.files import SourceTree
from lint_rules.findings import Finding
from lint_rules.fixes import applicable_fix, apply_fixes
from lint_rules.rewrite import with_texts
from tests.lint_rules.projects import Mistake, Project, StepSpec, projects
from tests.lint_rules.trees import tree_of

bounded = settings(
    derandomize=True, deadline=None, max_examples=150, suppress_health_check=list(HealthCheck), print_blob=False
)


def findings_in(tree: SourceTree, project: Project) -> Sequence[Finding]:
    """What the checker reports; fails on any problem."""
    analysis = analyze(tree, project.config)
    assert analysis.problems == (), shown(tree)
    return analysis.findings


def shown(tree: SourceTree, findings: Sequence[Finding] = ()) -> str:
    files = [f"# {name}\n{file.data.decode()}" for name, file in tree.files.items()]
    return "\n".join(["", *files, *(f"{f.place}: {f.code} {f.class_name} {f.fields}: {f.message}" for f in findings)])


@contextmanager
def imported(tree: SourceTree, *names: str) -> Iterator[list[ModuleType]]:
    """These modules of the tree, really imported."""
    with tempfile.TemporaryDirectory() as folder:
        for name, file in tree.files.items():
            path = Path(folder) / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(file.data)
        before = set(sys.modules)
        sys.path.insert(0, folder)
        importlib.invalidate_caches()
        try:
            yield [importlib.import_module(name) for name in names]
        finally:
            sys.path.remove(folder)
            for name in set(sys.modules) - before:
                if name.startswith(("part", "pkg")):
                    del sys.modules[name]


def carries(project: Project, tree: SourceTree, step: StepSpec) -> set[str]:
    """The fields that a step really carries from a prepared plan, which has a value of its own in each of them."""
    with imported(tree, project.plan_module(), project.step_module()) as (plans, steps):
        spec = step.plan
        facts = [1 for kind in spec.kinds.values() if kind == "Fact"]
        prepared: Any = getattr(plans, f"plan_{spec.name.lower()}")(*facts)
        programs = {name: object() for name in spec.carriers}
        if spec.flavor == "namedtuple":
            prepared = prepared._replace(**programs)
        else:
            for name, program in programs.items():
                object.__setattr__(prepared, name, program)
        made = getattr(steps, step.name)(prepared)
        return {name for name, program in programs.items() if getattr(made, name) is program}


@bounded
@given(projects())
def test_a_right_project_works_and_is_silent(drawn: tuple[Project, Mistake]) -> None:
    project, _ = drawn
    tree = tree_of(project.files(None))
    for step in project.steps:
        assert carries(project, tree, step) == set(step.plan.carriers), shown(tree)
    found = findings_in(tree, project)
    assert not found, shown(tree, found)


def assert_names(found: Sequence[Finding], code: str, project: Project, mistake: Mistake, tree: SourceTree) -> None:
    told = [(finding.code, finding.class_name, finding.fields) for finding in found]
    assert told == [(code, project.class_name(mistake.step.plan), (mistake.field,))], shown(tree, found)


@bounded
@given(projects("dropped"))
def test_a_planted_drop_is_named_and_its_fix_is_right(drawn: tuple[Project, Mistake]) -> None:
    project, mistake = drawn
    tree = tree_of(project.files(mistake))
    found = findings_in(tree, project)
    assert_names(found, "OWN001", project, mistake, tree)
    changes = apply_fixes(tree, found, unsafe=False)
    if mistake.step.plan.gives_blank(mistake.step.how):
        assert not changes.texts, "a keyword for a field that the call gives a value already" + shown(tree, found)
    if not changes.texts:
        return
    assert applicable_fix(found[0], unsafe=False) is not None
    assert changes.fixed == tuple(found), shown(tree, found)
    mended = with_texts(tree, changes.texts)
    for text in changes.texts.values():
        ast.parse(text)
    left = findings_in(mended, project)
    assert not left, shown(mended, left)
    assert not apply_fixes(mended, left, unsafe=True).texts
    assert not apply_fixes(mended, found, unsafe=True).texts, "the same fix went in twice" + shown(mended)
    assert carries(project, mended, mistake.step) == set(mistake.step.plan.carriers), shown(mended)


@bounded
@given(projects("rebuilt"))
def test_a_planted_rebuild_is_named(drawn: tuple[Project, Mistake]) -> None:
    project, mistake = drawn
    tree = tree_of(project.files(mistake))
    found = findings_in(tree, project)
    code = "OWN004" if mistake.what == "rebuilt" else "OWN001"
    assert_names(found, code, project, mistake, tree)
