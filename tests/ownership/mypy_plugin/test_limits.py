"""What the plugin does with too much code, and with a mistake of its own: it says so, and mypy goes on."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ownership.mypy_plugin import _budget, _function, _plugin
from ownership.mypy_plugin._budget import Budget, Occasions, OverBudgetError
from tests.ownership.mypy_plugin.checking import check, configured
from tests.ownership.mypy_plugin.shapes import PLANS

HEAD = """\
from __future__ import annotations
from dataclasses import replace
from typing import Any
from shapes_plans import Engine, Kernel, Scratch, compiled, plan_scratch

def f(old: Scratch, rows: int, thing: Any) -> Any:
"""
#: With the plan class, so that what is said of it is said here.
IN_ONE_MODULE = f"{PLANS}\n\nfrom dataclasses import replace\nfrom typing import Any\n\n{HEAD.splitlines()[-1]}\n"
BAD = "    return replace(plan_scratch(rows), fold=old.fold)\n"


_numbers = itertools.count()


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One cache for the types of the standard library."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MYPY_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def lines_of(program: str, folder: Path) -> list[str]:
    """What mypy says of a program, file name cut off."""
    # Another size each time: what is in the cache was said by a plugin with other parts replaced.
    other = "#" * next(_numbers) + "\n"
    (folder / "shapes_plans.py").write_text(PLANS + other, encoding="utf-8")
    (folder / "program.py").write_text(program + other, encoding="utf-8")
    config = configured(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        found = (line.partition(":") for line in check(config, "program.py"))
        return [rest for path, _, rest in found if path == "program.py" or "[ownership-unchecked]" not in rest]


def last_line(program: str) -> int:
    return program.count("\n")


class Looks:
    """Counts the looks at functions, and their steps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.budgets: list[Budget] = []
        looks = self

        class Counted(Budget):
            def __init__(self) -> None:
                super().__init__()
                looks.budgets.append(self)

        monkeypatch.setattr(_plugin, "Budget", Counted)

    @property
    def steps(self) -> int:
        return sum(budget.spent for budget in self.budgets)


@pytest.mark.parametrize("problem", [ValueError("odd\nnode"), RecursionError("too deep"), AssertionError()], ids=repr)
def test_a_mistake_of_the_plugin_is_one_message_at_the_function_and_mypy_goes_on(
    problem: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any) -> None:
        raise problem

    monkeypatch.setattr(_function, "analyze", fail)
    program = f"{HEAD}    plan_scratch(3)\n{BAD}\nx: int = ''\n"
    messages = lines_of(program, tmp_path)
    assert len(messages) == 2
    assert messages[0].startswith('6: error: carryall could not look at "f", so nothing is known of its plans (')
    assert type(problem).__name__ in messages[0]
    assert "please report it" in messages[0]
    assert messages[0].endswith("  [ownership-unchecked]")
    assert messages[1].startswith("10: error: Incompatible types")


@pytest.mark.parametrize("name", ["check_plan_class", "scopes", "depend_on", "record_written_kinds"])
def test_no_part_of_the_plugin_ends_mypy(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> None:
        raise KeyError(name)

    monkeypatch.setattr(_function if name == "scopes" else _plugin, name, fail)
    messages = lines_of(f"{IN_ONE_MODULE}{BAD}", tmp_path)
    told = [line for line in messages if line.endswith("[ownership-unchecked]")]
    assert told
    assert any(f"(KeyError: '{name}')" in line for line in told), told
    assert [line for line in messages if line not in told and "[ownership-" not in line] == []


def test_a_class_that_cannot_be_read_is_looked_at_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> None:
        raise KeyError("marks")

    monkeypatch.setattr("ownership.mypy_plugin._plans.Plans._may_be", fail)
    messages = lines_of(f"{HEAD}{BAD}", tmp_path)
    assert any("(KeyError: 'marks')" in line for line in messages)
    assert all(line.endswith("[ownership-unchecked]") for line in messages)


def test_a_function_that_is_too_large_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_budget, "_MOST_STEPS", 100)
    many = "".join(f"    x{i} = thing.call({i}, rows)\n" for i in range(100))
    messages = lines_of(f"{HEAD}{many}{BAD}", tmp_path)
    assert len(messages) == 1
    assert messages[0].startswith('6: error: carryall gave up on "f", so nothing is known of its plans: it takes more')
    head = HEAD.removesuffix("\n") + "  # type: ignore[ownership-unchecked]\n"
    assert lines_of(f"{head}{many}{BAD}", tmp_path) == []


