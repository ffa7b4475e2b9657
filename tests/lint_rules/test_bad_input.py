"""Code that is broken, or legal and extreme, beside a drop: what cannot be read is told, and the drop is found.

The first project of `cli/test_whole.py` is the ground: the materializer in `stages.py` loses the field `pack`.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from tests.lint_rules.cli.conftest import Done, Project
from tests.lint_rules.cli.test_whole import PLANS, STAGES

#: Seconds that any of these runs may take.
LIMIT = 10

RETURN = "    return replace(plan_scratch(prepared.rows), fold=prepared.fold)\n"

DECLARED = '[[tool.carryall.plan]]\nclass = "{}"\ntransferable = ["fold", "pack"]\n'


@pytest.fixture(autouse=True)
def time_limit() -> Iterator[None]:
    """Fails what hangs, where there are signals to do it with."""

    def stop(number: int, frame: FrameType | None) -> None:
        pytest.fail(f"longer than {LIMIT} s")

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def lossy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    (tmp_path / "pyproject.toml").write_text("[tool.carryall]\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path)
    project.add("plans.py", PLANS)
    project.add("stages.py", STAGES)
    return project


def check(project: Project) -> Done:
    return project.run("check", "--format", "json", "--no-cache")


def drops(done: Done) -> list[tuple[str, int, list[str]]]:
    return [(each["path"], each["line"], each["fields"]) for each in done.objects if each["code"] == "OWN001"]


def stages_with(body: str, after: str = "") -> tuple[str, int]:
    """`stages.py` with these lines before the return of the materializer, and the line of the drop in it."""
    assert RETURN in STAGES
    text = STAGES.replace(RETURN, body + RETURN) + after
    return text, text[: text.index(RETURN)].count("\n") + 1


def assert_drop_is_found(project: Project, body: str, after: str = "") -> None:
    text, line = stages_with(body, after)
    project.add("stages.py", text)
    done = check(project)
    assert (done.status, done.stderr) == (1, "")
    assert ("stages.py", line, ["pack"]) in drops(done)


# Files that cannot be read


def test_a_syntax_error_far_from_any_plan_is_told_and_the_drop_is_found(lossy: Project) -> None:
    lossy.add("tools/other.py", "x = 1\ndef f(:\n    pass\n")
    done = check(lossy)
    assert done.status == 2
    assert done.stderr.startswith("error: tools/other.py:2: syntax error: ")
    assert done.stderr.count("\n") == 1
    assert drops(done) == [("stages.py", 10, ["pack"])]


def test_a_syntax_error_where_the_plan_is_marked_is_never_clean(lossy: Project) -> None:
    lossy.add("plans.py", PLANS + "\n\ndef f(:\n    pass\n")
    lossy.add("other.py", PLANS + STAGES.replace("from plans import ScratchPlan, plan_scratch\n", ""))
    done = check(lossy)
    assert (done.status, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("error: plans.py:18: syntax error: ")
    assert [path for path, _, _ in drops(done)] == ["other.py"], "the other files are checked"


def test_a_syntax_error_where_the_materializer_is_is_never_clean(lossy: Project) -> None:
    lossy.add("stages.py", STAGES + "\n\ndef f(:\n    pass\n")
    done = check(lossy)
    assert (done.status, drops(done), done.stderr.count("\n")) == (2, [], 1)
    assert done.stderr.startswith("error: stages.py:13: syntax error: ")


@pytest.mark.parametrize("name", ["plans.ScratchPlan", "plans.py::ScratchPlan"])
def test_a_syntax_error_in_the_file_of_a_declared_plan_is_told(lossy: Project, name: str) -> None:
    lossy.add("pyproject.toml", DECLARED.format(name))
    lossy.add("plans.py", "class ScratchPlan(:\n    pass\n")
    done = check(lossy)
    assert done.status == 2
    assert "error: plans.py:1: syntax error: " in done.stderr


# Declarations that lead nowhere, or to several places


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("plans.Gone", "declared class plans.Gone does not exist: module plans has no such class"),
        ("gone.ScratchPlan", "declared class gone.ScratchPlan does not exist: no module 'gone'"),
        ("gone.py::ScratchPlan", "declared class gone.py::ScratchPlan: no file gone.py was read"),
        ("plans.py::Gone", "declared class plans.py::Gone does not exist: plans.py has no class Gone"),
        ("plans.plan_scratch", "declared class plans.plan_scratch does not exist"),
    ],
)
def test_a_declared_class_that_is_gone_is_named(lossy: Project, name: str, told: str) -> None:
    lossy.add("pyproject.toml", DECLARED.format(name))
    done = check(lossy)
    assert (done.status, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"error: pyproject.toml:1: {told}")
    assert drops(done) == [("stages.py", 10, ["pack"])]


def test_declared_fields_that_are_gone_are_all_named(lossy: Project) -> None:
    lossy.add("pyproject.toml", DECLARED.format("plans.ScratchPlan").replace('"pack"', '"pac", "gone"'))
    done = check(lossy)
    assert (done.status, done.stderr.count("\n")) == (2, 1)
    assert "'pac', 'gone' of plans.ScratchPlan" in done.stderr
    assert "did you mean 'pack'?" in done.stderr


def test_an_ambiguous_dotted_name_is_told_with_the_places(lossy: Project) -> None:
    lossy.add("pyproject.toml", DECLARED.format("shared.ScratchPlan"))
    lossy.add("one/shared.py", PLANS)
    lossy.add("two/shared.py", PLANS)
    done = check(lossy)
    assert (done.status, done.stderr.count("\n")) == (2, 1)
    assert "is ambiguous" in done.stderr
    assert "one/shared.py::ScratchPlan" in done.stderr
    assert "two/shared.py::ScratchPlan" in done.stderr


def test_an_ambiguous_path_is_told_with_the_places(lossy: Project) -> None:
    lossy.add("pyproject.toml", DECLARED.format("shared.py::ScratchPlan"))
    lossy.add("one/shared.py", PLANS)
    lossy.add("two/shared.py", PLANS)
    done = check(lossy)
    assert done.status == 2
    assert "is ambiguous" in done.stderr


# Deep nesting

DEEP = {
    "brackets": "    x = " + "(" * 150 + "prepared" + ")" * 150 + "\n",
    "sum": "    x = " + " + ".join(["prepared.rows"] * 3000) + "\n",
    "short sum": "    x = " + " + ".join(["prepared.rows"] * 600) + "\n",
    "attributes": "    x = prepared" + ".a" * 900 + "\n",
    "calls": "    x = prepared" + ".f()" * 600 + "\n",
    "nested calls": "    x = " + "f(" * 90 + "prepared" + ")" * 90 + "\n",
    "not": "    x = " + "not " * 600 + "prepared\n",
    "lambda": "    x = " + "lambda: " * 500 + "prepared\n",
    "choices": "    x = " + "".join(f"prepared.fold if prepared.rows == {i} else " for i in range(500)) + "None\n",
    "else if": "    if prepared.rows == 0:\n        x = 0\n"
    + "".join(f"    elif prepared.rows == {i}:\n        x = {i}\n" for i in range(1, 500)),
    "blocks": "".join(f"    {' ' * i}if prepared.rows > {i}:\n" for i in range(95)) + f"    {' ' * 95}x = 1\n",
    "union": "    x: " + " | ".join(["int"] * 600) + " = 1\n",
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_nesting_in_a_materializer_is_read_or_told_in_one_line(lossy: Project, name: str) -> None:
    text, line = stages_with(DEEP[name])
    lossy.add("stages.py", text)
    done = check(lossy)
    if done.status == 1:
        assert (done.stderr, drops(done)) == ("", [("stages.py", line, ["pack"])])
    else:
        assert (done.status, done.stderr.count("\n")) == (2, 1)
        assert done.stderr.startswith("error: stages.py:")


@pytest.mark.parametrize("name", [*DEEP, "more brackets"])
def test_deep_nesting_in_another_file_hides_nothing(lossy: Project, name: str) -> None:
    body = DEEP.get(name, "    x = " + "(" * 1000 + ")" * 1000 + "\n")
    lossy.add("other.py", f"def f(prepared):\n{body}")
    done = check(lossy)
    assert drops(done) == [("stages.py", 10, ["pack"])]
    assert done.stderr.count("\n") == (0 if done.status == 1 else 1)


# Loops


def test_recursive_functions_end(lossy: Project) -> None:
    after = """

