"""What a Triton program was specialized for, in words, and which prepared one comes nearest to it.

A text like `16 (i32, divisible by 16)` has the value of one call in front of what the program was compiled for; two
texts are compared without such values.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ownership.resolution._history import history
from ownership.resolution.events import Difference

__all__ = ["Prepared", "Request", "described", "is_compiled", "nearest", "option_words", "program_name", "replayed"]

_VALUE = re.compile(r"-?\d+ \((?P<words>.*)\)\Z", re.DOTALL)
_INTEGER = re.compile(r"[iu](?!1\Z)\d+\Z")
#: Launch options that are always shown; others only where they differ.
_SHOWN_OPTIONS = ("num_warps", "num_ctas", "num_stages")
#: Prepared programs that are compared with the one asked for, the latest first.
_COMPARED = 512
_DEVICE = "device"


class Request(NamedTuple):
    """A program that was asked for: the function, the device, the cache key, and its specialization."""

    function: Any
    device: Any
    key: str
    words: dict[str, str]
    options: dict[str, Any]


class Prepared(NamedTuple):
    """The prepared specialization that has the fewest differences."""

    words: dict[str, str]
    differences: tuple[Difference, ...]


def program_name(function: Any) -> str:
    """The qualified name of a kernel."""
    plain = getattr(function, "fn", function)
    return f"{plain.__module__}.{plain.__qualname__}"


def is_compiled(kernel: object) -> bool:
    """Whether it is a compiled kernel, not one that another thread is still compiling."""
    return type(kernel).__name__ == "CompiledKernel" and type(kernel).__module__.startswith("triton.")


def described(
    function: Any,
    signature: Mapping[str, Any],
    constants: Mapping[Any, Any],
    attributes: Mapping[Any, Any],
    values: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """Each argument in words; `values` are those of a call, by name."""
    words: dict[str, str] = {}
    for index, parameter in enumerate(function.params):
        name = parameter.name
        text = _argument(parameter, signature.get(name, "?"), (index,), constants, attributes)
        value = None if values is None else values.get(name)
        if type(value) is int and _INTEGER.match(str(signature.get(name))):
            text = f"{value} ({text})"
        words[name] = text
    return words


def _argument(
    parameter: Any, kind: Any, path: tuple[int, ...], constants: Mapping[Any, Any], attributes: Mapping[Any, Any]
) -> str:
    if isinstance(kind, (tuple, list)):
        parts = (_argument(parameter, part, (*path, i), constants, attributes) for i, part in enumerate(kind))
        return f"({'; '.join(parts)})"
    if kind == "constexpr":
        constant = constants.get(path, constants.get(parameter.name))
        return f"{'constexpr' if parameter.is_constexpr else 'constant'} {_constant(constant)}"
    found = {str(one[0]): one[1] for one in attributes.get(path, ()) if isinstance(one, (list, tuple)) and len(one) > 1}
    divisor = found.pop("tt.divisibility", None)
    by_alignment = not (parameter.do_not_specialize or parameter.do_not_specialize_on_alignment)
    text = str(kind)
    if text.startswith("*"):
        if divisor is not None:
            text += f", aligned to {divisor} bytes"
        elif by_alignment:
            text += ", not aligned to 16 bytes"
    elif divisor is not None:
        text += f", divisible by {divisor}"
    elif _INTEGER.match(text) and not parameter.do_not_specialize:
        text += ", neither 1 nor divisible by 16" if by_alignment else ", not 1"
    return text + "".join(f", {name}={value}" for name, value in found.items())


def _constant(value: object) -> str:
    if type(value).__name__ == "constexpr":
        value = getattr(value, "value", value)
    if type(value).__name__ == "JITFunction":
        return program_name(value)
    if isinstance(value, (bool, int, float, str, tuple, type(None))):
        text = repr(value)
    else:
        # The `repr` of a function or an object has its address, which would differ in the next process.
        name = getattr(value, "__qualname__", None)
        text = name if isinstance(name, str) else re.sub(r" at 0x[0-9a-f]+", "", str(value))
    return text if len(text) <= 100 else f"{text[:97]}..."


def option_words(options: Mapping[str, Any], *, more: Sequence[str] = ()) -> dict[str, str]:
    """The launch options that are shown."""
    return {name: str(options[name]) for name in (*_SHOWN_OPTIONS, *more) if name in options}


def nearest(request: Request) -> Prepared | None:
    """The nearest program that is ready in the kernel's own cache, or else that was resolved under the same name."""
    best: Prepared | None = None
    for device, key, kernel in itertools.islice(_cached(request.function), _COMPARED):
        found = _compared(request, device, key, kernel)
        if best is None or len(found.differences) < len(best.differences):
            best = found
    if best is not None:
        return best
    for resolution in history.prepared("triton", program_name(request.function)):
        if resolution.action != "compile":
            continue
        found = Prepared(dict(resolution.specialization), _differences(request.words, resolution.specialization))
        if best is None or len(found.differences) < len(best.differences):
            best = found
    return best


def _cached(function: Any) -> Iterator[tuple[Any, str, Any]]:
    for device, caches in list(function.device_caches.items()):
        for key, kernel in reversed(list(caches[0].items())):
            if is_compiled(kernel) and hasattr(kernel.src, "signature"):
                yield device, key, kernel


def _compared(request: Request, device: Any, key: str, kernel: Any) -> Prepared:
    from ownership.resolution.triton import sample

    source = kernel.src
    seen = sample(kernel)
    words = described(request.function, source.signature, source.constants, source.attrs, seen.values if seen else None)
    differences = list(_differences(request.words, words))
    options = seen.options if seen is not None else kernel.metadata._asdict()
    # A compiler pass may have changed the options of a finished program, so they count only if the keys say so.
    if _options_of(key) != _options_of(request.key):
        differences += [
            Difference(name, str(value), str(options[name]))
            for name, value in request.options.items()
            if name in options and _plain(options[name]) != _plain(value)
        ]
    if device != request.device:
        differences.append(Difference(_DEVICE, str(request.device), str(device)))
    names = [difference.argument for difference in differences]
    words |= option_words(options, more=[name for name in names if name not in words])
    if device != request.device:
        words[_DEVICE] = str(device)
    return Prepared(words, tuple(differences))


def _differences(asked: Mapping[str, str], prepared: Mapping[str, str]) -> tuple[Difference, ...]:
    return tuple(
        Difference(name, text, prepared.get(name, "(not there)"))
        for name, text in asked.items()
        if _without_value(text) != _without_value(prepared.get(name, ""))
    )


def _without_value(text: str) -> str:
    match = _VALUE.match(text)
    return match["words"] if match else text


def _options_of(key: str) -> str:
    return key[key.rfind("]{") + 1 :]


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(part) for part in value]
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def replayed(data: str, function: Any, device: Any) -> dict[str, str] | None:
    """What a manifest keeps of a program, or `None` where Triton could not put its constants into words."""
    if json.loads(data).get("unserializable"):
        return None
    plain = function.fn
    return {
        "resolver": "triton",
        "version": str(sys.modules["triton"].__version__),
        "target": str(function.device_caches[device][2]),
        "module": str(plain.__module__),
        "name": str(plain.__qualname__),
        "source": str(function.cache_key),
        "data": data,
    }
