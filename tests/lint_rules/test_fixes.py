from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lint_rules.files import SourceTree
from lint_rules.findings import Edit, Finding, Fix, Place, Safety
from lint_rules.fixes import Changes, apply_fixes
from tests.lint_rules.trees import tree_of

#: Where the call of an example starts.
MARK = "§"


def place_of(text: str, mark: str = MARK) -> tuple[str, Place]:
    before, found, after = text.partition(mark)
    assert found
    rows = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return before + after, Place("a.py", len(rows), len(rows[-1]) + 1)


def carry(place: Place, *keywords: str, safety: Safety = "safe", callee: str = "") -> Finding:
    edits = tuple(Edit(place, name, f"plan.{name}", callee) for name in keywords)
    return Finding("OWN001", place, "a.Plan", keywords, "dropped", (), (Fix("carry", safety, edits),))


def apply(tree: SourceTree, *findings: Finding, unsafe: bool = False) -> Changes:
    changes = apply_fixes(tree, findings, unsafe=unsafe)
    for text in changes.texts.values():
        ast.parse(text)
    return changes


def fixed(text: str, *keywords: str, callee: str = "") -> str | None:
    """The text after the call behind the mark was given the keywords; None if the fix does not apply."""
    source, place = place_of(text)
    changes = apply(tree_of({"a.py": source}), carry(place, *keywords, callee=callee))
    assert bool(changes.texts) == bool(changes.fixed)
    return changes.texts.get("a.py")


# Layout


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = §replace(f, a=1)\n", "x = replace(f, a=1, b=plan.b)\n"),
        ("x = §replace(f, a=1,)\n", "x = replace(f, a=1, b=plan.b,)\n"),
        ("x = §replace(f, a=1 )\n", "x = replace(f, a=1, b=plan.b )\n"),
        ("x = §Plan()\n", "x = Plan(b=plan.b)\n"),
        ("x = §Plan(1)\n", "x = Plan(1, b=plan.b)\n"),
        ("x = §Plan(*rest)\n", "x = Plan(*rest, b=plan.b)\n"),
        ("x = §Plan(a=1, **more)\n", "x = Plan(a=1, b=plan.b, **more)\n"),
        ("x = §Plan(**more)\n", "x = Plan(b=plan.b, **more)\n"),
        ("x = §Plan(**more, **most)\n", "x = Plan(b=plan.b, **more, **most)\n"),
        ("x = §Plan[int](a=1)\n", "x = Plan[int](a=1, b=plan.b)\n"),
        ("x = §f(lambda: 0, a=[i for i in y])\n", "x = f(lambda: 0, a=[i for i in y], b=plan.b)\n"),
        ("x = §replace(f, a=1)  # why\n", "x = replace(f, a=1, b=plan.b)  # why\n"),
        ("é = 'ß'; x = §replace(f, a='é'); y = 1\n", "é = 'ß'; x = replace(f, a='é', b=plan.b); y = 1\n"),
        ("x = §replace(f, a=1)", "x = replace(f, a=1, b=plan.b)"),
        ("\tx = 1\n".strip("\t") + "if x:\n\tx = §f(a=1)\n", "x = 1\nif x:\n\tx = f(a=1, b=plan.b)\n"),
        ("x = (§replace(f, a=1))\n", "x = (replace(f, a=1, b=plan.b))\n"),
        ("x = [§a\n  .replace(f)]\n", "x = [a\n  .replace(f, b=plan.b)]\n"),
        (
            "x = §replace(\n    f,\n    a=1,\n)\n",
            "x = replace(\n    f,\n    a=1,\n    b=plan.b,\n)\n",
        ),
        (
            "x = §replace(\n    f,\n    a=1\n)\n",
            "x = replace(\n    f,\n    a=1,\n    b=plan.b\n)\n",
        ),
        (
            "x = §replace(f,\n            a=1)\n",
            "x = replace(f,\n            a=1,\n            b=plan.b)\n",
        ),
        (
            "x = §replace(\n    f, a=1\n)\n",
            "x = replace(\n    f, a=1, b=plan.b\n)\n",
        ),
        (
            "x = §replace(\n    f,\n    **more,\n)\n",
            "x = replace(\n    f,\n    b=plan.b,\n    **more,\n)\n",
        ),
        (
            "x = §Plan(\n    rows=1\n)\n",
            "x = Plan(\n    rows=1,\n    b=plan.b\n)\n",
        ),
        (
            "x = §replace(plan_scratch(\n    rows,\n    flag=False,\n), a=1)\n",
            "x = replace(plan_scratch(\n    rows,\n    flag=False,\n), a=1, b=plan.b)\n",
        ),
        (
            "def f():\n    if x:\n        return §Plan(\n            f,\n        )\n",
            "def f():\n    if x:\n        return Plan(\n            f,\n            b=plan.b,\n        )\n",
        ),
    ],
)
def test_the_keyword_is_laid_out_as_its_neighbours_are(before: str, after: str) -> None:
    assert fixed(before, "b") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "§replace(\n    f,  # base\n    a=1,  # one\n    # last\n)\n",
            "replace(\n    f,  # base\n    a=1,  # one\n    b=plan.b,\n    # last\n)\n",
        ),
        (
            "§replace(\n    # first\n    f,\n    a=1  # one\n)\n",
            "replace(\n    # first\n    f,\n    a=1,  # one\n    b=plan.b\n)\n",
        ),
        (
            "§replace(f, a=1,  # one\n)\n",
            "replace(f, a=1,  # one\n    b=plan.b,\n)\n",
        ),
        (
            "§replace(\n    f,\n    # more\n    **more,  # all\n)\n",
            "replace(\n    f,\n    # more\n    b=plan.b,\n    **more,  # all\n)\n",
        ),
        ("§Plan(  # nothing\n)\n", "Plan(  # nothing\nb=plan.b)\n"),
    ],
)
def test_comments_are_kept(before: str, after: str) -> None:
    assert fixed(before, "b") == after


