"""`@resolver`: put a function of your own under the freeze, whatever it compiles, tunes or looks up."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Mapping
from types import CoroutineType
from typing import Any, ParamSpec, TypeVar, cast, overload

from ownership.errors import class_name
from ownership.resolution._observe import Observation, observe
from ownership.resolution._process import process
from ownership.resolution._scopes import checked_text
from ownership.resolution.errors import NotResolvableError
from ownership.resolution.events import Difference

__all__ = ["resolver"]

A = ParamSpec("A")
R = TypeVar("R")

#: Earlier calls that are remembered for each function, to find the nearest.
_REMEMBERED = 512
_GONE = "(not there)"
_Pairs = tuple[tuple[str, str], ...]


@overload
def resolver(function: Callable[A, R], /) -> Callable[A, R]: ...
@overload
def resolver(
    *,
    name: str | None = None,
    program: str | Callable[..., str] | None = None,
    key: Callable[..., object] | None = None,
    is_prepared: Callable[..., bool] | None = None,
    owner: str | None = None,
) -> Callable[[Callable[A, R]], Callable[A, R]]: ...
def resolver(
    function: Callable[A, R] | None = None,
    /,
    *,
    name: str | None = None,
    program: str | Callable[..., str] | None = None,
    key: Callable[..., object] | None = None,
    is_prepared: Callable[..., bool] | None = None,
    owner: str | None = None,
) -> Callable[..., Any]:
    """Have each call of the function judged as a resolution, before it runs.

    Under a freeze a call raises `ResolutionFrozenError`, with the nearest of the earlier calls that returned. Works on
    functions, methods and coroutine functions. Hits of a cache are no resolutions: put this decorator below
    `functools.cache` or `lru_cache`, or above it while the cache is still empty, or say `is_prepared`.

    Args:
        function: what resolves.
        name: what the report calls the resolver (`"cute.compile"`); by default the function's qualified name.
        program: the name of the program resolved, or a function of the arguments that gives it; by default the
            function's qualified name.
        key: a function of the arguments that gives the specialization, a mapping or a single value; by default all
            arguments by name, without `self` and `cls`.
        is_prepared: a function of the arguments that says whether the result is there already; such a call is neither
            judged nor recorded.
        owner: whose resolutions these are, where the context (`owned_by`) does not say.

    Raises:
        NotResolvableError: at decoration, for a class, a generator, something that cannot be called, or a cache that
            has been used already.
        BlankReasonError: `name` or `owner` is blank.

    """
    for argument, value in (("name", name), ("owner", owner)):
        if value is not None:
            checked_text(value, function="resolver", argument=argument)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if isinstance(function, (staticmethod, classmethod)):
            return cast("Callable[..., Any]", type(function)(decorate(function.__func__)))
        parameters = getattr(function, "cache_parameters", None)
        if parameters is not None:
            if cast("Any", function).cache_info().currsize:
                raise NotResolvableError(given=function, problem="is a cache that has been used already")
            inside = decorate(cast("Any", function).__wrapped__)
            cached: Callable[..., Any] = functools.lru_cache(**parameters())(inside)
            return cached
        return _guarded(function, _Judge(function, name, program, key, owner), is_prepared)

    return decorate if function is None else decorate(function)


def _guarded(
    function: Callable[..., Any], judge: _Judge, is_prepared: Callable[..., bool] | None
) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def resolved_later(*args: Any, **kwargs: Any) -> Any:
            if is_prepared is not None and is_prepared(*args, **kwargs):
                return await function(*args, **kwargs)
            words = judge.words(args, kwargs)
            observation = judge.judged(words, args, kwargs)
            result = await function(*args, **kwargs)
            judge.done(observation, words)
            return result

        return resolved_later

    @functools.wraps(function)
    def resolved(*args: Any, **kwargs: Any) -> Any:
        if is_prepared is not None and is_prepared(*args, **kwargs):
            return function(*args, **kwargs)
        words = judge.words(args, kwargs)
        observation = judge.judged(words, args, kwargs)
        result = function(*args, **kwargs)
        if isinstance(result, CoroutineType):
            return judge.awaited(result, observation, words)
        judge.done(observation, words)
        return result

    return resolved


class _Judge:
    """One decorated function: how its calls are put into words, and those that returned."""

    def __init__(
        self,
        function: Callable[..., Any],
        name: str | None,
        program: str | Callable[..., str] | None,
        key: Callable[..., object] | None,
        owner: str | None,
    ) -> None:
        if isinstance(function, type) or not callable(function):
            raise NotResolvableError(given=function, problem="is not a function")
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise NotResolvableError(given=function, problem="is a generator: a call of it resolves nothing yet")
        own = f"{getattr(function, '__module__', '?')}.{getattr(function, '__qualname__', type(function).__qualname__)}"
        self._name = own if name is None else name
        self._program = own if program is None else program
        self._key = key
        self._owner = owner
        try:
            self._signature: inspect.Signature | None = inspect.signature(function)
        except (TypeError, ValueError):
            self._signature = None
        # Without a lock, which another thread might hold when this process is forked: each step is atomic.
        self._prepared: dict[_Pairs, None] = {}

    def words(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, str]:
        """What is asked for, taken before the function may change its arguments."""
        if self._key is not None:
            given = self._key(*args, **kwargs)
            return {str(k): words(v) for k, v in given.items()} if isinstance(given, Mapping) else {"key": words(given)}
        if self._signature is None:
            return {str(i): words(value) for i, value in enumerate(args)} | {k: words(v) for k, v in kwargs.items()}
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError:
            # The call will fail with a better message.
            return {}
        bound.apply_defaults()
        return {name: words(value) for name, value in bound.arguments.items() if name not in ("self", "cls")}

    def judged(self, asked: dict[str, str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Observation:
        program = self._program(*args, **kwargs) if callable(self._program) else self._program
        nearest: dict[str, str] | None = None
        if process.entries and (earlier := list(self._prepared)):
            pairs = tuple(asked.items())
            earlier.reverse()
            closest: _Pairs = min(earlier, key=lambda other: _distance(pairs, other))
            nearest = dict(closest)
        return observe(
            resolver=self._name,
            program=program,
            specialization=asked,
            owner=self._owner,
            nearest=nearest,
            differences=_differences(asked, nearest) if nearest is not None else (),
        )

    def done(self, observation: Observation, asked: dict[str, str]) -> None:
        self._prepared[tuple(asked.items())] = None
        if len(self._prepared) > _REMEMBERED:
            for oldest in list(self._prepared)[:-_REMEMBERED]:
                self._prepared.pop(oldest, None)
        observation.done()

    async def awaited(self, result: Any, observation: Observation, asked: dict[str, str]) -> Any:
        value = await result
        self.done(observation, asked)
        return value


def _distance(asked: _Pairs, prepared: _Pairs) -> int:
    """In how many arguments they differ; the arguments of one function come in one order."""
    differing: int = sum(map(operator.ne, asked, prepared))
    return differing + abs(len(asked) - len(prepared))


def _differences(asked: Mapping[str, str], prepared: Mapping[str, str]) -> tuple[Difference, ...]:
    return tuple(
        Difference(name, asked.get(name, _GONE), prepared.get(name, _GONE))
        for name in dict.fromkeys([*asked, *prepared])
        if asked.get(name) != prepared.get(name)
    )


def words(value: object) -> str:
    """A value in words that are the same in another process, and that cost no work on a tensor."""
    if isinstance(value, (bool, int, float, str, bytes, type(None))):
        text = repr(value)
    elif isinstance(value, (tuple, list)):
        text = f"({', '.join(words(part) for part in value[:32])}{', ...' if len(value) > 32 else ''})"
    elif isinstance(value, Mapping):
        text = f"{{{', '.join(f'{words(k)}: {words(v)}' for k, v in list(value.items())[:32])}}}"
    elif hasattr(value, "dtype") and hasattr(value, "shape"):
        tensor: Any = value
        text = f"{tensor.dtype}{list(tensor.shape)}"
    else:
        name = getattr(value, "__qualname__", None)
        if isinstance(name, str):
            text = f"{getattr(value, '__module__', '?')}.{name}"
        else:
            try:
                plain = str(value)
            except Exception:  # noqa: BLE001 - a key that cannot be printed is still a key
                plain = " at 0x"
            text = plain if " at 0x" not in plain else f"a {class_name(type(value))}"
    return text if len(text) <= 200 else f"{text[:197]}..."
