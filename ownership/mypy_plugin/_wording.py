"""The text of the messages: what is wrong, where the value was, what to do."""

from __future__ import annotations

from collections.abc import Sequence

from ownership.kinds import Kind

__all__ = [
    "aliased",
    "copied",
    "defaulted",
    "dropped",
    "kept",
    "leaked",
    "rebound",
    "rebuilt",
    "returned",
    "stale",
    "too_large",
    "unchecked",
    "unlisted",
    "unmarked",
]


def unmarked(plan: str, field: str, where: str) -> str:
    return (
        f'Field "{field}" of plan "{plan}"{where} has no kind; mark it Transferable[T], Fact[T], Derived[T], '
        "Borrowed[T] or Ephemeral[T], around the whole type"
    )


def aliased(plan: str, field: str, alias: str, kind: Kind) -> str:
    return (
        f'Field "{field}" of plan "{plan}" is marked through "{alias}", an alias that is not generic, which other '
        f"checkers see through; write {kind.alias}[...] in the annotation and let the alias name the type inside"
    )


def defaulted(plan: str, field: str, where: str) -> str:
    return (
        f'Field "{field}" of plan "{plan}"{where} is transferable and has a default, so a call that forgets it passes '
        "in silence; remove the default, and say Absent(reason) where there is nothing to carry"
    )


def dropped(plan: str, field: str, source: str, value: str, reason: str) -> str:
    origin = f' from "{source}"' if source else ""
    return (
        f'Transferable field "{field}" of plan "{plan}" is lost in this copy{origin}: {reason}; '
        f"{_carry(field, value)}, or give it up on purpose: {_drop(field)}"
    )


def returned(plan: str, field: str, source: str, value: str, reason: str) -> str:
    origin = f', which "{source}" has' if source else ""
    return (
        f'Plan "{plan}" leaves the function without its transferable field "{field}"{origin}: {reason}; '
        f"{_carry(field, value)} on every path, or give it up on purpose: {_drop(field)}"
    )


def rebuilt(plan: str, field: str, source: str, value: str, made: str) -> str:
    origin = f'"{source}"' if source else "its source"
    return (
        f'Transferable field "{field}" of plan "{plan}" is another object ({made}) than {origin} has; '
        f"a carrier is carried, not made again: {_carry(field, value)}"
    )


def copied(plan: str, source: str, fields: Sequence[str]) -> str:
    whole = f' "{source}"' if source else ""
    return (
        f'Deep copy of plan "{plan}"{whole} makes other objects of its carriers ({", ".join(fields)}); '
        "use replace() or transfer(), which share them"
    )


def rebound(plan: str, field: str, target: str) -> str:
    return (
        f'Transferable field "{field}" of a finished plan "{plan}" is set to another object, and what was prepared is '
        f"lost to all who share {target or 'the plan'}; make a new plan with replace() or transfer()"
    )


def stale(plan: str, field: str) -> str:
    return (
        f'The configuration declares field "{field}" of plan "{plan}", which has no such field; correct the declaration'
    )


def unchecked(name: str, problem: BaseException) -> str:
    text = f"{type(problem).__name__}: {problem}".removesuffix(": ").replace("\n", " ")
    return (
        f"carryall could not look at {name}, so nothing is known of its plans ({text}); the mistake is carryall's: "
        "please report it, and put `# type: ignore[ownership-unchecked]` here for now"
    )


def too_large(name: str, reason: str) -> str:
    return (
        f"carryall gave up on {name}, so nothing is known of its plans: {reason}; split it, or put "
        "`# type: ignore[ownership-unchecked]` here"
    )


def unlisted(plan: str, field: str, target: str, source: str) -> str:
    line = f"{target}.{field} = {source}.{field}" if target and source else f"the line for {field}"
    return f'Transferable field "{field}" of plan "{plan}" is missing from this list of copies; add {line}'


def leaked(plan: str, field: str, kind: Kind, source: str) -> str:
    origin = f' from "{source}"' if source else ""
    if kind is Kind.DERIVED:
        return (
            f'Derived field "{field}" of plan "{plan}" is carried over{origin} although a fact changes; '
            "compute it again from the new facts"
        )
    return f'{kind.alias} field "{field}" of plan "{plan}" is carried over{origin}; {_own(kind)}'


def kept(plan: str, field: str, kind: Kind, source: str) -> str:
    origin = f' of "{source}"' if source else ""
    return f'{kind.alias} field "{field}"{origin} is kept by this copy of plan "{plan}"; {_own(kind)}'


def _own(kind: Kind) -> str:
    if kind is Kind.BORROWED:
        return "it is the caller's storage for one call: take it as an argument"
    return "it belongs to one plan alone: give the new plan its own"


def _carry(field: str, value: str) -> str:
    return f"pass {field}={value}" if value else f"carry the prepared one: {field}=..."


def _drop(field: str) -> str:
    return f'{field}=Dropped("{field}", reason)'
