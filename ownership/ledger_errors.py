"""What can go wrong with carriers, maps of them, and ledgers: one class a mistake, carrying the objects concerned."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ownership.errors import OwnershipError, class_name, shown

__all__ = [
    "BareClosureError",
    "IncompleteMapError",
    "InvalidAxisError",
    "InvalidPathError",
    "NotACarrierError",
    "NotPublishedError",
    "OutsideDomainError",
    "PublishError",
    "ResolvingCarrierError",
    "StillReachableError",
    "UndeclaredMapError",
    "UnreachableProgramError",
    "UnretainedProgramError",
]


def program_name(program: object) -> str:
    """How a message calls a program: its class and the name it gives itself, else what `shown` says."""
    name = None
    with suppress(Exception):
        name = getattr(program, "name", None)
    if type(name) is str and name and not isinstance(program, type):
        return f"{type(program).__qualname__} {name[:100]!r}"
    return shown(program)


class NotACarrierError(OwnershipError, TypeError):
    """Something that is no carrier was given as one."""

    def __init__(self, *, given: object, function: str, problem: str) -> None:
        self.given = given
        self.function = function
        super().__init__(f"{function} was given {shown(given)}, {problem}.")


class InvalidPathError(OwnershipError, ValueError):
    """A path at which a program is meant to be reachable cannot be one of the plan."""

    def __init__(self, *, path: object, problem: str, plan: type | None = None) -> None:
        self.path = path
        self.plan = plan
        where = "" if plan is None else f" of {class_name(plan)}"
        super().__init__(
            f"at={shown(path)}{where} {problem}. Write it as carriers() does: 'fold', 'mixer.gate', 'launches[128]'."
        )


class IncompleteMapError(OwnershipError, ValueError):
    """A map of carriers is not total over its declared domain, or has keys outside of it."""

    def __init__(
        self, *, axes: dict[str, tuple[Any, ...]], missing: Sequence[object], surplus: Sequence[object]
    ) -> None:
        self.axes = axes
        self.missing = tuple(missing)
        self.surplus = tuple(surplus)
        parts = []
        if missing:
            parts.append(f"has no carrier for {_listed(missing)}")
        if surplus:
            parts.append(f"has {_listed(surplus)}, which the domain does not")
        super().__init__(
            f"CarrierMap over {domain_text(axes)} {' and '.join(parts)}. Prepare what is missing, say Absent(reason) "
            "for a point that is given up, and declare every value of every axis."
        )


class InvalidAxisError(OwnershipError, ValueError):
    """An axis of a map of carriers is no list of distinct, hashable values, or there is no axis of that name."""

    def __init__(self, *, axis: str | None, problem: str) -> None:
        self.axis = axis
        where = "CarrierMap" if axis is None else f"CarrierMap axis {axis}"
        super().__init__(f"{where} {problem}.")


class OutsideDomainError(OwnershipError, KeyError):
    """A map of carriers was asked for a point outside its declared domain."""

    def __init__(self, *, key: object, axes: dict[str, tuple[Any, ...]], problem: str = "is not in") -> None:
        self.key = key
        self.axes = axes
        super().__init__(
            f"{key_text(key)} {problem} the domain {domain_text(axes)} of this CarrierMap. Nothing was prepared for "
            "it, and nothing is resolved here: prepare this point too, or send the call to a plan that has it."
        )

    def __str__(self) -> str:  # that of KeyError is the `repr` of the message
        return str(self.args[0])


def key_text(key: object) -> str:
    """The `repr` of a key of a map, on one line and of bounded length; keys may be anything."""
    text = None
    with suppress(Exception):
        text = repr(key)
    if type(text) is not str:
        return shown(key)
    text = " ".join(text.split())
    return text if len(text) <= 200 else f"{text[:197]}..."


def domain_text(axes: dict[str, tuple[Any, ...]]) -> str:
    """The axes of a domain and their values, for a message."""
    return ", ".join(f"{name}={key_text(values)}" for name, values in axes.items())


def _listed(keys: Sequence[object]) -> str:
    shown_keys = ", ".join(key_text(key) for key in keys[:20])
    return shown_keys if len(keys) <= 20 else f"{shown_keys} and {len(keys) - 20} more"


class PublishError(OwnershipError, ExceptionGroup[OwnershipError]):
    """What is reachable from a plan and what is retained differ; `exceptions` has each difference.

    Also catchable piece by piece: `except* UnreachableProgramError`. `plans` are the classes of the plans that were to
    be published; `ledger` is the name of the ledger.
    """

    plans: tuple[type, ...] = ()
    ledger: str = ""

    @classmethod
    def of(cls, differences: Sequence[OwnershipError], *, plans: Sequence[type], ledger: str) -> PublishError:
        """Make one of all the differences that were found."""
        names = ", ".join(dict.fromkeys(class_name(plan) for plan in plans))
        head = f"{names} cannot be published in" if plans else "there are programs without a plan in"
        count = "one problem" if len(differences) == 1 else f"{len(differences)} problems"
        text = " | ".join(str(one) for one in differences[:8])
        more = "" if len(differences) <= 8 else f" | and {len(differences) - 8} more in .exceptions."
        made = cls(f"{head} the ledger {ledger}, {count}: {text}{more}", differences)
        made.plans = tuple(plans)
        made.ledger = ledger
        return made

    def derive(self, excs: Sequence[Any], /) -> PublishError:  # type: ignore[override]
        """Make a part of this one, as `except*` and `split` need it."""
        made = PublishError(self.message, excs)
        made.plans = self.plans
        made.ledger = self.ledger
        return made

    def __str__(self) -> str:
        return self.message


class _PlaceError(OwnershipError):
    """A place in a plan is not as it must be to be published. `plan` is the plan's class."""

    def __init__(self, message: str, *, plan: type, path: str) -> None:
        self.plan = plan
        self.path = path
        super().__init__(message)


