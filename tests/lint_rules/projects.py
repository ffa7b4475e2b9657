"""Random projects with a known verdict: plans, a planner, and materializers that are right but for one planted mistake.

A `Project` is drawn once and written twice: `files(None)` is right, `files(mistake)` loses or rebuilds one field.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from hypothesis import strategies as st

from lint_rules.config import Config, PlanDeclaration
from lint_rules.usage.bundles import FEWEST

__all__ = ["Mistake", "PlanSpec", "Project", "StepSpec", "projects"]

Flavor = Literal["dataclass", "attrs", "namedtuple", "plain"]
What = Literal["dropped", "rebuilt"]

#: Names that the written code uses itself are among them on purpose.
FIELD_NAMES = (
    "fold",
    "pack",
    "x",
    "_hidden",
    "prepared",
    "fresh",
    "name",
    "given",
    "replace",
    "plan",
    "kernel",
    "data",
)
FACT_NAMES = ("rows", "lane", "_width", "depth")

HOWS: dict[Flavor, tuple[str, ...]] = {
    "dataclass": (
        "replace",
        "keywords",
        "positions",
        "dict",
        "dict of all",
        "assign",
        "loop",
        "names",
        "transfer",
        "steps",
        "union",
        "update",
        "partial",
        "zip",
        "pairs",
    ),
    "attrs": (
        "replace",
        "keywords",
        "positions",
        "dict",
        "dict of all",
        "assign",
        "loop",
        "names",
        "transfer",
        "steps",
        "union",
        "update",
        "partial",
        "zip",
        "pairs",
    ),
    "namedtuple": (
        "replace",
        "keywords",
        "positions",
        "dict",
        "dict of all",
        "names",
        "steps",
        "union",
        "update",
        "partial",
        "pairs",
    ),
    "plain": ("keywords", "positions", "dict of all", "assign", "loop", "partial", "zip"),
}

#: Ways of writing a copy in which a value of its own can stand for a field.
REBUILDABLE = frozenset(
    {
        "steps",
        "union",
        "update",
        "partial",
        "pairs",
        "zip",
        "replace",
        "keywords",
        "positions",
        "dict",
        "dict of all",
        "assign",
    }
)

#: Ways of writing a copy in which the values may have been read before.
EARLY = REBUILDABLE

WRAPS = (
    "renamed",
    "early return",
    "other branch",
    "closure",
    "comprehension",
    "try",
    "raise",
    "with",
    "match",
    "while",
)

#: Ways in which the field that is dropped is given as `Absent`.
EXPLICIT = frozenset({"partial", "keywords", "positions", "dict of all", "transfer"})


@dataclass(frozen=True)
class PlanSpec:
    """One plan class. `kinds` maps field names to kinds in their order; the first `inherited` ones are the base's."""

    name: str
    flavor: Flavor
    kinds: dict[str, str]
    frozen: bool
    slots: bool
    kw_only: bool
    inherited: int
    marked_base: bool

    @property
    def marked(self) -> bool:
        return self.flavor in {"dataclass", "attrs"}

    @property
    def carriers(self) -> tuple[str, ...]:
        return tuple(name for name, kind in self.kinds.items() if kind == "Transferable")

    def gives_blank(self, how: str) -> bool:
        """Whether a step that drops a field still gives the call a value for it, where no keyword shows it."""
        return how in {"positions", "dict of all", "partial"} and (self.marked or self.flavor == "namedtuple")

    def argument(self, name: str) -> str:
        """The constructor's name for a field; attrs takes the underscores off."""
        return name.lstrip("_") if self.flavor == "attrs" else name


@dataclass(frozen=True)
class StepSpec:
    """One function that makes a plan from a prepared one, `calls` helpers away from where it is called."""

    name: str
    plan: PlanSpec
    how: str
    calls: int
    decorated: bool
    wraps: tuple[str, ...]
    early: bool


@dataclass(frozen=True)
class Mistake:
    """What is planted: in this step, this field does not arrive or is made anew."""

    step: StepSpec
    field: str
    what: What


