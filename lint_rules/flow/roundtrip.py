"""Copies through a mapping: a plan written by one method and read by another (`__getstate__` and `__setstate__`)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from lint_rules.flow.arguments import Arguments
from lint_rules.flow.state import Frame, State
from lint_rules.flow.values import Birth, Class, Dict, DictView, Node, Obj, Param, Seq, bare, one

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.flow.interpreter import Interpreter
    from lint_rules.flow.judge import Judge
    from lint_rules.index.model import ClassInfo, FunctionInfo
    from lint_rules.index.plans import PlanTable
    from lint_rules.index.project import Project

__all__ = ["judge_round_trips"]

#: Writers and readers that belong together, beside `to_x` and `from_x` of any x.
_PAIRS = (
    ("__getstate__", "__setstate__"),
    ("as_dict", "from_dict"),
    ("state_dict", "load_state_dict"),
    ("serialize", "deserialize"),
    ("dump", "load"),
    ("dumps", "loads"),
    ("encode", "decode"),
    ("pack", "unpack"),
)


def judge_round_trips(project: Project, plans: PlanTable, interpreter: Interpreter, judge: Judge) -> None:
    """Write each plan that can be written, read it back, and judge what arrives."""
    for cls in list(plans.direct):
        for writer, reader in _pairs(cls):
            _judge_pair(cls, writer, reader, plans, interpreter, judge)


def _pairs(cls: ClassInfo) -> Iterator[tuple[FunctionInfo, FunctionInfo | None]]:
    for name, method in cls.methods.items():
        if name.startswith("to_") and (reader := cls.methods.get("from_" + name[3:])) is not None:
            yield method, reader
    for writer_name, reader_name in _PAIRS:
        writer = cls.methods.get(writer_name)
        reader = cls.methods.get(reader_name)
        if writer is not None and (reader is not None or writer_name == "__getstate__"):
            yield writer, reader
    for name in ("__reduce__", "__reduce_ex__"):
        if name in cls.methods:
            yield cls.methods[name], None


def _judge_pair(
    cls: ClassInfo,
    writer: FunctionInfo,
    reader: FunctionInfo | None,
    plans: PlanTable,
    interpreter: Interpreter,
    judge: Judge,
) -> None:
    plan = plans.of(cls)
    if plan is None:
        return
    source = Param("self", cls, typed=True)
    frame = Frame(cls.module, writer, None, depth=0, owner=cls)
    state = State()
    interpreter.budget = 2_000
    judge.begin(writer, frame, [source], is_materializer=False)
    call = ast.copy_location(ast.Call(ast.Name(writer.node.name, ast.Load()), [], []), writer.node)
    written = interpreter.call_function(writer, Arguments(), source, call, frame, state, None)
    for part in written:
        mapping = bare(part)
        target, place = _read_back(cls, mapping, reader, writer, call, frame, state, interpreter)
        if target is not None and place is not None:
            assert isinstance(place, ast.expr | ast.stmt)
            target.copied = target.copied or target.birth
            judge.judge_object(target, plan, state, place, interpreter, [source], place)


def _read_back(
    cls: ClassInfo,
    mapping: Node,
    reader: FunctionInfo | None,
    writer: FunctionInfo,
    call: ast.Call,
    frame: Frame,
    state: State,
    interpreter: Interpreter,
) -> tuple[Obj | None, ast.AST | None]:
    """The object that the reader makes of what was written, and the place to report."""
    if isinstance(mapping, Seq) and writer.node.name.startswith("__reduce"):
        return _rebuild(mapping, writer, call, frame, state, interpreter)
    if not isinstance(mapping, Dict) or not isinstance(mapping.site, ast.expr):
        return None, None
    fresh = Obj(cls, Birth(cls.module, writer.node, writer.node, 0, "construct"))
    state.writable(fresh)
    given = Arguments([one(mapping)])
    if reader is None:
        interpreter.call_method(DictView(fresh), "update", given, call, frame, state)
        return fresh, mapping.site
    if reader.node.name in {"__setstate__", "load_state_dict"}:
        interpreter.call_function(reader, given, fresh, call, frame, state, None)
        return fresh, mapping.site
    made = interpreter.call_function(reader, given, Class(cls), call, frame, state, None)
    target = bare(made[0]) if len(made) == 1 else None
    return (target, mapping.site) if isinstance(target, Obj) and target.cls is cls else (None, None)


def _rebuild(
    result: Seq, writer: FunctionInfo, call: ast.Call, frame: Frame, state: State, interpreter: Interpreter
) -> tuple[Obj | None, ast.AST | None]:
    if len(result.items) != 2 or not result.complete:
        return None, None
    factory = bare(result.items[0][0])
    given = interpreter.elements(result.items[1], state)
    if not isinstance(factory, Class) or given is None:
        return None, None
    made = interpreter.construct(factory.cls, Arguments(list(given)), call, frame, state)
    target = bare(made[0])
    place = next((node for node in ast.walk(writer.node) if isinstance(node, ast.Return)), writer.node)
    return (target, place) if isinstance(target, Obj) else (None, None)
