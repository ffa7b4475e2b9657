"""OWN010: where an option may be read, and what counts as reading one."""

from __future__ import annotations

import pytest

from lint_rules.config import Config, PlanDeclaration
from lint_rules.engine import analyze
from tests.lint_rules.checking import analysis_of, declare, findings_in
from tests.lint_rules.trees import tree_of

HEAD = """\
import os
from dataclasses import dataclass
from functools import cache
from os import environ, getenv

from ownership import Fact, Transferable, materializer, plan

ORDER = "ORDER"


class Kernel: ...


@dataclass
class Options:
    order: bool = False
    label: str = ""


options = Options()
_order: bool = False


def set_order(value: bool) -> None:
    global _order
    _order = value
    options.order = value


def flag(name: str) -> bool:
    return os.getenv(name) == "1"


def ordered() -> bool:
    return flag("ORDER")


@cache
def once() -> bool:
    return flag("ORDER")


@plan
@dataclass(frozen=True)
class ScanPlan:
    rows: Fact[int]
    scan: Transferable[Kernel]
    order: Fact[bool] = False

    def __post_init__(self) -> None:
        assert not os.environ.get("ORDER_FIRST")

    @classmethod
    def declared(cls, rows: int, scan: Kernel) -> "ScanPlan":
        return cls(rows, scan, ordered())


"""


def late(body: str) -> list[tuple[str, int]]:
    found = [each for each in findings_in(HEAD + body) if each.code == "OWN010"]
    return [(*each.fields, each.place.line - HEAD.count("\n")) for each in found]  # type: ignore[misc]


def test_the_message_says_what_is_read_through_which_helper_and_what_to_do() -> None:
    (finding,) = findings_in(HEAD + "def run(ready: ScanPlan) -> bool:\n    return ordered()\n")
    assert finding.message == (
        "`run` reads the environment variable `ORDER`, through `ordered` and `flag` (a.py:31), after the ScanPlan was"
        " declared: a change of it changes what a prepared plan does. Read it once, at declaration, store it as a fact,"
        " and ask the plan here."
    )
    assert (finding.class_name, finding.place.line) == ("a.ScanPlan", HEAD.count("\n") + 2)


@pytest.mark.parametrize(
    ("read", "name"),
    [
        ("os.environ['ORDER']", "ORDER"),
        ("os.environ.get('ORDER', '0')", "ORDER"),
        ("environ.get(ORDER)", "ORDER"),
        ("getenv('ORDER')", "ORDER"),
        ("'ORDER' in os.environ", "ORDER"),
        ("flag('ORDER')", "ORDER"),
        ("flag(name=ORDER)", "ORDER"),
        ("options.order", "order"),
        ("_order", "_order"),
    ],
)
def test_each_way_of_reading_an_option_is_seen(read: str, name: str) -> None:
    assert late(f"def run(ready: ScanPlan) -> object:\n    return {read}\n") == [(name, 2)]


@pytest.mark.parametrize(
    "read",
    [
        "ready.order",
        "dict(os.environ)",
        "once()",
        "options.label",
        "flag(str(ready.rows))",
        "os.environ.get('ORDER_DEBUG')",
        "os.environ.get('PRINT_ORDER')",
        "[os for os in (1, 2)]",
    ],
)
def test_what_is_no_option_or_was_read_before_is_silent(read: str) -> None:
    assert late(f"def run(ready: ScanPlan) -> object:\n    return {read}\n") == []


def test_a_local_variable_of_the_same_name_is_no_global() -> None:
    assert late("def run(ready: ScanPlan) -> bool:\n    _order = ready.order\n    return _order\n") == []


@pytest.mark.parametrize(
    "head",
    [
        "def declare(rows: int, scan: Kernel) -> ScanPlan:",
        "def plan_wider(old: ScanPlan) -> ScanPlan:",
        "def from_text(old: ScanPlan, text: str) -> ScanPlan:",
        "def unrelated(rows: int) -> bool:",
    ],
)
def test_a_declaration_may_read_the_environment(head: str) -> None:
    assert late(f"{head}\n    return ordered()\n") == []


def test_a_materializer_may_not_even_where_it_is_given_no_plan() -> None:
    assert late("@materializer\ndef make(source: object) -> ScanPlan:\n    return ordered()\n") == [("ORDER", 3)]


def test_a_read_that_several_functions_reach_is_reported_once() -> None:
    body = "def run(ready: ScanPlan) -> bool:\n    return ordered()\n\n\n"
    assert late(body + "def bind(ready: ScanPlan) -> bool:\n    return run(ready)\n") == [("ORDER", 2)]


def test_a_method_of_a_declared_plan_counts_and_so_does_a_configured_materializer() -> None:
    files: dict[str, str | bytes] = {
        "plans.py": (
            "import os\n\n\nclass QueuePlan:\n    def __init__(self, push):\n        self.push = push\n"
            "        self.depth = os.environ['DEPTH']\n\n    def bind(self):\n        return os.environ['DEPTH']\n"
        ),
        "again.py": (
            "import os\nfrom plans import QueuePlan\n\n\ndef again(push) -> QueuePlan:\n"
            "    return QueuePlan(os.environ['PUSH'])\n"
        ),
    }
    plans = (PlanDeclaration("plans.QueuePlan", ("push",)),)
    found = analyze(tree_of(files), Config(plans=plans)).findings
    assert [(str(each.place), each.fields) for each in found if each.code == "OWN010"] == [("plans.py:10", ("DEPTH",))]
    found = analyze(tree_of(files), Config(plans=plans, materializers=("again.again",))).findings
    assert [str(each.place) for each in found if each.code == "OWN010"] == ["again.py:6", "plans.py:10"]


def test_a_subclass_of_a_plan_in_a_file_that_does_not_name_the_plan_counts() -> None:
    files = {
        "plans.py": "class QueuePlan:\n    def __init__(self, push): self.push = push\n",
        "deep.py": "from plans import QueuePlan\n\n\nclass DeepPlan(QueuePlan): ...\n",
        "use.py": "import os\nfrom deep import DeepPlan\n\n\ndef run(p: DeepPlan):\n    return os.getenv('DEPTH')\n",
    }
    (finding,) = analysis_of(files, declare("plans.QueuePlan", "push")).findings
    assert (finding.code, finding.class_name) == ("OWN010", "deep.DeepPlan")


def test_nothing_is_said_where_no_plan_is_marked_or_declared() -> None:
    assert findings_in("import os\n\n\ndef run(plan):\n    return os.environ['ORDER']\n") == ()
