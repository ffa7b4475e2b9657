from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lint_rules import suppress
from lint_rules.findings import Edit, Finding, Fix, Place
from lint_rules.fixes import apply_fixes
from lint_rules.suppress import apply_suppressions, sort_out
from tests.lint_rules.trees import tree_of

LINE = "    return CoolPlan(plan.rows)"
REASON = "# carryall: ignore[OWN001:vent] -- a sealed loop has no vent"


def drop(line: int = 2, *fields: str, code: str = "OWN001") -> Finding:
    names = fields or ("vent",)
    return Finding(
        code=code,
        place=Place("a.py", line, 12),
        class_name="a.CoolPlan",
        fields=names,
        message="not carried",
        declared_at=tuple(Place("a.py", 50 + index) for index, _ in enumerate(names)),
        fixes=(
            Fix("carry", "safe", tuple(Edit(Place("a.py", line, 12), name, f"plan.{name}") for name in names)),
            Fix("declare the drop", "display"),
        ),
    )


def split(text: str, *findings: Finding) -> tuple[list[Finding], list[Finding]]:
    return apply_suppressions(findings or (drop(),), tree_of({"a.py": text}))


def codes(text: str, *findings: Finding) -> list[str]:
    return [finding.code for finding in split(text, *findings)[0]]


# Where it stands


def test_a_comment_on_the_line_suppresses() -> None:
    kept, suppressed = split(f"def f(plan):\n{LINE}  {REASON}\n")
    assert (kept, suppressed) == ([], [drop()])


def test_a_comment_alone_on_the_line_above_suppresses() -> None:
    assert codes(f"def f(plan):\n    {REASON}\n{LINE}\n", drop(3)) == []


def test_other_comments_may_stand_between() -> None:
    assert codes(f"def f(plan):\n    {REASON}\n    # and more\n{LINE}\n", drop(4)) == []


def test_two_comments_may_stand_above_each_other() -> None:
    other = "# carryall: ignore[OWN004] -- as well"
    assert codes(f"{REASON}\n{other}\n{LINE.strip()}\n", drop(3), drop(3, code="OWN004")) == []


def test_a_comment_behind_code_on_the_line_above_is_for_that_line() -> None:
    assert codes(f"x = 1  {REASON}\ny = CoolPlan()\n") == ["OWN001"]


def test_a_comment_with_an_empty_line_between_is_for_nothing() -> None:
    assert codes(f"{REASON}\n\ny = CoolPlan()\n", drop(3)) == ["OWN001"]


def test_a_comment_below_is_for_nothing() -> None:
    assert codes(f"def f(plan):\n{LINE}\n    {REASON}\n") == ["OWN001"]


def test_a_call_inside_a_statement_is_covered_by_either_first_line() -> None:
    text = "x = wrap(  {0}\n    1,\n    {1}\n    CoolPlan(  {2}\n        plan.rows,\n    ),\n)\n"
    for place in range(3):
        comments = ["", "", ""]
        comments[place] = REASON
        assert codes(text.format(*comments), drop(4)) == [], place


def test_a_comment_on_the_last_line_of_a_call_is_too_late() -> None:
    assert codes(f"x = CoolPlan(\n    1,\n)  {REASON}\n", drop(1)) == ["OWN001"]


def test_another_comment_may_come_first_on_the_line() -> None:
    assert codes(f"\ny = f()  # type: ignore[x]  {REASON}\n") == []


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_of_other_systems_count_too(end: str) -> None:
    assert codes(f"def f(plan):{end}{LINE}  {REASON}{end}") == []


# What it covers


@pytest.mark.parametrize("inside", ["OWN001", "OWN001:vent", "OWN004, OWN001:vent", " OWN001:vent , OWN001:pump "])
def test_the_code_alone_or_with_the_field_covers(inside: str) -> None:
    assert codes(f"\n{LINE.strip()}  # carryall: ignore[{inside}] -- why\n") == []


@pytest.mark.parametrize("inside", ["OWN004", "OWN001:pump", "OWN004:vent", "OWN0010"])
def test_another_code_or_field_does_not_cover(inside: str) -> None:
    assert codes(f"\n{LINE.strip()}  # carryall: ignore[{inside}] -- why\n") == ["OWN001"]


def test_of_two_fields_the_one_that_is_not_named_is_kept() -> None:
    both = drop(2, "pump", "vent")
    kept, suppressed = split(f"def f(plan):\n{LINE}  {REASON}\n", both)
    assert [(each.fields, each.declared_at) for each in kept] == [(("pump",), (Place("a.py", 50),))]
    assert [(each.fields, each.declared_at) for each in suppressed] == [(("vent",), (Place("a.py", 51),))]
    assert [edit.keyword for fix in kept[0].fixes for edit in fix.edits] == ["pump"]
    assert kept[0].message == "not carried (suppressed here: vent)"
    assert suppressed[0].message == "not carried"
    assert [fix.title for fix in kept[0].fixes] == ["carry", "declare the drop"]


