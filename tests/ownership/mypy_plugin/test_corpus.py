"""The plugin gives the linter's verdict on the corpus, but for shapes that mypy gives it no way to see."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.ownership.mypy_plugin.checking import ROOT, check, configured, found

CORPUS = ROOT / "tests" / "corpus"
#: What the linter finds and the plugin cannot: each with the reason.
OUT_OF_REACH = {
    "011-getstate-keys": "a round trip through the dict of `__getstate__`: no call connects the two methods",
    "012-from-dict-key-mismatch": "a round trip through `to_dict` and `from_dict`: no call connects the two methods",
    "016-super-init-forward": "mypy calls no hook for `super().__init__(...)`",
    "035-private-fields-filtered": "which keys pass the filter of a comprehension is not evaluated",
}

#: OWN001 and so on to the codes that stand for the same mistake.
CODES = {
    "OWN001": {"drop", "return"},
    "OWN002": {"unmarked"},
    "OWN003": {"default"},
    "OWN004": {"identity", "copy"},
    "OWN012": {"leak"},
}


def is_for_the_plugin(case: Path) -> bool:
    """Whether the case is about a rule that the plugin has, and its plans are marked or declared."""
    data = tomllib.loads(case.read_text(encoding="utf-8"))
    return data["mode"] == "check" and data["rule"] in CODES


CASES = sorted(path.parent.name for path in CORPUS.glob("*/case.toml") if is_for_the_plugin(path))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def places(case: Path, side: str, cache: Path, folder: Path) -> set[tuple[str, str]]:
    """Code and place of each message of the plugin on one side of a case."""
    config = configured(folder, f"cache_dir = {cache}", "python_version = 3.13", "ignore_missing_imports = True")
    declaration = case / "carryall.toml"
    if declaration.exists():
        (folder / "pyproject.toml").write_text(declaration.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(case / side)
        files = sorted(path.as_posix() for path in Path().rglob("*.py"))
        messages = found(check(config, *files))
    return {(code, f"{side}/{path}:{line}") for path, line, code, _ in messages}


@pytest.mark.parametrize("name", CASES)
def test_the_case_is_judged_as_it_says(name: str, cache: Path, tmp_path: Path) -> None:
    case = CORPUS / name
    wanted = tomllib.loads((case / "case.toml").read_text(encoding="utf-8"))
    before = places(case, "before", cache, tmp_path)
    if wanted["expect"] == "none" or name in OUT_OF_REACH:
        assert before == set()
        return
    assert before, "the mistake was not found"
    assert {code for code, _ in before} <= CODES[wanted["rule"]]
    assert {place for _, place in before} <= {f"{wanted['file']}:{wanted['line']}", *wanted.get("also_at", [])}
    assert places(case, "after", cache, tmp_path) == set()


def test_what_is_out_of_reach_is_in_the_corpus() -> None:
    assert set(OUT_OF_REACH) <= set(CASES)
