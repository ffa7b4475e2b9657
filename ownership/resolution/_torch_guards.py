"""What a compiled graph was prepared for, and how a call differs from it: read from the guards that Dynamo put on it.

Dynamo names only the first guard that fails. The texts of all guards are kept beside the compiled code, so that every
argument that differs can be named here. What cannot be read is skipped; Dynamo's own words fill the gap. Nothing here
changes a guard, a cache or a log.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ownership.resolution.events import Difference

__all__ = ["Prepared", "arguments", "compared", "described", "nearest"]

_CHECK_TENSOR = re.compile(
    r"check_tensor\((?P<source>.+), (?P<cls>[\w.<>]+), DispatchKeySet\((?P<keys>[^)]*)\), torch\.(?P<dtype>\w+), "
    r"device=(?P<index>\w+), requires_grad=(?P<grad>\w+), size=\[(?P<size>[^\]]*)\], stride=\[(?P<stride>[^\]]*)\]\)"
)
_LOCAL_OR_GLOBAL = re.compile(r"\b[LG]\[(['\"])(\w+)\1\]")
_MODULE_TABLE = re.compile(r"\.(?:_modules|_parameters|_buffers|__dict__)\[(['\"])(\w+)\1\]")
_COMMENT = re.compile(r"(?:\s{2,}#|\nUser stack trace:).*", re.DOTALL)
_STATE = "___check_global_state() against "
_PREFIXES = ("torch.", "utils_device", "___", "hasattr(")
_LIMIT = 100


class Prepared(NamedTuple):
    """One compiled graph of a function: what it was made for, and where the call at hand differs."""

    specialization: dict[str, str]
    differences: tuple[Difference, ...]


class _UnreadableError(Exception):
    """The expression of a guard is none of the few forms that are evaluated here."""


def nearest(entries: Iterable[Any], local: Mapping[str, Any], backend: object) -> Prepared | None:
    """The graph that differs least from a call with these locals, the latest used of several; `None` without any."""
    found = [compared(entry, local, backend) for entry in entries]
    return min(found, key=lambda prepared: len(prepared.differences), default=None)


def compared(entry: Any, local: Mapping[str, Any], backend: object) -> Prepared:
    """What one entry of Dynamo's cache was prepared for, and every readable difference of a call with these locals."""
    manager = entry.guard_manager
    # An entry whose module was collected has lost its guards; it is no match for anything.
    parts = getattr(manager, "code_parts", None)
    if not parts:
        words = str(getattr(manager, "invalidation_reason", "")) or "it has no guards"
        return Prepared({}, (Difference("the compiled code", "as it is now", words),))
    scope = {"L": local, "G": (manager.global_scope or {}).get("G", {}), **(manager.closure_vars or {})}
    specialization: dict[str, str] = {}
    differences: dict[str, Difference] = {}
    for part in parts:
        for name, prepared, asked in _facts(part, scope):
            if name.isidentifier() and name in local:
                specialization.setdefault(name, prepared)
            if asked != prepared:
                differences.setdefault(name, Difference(name, asked, prepared))
    if not differences:
        differences = {found.argument: found for found in _in_dynamos_words(manager, local, scope)}
    was = getattr(entry, "backend", backend)
    if was != backend and not differences:
        names = [str(getattr(function, "compiler_name", None) or _function(function)) for function in (backend, was)]
        if names[0] == names[1]:
            names[0] += " (another object)"
        differences["backend"] = Difference("backend", *names)
    return Prepared(specialization, tuple(differences.values()))


def arguments(code: Any, local: Mapping[str, Any]) -> dict[str, str]:
    """The arguments of a frame, by name, in words: shapes and types of tensors, values of numbers and strings."""
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    names = [name for name in code.co_varnames[:count] if name in local]
    return {name: described(local[name]) for name in names if not name.startswith("__")}


def described(value: Any) -> str:
    """A short text for an argument. No `repr` of unknown cost is run for it."""
    import torch

    if isinstance(value, torch.Tensor):
        return _tensor(value.dtype, list(value.shape), None, str(value.device), value.requires_grad)
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, torch.dtype, torch.device)):
        text = repr(value)
        return text if len(text) <= _LIMIT else f"{text[: _LIMIT - 3]}..."
    if isinstance(value, (list, tuple, dict, set, frozenset)):
        return f"{type(value).__name__} of {len(value)}"
    return _function(value)


def _function(value: Any) -> str:
    name = getattr(value, "__qualname__", None)
    return name if isinstance(name, str) else f"a {type(value).__qualname__}"


def _tensor(dtype: object, size: list[Any], stride: list[Any] | None, device: str, grad: bool) -> str:
    text = f"{str(dtype).removeprefix('torch.')}[{_extents(size)}]"
    if stride is not None:
        text += f" with strides ({_extents(stride)})"
    return text + ("" if device == "cpu" else f" on {device}") + (", requires grad" if grad else "")


def _extents(extents: Iterable[int | None]) -> str:
    return ", ".join("any" if extent is None else str(extent) for extent in extents)


