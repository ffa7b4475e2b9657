"""Methods of what is no class of the project: dicts, lists, strings, `super()`, and the copying methods of classes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from lint_rules.flow.arguments import Arguments
from lint_rules.flow.expressions import STRING_METHODS
from lint_rules.flow.natives import Natives
from lint_rules.flow.state import OPEN, REST, Frame, State
from lint_rules.flow.values import (
    UNKNOWN,
    AnyField,
    AnyName,
    Attr,
    Blank,
    Class,
    Const,
    Dict,
    DictView,
    Item,
    Node,
    Obj,
    Opaque,
    Param,
    Seq,
    Super,
    bare,
    bare_all,
    one,
)

if TYPE_CHECKING:
    from lint_rules.flow.values import Val

__all__ = ["Methods"]


class Methods(Natives):
    """Calls of methods that are not part of the project."""

    def call_method(
        self, receiver: Node, name: str, arguments: Arguments, node: ast.Call, frame: Frame, state: State
    ) -> Val | None:
        receiver = bare(receiver)
        if isinstance(receiver, Super):
            if name == "__init__":
                return self.super_init(receiver, arguments, node, frame, state)
            if name == "__new__" and isinstance(receiver.receiver, Class):
                return self._new(Arguments([one(receiver.receiver)]), node, frame, state)
            if name == "__setattr__":
                return self._setattr(arguments.after((one(receiver.receiver),), {}), node, frame, state)
            return None
        if isinstance(receiver, Class):
            return self._class_method(receiver, name, arguments, node, frame, state)
        if name in {"_replace", "__replace__", "evolve"} and not arguments.positional:
            return self.replace(receiver, arguments, node, frame, state)
        if name in {"model_copy", "copy"} and isinstance(receiver, Obj | Param | Attr | Item | Opaque):
            copied = self._model_copy(receiver, arguments, node, frame, state)
            if copied is not None or name == "model_copy":
                return copied
        if isinstance(receiver, Dict):
            return self._dict_method(receiver, name, arguments, node, state)
        if isinstance(receiver, DictView):
            return self._view_method(receiver, name, arguments, node, frame, state)
        if isinstance(receiver, Const) and isinstance(receiver.value, str):
            return self._string_method(receiver.value, name, arguments, node)
        if isinstance(receiver, Seq) and receiver.mutable:
            return self._list_method(receiver, name, arguments, frame, state)
        if name == "copy" and isinstance(receiver, Attr) and self.is_fed(one(receiver), state):
            return one(Opaque(node, fed=True, copies=one(receiver)))
        return None

    def _class_method(
        self, receiver: Class, name: str, arguments: Arguments, node: ast.Call, frame: Frame, state: State
    ) -> Val | None:
        if name == "__new__":
            made = Obj(receiver.cls, self.birth(node, frame, "construct"))
            state.writable(made)
            return one(made)
        if name == "__init__" and arguments.positional:
            target = bare(arguments.positional[0][0])
            self.initialize(target, receiver.cls, arguments.shifted(1), node, frame, state)
            return one(Const.of(None))
        if name in {"_make", "model_construct", "model_validate"}:
            made = Obj(receiver.cls, self.birth(node, frame, "construct"))
            state.write(made, OPEN, one(UNKNOWN))
            made.tainted = True
            return one(made)
        return None

    def _model_copy(
        self, receiver: Node, arguments: Arguments, node: ast.Call, frame: Frame, state: State
    ) -> Val | None:
        cls = self.class_of(receiver)
        if cls is None or self.project.flavor(cls) != "pydantic":
            return None
        update = arguments.keywords.get("update")
        changes = Arguments()
        if update is not None:
            entries, rest, is_open = self.mapping(update[0], state)
            changes = Arguments(keywords=entries, rest=rest, open_keywords=is_open)
        return self.replace(receiver, changes, node, frame, state)

    def _dict_method(self, receiver: Dict, name: str, arguments: Arguments, node: ast.Call, state: State) -> Val | None:
        if name == "update":
            for part in arguments.positional:
                self.update_dict(receiver, part, state)
            for key, value in arguments.keywords.items():
                state.write(receiver, key, value)
            if arguments.rest:
                state.write(receiver, REST, arguments.rest)
            if arguments.open_keywords:
                state.write(receiver, OPEN, one(UNKNOWN))
            return one(Const.of(None))
        if name == "setdefault" and len(arguments.positional) == 2:
            wanted = bare_all(arguments.positional[0])
            if len(wanted) == 1 and isinstance(wanted[0], Const) and wanted[0].value in state.entries(receiver):
                return state.read(receiver, wanted[0].value)
            self.write_key(receiver, wanted, arguments.positional[1], state)
            return arguments.positional[1]
        if name in {"get", "pop"} and arguments.positional:
            default = arguments.positional[1] if len(arguments.positional) > 1 else None
            found = self.get_item(receiver, bare_all(arguments.positional[0]), node, state, default=default)
            wanted = bare_all(arguments.positional[0])
            if name == "pop" and len(wanted) == 1 and isinstance(wanted[0], Const):
                self.delete_key(receiver, wanted[0].value, state)
            return found
        if name == "items":
            return self._items(receiver, state)
        if name == "keys":
            return one(receiver)
        if name == "values":
            entries, rest, is_open = self.mapping(receiver, state)
            return one(Seq(tuple(entries.values()), complete=not rest and not is_open))
        if name == "copy":
            made = Dict(node)
            state.writable(made).update(state.entries(receiver))
            return one(made)
        return None

    def delete_key(self, target: Dict, key: object, state: State) -> None:
        """`del target[key]`."""
        entries = state.writable(target)
        if REST in entries:
            entries[key] = one(Blank("missing key"))
        else:
            entries.pop(key, None)

    def _items(self, receiver: Node, state: State) -> Val:
        entries, rest, is_open = self.mapping(receiver, state)
        if rest and not entries:
            pair = Seq((one(AnyName(rest[0])), one(AnyField(rest[0]))))
            return one(Seq((one(pair),), complete=False))
        complete = not is_open and (not rest or isinstance(receiver, DictView))
        pairs = tuple(one(Seq((one(Const.of(key)), value))) for key, value in entries.items())
        return one(Seq(pairs, complete))

    def _view_method(
        self, receiver: DictView, name: str, arguments: Arguments, node: ast.Call, frame: Frame, state: State
    ) -> Val | None:
        if name == "update":
            for part in arguments.positional:
                entries, rest, is_open = self.mapping(part[0], state)
                for key, value in entries.items():
                    self.set_attribute(receiver.target, key, value, node, frame, state)
                if rest and not entries:
                    self._copy_all(receiver.target, rest[0], node, frame, state)
                if is_open and isinstance(receiver.target, Obj):
                    receiver.target.tainted = True
            for key, value in arguments.keywords.items():
                self.set_attribute(receiver.target, key, value, node, frame, state)
            return one(Const.of(None))
        if name == "items":
            return self._items(receiver, state)
        if name == "copy":
            return self._dict_call(Arguments([one(receiver)]), node, frame, state)
        if name == "get" and arguments.positional:
            return self.get_item(receiver, bare_all(arguments.positional[0]), node, state)
        return None

    def _string_method(self, text: str, name: str, arguments: Arguments, node: ast.Call) -> Val | None:
        plain: list[object] = []
        for value in arguments.positional:
            part = bare(value[0])
            if len(value) != 1 or not isinstance(part, Const):
                return None
            plain.append(part.value)
        if name not in STRING_METHODS:
            return None
        try:
            return one(Const.of(getattr(text, name)(*plain)))
        except (TypeError, ValueError):
            return None

    def _list_method(self, receiver: Seq, name: str, arguments: Arguments, frame: Frame, state: State) -> Val | None:
        """A list that changes becomes another node in every variable that holds it."""
        more = self.elements(arguments.positional[0], state) if len(arguments.positional) == 1 else None
        if name in {"append", "add"} and len(arguments.positional) == 1:
            grown = Seq((*receiver.items, arguments.positional[0]), receiver.complete, mutable=True)
        elif name == "extend" and more is not None:
            grown = Seq((*receiver.items, *more), receiver.complete, mutable=True)
        elif name in {"extend", "insert", "remove", "pop", "clear", "__iadd__", "update", "discard"}:
            grown = Seq((*receiver.items, *arguments.positional), complete=False, mutable=True)
        else:
            return None
        scope: Frame | None = frame
        while scope is not None:
            for variable, value in list(state.entries(scope).items()):
                if any(node is receiver for node in value):
                    state.write(scope, variable, tuple(grown if node is receiver else node for node in value))
            scope = scope.parent
        return None if name == "pop" else one(Const.of(None))
