"""Merges, attributes beside the fields, and siblings: one shape each, with what is near it and silent."""

from __future__ import annotations

import pytest

from lint_rules.config import PlanDeclaration
from tests.lint_rules.audit.suggesting import suggested, suggestions

WORK = """\
from __future__ import annotations

from dataclasses import dataclass, field, replace


@dataclass
class Work:
    tickets: list[str]
    pages: list[int]
    cached: bool = True
    masked: bool = False

    def absorb(self, other: Work) -> None:
        self.tickets.extend(other.tickets)
        self.pages += other.pages
        self.cached = self.cached and other.cached
"""


def test_a_merge_that_misses_one_attribute_is_suggested_at_its_first_line() -> None:
    (found,) = suggestions(WORK)
    assert (found.finding.fields, str(found.finding.place), found.confidence) == (("masked",), "a.py:14", "medium")
    assert found.reason == "`tickets`, `pages` and `cached` are merged from `other`, which is a Work as well"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("and other.cached\n", "and other.cached\n        self.masked |= other.masked\n"),
        ("and other.cached\n", "and other.cached\n        if other.masked:\n            raise ValueError\n"),
        ("and other.cached\n", "and other.cached\n        super().absorb(other)\n"),
        ("        self.pages += other.pages\n", ""),
        ("other: Work", "other: object"),
        ("self.pages += other.pages", "self.pages += other.tickets"),
    ],
)
def test_a_full_merge_a_guarded_one_and_a_partial_reader_are_silent(old: str, new: str) -> None:
    assert suggested(WORK.replace(old, new)) == []


JOB = """\
from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass
class Job:
    prompt: str
    limit: int = 8

    @classmethod
    def of(cls, prompt: str, **options: int) -> Job:
        job = cls(prompt, **options)
        job.chosen = frozenset(options)
        return job


def again(job: Job, prompt: str) -> Job:
    return replace(job, prompt=prompt)
"""


def test_an_attribute_beside_the_fields_is_lost_where_the_object_is_replaced() -> None:
    (found,) = suggestions(JOB)
    assert (found.finding.class_name, found.finding.fields, found.finding.place.line) == ("a.Job", ("chosen",), 19)
    assert found.finding.message == (
        "`chosen` is set on Job (a.py:14) but is no field, so this `replace(...)` makes an object without it."
        " Declare it as a field."
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    limit: int = 8\n", "    limit: int = 8\n    chosen: frozenset[str] = frozenset()\n"),
        ("job.chosen =", "job.limit ="),
        ("return replace(job, prompt=prompt)", "return job"),
        ("from dataclasses import dataclass, replace", "from dataclasses import dataclass\nfrom texts import replace"),
        ("def again(job: Job", "def again(job: str"),
    ],
)
def test_a_field_an_object_that_is_not_replaced_and_another_replace_are_silent(old: str, new: str) -> None:
    assert suggested(JOB.replace(old, new)) == []


GEMM = """\
from dataclasses import dataclass


@dataclass
class Plan:
    rows: int
    columns: int
    scale: float


@dataclass
class Binding:
    rows: int
    columns: int
    memory: object
    scale: float = 1.0


def bind_arena(plan: Plan, arena: object) -> Binding:
    return Binding(plan.rows, plan.columns, arena, scale=plan.scale)


def _bind_workspace(plan: Plan, workspace: object) -> Binding:
    return Binding(plan.rows, plan.columns, workspace)
"""


def test_a_sibling_that_leaves_out_what_it_could_take_is_suggested() -> None:
    (found,) = suggestions(GEMM)
    assert (found.finding.class_name, found.finding.fields, found.finding.place.line) == ("a.Binding", ("scale",), 24)
    assert found.reason == "`bind_arena` and `_bind_workspace` both take `rows` and `columns` from `plan`"
    assert found.finding.fixes[0].edits[0].expression == "plan.scale"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("_bind_workspace", "empty_workspace"),
        ("def _bind_workspace(plan: Plan", "def _bind_workspace(plan: object"),
        ("workspace)\n", "workspace, plan.scale)\n"),
        ("Binding(plan.rows, plan.columns, workspace)", "Binding(1, 1, workspace)"),
        (
            "    return Binding(plan.rows, plan.columns, w",
            "    assert plan.scale == 1\n    return Binding(plan.rows, plan.columns, w",
        ),
        ("scale=plan.scale)", "scale=2.0)"),
    ],
)
def test_others_than_siblings_and_those_with_a_reason_are_silent(old: str, new: str) -> None:
    assert suggested(GEMM.replace(old, new)) == []


def test_a_declared_class_is_left_to_the_check() -> None:
    assert suggested(GEMM, PlanDeclaration("a.Binding", ("memory",))) == []
