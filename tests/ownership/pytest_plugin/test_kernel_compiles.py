"""`--kernel-compiles=report|error`, in a project under test."""

from __future__ import annotations

import pytest

from ownership.pytest_plugin._monitor import Row, table
from tests.ownership.pytest_plugin.conftest import Project, needs

pytest_plugins = ["pytester"]

PHASES = """
    import pytest
    from kernels import fold

    fold(1)

    @pytest.fixture(scope="module")
    def prepared():
        fold(2)
        yield
        fold(9)

    def test_one(prepared):
        fold(2)

    @pytest.mark.parametrize("rows", [2, 3])
    def test_two(prepared, rows):
        fold(rows)
"""


def test_report_says_what_when_how_long_by_which_test_and_in_which_phase(project: Project) -> None:
    result = project(PHASES).runpytest_inprocess("--kernel-compiles=report")
    result.assert_outcomes(passed=3)
    took = r" *\+\d+\.\d\d s +\d+\.\d ms +fake\.compile resolve +"
    result.stdout.re_match_lines(
        [
            r"=+ kernels resolved \(--kernel-compiles=report\) =+",
            r" *at +took +what +by +program",
            rf"{took}\(collection\) +kernels\.fold  n: 1",
            rf"{took}test_it\.py::test_one \(setup\) +kernels\.fold  n: 2",
            rf"{took}test_it\.py::test_two\[3\] \(call\) +kernels\.fold  n: 3",
            rf"{took}test_it\.py::test_two\[3\] \(teardown\) +kernels\.fold  n: 9",
            r"4 resolved in 0\.\d\d s \(1 in collection, 1 in setup, 1 in call, 1 in teardown\)",
        ]
    )


@pytest.mark.parametrize("arguments", [[], ["--kernel-compiles=off"], ["--kernel-compiles=report", "-k", "nothing"]])
def test_there_is_no_table_if_nobody_asked_or_there_is_nothing_in_it(project: Project, arguments: list[str]) -> None:
    result = project(PHASES.replace("    fold(1)\n", "")).runpytest_inprocess(*arguments)
    assert "kernels resolved" not in result.stdout.str()


def test_error_refuses_in_the_call_phase_what_was_not_prepared(project: Project) -> None:
    result = project(PHASES).runpytest_inprocess("--kernel-compiles=error")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            ">*fold(rows)",
            "E*freeze '--kernel-compiles=error: test_it.py::test_two[[]3[]]' at test_it.py:15*n: 3 where prepared: 2*",
            "*kernels resolved (--kernel-compiles=error)*",
            "*fake.compile resolve, refused*test_it.py::test_two[[]3[]] (call)*kernels.fold  n: 3",
            "3 resolved in *(1 in collection, 1 in setup, 1 in teardown); 1 refused",
        ]
    )


def test_a_refused_test_does_not_depend_on_its_neighbours(project: Project) -> None:
    """It was not compiled, so that the next one that wants it fails as well, in whatever order they run."""
    result = project(
        """
        from kernels import fold

        def test_one():
            fold(3)

        def test_two():
            fold(3)
        """
    ).runpytest_inprocess("--kernel-compiles=error")
    result.assert_outcomes(failed=2)


def test_a_marker_makes_an_exception_with_a_reason(project: Project) -> None:
    text = """
        import pytest
        from kernels import fold

        @pytest.mark.allow_kernel_compile({reason})
        def test_one():
            fold(3)

        def test_two():
            fold(3)
    """
    project(text.format(reason="'it tests the compiler'")).runpytest_inprocess(
        "--kernel-compiles=error"
    ).assert_outcomes(passed=2)
    for mode in ("report", "error"):
        result = project(text.format(reason="")).runpytest_inprocess(f"--kernel-compiles={mode}")
        assert "wants a reason: allow_kernel_compile('...')" in result.stdout.str()
        assert result.parseoutcomes()["failed"] == (1 if mode == "report" else 2)