def test_both_fields_may_be_named_one_by_one() -> None:
    text = f"def f(plan):\n{LINE}  # carryall: ignore[OWN001:vent, OWN001:pump] -- neither\n"
    assert codes(text, drop(2, "pump", "vent")) == []


@given(
    fields=st.lists(st.sampled_from("abcdef"), min_size=1, unique=True),
    named=st.lists(st.sampled_from("abcdefgh"), min_size=1, unique=True),
)
def test_no_field_is_lost_and_none_is_in_both_parts(fields: list[str], named: list[str]) -> None:
    inside = ", ".join(f"OWN001:{name}" for name in named)
    kept, suppressed = split(f"\nf()  # carryall: ignore[{inside}] -- why\n", drop(2, *fields))
    assert [name for each in kept for name in each.fields] == [name for name in fields if name not in named]
    assert [name for each in suppressed for name in each.fields] == [name for name in fields if name in named]


# What does not count


@pytest.mark.parametrize(
    "literal",
    [f"'{REASON}'", f'"""{REASON}"""', f'f"{REASON}"', f"b'{REASON}'", f'"""\n{REASON}\n"""', f"'a\\\n{REASON}'"],
)
def test_a_string_is_no_comment(literal: str) -> None:
    text = f"x = f({literal})\n"
    line = next(at for at, row in enumerate(text.split("\n"), 1) if "carryall" in row)
    assert codes(text, drop(line), drop(1)) == ["OWN001", "OWN001"]


def test_a_reason_that_is_only_said_in_a_string_hides_nothing_below() -> None:
    assert codes(f'"""\n{REASON}\n"""\nf()\n', drop(4)) == ["OWN001"]


@pytest.mark.parametrize("comment", ["# write `# carryall: ignore[OWN001]` there", "# carryall: see the manual"])
def test_a_comment_that_only_speaks_about_it_is_left_alone(comment: str) -> None:
    assert codes(f"\nf()  {comment}\n") == ["OWN001"]


@pytest.mark.parametrize("ending", ["", " --", " --   ", " - why", " because", " until=2999-01-01", " -- "])
def test_without_a_reason_it_does_not_count_and_is_reported(ending: str) -> None:
    kept, suppressed = split(f"\nf()  # carryall: ignore[OWN001]{ending}\n")
    assert sorted(each.code for each in kept) == ["OWN001", "OWN900"]
    assert suppressed == []
    assert next(each.place for each in kept if each.code == "OWN900") == Place("a.py", 2, 6)


@pytest.mark.parametrize(
    "comment",
    [
        "ignore -- why",
        "ignore OWN001 -- why",
        "ignore[] -- why",
        "ignore[own001] -- why",
        "ignore[OWN001:] -- why",
        "ignore[OWN001:1x] -- why",
        "ignore[OWN001] until=tomorrow -- why",
        "ignore[OWN001] until=2026-02-30 -- why",
        "ignore[OWN001] since=2026-01-01 -- why",
        "ignore[OWN001 -- why",
    ],
)
def test_one_that_cannot_be_read_is_reported(comment: str) -> None:
    assert sorted(codes(f"\nf()  # carryall: {comment}\n")) == ["OWN001", "OWN900"]


def test_mistakes_in_files_that_were_not_asked_for_are_not_reported() -> None:
    tree = tree_of({"a.py": "f()  # carryall: ignore[OWN001]\n", "b.py": "f()  # carryall: ignore[OWN001]\n"})
    tree.selected = frozenset({"b.py"})
    assert [each.place.path for each in apply_suppressions([], tree)[0]] == ["b.py"]


def test_a_finding_outside_the_selected_files_can_be_suppressed() -> None:
    tree = tree_of({"a.py": f"\nf()  {REASON}\n"})
    tree.selected = frozenset()
    assert apply_suppressions([drop()], tree) == ([], [drop()])


# Dates


@pytest.mark.parametrize(("today", "left"), [("2026-06-30", []), ("2026-07-01", ["OWN001", "OWN901"])])
def test_it_holds_until_the_end_of_its_day(today: str, left: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suppress, "_today", lambda: dt.date.fromisoformat(today))
    assert sorted(codes("\nf()  # carryall: ignore[OWN001] until=2026-06-30 -- why\n")) == left


# Comments that hide nothing


def idle(text: str, *findings: Finding, but: str = "") -> list[str]:
    """The messages about unused comments, where every rule was run `but` one."""
    kept, _ = sort_out(findings, tree_of({"a.py": text}), lambda code, name: code != but)
    return [each.message for each in kept if each.code == "OWN902"]


def test_a_comment_that_hides_something_is_used() -> None:
    assert idle(f"\nf()  {REASON}\n", drop()) == []


def test_a_comment_that_hides_nothing_is_reported() -> None:
    assert idle(f"\nf()  {REASON}\n") == ["suppression of OWN001:vent hides nothing here; take it away"]


