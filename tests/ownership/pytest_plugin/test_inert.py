"""Where nothing of it is used the plugin is not there: no import, no cost, no line of output."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.ownership.pytest_plugin.conftest import ROOT, Project

pytest_plugins = ["pytester"]


def python(program: str) -> str:
    preface = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import pytest, dataclasses, inspect; "
    done = subprocess.run([sys.executable, "-I", "-c", preface + program], capture_output=True, text=True, check=True)
    return done.stdout


def test_it_imports_nothing_but_itself_and_the_standard_library() -> None:
    loaded = python(
        "before = set(sys.modules); import ownership.pytest_plugin; print(*(set(sys.modules) - before))"
    ).split()
    assert {name.partition(".")[0] for name in loaded} - {"ownership"} <= sys.stdlib_module_names
    assert not [name for name in loaded if name.startswith("ownership.resolution")]


def test_importing_it_adds_less_than_five_milliseconds_to_the_package() -> None:
    """Processor time, the best of several; `tests/ownership/test_import.py` has a limit for the package."""
    program = (
        "import ownership, time; start = time.process_time(); import ownership.pytest_plugin; "
        "print(time.process_time() - start)"
    )
    assert min(float(python(program)) for _ in range(5)) < 0.005


def test_a_run_without_kernels_imports_no_resolution_and_no_library(project: Project) -> None:
    result = project(
        """
        import sys

        def test_plain():
            loaded = {name for name in sys.modules if name.startswith("ownership.resolution")}
            assert "ownership.pytest_plugin" in sys.modules
            assert not loaded
            assert not {"torch", "triton", "numpy"} & set(sys.modules)
        """
    ).runpytest_subprocess()
    result.assert_outcomes(passed=1)


def test_the_flag_and_the_marker_import_no_library_either(project: Project) -> None:
    result = project(
        """
        import sys
        import pytest

        @pytest.mark.no_kernel_compile
        def test_plain(poisoned_scratch):
            assert poisoned_scratch(4).tolist() == [255] * 4
            assert "ownership.resolution" in sys.modules
            assert not {"torch", "triton", "numpy"} & set(sys.modules)
        """
    ).runpytest_subprocess("--kernel-compiles=error")
    result.assert_outcomes(passed=1)
    assert "kernels resolved" not in result.stdout.str()


def test_the_markers_are_registered_and_the_options_explained(project: Project) -> None:
    pytester = project("import pytest\n\n@pytest.mark.no_kernel_compile\ndef test_one():\n    pass\n")
    pytester.runpytest_inprocess("--strict-markers", "--strict-config").assert_outcomes(passed=1)
    markers = pytester.runpytest_inprocess("--markers").stdout.str()
    assert "@pytest.mark.no_kernel_compile: " in markers
    assert "@pytest.mark.allow_kernel_compile(reason): " in markers
    text = pytester.runpytest_inprocess("--help").stdout.str()
    assert "--kernel-compiles={off,report,error}" in text
    assert "kernel_compiles (string)" in text
    assert "poisoned_scratch_pattern (string)" in text
    fixtures = pytester.runpytest_inprocess("--fixtures").stdout.str()
    assert "no_kernel_compile" in fixtures
    assert "poisoned_scratch" in fixtures


def test_it_can_be_kept_out(project: Project) -> None:
    pytester = project("def test_one(no_kernel_compile):\n    pass\n\ndef test_two():\n    pass\n")
    result = pytester.runpytest_subprocess("-p", "no:carryall")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*fixture 'no_kernel_compile' not found"])
    assert pytester.runpytest_subprocess("-p", "no:carryall", "--kernel-compiles=report").ret == 4


def test_it_does_not_offer_what_it_does_not_have() -> None:
    import ownership.pytest_plugin as plugin

    assert all(hasattr(plugin, name) for name in plugin.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'Freeze'"):
        getattr(plugin, "Freeze")  # noqa: B009 - mypy knows that it is not there
