"""The verdict on each plan that leaves a function: which of its fields arrived, and which did not."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from lint_rules.flow.carry import find_carry
from lint_rules.flow.leaks import find_kept, find_leaks
from lint_rules.flow.rebinds import INITIALIZERS, Rebinding, Rebindings, has_nothing_to_lose, is_stated
from lint_rules.flow.sites import CopySite, Outcome
from lint_rules.flow.state import OPEN, Frame, State
from lint_rules.flow.values import (
    GAP,
    AbsentMark,
    Attr,
    Dict,
    Item,
    Node,
    Obj,
    Opaque,
    Param,
    Read,
    Seq,
    bare,
    is_blank,
    owners,
)
from lint_rules.index.build import last_name
from lint_rules.index.words import is_preparing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lint_rules.flow.interpreter import Interpreter
    from lint_rules.flow.values import Val
    from lint_rules.index.model import ClassInfo, FunctionInfo, ModuleInfo
    from lint_rules.index.plans import PlanInfo, PlanTable
    from lint_rules.index.project import Project

__all__ = ["Judge"]

#: How deep a returned value is searched for plans.
_DEEPEST = 4


@dataclass(slots=True)
class _Assigned:
    """A hand-written copy list whose target was given by the caller."""

    target: Node
    names: dict[str, Val]
    node: ast.expr | ast.stmt
    function: FunctionInfo
    frame: Frame


@dataclass(slots=True)
class _Run:
    """The function under analysis."""

    info: FunctionInfo | None
    frame: Frame
    sources: list[Node]
    is_materializer: bool
    created: list[Obj] = field(default_factory=list)
    assigned: dict[Node, _Assigned] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.info.full_name if self.info is not None else self.frame.module.name


class Judge:
    """Collects copy sites over all functions of a project."""

    def __init__(self, project: Project, plans: PlanTable, materializers: frozenset[str] = frozenset()) -> None:
        self.project = project
        self.plans = plans
        self.materializers = materializers
        self.sites: list[CopySite] = []
        #: Functions that return a plan made in them, or carriers in a container; calling them is of interest.
        self.carrying: set[str] = set()
        self._lists: list[CopySite] = []
        self._list_functions: dict[int, FunctionInfo] = {}
        self._followed: set[FunctionInfo] = set()
        #: Fields that a caller gave to an object that a function it called had left without them.
        self._completed: set[tuple[object, ...]] = set()
        self.rebindings = Rebindings()
        self._run: _Run | None = None

    # Called by the interpreter

    def begin(self, info: FunctionInfo | None, frame: Frame, sources: list[Node], *, is_materializer: bool) -> None:
        self._run = _Run(info, frame, sources, is_materializer)

    def born(self, made: Obj, frame: Frame) -> None:
        """An object was made; those of the analysed function itself are judged even if nobody returns them."""
        if frame.depth == 0 and self._run is not None:
            self._run.created.append(made)

    def assigned(self, target: Node, name: str, value: Val, node: ast.expr | ast.stmt, frame: Frame) -> None:
        run = self._run
        if run is None or frame.depth or frame.info is None:
            return
        entry = run.assigned.get(target)
        if entry is None:
            entry = run.assigned[target] = _Assigned(target, {}, node, frame.info, frame)
        entry.names[name] = value

    def carrier_set(
        self,
        target: Node,
        name: str,
        value: Val,
        node: ast.expr | ast.stmt,
        frame: Frame,
        state: State,
        interpreter: Interpreter,
    ) -> None:
        """A carrier of a plan is about to be set: of one that the caller gave, that is to replace it."""
        if isinstance(target, Obj):
            if frame.depth and frame.info is not None and has_nothing_to_lose(target, name, state):
                self.rebindings.note_completing(frame.info)
            return
        plan = self.plans.of(interpreter.class_of(target))
        name_of_function = frame.info.node.name if frame.info is not None else ""
        is_its_business = name_of_function in INITIALIZERS or is_preparing(name_of_function)
        if plan is None or frame.depth or is_its_business or target is frame.receiver or is_stated(value):
            return
        is_fresh = all(is_blank(part) or self._is_new(part, state, interpreter) for part in value)
        if is_fresh and not has_nothing_to_lose(target, name, state):
            emptied = all(map(is_blank, value))
            found = Rebinding(plan, name, frame.module.place(node), _label(target), emptied)
            self.rebindings.add(found, frame.info)

    def note_followed(self, info: FunctionInfo) -> None:
        """The copy list of this function was seen with the object that it completes."""
        self._followed.add(info)

    def exit(
        self, value: Val, state: State, node: ast.stmt | ast.expr, interpreter: Interpreter, *, ends: bool = True
    ) -> None:
        """A path of the function ends (or yields: what it does not hand out may still change) here with this value."""
        run = self._run
        assert run is not None
        returned: dict[Obj, None] = {}
        for part in value:
            self._reach(part, state, returned, 0)
        hands_out = any(self.plans.of(obj.cls) is not None for obj in returned) or self._carries(value, state)
        if run.info is not None and hands_out:
            self.carrying.add(run.info.node.name)
        for obj in returned:
            self._judge(obj, state, node, interpreter, returned=True)
        if not ends:
            return
        receiver = run.frame.receiver
        others = dict.fromkeys(run.created)
        self._reach_stored(state, others)
        if isinstance(receiver, Obj):
            others[receiver] = None
        used = self._steps(returned, state)
        for obj in others:
            if obj.superseded or obj in returned or obj in used:
                continue
            if obj.copied is not None and obj in state.slots:
                self._judge(obj, state, node, interpreter, returned=False)

    def finish(self) -> None:
        run = self._run
        assert run is not None
        for entry in run.assigned.values():
            self._judge_list(entry)

    def deepcopy(self, source: Node, node: ast.Call, frame: Frame, interpreter: Interpreter) -> None:
        plan = self.plans.of(interpreter.class_of(source))
        if plan is None or self._run is None:
            return
        site = self._site(plan, frame.module, node, node, 0, "deepcopy", [source])
        for name in plan.transferable:
            site.outcomes.append(Outcome(name, "rebuilt", "deepcopy"))
        self._keep(site)

    # Finding plans in values

    def _reach(self, node: Node, state: State, found: dict[Obj, None], depth: int) -> None:
        node = bare(node)
        if depth > _DEEPEST:
            return
        if isinstance(node, Obj):
            if node in found:
                return
            found[node] = None
            for value in state.entries(node).values():
                for part in value:
                    self._reach(part, state, found, depth + 1)
        elif isinstance(node, Seq):
            for item in node.items:
                for part in item:
                    self._reach(part, state, found, depth + 1)
        elif isinstance(node, Dict):
            for value in state.entries(node).values():
                for part in value:
                    self._reach(part, state, found, depth + 1)

    def _reach_stored(self, state: State, found: dict[Obj, None]) -> None:
        """Plans that an object of the caller, or a variable of the function, holds in the end."""
        assert self._run is not None
        for key, entries in state.slots.items():
            if key is self._run.frame or isinstance(key, Param | Attr):
                for value in entries.values():
                    for part in value:
                        self._reach(part, state, found, 0)

    def _steps(self, returned: Iterable[Obj], state: State) -> set[Node]:
        """Objects that were made only to take the values of a returned plan from them."""
        return {
            bare(owner)
            for obj in returned
            if self.plans.of(obj.cls) is not None
            for value in state.entries(obj).values()
            for part in value
            for owner in owners(part)
        }

    def _carries(self, value: Val, state: State) -> bool:
        for part in value:
            node = bare(part)
            inner = state.entries(node) if isinstance(node, Dict) else {}
            for item in [*inner.values(), *(node.items if isinstance(node, Seq) else ())]:
                if any(isinstance(entry, Attr) and self._is_transferable(entry) for entry in item):
                    return True
        return False

    def _is_transferable(self, node: Attr) -> bool:
        owner = bare(node.owner)
        plan = self.plans.of(owner.cls) if isinstance(owner, Param | Attr | Obj | Item | Opaque) else None
        return plan is not None and plan.kind(node.name) == "Transferable"

    # The verdict

    def _judge(
        self, obj: Obj, state: State, node: ast.stmt | ast.expr, interpreter: Interpreter, *, returned: bool
    ) -> None:
        run = self._run
        assert run is not None
        plan = self.plans.of(obj.cls)
        demanded = run.is_materializer and returned and bool(run.sources)
        if plan is None or obj.tainted or OPEN in state.entries(obj) or not (obj.copied is not None or demanded):
            return
        self.judge_object(obj, plan, state, node, interpreter, run.sources if demanded else [])

    def judge_object(
        self,
        obj: Obj,
        plan: PlanInfo,
        state: State,
        node: ast.stmt | ast.expr,
        interpreter: Interpreter,
        demanding: list[Node],
        place: ast.AST | None = None,
    ) -> None:
        """Compare every field of a plan with what its sources could supply."""
        run = self._run
        assert run is not None
        entries = state.entries(obj)
        sources = self._sources(obj, plan, state, interpreter)
        for source in demanding:
            sources.setdefault(source, 0)
        if not sources:
            return
        if place is not None:
            assert isinstance(place, ast.expr | ast.stmt)
            site = self._site(plan, obj.birth.module, place, place, 0, "mapping", sources)
        elif obj.copied is not None:
            birth = obj.copied
            module = run.frame.module if birth.depth else birth.module
            site = self._site(
                plan, module, birth.root, birth.node, birth.depth, birth.how, sources, birth.module, state
            )
        else:
            site = self._site(plan, run.frame.module, node, node, 0, "return", sources)
        carried: list[str] = []
        # A path on which nothing is taken at all is no copy.
        is_copy = bool(demanding) or obj.base is not None or self._takes_always(obj, plan, state, interpreter)
        for name in plan.transferable:
            value = entries.get(name)
            if value is None and obj.base is not None:
                continue
            if value is not None and GAP in value and not is_copy:
                continue
            what = self._verdict(name, value, obj, state, interpreter, demanding)
            if what is None:
                carried.append(name)
                self._note_completed(obj, name)
            elif self._wanted(name, what, obj, sources, state, interpreter):
                carry = find_carry(name, obj, plan, state, run.frame, interpreter, list(sources))
                site.outcomes.append(Outcome(name, what, self._why(value, obj, name), carry))
        site.carried = tuple(carried)
        site.outcomes += find_leaks(obj, plan, state, interpreter)
        if demanding:
            site.outcomes += find_kept(obj, plan, state)
        if site.outcomes:
            self._keep(site)

    def _takes_always(self, obj: Obj, plan: PlanInfo, state: State, interpreter: Interpreter) -> bool:
        """Whether some carrier is taken on every path."""
        values = [state.read(obj, name) or () for name in plan.transferable]
        return any(GAP not in value and interpreter.taken_from(value, obj) for value in values)

    def _note_completed(self, obj: Obj, name: str) -> None:
        step: Obj | None = obj
        by_caller = False
        while step is not None:
            by_caller = by_caller or name in step.finished
            if by_caller and step.copied is not None and step.copied.depth:
                origin = step.copied.module.place(step.copied.node)
                self._completed.add((origin, step.cls, name))
            before = step.previous
            if before is not None and name in step.explicit and step.birth.depth < before.birth.depth:
                by_caller = True
            step = before

    def _verdict(
        self, name: str, value: Val | None, obj: Obj, state: State, interpreter: Interpreter, demanding: list[Node]
    ) -> Literal["dropped", "rebuilt"] | None:
        if value is None:
            return "dropped"
        if name in obj.stated:
            marks = [mark for part in value if isinstance(mark := bare(part), AbsentMark)]
            if any(mark.field_name not in {None, name} for mark in marks):
                return "dropped"
            if not demanding or any(mark.which == "Dropped" for mark in marks):
                return None
        if GAP in value or all(self._is_empty(part, state) for part in value):
            return "dropped"
        if all(self._is_new(part, state, interpreter) for part in value if not is_blank(part)):
            return "rebuilt" if not any(is_blank(part) for part in value) else "dropped"
        return None

    @staticmethod
    def _is_empty(part: Node, state: State) -> bool:
        inner = bare(part)
        return is_blank(part) or (isinstance(inner, Dict) and not state.entries(inner))

    def _is_new(self, part: Node, state: State, interpreter: Interpreter) -> bool:
        """Whether a value is certainly another object than any that was prepared."""
        if isinstance(part, Read):
            return False
        if isinstance(part, Opaque):
            return bool(part.copies) or not part.fed
        if isinstance(part, Seq | Dict):
            return True
        if isinstance(part, Obj):
            return self.plans.of(part.cls) is None and not any(
                interpreter.is_fed(value, state) for value in state.entries(part).values()
            )
        return False

    def _sources(self, obj: Obj, plan: PlanInfo, state: State, interpreter: Interpreter) -> dict[Node, int]:
        """The objects that transferable fields were taken from, with their number, and the base that keeps the rest."""
        found: dict[Node, int] = {}
        for name in plan.transferable:
            for owner in dict.fromkeys(interpreter.taken_from(state.read(obj, name) or (), obj)):
                found[owner] = found.get(owner, 0) + 1
        if obj.base is not None and obj.base not in found:
            base = bare(obj.base)
            if self.plans.of(interpreter.class_of(base)) is not None and isinstance(base, Param | Attr | Item):
                found[base] = 0
        return found

    def _wanted(
        self, name: str, what: str, obj: Obj, sources: dict[Node, int], state: State, interpreter: Interpreter
    ) -> bool:
        """Whether one of the sources could supply the field."""
        able = False
        for source, count in sources.items():
            if source in state.absent or any(
                isinstance(n, Attr) and n.name == name and bare(n.owner) is source for n in state.absent
            ):
                return False
            cls = interpreter.class_of(source)
            plan = self.plans.of(cls)
            if plan is not None:
                able = able or name in plan.fields
            elif what == "dropped":
                able = able or self._supplies(name, obj, source, cls, count, state)
        return able

    def _supplies(self, name: str, obj: Obj, source: Node, cls: ClassInfo | None, count: int, state: State) -> bool:
        """Whether an object that is no plan counts as one that had the field, or should have had it.

        Carriers that are put back into a fresh plan come from a prepared object; a bundle that lacks a slot for one of
        them is how that one got lost. A constructor is given single values from all sorts of objects: there, one of
        which nothing is known must look like the plan, unless the call itself says that the field is empty, and one
        that is known must have the field.
        """
        puts_back = obj.copied is not None and obj.copied.how in {"replace", "transfer"}
        if cls is not None:
            has = name.strip("_") in {known.strip("_") for known in self.project.fields(cls)}
            return has or (puts_back and count > 1)
        if puts_back or count > 1 or name in obj.explicit:
            return True
        shared = [
            field
            for field, value in state.entries(obj).items()
            if any(
                isinstance(part, Attr | Read) and part.name == field and bare(part.owner) is source for part in value
            )
        ]
        return len(shared) > 1

    def _why(self, value: Val | None, obj: Obj, name: str) -> str:
        if value is None:
            return "unset"
        if GAP in value:
            return "one path"
        first = bare(value[0])
        if obj.copied is not None and obj.copied.how == "assign" and is_blank(first):
            return "unset"
        if name in obj.explicit and is_blank(first):
            return "absent" if isinstance(first, AbsentMark) else "none"
        if isinstance(first, Opaque) and first.copies:
            return "copy"
        return "base" if obj.birth.how == "replace" else "default"

    # Copy lists on objects of the caller

    def _judge_list(self, entry: _Assigned) -> None:
        target = entry.target
        cls = target.cls if isinstance(target, Param | Attr) else None
        plan = self.plans.of(cls) or (self._plan_by_names(set(entry.names)) if cls is None else None)
        if plan is None:
            return
        copied = [
            name
            for name, value in entry.names.items()
            if name in plan.transferable and any(isinstance(p, Attr | Read) and p.name == name for p in value)
        ]
        if len(copied) < 2:
            return
        missing = [name for name in plan.transferable if name not in entry.names]
        sources = [bare(owner) for name in copied for part in entry.names[name] for owner in owners(part)[:1]]
        if not missing or not sources or sources[0] is target:
            return
        supplier = self.plans.of(getattr(sources[0], "cls", None))
        missing = [name for name in missing if supplier is None or name in supplier.fields]
        site = self._site(plan, entry.frame.module, entry.node, entry.node, 0, "assign", sources)
        site.carried = tuple(copied)
        site.outcomes = [Outcome(name, "dropped", "unset") for name in missing]
        if site.outcomes:
            self._lists.append(site)
            self._list_functions[id(site)] = entry.function

    def _plan_by_names(self, names: set[str]) -> PlanInfo | None:
        found = [plan for plan in self.plans.direct.values() if len(names & set(plan.transferable)) >= 2]
        return found[0] if len(found) == 1 else None

    # Sites

    def _site(
        self,
        plan: PlanInfo,
        module: ModuleInfo,
        root: ast.expr | ast.stmt,
        origin: ast.expr | ast.stmt,
        depth: int,
        how: str,
        sources: Iterable[Node],
        origin_module: ModuleInfo | None = None,
        state: State | None = None,
    ) -> CopySite:
        assert self._run is not None
        sources = list(sources)
        call = origin if isinstance(origin, ast.Call) else None
        labels = tuple(dict.fromkeys(filter(None, (self._label(source, state) for source in sources))))
        return CopySite(
            plan=plan,
            function=self._run.name,
            place=module.place(root),
            origin=(origin_module or module).place(origin),
            depth=depth,
            how=how,
            call=last_name(call.func) if call is not None else "",
            is_call=call is not None and depth == 0 and how in {"replace", "construct", "transfer"},
            sources=labels,
        )

    def _label(self, source: Node, state: State | None) -> str:
        """How a source is called in a message: by the variable that holds it, if one does."""
        assert self._run is not None
        scope: Frame | None = self._run.frame
        while isinstance(source, Obj) and state is not None and scope is not None:
            for name, value in state.entries(scope).items():
                if any(bare(node) is source for node in value):
                    return str(name)
            scope = scope.parent
        return _label(source)

    def _keep(self, site: CopySite) -> None:
        self.sites.append(site)

    def results(self) -> list[CopySite]:
        """All sites, each problem once: where the object is made if that alone shows it, else at the calls.

        An object that one caller completes is the callers' to complete: where it is made, nothing is wrong.
        """
        lists = [site for site in self._lists if self._list_functions[id(site)] not in self._followed]
        best: dict[tuple[object, ...], int] = {}
        every = [*self.sites, *lists]
        for site in every:
            for outcome in site.outcomes:
                key = (site.origin, site.plan.cls, outcome.field, outcome.what)
                if site.depth == 0 and key[:3] in self._completed:
                    continue
                best[key] = min(best.get(key, site.depth), site.depth)
        kept: list[CopySite] = []
        seen: set[tuple[object, ...]] = set()
        for site in every:
            outcomes = []
            for outcome in site.outcomes:
                key = (site.origin, site.plan.cls, outcome.field, outcome.what)
                at = (site.place, site.plan.cls, outcome.field, outcome.what)
                if site.depth == best.get(key) and at not in seen:
                    seen.add(at)
                    outcomes.append(outcome)
            if outcomes:
                site.outcomes = outcomes
                kept.append(site)
        return kept


def _label(node: Node) -> str:
    """How a source is called in a message."""
    if isinstance(node, Param):
        return node.name
    if isinstance(node, Attr):
        owner = _label(bare(node.owner))
        return f"{owner}.{node.name}" if owner else node.name
    if isinstance(node, Item):
        return _label(bare(node.owner))
    return ""
