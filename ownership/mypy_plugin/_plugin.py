"""The hooks: mypy asks by full name, and only calls that can concern a plan are looked at."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mypy.nodes import ClassDef, FuncDef, FuncItem, MypyFile, TypeInfo
from mypy.plugin import Plugin
from mypy.plugins.functools import partial_new_callback
from mypy.types import FunctionLike, get_proper_type

from ownership.mypy_plugin import _wording
from ownership.mypy_plugin._budget import Budget, OverBudgetError, Schedule
from ownership.mypy_plugin._codes import UNCHECKED, UNMARKED
from ownership.mypy_plugin._config import PluginConfigError, load_settings
from ownership.mypy_plugin._declarations import check_plan_class, class_of_decorator, record_written_kinds
from ownership.mypy_plugin._dependencies import depend_on
from ownership.mypy_plugin._names import ASDICT, COPY, DEEPCOPY, REPLACE
from ownership.mypy_plugin._plans import Plans, plan_class, record_fields
from ownership.mypy_plugin._suppress import is_suppressed
from ownership.mypy_plugin._typing import result_class
from ownership.mypy_plugin._walk import CalledNames

if TYPE_CHECKING:
    from mypy.errorcodes import ErrorCode
    from mypy.nodes import Context, Node
    from mypy.options import Options
    from mypy.plugin import (
        AttributeContext,
        ClassDefContext,
        FunctionContext,
        MethodContext,
        ReportConfigContext,
    )
    from mypy.types import Type

__all__ = ["OwnershipPlugin"]

#: Goes into mypy's cache: raise it with every change of a message, or files that are in the cache keep the old ones.
_RULES = 2

#: What most calls are of.
_NEVER = ("builtins.", "typing.", "contextlib.", "collections.", "enum.", "torch.")

_PLAN = "ownership.plan.plan"
_ALWAYS = REPLACE | COPY | DEEPCOPY | ASDICT | {"ownership.transfer.transfer", "builtins.setattr"}
_METHODS = ("_replace", "__replace__", "model_copy", "__setattr__", "__new__", "__init__")
_METHOD_NAMES = frozenset(_METHODS)


class OwnershipPlugin(Plugin):
    """The plugin, as mypy makes it: once for each run, or once for the life of the daemon."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        try:
            self.settings = load_settings(options.config_file)
        except PluginConfigError as exc:
            # An exception here is printed by mypy with its traceback; the message is all that helps.
            print(f"carryall: {exc}", file=sys.stderr)
            raise SystemExit(2) from exc
        self.plans = Plans(self.settings)
        self._config_data = [_RULES, self.settings.digest()]
        self._names = CalledNames()
        self._schedule = Schedule()
        # The daemon gives a name another meaning from one run to the next; without it, the first answer is the last.
        self._keeps = not options.fine_grained_incremental
        self._makers: dict[str, bool] = {}
        self._carriers: dict[str, bool] = {}

    def report_config_data(self, ctx: ReportConfigContext) -> Any:
        return self._config_data

    def get_class_decorator_hook_2(self, fullname: str) -> Callable[[ClassDefContext], bool] | None:
        return _record_written_kinds if fullname == _PLAN else None

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        known = self._makers.get(fullname)
        if known is not None:  # the one question that is asked for every call there is
            return self._look if known else None
        if fullname == _PLAN:
            return self._look_at_class
        if fullname == "functools.partial":
            return self._look_at_partial
        if fullname in _ALWAYS:
            return self._look_if_plan
        return self._look if self._makes_plan(fullname) else None

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        if fullname.endswith(_METHODS) and fullname.rpartition(".")[2] in _METHOD_NAMES:
            return self._look_if_plan
        return self._look if self._makes_plan(fullname) else None

    def get_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        is_carrier = self._carriers.get(fullname)
        if is_carrier is None:
            is_carrier = self._answer(self._is_carrier, fullname, self._carriers)
        return self._look_at_assignment if is_carrier else None

    def _makes_plan(self, fullname: str) -> bool:
        known = self._makers.get(fullname)
        return known if known is not None else self._answer(self._is_maker, fullname, self._makers)

    def _answer(self, question: Callable[[str], bool], fullname: str, known: dict[str, bool]) -> bool:
        try:
            answer = question(fullname)
        except Exception:  # noqa: BLE001 -- there is no place here to say so: the look that follows has one
            answer = True
        if self._keeps:
            known[fullname] = answer
        return answer

    def _is_carrier(self, fullname: str) -> bool:
        owner, _, name = fullname.rpartition(".")
        symbol = self.lookup_fully_qualified(owner)
        info = symbol.node if symbol is not None else None
        return isinstance(info, TypeInfo) and self.plans.is_carrier(info, name)

    def _is_maker(self, fullname: str) -> bool:
        """Whether a call of what has this name makes a plan."""
        if fullname.startswith(_NEVER):
            return False
        symbol = self.lookup_fully_qualified(fullname)
        node = symbol.node if symbol is not None else None
        return self.plans.of(node if isinstance(node, TypeInfo) else result_class(node)) is not None

    def _look_at_class(self, ctx: FunctionContext) -> Type:
        with _guarded(ctx.api, ctx.context):
            cls = ctx.context
            if not isinstance(cls, ClassDef):  # `@plan()`: mypy is at the call
                cls = class_of_decorator(ctx.api.tree, cls) or cls  # type: ignore[attr-defined]
            if isinstance(cls, ClassDef):
                self._say(ctx.api, check_plan_class(cls, self.settings))
        return ctx.default_return_type

    def _look(self, ctx: FunctionContext | MethodContext) -> Type:
        with _guarded(ctx.api, ctx.context):
            self._report(ctx.api, ctx.context)
        return ctx.default_return_type

    def _look_at_partial(self, ctx: FunctionContext) -> Type:
        """`partial(Plan, ...)`: mypy asks no other plugin after this one, so its own is called here."""
        result = partial_new_callback(ctx)
        with _guarded(ctx.api, ctx.context):
            first = get_proper_type(ctx.arg_types[0][0]) if ctx.arg_types and ctx.arg_types[0] else None
            if isinstance(first, FunctionLike) and first.is_type_obj() and self.plans.of(first.type_object()):
                self._report(ctx.api, ctx.context)
        return result

    def _look_if_plan(self, ctx: FunctionContext | MethodContext) -> Type:
        """Of calls that are made all over: those whose first argument, receiver or result is a plan."""
        with _guarded(ctx.api, ctx.context):
            if self._is_about_plan(ctx):
                self._report(ctx.api, ctx.context)
        return ctx.default_return_type

    def _is_about_plan(self, ctx: FunctionContext | MethodContext) -> bool:
        first = ctx.arg_types[0][0] if ctx.arg_types and ctx.arg_types[0] else None
        for type_ in (ctx.default_return_type, first, getattr(ctx, "type", None)):
            info = plan_class(type_) if type_ is not None else None
            if self.plans.of(info) is not None:
                return True
            if info is not None and record_fields(info) is not None:
                depend_on(ctx.api, info)  # it may become a plan
        return False

    def _look_at_assignment(self, ctx: AttributeContext) -> Type:
        if ctx.is_lvalue:
            with _guarded(ctx.api, ctx.context):
                self._report(ctx.api, ctx.context)
        return ctx.default_attr_type

    def _report(self, api: Any, context: Context) -> None:
        # The interpreter takes as long to import as mypy takes for thousands of lines: not where all is in the cache.
        from ownership.mypy_plugin._function import scopes

        with self.plans.look():
            for around in scopes(api, self.settings.materializers):
                self._look_at_scope(api, around, context)
        for info in list(self.plans.seen.values()):
            depend_on(api, info)
            plan = self.plans.of(info)
            for name in plan.missing if plan is not None else ():
                self._say(api, [(UNMARKED, context, _wording.stale(info.name, name))])

    def _look_at_scope(self, api: Any, around: Sequence[FuncItem], context: Context) -> None:
        from ownership.mypy_plugin._function import analyze

        tree: MypyFile = api.tree
        scope = around[-1] if around else tree
        occasions = self._schedule.occasions((api, tree.defs), around[0] if around else tree, scope)
        if occasions.is_needed(context):
            budget = Budget()
            try:
                self._say(api, analyze(api, around, self.plans, self.settings.materializers, self._names, budget))
            except OverBudgetError as exc:
                occasions.failure = _wording.too_large(_name_of(scope), str(exc))
            except Exception as exc:  # noqa: BLE001 -- in place of mypy's INTERNAL ERROR, which ends the whole run
                occasions.failure = _wording.unchecked(_name_of(scope), exc)
            occasions.spent += budget.spent
        if occasions.failure is not None:
            self._say(api, [(UNCHECKED, scope if around else context, occasions.failure)])

    def _say(self, api: Any, verdicts: Iterable[tuple[ErrorCode, Context, str]]) -> None:
        path = getattr(api.tree, "path", "")
        if path and self.settings.is_excluded(path):
            return
        for code, node, message in verdicts:
            if code.code not in self.settings.ignored and not is_suppressed(path, node.line, code.code, message):
                api.fail(message, node, code=code)


@contextmanager
def _guarded(api: Any, where: Context) -> Iterator[None]:
    """Say that something could not be looked at: neither mypy's INTERNAL ERROR nor silence is right."""
    try:
        yield
    except Exception as exc:  # noqa: BLE001 -- whatever it is, mypy has more to do
        api.fail(_wording.unchecked("this", exc), where, code=UNCHECKED)


def _record_written_kinds(ctx: ClassDefContext) -> bool:
    with _guarded(ctx.api, ctx.cls):
        record_written_kinds(ctx)
    return True


def _name_of(scope: Node) -> str:
    if isinstance(scope, FuncDef):
        return f'"{scope.name}"'
    return "this module" if isinstance(scope, MypyFile) else "this lambda"
