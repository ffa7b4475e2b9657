"""One walk of a function's body: what counts as read, checked, stored, given and assigned."""

from __future__ import annotations

import ast
import textwrap

import pytest

from lint_rules.index.bodies import Bodies, Body
from tests.lint_rules.checking import project_of


def body(text: str) -> Body:
    module = project_of({"a.py": f"def f(a, b, c=1):\n{textwrap.indent(textwrap.dedent(text), '    ')}\n"}).module("a")
    assert module is not None
    return Bodies().of(module.functions[0])


@pytest.mark.parametrize(
    ("text", "reads", "checks"),
    [
        ("return a", {"a"}, set()),
        ("if a > b: raise ValueError(c)", set(), {"a", "b", "c", "ValueError"}),
        ("assert a % 2", set(), {"a"}),
        ("if a: raise ValueError", {"a"}, {"a", "ValueError"}),
        ("if a is not None or b > 1: raise ValueError", {"a"}, {"a", "b", "ValueError"}),
        ("if a and b > 1: raise ValueError", set(), {"a", "b", "ValueError"}),
        ("assert not a", {"a"}, {"a"}),
        ("if a: raise ValueError\nelse: print(b)", {"a", "b", "print", "ValueError"}, {"ValueError"}),
        ("if a:\n    if b > 1: raise ValueError", {"a"}, {"a", "b", "ValueError"}),
        ("def inner(d: a = b) -> c: return d", {"b", "d"}, set()),
        ("match a:\n    case None: pass\n    case {'k': b, **rest}: print(rest)", {"a", "print", "rest"}, set()),
        ("x: a = b", {"b"}, set()),
        ("a += 1", {"a"}, set()),
    ],
)
def test_reading_to_some_effect_is_told_from_refusing_values(text: str, reads: set[str], checks: set[str]) -> None:
    found = body(text)
    # An error that is raised is named in the branch that refuses, wherever that is.
    assert (set(found.reads) - {"ValueError"}, set(found.checks)) == (reads - {"ValueError"}, checks)


def test_calls_attributes_and_subscripts_come_in_the_order_of_the_source() -> None:
    found = body("x = first(a.one, second(b[0].two))\nthird(**{'k': c})")
    assert [ast.unparse(call.func) for call in found.calls] == ["first", "second", "third"]
    assert [node.attr for node in found.attributes] == ["one", "two"]
    assert [ast.unparse(node) for node in found.subscripts] == ["b[0]"]


def test_what_a_variable_was_given_is_kept_and_what_was_put_into_it() -> None:
    found = body("x = y = a\np, (q, r) = b, c\nx.rows = b\nx[0] = c\nx.add(a)\nfor i in b: pass\nz += 1")
    given = {name: [value and ast.unparse(value) for value in values] for name, values in found.values.items()}
    assert given == {"x": ["a"], "y": ["a"], "p": ["b"], "q": ["c"], "r": ["c"], "i": ["b"], "z": [None]}
    assert [ast.unparse(value) for value in found.fed["x"]] == ["b", "c", "a"]


def test_names_that_are_bound_inside_are_told_from_globals() -> None:
    found = body("import os.path as p\ndef g(d): pass\nlambda e: e\nglobal h\nh = 1\ndel a")
    assert {"p", "g", "h"} <= found.stores
    assert found.inner == {"d", "e"}
    assert (found.globals, found.deletes) == ({"h"}, {"a"})
    assert found.binds("d")
    assert not found.binds("a")


@pytest.mark.parametrize(("text", "everything"), [("return locals()", True), ("return vars(a)", False), ("a", False)])
def test_a_function_that_asks_for_all_of_its_variables_sees_everything(text: str, everything: bool) -> None:
    assert body(text).sees_everything is everything


def test_a_body_is_walked_once() -> None:
    module = project_of({"a.py": "def f(): return 1\n"}).module("a")
    assert module is not None
    bodies = Bodies()
    assert bodies.of(module.functions[0]) is bodies.of(module.functions[0])
