"""The pytest plugin of carryall: tests that must not compile kernels, a report of those that did, poisoned scratch.

pytest loads it by itself (entry point `carryall`; `-p no:carryall` keeps it out). Until something of it is used it does
nothing, and it never imports Triton, torch or NumPy. `docs/pytest.md` shows how to use each part:

* marker and fixture `no_kernel_compile`: nothing may be resolved while the test function runs;
* `--kernel-compiles=report` (or `error`): a table of what was resolved, when, for how long, and for which test;
* marker `allow_kernel_compile(reason)`: an exception from `--kernel-compiles=error`;
* fixture `poisoned_scratch`: buffers that are never blank, between guard zones.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ownership.pytest_plugin._calls import NoKernelCompile
    from ownership.pytest_plugin._errors import PoisonDependenceError, ScratchOverrunError, ScratchRequestError
    from ownership.pytest_plugin._scratch import PoisonedScratch

__all__ = [
    "NoKernelCompile",
    "PoisonDependenceError",
    "PoisonedScratch",
    "ScratchOverrunError",
    "ScratchRequestError",
]

#: Loaded when they are asked for, since every run of pytest imports this module.
_LATER = {
    "NoKernelCompile": "_calls",
    "PoisonDependenceError": "_errors",
    "PoisonedScratch": "_scratch",
    "ScratchOverrunError": "_errors",
    "ScratchRequestError": "_errors",
}
_GUARD = pytest.StashKey["NoKernelCompile"]()
_SCRATCH = pytest.StashKey["PoisonedScratch"]()
_MODE = pytest.StashKey[str]()
_MODES = ("off", "report", "error")
_MARKERS = {
    "no_kernel_compile": "fail the test if a kernel is compiled, first loaded or resolved while its function runs",
    "allow_kernel_compile(reason)": "let the test resolve kernels under --kernel-compiles=error",
}


def __getattr__(name: str) -> object:
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flag and the ini options."""
    group = parser.getgroup("carryall", "kernels that are compiled during tests (carryall)")
    group.addoption(
        "--kernel-compiles",
        choices=_MODES,
        default=None,
        help="report: a table of the kernels that were compiled, and by which test; error: also refuse to compile in "
        "the call phase of a test (setup may)",
    )
    parser.addini("kernel_compiles", "default of --kernel-compiles: off, report or error", default="off")
    parser.addini(
        "poisoned_scratch_pattern",
        "what poisoned_scratch fills buffers with: a byte such as 0xff, or nan",
        default="0xff",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers, and the report if it was asked for."""
    for name, words in _MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {words} (carryall)")
    mode = config.getoption("--kernel-compiles") or config.getini("kernel_compiles")
    if mode not in _MODES:
        raise pytest.UsageError(f"kernel_compiles is {mode!r} in the ini file; wanted: one of {', '.join(_MODES)}")
    config.stash[_MODE] = mode
    if mode != "off":
        from ownership.pytest_plugin._monitor import Monitor

        config.pluginmanager.register(Monitor(config, mode), "carryall-kernel-compiles")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Freeze resolution while a test function runs that asks for it; then look at its scratch."""
    strict = item.config.stash[_MODE] == "error"
    guard = item.stash.get(_GUARD, None)
    if guard is None and (strict or any(item.get_closest_marker(name.partition("(")[0]) for name in _MARKERS)):
        from ownership.pytest_plugin._calls import guard_for

        guard = guard_for(item, strict=strict)
    if guard is None:
        yield
    else:
        yield from guard.calling()
    if item.stash.get(_GUARD, guard) is not guard:
        pytest.fail("no_kernel_compile came too late, by getfixturevalue(): request it as an argument.", pytrace=False)
    if (scratch := item.stash.get(_SCRATCH, None)) is not None:
        from ownership.pytest_plugin._errors import ScratchOverrunError

        damage = ""
        try:
            scratch.check()
        except ScratchOverrunError as error:
            damage = str(error)
        if damage:
            pytest.fail(damage, pytrace=False)


@pytest.fixture
def no_kernel_compile(request: pytest.FixtureRequest) -> NoKernelCompile:
    """Fail the test if a kernel is compiled, loaded for the first time or resolved while its function runs.

    Fixtures may, also those that are set up later. `allow(reason)` makes an exception for a block; `events` has what
    was seen.
    """
    from ownership.pytest_plugin._calls import NoKernelCompile

    guard = NoKernelCompile(request.node, "no_kernel_compile")
    request.node.stash[_GUARD] = guard
    return guard


@pytest.fixture
def poisoned_scratch(request: pytest.FixtureRequest) -> Iterator[PoisonedScratch]:
    """A factory of buffers that are filled with a pattern and lie between guard zones: `poisoned_scratch(nbytes)`.

    A write outside of a buffer fails the test. The pattern is that of the ini option `poisoned_scratch_pattern`, or
    the parameter: `@pytest.mark.parametrize("poisoned_scratch", [0xFF, 0x00, "nan"], indirect=True)`.
    """
    from ownership.pytest_plugin._scratch import PoisonedScratch, parsed_pattern

    pattern = getattr(request, "param", None)
    if pattern is None:
        pattern = parsed_pattern(request.config.getini("poisoned_scratch_pattern"))
    scratch = PoisonedScratch(pattern)
    request.node.stash[_SCRATCH] = scratch
    yield scratch
    scratch.check()
