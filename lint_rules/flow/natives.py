"""Functions from outside the project whose effect on a plan is known: `replace`, `vars`, `getattr`, `copy`, ..."""

from __future__ import annotations

import ast
from abc import abstractmethod
from typing import TYPE_CHECKING

from lint_rules.flow.arguments import Arguments
from lint_rules.flow.objects import Objects
from lint_rules.flow.state import OPEN, REST, Frame, State
from lint_rules.flow.values import (
    UNKNOWN,
    AbsentMark,
    AnyField,
    AnyName,
    Attr,
    Blank,
    Class,
    Const,
    Dict,
    DictView,
    FieldRef,
    Item,
    Node,
    Obj,
    Opaque,
    Param,
    Partial,
    Seq,
    Super,
    bare,
    bare_all,
    join,
    one,
)
from lint_rules.index.project import OWNERSHIP

if TYPE_CHECKING:
    from collections.abc import Callable

    from lint_rules.flow.values import Val
    from lint_rules.index.plans import PlanTable
    from lint_rules.index.project import Project

__all__ = ["Natives"]

#: Calls that neither keep nor change their arguments.
_HARMLESS = frozenset(
    f"builtins.{name}"
    for name in (
        *("len", "print", "repr", "str", "bool", "hash", "id", "callable"),
        *("isinstance", "issubclass", "hasattr", "any", "all", "sum", "min", "max"),
    )
)

_COPIERS = {
    "builtins.list", "builtins.dict", "builtins.tuple", "builtins.set", "builtins.frozenset", "types.MappingProxyType",
    "copy.copy", "copy.deepcopy",
}  # fmt: skip

_PASS_THROUGH = {"typing.cast": 1, "typing.assert_type": 0, "builtins.iter": 0, "builtins.reversed": 0}


