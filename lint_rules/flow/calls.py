"""Calls: constructors, functions of the project that are followed, and everything else."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from lint_rules.flow.arguments import Arguments
from lint_rules.flow.expressions import Expressions
from lint_rules.flow.state import OPEN, REST, Frame, State
from lint_rules.flow.values import (
    UNKNOWN,
    AbsentMark,
    Attr,
    Birth,
    Blank,
    BoundMethod,
    Class,
    Const,
    Dict,
    DictView,
    Function,
    Item,
    Native,
    Node,
    Obj,
    Opaque,
    Param,
    Partial,
    Read,
    Seq,
    Super,
    bare,
    is_blank,
    join,
    one,
    owners,
)
from lint_rules.index.build import last_name

if TYPE_CHECKING:
    from typing import Literal

    from lint_rules.flow.values import Val
    from lint_rules.index.model import ClassInfo, FieldInfo, FunctionInfo

__all__ = ["Calls"]

#: How many calls deep a function is followed.
_DEEPEST = 7

#: Decorators whose function does not return what its body returns.
_NOT_TRANSPARENT = {"contextmanager", "asynccontextmanager", "overload", "singledispatch", "abstractmethod"}


class Calls(Expressions):
    """Evaluation of calls. Function bodies and the special functions are left to the subclasses."""

    #: Steps that are left for the function under analysis; when they are used up, calls are no longer followed.
    budget: int = 0

    def run_body(self, info: FunctionInfo, frame: Frame, state: State) -> Val:
        raise NotImplementedError

    def call_native(
        self, name: str, arguments: Arguments, node: ast.Call, frame: Frame, state: State
    ) -> Val | None:
        raise NotImplementedError

    def call_method(
        self, receiver: Node, name: str, arguments: Arguments, node: ast.Call, frame: Frame, state: State
    ) -> Val | None:
        raise NotImplementedError

    def is_interesting(self, info: FunctionInfo) -> bool:
        raise NotImplementedError

    # The call

    def call(self, node: ast.Call, frame: Frame, state: State) -> Val:
        function = self.value(node.func, frame, state)
        arguments = self._arguments(node, frame, state)
        return join([self.apply(part, arguments, node, frame, state) for part in function])

    def _arguments(self, node: ast.Call, frame: Frame, state: State) -> Arguments:
        made = Arguments()
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                spread = self.elements(self.value(argument.value, frame, state), state)
                if spread is None:
                    made.open_positional = True
                else:
                    made.positional += spread
            else:
                made.expressions[len(made.positional)] = argument
                made.positional.append(self.value(argument, frame, state))
        for keyword in node.keywords:
            value = self.value(keyword.value, frame, state)
            if keyword.arg is not None:
                made.keywords[keyword.arg] = value
                made.expressions[keyword.arg] = keyword.value
            else:
                entries, rest, is_open = self.mapping(value[0], state) if len(value) == 1 else ({}, (), True)
                made.keywords.update({key: item for key, item in entries.items() if isinstance(key, str)})
                made.rest = made.rest or rest
                made.open_keywords = made.open_keywords or is_open
        return made

    def apply(self, function: Node, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val:
        callee = bare(function)
        found: Val | None = None
        if isinstance(callee, Native):
            found = self.call_native(callee.name, arguments, node, frame, state)
        elif isinstance(callee, Class):
            found = self.construct(callee.cls, arguments, node, frame, state)
        elif isinstance(callee, Function):
            return self.call_function(callee.info, arguments, None, node, frame, state, callee.closure)
        elif isinstance(callee, Partial):
            combined = arguments.after(callee.args, callee.keywords)
            combined.open_keywords = combined.open_keywords or callee.open
            combined.expressions = {**callee.expressions, **combined.expressions}
            return join([self.apply(part, combined, node, frame, state) for part in callee.function])
        elif isinstance(callee, BoundMethod):
            if callee.function is not None:
                return self._call_bound(callee, callee.function, arguments, node, frame, state)
            found = self.call_method(callee.receiver, callee.name, arguments, node, frame, state)
        elif isinstance(callee, Attr):
            found = self.call_method(callee.owner, callee.name, arguments, node, frame, state)
        if found is not None:
            return found
        return self.opaque_call(callee, arguments, node, state)

    def _call_bound(
        self,
        callee: BoundMethod,
        info: FunctionInfo,
        arguments: Arguments,
        node: ast.Call,
        frame: Frame,
        state: State,
    ) -> Val:
        receiver: Node | None = callee.receiver
        decorators = {last_name(decorator) for decorator in info.decorators}
        if "staticmethod" in decorators:
            receiver = None
        elif "classmethod" in decorators:
            cls = receiver.cls if isinstance(receiver, Class) else self.class_of(callee.receiver)
            receiver = Class(cls or info.owner) if (cls or info.owner) is not None else UNKNOWN  # type: ignore[arg-type]
        elif isinstance(receiver, Class):
            # `Base.method(self, ...)`: the receiver is the first argument.
            if arguments.positional:
                receiver = bare(arguments.positional[0][0])
                arguments = arguments.shifted(1)
            else:
                receiver = UNKNOWN
        return self.call_function(info, arguments, receiver, node, frame, state, None)

    # Opaque calls

    def opaque_call(
        self, callee: Node, arguments: Arguments, node: ast.AST, state: State, cls: ClassInfo | None = None
    ) -> Val:
        """A call that is not followed. What goes in may come out again, and may have been changed."""
        fed = any(self.is_fed(value, state) for value in arguments.every())
        if isinstance(callee, Attr):
            # A method of anything that came in from outside may hand out what it holds.
            owner = bare(callee.owner)
            holder = isinstance(owner, Param) and not owner.is_global
            fed = fed or holder or self.is_fed(one(owner), state)
        elif isinstance(callee, BoundMethod):
            fed = fed or self.is_fed(one(callee.receiver), state)
        elif not isinstance(callee, Native | Function | Class):
            fed = fed or not (isinstance(callee, Param) and callee.is_global)
        for value in arguments.every():
            for part in value:
                self._expose(bare(part), state, fed=fed)
        return one(Opaque(node, fed, cls))

    def _expose(self, node: Node, state: State, *, fed: bool) -> None:
        if isinstance(node, Obj) and fed and not self.project.frozen(node.cls):
            others = self.plans.of(node.cls) is not None
            node.tainted = node.tainted or others
        elif isinstance(node, Dict):
            state.write(node, OPEN, one(UNKNOWN))

    # Functions of the project

    def call_function(
        self,
        info: FunctionInfo,
        arguments: Arguments,
        receiver: Node | None,
        node: ast.expr,
        frame: Frame,
        state: State,
        closure: Frame | None,
    ) -> Val:
        if not self._is_followed(info, arguments, receiver, frame, state):
            cls = self.project.annotated_class(info.module, info.node.returns)
            callee: Node = Function(info) if receiver is None else BoundMethod(receiver, info.node.name, info)
            return self.opaque_call(callee, arguments, node, state, cls)
        inner = Frame(info.module, info, closure, frame.depth + 1, info.owner, receiver)
        inner.root = frame.root if frame.root is not None else node
        self._bind_parameters(info, arguments, receiver, inner, state)
        return self.run_body(info, inner, state)

    def _is_followed(
        self, info: FunctionInfo, arguments: Arguments, receiver: Node | None, frame: Frame, state: State
    ) -> bool:
        if self.budget <= 0 or frame.depth >= _DEEPEST or self._is_running(info, frame):
            return False
        if any(last_name(decorator) in _NOT_TRANSPARENT for decorator in info.decorators):
            return False
        if self.is_interesting(info):
            return True
        values = [*arguments.every(), *([one(receiver)] if receiver is not None else [])]
        return any(self._is_tracked(part, state) for value in values for part in value)

    def _is_running(self, info: FunctionInfo, frame: Frame) -> bool:
        return any(active is info for active in self.active)

    #: The functions that are being run, outermost first.
    active: list[FunctionInfo]

    def _is_tracked(self, node: Node, state: State, depth: int = 0) -> bool:
        """Whether following a call with this argument can tell anything about a plan."""
        node = bare(node)
        if isinstance(node, Obj | Param | Attr | Item | Opaque | Class):
            return self.plans.of(node.cls) is not None or (isinstance(node, Obj) and depth == 0)
        if isinstance(node, DictView | Function | Partial):
            return True
        if depth < 3 and isinstance(node, Seq):
            return any(self._is_tracked(part, state, depth + 1) for item in node.items for part in item)
        if depth < 3 and isinstance(node, Dict):
            entries = state.entries(node)
            return REST in entries or any(
                isinstance(part, Attr | Read) or self._is_tracked(part, state, depth + 1)
                for item in entries.values()
                for part in item
            )
        return False

    def _bind_parameters(
        self, info: FunctionInfo, arguments: Arguments, receiver: Node | None, inner: Frame, state: State
    ) -> None:
        spec = info.node.args
        names = [*spec.posonlyargs, *spec.args]
        slots = state.writable(inner)
        given = list(arguments.positional)
        if receiver is not None:
            given.insert(0, one(receiver))
        used: set[str] = set()
        defaults = dict(zip([a.arg for a in names[len(names) - len(spec.defaults) :]], spec.defaults, strict=True))
        for argument, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
            if default is not None:
                defaults[argument.arg] = default
        for index, parameter in enumerate([*names, *spec.kwonlyargs]):
            name = parameter.arg
            if index < len(names) and index < len(given):
                slots[name] = given[index]
            elif name in arguments.keywords:
                slots[name] = arguments.keywords[name]
                used.add(name)
            elif (arguments.open_positional and index < len(names)) or arguments.open_keywords or arguments.rest:
                slots[name] = one(UNKNOWN)
            elif name in defaults:
                slots[name] = self.value(defaults[name], Frame(info.module, None, None, inner.depth), State())
            else:
                slots[name] = one(UNKNOWN)
        if spec.vararg is not None:
            extra = tuple(given[len(names) :])
            slots[spec.vararg.arg] = one(Seq(extra, complete=not arguments.open_positional))
        if spec.kwarg is not None:
            bundle = Dict(info.node)
            slots[spec.kwarg.arg] = one(bundle)
            entries = state.writable(bundle)
            taken = {parameter.arg for parameter in [*names, *spec.kwonlyargs]}
            entries.update({key: value for key, value in arguments.keywords.items() if key not in taken})
            if arguments.rest:
                entries[REST] = arguments.rest
            if arguments.open_keywords:
                entries[OPEN] = one(UNKNOWN)

    # Objects

    def birth(
        self,
        node: ast.expr | ast.stmt,
        frame: Frame,
        how: Literal["replace", "construct", "assign", "transfer", "copy", "partial"],
    ) -> Birth:
        return Birth(frame.module, node, frame.root if frame.root is not None else node, frame.depth, how)

    def construct(self, cls: ClassInfo, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val:
        """`Cls(...)`: through its own `__init__`, or through the one that its fields imply."""
        made = Obj(cls, self.birth(node, frame, "construct"))
        state.writable(made)
        self.initialize(made, cls, arguments, node, frame, state)
        self.settle(made, state)
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
        if not fields and not isinstance(made, Obj):
            return
        if not fields or self._has_foreign_base(cls):
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
        return any(
            last_name(base) not in {"object", "Generic", "Protocol", "ABC", "", *(c.node.name for c in self.project.mro(cls))}
            for c in self.project.mro(cls)
            for base in c.node.bases
        )

    def _fill_unknown(
        self, made: Node, fields: dict[str, FieldInfo], arguments: Arguments, state: State
    ) -> None:
        for name, value in arguments.keywords.items():
            state.write(made, name, value)
        state.write(made, OPEN, one(UNKNOWN))

    def _fill_fields(
        self, made: Node, fields: dict[str, FieldInfo], arguments: Arguments, state: State
    ) -> None:
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
        """After the arguments are in place: is this a copy, and which of its blanks are stated on purpose?"""
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
        deliberate = taken or base is not None
        for name in made.explicit:
            value = state.read(made, name) or ()
            if value and all(isinstance(bare(part), AbsentMark) for part in value):
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
            info = self.project.fields(cls).get(name)
            supplied = self._from_rest(arguments.rest, info, state) if info is not None else None
            if supplied is not None:
                slots[name] = supplied
                made.explicit[name] = None
            elif arguments.open_keywords:
                slots[name] = one(UNKNOWN)
        self.settle(made, state, kept if isinstance(kept, Obj) else None)
        if not isinstance(kept, Obj) and plan is not None and made.copied is None and self._touches(made):
            # The base has its carriers and keeps them: what this call blanks or resets, it drops.
            made.copied = made.birth
        if not isinstance(kept, Obj):
            for name in made.explicit:
                value = slots.get(name, ())
                if value and all(isinstance(bare(part), AbsentMark) for part in value):
                    made.stated.add(name)
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

    def set_attribute(self, target: Node, name: str, value: Val, node: ast.expr | ast.stmt, frame: Frame, state: State) -> None:
        """`target.name = value`."""
        target = bare(target)
        if not isinstance(target, Obj | Param | Attr | Item | Opaque):
            return
        state.write(target, name, value)
        plan = self.plans.of(target.cls)
        if isinstance(target, Obj) and plan is not None:
            if value and all(isinstance(bare(part), AbsentMark) for part in value):
                target.stated.add(name)
            else:
                target.stated.discard(name)
            if name in plan.transferable and target.copied is None and self.taken_from(value, target):
                target.copied = self.birth(node, frame, "assign")
        elif isinstance(target, Param | Attr) and self.taken_from(value, target):
            self.note_assigned(target, name, value, node, frame)

    def note_assigned(self, target: Node, name: str, value: Val, node: ast.expr | ast.stmt, frame: Frame) -> None:
        raise NotImplementedError

    def super_init(self, owner: Super, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val:
        """`super().__init__(...)` where the base has no `__init__` of its own but fields that imply one."""
        chain = self.project.mro(owner.cls)
        for base in chain[1:]:
            if base.fields:
                self.initialize(owner.receiver, base, arguments, node, frame, state)
                break
        return one(Const.of(None))