class UnreachableProgramError(_PlaceError):
    """A program is retained, and not reachable from the plan at the place where it should be."""

    def __init__(
        self, *, program: object, plan: type, path: str | None, found: str, ledger: str, standing: object = None
    ) -> None:
        self.program = program
        self.standing = standing
        self.found = found
        self.ledger = ledger
        name = program_name(program)
        want = "should be reachable" if path is None else f"should be reachable at {class_name(plan)}.{path}"
        advice = (
            "Carry it into the plan, and name its place when it is retained: retain(program, at='field')"
            if path is None
            else "Carry it into the plan (transfer() does), or give it up, with "
            f"{_root(path)}=Dropped({_root(path)!r}, reason), and release it"
        )
        super().__init__(
            f"{name} is retained by the ledger {ledger} and {want}, but {found}: the first call that "
            f"needs it would resolve it again. {advice}.",
            plan=plan,
            path=path or "",
        )


def _root(path: str) -> str:
    return path.partition(".")[0].partition("[")[0]


class UnretainedProgramError(_PlaceError):
    """A program is reachable from the plan, and nobody has undertaken to keep it alive."""

    def __init__(self, *, program: object, plan: type, path: str, ledger: str, hint: str = "") -> None:
        self.program = program
        self.ledger = ledger
        super().__init__(
            f"{program_name(program)} is reachable at {class_name(plan)}.{path} and not retained by the ledger "
            f"{ledger}: whoever compiles it must keep it alive, with retain(program, at={path!r}). {hint}"
            "If it is no program, its field is no carrier: mark it Fact[...] or Derived[...].",
            plan=plan,
            path=path,
        )


class StillReachableError(_PlaceError):
    """A program was to be released that a published plan can still reach."""

    def __init__(self, *, program: object, plan: type, path: str, ledger: str) -> None:
        self.program = program
        self.ledger = ledger
        super().__init__(
            f"release() of the ledger {ledger} was given {program_name(program)}, which the published "
            f"{class_name(plan)} reaches at {path}. Withdraw that plan first.",
            plan=plan,
            path=path,
        )


class BareClosureError(_PlaceError, TypeError):
    """A function stands where a carrier should, and hides a launchable among what it captured."""

    def __init__(self, *, function: object, captured: object, via: str, plan: type, path: str) -> None:
        self.function = function
        self.captured = captured
        self.via = via
        super().__init__(
            f"{class_name(plan)}.{path} is {shown(function)}, which captures {program_name(captured)} in its {via}: "
            "what a function captured can be neither seen, compared nor kept by name. Store the launcher itself, or an "
            "object of a class declared with @carrier that has __slots__ for what it holds and a __call__.",
            plan=plan,
            path=path,
        )


class ResolvingCarrierError(_PlaceError, TypeError):
    """What stands as a carrier compiles when it is launched: it is no program but the right to resolve one."""

    def __init__(self, *, program: object, plan: type, path: str) -> None:
        self.program = program
        super().__init__(
            f"{class_name(plan)}.{path} is {shown(program)}, which resolves a program at each new specialization; a "
            "prepared plan holds programs and never the right to resolve. Store what its warmup() returns.",
            plan=plan,
            path=path,
        )


class UndeclaredMapError(_PlaceError, TypeError):
    """A map of carriers does not say which keys it must have, so nobody can tell when one is missing."""

    def __init__(self, *, mapping: object, plan: type, path: str) -> None:
        self.mapping = mapping
        super().__init__(
            f"{class_name(plan)}.{path} is a {type(mapping).__qualname__}, a map of carriers without a declared "
            "domain: a lost entry could not be told from one that was never meant to be. Make it a "
            "CarrierMap(entries, capacity=(1, 8), ...), which is total over its axes.",
            plan=plan,
            path=path,
        )


class NotPublishedError(OwnershipError, LookupError):
    """A plan was to be withdrawn that is not published."""

    def __init__(self, *, given: object, ledger: str) -> None:
        self.given = given
        self.ledger = ledger
        super().__init__(
            f"withdraw() of the ledger {ledger} was given {shown(given)}, which is not published there. "
            "Give it the same plan object that was published, to the ledger that published it, once."
        )