def test_windows_line_ends_are_kept() -> None:
    assert fixed("y = 1\r\nx = §replace(\r\n    f,\r\n    a=1,\r\n)\r\n", "b") == (
        "y = 1\r\nx = replace(\r\n    f,\r\n    a=1,\r\n    b=plan.b,\r\n)\r\n"
    )


# Several edits


def test_two_keywords_for_one_call() -> None:
    assert fixed("x = §replace(f, a=1)\n", "b", "c") == "x = replace(f, a=1, b=plan.b, c=plan.c)\n"


def test_two_keywords_for_one_call_before_a_double_star() -> None:
    assert fixed("x = §f(\n    **more,\n)\n", "b", "c") == "x = f(\n    b=plan.b,\n    c=plan.c,\n    **more,\n)\n"


def test_two_findings_in_one_file_in_any_order() -> None:
    text, second = place_of("x = replace(f, a=1)\ny = §replace(\n    g,\n    a=1,\n)\n")
    first = Place("a.py", 1, 5)
    wanted = "x = replace(f, a=1, b=plan.b)\ny = replace(\n    g,\n    a=1,\n    c=plan.c,\n)\n"
    findings = [carry(first, "b"), carry(second, "c")]
    for order in (findings, findings[::-1]):
        changes = apply(tree_of({"a.py": text}), *order)
        assert (changes.texts, len(changes.fixed)) == ({"a.py": wanted}, 2)


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("§f(¤g(1), a=2)\n", "f(g(1, c=plan.c), a=2, b=plan.b)\n"),
        ("§f(a=2, **¤g())\n", "f(a=2, b=plan.b, **g(c=plan.c))\n"),
        ("§f(\n    1,\n    a=¤g(\n        2,\n    ),\n)\n", None),
    ],
)
def test_calls_inside_each_other_are_mended_together(text: str, wanted: str | None, swap: bool) -> None:
    half, _ = place_of(text.replace("¤", ""))
    outer = place_of(text.replace("¤", ""))[1]
    inner = place_of(text.replace(MARK, ""), "¤")[1]
    findings = [carry(outer, "b"), carry(inner, "c")]
    changes = apply(tree_of({"a.py": half}), *(findings[::-1] if swap else findings))
    assert len(changes.fixed) == 2
    if wanted is None:
        wanted = "f(\n    1,\n    a=g(\n        2,\n        c=plan.c,\n    ),\n    b=plan.b,\n)\n"
    assert changes.texts["a.py"] == wanted


@given(st.lists(st.booleans(), min_size=1, max_size=6), st.randoms())
def test_any_number_of_calls_on_one_line_are_all_mended(calls: list[bool], random: object) -> None:
    text = "; ".join("é = f(a=1)" if wide else "x = f()" for wide in calls) + "\n"
    starts = [at for at in range(len(text)) if text.startswith("f(", at)]
    findings = [carry(Place("a.py", 1, at + 1), "b") for at in starts]
    random.shuffle(findings)  # type: ignore[attr-defined]
    changes = apply(tree_of({"a.py": text}), *findings)
    assert changes.texts["a.py"].count("b=plan.b") == len(calls)


