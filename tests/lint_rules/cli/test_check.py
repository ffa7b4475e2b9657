from __future__ import annotations

import builtins
import codecs
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lint_rules.cache import FOLDER
from lint_rules.cli import session

if TYPE_CHECKING:
    from tests.lint_rules.cli.conftest import Engine, Project

DROP = "new = replace(plan, fold=plan.fold)\n"
MENDED = "new = replace(plan, fold=plan.fold, pack=plan.pack)\n"

pytestmark = pytest.mark.usefixtures("engine")


# Findings and exit status


def test_without_a_finding_the_status_is_0(project: Project) -> None:
    project.add("a.py", MENDED)
    done = project.run("check")
    assert (done.status, done.stdout, done.stderr) == (0, "No findings in 1 plan class in 1 file.\n", "")


def test_with_a_finding_the_status_is_1(project: Project) -> None:
    project.add("a.py", DROP)
    done = project.run("check")
    assert (done.status, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        "a.py:1:7: OWN001 not carried over",
        "    Plan.pack is declared at plans.py:2",
        "    help: carry it [--fix]",
        "    help: declare the drop",
        "1 finding in 1 plan class in 1 file; 1 can be mended with --fix.",
    ]


def test_in_json_each_finding_is_a_line_and_there_is_nothing_else(project: Project) -> None:
    project.add("a.py", DROP * 2)
    done = project.run("check", "--format", "json")
    assert (done.status, done.stderr) == (1, "")
    assert [(each["code"], each["line"], each["fields"]) for each in done.objects] == [
        ("OWN001", 1, ["pack"]),
        ("OWN001", 2, ["pack"]),
    ]


def test_a_clean_run_in_json_prints_nothing(project: Project) -> None:
    project.add("a.py", MENDED)
    done = project.run("check", "--format", "json")
    assert (done.status, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(("arguments", "stream"), [((), "stdout"), (("--format", "json"), "stderr")])
def test_with_nothing_declared_one_line_says_how_to_start(
    project: Project, engine: Engine, arguments: tuple[str, ...], stream: str
) -> None:
    engine.plans = 0
    project.add("a.py", MENDED)
    done = project.run("check", *arguments)
    assert done.status == 0
    assert done.stdout + done.stderr == getattr(done, stream)
    assert getattr(done, stream).count("\n") == 1
    assert "Nothing is declared" in getattr(done, stream)


def test_a_folder_without_python_is_no_error(project: Project, engine: Engine) -> None:
    engine.plans = 0
    done = project.run("check")
    assert (done.status, done.stdout) == (0, "No Python files here, so nothing was checked.\n")


def test_paths_in_text_can_be_opened_from_the_current_folder(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.add("sub/a.py", DROP)
    monkeypatch.chdir(project.root / "sub")
    assert project.run("check").stdout.startswith("a.py:1:7: ")
    assert project.run("check", "--format", "json").objects[0]["path"] == "sub/a.py"


def test_no_colour_reaches_what_is_no_terminal(project: Project) -> None:
    project.add("a.py", DROP)
    assert "\x1b" not in project.run("check").stdout


def test_concise_is_a_line_a_finding(project: Project) -> None:
    project.add("a.py", DROP * 2)
    assert project.run("check", "--format", "concise").stdout.splitlines() == [
        "a.py:1:7: OWN001 not carried over",
        "a.py:2:7: OWN001 not carried over",
        "2 findings in 1 plan class in 1 file; 2 can be mended with --fix.",
    ]


def test_full_shows_the_line(project: Project) -> None:
    project.add("a.py", DROP)
    lines = project.run("check", "--format", "full").stdout.splitlines()
    assert lines[1:3] == [f"    1 | {DROP.strip()}", "      |       ^"]


@pytest.mark.parametrize(
    ("output", "start"), [("github", "::error file=a.py,line=1,col=7,"), ("junit", "<?xml "), ("sarif", "{")]
)
@pytest.mark.parametrize("bad", [False, True])
def test_formats_for_programs_have_standard_output_for_themselves(
    project: Project, output: str, start: str, bad: bool
) -> None:
    project.add("a.py", DROP)
    if bad:
        project.add("bad.py", "x = (\n")
    done = project.run("check", "--format", output)
    assert (done.status, done.stderr.count("\n")) == ((2, 1) if bad else (1, 0))
    assert done.stdout.startswith(start)
    assert ("never closed" in done.stdout) is bad


def test_several_reports_can_be_written_beside_the_one_that_is_read(project: Project) -> None:
    project.add("a.py", DROP)
    done = project.run("check", "--output", "json:a.jsonl", "--output", "junit:out.xml", "--output", "text:out.txt")
    assert (done.status, done.stdout) == (1, project.run("check").stdout)
    assert (project.root / "a.jsonl").read_text(encoding="utf-8") == project.run("check", "--format", "json").stdout
    assert (project.root / "out.txt").read_text(encoding="utf-8") == done.stdout
    assert (project.root / "out.xml").read_text(encoding="utf-8").startswith("<?xml ")


def test_a_report_that_cannot_be_written_is_status_2(project: Project) -> None:
    project.add("a.py", MENDED)
    done = project.run("check", "--output", "sarif:gone/a.sarif")
    assert (done.status, done.stderr) == (
        2,
        "error: gone/a.sarif: the sarif report cannot be written: No such file or directory\n",
    )


@pytest.mark.parametrize("value", ["sarif", "xml:a", ":a", "sarif:"])
def test_an_output_that_names_no_format_or_no_file_is_status_2(project: Project, value: str) -> None:
    done = project.run("check", "--output", value)
    assert (done.status, done.stdout) == (2, "")
    assert "the formats are text, concise, full, json, sarif, github, junit" in " ".join(done.stderr.split())


def test_statistics_count_in_place_of_the_findings(project: Project) -> None:
    project.add("a.py", DROP * 3)
    done = project.run("check", "--statistics")
    assert (done.status, done.stdout.splitlines()) == (
        1,
        ["3  OWN001  dropped  3 with --fix", "3 findings in 1 plan class in 1 file; 3 can be mended with --fix."],
    )
    assert project.run("check", "--statistics", "--format", "json").objects == [
        {"code": "OWN001", "name": "dropped", "count": 3, "fixable": 3}
    ]


# Bad input


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("x = (\n", "bad.py:1: syntax error: '(' was never closed, line 1"),
        (b"x = 1\ny = '\xff'\n", "bad.py:2: not UTF-8: byte 0xff at byte 11; "),
        (b"x = 1\0\n", "bad.py:1: null byte at byte 5"),
        (b"# coding: klingon\n", "bad.py:1: unknown source encoding 'klingon'"),
    ],
)
@pytest.mark.parametrize("output", ["text", "json"])
def test_a_file_that_is_no_python_is_one_line_and_status_2_and_the_others_are_checked(
    project: Project, content: str | bytes, told: str, output: str
) -> None:
    project.add("bad.py", content)
    project.add("good.py", DROP)
    done = project.run("check", "--format", output)
    assert done.status == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"error: {told}")
    assert "good.py" in done.stdout


