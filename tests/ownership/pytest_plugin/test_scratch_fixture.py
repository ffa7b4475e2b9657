"""The fixture `poisoned_scratch`, in a project under test."""

from __future__ import annotations

import pytest

from tests.ownership.pytest_plugin.conftest import Project

pytest_plugins = ["pytester"]

OVERRUN = """
    import ctypes

    def poke(buffer, offset, value=0):
        ctypes.c_char.from_address(ctypes.addressof(ctypes.c_char.from_buffer(buffer)) + offset).value = value
"""


def test_a_write_out_of_bounds_fails_the_test_and_no_other(project: Project) -> None:
    result = project(
        f"""{OVERRUN}
    def test_wild(poisoned_scratch):
        poke(poisoned_scratch(16, library="bytes"), 18)

    def test_tame(poisoned_scratch):
        poke(poisoned_scratch(16, library="bytes"), 15)
    """
    ).runpytest_inprocess()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*_ test_wild _*",
            "Written outside of poisoned scratch:",
            "*the buffer of 16 bytes made at *test_it.py:7: 1 byte written from 2 bytes after its end (offset 18): 00",
            "Check the extents and the masks of the writer.",
            "FAILED test_it.py::test_wild - Failed: Written outside of poisoned scratch:*",
        ]
    )


def test_one_that_a_finalizer_does_is_an_error_of_teardown(project: Project) -> None:
    result = project(
        f"""{OVERRUN}
    import pytest

    @pytest.fixture
    def buffer(poisoned_scratch):
        made = poisoned_scratch(16, library="bytes")
        yield made
        poke(made, 16)

    def test_late(buffer):
        buffer[0] = 1
    """
    ).runpytest_inprocess()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*ERROR at teardown of test_late*", "E*Written outside of poisoned scratch*"])


def test_the_failure_of_the_test_itself_is_not_hidden(project: Project) -> None:
    result = project(
        f"""{OVERRUN}
    def test_both(poisoned_scratch):
        poke(poisoned_scratch(16, library="bytes"), 16)
        assert 1 == 2
    """
    ).runpytest_inprocess()
    result.assert_outcomes(failed=1, errors=1)
    result.stdout.fnmatch_lines(["E*Written outside of poisoned scratch*", "E*assert 1 == 2"])


def test_the_pattern_comes_from_the_ini_file_the_parameter_or_the_call(project: Project) -> None:
    pytester = project(
        """
        import math
        import pytest

        def test_ini(poisoned_scratch):
            assert bytes(poisoned_scratch(2, library="bytes")) == bytes([0xA5, 0xA5])
            assert bytes(poisoned_scratch(2, library="bytes", pattern=7)) == bytes([7, 7])

        @pytest.mark.parametrize("poisoned_scratch", [0xFF, 0x00, "nan"], indirect=True)
        def test_parameter(poisoned_scratch):
            value = poisoned_scratch(4, dtype="f")[0]
            assert math.isnan(value) or value == 0.0
        """
    )
    pytester.makeini("[pytest]\npoisoned_scratch_pattern = 0xa5\n")
    result = pytester.runpytest_inprocess("-v")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["*test_parameter[[]255[]]*", "*test_parameter[[]0[]]*", "*test_parameter[[]nan[]]*"])


def test_a_bad_ini_option_says_so_where_it_is_used(project: Project) -> None:
    pytester = project("def test_one(poisoned_scratch):\n    pass\n")
    pytester.makeini("[pytest]\npoisoned_scratch_pattern = ff\n")
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["E*poisoned_scratch_pattern='ff'; wanted: a byte such as 0xff, or nan."])


@pytest.mark.parametrize("body", ["scratch(8, library='bytes')[0]", "8"])
def test_same_for_reads_well_when_it_fails(project: Project, body: str) -> None:
    result = project(
        f"""
        def test_one(poisoned_scratch):
            poisoned_scratch.same_for(lambda scratch: {body})
        """
    ).runpytest_inprocess()
    if body == "8":
        result.assert_outcomes(passed=1)
        return
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*result depends on what was in scratch before: 255 and 0 (first value: *0xff*0x00*"])
