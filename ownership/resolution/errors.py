"""What can go wrong under a resolution freeze."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ownership.errors import OwnershipError, shown
from ownership.resolution.events import Action, Difference, FreezeInfo, Resolution

__all__ = [
    "BlankReasonError",
    "CannotWatchError",
    "ManifestError",
    "NotFreezableError",
    "NotResolvableError",
    "ResolutionFrozenError",
    "ResolutionWarning",
    "UnknownModeError",
]

_DONE = {"compile": "be compiled", "load": "be loaded for the first time", "resolve": "be resolved"}
_ADVICE = {
    "compile": "Prepare this specialization before the freeze (launch it once, or warm it up and load it) and carry "
    "the program in the plan",
    "load": "It is compiled but was never loaded: load it at preparation, by one launch or by kernel._init_handles()",
    "resolve": "Resolve it before the freeze and carry the result in the plan",
}
#: Differences shown in a message; the attribute has them all.
_SHOWN = 6


class ResolutionWarning(UserWarning):
    """A program was resolved under a freeze that only warns, or the freeze cannot see all that it should."""


class ResolutionFrozenError(OwnershipError, RuntimeError):
    """A program was about to be resolved while resolution is frozen.

    `specialization` gives each argument in words, `nearest` the prepared specialization with the fewest differences
    (`None` if there is none at all), `differences` in what they differ, `freezes` the guards that refused,
    `plan_field` the field of a published plan that carries a program of this kernel.
    """

    def __init__(
        self,
        *,
        program: str,
        resolver: str,
        action: Action,
        specialization: Mapping[str, str],
        nearest: Mapping[str, str] | None,
        differences: Iterable[Difference],
        freezes: Iterable[FreezeInfo],
        plan_field: str | None,
    ) -> None:
        self.program = program
        self.resolver = resolver
        self.action: Action = action
        self.specialization = dict(specialization)
        self.nearest = None if nearest is None else dict(nearest)
        self.differences = tuple(differences)
        self.freezes = tuple(freezes)
        self.plan_field = plan_field
        freeze = ", ".join(map(str, self.freezes))
        advice = _ADVICE[action]
        if plan_field is not None:
            advice += f"; it should have come from {plan_field}"
        super().__init__(
            f"{program} ({resolver}) was to {_DONE[action]} under the {freeze}. {self._compared()} "
            f"{advice}. permit(reason) allows it in spite of the freeze."
        )

    @classmethod
    def of(cls, resolution: Resolution) -> ResolutionFrozenError:
        """The error for a resolution that was refused; of one that was only warned of, the text of the warning."""
        strictest = "error" if resolution.verdict == "refused" else "warn"
        return cls(
            program=resolution.program,
            resolver=resolution.resolver,
            action=resolution.action,
            specialization=resolution.specialization,
            nearest=resolution.nearest,
            differences=resolution.differences,
            freezes=[freeze for freeze in resolution.freezes if freeze.mode == strictest],
            plan_field=resolution.plan_field,
        )

    def _compared(self) -> str:
        asked = ", ".join(f"{name}: {value}" for name, value in self.specialization.items()) or "no arguments"
        if self.action == "load":
            return f"Specialization: {asked}."
        if self.nearest is None:
            return f"Asked for: {asked}; nothing is prepared for it."
        if not self.differences:
            return (
                f"Asked for: {asked}; the same was resolved before, for another object: it was made or decorated "
                "again, or its cache was emptied."
            )
        text = "; ".join(map(str, self.differences[:_SHOWN]))
        more = len(self.differences) - _SHOWN
        return f"It differs from the nearest prepared one in {text}{f' and {more} more' if more > 0 else ''}."


class BlankReasonError(OwnershipError, ValueError):
    """A freeze, a permit, an owner or a label without words."""

    def __init__(self, *, given: object, function: str, argument: str) -> None:
        self.given = given
        self.function = function
        self.argument = argument
        super().__init__(
            f"{function}() was given {argument}={shown(given)}; wanted: a string with something in it. It is what the "
            "error and the report will show."
        )


class UnknownModeError(OwnershipError, ValueError):
    """A freeze was asked for in a mode that does not exist."""

    def __init__(self, *, given: object, modes: Iterable[str]) -> None:
        self.given = given
        self.modes = tuple(modes)
        super().__init__(f"freeze() was given mode={shown(given)}; wanted: one of {', '.join(self.modes)}.")


class NotFreezableError(OwnershipError, TypeError):
    """A freeze was used as a decorator on something whose run has no beginning and end that it could see."""

    def __init__(self, *, given: object, problem: str) -> None:
        self.given = given
        super().__init__(
            f"A freeze was put on {getattr(given, '__qualname__', None) or shown(given)}, which {problem}. "
            "Wanted: a function, method or coroutine function. Use `with freeze(reason):` around the code instead."
        )


class NotResolvableError(OwnershipError, TypeError):
    """`@resolver` was put on something that it cannot stand in front of."""

    def __init__(self, *, given: object, problem: str) -> None:
        self.given = given
        super().__init__(
            f"@resolver was given {getattr(given, '__qualname__', None) or shown(given)}, which {problem}. "
            "Wanted: the function, method or coroutine function that resolves."
        )


class CannotWatchError(OwnershipError, RuntimeError):
    """A library is there and the guard cannot see what it resolves."""

    def __init__(self, *, library: str, problem: str) -> None:
        self.library = library
        super().__init__(
            f"Resolution cannot be frozen: {library} {problem}. A freeze that does not see everything would be worse "
            "than none. Install a version that this one knows, or take the library out of the process."
        )


class ManifestError(OwnershipError, ValueError):
    """A file is not a manifest, or one that this version cannot read."""

    def __init__(self, *, path: str, problem: str) -> None:
        self.path = path
        super().__init__(f"{path} is not a manifest that can be replayed: {problem}. Save a new one after a warm-up.")
