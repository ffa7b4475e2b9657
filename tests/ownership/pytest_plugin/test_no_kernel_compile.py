"""Marker and fixture `no_kernel_compile`, in a project under test."""

from __future__ import annotations

import pytest

from tests.ownership.pytest_plugin.conftest import Project, needs

pytest_plugins = ["pytester"]


def test_a_test_that_compiles_fails_and_says_what_and_where(project: Project) -> None:
    result = project(
        """
        import pytest
        from kernels import fold

        @pytest.mark.no_kernel_compile
        def test_serving():
            rows = 3
            assert fold(rows)(2) == 6
        """
    ).runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*def test_serving():*",
            ">*assert fold(rows)(2) == 6",
            "E*ownership.resolution.errors.ResolutionFrozenError: kernels.fold (fake.compile) was to be resolved*",
            "test_it.py:7: ResolutionFrozenError",
            "FAILED test_it.py::test_serving - ownership.resolution.errors.*",
        ]
    )
    output = result.stdout.str()
    assert "freeze 'no_kernel_compile: test_it.py::test_serving' at test_it.py:4" in output
    assert "Asked for: n: 3" in output
    assert "_observe.py" not in output, "the traceback ends at the line that asked"


@pytest.mark.parametrize("use", ["marker", "fixture", "class marker", "module marker"])
def test_what_was_prepared_may_be_used(project: Project, use: str) -> None:
    result = project(
        f"""
        import pytest
        from kernels import fold

        pytestmark = [{"pytest.mark.no_kernel_compile" if use == "module marker" else ""}]

        @pytest.fixture
        def prepared():
            return fold(3)

        {"@pytest.mark.no_kernel_compile" if use == "class marker" else ""}
        class TestServing:
            {"@pytest.mark.no_kernel_compile" if use == "marker" else ""}
            def test_prepared({"self, no_kernel_compile, prepared" if use == "fixture" else "self, prepared"}):
                assert fold(3)(2) == prepared(2)

            {"@pytest.mark.no_kernel_compile" if use == "marker" else ""}
            def test_new({"self, prepared, no_kernel_compile" if use == "fixture" else "self, prepared"}):
                fold(4)

        def test_free():
            fold(5)
        """
    ).runpytest_inprocess()
    if use == "module marker":
        result.assert_outcomes(passed=1, failed=2)
    else:
        result.assert_outcomes(passed=2, failed=1)
    assert "n: 4 where prepared: 3" in result.stdout.str()


@pytest.mark.parametrize("scope", ["function", "class", "module", "package", "session"])
def test_fixtures_of_every_scope_may_compile_and_finalizers_too(project: Project, scope: str) -> None:
    result = project(
        f"""
        import pytest
        from kernels import fold

        @pytest.fixture(scope="{scope}")
        def prepared(request):
            fold(3)
            yield
            fold(99)

        @pytest.mark.no_kernel_compile
        class TestServing:
            def test_one(self, prepared):
                fold(3)

            def test_two(self, prepared):
                fold(3)
        """
    ).runpytest_inprocess()
    result.assert_outcomes(passed=2)


def test_parametrized_tests_are_judged_one_by_one(project: Project) -> None:
    result = project(
        """
        import pytest
        from kernels import fold

        @pytest.fixture(scope="module", autouse=True)
        def prepared():
            fold(1), fold(8)

        @pytest.mark.no_kernel_compile
        @pytest.mark.parametrize("rows", [1, 3, 8])
        def test_rows(rows):
            fold(rows)
        """
    ).runpytest_inprocess("-rA")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["FAILED test_it.py::test_rows[[]3[]]*"])
    assert "no_kernel_compile: test_it.py::test_rows[3]" in result.stdout.str()


def test_an_error_that_was_caught_fails_the_test_all_the_same(project: Project) -> None:
    result = project(
        """
        import threading
        import pytest
        from kernels import fold

        @pytest.mark.no_kernel_compile
        def test_caught():
            try:
                fold(3)
            except RuntimeError:
                pass

        def quietly():
            try:
                fold(4)
            except RuntimeError:
                pass

        @pytest.mark.no_kernel_compile
        def test_thread():
            thread = threading.Thread(target=quietly, name="server")
            thread.start()
            thread.join()
        """
    ).runpytest_inprocess()
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "The test went on after kernels were refused (no_kernel_compile)*",
            "*test_it.py:8, thread MainThread: kernels.fold*",
            "The test went on after kernels were refused (no_kernel_compile)*",
            "*test_it.py:14, thread server: kernels.fold*",
        ]
    )


