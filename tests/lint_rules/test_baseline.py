from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lint_rules.baseline import Baseline, BaselineError, count_findings, read_baseline, write_baseline
from lint_rules.files import SourceTree
from lint_rules.findings import Edit, Finding, Fix, Place
from tests.lint_rules.trees import tree_of

SOURCE = "def f(plan):\n    return replace(plan)\n\n\ndef g(plan):\n    return replace(plan)\n"


NEVER = '{"path": "", "code": "", "class": "", "function": "", "field": "", "context": "", "count": 0}'


def drop(line: int, *fields: str, path: str = "a.py", code: str = "OWN001", column: int = 12) -> Finding:
    names = fields or ("pack",)
    place = Place(path, line, column)
    edits = tuple(Edit(place, name, f"plan.{name}") for name in names)
    declared = tuple(Place("plans.py", 10 + at) for at, _ in enumerate(names))
    return Finding(code, place, "plans.Plan", names, "not carried", declared, (Fix("carry", "safe", edits),))


def baseline_of(tree: SourceTree, *findings: Finding) -> Baseline:
    return Baseline("known.json", count_findings(findings, tree))


def places(findings: list[Finding]) -> list[int]:
    return [finding.place.line for finding in findings]


def always(code: str, name: str) -> bool:
    return True


# What is hidden


def test_what_is_in_it_is_known_and_the_rest_is_new() -> None:
    tree = tree_of({"a.py": SOURCE})
    new, known = baseline_of(tree, drop(2)).subtract([drop(2), drop(6)], tree)
    assert (places(new), places(known)) == ([6], [2])


def test_moved_and_reformatted_code_is_known() -> None:
    before = tree_of({"a.py": SOURCE})
    after = tree_of(
        {"a.py": "import x\n\n" + SOURCE.replace("replace(plan)", "replace(\n        plan,  # same\n    )", 1)}
    )
    assert baseline_of(before, drop(2)).subtract([drop(4)], after)[0] == []


@pytest.mark.parametrize(
    "other",
    [
        drop(6),
        drop(2, "fold"),
        drop(2, code="OWN004"),
        drop(2, path="b.py"),
        drop(2, column=5),
    ],
)
def test_another_function_field_rule_file_or_code_is_new(other: Finding) -> None:
    tree = tree_of({"a.py": SOURCE, "b.py": SOURCE})
    assert baseline_of(tree, drop(2)).subtract([other], tree) == ([other], [])


def test_a_second_one_like_it_is_new() -> None:
    text = "def f(plan):\n    a = replace(plan)\n    b = replace(plan)\n"
    tree = tree_of({"a.py": text})
    first, second = drop(2, column=9), drop(3, column=9)
    assert baseline_of(tree, first).subtract([first, second], tree) == ([second], [first])
    assert baseline_of(tree, first, second).subtract([first, second], tree) == ([], [first, second])


def test_a_new_field_of_a_known_finding_is_new_alone() -> None:
    tree = tree_of({"a.py": SOURCE})
    ((new,), (known,)) = baseline_of(tree, drop(2, "pack")).subtract([drop(2, "fold", "pack")], tree)
    assert (new.fields, new.message, new.declared_at) == (
        ("fold",),
        "not carried (in the baseline: pack)",
        (Place("plans.py", 10),),
    )
    assert [edit.keyword for fix in new.fixes for edit in fix.edits] == ["fold"]
    assert (known.fields, known.message) == (("pack",), "not carried")


