"""The hooks: mypy asks by full name, and only calls that can concern a plan are looked at."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from mypy.nodes import ClassDef, TypeInfo
from mypy.plugin import Plugin

from ownership.mypy_plugin import _wording
from ownership.mypy_plugin._calls import ASDICT, COPY, DEEPCOPY, REPLACE
from ownership.mypy_plugin._codes import UNMARKED
from ownership.mypy_plugin._config import PluginConfigError, load_settings
from ownership.mypy_plugin._declarations import check_plan_class, class_of_decorator, record_written_kinds
from ownership.mypy_plugin._dependencies import depend_on
from ownership.mypy_plugin._function import analyze
from ownership.mypy_plugin._plans import Plans, plan_class, record_fields
from ownership.mypy_plugin._suppress import is_suppressed
from ownership.mypy_plugin._typing import result_class

if TYPE_CHECKING:
    from mypy.errorcodes import ErrorCode
    from mypy.nodes import Context
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
_RULES = 1

#: What most calls are of.
_NEVER = ("builtins.", "typing.", "contextlib.", "collections.", "enum.", "torch.")

_PLAN = "ownership.plan.plan"
_ALWAYS = REPLACE | COPY | DEEPCOPY | ASDICT | {"ownership.transfer.transfer", "builtins.setattr"}
_METHODS = {"_replace", "__replace__", "model_copy", "__setattr__", "__new__", "__init__"}


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

    def report_config_data(self, ctx: ReportConfigContext) -> Any:
        return [_RULES, self.settings.digest()]

    def get_class_decorator_hook_2(self, fullname: str) -> Callable[[ClassDefContext], bool] | None:
        return record_written_kinds if fullname == _PLAN else None

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        if fullname == _PLAN:
            return self._look_at_class
        if fullname in _ALWAYS:
            return self._look_if_plan
        return self._look if self._makes_plan(fullname) else None

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        if fullname.rpartition(".")[2] in _METHODS:
            return self._look_if_plan
        return self._look if self._makes_plan(fullname) else None

    def get_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        owner, _, name = fullname.rpartition(".")
        info = self._class(owner)
        return self._look_at_assignment if info is not None and self.plans.is_carrier(info, name) else None

    def _class(self, fullname: str) -> TypeInfo | None:
        symbol = self.lookup_fully_qualified(fullname)
        return symbol.node if symbol is not None and isinstance(symbol.node, TypeInfo) else None

    def _makes_plan(self, fullname: str) -> bool:
        if fullname.startswith(_NEVER):
            return False
        symbol = self.lookup_fully_qualified(fullname)
        node = symbol.node if symbol is not None else None
        if isinstance(node, TypeInfo):
            return self.plans.of(node) is not None
        return self.plans.of(result_class(node)) is not None

    def _look_at_class(self, ctx: FunctionContext) -> Type:
        cls = ctx.context
        if not isinstance(cls, ClassDef):  # `@plan()`: mypy is at the call
            cls = class_of_decorator(ctx.api.tree, cls) or cls  # type: ignore[attr-defined]
        if isinstance(cls, ClassDef):
            self._say(ctx.api, check_plan_class(cls, self.settings))
        return ctx.default_return_type

    def _look(self, ctx: FunctionContext | MethodContext) -> Type:
        self._report(ctx.api, ctx.context)
        return ctx.default_return_type

    def _look_if_plan(self, ctx: FunctionContext | MethodContext) -> Type:
        """Of calls that are made all over: those whose first argument, receiver or result is a plan."""
        first = ctx.arg_types[0][0] if ctx.arg_types and ctx.arg_types[0] else None
        for type_ in (ctx.default_return_type, first, getattr(ctx, "type", None)):
            info = plan_class(type_) if type_ is not None else None
            if self.plans.of(info) is not None:
                return self._look(ctx)
            if info is not None and record_fields(info) is not None:
                depend_on(ctx.api, info)  # it may become a plan
        return ctx.default_return_type

    def _look_at_assignment(self, ctx: AttributeContext) -> Type:
        if ctx.is_lvalue:
            self._report(ctx.api, ctx.context)
        return ctx.default_attr_type

    def _report(self, api: Any, context: Context) -> None:
        self.plans.seen.clear()
        self._say(api, analyze(api, self.plans, self.settings.materializers))
        for info in list(self.plans.seen.values()):
            depend_on(api, info)
            plan = self.plans.of(info)
            for name in plan.missing if plan is not None else ():
                self._say(api, [(UNMARKED, context, _wording.stale(info.name, name))])

    def _say(self, api: Any, verdicts: Iterable[tuple[ErrorCode, Context, str]]) -> None:
        path = getattr(api.tree, "path", "")
        if path and self.settings.is_excluded(path):
            return
        for code, node, message in verdicts:
            if code.code not in self.settings.ignored and not is_suppressed(path, node.line, code.code, message):
                api.fail(message, node, code=code)
