"""Every case of `tests/corpus` gets the verdict that its `case.toml` asks for.

The rule is the one of `tests/corpus/README.md`, "What counts as passed". A case is copied to a folder of its own first,
so that no configuration of this repository reaches it.
"""

from __future__ import annotations

import shutil
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lint_rules.audit import audit
from lint_rules.config import load_config
from lint_rules.engine import analyze
from lint_rules.files import load_tree
from lint_rules.findings import Finding
from lint_rules.suppress import apply_suppressions

CORPUS = Path(__file__).resolve().parent.parent / "corpus"

#: How many cases there are: (rule, expect) -> count; `audit` stands before the rule where the checker has to infer.
#: A case that gets lost must not go unnoticed.
COUNTS = {
    ("audit OWN001", "finding"): 10,
    ("audit OWN001", "none"): 7,
    ("audit OWN008", "finding"): 2,
    ("audit OWN008", "none"): 3,
    ("audit OWN009", "finding"): 2,
    ("audit OWN009", "none"): 1,
    ("OWN001", "finding"): 33,
    ("OWN001", "none"): 22,
    ("OWN002", "finding"): 2,
    ("OWN002", "none"): 1,
    ("OWN003", "finding"): 2,
    ("OWN003", "none"): 1,
    ("OWN004", "finding"): 3,
    ("OWN004", "none"): 1,
    ("OWN005", "finding"): 2,
    ("OWN005", "none"): 1,
    ("OWN006", "finding"): 3,
    ("OWN006", "none"): 2,
    ("OWN007", "finding"): 3,
    ("OWN007", "none"): 1,
    ("OWN008", "finding"): 1,
    ("OWN009", "finding"): 1,
    ("OWN010", "finding"): 2,
    ("OWN010", "none"): 1,
    ("OWN011", "finding"): 2,
    ("OWN011", "none"): 1,
    ("OWN012", "finding"): 3,
    ("OWN012", "none"): 1,
}


@dataclass(frozen=True)
class Case:
    """One folder of the corpus and the content of its `case.toml`."""

    folder: Path
    mode: str
    rule: str
    expect: str
    places: frozenset[str]
    classes: frozenset[str]
    fields: tuple[str, ...]
    shape: str
    why: str
    also_allowed: tuple[tuple[str, frozenset[str]], ...]

    @classmethod
    def read(cls, folder: Path) -> Case:
        data: dict[str, Any] = tomllib.loads((folder / "case.toml").read_text(encoding="utf-8"))
        return cls(
            folder=folder,
            mode=data["mode"],
            rule=data["rule"],
            expect=data["expect"],
            places=frozenset([f"{data['file']}:{data['line']}", *data.get("also_at", [])]),
            classes=frozenset([data["class"], *data.get("also_class", [])]),
            fields=tuple(data["fields"]),
            shape=data["shape"],
            why=data["why"],
            also_allowed=tuple((other["rule"], frozenset(other["fields"])) for other in data["also_allowed"]),
        )

    def allows(self, finding: Finding) -> bool:
        """Whether `also_allowed` covers all fields of the finding."""
        return any(finding.code == rule and set(finding.fields) <= fields for rule, fields in self.also_allowed)

    def expects(self, finding: Finding) -> bool:
        """Whether the finding is the expected one, or a part of it."""
        return (
            finding.code == self.rule
            and bool(finding.fields)
            and set(finding.fields) <= set(self.fields)
            and finding.class_name in self.classes
            and f"before/{finding.place}" in self.places
        )


CASES = [Case.read(path.parent) for path in sorted(CORPUS.glob("*/case.toml"))]
POSITIVE = [case for case in CASES if case.expect == "finding"]


def findings_in(case: Case, side: str, folder: Path) -> Sequence[Finding]:
    """What the checker reports for one side, suppressions applied. Fails on any problem."""
    root = folder / side
    shutil.copytree(case.folder / side, root, ignore=shutil.ignore_patterns("__pycache__"))
    # An empty table makes this folder the project root, wherever the temporary folder lies.
    (root / "pyproject.toml").write_text("[tool.carryall]\n", encoding="utf-8")
    declaration = case.folder / "carryall.toml"
    config = load_config(root, declaration if declaration.exists() else None)
    tree = load_tree([root], config=config)
    if case.mode == "audit":
        suggestions, problems = audit(tree, config)
        assert [*tree.problems, *problems] == [], f"{case.folder.name}/{side}: the audit could not do its job"
        return [each.finding for each in suggestions if each.confidence != "low"]
    analysis = analyze(tree, config)
    assert [*tree.problems, *analysis.problems] == [], f"{case.folder.name}/{side}: the checker could not do its job"
    kept, _ = apply_suppressions(analysis.findings, tree)
    return kept


def lines(findings: Iterable[Finding], side: str) -> str:
    shown = [f"    {side}/{f.place}: {f.code} {f.class_name} {list(f.fields)}: {f.message}" for f in findings]
    return "\n".join(shown) or "    (nothing)"


def explain(case: Case, side: str, wanted: str, got: Sequence[Finding], wrong: str) -> str:
    return (
        f"{case.folder.name}/{side}: {wrong}\n"
        f"  shape:  {case.shape}\n"
        f"  why:    {case.why}\n"
        f"  wanted: {wanted}\n"
        f"  reported:\n{lines(got, side)}"
    )


def assert_silent(case: Case, side: str, got: Sequence[Finding]) -> None:
    extra = [finding for finding in got if not case.allows(finding)]
    assert not extra, explain(case, side, "no finding", got, f"{len(extra)} finding(s) too many")


def names(cases: Iterable[Case]) -> list[str]:
    return [case.folder.name for case in cases]


def test_the_corpus_is_complete() -> None:
    label = {"check": "", "audit": "audit "}
    assert Counter((label[case.mode] + case.rule, case.expect) for case in CASES) == COUNTS
    for case in CASES:
        assert (case.folder / "after").is_dir() == (case.expect == "finding"), case.folder.name


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_before_gets_the_expected_verdict(case: Case, tmp_path: Path) -> None:
    got = findings_in(case, "before", tmp_path)
    if case.expect == "none":
        assert_silent(case, "before", got)
        return
    wanted = f"{case.rule} {sorted(case.classes)} {list(case.fields)} at {sorted(case.places)}"
    right = [finding for finding in got if case.expects(finding)]
    reported = sorted(field for finding in right for field in finding.fields)
    assert reported == sorted(case.fields), explain(case, "before", wanted, got, "not the expected fields and place")
    extra = [finding for finding in got if not (case.expects(finding) or case.allows(finding))]
    assert not extra, explain(case, "before", wanted, got, f"{len(extra)} finding(s) too many")


@pytest.mark.parametrize("case", POSITIVE, ids=names(POSITIVE))
def test_after_is_silent(case: Case, tmp_path: Path) -> None:
    assert_silent(case, "after", findings_in(case, "after", tmp_path))
