"""Objects: what a constructor, a `replace` or an assignment puts into their fields."""

from __future__ import annotations

import ast
from abc import abstractmethod
from typing import TYPE_CHECKING

from lint_rules.flow.arguments import Arguments
from lint_rules.flow.calls import Calls
from lint_rules.flow.state import OPEN, Frame, State
from lint_rules.flow.values import (
    UNKNOWN,
    AbsentMark,
    Attr,
    Blank,
    Const,
    Item,
    Obj,
    Opaque,
    Param,
    Super,
    bare,
    is_blank,
    one,
    owners,
)
from lint_rules.index.build import last_name

if TYPE_CHECKING:
    from lint_rules.flow.values import Node, Val
    from lint_rules.index.model import ClassInfo, FieldInfo

__all__ = ["Objects"]


class Objects(Calls):
    """Construction and change of objects, and whether that makes a copy of a plan."""

    @abstractmethod
    def note_born(self, made: Obj, frame: Frame) -> None:
        """An object was made."""

    @abstractmethod
    def note_assigned(self, target: Node, name: str, value: Val, node: ast.expr | ast.stmt, frame: Frame) -> None:
        """An attribute of an object that came in from outside was set from another object."""

    @abstractmethod
    def note_carrier_set(
        self, target: Node, name: str, value: Val, node: ast.expr | ast.stmt, frame: Frame, state: State
    ) -> None:
        """A transferable attribute of a plan is about to be set."""

    @abstractmethod
    def note_completed(self, target: Obj, frame: Frame) -> None:
        """A transferable attribute of an object made in sight was set."""

    def construct(self, cls: ClassInfo, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val:
        """`Cls(...)`: through its own `__init__`, or through the one that its fields imply."""
        made = Obj(cls, self.birth(node, frame, "construct"))
        state.writable(made)
        self.initialize(made, cls, arguments, node, frame, state)
        self.settle(made, state)
        self.note_born(made, frame)
        return one(made)

    def initialize(
        self, made: Node, cls: ClassInfo, arguments: Arguments, node: ast.expr, frame: Frame, state: State
    ) -> None:
        """Run the constructor of `cls` on an object."""
        init = self.project.find_method(cls, "__init__")
        if init is not None:
            spec = init.node.args
            names = [a.arg for a in [*spec.posonlyargs, *spec.args]][1:]
            if isinstance(made, Obj):
                for index in range(len(arguments.positional)):
                    if index < len(names):
                        made.explicit[names[index]] = arguments.expressions.get(index)
                for name in arguments.keywords:
                    made.explicit[name] = arguments.expressions.get(name)
            self.call_function(init, arguments, made, node, frame, state, None)
            plan = self.plans.of(cls)
            if plan is not None and init.node.args.kwarg is not None and arguments.open_keywords:
                state.write(made, OPEN, one(UNKNOWN))
            return
        fields = self.project.fields(cls)
        if self._has_foreign_base(cls) or (not fields and (arguments.keywords or arguments.positional)):
            self._fill_unknown(made, fields, arguments, state)
            return
        self._fill_fields(made, fields, arguments, state)
        if (post := self.project.find_method(cls, "__post_init__")) is not None:
            parameters = [a.arg for a in post.node.args.args][1:]
            given = Arguments([arguments.keywords.get(name, one(UNKNOWN)) for name in parameters])
            self.call_function(post, given, made, node, frame, state, None)

    def _has_foreign_base(self, cls: ClassInfo) -> bool:
        """Whether a base outside the project may take part in the constructor."""
        if self.project.flavor(cls) != "plain":
            return False
        chain = self.project.mro(cls)
        harmless = {"object", "Generic", "Protocol", "ABC", "", *(part.node.name for part in chain)}
        return any(last_name(base) not in harmless for part in chain for base in part.node.bases)

    def _fill_unknown(self, made: Node, fields: dict[str, FieldInfo], arguments: Arguments, state: State) -> None:
        for name, value in arguments.keywords.items():
            state.write(made, name, value)
        state.write(made, OPEN, one(UNKNOWN))

    def _fill_fields(self, made: Node, fields: dict[str, FieldInfo], arguments: Arguments, state: State) -> None:
        positional = [info for info in fields.values() if info.in_init and not info.keyword_only]
        by_position = {info.name: index for index, info in enumerate(positional)}
        slots = state.writable(made)
        for name, info in fields.items():
            index = by_position.get(name, len(arguments.positional))
            expression: ast.expr | None = None
            if not info.in_init:
                slots[name] = one(Blank("reset"))
                continue
            if index < len(arguments.positional):
                slots[name] = arguments.positional[index]
                expression = arguments.expressions.get(index)
            elif info.init_name in arguments.keywords:
                slots[name] = arguments.keywords[info.init_name]
                expression = arguments.expressions.get(info.init_name)
            elif arguments.open_positional and name in by_position:
                slots[name] = one(UNKNOWN)
                continue
            elif (supplied := self._from_rest(arguments.rest, info, state)) is not None:
                slots[name] = supplied
            elif arguments.open_keywords:
                slots[name] = one(UNKNOWN)
                continue
            else:
                slots[name] = one(Blank("default"))
                continue
            if isinstance(made, Obj):
                made.explicit[name] = expression

    def _from_rest(self, rest: Val, info: FieldInfo, state: State) -> Val | None:
        if not rest:
            return None
        source = bare(rest[0])
        cls = self.class_of(source)
        if cls is not None and info.init_name not in self.stored_names(cls):
            return None
        written = state.read(source, info.init_name)
        return written if written is not None else one(self._rest_attribute(source, info.init_name))

    def settle(self, made: Obj, state: State, base: Obj | None = None) -> None:
        """With the arguments in place: find out whether this is a copy, and which blanks are stated on purpose."""
        plan = self.plans.of(made.cls)
        if plan is None:
            return
        everything = made.birth.how == "construct"
        taken = any(
            self.taken_from(state.read(made, name) or (), made)
            for name in plan.transferable
            if everything or name in made.explicit
        )
        if base is not None and base.copied is not None:
            made.copied = made.birth
        if taken:
            made.copied = made.birth
        # What `replace` names, it means; a constructor may also be that of a planner.
        deliberate = taken or not everything
        for name in made.explicit:
            value = state.read(made, name) or ()
            if _is_mark(value):
                dropped = any(isinstance(mark := bare(part), AbsentMark) and mark.which == "Dropped" for part in value)
                if dropped or deliberate:
                    made.stated.add(name)
            else:
                made.stated.discard(name)

    def taken_from(self, value: Val, target: Node) -> list[Node]:
        """The objects from which a field's value was taken, the target itself left out."""
        found: list[Node] = []
        for part in value:
            for owner in owners(part):
                owner = bare(owner)
                if owner is target or (isinstance(owner, Param) and owner.is_global and not self.plans.of(owner.cls)):
                    continue
                if isinstance(owner, Obj) and is_blank(part):
                    continue
                found.append(owner)
            if isinstance(part, Opaque) and part.copies:
                found += self.taken_from(part.copies, target)
        return found

    def replace(
        self, base: Node, arguments: Arguments, node: ast.Call, frame: Frame, state: State, how: str = "replace"
    ) -> Val | None:
        """`replace(base, **changes)` in any of its spellings; None where nothing is known of the base."""
        kept = bare(base)
        cls = self.class_of(kept)
        if cls is None:
            cls = self._class_by_keywords(arguments)
        if cls is None:
            return None
        made = Obj(cls, self.birth(node, frame, "transfer" if how == "transfer" else "replace"))
        slots = state.writable(made)
        if isinstance(kept, Obj):
            slots.update(state.entries(kept))
            made.stated |= kept.stated
            made.base = kept.base
            made.tainted = kept.tainted
            kept.superseded = True
            made.previous = kept
        else:
            made.base = kept
            slots.update(state.entries(kept))
        for name, info in self.project.fields(cls).items():
            if not info.in_init and self.project.flavor(cls) not in {"plain", "pydantic"}:
                slots[name] = one(Blank("reset"))
        by_init_name = {info.init_name: name for name, info in self.project.fields(cls).items()}
        for key, value in arguments.keywords.items():
            name = by_init_name.get(key, key)
            slots[name] = value
            made.explicit[name] = arguments.expressions.get(key)
        plan = self.plans.of(cls)
        for name in plan.fields if plan is not None else ():
            if name in made.explicit:
                continue
            known = self.project.fields(cls).get(name)
            supplied = self._from_rest(arguments.rest, known, state) if known is not None else None
            if supplied is not None:
                slots[name] = supplied
                made.explicit[name] = None
            elif arguments.open_keywords:
                slots[name] = one(UNKNOWN)
        self.settle(made, state, kept if isinstance(kept, Obj) else None)
        if not isinstance(kept, Obj) and plan is not None and made.copied is None and self._touches(made):
            # The base has its carriers and keeps them: what this call blanks or resets, it drops.
            made.copied = made.birth
        self.note_born(made, frame)
        return one(made)

    def _touches(self, made: Obj) -> bool:
        plan = self.plans.of(made.cls)
        assert plan is not None
        fields = self.project.fields(made.cls)
        return any(name in made.explicit or (name in fields and not fields[name].in_init) for name in plan.transferable)

    def _class_by_keywords(self, arguments: Arguments) -> ClassInfo | None:
        """The one plan class that has all of these keywords, a transferable one among them."""
        names = set(arguments.keywords)
        found = [
            plan.cls
            for plan in self.plans.direct.values()
            if names & set(plan.transferable) and names <= set(plan.fields)
        ]
        return found[0] if len(found) == 1 else None

    def set_attribute(
        self, target: Node, name: str, value: Val, node: ast.expr | ast.stmt, frame: Frame, state: State
    ) -> None:
        """`target.name = value`."""
        target = bare(target)
        if not isinstance(target, Obj | Param | Attr | Item | Opaque):
            return
        plan = self.plans.of(target.cls)
        if plan is not None and name in plan.transferable:
            self.note_carrier_set(target, name, value, node, frame, state)
        state.write(target, name, value)
        if isinstance(target, Obj) and plan is not None:
            if _is_mark(value):
                target.stated.add(name)
            else:
                target.stated.discard(name)
            if name in plan.transferable and self.taken_from(value, target):
                self.note_completed(target, frame)
                if frame.depth < target.birth.depth:
                    target.finished.add(name)
                if target.copied is None:
                    target.copied = self.birth(node, frame, "assign")
            elif name in plan.transferable and target.base is not None and target.copied is None and _is_none(value):
                # A copy has its carriers from the start, and this one loses one.
                target.copied = self.birth(node, frame, "assign")
        elif isinstance(target, Param | Attr) and self.taken_from(value, target):
            self.note_assigned(target, name, value, node, frame)

    def super_init(self, owner: Super, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val:
        """`super().__init__(...)` where the base has no `__init__` of its own but fields that imply one."""
        chain = self.project.mro(owner.cls)
        for base in chain[1:]:
            if base.fields:
                self.initialize(owner.receiver, base, arguments, node, frame, state)
                break
        return one(Const.of(None))


def _is_mark(value: Val) -> bool:
    """Whether a value is `Absent` or `Dropped`, whichever way it comes about."""
    return bool(value) and all(isinstance(bare(part), AbsentMark) for part in value)


def _is_none(value: Val) -> bool:
    return all(isinstance(inner := bare(part), Const) and inner.value is None for part in value)
