"""A class that is constructed again from one of its own: what counts as taken, and what as forgotten."""

from __future__ import annotations

import tomllib

import pytest

from lint_rules.config import PlanDeclaration
from lint_rules.fixes import apply_fixes
from tests.lint_rules.audit.suggesting import suggested, suggestions
from tests.lint_rules.checking import findings_in
from tests.lint_rules.trees import tree_of

POOL = """\
import copy
from dataclasses import dataclass


@dataclass
class Pool:
    page: int
    lanes: int
    pin: bool = False
    align: int = 256
    tag: str = ""

"""


@pytest.mark.parametrize(
    "method",
    [
        "def clone(self):\n        return Pool(self.page, self.lanes, pin=self.pin, tag=self.tag)",
        "def clone(self):\n        return type(self)(self.page, lanes=self.lanes, pin=self.pin, tag=self.tag)",
        "def clone(self):\n        return self.__class__(self.page, self.lanes, self.pin, tag=self.tag)",
        "def wider(self, lanes):\n        return Pool(self.page, lanes, pin=self.pin, tag=self.tag)",
        "def part(self, cut):\n        return Pool(self.page[cut], self.lanes[cut], self.pin[cut], tag=self.tag[cut])",
        "def clone(self):\n        return Pool(list(self.page), self.lanes.copy(), pin=self.pin, tag=self.tag)",
        "def clone(self):\n        pin = self.pin\n        return Pool(self.page, self.lanes, pin=pin, tag=self.tag)",
        "def __reduce__(self):\n        return Pool, (self.page, self.lanes, self.pin), {'tag': self.tag}",
    ],
)
def test_a_parameter_that_the_object_could_supply_is_suggested(method: str) -> None:
    ((code, fields),) = suggested(POOL + f"    {method}\n")
    assert code == "OWN001"
    assert "align" in fields


@pytest.mark.parametrize(
    "method",
    [
        "def clone(self):\n        return Pool(self.page, self.lanes, pin=self.pin, align=self.align, tag=self.tag)",
        "def clone(self):\n        return Pool(**vars(self))",
        "def clone(self):\n        return Pool(*self.astuple())",
        "def empty(self):\n        return Pool(self.page, 0)",
        "def reply(self, page, lanes):\n        return Pool(page, lanes, tag=self.tag)",
        "def c(self):\n        p = Pool(self.page, self.lanes, self.pin, tag=self.tag)\n        p.align = self.align",
        "def f(self):\n        print(self.align)\n        return Pool(self.page, self.lanes, self.pin, tag=self.tag)",
        "@classmethod\n    def of(cls, other):\n        return cls(other.page, other.lanes, other.pin, tag=other.tag)",
    ],
)
def test_a_full_copy_an_open_one_and_one_that_takes_little_are_silent(method: str) -> None:
    assert suggested(POOL + f"    {method}\n") == []


def test_the_suggestion_has_its_reason_and_what_makes_the_check_find_the_place() -> None:
    text = POOL + "    def clone(self):\n        return Pool(self.page, self.lanes, pin=self.pin, tag=self.tag)\n"
    (found,) = suggestions(text)
    assert found.confidence == "high"
    assert found.reason == "the call takes `page`, `lanes`, `pin` and `tag` from `self`, which has `align` too"
    assert found.finding.message == (
        "`Pool.clone` makes a Pool from `self` and leaves out `align`: the copy falls back to its default. Pass"
        " `align=self.align`."
    )
    (table,) = tomllib.loads(found.declaration)["tool"]["carryall"]["plan"]
    (finding,) = findings_in(text, PlanDeclaration(table["class"], tuple(table["transferable"])))
    assert (finding.code, finding.fields, finding.place) == ("OWN001", ("align",), found.finding.place)
    compile(found.marks, "marks", "exec")


def test_the_fix_passes_the_value() -> None:
    text = POOL + "    def clone(self):\n        return Pool(self.page, self.lanes, pin=self.pin, tag=self.tag)\n"
    (found,) = suggestions(text)
    changed = apply_fixes(tree_of({"a.py": text}), [found.finding], unsafe=True).texts["a.py"]
    assert "Pool(self.page, self.lanes, pin=self.pin, tag=self.tag, align=self.align)" in changed
    assert suggested(changed) == []


def test_what_is_declared_already_is_left_to_the_check() -> None:
    text = POOL + "    def clone(self):\n        return Pool(self.page, self.lanes, pin=self.pin, tag=self.tag)\n"
    assert suggested(text, PlanDeclaration("a.Pool", ("align",))) == []


READER = """\
class Reader:
    def __init__(self, path, *, chunk=64, shuffle=False):
        self.path = path
        self.chunk = chunk
        self.shuffle = shuffle

    def clone(self):
        return type(self)(self.path, chunk=self.chunk, shuffle=self.shuffle)
"""

TENSOR = """\
from a import Reader


class TensorReader(Reader):
    def __init__(self, path, *, stride=1, chunk=64, shuffle=False):
        super().__init__(path, chunk=chunk, shuffle=shuffle)
        self.stride = stride
"""


def test_a_subclass_that_has_a_parameter_more_loses_it_in_an_inherited_clone() -> None:
    (found,) = suggestions(READER, b=TENSOR)
    assert (found.finding.class_name, found.finding.fields) == ("b.TensorReader", ("stride",))
    assert str(found.finding.place) == "a.py:8"


def test_a_subclass_with_a_clone_of_its_own_or_with_open_parameters_is_silent() -> None:
    own = TENSOR + "\n    def clone(self):\n        return self\n"
    assert suggested(READER, b=own) == []
    assert suggested(READER, b=TENSOR.replace("stride=1, chunk=64, shuffle=False", "stride=1, **options")) == []
    assert suggested(READER.replace("type(self)(", "Reader("), b=TENSOR) == []