def test_a_problem_without_findings_never_reads_as_clean(project: Project) -> None:
    project.add("bad.py", "x = (\n")
    done = project.run("check")
    assert (done.status, done.stdout) == (2, "")


def test_a_missing_path_is_status_2_and_the_others_are_checked(project: Project) -> None:
    project.add("a.py", DROP)
    done = project.run("check", "gone.py", "a.py")
    assert (done.status, done.stderr) == (2, "error: gone.py: no such file or folder; check the path\n")
    assert "a.py:1:7" in done.stdout


def test_an_unreadable_folder_is_status_2(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.add("a.py", DROP)
    project.add("locked/b.py", DROP)
    real = os.scandir

    def refuse(path: str) -> Any:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    done = project.run("check")
    assert (done.status, done.stderr.count("\n")) == (2, 1)
    assert "locked: unreadable folder: Permission denied" in done.stderr
    assert "a.py:1:7" in done.stdout


def test_a_file_that_vanishes_is_status_2(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.add("a.py", DROP)
    project.add("b.py", DROP)
    real = builtins.open

    def vanish(path: Any, *args: Any, **kwargs: Any) -> Any:
        if str(path).endswith("b.py"):
            raise FileNotFoundError(2, "No such file or directory", path)
        return real(path, *args, **kwargs)

    monkeypatch.setattr(builtins, "open", vanish)
    done = project.run("check")
    assert (done.status, done.stderr) == (2, "error: b.py: vanished before it could be read; run again\n")
    assert "a.py:1:7" in done.stdout


def test_a_link_loop_is_status_2(project: Project) -> None:
    project.add("a.py", DROP)
    (project.root / "loop").symlink_to(project.root)
    done = project.run("check")
    assert (done.status, done.stderr.count("\n")) == (2, 1)
    assert "error: loop: a link loop" in done.stderr
    assert done.stdout.count("OWN001") == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "[tool.carryall]\nselct = []\n",
            "pyproject.toml:2: unknown key 'selct' in [tool.carryall]; did you mean 'select'?",
        ),
        ("[tool.carryall]\nselect = 1\n", "pyproject.toml:2: 'select' must be a list of rule codes"),
        ("[tool.carryall\n", "pyproject.toml:1: not valid TOML: "),
    ],
)
def test_a_wrong_configuration_is_status_2_and_the_files_are_checked(project: Project, text: str, told: str) -> None:
    project.add("pyproject.toml", text)
    project.add("a.py", DROP)
    done = project.run("check")
    assert (done.status, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"error: {told}")
    assert "a.py:1:7" in done.stdout


