"""Rules of other packages, found as installed packages are found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lint_rules import plugins
from lint_rules.cli import main
from lint_rules.rules import load_rules

RULE = """
from lint_rules.findings import Finding, Place
from lint_rules.rules import Rule

def run(context):
    for name in context.project.tree.files:
        yield Finding("{code}", Place(name, 1), "", (), "every file is wrong")

RULE = Rule("{code}", "everything", "all files", "All files.", (), (), "", run)
BOTH = [RULE, Rule("ABC002", "nothing", "no file", "No file.", (), (), "", lambda context: ())]
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that packages are installed in; `house_rules` is gone again from memory at the end."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "house_rules", raising=False)
    return folder


def install(site: Path, value: str = "house_rules:RULE", *, code: str = "ABC001", source: str = RULE) -> None:
    (site / "house_rules.py").write_text(source.replace("{code}", code), encoding="utf-8")
    about = site / "house_rules-1.0.dist-info"
    about.mkdir(exist_ok=True)
    (about / "entry_points.txt").write_text(
        f"[console_scripts]\nx = y:z\n\n[carryall.rules]\nhouse = {value}\n", encoding="utf-8"
    )


def check(folder: Path, *arguments: str) -> Result:
    (folder / "project").mkdir(exist_ok=True)
    (folder / "project" / "a.py").write_text("x = 1\n", encoding="utf-8")
    return CliRunner().invoke(main, ["check", str(folder / "project"), *arguments])


def test_without_packages_there_are_the_own_rules() -> None:
    assert plugins.load_all() == load_rules()
    assert plugins.digest() == ""


@pytest.mark.parametrize(
    ("value", "codes"), [("house_rules:RULE", ["ABC001"]), ("house_rules:BOTH", ["ABC001", "ABC002"])]
)
def test_a_rule_or_a_list_of_them_is_added(site: Path, value: str, codes: list[str]) -> None:
    install(site, value)
    rules, failed = plugins.load_all()
    assert failed == ()
    assert [rule.code for rule in rules][len(load_rules()[0]) :] == codes


def test_its_findings_are_reported_and_it_can_be_chosen_and_explained(site: Path, tmp_path: Path) -> None:
    install(site)
    done = check(tmp_path)
    assert (done.exit_code, "ABC001 every file is wrong" in done.stdout) == (1, True)
    assert check(tmp_path, "--ignore", "ABC").exit_code == 0
    assert "ABC001  everything" in CliRunner().invoke(main, ["rules"]).stdout
    assert CliRunner().invoke(main, ["explain", "ABC001"]).stdout.startswith("ABC001 everything: all files")


@pytest.mark.parametrize(
    ("value", "code", "source", "told"),
    [
        ("house_rules:RULE", "ABC001", "1 / 0\n", "ZeroDivisionError"),
        ("house_rules:RULE", "ABC001", "raise SystemExit(0)\n", "SystemExit"),
        ("house_rules:GONE", "ABC001", RULE, "has no attribute 'GONE'"),
        ("house_rules", "ABC001", RULE, "write it as module:RULE"),
        ("no_such_module:RULE", "ABC001", RULE, "No module named 'no_such_module'"),
        ("house_rules:run", "ABC001", RULE, "it is function, where a lint_rules.rules.Rule"),
        ("house_rules:RULE", "OWN001", RULE, "the code OWN001 is taken by carryall"),
        ("house_rules:RULE", "OWN901", RULE, "the code OWN901 is taken by carryall"),
        ("house_rules:RULE", "abc-1", RULE, "'abc-1' is no rule code"),
    ],
)
def test_one_that_cannot_be_loaded_is_status_2_and_names_the_package(
    site: Path, tmp_path: Path, value: str, code: str, source: str, told: str
) -> None:
    install(site, value, code=code, source=source)
    done = check(tmp_path)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert told in done.stderr
    assert f"{value} (entry point 'house' of house_rules)" in done.stderr


def test_an_entry_point_file_that_cannot_be_read_as_one_is_status_2(site: Path, tmp_path: Path) -> None:
    install(site)
    (site / "house_rules-1.0.dist-info" / "entry_points.txt").write_text("[carryall.rules\nx\n", encoding="utf-8")
    assert check(tmp_path).exit_code == 2


def test_the_digest_changes_with_the_source_of_the_rules(site: Path) -> None:
    digests = {plugins.digest()}
    install(site)
    digests.add(plugins.digest())
    install(site, source=RULE + "# changed\n")
    digests.add(plugins.digest())
    install(site, "house_rules:BOTH")
    digests.add(plugins.digest())
    assert len(digests) == 4


def test_a_changed_rule_of_another_package_is_not_answered_from_the_cache(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site)
    assert check(tmp_path).exit_code == 1
    install(site, source=RULE.replace("every file is wrong", "still wrong"))
    monkeypatch.delitem(sys.modules, "house_rules")
    assert "still wrong" in check(tmp_path).stdout