@dataclass
class _Module:
    """One file that is being written, and what it imports."""

    name: str
    package: str
    style: str
    imports: dict[str, None] = field(default_factory=dict)
    defined: set[str] = field(default_factory=set)
    body: list[str] = field(default_factory=list)

    def outside(self, module: str, name: str) -> str:
        """How to speak of a name of an installed package."""
        if self.style == "module":
            self.imports[f"import {module}"] = None
            return f"{module}.{name}"
        if self.style == "alias":
            self.imports[f"from {module} import {name} as its_{name}"] = None
            return f"its_{name}"
        self.imports[f"from {module} import {name}"] = None
        return name

    def inside(self, owner: _Module, name: str) -> str:
        """How to speak of a name that another file of the project defines."""
        if owner is self:
            return name
        if self.style == "module":
            start = f"from {self.package} import" if self.package else "import"
            self.imports[f"{start} {owner.name} as _{owner.name}"] = None
            return f"_{owner.name}.{name}"
        source = (f".{owner.name}" if self.style == "from" else f"{self.package}.{owner.name}") if self.package else ""
        start = f"from {source or owner.name} import {name}"
        if self.style == "alias":
            self.imports[f"{start} as our_{name}"] = None
            return f"our_{name}"
        self.imports[start] = None
        return name

    def text(self) -> str:
        return "\n".join(["from __future__ import annotations", "", *self.imports, "", *self.body, ""])


@dataclass(frozen=True)
class Project:
    """Everything that is drawn. `homes` says which of the modules holds bases, plans, helpers and steps."""

    plans: tuple[PlanSpec, ...]
    steps: tuple[StepSpec, ...]
    homes: tuple[int, int, int, int]
    package: str
    styles: tuple[str, str, str]

    @property
    def config(self) -> Config:
        declared = [plan for plan in self.plans if not plan.marked]
        return Config(plans=tuple(PlanDeclaration(self.class_name(plan), plan.carriers) for plan in declared))

    def class_name(self, plan: PlanSpec) -> str:
        return self._dotted(self.homes[1]) + "." + plan.name

    def step_module(self) -> str:
        return self._dotted(self.homes[3])

    def plan_module(self) -> str:
        return self._dotted(self.homes[1])

    def _dotted(self, home: int) -> str:
        return ".".join(part for part in (self.package, f"part{home}") if part)

    def files(self, mistake: Mistake | None) -> dict[str, str | bytes]:
        """The source files, by name."""
        modules = [_Module(f"part{i}", self.package, style) for i, style in enumerate(self.styles)]
        bases, plans, helpers, steps = (modules[home] for home in self.homes)
        bases.body += ["class Kernel: ...", "", "def compiled() -> Kernel:", "    return Kernel()", ""]
        for plan in self.plans:
            _Writer(bases, plans, helpers, steps, plan).write_plan()
        for step in self.steps:
            _Writer(bases, plans, helpers, steps, step.plan).write_step(step, mistake)
        folder = f"{self.package}/" if self.package else ""
        found: dict[str, str | bytes] = {
            f"{folder}{module.name}.py": module.text() for i, module in enumerate(modules) if i in self.homes
        }
        if folder:
            found[f"{folder}__init__.py"] = ""
        return found