#: Name and body of functions with very much of something, and how many steps all looks at them may take.
LARGE = {
    "300 plans in a row": ("".join(f"    p{i} = Scratch({i}, old.fold, old.pack)\n" for i in range(300)), 80_000),
    "300 plans in one table": (
        "    t = {" + "".join(f"{i}: Scratch({i}, old.fold, old.pack), " for i in range(300)) + "}\n",
        80_000,
    ),
    "300 exits": (
        "".join(f"    if rows == {i}:\n        return Scratch({i}, old.fold, old.pack)\n" for i in range(300)),
        700_000,
    ),
    "200 loops": (
        "".join(f"    for i{i} in range(3):\n        p{i} = Scratch({i}, old.fold, old.pack)\n" for i in range(200)),
        1_400_000,
    ),
    "18 loops in each other": (
        "".join(f"{'    ' * (i + 1)}for i{i} in range(rows):\n" for i in range(18))
        + f"{'    ' * 19}p = Scratch(1, old.fold, old.pack)\n",
        15_000,
    ),
    "loops over names in each other": (
        "    made = plan_scratch(rows)\n"
        + "".join(f"{'    ' * (i + 1)}for n{i} in ('fold', 'pack', 'rows', 'fold', 'pack'):\n" for i in range(8))
        + f"{'    ' * 9}object.__setattr__(made, n0, getattr(old, n0))\n",
        100_000,
    ),
    "5,000 statements": ("".join(f"    x{i} = thing.g({i}, rows + {i})\n" for i in range(5000)), 200_000),
    "2,000 branches": (
        "    if rows < 0:\n        pass\n" + "".join(f"    elif rows == {i}:\n        x = {i}\n" for i in range(2000)),
        200_000,
    ),
    "a chain of calls": (f"    x = thing{'.g(1)' * 200}\n", 5_000),
    "a long sum": (f"    x = {' + '.join(['rows'] * 3000)}\n", 20_000),
    "a table of literals": ("    t = {" + "".join(f"{i}: {i}, " for i in range(50_000)) + "}\n", 1_000),
}


@pytest.mark.parametrize(("body", "most"), LARGE.values(), ids=LARGE)
def test_very_large_functions_cost_a_bounded_number_of_steps(
    body: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = Looks(monkeypatch)
    program = f"{HEAD}{body}{BAD}"
    assert [line.partition(": ")[0] for line in lines_of(program, tmp_path)] == [str(last_line(program))]
    assert 0 < looks.steps < most


class Place:
    """What mypy hands over as the context of a call."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.column = 0


def test_a_budget_ends() -> None:
    budget = Budget(limit=3)
    budget.spend(3)
    with pytest.raises(OverBudgetError, match="more than 3 steps"):
        budget.spend()


def test_a_failure_holds_until_mypy_begins_again() -> None:
    occasions = Occasions(Place(1))  # type: ignore[arg-type]
    needed = Counter[bool]()
    assert occasions.is_needed(Place(2))  # type: ignore[arg-type]
    occasions.failure = "it failed"
    for line in range(3, 9):
        needed[occasions.is_needed(Place(line))] += 1  # type: ignore[arg-type]
    assert needed == {False: 6}
    assert occasions.is_needed(Place(2))  # type: ignore[arg-type]
    assert occasions.failure is None


def test_calls_that_mypy_itself_refuses_are_no_trouble(tmp_path: Path) -> None:
    calls = (
        "isinstance(old.fold)",
        "setattr(old)",
        "getattr(old)",
        "replace()",
        "dict(1, 2)",
        "vars(1, 2)",
        "Scratch(*old, **thing)",
        "Scratch()",
        "Scratch.__new__()",
        "Scratch.__init__()",
        "object.__setattr__(old)",
        "old._replace()",
        "old.__dict__[rows].x(1)",
        "Engine(Engine)(old)",
    )
    body = "".join(f"    if {call}:\n        pass\n" for call in calls)
    messages = lines_of(f"{HEAD}{body}{BAD}", tmp_path)
    own = [line for line in messages if "[ownership-" in line]
    assert [line.partition(": ")[0] for line in own] == [str(last_line(f"{HEAD}{body}{BAD}"))]