def test_a_test_may_try_out_a_freeze_of_its_own(project: Project) -> None:
    result = project(
        """
        import pytest
        from kernels import fold
        from ownership.resolution import ResolutionFrozenError, freeze

        @pytest.mark.no_kernel_compile
        def test_freeze():
            with freeze("mine"), pytest.raises(ResolutionFrozenError, match="mine"):
                fold(3)
        """
    ).runpytest_inprocess()
    result.assert_outcomes(passed=1)


def test_the_fixture_allows_blocks_and_has_the_events(project: Project) -> None:
    result = project(
        """
        import pytest
        from kernels import fold
        from ownership.pytest_plugin import NoKernelCompile
        from ownership.resolution import ResolutionFrozenError

        @pytest.fixture(autouse=True)
        def prepared():
            fold(1)

        def test_one(no_kernel_compile: NoKernelCompile):
            assert no_kernel_compile.events == ()
            with no_kernel_compile.allow("the first request of a new size may compile"):
                fold(3)
            fold(3)
            (event,) = no_kernel_compile.events
            assert (event.program, event.verdict) == ("kernels.fold", "allowed")
            assert event.permit == "the first request of a new size may compile"
            with pytest.raises(ResolutionFrozenError):
                fold(4)
            assert [event.verdict for event in no_kernel_compile.events] == ["allowed", "refused"]
        """
    ).runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["The test went on after kernels were refused*", "*test_it.py:19*n: 4 where prepared: *"]
    )
    assert "assert" not in result.stdout.str().partition("short test summary")[2]


def test_the_fixture_cannot_come_in_the_middle(project: Project) -> None:
    result = project(
        """
        def test_late(request):
            request.getfixturevalue("no_kernel_compile")
        """
    ).runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["no_kernel_compile came too late*request it as an argument*"])


def test_test_cases_and_expected_failures_work_as_ever(project: Project) -> None:
    result = project(
        """
        import unittest
        import pytest
        from kernels import fold

        class Case(unittest.TestCase):
            @pytest.mark.no_kernel_compile
            def test_it(self):
                fold(3)

        @pytest.mark.no_kernel_compile
        @pytest.mark.xfail(strict=True, raises=RuntimeError)
        def test_expected():
            fold(4)

        @pytest.mark.no_kernel_compile
        def test_skipped():
            pytest.skip("for another reason")

        def test_after():
            fold(5)
        """
    ).runpytest_inprocess()
    result.assert_outcomes(failed=1, xfailed=1, skipped=1, passed=1)


def test_triton_kernels_are_seen(project: Project) -> None:
    needs("triton")
    needs("torch")
    result = project(
        """
        import pytest
        import torch

        from tests.ownership.conftest import load
        from tests.ownership.resolution.conftest import gpu, kernels

        @pytest.fixture
        def add(kernels):
            kernels.add.warmup(torch.float32, 3, BLOCK=16, grid=(1,))
            return kernels.add

        @pytest.mark.no_kernel_compile
        def test_prepared(add):
            add.warmup(torch.float32, 3, BLOCK=16, grid=(1,))

        @pytest.mark.no_kernel_compile
        def test_new(add):
            add.warmup(torch.float32, 16, BLOCK=16, grid=(1,))
        """
    ).runpytest_subprocess("--kernel-compiles=report")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            ">*add.warmup(torch.float32, 16, *",
            "*n_rows: 16 *where prepared: 3 *",
            "*triton compile*test_new (setup)*add*",
        ]
    )


def test_recompiles_of_torch_are_seen(project: Project) -> None:
    needs("torch")
    result = project(
        """
        import pytest
        import torch

        @torch.compile(backend="eager", dynamic=False)
        def double(x):
            return x * 2

        @pytest.fixture(scope="module")
        def prepared():
            double(torch.ones(3))

        @pytest.mark.no_kernel_compile
        def test_prepared(prepared):
            double(torch.ones(3))

        @pytest.mark.no_kernel_compile
        def test_new(prepared):
            double(torch.ones(4))
        """
    ).runpytest_subprocess("--kernel-compiles=report")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            ">*double(torch.ones(4))",
            "*x: float32[[]4[]] where prepared: float32[[]3[]]*",
            "test_it.py:18: ResolutionFrozenError",
            "*torch.compile compile*test_prepared (setup)*test_it.double (test_it.py:4)*",
            "*torch.compile compile, refused*test_new (call)*",
        ]
    )