def test_a_missing_configuration_file_is_status_2(project: Project) -> None:
    done = project.run("check", "--config", "gone.toml")
    assert (done.status, done.stderr) == (
        2,
        "error: gone.toml:1: no such configuration file; check the path given to --config\n",
    )


def test_a_fault_of_the_checker_itself_is_status_2_and_never_1(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(session, "run_rules", fail)
    done = project.run("check")
    assert (done.status, done.stdout) == (2, "")
    assert "error: the checker itself failed (ZeroDivisionError)" in done.stderr


def test_an_interruption_is_status_2(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(session, "run_rules", fail)
    assert project.run("check").status == 2


# Choice of rules, suppressions


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        ((), ["OWN001", "OWN900"]),
        (("--select", "OWN9"), ["OWN900"]),
        (("--select", "OWN001,OWN9"), ["OWN001", "OWN900"]),
        (("--select", "OWN001", "--select", "OWN9"), ["OWN001", "OWN900"]),
        (("--ignore", "OWN9"), ["OWN001"]),
        (("--ignore", "OWN0", "--ignore", "OWN900"), []),
    ],
)
def test_rules_are_chosen_by_code_or_its_start(project: Project, arguments: tuple[str, ...], codes: list[str]) -> None:
    project.add("a.py", f"{DROP.strip()}  # carryall: ignore[OWN001]\n")
    done = project.run("check", "--format", "json", *arguments)
    assert [each["code"] for each in done.objects] == codes


def test_a_suppressed_finding_is_counted_and_not_shown(project: Project) -> None:
    project.add("a.py", f"{DROP.strip()}  # carryall: ignore[OWN001:pack] -- never packed\n")
    done = project.run("check")
    assert (done.status, done.stdout) == (0, "No findings in 1 plan class in 1 file, 1 suppressed.\n")


def test_of_two_dropped_fields_the_suppressed_one_is_not_mended(project: Project) -> None:
    path = project.add("a.py", "new = replace(plan)  # carryall: ignore[OWN001:pack] -- never packed\n")
    done = project.run("check", "--fix")
    assert done.status == 0
    assert path.read_text(encoding="utf-8").startswith("new = replace(plan, fold=plan.fold)  # carryall")


def test_a_suppression_that_hides_nothing_is_reported_and_taken_away_by_fix(project: Project) -> None:
    path = project.add("a.py", f"{MENDED.strip()}  # carryall: ignore[OWN001] -- once it was so\n")
    done = project.run("check")
    assert (done.status, done.stdout.splitlines()) == (
        1,
        [
            "a.py:1:54: OWN902 suppression of OWN001 hides nothing here; take it away",
            "    help: take the comment away [--fix]",
            "1 finding in 1 plan class in 1 file; 1 can be mended with --fix.",
        ],
    )
    assert (project.run("check", "--fix").status, path.read_text(encoding="utf-8")) == (0, MENDED)


def test_a_finding_and_a_comment_that_does_not_count_are_both_mended(project: Project) -> None:
    path = project.add("a.py", f"{DROP.strip()}  # carryall: ignore[OWN001]\n")
    assert (project.run("check", "--fix").status, path.read_text(encoding="utf-8")) == (0, MENDED)


@pytest.mark.parametrize(
    ("name", "content", "arguments"),
    [
        ("a.py", MENDED, ("--select", "OWN004,OWN9")),
        ("b.py", "x = (\n", ()),
        ("pyproject.toml", "[tool.carryall]\nx=1", ()),
    ],
)
def test_where_not_everything_was_looked_at_no_suppression_is_called_unused(
    project: Project, name: str, content: str, arguments: tuple[str, ...]
) -> None:
    project.add(name, content)
    project.add("a.py", f"{MENDED.strip()}  # carryall: ignore[OWN001] -- once it was so\n")
    assert "OWN902" not in project.run("check", *arguments).stdout