def test_the_marker_that_forbids_holds_with_the_one_that_allows(project: Project) -> None:
    result = project(
        """
        import pytest
        from kernels import fold

        @pytest.mark.allow_kernel_compile("the rest of the class does")
        class TestBoth:
            @pytest.mark.no_kernel_compile
            def test_one(self):
                fold(3)
        """
    ).runpytest_inprocess("--kernel-compiles=error")
    result.assert_outcomes(failed=1)
    assert "no_kernel_compile: test_it.py::TestBoth::test_one" in result.stdout.str()


def test_the_ini_file_may_set_it_and_the_command_line_goes_before(project: Project) -> None:
    pytester = project(PHASES)
    pytester.makeini("[pytest]\nkernel_compiles = error\n")
    pytester.runpytest_inprocess().assert_outcomes(passed=2, failed=1)
    pytester.runpytest_inprocess("--kernel-compiles=off").assert_outcomes(passed=3)
    pytester.makeini("[pytest]\nkernel_compiles = sometimes\n")
    result = pytester.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*kernel_compiles is 'sometimes'*wanted: one of off, report, error*"])


def test_permits_are_shown_with_their_reason(project: Project) -> None:
    result = project(
        """
        from kernels import fold
        from ownership.resolution import permit

        def test_one():
            with permit("a new size was announced"):
                fold(3)
        """
    ).runpytest_inprocess("--kernel-compiles=error")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*kernels.fold  n: 3  (permitted: a new size was announced)"])


def test_the_report_of_the_library_knows_the_tests(project: Project) -> None:
    result = project(
        """
        from kernels import fold
        from ownership.resolution import subscribe

        def test_one():
            labels = []
            end = subscribe(lambda event: labels.append(event.label))
            fold(3)
            end()
            assert labels == ["test_it.py::test_one (call)"]
        """
    ).runpytest_inprocess("--kernel-compiles=report")
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize("mode", ["report", "error"])
def test_workers_of_xdist_report_to_the_controller(
    project: Project, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    needs("xdist")
    pytester = project(PHASES)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:cacheprovider -p no:hypothesispytest --strict-markers")
    result = pytester.runpytest_subprocess(f"--kernel-compiles={mode}", "-n2", "--dist=each")
    # Each worker runs all tests: what one has prepared is not there in the other.
    result.assert_outcomes(**({"passed": 6} if mode == "report" else {"passed": 4, "failed": 2}))
    result.stdout.fnmatch_lines_random(
        [f"*[[]gw{worker}] test_it.py::test_two[[]3[]] (call)*kernels.fold  n: 3" for worker in (0, 1)]
    )
    summary = "8 resolved in *" if mode == "report" else "6 resolved in *; 2 refused"
    result.stdout.fnmatch_lines([summary])


def test_a_worker_that_dies_is_named(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    needs("xdist")
    pytester = project("import os\n\ndef test_one():\n    os._exit(3)\n")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:cacheprovider -p no:hypothesispytest --strict-markers")
    result = pytester.runpytest_subprocess("--kernel-compiles=report", "-n1", "--max-worker-restart=0")
    result.stdout.fnmatch_lines(["gw0 ended without a report of what it compiled"])


def test_a_table_keeps_its_columns_and_cuts_long_specializations() -> None:
    row = Row(
        started=10.5,
        seconds=None,
        action="compile",
        verdict="refused",
        resolver="triton",
        program="kernels.fold",
        specialization="x" * 200,
        permit=None,
        test="test_it.py::test_one",
        phase="call",
    )
    head, line, total = table([row], 10.0)
    assert line.index("triton") == head.index("what")
    assert line.index("kernels.fold") == head.index("program")
    assert line.startswith("+0.50 s     -  ")
    assert line.endswith("xxx...")
    assert len(line) < 250
    assert total == "0 resolved in 0.00 s; 1 refused"
