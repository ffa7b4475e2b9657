"""Reads of what is no argument: the environment, option objects of a module, globals that a setter changes."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from lint_rules.agreement.signatures import callee_of, is_bound, own_parameters, signature_of
from lint_rules.index.build import last_name
from lint_rules.index.model import ClassInfo, External, FunctionInfo, ValueBinding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.index.bodies import Bodies, Body
    from lint_rules.index.model import ModuleInfo
    from lint_rules.index.project import Project

__all__ = ["Ambient", "AmbientReads", "is_cached", "steers_nothing"]

_CACHES = frozenset({"lru_cache", "cache"})
_READERS = frozenset({"os.environ.get", "os.getenv", "os.environb.get", "os.getenvb"})
_ENVIRONMENTS = frozenset({"os.environ", "os.environb"})
_NO_OPTION = frozenset({
    "LOG", "LOGS", "LOGGING", "DEBUG", "TRACE", "PROFILE", "PROFILING", "CACHE", "VERBOSE", "STACK", "TIMING", "DUMP",
    "VALIDATE", "VERIFY", "DIR", "HOME", "PATH", "VISIBLE", "STARTED", "REVISION", "COMMAND",
    "PRINT", "PROGRESS", "MEMO",
})  # fmt: skip
_GLOBAL = re.compile(r"^[ \t]+global[ \t]+([\w, \t]+)", re.MULTILINE)
_CONVERSIONS = frozenset({"bool", "int", "float", "str"})


@dataclass(frozen=True, slots=True)
class Ambient:
    """One read. `node` stands in `function`; `site` is the place in the function that was asked about.

    `name` is the variable, or the attribute of an option object; `path` are the calls that lead there.
    """

    name: str
    kind: Literal["environment", "option", "knob"]
    text: str
    node: ast.expr
    function: FunctionInfo
    site: ast.expr
    path: tuple[FunctionInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class _Unnamed:
    """A read of the variable that a parameter names: only the caller knows which."""

    parameter: str


def is_cached(info: FunctionInfo) -> bool:
    """Whether results are kept by `functools`."""
    return any(last_name(each) in _CACHES for each in info.decorators)


def steers_nothing(variable: str) -> bool:
    """Whether a variable, by its name, changes only what is logged, traced, checked or cached."""
    return not _NO_OPTION.isdisjoint(variable.upper().split("_"))


class AmbientReads:
    """Finds the reads of functions, through the helpers that they call."""

    def __init__(self, project: Project, bodies: Bodies) -> None:
        self.project = project
        self.bodies = bodies
        self._own: dict[FunctionInfo, list[Ambient]] = {}
        self._unnamed: dict[FunctionInfo, list[tuple[str, ast.expr]]] = {}
        self._knobs: dict[tuple[str, str], bool] = {}
        self._globals: dict[str, set[str]] = {}
        self._set: dict[str, bool] = {}

    def of(self, info: FunctionInfo, depth: int = 2) -> list[Ambient]:
        """What the function reads on its own, and in helpers that are not cached, up to `depth` calls away."""
        return self._of(info, depth, (info,))

    def _of(self, info: FunctionInfo, depth: int, active: tuple[FunctionInfo, ...]) -> list[Ambient]:
        found = list(self.own(info))
        if not depth:
            return found
        body = self.bodies.of(info)
        hidden = _hidden(info, body)
        for call in body.calls:
            callee = callee_of(self.project, info, call, hidden)
            if not isinstance(callee, FunctionInfo) or callee in active or is_cached(callee):
                continue
            inner = self._of(callee, depth - 1, (*active, callee))
            found += [replace(each, site=call, path=(callee, *each.path)) for each in inner]
            found += self._named_here(info, call, callee)
        return found

    def _named_here(self, info: FunctionInfo, call: ast.Call, callee: FunctionInfo) -> Iterator[Ambient]:
        """Reads of a helper that is told the variable: `flag("ORDERED")`."""
        unnamed = self._unnamed.get(callee) if callee in self._own else None
        if not unnamed:
            return
        signature = signature_of(self.project, callee)
        bound = signature.bind(call) if signature is not None else None
        for parameter, node in unnamed:
            name = self._variable(info.module, (bound or {}).get(parameter))
            if isinstance(name, str):
                yield Ambient(name, "environment", f"the environment variable `{name}`", node, callee, call, (callee,))

    def own(self, info: FunctionInfo) -> list[Ambient]:
        """The reads in the body itself."""
        found = self._own.get(info)
        if found is None:
            self._unnamed[info] = []
            self._own[info] = found = []
            body = self.bodies.of(info)
            found += self._environment(info, body)
            found += self._options(info, body)
            found += self._rebound(info, body)
            found.sort(key=lambda each: (each.node.lineno, each.node.col_offset))
        return found

    # The environment

    def _environment(self, info: FunctionInfo, body: Body) -> Iterator[Ambient]:
        if "environ" not in info.module.text and "getenv" not in info.module.text:
            return
        reads: list[tuple[ast.expr, ast.expr]] = [
            (call, call.args[0]) for call in body.calls if call.args and self._dotted(info, call.func) in _READERS
        ]
        reads += [
            (each, each.slice)
            for each in body.subscripts
            if isinstance(each.ctx, ast.Load) and self._dotted(info, each.value) in _ENVIRONMENTS
        ]
        reads += [
            (each, each.left)
            for each in body.compares
            if isinstance(each.ops[0], ast.In | ast.NotIn) and self._dotted(info, each.comparators[0]) in _ENVIRONMENTS
        ]
        parameters = {each.arg for each in own_parameters(info.node, skip_first=is_bound(info))}
        for node, expression in reads:
            name = self._variable(info.module, expression, parameters)
            if isinstance(name, _Unnamed):
                self._unnamed[info].append((name.parameter, node))
            elif name is not None:
                yield Ambient(name, "environment", f"the environment variable `{name}`", node, info, node)

    def _dotted(self, info: FunctionInfo, node: ast.expr) -> str:
        """The full name of something of `os`, or nothing."""
        last = last_name(node)
        if last not in {"get", "getenv", "environ", "getenvb", "environb"}:
            return ""
        symbol = self.project.resolve_expression(info.module, node)
        if isinstance(symbol, External):
            return symbol.name
        text = ast.unparse(node)  # `import os` in the function itself
        return text if text in _READERS or text in _ENVIRONMENTS else ""

    def _variable(
        self, module: ModuleInfo, node: ast.expr | None, parameters: set[str] | None = None
    ) -> str | _Unnamed | None:
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name) and parameters is not None and node.id in parameters:
            return _Unnamed(node.id)
        symbol = self.project.resolve_expression(module, node)
        if isinstance(symbol, ValueBinding) and isinstance(symbol.expression, ast.Constant):
            value = symbol.expression.value
            return value if isinstance(value, str) else None
        return None

    # Option objects and globals

    def _options(self, info: FunctionInfo, body: Body) -> Iterator[Ambient]:
        hidden = _hidden(info, body)
        for node in body.attributes:
            value = node.value
            if not isinstance(node.ctx, ast.Load) or not isinstance(value, ast.Name | ast.Attribute):
                continue
            head: ast.expr = value
            while isinstance(head, ast.Attribute):
                head = head.value
            if not isinstance(head, ast.Name) or head.id in hidden or head.id not in info.module.bindings:
                continue
            symbol = self.project.resolve_expression(info.module, value)
            if isinstance(symbol, ValueBinding) and self._is_option(symbol, node.attr):
                yield Ambient(node.attr, "option", f"`{symbol.name}.{node.attr}`", node, info, node)

    def _is_option(self, symbol: ValueBinding, attribute: str) -> bool:
        """Whether the variable holds an object of a project class, whose attribute somebody sets."""
        if not isinstance(symbol.expression, ast.Call):
            return False
        cls = self.project.resolve_expression(symbol.module, symbol.expression.func)
        if not isinstance(cls, ClassInfo) or self.project.frozen(cls) or attribute not in self.project.fields(cls):
            return False
        return self._is_set(symbol.name, attribute)

    def _is_set(self, name: str, attribute: str) -> bool:
        pattern = rf"\b{re.escape(name)}\.{re.escape(attribute)}[ \t]*=(?!=)"
        if pattern not in self._set:
            needle, compiled = f".{attribute}".encode(), re.compile(pattern.encode())
            self._set[pattern] = any(
                needle in file.data and compiled.search(file.data) for file in self.project.tree.files.values()
            )
        return self._set[pattern]

    def _rebound(self, info: FunctionInfo, body: Body) -> Iterator[Ambient]:
        if not body.reads:
            return
        hidden = _hidden(info, body)
        for name, nodes in body.reads.items():
            if name in hidden or name not in info.module.bindings or name in body.globals:
                continue
            symbol = self.project.resolve(info.module, name)
            if isinstance(symbol, ValueBinding) and symbol.module is info.module and self._is_knob(symbol):
                yield Ambient(name, "knob", f"the global `{name}`", nodes[0], info, nodes[0])

    def _is_knob(self, symbol: ValueBinding) -> bool:
        """Whether it is a plain value, and a setter of the module puts its own parameter there."""
        value = symbol.expression
        if value is not None and not (isinstance(value, ast.Constant) and value.value is not None):
            return False
        key = (symbol.module.path, symbol.name)
        if key not in self._knobs:
            self._knobs[key] = symbol.name in self._declared_global(symbol.module) and any(
                self._sets(function, symbol.name) for function in symbol.module.functions
            )
        return self._knobs[key]

    def _declared_global(self, module: ModuleInfo) -> set[str]:
        if module.path not in self._globals:
            found = _GLOBAL.findall(module.text) if "global " in module.text else []
            self._globals[module.path] = {name.strip() for names in found for name in names.split(",")}
        return self._globals[module.path]

    def _sets(self, function: FunctionInfo, name: str) -> bool:
        body = self.bodies.of(function)
        parameters = {each.arg for each in own_parameters(function.node, skip_first=False)}
        return name in body.globals and any(
            isinstance(given := _converted(value), ast.Name) and given.id in parameters
            for value in body.values.get(name, ())
        )


def _converted(value: ast.expr | None) -> ast.expr | None:
    """`x` of `bool(x)`."""
    if isinstance(value, ast.Call) and len(value.args) == 1 and last_name(value.func) in _CONVERSIONS:
        return value.args[0]
    return value


def _hidden(info: FunctionInfo, body: Body) -> set[str]:
    parameters = info.node.args
    own = {each.arg for each in own_parameters(info.node, skip_first=False)}
    own.update(each.arg for each in (parameters.vararg, parameters.kwarg) if each is not None)
    return (own | body.stores | body.inner) - body.globals