class Natives(Objects):
    """Calls of functions and methods that are not part of the project."""

    @abstractmethod
    def note_deepcopy(self, source: Node, node: ast.Call, frame: Frame, state: State) -> None: ...

    def __init__(self, project: Project, plans: PlanTable) -> None:
        super().__init__(project, plans)
        self._natives: dict[str, Callable[[Arguments, ast.Call, Frame, State], Val | None]] = {
            "dataclasses.replace": self._replace,
            "copy.replace": self._replace,
            "attrs.evolve": self._replace,
            "attr.evolve": self._replace,
            "attr.assoc": self._replace,
            "copy.copy": self._copy,
            "copy.deepcopy": self._deepcopy,
            "dataclasses.asdict": self._as_dict,
            "attrs.asdict": self._as_dict,
            "attr.asdict": self._as_dict,
            "dataclasses.fields": self._fields,
            "attrs.fields": self._fields,
            "functools.partial": self._partial,
            "builtins.vars": self._vars,
            "builtins.dict": self._dict_call,
            "builtins.list": self._list_call,
            "builtins.tuple": self._list_call,
            "builtins.sorted": self._list_call,
            "builtins.set": self._list_call,
            "builtins.frozenset": self._list_call,
            "builtins.enumerate": self._enumerate,
            "builtins.zip": self._zip,
            "builtins.getattr": self._getattr,
            "builtins.setattr": self._setattr,
            "builtins.type": self._type,
            "builtins.super": self._super,
            "builtins.object.__setattr__": self._setattr,
            "builtins.object.__getattribute__": self._getattr,
            "builtins.object.__new__": self._new,
        }

    def call_native(self, name: str, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val | None:
        top, _, last = name.rpartition(".")
        if top == OWNERSHIP or top.startswith(OWNERSHIP + "."):
            return self._ownership(last, arguments, node, frame, state)
        handler = self._natives.get(name)
        if handler is not None:
            return handler(arguments, node, frame, state)
        if name in _PASS_THROUGH:
            return arguments.get(_PASS_THROUGH[name], "val")
        if name in _HARMLESS:
            fed = any(self.is_fed(value, state) for value in arguments.every())
            return one(Opaque(node, fed))
        if name in _COPIERS and arguments.positional and self.is_fed(arguments.positional[0], state):
            return one(Opaque(node, fed=True, copies=arguments.positional[0]))
        return None

    # ownership

    def _ownership(self, name: str, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val | None:
        if name == "Absent":
            return one(AbsentMark("Absent"))
        if name == "Dropped":
            field = bare_all(arguments.get(0, "field") or one(UNKNOWN))[0]
            return one(AbsentMark("Dropped", field.value if isinstance(field, Const) else None))
        if name == "transfer":
            return self._transfer(arguments, node, frame, state)
        return None

    def _transfer(self, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val | None:
        source, into = arguments.get(0, "source"), arguments.get(1, "into")
        if source is None or into is None:
            return None
        facts = {key: value for key, value in arguments.keywords.items() if key not in {"source", "into"}}
        found: list[Val] = []
        for base in into:
            changes = Arguments(keywords=facts, open_keywords=arguments.open_keywords)
            made = self.replace(base, changes, node, frame, state, how="transfer")
            if made is None:
                return None
            target = made[0]
            assert isinstance(target, Obj)
            plan = self.plans.of(target.cls)
            for name in plan.transferable if plan is not None else ():
                if name not in facts:
                    state.write(target, name, self.get_attribute(source[0], name, node, frame, state))
                    target.explicit[name] = None
                    target.stated.discard(name)
            target.copied = target.birth
            found.append(made)
        return join(found)

    # Copies

    def _replace(self, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val | None:
        base = arguments.get(0, "obj")
        if base is None:
            return None
        return self._replace_each(base, arguments.shifted(1), node, frame, state)

    def _replace_each(self, base: Val, changes: Arguments, node: ast.Call, frame: Frame, state: State) -> Val | None:
        found = [self.replace(part, changes, node, frame, state) for part in base]
        if any(part is None for part in found):
            return None
        return join(part for part in found if part is not None)

    def _copy(self, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val | None:
        source = arguments.get(0, "x")
        if source is None:
            return None
        return join([self._shallow(part, node, frame, state) for part in source])

    def _shallow(self, part: Node, node: ast.Call, frame: Frame, state: State) -> Val:
        inner = bare(part)
        cls = self.class_of(inner)
        if cls is not None:
            method = self.project.find_method(cls, "__copy__")
            if method is not None:
                return self.call_function(method, Arguments(), inner, node, frame, state, None)
            if self.plans.of(cls) is not None:
                made = self.replace(inner, Arguments(), node, frame, state)
                if made is not None and isinstance(twin := made[0], Obj):
                    # A copy takes the attributes as they are; nothing is reset.
                    for name in list(state.entries(twin)):
                        if state.read(twin, name) == (Blank("reset"),):
                            state.write(twin, name, self.get_attribute(inner, name, node, frame, state))
                    twin.copied = None if not isinstance(inner, Obj) else inner.copied
                    return made
        if isinstance(inner, Dict | DictView):
            return self._dict_call(Arguments([one(part)]), node, frame, state) or one(UNKNOWN)
        fed = self.is_fed(one(part), state)
        return one(Opaque(node, fed, copies=one(part) if fed else ()))

    def _deepcopy(self, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val | None:
        source = arguments.get(0, "x")
        if source is None:
            return None
        for part in source:
            cls = self.class_of(part)
            if cls is None:
                continue
            method = self.project.find_method(cls, "__deepcopy__")
            if method is not None:
                return self.call_function(method, Arguments([one(UNKNOWN)]), bare(part), node, frame, state, None)
            if self.plans.of(cls) is not None:
                self.note_deepcopy(bare(part), node, frame, state)
                return one(Opaque(node, fed=True, cls=cls))
        fed = self.is_fed(source, state)
        return one(Opaque(node, fed, copies=source if fed else ()))

    def _as_dict(self, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val | None:
        source = arguments.get(0, "obj")
        if source is None or len(source) != 1:
            return None
        made = Dict(node)
        entries = state.writable(made)
        names, rest, _ = self.mapping(DictView(bare(source[0])), state)
        for name, value in names.items():
            # asdict copies what it finds, launchers too.
            entries[name] = one(Opaque(node, fed=True, copies=value))
        if not names:
            entries[REST] = rest
        return one(made)

    # Constructors of containers

    def _vars(self, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val | None:
        source = arguments.get(0, "object")
        return None if source is None else tuple(DictView(bare(part)) for part in source)

    def _dict_call(self, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val | None:
        if arguments.positional:
            first = arguments.positional[0]
            inner = bare(first[0]) if len(first) == 1 else UNKNOWN
            pairs = self._pairs(first, state)
            if pairs is not None:
                made = Dict(node)
                state.writable(made)
                for key, value in pairs:
                    self.write_key(made, key, value, state)
            elif not isinstance(inner, Dict | DictView):
                if (
                    isinstance(inner, Param | Attr | Item | Opaque)
                    and self.is_fed(first, state)
                    and not arguments.keywords
                ):
                    return one(Opaque(node, fed=True, copies=first))
                made = Dict(node)
                state.write(made, OPEN, first)
            else:
                made = Dict(node)
                state.writable(made)
                self.update_dict(made, first, state)
        else:
            made = Dict(node)
            state.writable(made)
        for name, value in arguments.keywords.items():
            state.write(made, name, value)
        if arguments.rest:
            state.write(made, REST, arguments.rest)
        if arguments.open_keywords:
            state.write(made, OPEN, one(UNKNOWN))
        return one(made)

    def _pairs(self, source: Val, state: State) -> list[tuple[Val, Val]] | None:
        """The keys and values of `[(key, value), ...]`, where all of them are known."""
        if len(source) != 1 or not isinstance(bare(source[0]), Seq):
            return None
        rows = self.elements(source, state)
        columns = [self.elements(row, state) for row in rows or ()]
        found = [(column[0], column[1]) for column in columns if column is not None and len(column) == 2]
        return found if rows is not None and len(found) == len(rows) else None

    def _list_call(self, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val | None:
        if not arguments.positional:
            return one(Seq((), mutable=True))
        source = arguments.positional[0]
        known = self.elements(source, state)
        if known is not None and not arguments.keywords:
            return one(Seq(tuple(known), mutable=True))
        inner = bare(source[0])
        if isinstance(inner, Attr) and self.is_fed(source, state):
            return one(Opaque(node, fed=True, copies=source))
        return one(Seq((self.element(source, state),), complete=False, mutable=True))

    def _enumerate(self, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val | None:
        if not arguments.positional:
            return None
        known = self.elements(arguments.positional[0], state)
        if known is None:
            pair = Seq((one(UNKNOWN), self.element(arguments.positional[0], state)))
            return one(Seq((one(pair),), complete=False))
        return one(Seq(tuple(one(Seq((one(Const.of(i)), item))) for i, item in enumerate(known))))

    def _zip(self, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val | None:
        columns = [self.elements(part, state) for part in arguments.positional]
        known = [column for column in columns if column is not None]
        if len(known) < len(columns) or arguments.open_positional:
            pair = Seq(tuple(self.element(part, state) for part in arguments.positional))
            return one(Seq((one(pair),), complete=False))
        return one(Seq(tuple(one(Seq(row)) for row in zip(*known, strict=False))))

    def _partial(self, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val | None:
        if not arguments.positional:
            return None
        inner = arguments.shifted(1)
        expressions: dict[str | int, ast.expr] = {k: v for k, v in inner.expressions.items() if isinstance(k, str)}
        made = Partial(
            arguments.positional[0],
            tuple(inner.positional),
            inner.keywords,
            expressions,
            inner.open_keywords or inner.open_positional or bool(inner.rest),
        )
        return one(made)

    # Attributes by name

    def _fields(self, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val | None:
        source = arguments.get(0, "class_or_instance")
        if source is None or len(source) != 1:
            return None
        target = bare(source[0])
        cls = target.cls if isinstance(target, Class) else self.class_of(target)
        if cls is None:
            return one(Seq((one(FieldRef(target, None)),), complete=False))
        known = [info for info in self.project.fields(cls).values() if not info.init_only]
        return one(Seq(tuple(one(FieldRef(target, info)) for info in known)))

    def _getattr(self, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val | None:
        if len(arguments.positional) < 2:
            return None
        owner, name = arguments.positional[0], bare_all(arguments.positional[1])
        if len(name) == 1 and isinstance(name[0], AnyName):
            return one(AnyField(bare(owner[0])))
        if len(name) == 1 and isinstance(name[0], Const) and isinstance(name[0].value, str):
            text = name[0].value
            return join([self.get_attribute(part, text, node, frame, state) for part in owner])
        return one(Opaque(node, fed=self.is_fed(owner, state)))

    def _setattr(self, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val | None:
        if len(arguments.positional) < 3:
            return None
        owner, name, value = arguments.positional[0], bare_all(arguments.positional[1]), arguments.positional[2]
        for part in owner:
            target = bare(part)
            if len(name) == 1 and isinstance(name[0], Const) and isinstance(name[0].value, str):
                self.set_attribute(target, name[0].value, value, node, frame, state)
            elif len(name) == 1 and isinstance(name[0], AnyName) and isinstance(value[0], AnyField):
                self._copy_all(target, value[0].owner, node, frame, state)
            elif isinstance(target, Obj):
                state.write(target, OPEN, one(UNKNOWN))
                target.tainted = True
        return one(Const.of(None))

    def _copy_all(self, target: Node, source: Node, node: ast.Call, frame: Frame, state: State) -> None:
        cls = self.class_of(target) or self.class_of(source)
        for name in self.stored_names(cls) if cls is not None else ():
            value = self.get_attribute(source, name, node, frame, state)
            self.set_attribute(target, name, value, node, frame, state)

    def _type(self, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val | None:
        if len(arguments.positional) != 1:
            return None
        found = [self.class_of(part) for part in arguments.positional[0]]
        if any(cls is None for cls in found):
            return None
        return tuple(Class(cls) for cls in found if cls is not None)

    def _super(self, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val | None:
        scope: Frame | None = frame
        while scope is not None and scope.receiver is None:
            scope = scope.parent
        if scope is None or scope.owner is None or scope.receiver is None:
            return None
        return one(Super(scope.owner, scope.receiver))

    def _new(self, arguments: Arguments, node: ast.Call, frame: Frame, state: State) -> Val | None:
        if not arguments.positional:
            return None
        cls = bare(arguments.positional[0][0])
        if not isinstance(cls, Class):
            return None
        made = Obj(cls.cls, self.birth(node, frame, "construct"))
        state.writable(made)
        return one(made)