@given(
    known=st.lists(st.tuples(st.sampled_from([2, 6]), st.sampled_from("abc"))),
    found=st.lists(st.tuples(st.sampled_from([2, 6]), st.sampled_from("abc"))),
)
def test_never_more_is_hidden_than_the_file_counts(known: list[tuple[int, str]], found: list[tuple[int, str]]) -> None:
    tree = tree_of({"a.py": SOURCE})
    baseline = baseline_of(tree, *(drop(*each) for each in known))
    new, hidden = baseline.subtract([drop(*each) for each in found], tree)
    shown = Counter((each.place.line, each.fields[0]) for each in new)
    assert shown == Counter(found) - Counter(known)
    assert len(hidden) == len(found) - len(new)
    stale = baseline.stale([drop(*each) for each in found], tree, always)
    assert sum(each.missing for each in stale) == (Counter(known) - Counter(found)).total()


# What is stale


def test_an_entry_without_a_finding_is_stale_and_says_which() -> None:
    tree = tree_of({"a.py": SOURCE})
    (stale,) = baseline_of(tree, drop(2), drop(2)).stale([], tree, always)
    assert str(stale) == (
        "known.json:1: stale entry: OWN001 `pack` of plans.Plan (a.py, in f) is not found any more (2 times)"
    )
    assert baseline_of(tree, drop(2)).stale([drop(2)], tree, always) == ()


def test_only_what_was_looked_at_can_be_stale(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SOURCE, encoding="utf-8")
    tree = tree_of({"a.py": SOURCE}, tmp_path)
    baseline = baseline_of(tree, drop(2))
    assert baseline.stale([], tree, lambda code, name: False) == ()
    tree.selected = frozenset()
    assert baseline.stale([], tree, always) == ()
    (tmp_path / "a.py").unlink()
    assert len(baseline.stale([], tree, always)) == 1


# The file


def test_what_was_written_is_read_and_each_entry_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    tree = tree_of({"a.py": SOURCE})
    counts = count_findings([drop(2), drop(2), drop(6, "ÿ")], tree)
    write_baseline(path, counts)
    read = read_baseline(path, "known.json")
    assert (read.counts, sorted(read.lines.values())) == (dict(counts), [4, 5])
    assert path.read_text(encoding="utf-8").count("\n") == 7


def test_an_empty_one_is_written_and_read(tmp_path: Path) -> None:
    write_baseline(tmp_path / "known.json", {})
    assert read_baseline(tmp_path / "known.json", "known.json").counts == {}


def test_the_text_does_not_depend_on_the_order_of_the_findings(tmp_path: Path) -> None:
    tree = tree_of({"a.py": SOURCE})
    texts = []
    for findings in ([drop(2), drop(6)], [drop(6), drop(2)]):
        write_baseline(tmp_path / "known.json", count_findings(findings, tree))
        texts.append((tmp_path / "known.json").read_text(encoding="utf-8"))
    assert texts[0] == texts[1]


def test_an_entry_that_a_merge_left_twice_counts_twice(tmp_path: Path) -> None:
    entry = {"path": "a.py", "code": "OWN001", "class": "a.B", "function": "f", "field": "x", "context": "00"}
    (tmp_path / "k.json").write_text(json.dumps({"version": 1, "findings": [entry, entry]}), encoding="utf-8")
    assert list(read_baseline(tmp_path / "k.json", "k.json").counts.values()) == [2]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{\n", "k.json:2: no baseline: "),
        ("[]", "it has no list of findings"),
        ('{"version": 9, "findings": []}', "a baseline of version 9"),
        ('{"version": 1, "findings": [1]}', "an entry needs the texts path, code"),
        ('{"version": 1, "findings": [{"path": "a"}]}', "an entry needs the texts"),
        ('{"version": 1, "findings": [\n\n' + NEVER + "]}", "k.json:3: 'count' must be a positive number, not 0"),
        ("\ud800", "not UTF-8"),
    ],
)
def test_a_file_that_is_none_is_an_error_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "k.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(BaselineError) as caught:
        read_baseline(tmp_path / "k.json", "k.json")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="write one with `carryall baseline`"):
        read_baseline(tmp_path / "k.json", "k.json")
    with pytest.raises(BaselineError, match="cannot be read"):
        read_baseline(tmp_path, "k.json")
