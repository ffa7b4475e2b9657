"""Random plans with random uses of them: the right ones are silent, and a planted mistake is found where it stands."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lint_rules.config import Config, PlanDeclaration
from lint_rules.engine import analyze
from lint_rules.fixes import apply_fixes
from lint_rules.rewrite import with_texts
from tests.lint_rules.trees import tree_of

bounded = settings(derandomize=True, deadline=None, max_examples=120, suppress_health_check=list(HealthCheck))

#: Names that the written code uses itself, and words that rules look for, are among them on purpose.
NAMES = ("fold", "pack", "_tail", "plan", "compile", "x", "part", "given", "kept", "load")
#: A list whose name has that of a carrier may be about that one alone.
PURPOSES = frozenset({"kept", "load"})


@dataclass(frozen=True)
class Spec:
    """A plan: its carriers and borrowed fields in order, and how it is written and spoken of."""

    carriers: tuple[str, ...]
    borrowed: tuple[str, ...]
    flavor: str
    method: bool
    aliased: bool

    @property
    def marked(self) -> bool:
        return self.flavor in {"dataclass", "attrs"}

    def config(self) -> Config:
        declared = PlanDeclaration("part.UsedPlan", self.carriers, borrowed=self.borrowed)
        return Config(plans=() if self.marked else (declared,))

    def argument(self, name: str) -> str:
        """The constructor's name for a field."""
        return name.lstrip("_") if self.flavor == "attrs" else name

    def text(self) -> str:
        """The module of the plan."""
        fields = [("rows", "Fact[int]"), *((c, "Transferable[Kernel]") for c in self.carriers)]
        fields += [(b, "Borrowed[Buffer]") for b in self.borrowed]
        head = ["from __future__ import annotations", "import attrs", "from dataclasses import dataclass"]
        head += [
            "from typing import NamedTuple",
            "from ownership import Borrowed, Fact, Transferable, plan",
            "KEEP = []",
        ]
        head += ["class Kernel: ...", "class Buffer: ...", "def compile_one(rows): return Kernel()"]
        if self.marked:
            head += ["@plan", "@dataclass" if self.flavor == "dataclass" else "@attrs.define"]
            body = [f"    {name}: {annotation}" for name, annotation in fields]
            return "\n".join([*head, "class UsedPlan:", *body, ""])
        bare = [(name, annotation.partition("[")[2].rstrip("]")) for name, annotation in fields]
        if self.flavor == "namedtuple":
            return "\n".join([*head, "class UsedPlan(NamedTuple):", *(f"    {n}: {a}" for n, a in bare), ""])
        taken = ", ".join(f"{name}: {annotation}" for name, annotation in bare)
        stores = [f"        self.{name} = {name}" for name, _ in bare]
        return "\n".join([*head, "class UsedPlan:", f"    def __init__(self, {taken}):", *stores, ""])


@st.composite
def specs(draw: st.DrawFn, fewest: int = 2, apart: frozenset[str] = frozenset()) -> Spec:
    """A plan of any flavor with at least so many carriers."""
    flavor = draw(st.sampled_from(("dataclass", "attrs", "namedtuple", "plain")))
    names_apart = [name for name in NAMES if name not in apart]
    legal = [name for name in names_apart if flavor != "namedtuple" or not name.startswith("_")]
    names = draw(st.lists(st.sampled_from(legal), min_size=fewest, max_size=6, unique=True))
    borrowed = draw(st.lists(st.sampled_from(("scratch", "live")), min_size=1, unique=True))
    return Spec(
        tuple(names),
        tuple(borrowed),
        flavor,
        draw(st.booleans()),
        aliased=draw(st.booleans()),
    )


def function(spec: Spec, name: str, body: list[str]) -> str:
    """A function, or a method of another class, that is given a plan as `it`."""
    home = ["class Service:", "    def {}(self, {}):"] if spec.method else ["def {}({}):"]
    indent = "        " if spec.method else "    "
    lines = [line.format(name, "it: UsedPlan") for line in home]
    if spec.aliased:
        body = ["used = it", *(line.replace("it.", "used.") for line in body)]
    return "\n".join([*lines, *(indent + line for line in body), ""])


def found(spec: Spec, *functions: str) -> list[tuple[str, tuple[str, ...]]]:
    analysis = analyze(tree_of({"part.py": "\n".join([spec.text(), *functions])}), spec.config())
    assert analysis.problems == ()
    return [(finding.code, finding.fields) for finding in analysis.findings]


def reads(spec: Spec, lacking: str = "") -> list[str]:
    return [f"it.{name}" for name in spec.carriers if name != lacking]


LISTS: dict[str, Callable[[list[str]], tuple[str, list[str]]]] = {
    "tuple": lambda parts: ("carriers", [f"return ({', '.join(parts)},)"]),
    "list": lambda parts: ("kernels", [f"return [{', '.join(parts)}]"]),
    "yields": lambda parts: ("programs", [f"yield {part}" for part in parts]),
    "dict": lambda parts: ("kernels", [f"return {{{', '.join(f'{part[3:]!r}: {part}' for part in parts)}}}"]),
    "kept": lambda parts: ("do", [f"kept_kernels = ({', '.join(parts)},)", "return kept_kernels"]),
    "calls": lambda parts: ("do", [f"KEEP.append({part})" for part in parts]),
    "loop": lambda parts: ("do", [f"for each in ({', '.join(parts)},):", "    each.load()"]),
    "names": lambda parts: (
        "load",
        [f"for each in ({', '.join(repr(part[3:]) for part in parts)},):", "    getattr(it, each)()"],
    ),
}


