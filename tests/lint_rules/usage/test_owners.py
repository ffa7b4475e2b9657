"""What an expression's class is, and which field of a plan it reads."""

from __future__ import annotations

import ast
import textwrap

import pytest

from lint_rules.config import Config
from lint_rules.index.plans import build_plan_table
from lint_rules.usage.collect import Usage
from lint_rules.usage.views import View, dotted, text_of, text_place
from tests.lint_rules.checking import findings_in, project_of

HEAD = """\
from __future__ import annotations
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from ownership import Fact, Transferable, plan


@plan
@dataclass
class Plan:
    rows: Fact[int]
    fold: Transferable[object]
    pack: Transferable[object]

    @property
    def twin(self) -> Plan:
        return self

    def again(self) -> Plan:
        return self


@dataclass
class Other:
    rows: int
    plan: Plan
    plans: list[Plan]


def made() -> Plan: ...


"""


def views_of(body: str) -> tuple[Usage, list[View]]:
    project = project_of({"a.py": HEAD + body})
    table, problems = build_plan_table(project, Config())
    assert problems == []
    usage = Usage(project, table)
    return usage, [view for view in usage.views if view.name == "f"]


def reads(body: str) -> list[str]:
    """The fields that the arguments of `probe(...)` read, with `?` where one reads none."""
    usage, (view,) = views_of(body)
    probes = [call for call in view.of(ast.Call) if isinstance(call.func, ast.Name) and call.func.id == "probe"]
    found = [usage.owners.read(argument, view) for call in probes for argument in call.args]
    return [read.name if read is not None else "?" for read in found]


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ("def f(p: Plan):\n    probe(p.fold, p.rows, p.other, p)\n", ["fold", "rows", "?", "?"]),
        ("def f(p: 'Plan | None'):\n    probe(p.fold)\n", ["fold"]),
        ("def f(*, p: Plan = None):\n    probe(p.fold)\n", ["fold"]),
        ("def f(o: Other):\n    probe(o.plan.pack, o.rows)\n", ["pack", "?"]),
        ("def f(o: Other):\n    for p in o.plans:\n        probe(p.pack)\n", ["?"]),
        ("def f(ps: Sequence[Plan]):\n    for p in ps:\n        probe(p.pack)\n", ["pack"]),
        ("def f(ps: list[Plan]):\n    return [probe(p.pack) for p in ps]\n", ["pack"]),
        ("def f(ps: dict[str, Plan]):\n    for p in ps:\n        probe(p.pack)\n", ["?"]),
        ("def f():\n    p = made()\n    probe(p.pack)\n", ["pack"]),
        ("async def f():\n    p = await made()\n    probe(p.pack)\n", ["pack"]),
        ("def f():\n    p = Plan(1, 2, 3)\n    probe(p.pack, Plan(1, 2, 3).fold)\n", ["pack", "fold"]),
        ("def f(q: Plan):\n    p = replace(q, rows=8)\n    probe(p.pack)\n", ["pack"]),
        ("def f(x):\n    p = cast(Plan, x)\n    probe(p.pack)\n", ["pack"]),
        ("def f(q: Plan):\n    probe(q.twin.pack, q.again().pack)\n", ["pack", "pack"]),
        ("def f(x):\n    p: Plan = x\n    probe(p.pack)\n", ["pack"]),
        ("def f(p: Plan):\n    k = p.pack\n    probe(k)\n    k = 1\n    probe(k)\n", ["pack", "?"]),
        ("def f(p: Plan):\n    a, b = p.pack, p.fold\n    probe(a, b)\n", ["pack", "fold"]),
        ("def f(p: Plan):\n    probe(getattr(p, 'pack', None), getattr(p, 'x'))\n", ["pack", "?"]),
        ("def f(p: Plan):\n    if (k := p.pack) is not None:\n        probe(k)\n", ["pack"]),
        ("def f(p: Plan, q):\n    p = q if q else p\n    probe(p.fold)\n", ["?"]),
        ("def f(p: Plan | None):\n    p = made() if p is None else p\n    probe(p.fold)\n", ["fold"]),
        ("def f(p: Plan):\n    p = replace(p, rows=8)\n    probe(p.fold)\n", ["fold"]),
        ("def f():\n    p = made()\n    p = p.again()\n    probe(p.fold)\n", ["fold"]),
        ("def f(p, q):\n    probe(p.fold, p.pack, q.fold)\n", ["fold", "pack", "?"]),
        ("def f(p: Plan):\n    def inner(p: int):\n        probe(p.fold)\n    return inner\n", ["?"]),
        ("def f(Plan):\n    p = Plan(1, 2, 3)\n    probe(p.pack, p.fold)\n", ["?", "?"]),
        ("def f(p: Plan, xs):\n    with xs as p:\n        probe(p.fold)\n", ["?"]),
        ("def f(x: Plan):\n    x = x.again(x)\n    x = x.twin or x\n    probe(x.fold)\n", ["?"]),
    ],
)  # fmt: skip
def test_a_field_is_read_where_the_class_is_known_on_all_paths(body: str, fields: list[str]) -> None:
    assert reads(body) == fields


def test_a_variable_that_is_made_from_itself_ends_the_search() -> None:
    loop = "def f(p: Plan, x):\n    x = x.get(x).next(x)\n    y = x[y].step(y)\n    probe(p.pack, x.pack, y.fold)\n"
    assert reads(loop) == ["pack", "?", "?"]


def test_a_chain_that_is_deeply_nested_is_left_alone() -> None:
    chain = "p" + ".again()" * 900
    assert reads(f"def f(p: Plan):\n    probe({chain}.pack)\n    probe(p.fold)\n") == ["?", "fold"]
    assert findings_in(HEAD + f"def f(p: Plan):\n    return {chain}.pack or compile_pack({chain})\n") == ()


def test_a_module_that_names_no_plan_is_looked_at_where_two_carriers_are_read() -> None:
    files = {"a.py": HEAD, "b.py": "def f(p):\n    p.fold, p.pack\n\n\ndef g(p):\n    p.fold\n"}
    project = project_of(files)
    table, _ = build_plan_table(project, Config())
    assert [view.name for view in Usage(project, table).views if view.module.path == "b.py"] == ["f"]


def test_text_is_found_by_characters_and_only_where_it_is_the_nodes_own() -> None:
    _, (view,) = views_of("def f(p: Plan):\n    é = 'ß', (p.\n        fold)\n")
    (node,) = [node for node in view.of(ast.Attribute) if node.attr == "fold"]
    assert text_of(view.module, node) == "p.\n        fold"
    assert text_place(view.module, node).column == len("    é = 'ß', (") + 1
    other = ast.parse(textwrap.dedent("x.fold"), mode="eval").body
    assert text_of(view.module, other) == ""


def test_a_dotted_name_is_one_of_names_and_attributes_only() -> None:
    names = [dotted(ast.parse(text, mode="eval").body) for text in ("a", "a.b.c", "a().b", "a[0].b")]
    assert names == ["a", "a.b.c", "", ""]