def test_of_several_codes_those_that_hide_nothing_are_named() -> None:
    text = "\nf()  # carryall: ignore[OWN001:vent, OWN004, OWN001:pump] -- why\n"
    assert idle(text, drop()) == ["suppression of OWN004, OWN001:pump hides nothing here; keep OWN001:vent only"]


def test_a_rule_that_was_not_run_says_nothing_about_its_suppressions() -> None:
    assert idle(f"\nf()  {REASON}\n", but="OWN001") == []
    assert idle(f"\nf()  {REASON}\n", but="OWN004") != []


def test_nothing_is_said_of_files_that_were_not_asked_for() -> None:
    tree = tree_of({"a.py": f"f()  {REASON}\n"})
    tree.selected = frozenset()
    assert sort_out([], tree, lambda code, name: True) == ([], [])


def test_the_comment_is_known_for_each_suppressed_finding() -> None:
    _, (suppressed,) = sort_out([drop()], tree_of({"a.py": f"\nf()  {REASON}\n"}))
    assert (suppressed.finding, suppressed.by.reason) == (drop(), "a sealed loop has no vent")
    assert suppressed.by.place == Place("a.py", 2, 6)


# Comments that are taken away


def mended(text: str, *findings: Finding, unsafe: bool = False) -> str:
    tree = tree_of({"a.py": text})
    kept, _ = sort_out(findings, tree, lambda code, name: True)
    hygiene = [each for each in kept if each.code.startswith("OWN9")]
    return apply_fixes(tree, hygiene, unsafe=unsafe).texts.get("a.py", text)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", ""])
@pytest.mark.parametrize(
    "comment",
    [
        "# carryall: ignore[OWN001]",
        "# carryall: ignore[OWN001] -- nothing here",
        "# carryall: ignore[OWN001] until=2020-01-01 -- long ago",
    ],
)
def test_one_that_does_nothing_goes_and_the_code_stays(comment: str, end: str) -> None:
    assert mended(f"x = 1\nf()  {comment}{end}") == f"x = 1\nf(){end}"


def test_one_that_stands_alone_goes_with_its_line() -> None:
    assert mended(f"def f():\n    {REASON}\n    return 1\n") == "def f():\n    return 1\n"


def test_of_several_codes_the_ones_that_are_used_stay() -> None:
    text = "\nf()  # carryall: ignore[OWN004, OWN001:vent] until=2999-01-01 -- why\n"
    assert mended(text, drop()) == "\nf()  # carryall: ignore[OWN001:vent] until=2999-01-01 -- why\n"


def test_what_another_tool_reads_behind_it_stays() -> None:
    assert mended("f()  # carryall: ignore[OWN001] -- why  # noqa: E501\n") == "f()  # noqa: E501\n"
    assert mended("f()  # type: ignore  # carryall: ignore[OWN001] -- why\n") == "f()  # type: ignore\n"
    assert mended("# carryall: ignore[OWN001] -- why  # noqa\n") == "# noqa\n"


def test_one_that_cannot_be_read_is_for_a_person() -> None:
    text = "f()  # carryall: ignore[own001] -- a slip\n"
    assert (mended(text), mended(text, unsafe=True)) == (text, "f()\n")


@given(
    rows=st.lists(st.sampled_from(["x = 1", "f()  # note", f"g()  {REASON}", REASON, "    ", "'''", "# é"]), min_size=1)
)
def test_taking_comments_away_changes_no_statement_and_is_done_at_once(rows: list[str]) -> None:
    text = "\n".join(rows) + "\n"
    once = mended(text)
    assert mended(once) == once
    code = [row.partition("#")[0].rstrip() for row in text.split("\n") if row != REASON]
    assert [row.partition("#")[0].rstrip() for row in once.split("\n") if row != REASON] == code


# Robustness


@pytest.mark.parametrize(
    "text", [f"f(  {REASON}\n", f"'''\n{REASON}", f"  x\n y  {REASON}\n", f"é = 1\nf()  {REASON}\n"]
)
def test_broken_source_never_raises(text: str) -> None:
    split(text)


def test_bytes_that_are_no_text_never_raise() -> None:
    data = b"# \xff carryall: ignore[OWN001] -- x\n"
    assert apply_suppressions([drop()], tree_of({"a.py": data})) == ([drop()], [])


@given(st.text(max_size=40))
def test_any_text_behind_the_marker_is_read_or_reported(rest: str) -> None:
    kept, suppressed = split(f"\nf()  # carryall: ignore{rest}\n")
    assert len(suppressed) + sum(each.code == "OWN001" for each in kept) == 1


def test_findings_come_back_in_the_order_of_their_places() -> None:
    kept, _ = split("a()\nb()  # carryall: ignore[OWN001]\nc()\n", drop(3), drop(1))
    assert [(each.place.line, each.code) for each in kept] == [(1, "OWN001"), (2, "OWN900"), (3, "OWN001")]