# Which call


def test_of_a_chain_the_call_that_builds_is_meant() -> None:
    assert fixed("x = §replace(f, a=1).bind(y)\n", "b") == "x = replace(f, a=1, b=plan.b).bind(y)\n"
    assert fixed("x = §Plan(1)._replace(a=1)\n", "b") == "x = Plan(1)._replace(a=1, b=plan.b)\n"


def test_of_a_chain_without_such_a_call_none_is_taken() -> None:
    assert fixed("x = §make(1).finish(2)\n", "b") is None


def test_the_name_of_the_callee_decides_when_it_is_given() -> None:
    assert fixed("x = §make(1).finish(2)\n", "b", callee="make") == "x = make(1, b=plan.b).finish(2)\n"
    assert fixed("x = §make(1).finish(2)\n", "b", callee="other") is None


# What is left alone


@pytest.mark.parametrize(
    "text",
    [
        "x = §replace(f, b=1)\n",
        "x = §f\n",
        "x = §(1)\n",
        "x = §f(i for i in y)\n",
        "§object.__setattr__(f, 'a', plan.a)\n",
        "§setattr(f, 'a', plan.a)\n",
        "x = §plan.model_copy(update={'a': 1})\n",
        "x = §copy.copy(plan)\n",
        "§x = f()\n",
        "x = f(§)\n",
        "x = 1\n§",
    ],
)
def test_a_call_that_cannot_take_the_keyword_is_left_alone(text: str) -> None:
    assert fixed(text, "b") is None


def test_a_fix_is_applied_as_a_whole_or_not_at_all() -> None:
    assert fixed("x = §replace(f, b=1)\n", "a", "b") is None
    text, place = place_of("x = §f(1)\n")
    finding = carry(place, "a")
    outside = Edit(Place("gone.py", 1), "a", "1")
    fix = Fix("carry", "safe", (*finding.fixes[0].edits, outside))
    both = Finding("OWN001", place, "a.Plan", ("a",), "dropped", (), (fix,))
    assert apply(tree_of({"a.py": text}), both) == Changes({}, ())


def test_one_that_does_not_apply_does_not_hold_back_the_others() -> None:
    text, place = place_of("x = f(b=1)\ny = §f()\n")
    changes = apply(tree_of({"a.py": text}), carry(Place("a.py", 1, 5), "b"), carry(place, "b"))
    assert changes.texts == {"a.py": "x = f(b=1)\ny = f(b=plan.b)\n"}
    assert [finding.place for finding in changes.fixed] == [place]


def test_an_expression_that_is_none_is_not_put_in() -> None:
    text, place = place_of("x = §f()\n")
    for keyword, expression in [("b", "1 +"), ("b", ""), ("b", "x = 1"), ("1b", "1"), ("class", "1")]:
        edit = Edit(place, keyword, expression)
        finding = Finding("OWN001", place, "", ("b",), "", (), (Fix("carry", "safe", (edit,)),))
        assert apply(tree_of({"a.py": text}), finding).texts == {}


@pytest.mark.parametrize(("unsafe", "count"), [(False, 0), (True, 1)])
def test_an_unsafe_fix_needs_the_word(unsafe: bool, count: int) -> None:
    text, place = place_of("x = §f()\n")
    changes = apply(tree_of({"a.py": text}), carry(place, "b", safety="unsafe"), unsafe=unsafe)
    assert len(changes.texts) == count


def test_advice_is_never_applied() -> None:
    text, place = place_of("x = §f()\n")
    assert apply(tree_of({"a.py": text}), carry(place, "b", safety="display"), unsafe=True).texts == {}


def test_a_name_that_the_encoding_lacks_is_not_put_in() -> None:
    text, place = place_of("# coding: latin-1\nx = §f()\n")
    assert apply(tree_of({"a.py": text.encode("latin-1")}), carry(place, "ж")).texts == {}
    assert apply(tree_of({"a.py": text.encode("latin-1")}), carry(place, "é")).texts != {}


def test_applying_twice_is_applying_once() -> None:
    text, place = place_of("x = §f(a=1)\n")
    once = apply(tree_of({"a.py": text}), carry(place, "b")).texts["a.py"]
    assert apply(tree_of({"a.py": once}), carry(place, "b")).texts == {}