@dataclass
class _Writer:
    """Writes one plan and its steps into the modules that they belong to."""

    bases: _Module
    plans: _Module
    helpers: _Module
    steps: _Module
    plan: PlanSpec

    def write_plan(self) -> None:
        plan = self.plan
        names = list(plan.kinds)
        if plan.inherited:
            base = f"Base{plan.name}"
            self._write_class(self.bases, base, "", names[: plan.inherited], [], marked=plan.marked_base)
            parent = self.plans.inside(self.bases, base)
            self._write_class(
                self.plans, plan.name, parent, names[plan.inherited :], names[: plan.inherited], marked=True
            )
        else:
            self._write_class(self.plans, plan.name, "", names, [], marked=True)
        facts = [name for name, kind in plan.kinds.items() if kind == "Fact"]
        given = ", ".join(f"{plan.argument(name)}={self._blank(self.plans, name)}" for name in names)
        parameters = ", ".join(f"{name}: int" for name in facts)
        self.plans.body += [
            f"def plan_{plan.name.lower()}({parameters}) -> {plan.name}:",
            f"    return {plan.name}({given})",
            "",
        ]

    def _write_class(
        self, home: _Module, name: str, parent: str, own: list[str], before: list[str], *, marked: bool
    ) -> None:
        plan = self.plan
        head = f"class {name}({parent}):" if parent else f"class {name}:"
        fields = [f"    {each}: {self._annotation(home, each)}" for each in own] or ["    pass"]
        if plan.flavor == "namedtuple":
            head = f"class {name}({home.outside('typing', 'NamedTuple')}):"
            # From the first carrier behind the last other field on, all may have a default.
            last = max(i for i, each in enumerate(own) if plan.kinds[each] != "Transferable")
            fields = [line + " = None" if i > last else line for i, line in enumerate(fields)]
        if plan.flavor == "plain":
            taken = ", ".join(
                f"{each}: {self._annotation(home, each)}{self._default(each)}" for each in [*before, *own]
            )
            fields = [
                f"    def __init__(self, *, {taken}) -> None:"
                if plan.kw_only
                else f"    def __init__(self, {taken}) -> None:"
            ]
            if before:
                fields.append(f"        super().__init__({', '.join(f'{each}={each}' for each in before)})")
            fields += [f"        self.{each} = {each}" for each in own]
            if not before and not own:
                fields.append("        pass")
        if plan.marked and marked:
            home.body.append(f"@{home.outside('ownership', 'plan')}")
        options = f"frozen={plan.frozen}, slots={plan.slots}, kw_only={plan.kw_only}"
        if plan.flavor == "dataclass":
            home.body.append(f"@{home.outside('dataclasses', 'dataclass')}({options})")
        elif plan.flavor == "attrs":
            home.body.append(f"@{home.outside('attrs', 'define')}({options})")
        home.body += [head, *fields, ""]

    def _annotation(self, home: _Module, name: str) -> str:
        kind = self.plan.kinds[name]
        kernel = home.inside(self.bases, "Kernel")
        if not self.plan.marked:
            return f"{kernel} | None" if kind == "Transferable" else "int"
        mark = home.outside("ownership", kind)
        return f"{mark}[{kernel} | {home.outside('ownership', 'Absent')}]" if kind == "Transferable" else f"{mark}[int]"

    def _default(self, name: str) -> str:
        return " = None" if self.plan.kinds[name] == "Transferable" else " = 0"

    def _blank(self, home: _Module, name: str) -> str:
        """What the planner gives to a field."""
        match self.plan.kinds[name]:
            case "Transferable":
                return f"{home.outside('ownership', 'Absent')}('planned')" if self.plan.marked else "None"
            case "Fact":
                return name
            case _:
                return "0"

    def write_step(self, step: StepSpec, mistake: Mistake | None) -> None:
        plan = self.plan
        here = mistake if mistake is not None and mistake.step == step else None
        home = self.helpers if step.calls else self.steps
        lines = self._copy(step, home, here)
        for wrap in step.wraps:
            lines = self._wrapped(wrap, lines, self._copy(step, home, None), home)
        called = f"copy_{step.name}" if step.calls else step.name
        head = f"({{}}: {home.inside(self.plans, plan.name)}) -> {home.inside(self.plans, plan.name)}:"
        if step.calls:
            home.body += [f"def {called}{head.format('old')}", *(f"    {line}" for line in lines), ""]
            if step.calls == 2:
                home.body += [f"def pass_{step.name}{head.format('old')}", f"    return {called}(old)", ""]
                called = f"pass_{step.name}"
            head = f"(old: {self.steps.inside(self.plans, plan.name)}) -> {self.steps.inside(self.plans, plan.name)}:"
            lines = [f"made = {self.steps.inside(self.helpers, called)}(old)", "return made"]
        if step.decorated:
            self.steps.body.append(f"@{self.steps.outside('ownership', 'materializer')}")
        self.steps.body += [f"def {step.name}{head.format('old')}", *(f"    {line}" for line in lines), ""]

    def _wrapped(self, wrap: str, lines: list[str], right: list[str], home: _Module) -> list[str]:
        """The body of a step in another setting, which changes nothing of what it does for facts of 1."""
        fact = next(name for name, kind in self.plan.kinds.items() if kind == "Fact")
        inner = [f"    {line}" for line in lines]
        match wrap:
            case "renamed":
                return ["source = old", *(re.sub(r"\bold\b", "source", line) for line in lines)]
            case "early return":
                return [f"if old.{fact} < 0:", "    return old", *lines]
            case "other branch":
                return [f"if old.{fact} > 0:", *inner, "else:", *(f"    {line}" for line in right)]
            case "closure":
                return ["def inside():", *inner, "return inside()"]
            case "comprehension":
                return ["def one(old):", *inner, "return [one(each) for each in (old,)][0]"]
            case "try":
                return ["try:", *inner, "finally:", "    print(end='')"]
            case "raise":
                return [f"if old.{fact} < 0:", "    raise ValueError(old)", *lines]
            case "with":
                return [f"with {home.outside('contextlib', 'nullcontext')}():", *inner]
            case "match":
                return [
                    f"match old.{fact}:",
                    "    case 0:",
                    "        return old",
                    "    case _:",
                    *(f"    {x}" for x in inner),
                ]
            case "while":
                return ["while True:", *inner]
        raise AssertionError(wrap)

    def _copy(self, step: StepSpec, home: _Module, mistake: Mistake | None) -> list[str]:
        """The lines that make the new plan of `old`."""
        plan = self.plan
        rebuilt = mistake.field if mistake is not None and mistake.what == "rebuilt" else ""
        dropped = mistake.field if mistake is not None and mistake.what == "dropped" else ""
        values = {name: f"old.{name}" for name in plan.carriers if name != dropped}
        early = [f"value_{i} = {value}" for i, value in enumerate(values.values())] if step.early else []
        if step.early:
            values = {name: f"value_{i}" for i, name in enumerate(values)}
        if rebuilt:
            values[rebuilt] = f"{home.inside(self.bases, 'compiled')}()"
        facts = ", ".join(f"old.{name}" for name, kind in plan.kinds.items() if kind == "Fact")
        planned = f"{home.inside(self.plans, f'plan_{plan.name.lower()}')}({facts})"
        cls = home.inside(self.plans, plan.name)
        lines: list[str]
        everything = {
            name: values[name] if name in values else f"old.{name}" if kind == "Fact" else self._blank(home, name)
            for name, kind in plan.kinds.items()
            if name != dropped or plan.marked or plan.flavor == "namedtuple"
        }
        keywords = ", ".join(f"{plan.argument(name)}={value}" for name, value in values.items())
        pairs = ", ".join(f"{plan.argument(name)!r}: {value}" for name, value in values.items())
        match step.how:
            case "replace":
                return [*early, f"return {self._replace(home, planned, keywords)}"]
            case "keywords":
                return [*early, f"return {cls}({', '.join(f'{plan.argument(n)}={v}' for n, v in everything.items())})"]
            case "positions" if not plan.kw_only or plan.flavor == "namedtuple":
                cut = list(plan.kinds).index(dropped) if dropped and dropped not in everything else len(everything)
                first, rest = list(everything.items())[:cut], list(everything.items())[cut:]
                given = [value for _, value in first] + [f"{plan.argument(n)}={v}" for n, v in rest]
                return [*early, f"return {cls}({', '.join(given)})"]
            case "dict":
                (start, value), *others = values.items()
                lines = [f"given = {{{plan.argument(start)!r}: {value}}}"]
                lines += [f"given[{plan.argument(name)!r}] = {value}" for name, value in others]
                return [*early, *lines, f"return {self._replace(home, planned, '**given')}"]
            case "steps":
                lines = ["made = " + planned]
                lines += [f"made = {self._replace(home, 'made', f'{plan.argument(n)}={v}')}" for n, v in values.items()]
                return [*early, *lines, "return made"]
            case "union":
                parts = [f"{{{plan.argument(n)!r}: {v}}}" for n, v in values.items()]
                lines = [f"first = {parts[0]}", f"given = {{**first, **({' | '.join(parts[1:] or parts)})}}"]
                return [*early, *lines, f"return {self._replace(home, planned, '**given')}"]
            case "update":
                (start, value), *others = values.items()
                lines = [f"given = {{{plan.argument(start)!r}: {value}}}"]
                lines.append(f"given.update({', '.join(f'{plan.argument(n)}={v}' for n, v in others)})")
                return [*early, *lines, f"return {self._replace(home, planned, '**given')}"]
            case "partial":
                arguments = [f"{plan.argument(n)}={v}" for n, v in everything.items()]
                half = len(arguments) // 2
                make = f"{home.outside('functools', 'partial')}({', '.join([cls, *arguments[:half]])})"
                return [*early, f"make = {make}", f"return make({', '.join(arguments[half:])})"]
            case "zip":
                names, listed = tuple(values), ", ".join(values.values())
                setter = "object.__setattr__" if plan.frozen else "setattr"
                lines = [f"fresh = {planned}", f"for name, value in zip({names!r}, ({listed},)):"]
                return [*early, *lines, f"    {setter}(fresh, name, value)", "return fresh"]
            case "pairs":
                items = ", ".join(f"({plan.argument(n)!r}, {v})" for n, v in values.items())
                return [*early, f"return {self._replace(home, planned, f'**dict([{items}])')}"]
            case "positions" | "dict of all":
                items = ", ".join(f"{plan.argument(n)}={v}" for n, v in everything.items())
                return [*early, f"given = dict({items})", f"return {cls}(**given)"]
            case "assign":
                lines = [f"fresh = {planned}"]
                for name, value in values.items():
                    plain = not plan.frozen or plan.flavor == "plain"
                    lines.append(
                        f"fresh.{name} = {value}" if plain else f"object.__setattr__(fresh, {name!r}, {value})"
                    )
                return [*early, *lines, "return fresh"]
            case "loop":
                setter = "object.__setattr__" if plan.frozen else "setattr"
                body = f"    {setter}(fresh, name, getattr(old, name))"
                return [*early, f"fresh = {planned}", f"for name in {tuple(values)!r}:", body, "return fresh"]
            case "names" if plan.flavor != "attrs" or not any(name.startswith("_") for name in values):
                made = f"**{{name: getattr(old, name) for name in {tuple(values)!r}}}"
                return [*early, f"return {self._replace(home, planned, made)}"]
            case "names":
                return [*early, f"given = {{{pairs}}}", f"return {self._replace(home, planned, '**given')}"]
        moved = f"{home.outside('ownership', 'transfer')}(old, into={planned})"
        if dropped:
            lost = f"{plan.argument(dropped)}={home.outside('ownership', 'Absent')}('lost')"
            return [*early, f"moved = {moved}", f"return {self._replace(home, 'moved', lost)}"]
        return [*early, f"return {moved}"]

    def _replace(self, home: _Module, base: str, given: str) -> str:
        if self.plan.flavor == "namedtuple":
            return f"{base}._replace({given})"
        if self.plan.flavor == "attrs":
            return f"{home.outside('attrs', 'evolve')}({base}, {given})"
        return f"{home.outside('dataclasses', 'replace')}({base}, {given})"


