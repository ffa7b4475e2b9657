"""What a rule reports: findings, the fixes they offer, and problems that kept the checker from its job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Edit", "Finding", "Fix", "Place", "Problem", "Safety"]

Safety = Literal["safe", "unsafe", "display"]


@dataclass(frozen=True, order=True, slots=True)
class Place:
    """A position in a source file.

    `path` is posix, relative to the project root; `line` counts from 1 and `column`, in characters, from 1.
    """

    path: str
    line: int
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a fix: give the call that starts at `place` the keyword argument `keyword=expression`.

    With `statement`, the change is another one: `expression` is a statement for the field `keyword`, to stand on a
    line of its own behind the statement that starts at `place`.

    With `old`, the text `old` that stands at `place` is replaced by `expression`; where another text stands there, the
    edit is inapplicable.

    `expression` is the source text of the value, valid where the call stands. An edit whose call cannot take the
    keyword (it is there already, or the position is no call) makes the whole fix inapplicable.

    `callee` is the last part of the called name. It tells calls apart that start at one place, as the two of
    `replace(plan, a=a).bind(x)` do; without it such an edit is applied only where the choice is plain.
    """

    place: Place
    keyword: str
    expression: str
    callee: str = ""
    statement: bool = False
    old: str = ""


@dataclass(frozen=True, slots=True)
class Fix:
    """A way to mend a finding.

    `safe`: the meaning is what the finding asks for, nothing else changes. `unsafe`: plausible, to be read by a
    person. `display`: advice without an edit that can be applied by a machine; `edits` is then empty.
    """

    title: str
    safety: Safety
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule at one place.

    `class_name` is the full dotted name of the plan class, or of the function for a rule about functions. `fields`
    are the names concerned, in the order of their declaration, and `declared_at` says where each of them is
    declared, in the same order. `message` is one sentence or two, without a line break.
    """

    code: str
    place: Place
    class_name: str
    fields: tuple[str, ...]
    message: str
    declared_at: tuple[Place, ...] = ()
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """Why some part of the job could not be done: one line, and where, as far as it is known.

    A run with a problem never counts as clean: its exit status is 2.
    """

    message: str
    place: Place | None = None

    def __str__(self) -> str:
        return self.message if self.place is None else f"{self.place}: {self.message}"