def again(plan: ScratchPlan) -> ScratchPlan:
    return again(plan) if plan.rows else plan


def ping(plan: ScratchPlan) -> ScratchPlan:
    return replace(pong(plan), fold=plan.fold)


def pong(plan: ScratchPlan) -> ScratchPlan:
    return replace(ping(plan), pack=plan.pack)


def wide(plan: ScratchPlan) -> tuple[object, ...]:
    return wide(plan), wide(replace(plan, rows=1)), wide(wide(plan)), ping(pong(plan))
"""
    assert_drop_is_found(lossy, "    x = again(ping(prepared))\n    y = wide(prepared)\n", after)


def test_recursive_properties_end(lossy: Project) -> None:
    lossy.add(
        "plans.py",
        PLANS.replace(
            "    pack: Transferable[object]\n",
            """    pack: Transferable[object]

    @property
    def one(self) -> object:
        return self.two

    @property
    def two(self) -> object:
        return self.one

    @property
    def same(self) -> object:
        return self.same.same

    def __getattr__(self, name: str) -> object:
        return getattr(self, name)
""",
        ),
    )
    assert_drop_is_found(lossy, "    x = prepared.one\n    y = prepared.same.one.two.other\n")


def test_a_class_that_inherits_from_itself_through_an_alias_ends(lossy: Project) -> None:
    lossy.add(
        "selfish.py",
        "from plans import ScratchPlan\n"
        "class A(ScratchPlan): ...\nB = A\nclass A(B): ...\n"
        "class C(D): ...\nD = C\nclass E(E): ...\n"
        "def f(a: A, c: C, e: E): return A(c.x, fold=e.fold).y, C(a.z), E(E)\n",
    )
    done = check(lossy)
    assert (done.status, done.stderr) == (1, "")
    assert ("stages.py", 10, ["pack"]) in drops(done)


def test_a_plan_that_inherits_from_itself_is_a_plan_all_the_same(lossy: Project) -> None:
    lossy.add(
        "selfish.py",
        "from ownership import Transferable, plan\n\n\n@plan\nclass C(D):\n    a: Transferable[object]\n"
        "    b: Transferable[object] = None\n\n\nD = C\n",
    )
    done = check(lossy)
    assert (done.status, done.stderr) == (1, "")
    assert ("stages.py", 10, ["pack"]) in drops(done)


def test_circular_imports_and_re_exports_end_and_the_plan_is_found_through_them(lossy: Project) -> None:
    lossy.add("ring_a.py", "import ring_b\nfrom plans import ScratchPlan\nfrom ring_b import Lost, plan_scratch\n")
    lossy.add("ring_b.py", "import ring_a\nfrom plans import plan_scratch\nfrom ring_a import Lost, ScratchPlan\n")
    lossy.add("stages.py", STAGES.replace("from plans", "from ring_b") + "\n\ndef f(x: ring_a.Lost) -> Lost: ...\n")
    done = check(lossy)
    assert (done.status, done.stderr) == (1, "")
    assert drops(done) == [("stages.py", 10, ["pack"])]


def test_a_star_import_of_the_module_itself_ends(lossy: Project) -> None:
    lossy.add("star/__init__.py", "from star import *\nfrom . import *\nfrom .inner import *\n")
    lossy.add("star/inner.py", "from star import *\nfrom . import *\nfrom plans import *\nfrom .inner import *\n")
    lossy.add("stages.py", STAGES.replace("from plans import", "from star import"))
    done = check(lossy)
    assert (done.status, done.stderr) == (1, "")
    assert drops(done) == [("stages.py", 10, ["pack"])]


# Size


@pytest.mark.parametrize(
    "body",
    [
        "".join(f"    if prepared.rows == {i}:\n        x{i} = prepared.fold\n" for i in range(500)),
        "    d = dict(" + ", ".join(f"k{i}=prepared.fold" for i in range(10_000)) + ")\n",
        "    d = {" + ", ".join(f"'k{i}': prepared.fold" for i in range(10_000)) + "}\n",
    ],
    ids=["500 ifs", "10000 keywords", "10000 keys"],
)
def test_much_code_in_a_materializer_is_read(lossy: Project, body: str) -> None:
    assert_drop_is_found(lossy, body)


@pytest.mark.parametrize(
    "body",
    [
        "".join(f"    x{i} = prepared.rows + {i}\n" for i in range(5000)),
        "    p = prepared\n" + "".join(f"    p = replace(p, rows={i})\n" for i in range(5000)),
        "    d = {}\n" + "".join(f"    d['k{i}'] = prepared.fold\n" for i in range(10_000)),
    ],
    ids=["5000 statements", "5000 copies", "10000 items"],
)
def test_a_materializer_that_is_too_long_is_never_clean(lossy: Project, body: str) -> None:
    text, line = stages_with(body)
    lossy.add("stages.py", text)
    done = check(lossy)
    assert done.status in {1, 2}
    assert ("stages.py", line, ["pack"]) in drops(done) or "stages.py" in done.stderr


def test_a_plan_of_a_thousand_carriers_is_read(lossy: Project) -> None:
    names = [f"f{i}" for i in range(1000)]
    fields = "".join(f"    {name}: Transferable[object]\n" for name in names)
    blanks = "".join(f', {name}=Absent("planned")' for name in names)
    text = PLANS.replace("    pack: Transferable[object]\n", "    pack: Transferable[object]\n" + fields)
    lossy.add("plans.py", text.replace('pack=Absent("planned")', f'pack=Absent("planned"){blanks}'))
    done = check(lossy)
    assert (done.status, done.stderr) == (1, "")
    assert drops(done) == [("stages.py", 10, ["pack", *names])]


def test_a_file_of_five_megabytes_without_line_ends_is_read(lossy: Project) -> None:
    lossy.add("generated.py", "TABLE = [" + "'" + "0123456789abcdef" * 300_000 + "', " + "1, " * 100_000 + "]")
    done = check(lossy)
    assert (done.status, done.stderr, drops(done)) == (1, "", [("stages.py", 10, ["pack"])])


def test_a_file_of_five_megabytes_that_ends_too_early_is_told(lossy: Project) -> None:
    row = "ROW = '" + "0123456789abcdef" * 8 + "'\n"
    count = 5_000_000 // len(row) + 1
    lossy.add("generated.py", row * count + "TABLE = [\n")
    done = check(lossy)
    assert (done.status, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"error: generated.py:{count + 1}: syntax error: '[' was never closed")
    assert drops(done) == [("stages.py", 10, ["pack"])]