@st.composite
def _plans(draw: st.DrawFn, name: str) -> PlanSpec:
    flavor: Flavor = draw(st.sampled_from(("dataclass", "attrs", "namedtuple", "plain")))
    legal = [each for each in FIELD_NAMES if flavor != "namedtuple" or not each.startswith("_")]
    carriers = draw(st.lists(st.sampled_from(legal), min_size=2, max_size=5, unique=True))
    facts = draw(st.lists(st.sampled_from(FACT_NAMES[:2]), min_size=1, max_size=2, unique=True))
    kinds = {**dict.fromkeys(carriers, "Transferable"), **dict.fromkeys(facts, "Fact")}
    if flavor not in {"namedtuple", "plain"}:
        kinds |= {"_width": "Derived"} if draw(st.booleans()) else {}
        kinds |= {"hits": "Ephemeral"} if draw(st.booleans()) else {}
    order = draw(st.permutations(list(kinds)))
    return PlanSpec(
        name=name,
        flavor=flavor,
        kinds={each: kinds[each] for each in order},
        frozen=draw(st.booleans()),
        slots=draw(st.booleans()),
        kw_only=draw(st.booleans()),
        inherited=0 if flavor == "namedtuple" else draw(st.integers(0, len(order) - 1)),
        marked_base=draw(st.booleans()),
    )


