"""The verdict on each plan that leaves a function: which of its fields arrived, and which did not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mypy.nodes import FuncDef
from mypy.types import Instance, NoneType, UnionType, get_proper_type

from ownership.kinds import Kind
from ownership.mypy_plugin import _wording
from ownership.mypy_plugin._codes import COPY, DROP, IDENTITY, LEAK, REBIND, RETURN
from ownership.mypy_plugin._statements import Statements
from ownership.mypy_plugin._typing import result_class
from ownership.mypy_plugin._values import (
    GAP,
    UNKNOWN,
    Entries,
    Made,
    Obj,
    Root,
    Seq,
    State,
    Stated,
    Taken,
    info_of,
    is_blank,
)

if TYPE_CHECKING:
    from mypy.errorcodes import ErrorCode
    from mypy.nodes import CallExpr, Context, FuncItem, TypeInfo
    from mypy.types import Type

    from ownership.mypy_plugin._frame import Exit, Frame, Rebinding
    from ownership.mypy_plugin._plans import Plan
    from ownership.mypy_plugin._values import Node, Val
    from ownership.mypy_plugin._walk import CalledNames

__all__ = ["Judge", "Verdict"]

#: Methods that finish the object they are given: what they set was not there before.
_INITIALIZERS = {"__init__", "__new__", "__post_init__", "__attrs_post_init__", "__setstate__", "model_post_init"}
_PLAIN = {f"builtins.{name}" for name in ("int", "str", "float", "bool", "bytes", "complex")}
_DEEPEST = 4


class Verdict(NamedTuple):
    """A message: where, what, under which code."""

    code: ErrorCode
    node: Context
    message: str


class Judge(Statements):
    """The interpreter with the judgement of what it made."""

    names: CalledNames

    def __init__(self) -> None:
        super().__init__()
        self.verdicts: list[Verdict] = []

    def judge(self, frame: Frame, *, is_materializer: bool) -> None:
        """Judge all that the outermost function made, on each of its paths."""
        demanding = frame.sources if is_materializer else []
        own = self.verdicts
        handed_out: list[Verdict] = []
        judged: set[tuple[Obj, int, frozenset[Node]]] = set()
        for exit_ in frame.exits:
            self.budget.spend(len(frame.made) // 8)
            returned: dict[Obj, None] = {}
            for part in exit_.value:
                self._reach(part, exit_.state, returned, 0)
            self.verdicts = handed_out if exit_.returns else own
            for obj in returned:
                self._judge(obj, exit_, frame, demanding)
            self.verdicts = own
            used = self._steps(returned, exit_.state)
            for obj in frame.made:
                if obj in returned or obj in used or obj.superseded or obj.site is None:
                    continue
                entries = exit_.state.slots.get(obj)
                key = (obj, id(entries), exit_.state.absent)
                if entries is not None and key not in judged:  # of hundreds of exits, most know the same of it
                    judged.add(key)
                    self._judge(obj, exit_, frame, [])
        if handed_out and (is_materializer or not self._is_finished_by_callers(frame)):
            own.extend(verdict for verdict in handed_out if verdict not in own)
        self._judge_rebindings(frame)

    def _say(self, code: ErrorCode, node: Context, message: str) -> None:
        verdict = Verdict(code, node, message)
        if verdict not in self.verdicts:
            self.verdicts.append(verdict)

    def _is_finished_by_callers(self, frame: Frame) -> bool:
        """Whether callers in this module get the plan, and are followed into the function when they are judged."""
        function = frame.function
        if not isinstance(function, FuncDef) or self.plans.of(result_class(function)) is None:
            return False
        return self.names.is_called(function.name, self.types.tree, outside=function)

    # Finding plans in values

    def _reach(self, node: Node, state: State, found: dict[Obj, None], depth: int) -> None:
        if depth > _DEEPEST or (isinstance(node, Obj) and node in found):
            return
        inner: list[Val] = []
        if isinstance(node, Obj):
            found[node] = None
            inner = list(state.slots.get(node, {}).values())
        elif isinstance(node, Seq):
            inner = list(node.items)
        elif isinstance(node, Entries):
            inner = list(state.slots.get(node, {}).values())
        elif isinstance(node, Made):
            inner = list(node.parts)
        for value in inner:
            for part in value:
                self._reach(part, state, found, depth + 1)

    @staticmethod
    def _steps(returned: dict[Obj, None], state: State) -> set[Node]:
        """What was made only so that the values of a returned plan could be taken from it."""
        return {
            part.owner
            for obj in returned
            for value in state.slots.get(obj, {}).values()
            for part in value
            if isinstance(part, Taken)
        }

    # The verdict

    def _judge(self, obj: Obj, exit_: Exit, frame: Frame, demanding: list[Node]) -> None:
        plan = self.plans.of(obj.info)
        if plan is None or obj.open or (obj.site is None and not demanding):
            return
        self.budget.spend(len(plan.kinds))
        state = exit_.state
        entries = state.slots.get(obj, {})
        sources = self._sources(obj, plan, entries)
        for source in demanding:
            sources.setdefault(source, 0)
        if not sources or any(not getattr(source, "known", True) for source in sources):
            return
        is_copy = bool(demanding) or obj.base is not None or self._takes_always(obj, plan, entries)
        for name in plan.transferable:
            value = entries.get(name)
            if value is None and obj.base is not None:
                continue
            if value is not None and GAP in value and not is_copy:
                continue
            on_purpose = name in obj.named and (obj.how != "construct" or obj.site is obj.node) and not demanding
            what = self._verdict(name, value, state, on_purpose=on_purpose)
            givers = [source for source, count in sources.items() if self._supplies(source, name, count, obj, state)]
            if what is None or not givers:
                continue
            label = self._label(givers[0], obj.where or frame, state)
            value_there = f"{label}.{name}" if label and self._has(givers[0], name, obj, state) else ""
            if what == "rebuilt":
                made = next((part.text for part in value or () if isinstance(part, Made)), "a new object")
                node = obj.site or exit_.node
                self._say(IDENTITY, node, _wording.rebuilt(plan.info.name, name, label, value_there, made))
            elif obj.site is None or (value is not None and GAP in value):
                reason = _reason(value, named=name in obj.named)
                self._say(RETURN, exit_.node, _wording.returned(plan.info.name, name, label, value_there, reason))
            else:
                reason = _reason(value, named=name in obj.named)
                self._say(DROP, obj.site, _wording.dropped(plan.info.name, name, label, value_there, reason))
        self._judge_leaks(obj, plan, state, frame, demanding)

    @staticmethod
    def _sources(obj: Obj, plan: Plan, entries: dict[str, Val]) -> dict[Node, int]:
        """The objects that carriers were taken from, with their number, and the base that keeps the rest."""
        found: dict[Node, int] = {}
        for name in plan.transferable:
            owners = (
                part.owner if isinstance(part, Taken) else part.origin if isinstance(part, Made) else None
                for part in entries.get(name, ())
            )
            for owner in dict.fromkeys(owners):
                if owner is not None and owner is not obj:
                    found[owner] = found.get(owner, 0) + 1
        if obj.base is not None:
            found.setdefault(obj.base, 0)
        return found

    @staticmethod
    def _takes_always(obj: Obj, plan: Plan, entries: dict[str, Val]) -> bool:
        """Whether some carrier is taken on every path."""
        return any(
            GAP not in value and any(isinstance(part, Taken) and part.owner is not obj for part in value)
            for name in plan.transferable
            if (value := entries.get(name)) is not None
        )

    def _verdict(self, name: str, value: Val | None, state: State, *, on_purpose: bool) -> str | None:
        if value is None:
            return "dropped"
        stated = [part for part in value if isinstance(part, Stated)]
        if any(part.which == "Dropped" and part.field_name not in {None, name} for part in stated):
            return "dropped"
        if any(part.which == "Dropped" for part in stated):
            return None
        if stated and on_purpose and all(isinstance(part, Stated) for part in value):
            return None
        if GAP in value or all(self._is_empty(part, state) for part in value):
            return "dropped"
        if all(self._is_new(part, state) for part in value if not is_blank(part)):
            return "dropped" if any(is_blank(part) for part in value) else "rebuilt"
        return None

    @staticmethod
    def _is_empty(part: Node, state: State) -> bool:
        if isinstance(part, Entries):
            return part.of is None and not part.open and not state.slots.get(part)
        return is_blank(part)

    def _is_new(self, part: Node, state: State) -> bool:
        """Whether a value is certainly another object than any that was prepared."""
        if isinstance(part, Made):
            return part.copies or (not part.fed and part.known)
        if isinstance(part, Seq):
            return True
        if isinstance(part, Entries):
            return not part.open
        return False

    def _supplies(self, source: Node, name: str, count: int, obj: Obj, state: State) -> bool:
        """Whether a source could have given the field."""
        if Taken(source, name) in state.absent | obj.absent:
            return False
        if isinstance(source, Obj):
            value = state.slots.get(source, {}).get(name)
            if value is None:
                return source.planned or source.base is not None
            return not all(is_blank(part) for part in value)
        info = info_of(source)
        plan = self.plans.of(info)
        if plan is not None:
            return name.strip("_") in {known.strip("_") for known in plan.kinds}
        if info is not None:
            has = any(info.get(spelling) is not None for spelling in (name, name.strip("_")))
            return has or (obj.puts_back and count > 1)
        return obj.puts_back or count > 1 or name in obj.explicit

    def _has(self, source: Node, name: str, obj: Obj, state: State) -> bool:
        """Whether the source is known to have the field under this name: by its class, or as it has a sibling of it."""
        info = info_of(source)
        if info is not None:
            return info.get(name) is not None
        return any(
            isinstance(part, Taken) and part.owner == source and part.name == field
            for field, value in state.slots.get(obj, {}).items()
            for part in value
        )

    @staticmethod
    def _label(source: Node, frame: object, state: State) -> str:
        """How a source is written: by the first variable of the frame that holds it, if one does."""
        for (owner, name), value in state.names.items():
            if owner == id(frame) and len(value) == 1 and value[0] == source:
                return name
        return source.text if isinstance(source, Root | Taken) else ""

    # Leaks

    def _judge_leaks(self, obj: Obj, plan: Plan, state: State, frame: Frame, demanding: list[Node]) -> None:
        entries = state.slots.get(obj, {})
        node = obj.site or obj.node
        for name, kind in plan.kinds.items():
            if kind not in (Kind.EPHEMERAL, Kind.BORROWED, Kind.DERIVED):
                continue
            if name in obj.explicit:
                giver = self._giver(entries.get(name, ()), name, obj)
                if giver is not None and (kind is not Kind.DERIVED or self._facts_changed(plan, entries, giver)):
                    label = self._label(giver, obj.where or frame, state)
                    self._say(LEAK, node, _wording.leaked(plan.info.name, name, kind, label))
            elif demanding and obj.how == "replace" and isinstance(obj.base, Root) and name not in entries:
                if kind is Kind.DERIVED or _is_plain(_field_type(plan.info, name)):
                    continue
                self._say(LEAK, node, _wording.kept(plan.info.name, name, kind, obj.base.text))

    def _giver(self, value: Val, name: str, obj: Obj) -> Node | None:
        """The plan whose own field of this name the value is."""
        for part in value:
            if not isinstance(part, Taken) or part.name != name or part.owner is obj:
                return None
            plan = self.plans.of(info_of(part.owner))
            if plan is None or name not in plan.kinds:
                return None
        first = value[0] if value else None
        return first.owner if isinstance(first, Taken) else None

    @staticmethod
    def _facts_changed(plan: Plan, entries: dict[str, Val], giver: Node) -> bool:
        return any(
            not all(isinstance(part, Taken) and part.name == name and part.owner == giver for part in value)
            for name, kind in plan.kinds.items()
            if kind is Kind.FACT and (value := entries.get(name)) is not None
        )

    # Plans that were given

    def deep_copied(self, plan: Node, kind: Plan, node: CallExpr, frame: Frame) -> None:
        self._say(COPY, node, _wording.copied(kind.info.name, getattr(plan, "text", ""), kind.transferable))

    def _judge_rebindings(self, frame: Frame) -> None:
        name = getattr(frame.function, "name", "")
        lists: dict[Node, list[Rebinding]] = {}
        for each in frame.rebound:
            plan = self.plans.of(info_of(each.target))
            if plan is None or each.name not in plan.transferable:
                continue
            lists.setdefault(each.target, []).append(each)
            own = frame.function is not None and each.target == self._receiver(frame.function)
            fresh = not own and all(self._is_new(part, State()) or is_blank(part) for part in each.value)
            if fresh and name not in _INITIALIZERS and not any(isinstance(part, Stated) for part in each.value):
                label = getattr(each.target, "text", "")
                self._say(REBIND, each.node, _wording.rebound(plan.info.name, each.name, label))
        if name in _INITIALIZERS or not lists:
            return
        if frame.function is not None and name and self.names.is_called(name, self.types.tree, outside=frame.function):
            return
        for target, rebound in lists.items():
            self._judge_list(target, rebound)

    @staticmethod
    def _receiver(function: FuncItem) -> Node | None:
        """The `self` of a method: what a plan does with its own fields is its own business."""
        is_method = isinstance(function, FuncDef) and bool(function.info) and bool(function.arguments)
        return Root(function.arguments[0].variable.name) if is_method else None

    def _judge_list(self, target: Node, rebound: list[Rebinding]) -> None:
        """A copy list whose target the caller gave: `new.a = old.a` for some carriers and not for others."""
        plan = self.plans.of(info_of(target))
        if plan is None:
            return
        owners = [
            part.owner
            for each in rebound
            for part in each.value
            if isinstance(part, Taken) and part.name == each.name and part.owner != target
        ]
        if len(owners) < 2:
            return
        supplier = self.plans.of(info_of(owners[0]))
        named = {each.name for each in rebound}
        for name in plan.transferable:
            if name not in named and (supplier is None or name in supplier.kinds):
                label = getattr(owners[0], "text", "")
                message = _wording.unlisted(plan.info.name, name, getattr(target, "text", ""), label)
                self._say(DROP, rebound[0].node, message)


def _reason(value: Val | None, *, named: bool) -> str:
    if value is None:
        return "it stays as it was planned"
    if GAP in value:
        return "on one path it is not put back"
    first = value[0] if value else UNKNOWN
    if isinstance(first, Stated) and not named:
        return "it stays as it was planned"
    if isinstance(first, Stated):
        return (
            "an Absent does not say that it was given up"
            if first.which == "Absent"
            else "the Dropped names another field"
        )
    why = getattr(first, "why", "")
    return {"the default": "it stays at its default", "None": "it is None", "nothing": "it is never set"}.get(
        why, "it is empty" if not why else f"it is {why}"
    )


def _field_type(info: TypeInfo, name: str) -> Type | None:
    symbol = info.get(name)
    return getattr(symbol.node, "type", None) if symbol is not None else None


def _is_plain(type_: Type | None) -> bool:
    """Whether a type's values are immutable data, which two plans may share."""
    proper = get_proper_type(type_)
    if isinstance(proper, UnionType):
        return all(map(_is_plain, proper.items))
    return isinstance(proper, NoneType) or (isinstance(proper, Instance) and proper.type.fullname in _PLAIN)
