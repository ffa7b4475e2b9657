"""OWN009: which facts a key must have, and which it need not."""

from __future__ import annotations

import pytest

from lint_rules.fixes import apply_fixes
from tests.lint_rules.checking import analysis_of, findings_in
from tests.lint_rules.trees import tree_of

HEAD = """\
import os
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache

from ownership import Absent, Ephemeral, Fact, Transferable, plan


class Kernel: ...


class Mode(Enum):
    FAST = 1


@plan
@dataclass(frozen=True)
class BandPlan:
    heads: Fact[int]
    softcap: Fact[float]
    attend: Transferable[Kernel | Absent]
    hits: Ephemeral[dict[int, int] | None] = None


@dataclass
class Options:
    unroll: int = 1
    label: str = ""


options = Options()
KERNELS: dict[object, Kernel] = {}
_wide = False


def set_wide(value: bool) -> None:
    global _wide
    _wide = bool(value)


def configure(unroll: int) -> None:
    options.unroll = unroll


def emit(*facts: object) -> Kernel:
    return Kernel()


def build(declared: BandPlan) -> Kernel:
    return build_more(declared) if declared.heads else Kernel()


def build_more(declared: BandPlan) -> Kernel:
    return emit(declared.softcap, declared.hits, declared.attend)


"""


def lacking(body: str) -> list[tuple[str, ...]]:
    return [each.fields for each in findings_in(HEAD + body) if each.code == "OWN009"]


def memo(parameters: str, key: str, value: str, before: str = "") -> str:
    return (
        f"def kernel(declared: BandPlan, {parameters}) -> Kernel:\n{before}    key = {key}\n"
        f"    if key not in KERNELS:\n        KERNELS[key] = {value}\n    return KERNELS[key]\n"
    )


def test_the_message_names_the_key_the_cache_the_fact_and_its_reader() -> None:
    (finding,) = findings_in(HEAD + memo("x: int", "(declared.heads, x)", "build(declared)"))
    assert finding.message == (
        "the key `(declared.heads, x)` of `KERNELS` lacks `declared.softcap` (declared at a.py:20), which `build_more`"
        " reads: `kernel` serves the first value to every caller that differs in it alone. Add `declared.softcap` to"
        " the key."
    )
    assert finding.class_name == "a.BandPlan"


@pytest.mark.parametrize(
    ("parameters", "missing"),
    [
        ("causal: bool", "causal"),
        ("causal: 'int | None'", "causal"),
        ("causal: tuple[int, ...]", "causal"),
        ("causal: Mode", "causal"),
        ("causal=False", "causal"),
    ],
)
def test_a_plain_value_that_the_factory_is_given_belongs_to_the_key(parameters: str, missing: str) -> None:
    assert lacking(memo(parameters, "(declared.heads,)", "emit(declared.heads, causal)")) == [(missing,)]


def test_a_fact_of_the_plan_that_is_passed_alone_belongs_to_the_key() -> None:
    assert lacking(memo("x: int", "(declared.heads, x)", "emit(x, declared.softcap)")) == [("softcap",)]


def test_what_reaches_the_factory_through_variables_and_keywords_counts() -> None:
    before = "    given = {'mask': causal}\n    made = emit(declared.heads, given)\n"
    assert lacking(memo("causal: bool", "(declared.heads,)", "made", before)) == [("causal",)]


@pytest.mark.parametrize(
    "body",
    [
        memo("x: int", "(declared.heads, x)", "emit(declared.heads, x)"),
        memo("x: int", "declared", "build(declared)"),
        memo("x: int", "(declared.heads, -(-x // 16))", "emit(declared.heads, x)"),
        memo("x: int", "(declared.heads, rows)", "emit(declared.heads, x)", "    rows = max(x, 8)\n"),
        memo("x: int", "(declared.heads, kernel.tag)", "emit(x)", "    kernel = emit()\n    kernel.set(x)\n"),
        memo("x: Kernel", "(declared.heads,)", "emit(declared.heads, x)"),
        memo("x", "(declared.heads,)", "emit(declared.heads, x)"),
        memo("x: int", "'kernel'", "emit(x)"),
        memo("x: int, key: object", "key", "emit(x)"),
        memo("x: int", "(declared.heads,)", "x + 1"),
    ],
)
def test_what_the_key_has_in_any_form_is_covered(body: str) -> None:
    assert lacking(body) == []


def test_a_cache_that_lives_no_longer_than_the_call_needs_no_more() -> None:
    assert (
        lacking(
            memo("x: int", "(declared.heads,)", "emit(x)")
            .replace("KERNELS", "local")
            .replace("    key", "    local: dict[object, Kernel] = {}\n    key")
        )
        == []
    )


def test_what_a_condition_around_the_store_looks_at_is_covered() -> None:
    body = (
        "def scratch(declared: BandPlan, rows: int) -> Kernel:\n    found = KERNELS.get(declared.heads)\n"
        "    if found is None or found.rows < rows:\n        found = KERNELS[declared.heads] = emit(rows)\n"
        "    return found\n"
    )
    assert lacking(body) == []
    assert lacking(body.replace(" or found.rows < rows", "")) == [("rows",)]