@st.composite
def _steps(draw: st.DrawFn, name: str, plan: PlanSpec) -> StepSpec:
    # Four carriers by position are a finding of their own.
    hows = [how for how in HOWS[plan.flavor] if how != "positions" or len(plan.carriers) < FEWEST]
    how = draw(st.sampled_from(hows))
    # Outside of a materializer, an explicit `Absent` is on purpose.
    decorated = plan.marked and (how in EXPLICIT or draw(st.booleans()))
    return StepSpec(
        name=name,
        plan=plan,
        how=how,
        calls=draw(st.integers(0, 2)),
        decorated=decorated,
        wraps=tuple(draw(st.lists(st.sampled_from(WRAPS), max_size=2))),
        early=how in EARLY and draw(st.booleans()),
    )


@st.composite
def projects(draw: st.DrawFn, what: What = "dropped") -> tuple[Project, Mistake]:
    """A project, and a mistake that can be planted in it."""
    plans = [draw(_plans(name)) for name in ("LanePlan", "StepPlan")[: draw(st.integers(1, 2))]]
    steps = [draw(_steps("resize", draw(st.sampled_from(plans))))]
    if draw(st.booleans()):
        steps.append(draw(_steps("rebuild", draw(st.sampled_from(plans)))))
    homes = sorted(draw(st.lists(st.integers(0, 2), min_size=4, max_size=4)))
    project = Project(
        plans=tuple(plans),
        steps=tuple(steps),
        homes=(homes[0], homes[1], homes[2], homes[3]),
        package=draw(st.sampled_from(("", "pkg"))),
        styles=tuple(draw(st.sampled_from(("from", "alias", "module"))) for _ in range(3)),  # type: ignore[arg-type]
    )
    step = draw(st.sampled_from(steps))
    if what == "rebuilt" and step.how not in REBUILDABLE:
        what = "dropped"
    return project, Mistake(step, draw(st.sampled_from(step.plan.carriers)), what)