# The cache


def test_a_second_run_asks_nobody_and_says_the_same(project: Project, engine: Engine) -> None:
    project.add("a.py", DROP)
    first, second = project.run("check"), project.run("check")
    assert first == second
    assert engine.runs == 1


def test_a_changed_file_a_changed_configuration_and_no_cache_ask_again(project: Project, engine: Engine) -> None:
    project.add("a.py", DROP)
    project.run("check")
    project.run("check", "--no-cache")
    assert engine.runs == 2
    project.add("a.py", MENDED)
    assert project.run("check").status == 0
    assert engine.runs == 3
    project.run("check", "--ignore", "OWN002")
    assert engine.runs == 4


def test_without_a_cache_no_folder_is_made(project: Project) -> None:
    project.add("a.py", DROP)
    project.run("check", "--no-cache")
    assert not (project.root / FOLDER).exists()


# --fix and --diff


def test_fix_mends_and_reports_nothing_more(project: Project) -> None:
    path = project.add("a.py", DROP)
    done = project.run("check", "--fix")
    assert (done.status, path.read_text(encoding="utf-8")) == (0, MENDED)
    assert done.stdout.splitlines() == ["fixed 1 finding in 1 file", "No findings in 1 plan class in 1 file."]


def test_fix_mends_several_calls_in_several_files(project: Project) -> None:
    first = project.add("a.py", DROP * 2)
    second = project.add("b.py", "new = replace(\n    replace(plan),  # inner\n)\n")
    done = project.run("check", "--fix")
    assert done.status == 0
    assert "fixed 4 findings in 2 files" in done.stdout
    assert first.read_text(encoding="utf-8") == MENDED * 2
    assert second.read_text(encoding="utf-8") == (
        "new = replace(\n    replace(plan, fold=plan.fold, pack=plan.pack),  # inner\n"
        "    fold=plan.fold,\n    pack=plan.pack,\n)\n"
    )


def test_a_second_fix_changes_nothing(project: Project) -> None:
    path = project.add("a.py", DROP)
    project.run("check", "--fix")
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    done = project.run("check", "--fix")
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert "fixed" not in done.stdout


def test_what_cannot_be_mended_remains_with_status_1(project: Project) -> None:
    project.add("a.py", DROP + "new = replace(x for x in plan)\n")
    done = project.run("check", "--fix")
    assert done.status == 1
    assert "a.py:2:7" in done.stdout
    assert "fixed 1 finding in 1 file" in done.stdout
    assert "--fix." not in done.stdout


def test_in_json_what_was_mended_is_told_aside(project: Project) -> None:
    project.add("a.py", DROP)
    done = project.run("check", "--fix", "--format", "json")
    assert (done.status, done.stdout, done.stderr) == (0, "", "fixed 1 finding in 1 file\n")


@pytest.mark.parametrize(("arguments", "mended"), [(("--fix",), False), (("--fix", "--unsafe-fixes"), True)])
def test_unsafe_fixes_are_made_when_they_are_asked_for(
    project: Project, engine: Engine, arguments: tuple[str, ...], mended: bool
) -> None:
    engine.safety = "unsafe"
    path = project.add("a.py", DROP)
    done = project.run("check", *arguments)
    assert (done.status == 0) is mended
    assert (path.read_text(encoding="utf-8") == MENDED) is mended


@pytest.mark.parametrize(
    ("head", "encoding", "end"),
    [
        ("", "utf-8", "\r\n"),
        ("", "utf-8-sig", "\n"),
        ("# -*- coding: latin-1 -*-\n", "latin-1", "\n"),
        ("# coding: cp1252\r\n", "cp1252", "\r\n"),
    ],
)
def test_encoding_mark_and_line_ends_are_kept(project: Project, head: str, encoding: str, end: str) -> None:
    body = f"name = 'é'{end}new = replace({end}    plan,{end}    fold=plan.fold,{end}){end}"
    path = project.add("a.py", (head + body).encode(encoding))
    assert project.run("check", "--fix").status == 0
    wanted = head + body.replace(f"plan.fold,{end}", f"plan.fold,{end}    pack=plan.pack,{end}")
    assert path.read_bytes() == wanted.encode(encoding)
    assert path.read_bytes().startswith(codecs.BOM_UTF8) is (encoding == "utf-8-sig")


