"""The tables of `docs/type_checkers.md`: wrong steps, each with a right twin, and who sees which."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from docs.build_checkers import PAGE, UnexpectedReportError, refreshed, rows
from tests.typing import checkers
from tests.typing.checkers import (
    CHECKERS,
    MISTAKES,
    TYPE_CHECKERS,
    CheckerFailedError,
    Report,
    all_outcomes,
    all_reports,
    marked_lines,
    mistakes,
)

HEAD = ["title", *CHECKERS, "run time"]


@pytest.fixture(scope="module")
def table() -> dict[str, dict[str, str]]:
    return {name: dict(zip(HEAD, cells, strict=True)) for name, cells in rows().items()}


def test_the_tables_are_what_the_checkers_say() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert refreshed(page) == page, "run `make docs` and read what changed"


def test_another_cell_makes_the_table_stale() -> None:
    page = PAGE.read_text(encoding="utf-8")
    changed = page.replace("| - | `ownership-drop` | - |", "| - | - | - |", 1)
    assert changed != page
    assert refreshed(changed) == page


def test_a_page_without_a_place_for_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match="one place"):
        refreshed("# Type checkers\n")


def test_there_are_enough_mistakes_and_each_is_marked() -> None:
    assert len(mistakes()) >= 20
    marks = marked_lines(MISTAKES, "wrong")
    assert all(marks[f"{name}.py"] for name in mistakes())


def test_each_mistake_is_seen_by_someone(table: dict[str, dict[str, str]]) -> None:
    assert not [name for name, row in table.items() if {row[column] for column in HEAD[1:]} == {"-"}]


def test_the_published_bug_is_seen_by_the_plugin_the_linter_and_the_running_program_alone(
    table: dict[str, dict[str, str]],
) -> None:
    row = table["replace_forgets"]
    assert {row[checker] for checker in TYPE_CHECKERS} == {"-"}
    assert (row["mypy + plugin"], row["carryall check"]) == ("`ownership-drop`", "`OWN001`")
    assert row["run time"] == "`DroppedFieldError`"


def test_every_type_checker_sees_what_a_bundle_lacks(table: dict[str, dict[str, str]]) -> None:
    for name in ("bundle_forgets", "bundle_unprepared", "bundle_not_carried"):
        assert "-" not in {table[name][checker] for checker in TYPE_CHECKERS}


def test_the_running_program_raises_for_all_but_what_it_was_not_told_of(table: dict[str, dict[str, str]]) -> None:
    silent = [name for name, row in table.items() if row["run time"] == "-"]
    assert silent == ["constructor_with_default"], "that class is declared for the linter, and is no plan at run time"


def test_a_report_of_an_unmarked_line_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {**all_reports(), "ty": [Report("replace_forgets.py", 1, "nonsense")]}
    monkeypatch.setattr("docs.build_checkers.all_reports", lambda: said)
    with pytest.raises(UnexpectedReportError, match="replace_forgets"):
        rows()


def test_a_right_step_that_raises_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = {name: (wrong, wrong) for name, (wrong, _) in all_outcomes().items()}
    monkeypatch.setattr("docs.build_checkers.all_outcomes", lambda: ran)
    with pytest.raises(UnexpectedReportError, match="right step"):
        rows()


def test_a_checker_that_fails_is_not_taken_for_silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CheckerFailedError, match="status 3"):
        checkers._run([sys.executable, "-c", "raise SystemExit(3)"], tmp_path)
    broken = tmp_path / "broken.py"
    broken.write_text("def wrong(: ...\n", encoding="utf-8")
    with pytest.raises(CheckerFailedError):
        checkers._run(
            [sys.executable, "-m", "lint_rules", "check", str(broken)], tmp_path, env={"PYTHONPATH": str(checkers.ROOT)}
        )


def test_pyright_runs_without_network_and_without_a_node_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("x: int = ''\n", encoding="utf-8")
    env = {
        "PYRIGHT_PYTHON_GLOBAL_NODE": "0",
        "HOME": str(tmp_path / "home"),
        "PATH": "",
        "HTTPS_PROXY": "http://127.0.0.1:9",
    }
    command = [sys.executable, "-m", "pyright", "--outputjson", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "reportAssignmentType" in done.stdout