@bounded
@given(specs(3, PURPOSES), st.sampled_from(sorted(LISTS)), st.data())
def test_a_list_of_all_is_silent_and_one_that_lacks_a_carrier_is_completed(
    spec: Spec, how: str, data: st.DataObject
) -> None:
    name, body = LISTS[how](reads(spec))
    assert found(spec, function(spec, name, body)) == []
    lacking = data.draw(st.sampled_from(spec.carriers))
    name, body = LISTS[how](reads(spec, lacking))
    text = "\n".join([spec.text(), function(spec, name, body)])
    tree = tree_of({"part.py": text})
    analysis = analyze(tree, spec.config())
    assert [(f.code, f.fields) for f in analysis.findings] == [("OWN007", (lacking,))], text
    changes = apply_fixes(tree, analysis.findings, unsafe=False)
    assert changes.fixed == analysis.findings, text
    ast.parse(changes.texts["part.py"])
    assert analyze(with_texts(tree, changes.texts), spec.config()).findings == (), changes.texts["part.py"]


@bounded
@given(specs(), st.data())
def test_carriers_by_keyword_are_silent_and_four_by_position_are_named_and_mended(
    spec: Spec, data: st.DataObject
) -> None:
    values = [f"v{number}" for number in range(len(spec.carriers))]
    keywords = [f"{spec.argument(name)}={value}" for name, value in zip(spec.carriers, values, strict=True)]
    rest = [f"{name}=None" for name in spec.borrowed]
    by_position = data.draw(st.integers(0, len(values)))
    given_ = ", ".join(["8", *values[:by_position], *keywords[by_position:], *rest])
    text = f"{spec.text()}\ndef make({', '.join(values)}):\n    return UsedPlan({given_})\n"
    tree = tree_of({"part.py": text})
    findings = analyze(tree, spec.config()).findings
    wanted = [("OWN005", spec.carriers[:by_position])] if by_position >= 4 else []
    assert [(f.code, f.fields) for f in findings] == wanted, text
    if wanted:
        changes = apply_fixes(tree, findings, unsafe=False)
        assert changes.texts["part.py"].endswith(f"return UsedPlan({', '.join(['8', *keywords, *rest])})\n")
        assert analyze(with_texts(tree, changes.texts), spec.config()).findings == ()


FALLBACKS: tuple[Callable[[str, str], list[str]], ...] = (
    lambda read, value: [f"return {read} or {value}"],
    lambda read, value: [f"return {read} if {read} is not None else {value}"],
    lambda read, value: [f"found = {read}", "if found is None:", f"    found = {value}", "return found"],
    lambda read, value: [f"if {read} is None:", f"    return {value}", f"return {read}"],
    lambda read, value: [f"if {read} is not None:", f"    return {read}", f"return {value}"],
    lambda read, value: [f"return {read}.get(8, {value})"],
    lambda read, value: ["try:", f"    return {read}[8]", "except KeyError:", f"    return {value}"],
)


@bounded
@given(specs(), st.sampled_from(FALLBACKS), st.data())
def test_a_fallback_is_reported_only_if_it_resolves_in_code_that_serves(
    spec: Spec, write: Callable[[str, str], list[str]], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(spec.carriers))
    resolving = write(f"it.{name}", "compile_one(8)")
    assert found(spec, function(spec, "serve", resolving)) == [("OWN006", (name,))]
    assert found(spec, function(spec, "prepare", resolving)) == []
    assert found(spec, function(spec, "serve", write(f"it.{name}", "None"))) == []
    assert found(spec, function(spec, "serve", write("it.rows", "compile_one(8)"))) == []


ESCAPES: tuple[Callable[[str], list[str]], ...] = (
    lambda value: [f"KEEP.append({value})"],
    lambda value: [f"KEEP[0] = ({value}, 1)"],
    lambda value: [f"UsedPlan.last = {value}"],
    lambda value: [f"part = {value}", "return lambda: part"],
)


@bounded
@given(specs(), st.sampled_from(ESCAPES), st.data())
def test_borrowed_storage_that_is_kept_is_reported_and_a_copy_or_a_carrier_is_not(
    spec: Spec, write: Callable[[str], list[str]], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(spec.borrowed))
    view = data.draw(st.sampled_from((f"it.{name}", f"it.{name}[1:]", f"it.{name}.view(8)")))
    assert found(spec, function(spec, "serve", write(view))) == [("OWN011", (name,))]
    assert found(spec, function(spec, "serve", write(f"it.{name}.clone()"))) == []
    assert found(spec, function(spec, "serve", write(f"it.{data.draw(st.sampled_from(spec.carriers))}"))) == []


@bounded
@given(specs(), st.data())
def test_a_new_object_in_a_plan_that_was_given_is_reported_and_one_that_was_handed_in_is_not(
    spec: Spec, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(spec.carriers))
    assign = data.draw(
        st.sampled_from(("it.{0} = {1}", "setattr(it, {0!r}, {1})", "object.__setattr__(it, {0!r}, {1})"))
    )
    new = data.draw(st.sampled_from(("Kernel()", "compile_one(8)", "None", "[]")))
    assert found(spec, function(spec, "serve", [assign.format(name, new)])) == [("OWN013", (name,))]
    assert found(spec, function(spec, "serve", [assign.format(name, f"it.{name}")])) == []
    assert found(spec, function(spec, "prepare", [assign.format(name, new)])) == []
    assert found(spec, function(spec, "serve", [assign.format("rows", new)])) == []
