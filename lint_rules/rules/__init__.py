"""The rules, by code."""

from __future__ import annotations

from importlib import import_module

from lint_rules.rules.base import Context, Rule

__all__ = ["Context", "Rule", "RuleLoadError", "UnknownRuleError", "all_rules", "get_rule", "load_rules"]

_MODULES = (
    "own001_dropped",
    "own002_unmarked",
    "own003_defaulted",
    "own004_rebuilt",
    "own005_positional",
    "own006_fallback",
    "own007_unlisted",
    "own008_unforwarded",
    "own009_incomplete_key",
    "own010_late_option",
    "own011_escapes",
    "own012_leaked",
    "own013_rebound",
)


class RuleLoadError(Exception):
    """A rule's module cannot be imported; `module` names it and `cause` says why."""

    def __init__(self, module: str, cause: BaseException) -> None:
        super().__init__(f"the rule {module} cannot be loaded: {type(cause).__name__}: {cause}")
        self.module = module
        self.cause = cause


class UnknownRuleError(LookupError):
    """No rule has this code; `known` are those that exist."""

    def __init__(self, code: str, known: tuple[str, ...]) -> None:
        super().__init__(f"there is no rule {code!r}; the rules are {', '.join(known)}")
        self.code = code
        self.known = known


def load_rules() -> tuple[tuple[Rule, ...], tuple[RuleLoadError, ...]]:
    """Every rule that can be loaded, by code, and an error for each that cannot."""
    found: list[Rule] = []
    failed: list[RuleLoadError] = []
    for name in _MODULES:
        module = f"{__name__}.{name}"
        try:
            found.append(import_module(module).RULE)
        except Exception as error:  # noqa: BLE001  whatever a module raises, the other rules go on
            failed.append(RuleLoadError(module, error))
    return tuple(found), tuple(failed)


def all_rules() -> tuple[Rule, ...]:
    """Every rule, by code. Raises `RuleLoadError`: a rule that is not there must not read as "clean"."""
    found, failed = load_rules()
    if failed:
        raise failed[0]
    return found


def get_rule(code: str) -> Rule:
    """The rule with a code, in either case. Raises `UnknownRuleError`."""
    rules = all_rules()
    for rule in rules:
        if rule.code == code.upper():
            return rule
    raise UnknownRuleError(code, tuple(rule.code for rule in rules))
