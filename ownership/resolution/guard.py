"""`freeze`: from here on no program may be resolved; `permit`, `watch` and `owned_by` go with it.

All of it in one paragraph. A guard is in force from `freeze()` until it is lifted, in every thread of the process.
Adapters tell the guards what is about to be resolved; every guard that applies has its say and the strictest wins, so
guards can be entered and lifted in any order. Entering a mild one weakens nothing, and lifting one lifts no other.
What is resolved on purpose goes through `permit(reason)`, which holds for the context that asked and is reported.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import CoroutineType, TracebackType
from typing import Any, NoReturn, ParamSpec, Self, TypeVar, cast, get_args

from ownership.resolution._frames import place
from ownership.resolution._process import Entry, process
from ownership.resolution._scopes import ContextScope, LabelScope, checked_text, owner_in_context, permit_in_context
from ownership.resolution.errors import NotFreezableError, UnknownModeError
from ownership.resolution.events import FreezeInfo, Mode

__all__ = ["Freeze", "Watch", "freeze", "freezes", "labelled", "owned_by", "permit", "watch"]

A = ParamSpec("A")
R = TypeVar("R")


class Watch:
    """Something that is in force until it is lifted. Also a context manager, which lifts it at the end."""

    def __init__(self, info: FreezeInfo | None) -> None:
        self._info = info
        self._entry = Entry(info)
        self._entered = 0
        process.enter(self._entry)

    @property
    def in_force(self) -> bool:
        """Whether it holds now."""
        return self._entry in process.entries

    def lift(self) -> None:
        """End it. Once is enough, more does no harm, and no other guard is touched."""
        process.leave(self._entry)

    def __enter__(self) -> Any:
        # It is in force already, unless it was lifted in between.
        with process.lock:
            process.enter(self._entry)
            self._entered += 1
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        with process.lock:
            self._entered -= 1
            if self._entered <= 0:
                self.lift()

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} holds in its process and cannot be sent to another; freeze there too")


class Freeze(Watch):
    """A freeze, in force from its making until `lift()`; made by `freeze()`.

    With `with` it is lifted at the end of the block. Entered again, in the same or in another thread, it is lifted when
    the last block ends. As a decorator it freezes each call of the function instead.
    """

    _info: FreezeInfo

    def __init__(self, info: FreezeInfo) -> None:
        super().__init__(info)

    @property
    def info(self) -> FreezeInfo:
        """Reason, place, owner and mode."""
        return self._info

    def __enter__(self) -> Self:
        super().__enter__()
        return self

    def __call__(self, function: Callable[A, R], /) -> Callable[A, R]:
        """Freeze each call of the function, and nothing in between.

        The freeze that `freeze()` has put in force is lifted here, unless it is in use as a context manager: the
        process is not frozen once the decorator has been applied. Each call has a freeze of its own, so recursion and
        threads do not matter; with a coroutine function it lasts until that has returned, and, as always, holds for
        all threads and tasks meanwhile.

        Raises:
            NotFreezableError: it is a class, a generator, or cannot be called.

        """
        if isinstance(function, (staticmethod, classmethod)):
            return cast("Callable[A, R]", type(function)(self(function.__func__)))
        with process.lock:
            if self._entered <= 0:
                self.lift()
        if isinstance(function, type) or not callable(function):
            raise NotFreezableError(given=function, problem="is not a function")
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise NotFreezableError(given=function, problem="is a generator: it runs in pieces, when others want it to")
        info = self._info
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def frozen_later(*args: A.args, **kwargs: A.kwargs) -> Any:
                with Freeze(info):
                    return await cast("Any", function(*args, **kwargs))

            return cast("Callable[A, R]", frozen_later)

        @functools.wraps(function)
        def frozen(*args: A.args, **kwargs: A.kwargs) -> R:
            with Freeze(info):
                result = function(*args, **kwargs)
            if isinstance(result, CoroutineType):
                # A plain function may hand on the coroutine of another one, and so may a decorator.
                return cast("R", _frozen_while(info, result))
            return result

        return frozen

    def __repr__(self) -> str:
        return f"<{self._info}, {self._info.mode}, {'in force' if self.in_force else 'lifted'}>"


async def _frozen_while(info: FreezeInfo, coroutine: Any) -> Any:
    with Freeze(info):
        return await coroutine


def freeze(reason: str, *, owner: str | None = None, mode: Mode = "error") -> Freeze:
    """Freeze resolution: from now on no program may be compiled, loaded for the first time, or resolved otherwise.

    In force when the function returns, in all threads, until `lift()` or the end of a `with` block; `@freeze(reason)`
    freezes each call of a function. Usable as `initializer=freeze, initargs=(reason,)` of a process pool.

    Args:
        reason: what the error and the report will say.
        owner: freeze only what this owner resolves: the name given to `owned_by` or by a resolver, or else the package
            that the program is in (`owner="vllm"` covers `vllm.attention.kernel` where no other owner is named).
        mode: "error" raises, "warn" warns (`ResolutionWarning`), "record" reports only. Of several freezes, the
            strictest counts.

    Raises:
        BlankReasonError: `reason` or `owner` is blank.
        UnknownModeError: `mode` is none of the three.
        CannotWatchError: a library has been imported that this version cannot watch; nothing is frozen then.

    """
    checked_text(reason, function="freeze", argument="reason")
    if owner is not None:
        checked_text(owner, function="freeze", argument="owner")
    if mode not in get_args(Mode):
        raise UnknownModeError(given=mode, modes=get_args(Mode))
    return Freeze(FreezeInfo(reason=reason, place=place(), owner=owner, mode=mode))


def watch() -> Watch:
    """Record what is resolved and refuse nothing, until `lift()` or the end of a `with` block.

    Start it before the warm-up: the report and the manifest then have what was prepared, and errors can say with which
    values. It costs nothing per launch.

    Raises:
        CannotWatchError: a library has been imported that this version cannot watch.

    """
    return Watch(None)


def freezes() -> tuple[FreezeInfo, ...]:
    """The freezes in force, in the order in which they came."""
    return tuple(entry.info for entry in process.entries if entry.info is not None)


def permit(reason: str) -> ContextScope:
    """A context manager in which resolution goes through in spite of freezes, for this thread or task only.

    The report shows what was resolved that way, with the reason.

    Raises:
        BlankReasonError: `reason` is blank.

    """
    return ContextScope(permit_in_context, checked_text(reason, function="permit", argument="reason"))


def owned_by(owner: str) -> ContextScope:
    """A context manager in which what is resolved belongs to `owner`, for this thread or task only.

    New threads start without an owner: name it in the function that the thread runs.

    Raises:
        BlankReasonError: `owner` is blank.

    """
    return ContextScope(owner_in_context, checked_text(owner, function="owned_by", argument="owner"))


def labelled(text: str) -> LabelScope:
    """A context manager that labels what is resolved meanwhile, in all threads; the latest label counts.

    Raises:
        BlankReasonError: `text` is blank.

    """
    return LabelScope(checked_text(text, function="labelled", argument="text"))
