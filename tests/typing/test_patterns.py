"""Ways to write a plan so that type checkers see what is missing, graded by four of them, none with a plugin.

A line that is wrong ends with `# error` if all four reject it, and with `# error: mypy, ty` if only these do; `none`
stands for no one. Each checker must report exactly the lines that say so.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType

import pytest

from ownership import OwnershipError, materializer
from tests.modules import imported
from tests.typing.checkers import PATTERNS, TYPE_CHECKERS, all_reports, marked_lines

MARKS = marked_lines(PATTERNS, "error")
#: Documented as rejected by all four, without exception.
COMPLETE = ("bundle.py", "bundle_default.py", "two_classes.py")


def rejecting(mark: str) -> set[str]:
    """The checkers that a mark names."""
    if not mark:
        return set(TYPE_CHECKERS)
    named = set(mark.split(", ")) - {"none"}
    assert named < set(TYPE_CHECKERS), f"'# error: {mark}' names no checkers, or all of them"
    return named


@pytest.mark.parametrize("checker", TYPE_CHECKERS)
@pytest.mark.parametrize("file", MARKS)
def test_a_checker_rejects_the_marked_lines_and_no_others(file: str, checker: str) -> None:
    reported = {report.line for report in all_reports()[checker] if report.file == file}
    assert reported == {line for line, mark in MARKS[file].items() if checker in rejecting(mark)}


@pytest.mark.parametrize("file", COMPLETE)
def test_the_recommended_patterns_have_no_line_that_only_some_reject(file: str) -> None:
    assert len(MARKS[file]) >= 3
    assert not [mark for mark in MARKS[file].values() if mark]


def test_the_other_patterns_have_such_a_line() -> None:
    others = MARKS.keys() - set(COMPLETE)
    assert others
    assert all(any(MARKS[file].values()) for file in others)


def test_the_shape_of_the_published_bug_is_among_what_all_reject() -> None:
    lines = (PATTERNS / "bundle.py").read_text(encoding="utf-8").splitlines()
    (forgotten,) = [
        n
        for n, line in enumerate(lines, start=1)
        if "Carriers(fused=programs.fused, topk" in line and "None" not in line
    ]
    assert "route_pack" not in lines[forgotten - 1]
    assert MARKS["bundle.py"][forgotten] == ""


@pytest.fixture
def holes() -> Iterator[ModuleType]:
    with imported(PATTERNS / "bundle_holes.py") as module:
        yield module


def test_what_the_bundle_leaves_open_is_rejected_at_run_time(holes: ModuleType) -> None:
    steps = [
        value for value in vars(holes).values() if inspect.isfunction(value) and value.__module__ == "bundle_holes"
    ]
    assert len(steps) == len(MARKS["bundle_holes.py"])
    carriers = holes.Carriers(fused=holes.Launcher(), route_pack=holes.Launcher())
    for step in steps:
        with pytest.raises(OwnershipError):
            materializer(step)(holes.ScratchPlan(rows=8, carriers=carriers))