def _facts(part: str, scope: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Name, what was prepared and what is asked for now, for each fact that the text of a guard states."""
    if part.startswith(_STATE):
        yield from _global_state(part.removeprefix(_STATE))
        return
    try:
        if match := _CHECK_TENSOR.match(part):
            value = _value(ast.parse(match["source"], mode="eval").body, scope)
            yield _readable(match["source"]), *_tensor_facts(match, value)
            return
        if part.startswith("check_no_aliasing("):
            yield from _aliases(_COMMENT.sub("", part), scope)
            return
        tree = ast.parse(_COMMENT.sub("", part).strip(), mode="eval").body
        if not (isinstance(tree, ast.Compare) and len(tree.ops) == 1 and isinstance(tree.ops[0], ast.Eq)):
            return
        source = ast.unparse(tree.left)
        if not source.startswith(_PREFIXES):
            prepared = ast.literal_eval(tree.comparators[0])
            yield _readable(source), described(prepared), described(_value(tree.left, scope))
    except (SyntaxError, ValueError, _UnreadableError):
        return


def _tensor_facts(match: re.Match[str], value: Any) -> tuple[str, str]:
    import torch

    size, stride = ([None if n == "None" else int(n) for n in re.findall(r"\w+", match[g])] for g in ("size", "stride"))
    grad = match["grad"] == "True"
    # The first key of the set that is the name of a device; the guard does not say it otherwise.
    kinds = {name.lower() for name in re.findall(r"\w+", match["keys"])} & {"cpu", "cuda", "xpu", "mps", "meta", "hpu"}
    device = next(iter(kinds), "cpu") + ("" if match["index"] == "None" else f":{match['index']}")
    if not isinstance(value, torch.Tensor):
        return _tensor(match["dtype"], size, None, device, grad), described(value)
    shape, strides = list(value.shape), list(value.stride()) if value.layout is torch.strided else []
    if len(shape) == len(size):
        # What the guard leaves open is no difference.
        shape = [want if want is None else got for want, got in zip(size, shape, strict=True)]
    if len(strides) == len(stride):
        strides = [want if want is None else got for want, got in zip(stride, strides, strict=True)]
    now = (value.dtype, shape, None if shape != size or strides == stride else strides)
    was = (match["dtype"], size, None if now[2] is None else stride)
    return _tensor(*was, device, grad), _tensor(*now, str(value.device), value.requires_grad)


def _global_state(text: str) -> Iterator[tuple[str, str, str]]:
    """Grad mode, autocast, number of threads and the like, as they were and are."""
    from torch._C._dynamo.guards import GlobalStateGuard

    try:
        current: Any = GlobalStateGuard().__getstate__()
        was, now = json.loads(text), json.loads(current)
    except (AttributeError, TypeError, ValueError):
        return
    yield from _leaves("", was, now)


def _leaves(name: str, was: Any, now: Any) -> Iterator[tuple[str, str, str]]:
    if isinstance(was, dict) and isinstance(now, dict):
        for key in sorted(was.keys() & now.keys()):
            yield from _leaves(f"{name}.{key}".removeprefix("."), was[key], now[key])
    else:
        yield name, json.dumps(was), json.dumps(now)


def _aliases(text: str, scope: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Arguments that were different tensors when the graph was made, and are one now."""
    call = ast.parse(text, mode="eval").body
    if isinstance(call, ast.Call):
        known: dict[int, str] = {}
        for argument in call.args:
            name = _readable(ast.unparse(argument))
            first = known.setdefault(id(_value(argument, scope)), name)
            if first != name:
                yield f"{first}, {name}", "different tensors", "the same tensor"


def _in_dynamos_words(manager: Any, local: Mapping[str, Any], scope: Mapping[str, Any]) -> Iterator[Difference]:
    """The guard that fails according to Dynamo, for those that are not kept as text or state no equality."""
    failed = manager.check_verbose(local)
    if failed.result:
        return
    for words in failed.verbose_code_parts:
        text = _COMMENT.sub("", words).partition("  #")[0].strip()
        try:
            tree = ast.parse(text, mode="eval").body
            if not isinstance(tree, ast.Compare):
                raise _UnreadableError
            sides = [tree.left, *tree.comparators]
            holds = all(
                _ORDER[type(op)](_value(left, scope), _value(right, scope))
                for left, op, right in zip(sides, tree.ops, sides[1:], strict=False)
            )
            if not holds:
                unknown = [side for side in sides if not isinstance(side, ast.Constant)]
                name = ", ".join(_readable(ast.unparse(side)) for side in unknown)
                asked = ", ".join(described(_value(side, scope)) for side in unknown)
                yield Difference(name, asked, _readable(text))
        except (KeyError, SyntaxError, TypeError, ValueError, _UnreadableError):
            # One part is the reason itself; of several, only those that could be evaluated are known to fail.
            if len(failed.verbose_code_parts) == 1:
                yield Difference(_readable(text), "not so", "so")


_ORDER: dict[type[ast.cmpop], Any] = {
    ast.Eq: lambda left, right: left == right,
    ast.NotEq: lambda left, right: left != right,
    ast.Lt: lambda left, right: left < right,
    ast.LtE: lambda left, right: left <= right,
    ast.Gt: lambda left, right: left > right,
    ast.GtE: lambda left, right: left >= right,
    ast.Is: lambda left, right: left is right,
    ast.IsNot: lambda left, right: left is not right,
}


def _readable(source: str) -> str:
    """`L['self']._modules['lin'].weight` as it stands in the program: `self.lin.weight`."""
    return _LOCAL_OR_GLOBAL.sub(r"\2", _MODULE_TABLE.sub(r".\2", source))


def _value(node: ast.expr, scope: Mapping[str, Any]) -> Any:
    """The value of an expression made of names, attributes, constant subscripts, `len` and `size`; no other call."""
    try:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return scope[name]
            case ast.Attribute(value=inner, attr=name):
                return getattr(_value(inner, scope), name)
            case ast.Subscript(value=inner, slice=key):
                return _value(inner, scope)[_value(key, scope)]
            case ast.Call(func=ast.Name(id="len"), args=[inner]):
                return len(_value(inner, scope))
            case ast.Call(func=ast.Attribute(value=inner, attr="size" | "stride" as method), args=[]):
                return getattr(_value(inner, scope), method)()
    except _UnreadableError:
        raise
    except Exception as error:
        raise _UnreadableError from error
    raise _UnreadableError
