"""What can be wrong with a configuration, a class for each mistake."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lint_rules.findings import Place

__all__ = ["ConfigError", "ConfigSyntaxError", "UnknownKeyError", "UnreadableConfigError", "WrongValueError"]


class ConfigError(Exception):
    """The configuration cannot be used. `place` says where, as far as known; the message is one line."""

    def __init__(self, message: str, place: Place) -> None:
        super().__init__(f"{place}: {message}")
        self.message: str = message
        self.place: Place = place


class UnreadableConfigError(ConfigError):
    """The file is not there, or cannot be read."""


class ConfigSyntaxError(ConfigError):
    """The file is not TOML."""


class UnknownKeyError(ConfigError):
    """A key that means nothing here. Carries the key and those that are known."""

    def __init__(self, key: str, known: Iterable[str], place: Place, *, table: str) -> None:
        self.key: str = key
        self.known: tuple[str, ...] = tuple(known)
        near = difflib.get_close_matches(key, self.known, n=1, cutoff=0.5)
        advice = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(self.known)}"
        super().__init__(f"unknown key {key!r} in {table}; {advice}", place)


class WrongValueError(ConfigError):
    """A key with a value of the wrong type or form. Carries the key, the value and what is accepted."""

    def __init__(self, key: str, value: object, wanted: str, place: Place) -> None:
        self.key: str = key
        self.value: object = value
        self.wanted: str = wanted
        shown = repr(value)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        super().__init__(f"{key!r} must be {wanted}, not {shown}", place)
