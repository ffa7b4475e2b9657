"""The unsaved text of one file: `carryall check - --stdin-filename PATH`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from lint_rules.cli import main
from tests.lint_rules.cli.conftest import Done

if TYPE_CHECKING:
    from pathlib import Path

    from tests.lint_rules.cli.conftest import Engine, Project

DROP = "new = replace(plan, fold=plan.fold)\n"
MENDED = "new = replace(plan, fold=plan.fold, pack=plan.pack)\n"

pytestmark = pytest.mark.usefixtures("engine")


def ask(text: str | bytes, name: str, *arguments: str) -> Done:
    """What an editor gets that has this text in its buffer."""
    command = ["check", "-", "--stdin-filename", name, *arguments]
    result = CliRunner().invoke(main, command, input=text, prog_name="carryall")
    return Done(result.exit_code, result.stdout_bytes.decode(), result.stderr)


def test_the_text_stands_in_place_of_the_file(project: Project) -> None:
    path = project.add("a.py", MENDED)
    done = ask("x = 1\n" + DROP, "a.py", "--format", "json")
    assert (done.status, done.stderr) == (1, "")
    assert [(each["path"], each["line"], each["fields"]) for each in done.objects] == [("a.py", 2, ["pack"])]
    assert path.read_text(encoding="utf-8") == MENDED
    project.add("a.py", DROP)
    assert ask(MENDED, "a.py", "--format", "json").objects == []


def test_findings_of_other_files_are_left_out(project: Project) -> None:
    project.add("a.py", DROP)
    project.add("b.py", DROP)
    assert ask(MENDED, "b.py").status == 0
    assert [each["path"] for each in ask(DROP, "b.py", "--format", "json").objects] == ["b.py"]


def test_a_file_that_was_never_saved_is_checked(project: Project) -> None:
    done = ask(DROP, "new.py", "--format", "json")
    assert [each["path"] for each in done.objects] == ["new.py"]
    assert not (project.root / "new.py").exists()


def test_an_absolute_path_and_another_current_folder_are_understood(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = project.add("sub/a.py", MENDED)
    monkeypatch.chdir(tmp_path)
    assert [each["path"] for each in ask(DROP, str(path), "--format", "json").objects] == ["sub/a.py"]


def test_an_excluded_file_is_silent(project: Project) -> None:
    project.add("pyproject.toml", '[tool.carryall]\nexclude = ["gen"]\n')
    project.add("gen/a.py", DROP)
    assert ask(DROP, "gen/a.py", "--format", "json").stdout == ""


def test_text_that_is_no_python_yet_is_status_2(project: Project) -> None:
    project.add("a.py", DROP)
    done = ask("x = (\n", "a.py", "--format", "json")
    assert (done.status, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("error: a.py:1: syntax error")


def test_a_suppression_in_the_text_counts(project: Project) -> None:
    project.add("a.py", DROP)
    text = f"{DROP.strip()}  # carryall: ignore[OWN001] -- in the making\n"
    assert ask(text, "a.py").status == 0


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_fix_prints_the_mended_text_and_leaves_all_files_alone(project: Project, end: bytes) -> None:
    path = project.add("a.py", "x = 1\n")
    other = project.add("b.py", DROP)
    done = ask(DROP.encode().replace(b"\n", end), "a.py", "--fix")
    assert (done.status, done.stdout.encode()) == (0, MENDED.encode().replace(b"\n", end))
    assert "fixed 1 finding in 1 file" in done.stderr
    assert (path.read_text(encoding="utf-8"), other.read_text(encoding="utf-8")) == ("x = 1\n", DROP)


def test_fix_prints_the_text_as_it_is_when_there_is_nothing_to_mend_and_when_it_is_no_python(project: Project) -> None:
    assert ask(MENDED, "a.py", "--fix").stdout == MENDED
    assert ask("x = (\n", "a.py", "--fix").stdout == "x = (\n"


def test_diff_shows_what_fix_would_do(project: Project) -> None:
    project.add("a.py", DROP)
    assert ask(DROP, "a.py", "--diff").stdout == f"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-{DROP}+{MENDED}"


def test_the_same_text_again_asks_nobody(project: Project, engine: Engine) -> None:
    project.add("a.py", DROP)
    first = ask(DROP + "\n", "a.py", "--format", "json")
    assert ask(DROP + "\n", "a.py", "--format", "json") == first
    assert engine.runs == 1


def test_after_a_check_of_the_whole_the_saved_text_asks_nobody(project: Project, engine: Engine) -> None:
    project.add("a.py", DROP)
    project.add("b.py", DROP)
    project.run("check")
    done = ask(DROP, "a.py", "--format", "json")
    assert ([each["path"] for each in done.objects], engine.runs) == (["a.py"], 1)


@pytest.mark.parametrize(
    "arguments",
    [
        ("-",),
        ("a.py", "--stdin-filename", "a.py"),
        ("-", "a.py", "--stdin-filename", "a.py"),
        ("-", "--stdin-filename", "a.py", "--fix", "--format", "json"),
    ],
)
def test_options_that_do_not_go_together_are_status_2(project: Project, arguments: tuple[str, ...]) -> None:
    done = project.run("check", *arguments)
    assert (done.status, done.stdout) == (2, "")


def test_a_folder_that_is_not_there_is_status_2(project: Project) -> None:
    done = ask(DROP, "gone/a.py")
    assert (done.status, done.stderr) == (2, "error: gone/a.py: no such folder; check --stdin-filename\n")