def test_a_file_in_newer_syntax_is_mended(project: Project) -> None:
    before = 'class A[T]:\n    type X = T\n\nname = f"{"a"}"\n'
    path = project.add("a.py", before + DROP)
    assert project.run("check", "--fix").status == 0
    assert path.read_text(encoding="utf-8") == before + MENDED


def test_diff_prints_the_change_and_writes_nothing(project: Project) -> None:
    path = project.add("sub/a.py", DROP)
    done = project.run("check", "--diff")
    assert (done.status, path.read_text(encoding="utf-8")) == (1, DROP)
    assert done.stdout == f"--- a/sub/a.py\n+++ b/sub/a.py\n@@ -1 +1 @@\n-{DROP}+{MENDED}"
    assert "would fix 1 finding in 1 file" in done.stderr


def test_diff_with_nothing_to_change_prints_nothing_on_standard_output(project: Project) -> None:
    project.add("a.py", MENDED)
    done = project.run("check", "--diff")
    assert (done.status, done.stdout) == (0, "")


def test_diff_tells_what_remains_on_standard_error(project: Project) -> None:
    project.add("a.py", "new = replace(x for x in plan)\n")
    done = project.run("check", "--diff")
    assert (done.status, done.stdout) == (1, "")
    assert "a.py:1:7: OWN001" in done.stderr


def test_diff_wins_over_fix(project: Project) -> None:
    path = project.add("a.py", DROP)
    assert project.run("check", "--fix", "--diff").status == 1
    assert path.read_text(encoding="utf-8") == DROP


@pytest.mark.parametrize(
    "arguments",
    [
        ("--diff", "--format", "json"),
        ("--diff", "--format", "sarif"),
        ("--statistics", "--format", "junit"),
        ("--unsafe-fixes",),
        ("--format", "xml"),
    ],
)
def test_options_that_do_not_go_together_are_status_2(project: Project, arguments: tuple[str, ...]) -> None:
    done = project.run("check", *arguments)
    assert (done.status, done.stdout) == (2, "")
    assert "Error: " in done.stderr


def test_nothing_is_mended_while_the_configuration_has_errors(project: Project) -> None:
    project.add("pyproject.toml", "[tool.carryall]\nexclud = ['a.py']\n")
    path = project.add("a.py", DROP)
    done = project.run("check", "--fix")
    assert (done.status, path.read_text(encoding="utf-8")) == (2, DROP)
    assert "Nothing is mended" in done.stderr


def test_a_file_that_cannot_be_written_keeps_its_finding(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = project.add("a.py", DROP), project.add("b.py", DROP)
    real = os.replace

    def refuse(source: str, target: str) -> None:
        if str(target).endswith("a.py"):
            raise PermissionError(13, "Permission denied", target)
        real(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    done = project.run("check", "--fix", "--no-cache")
    assert done.status == 2
    assert (first.read_text(encoding="utf-8"), second.read_text(encoding="utf-8")) == (DROP, MENDED)
    assert "error: a.py: cannot be written: Permission denied" in done.stderr
    assert "a.py:1:7: OWN001" in done.stdout
    assert "fixed 1 finding in 1 file" in done.stdout


# Cost and manners


def test_a_warm_run_loads_nothing_heavy(project: Project) -> None:
    """The budget of a warm run: no engine, no rules, no LibCST, no rich, no asyncio, no importlib.metadata."""
    import subprocess

    project.add("a.py", MENDED)
    script = (
        "import sys\nfrom lint_rules.cli import main, session\nfrom lint_rules.cache import Outcome\n"
        "session.run_rules = lambda *a: Outcome((), (), 1, 1)\n"
        "try:\n    main(['check'])\nexcept SystemExit as exc:\n    assert exc.code == 0, exc.code\n"
        "heavy = {'libcst', 'rich', 'asyncio', 'importlib.metadata', 'lint_rules.engine', 'lint_rules.rules', "
        "'lint_rules.audit'}\nprint(sorted(heavy & set(sys.modules)))\n"
    )
    repository = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "PYTHONPATH": str(repository)}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
        )
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_garbage_collector_is_on_again_after_a_run(project: Project) -> None:
    import gc

    project.run("check")
    assert gc.isenabled()