def test_what_is_put_right_on_the_value_that_was_found_is_covered() -> None:
    body = (
        "def scratch(declared: BandPlan, rows: int) -> Kernel:\n    found = KERNELS.get(declared.heads)\n"
        "    if found is not None:\n        return resized(found, rows)\n"
        "    made = KERNELS[declared.heads] = emit(rows)\n    return made\n"
    )
    assert lacking(body) == []


def test_setdefault_is_a_memo_too() -> None:
    body = "def f(declared: BandPlan, x: int) -> Kernel:\n    return KERNELS.setdefault(declared.heads, emit(x))\n"
    assert lacking(body) == [("x",)]


@pytest.mark.parametrize(
    ("read", "missing"),
    [
        ("options.unroll", [("unroll",)]),
        ("_wide", [("_wide",)]),
        ("os.environ['UNROLL']", [("UNROLL",)]),
        ("os.getenv('UNROLL')", [("UNROLL",)]),
        ("options.label", []),
        ("os.environ['UNROLL_DEBUG']", []),
        ("trips", []),
    ],
)
@pytest.mark.parametrize("decorator", ["@cache", "@lru_cache(maxsize=8)"])
def test_a_cached_function_may_read_nothing_that_changes(
    decorator: str, read: str, missing: list[tuple[str, ...]]
) -> None:
    body = f"{decorator}\ndef source(trips: int) -> str:\n    return f'{{trips}} {{{read}}}'\n"
    use = "\n\ndef attend(declared: BandPlan) -> str:\n    return source(declared.heads)\n"
    assert lacking(body.replace('"', "'").replace("f'", 'f"').replace("}'", '}"') + use) == missing


def test_a_cached_function_without_parameters_reads_the_environment_once_on_purpose() -> None:
    body = "@cache\ndef depth() -> str:\n    return os.environ['DEPTH']\n"
    assert lacking(body + "\n\ndef attend(declared: BandPlan) -> str:\n    return depth()\n") == []


def test_a_cached_function_that_no_plan_comes_near_is_left_alone() -> None:
    assert lacking("@cache\ndef source(trips: int) -> int:\n    return trips * options.unroll\n") == []


def test_a_warm_up_under_a_shorter_key_is_never_found() -> None:
    body = """\
    def warm(declared: BandPlan) -> None:
        KERNELS[declared.heads, "attend"] = build(declared)


    def find(declared: BandPlan, rows: int) -> Kernel:
        key = (declared.heads, rows, "attend")
        return KERNELS[key]
    """.replace("\n    ", "\n").removeprefix("    ")
    (finding,) = findings_in(HEAD + body)
    assert (finding.code, finding.fields) == ("OWN009", ("rows",))
    assert "`warm` stores `KERNELS` under `(declared.heads, 'attend')`, while `find` looks up" in finding.message
    assert lacking(body.replace("rows, ", "")) == []
    assert lacking(body.replace('rows, "attend"', 'rows, "score"')) == []


def test_nothing_is_said_where_no_plan_is_marked_or_declared() -> None:
    text = "C = {}\n\n\ndef f(a: int, b: int):\n    if a not in C:\n        C[a] = g(a, b)\n    return C[a]\n"
    assert analysis_of({"a.py": text}).findings == ()


@pytest.mark.parametrize(
    ("key", "mended"),
    [
        ("(declared.heads, x)", "(declared.heads, x, declared.softcap)"),
        ("(declared.heads,)", "(declared.heads, declared.softcap,)"),
        (
            "(\n        declared.heads,  # first\n        x,\n    )",
            "(\n        declared.heads,  # first\n        x, declared.softcap,\n    )",
        ),
    ],
)
def test_the_fix_adds_the_fact_to_the_key_and_removes_the_finding(key: str, mended: str) -> None:
    text = HEAD + memo("x: int", key, "build(declared)")
    findings = findings_in(text)
    assert apply_fixes(tree_of({"a.py": text}), findings, unsafe=False).texts == {}
    after = apply_fixes(tree_of({"a.py": text}), findings, unsafe=True).texts["a.py"]
    assert f"    key = {mended}\n" in after
    assert findings_in(after) == ()


def test_a_function_that_is_nested_too_deeply_is_named_and_the_others_are_checked() -> None:
    deep = "declared" + ".rows" * 450
    body = memo("x: int", "(declared.heads, x)", "build(declared)")
    body += f"\n\ndef deep(declared: BandPlan) -> object:\n    KERNELS[{deep}] = KERNELS.get({deep})\n"
    analysis = analysis_of({"a.py": HEAD + body})
    assert [each.code for each in analysis.findings] == ["OWN009"]
    assert {each.message for each in analysis.problems} == {"`deep` is nested too deeply to be checked"}
