"""The command with the real rules: what it mends, and what it makes of a project full of bad input."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lint_rules import rules
from lint_rules.rules import own001_dropped

if TYPE_CHECKING:
    from tests.lint_rules.cli.conftest import Done, Project

CORPUS = Path(__file__).resolve().parents[2] / "corpus"

#: Cases whose right mend is the one keyword that --fix adds, at the end of the call.
MENDED_EXACTLY = (
    "003-constructor-keyword",
    "009-deepcopy-dunder",
    "014-attrs-evolve",
    "019-cross-class-fields",
    "024-graph-capture-wrapper",
    "025-nested-plan",
    "028-aliased-reexport",
    "030-generic-plan",
    "043-initvar-and-replace",
)

PLANS = """\
from dataclasses import dataclass, replace

from ownership import Absent, Fact, Transferable, materializer, plan


@plan
@dataclass(frozen=True)
class ScratchPlan:
    rows: Fact[int]
    fold: Transferable[object]
    pack: Transferable[object]


def plan_scratch(rows: int) -> ScratchPlan:
    return ScratchPlan(rows, fold=Absent("planned"), pack=Absent("planned"))
"""

STAGES = """\
from dataclasses import replace

from ownership import materializer

from plans import ScratchPlan, plan_scratch


@materializer
def materialize(prepared: ScratchPlan) -> ScratchPlan:
    return replace(plan_scratch(prepared.rows), fold=prepared.fold)
