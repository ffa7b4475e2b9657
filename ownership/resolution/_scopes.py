"""What holds for the code inside a `with`, in this context only: permits, owners and labels."""

from __future__ import annotations

from contextvars import ContextVar
from types import TracebackType

from ownership.resolution._process import process
from ownership.resolution.errors import BlankReasonError

__all__ = ["ContextScope", "LabelScope", "checked_text", "innermost", "owner_in_context", "permit_in_context"]

#: Innermost last.
Stack = ContextVar[tuple[str, ...]]

permit_in_context: Stack = ContextVar("ownership_permit", default=())
owner_in_context: Stack = ContextVar("ownership_owner", default=())


def innermost(variable: Stack) -> str | None:
    """What the innermost scope of this context says."""
    values = variable.get()
    return values[-1] if values else None


def checked_text(value: object, *, function: str, argument: str) -> str:
    """The value, if it is a string that says something.

    Raises:
        BlankReasonError: it is not.

    """
    if not isinstance(value, str) or not value.strip():
        raise BlankReasonError(given=value, function=function, argument=argument)
    return value


class ContextScope:
    """A context manager that says something to its context; one may be entered many times, in many threads at once."""

    def __init__(self, variable: Stack, value: str) -> None:
        self._variable = variable
        self._value = value

    def __enter__(self) -> None:
        self._variable.set((*self._variable.get(), self._value))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._variable.set(self._variable.get()[:-1])


class LabelScope:
    """A context manager that labels every resolution of the process, in whatever thread; the latest one counts."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._marks: list[object] = []

    def __enter__(self) -> None:
        mark = object()
        self._marks.append(mark)
        process.labels[mark] = self._text

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        process.labels.pop(self._marks.pop(), None)