def test_a_file_in_newer_syntax_is_mended_and_keeps_it() -> None:
    before = 'class A[T]: pass\ntype X = int\ntry: pass\nexcept A, B: pass\nx = f"é{"a"}" + §f(a=f"{"é"}")\n'
    after = 'class A[T]: pass\ntype X = int\ntry: pass\nexcept A, B: pass\nx = f"é{"a"}" + f(a=f"{"é"}", b=plan.b)\n'
    source, place = place_of(before)
    changes = apply_fixes(tree_of({"a.py": source}), [carry(place, "b")], unsafe=False)
    assert changes.texts == {"a.py": after}


# The published bug's call


def test_the_call_of_the_published_bug_gets_one_line_more() -> None:
    before = """\
def materialize(selection, device):
    def for_rows(rows):
        if rows:
            scratch = §replace(
                plan_scratch(
                    caps,
                    compile_launches=False,
                ),
                fused=programs.fused,
                topk_sum=programs.topk_sum,
            )
            return scratch
"""
    last = "                topk_sum=programs.topk_sum,\n"
    after = before.replace(MARK, "").replace(last, last + "                route_pack=plan.route_pack,\n")
    assert fixed(before, "route_pack") == after


# A statement more


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("§new.a = old.a\n", "new.a = old.a\nnew.b = old.b\n"),
        ("§new.a = old.a", "new.a = old.a\nnew.b = old.b"),
        (
            "if x:\n    §new.a = old.a  # why\n    y = 1\n",
            "if x:\n    new.a = old.a  # why\n    new.b = old.b\n    y = 1\n",
        ),
        ("if x:\n\t§new.a = (\n\t\told.a\n\t)\n", "if x:\n\tnew.a = (\n\t\told.a\n\t)\n\tnew.b = old.b\n"),
        ("§new.a = old.a\r\nx = 1\r\n", "new.a = old.a\r\nnew.b = old.b\r\nx = 1\r\n"),
        ("§new.a = old.a; x = 1\n", None),
        ("x = 1; §new.a = old.a\n", None),
        ("if x: §new.a = old.a\n", None),
        ("x = §f(1)\n", None),
    ],
)
def test_a_statement_is_added_behind_one_that_has_its_lines_to_itself(before: str, after: str | None) -> None:
    source, place = place_of(before)
    edit = Edit(place, "b", "new.b = old.b", statement=True)
    finding = Finding("OWN001", place, "a.Plan", ("b",), "dropped", (), (Fix("carry", "safe", (edit,)),))
    assert apply(tree_of({"a.py": source}), finding).texts.get("a.py") == after


def test_two_statements_and_a_keyword_in_one_file_are_all_added() -> None:
    source = "new.a = old.a\nx = replace(f, a=1)\n"
    here, call = Place("a.py", 1, 1), Place("a.py", 2, 5)
    edits = tuple(Edit(here, name, f"new.{name} = old.{name}", statement=True) for name in ("c", "b"))
    listed = Finding("OWN001", here, "a.Plan", ("b", "c"), "dropped", (), (Fix("carry", "safe", edits),))
    changes = apply(tree_of({"a.py": source}), listed, carry(call, "d"))
    assert changes.texts["a.py"] == "new.a = old.a\nnew.b = old.b\nnew.c = old.c\nx = replace(f, a=1, d=plan.d)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = (§a, b)\n", "x = (a, new, b)\n"),
        ("é = 'ß'; x = [§a]\n", "é = 'ß'; x = [a, new]\n"),
        ("x = (\r\n    §a,  # why\r\n)\r\n", "x = (\r\n    a, new,  # why\r\n)\r\n"),
        ("x = (§b, a)\n", None),
        ("x = (b, §", None),
    ],
)
def test_a_text_is_replaced_only_where_it_stands(before: str, after: str | None) -> None:
    source, place = place_of(before)
    edit = Edit(place, "new", "a, new", old="a")
    finding = Finding("OWN007", place, "a.Plan", ("new",), "lacks", (), (Fix("add", "safe", (edit,)),))
    assert apply(tree_of({"a.py": source}), finding).texts.get("a.py") == after


def test_texts_on_one_line_are_replaced_where_they_have_moved_to() -> None:
    edits = tuple(
        Edit(Place("a.py", 1, column), name, f"{name}={name}", old=name) for name, column in (("a", 3), ("b", 6))
    )
    finding = Finding("OWN005", Place("a.py", 1), "a.Plan", ("a", "b"), "order", (), (Fix("name", "safe", edits),))
    assert apply(tree_of({"a.py": "f(a, b)\n"}), finding).texts["a.py"] == "f(a=a, b=b)\n"
