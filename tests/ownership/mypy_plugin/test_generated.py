"""Laws of the plugin on modules that are made up: silence on what is right, and exactly the planted mistake elsewhere.

All modules are checked in one run of mypy, so that hundreds of them cost no more than the standard library's types.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.lint_rules.projects import Mistake, Project, projects
from tests.lint_rules.projects import What as Kind
from tests.ownership.mypy_plugin.checking import check, configured, found
from tests.ownership.mypy_plugin.shapes import PLANS, Program, programs

#: Code and field of each message.
Told = set[tuple[str, str]]

#: Of an object without a type, one attribute that is put into a new plan makes no source yet: there must be two, or a
#: `replace`. With two carriers, one of them lost, only one is left.
OUT_OF_REACH = {
    ("assignments", "without annotations"),
    ("a loop", "without annotations"),
    ("copied and changed", "without annotations"),
}
CODES = {"dropped": {"drop", "return"}, "rebuilt": {"identity"}}


def told(folder: Path, arguments: Sequence[str]) -> dict[str, Told]:
    """The messages by the first part of the path: the name of a package or module."""
    config = configured(folder, f"cache_dir = {folder / 'cache'}", "python_version = 3.13")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        messages = found(check(config, *arguments))
    by_name: dict[str, Told] = defaultdict(set)
    for path, _, code, field in messages:
        by_name[path.partition("/")[0].removesuffix(".py")].add((code, field))
    return by_name


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Told]:
    folder = tmp_path_factory.mktemp("shapes")
    (folder / "shapes_plans.py").write_text(PLANS, encoding="utf-8")
    for program in programs():
        (folder / f"{program.name}.py").write_text(program.text, encoding="utf-8")
    return told(folder, ["."])


def faulty(fault: str) -> list[Program]:
    return [program for program in programs() if program.fault == fault]


def test_a_right_copy_is_silent_however_and_wherever_it_is_written(shapes: dict[str, Told]) -> None:
    wrong = [(each.spelling, each.place, shapes[each.name]) for each in faulty("none") if shapes[each.name]]
    assert wrong == []


@pytest.mark.parametrize("fault", ["dropped", "rebuilt"])
def test_a_carrier_that_is_lost_or_made_again_is_named(fault: str, shapes: dict[str, Told]) -> None:
    wrong = []
    for each in faulty(fault):
        codes, fields = {code for code, _ in shapes[each.name]}, {field for _, field in shapes[each.name]}
        if fields != {"pack"} or not codes <= CODES[fault]:
            wrong.append((each.spelling, each.place, shapes[each.name]))
    silent = {(spelling, place) for spelling, place, messages in wrong if not messages}
    assert [each for each in wrong if each[2]] == []
    assert silent == (OUT_OF_REACH if fault == "dropped" else set())


def drawn(count: int, what: Kind) -> list[tuple[Project, Mistake]]:
    """Random projects of the linter's own tests, always the same ones."""
    found: list[tuple[Project, Mistake]] = []

    @settings(
        derandomize=True,
        deadline=None,
        database=None,
        max_examples=count,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(projects(what))
    def collect(each: tuple[Project, Mistake]) -> None:
        found.append(each)

    collect()
    return found


def written(folder: Path, projects: Iterable[tuple[Project, Mistake | None]]) -> None:
    """Write the projects, each a package of its own, and one configuration for all of them."""
    tables = ["[tool.carryall]"]
    for project, mistake in projects:
        for name, text in project.files(mistake).items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(str(text), encoding="utf-8")
        for plan in project.config.plans:
            names = ", ".join(f'"{name}"' for name in plan.transferable)
            tables += ["[[tool.carryall.plan]]", f'class = "{plan.class_name}"', f"transferable = [{names}]"]
    (folder / "pyproject.toml").write_text("\n".join(tables) + "\n", encoding="utf-8")


def is_out_of_reach(mistake: Mistake, project: Project) -> bool:
    """A helper of another module that says `Absent`: on purpose, where it is judged by itself.

    Only the module that is being checked has bodies to follow: the others may have come from mypy's cache.
    """
    step = mistake.step
    explicit = step.how in {"keywords", "positions", "dict of all", "partial", "transfer"} and step.plan.marked
    return explicit and mistake.what == "dropped" and step.calls > 0 and project.homes[2] != project.homes[3]


@pytest.mark.parametrize("what", ["dropped", "rebuilt"])
def test_random_projects_are_judged_as_they_were_made(what: Kind, tmp_path: Path) -> None:
    cases = [
        (
            dataclasses.replace(project, package=f"right{number}"),
            dataclasses.replace(project, package=f"wrong{number}"),
            mistake,
        )
        for number, (project, mistake) in enumerate(drawn(120, what))
    ]
    written(tmp_path, [pair for right, wrong, mistake in cases for pair in ((right, None), (wrong, mistake))])
    messages = told(tmp_path, ["."])
    for number, (right, wrong, mistake) in enumerate(cases):
        assert messages[right.package] == set(), right.files(None)
        got = messages[wrong.package]
        if is_out_of_reach(mistake, wrong) and not got:
            continue
        assert {field for _, field in got} == {mistake.field}, (number, wrong.files(mistake))
        assert {code for code, _ in got} <= CODES[mistake.what], (number, got, wrong.files(mistake))
