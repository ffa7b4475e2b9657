"""One run: which findings are asked for, what is a problem, and what a tree without plans costs."""

from __future__ import annotations

import gc

from lint_rules.config import Config
from lint_rules.engine import analyze
from lint_rules.files import SourceTree
from lint_rules.rules import own001_dropped, own003_defaulted
from tests.lint_rules.checking import analysis_of
from tests.lint_rules.trees import tree_of

DROP = own001_dropped.RULE.bad[0]


def selecting(files: dict[str, str | bytes], *names: str) -> SourceTree:
    tree = tree_of(files)
    tree.selected = frozenset(names)
    return tree


def split_drop() -> dict[str, str | bytes]:
    """The plan in one file, the function that loses a field of it in another."""
    head, _, tail = DROP.partition("@materializer\n")
    imports = (
        "from dataclasses import replace\nfrom ownership import materializer\nfrom plans import MoePlan, plan_moe\n"
    )
    return {"plans.py": head, "serve.py": imports + "@materializer\n" + tail, "other.py": "x = 1\n"}


def test_a_finding_elsewhere_is_reported_if_a_selected_file_declares_the_class() -> None:
    analysis = analyze(selecting(split_drop(), "plans.py"), Config())
    assert [str(finding.place) for finding in analysis.findings] == ["serve.py:6"]


def test_a_finding_that_concerns_no_selected_file_is_not_reported() -> None:
    assert analyze(selecting(split_drop(), "other.py"), Config()).findings == ()


def test_a_broken_file_is_a_problem_and_the_others_are_checked() -> None:
    analysis = analysis_of({"a.py": DROP, "b.py": "def broken(:\n", "c.py": "\n\nx = (\n"})
    assert [finding.code for finding in analysis.findings] == ["OWN001"]
    assert [str(problem.place) for problem in analysis.problems] == ["b.py:1", "c.py:3"]


def test_past_a_size_only_files_that_speak_of_plans_are_parsed_unless_asked() -> None:
    big = "#" * 16_000_001
    files: dict[str, str | bytes] = {"a.py": DROP, "b.py": "def broken(:\n", "big.py": big}
    assert analyze(tree_of(files), Config()).problems == ()
    assert len(analyze(tree_of(files), Config(parse_all=True)).problems) == 1


def test_a_file_that_is_not_text_is_a_problem_at_any_size() -> None:
    files: dict[str, str | bytes] = {"a.py": DROP, "b.py": b"x = '\xff'\n"}
    (problem,) = analyze(tree_of(files), Config(parse_all=False)).problems
    assert str(problem.place) == "b.py:1"


def test_rules_can_be_selected_and_ignored_by_prefix() -> None:
    files: dict[str, str | bytes] = {"a.py": DROP, "b.py": own003_defaulted.RULE.bad[0]}
    tree = tree_of(files)
    assert {f.code for f in analyze(tree, Config()).findings} == {"OWN001", "OWN003"}
    assert {f.code for f in analyze(tree, Config(select=("OWN003",))).findings} == {"OWN003"}
    assert {f.code for f in analyze(tree, Config(ignore=("OWN00",))).findings} == set()


def test_code_without_plans_has_no_findings_and_counts_none() -> None:
    analysis = analysis_of({"a.py": "from dataclasses import replace\n\n\ndef f(x):\n    return replace(x, a=1)\n"})
    assert (analysis.findings, analysis.problems, analysis.plans, analysis.files) == ((), (), 0, 1)


def test_the_garbage_collector_is_as_it_was() -> None:
    assert gc.isenabled()
    analysis_of({"a.py": DROP})
    assert gc.isenabled()