"""


@pytest.fixture
def lossy(project: Project) -> Project:
    """A plan in one file, and a materializer in another one that loses a field."""
    project.add("plans.py", PLANS)
    project.add("stages.py", STAGES)
    return project


def places(done: Done) -> list[tuple[str, int, list[str]]]:
    return [(each["path"], each["line"], each["fields"]) for each in done.objects]


DROP = ("stages.py", 10, ["pack"])


@pytest.mark.parametrize("name", MENDED_EXACTLY)
def test_fix_gives_the_right_mend(project: Project, name: str) -> None:
    case = CORPUS / name
    shutil.copytree(case / "before", project.root, dirs_exist_ok=True)
    arguments = ["--config", str(case / "carryall.toml")] if (case / "carryall.toml").exists() else []
    done = project.run("check", "--fix", *arguments)
    assert (done.status, done.stderr) == (0, "")
    assert "fixed 1 finding in 1 file" in done.stdout
    for path in (case / "after").rglob("*.py"):
        mended = project.root / path.relative_to(case / "after")
        assert mended.read_text(encoding="utf-8") == path.read_text(encoding="utf-8")
    assert project.run("check", "--diff", *arguments).stdout == ""


def test_the_drop_is_found_from_the_file_of_the_class_alone(lossy: Project) -> None:
    done = lossy.run("check", "--format", "json", "plans.py")
    assert (done.status, places(done)) == (1, [DROP])


def test_a_warm_run_says_the_same_as_a_cold_one(lossy: Project) -> None:
    cold = lossy.run("check", "--format", "json")
    assert places(cold) == [DROP]
    assert lossy.run("check", "--format", "json") == cold


def test_a_declaration_of_what_does_not_exist_is_status_2(lossy: Project) -> None:
    lossy.add(
        "pyproject.toml",
        '[[tool.carryall.plan]]\nclass = "plans.ScratchPlan"\ntransferable = ["fold", "gone"]\n'
        '[[tool.carryall.plan]]\nclass = "plans.Missing"\ntransferable = ["fold"]\n',
    )
    done = lossy.run("check")
    assert done.status == 2
    assert "gone" in done.stderr
    assert "error: pyproject.toml:4: " in done.stderr
    assert "plans.Missing" in done.stderr


def test_an_unknown_code_in_select_is_status_2_with_the_known_ones(lossy: Project) -> None:
    done = lossy.run("check", "--select", "OWN777,OWN001")
    assert (done.status, done.stderr.count("\n")) == (2, 1)
    assert "unknown rule code 'OWN777' in select; known: OWN001, " in done.stderr
    assert "stages.py:10" in done.stdout
    assert lossy.run("check", "--select", "OWN777,OWN001") == done


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("bad.py", "x = (\n", "error: bad.py:1: syntax error: '(' was never closed"),
        ("bad.py", "from plans import ScratchPlan\nx = = 1\n", "error: bad.py:2: syntax error: "),
        ("bad.py", b"from plans import ScratchPlan\n# \xff\n", "error: bad.py:2: not UTF-8: "),
        ("bad.py", b"x = 1\0\n", "error: bad.py:1: null byte at byte 5"),
        ("bad.py", b"# coding: klingon\n", "error: bad.py:1: unknown source encoding"),
        ("bad.py", "x = " + "(" * 1000 + ")" * 1000, "error: bad.py:1: syntax error: too many nested parentheses"),
        ("bad.py", "from plans import ScratchPlan\nx = " + "-" * 100_000 + "1\n", "error: bad.py:1: nested too deeply"),
    ],
)
def test_a_file_that_is_no_python_is_one_line_and_the_drop_is_found(
    lossy: Project, name: str, content: str | bytes, told: str
) -> None:
    lossy.add(name, content)
    done = lossy.run("check", "--format", "json")
    assert (done.status, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(told)
    assert places(done) == [DROP]


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + PLANS.encode(),
        ("# coding: latin-1\n# \xe9\n" + PLANS).encode("latin-1"),
        PLANS.replace("\n", "\r\n").encode(),
    ],
)
def test_marks_encodings_and_line_ends_make_no_difference(lossy: Project, content: bytes) -> None:
    lossy.add("plans.py", content)
    done = lossy.run("check", "--format", "json")
    assert (done.stderr, places(done)) == ("", [DROP])


@pytest.mark.parametrize(
    "newer",
    [
        "def f[T: int = str](x: T) -> T: ...\n",
        "class C[*Ts, **P]: ...\n",
        "type Rows[T] = list[T]\n",
        'name = f"{"a" + f"{"b"}"}"\n',
        'name = f"{\n    1\n}"\n',
        'name = t"{rows}"\n',
        "try: ...\nexcept ValueError, TypeError: ...\n",
    ],
)
def test_newer_syntax_beside_a_drop_hides_nothing(lossy: Project, newer: str) -> None:
    lossy.add("stages.py", newer + STAGES)
    done = lossy.run("check", "--format", "json")
    assert (done.status, done.stderr) == (1, "")
    assert places(done) == [("stages.py", 10 + newer.count("\n"), ["pack"])]


def test_a_generated_file_of_five_megabytes_is_checked(lossy: Project) -> None:
    row = "TABLE += ['" + "0123456789abcdef" * 8 + "', 1]\n"
    lossy.add("generated.py", row * (5_000_000 // len(row) + 1))
    done = lossy.run("check", "--format", "json")
    assert (done.status, done.stderr, places(done)) == (1, "", [DROP])


def test_a_drop_in_a_file_of_five_megabytes_is_found_and_mended(lossy: Project) -> None:
    row = "TABLE += ['" + "0123456789abcdef" * 8 + "', 1]\n"
    filler = row * (5_000_000 // len(row) + 1)
    path = lossy.add("stages.py", filler + STAGES)
    assert lossy.run("check", "--fix").status == 0
    mended = path.read_text(encoding="utf-8")
    assert mended.endswith("fold=prepared.fold, pack=prepared.pack)\n")
    assert len(mended) == len(filler) + len(STAGES) + len(", pack=prepared.pack")


def test_a_file_name_that_is_no_text_is_shown_all_the_same(lossy: Project) -> None:
    (lossy.root / "stages.py").rename(os.fsdecode(os.fsencode(lossy.root) + b"/st\xffges.py"))
    done = lossy.run("check")
    assert (done.status, done.stdout.startswith("st\\udcffges.py:10:")) == (1, True)
    assert lossy.run("check", "--format", "json").objects[0]["path"] == "st\udcffges.py"
    assert lossy.run("check", "--fix").status == 0


def test_a_terminal_that_lacks_a_letter_is_no_reason_to_fail(lossy: Project) -> None:
    lossy.add("stages.py", STAGES.replace("materialize", "fülle"))
    lossy.add("plans.py", PLANS.replace("pack", "pλck"))
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONPATH": str(CORPUS.parents[1])}
    done = subprocess.run(
        [sys.executable, "-m", "lint_rules", "check"], capture_output=True, check=False, env=environment
    )
    assert (done.returncode, done.stderr) == (1, b"")
    assert rb"`p\u03bbck`" in done.stdout


def test_a_rule_that_cannot_be_loaded_is_one_line_and_status_2_and_the_others_go_on(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "_MODULES", ("own001_dropped", "own999_nowhere"))
    project.add("a.py", own001_dropped.RULE.bad[0])
    for _ in range(2):  # and the cache does not hide it
        done = project.run("check")
        assert done.status == 2
        assert "OWN001" in done.stdout
        assert done.stderr == (
            "error: the rule lint_rules.rules.own999_nowhere cannot be loaded: ModuleNotFoundError: "
            "No module named 'lint_rules.rules.own999_nowhere'\n"
        )
