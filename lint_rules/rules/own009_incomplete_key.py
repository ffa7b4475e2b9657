"""A cache key lacks a fact that the cached program was built from.

The second caller, who differs in that fact alone, gets the program of the first: the right shape, the wrong bits. A key
has to be the record of facts that its factory receives, and what the factory reads beside its arguments belongs to it.

In functions that are about plans, and in what they call, the rule reports

* `cache[key] = build(...)` behind a look-up of the same key, where `build` is given a plain value that the key was not
  made from, or a whole plan of which it reads a fact that the key lacks;
* a function under `lru_cache` or `cache` that reads an option object or a global which a setter changes, or, if it has
  parameters, the environment, itself or through helpers: its arguments are the key;
* two places that make keys for one cache, one of which stores under fewer facts than the other looks up: a warm-up that
  is never found.

Not reported: what the key has in another form (`rows` where the key has `round_up(rows)`), tensors, streams and objects
of which the key has any part, what a condition around the store looks at, what is put right on the value that was
found, and caches that live no longer than the call.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from lint_rules.agreement.ambient import is_cached, steers_nothing
from lint_rules.agreement.keys import keyed_stores, missing_facts
from lint_rules.agreement.signatures import own_parameters
from lint_rules.agreement.values import is_value, is_value_default
from lint_rules.agreement.warmups import unequal_keys
from lint_rules.findings import Edit, Finding, Fix, Place
from lint_rules.rules._wording import listed, quoted
from lint_rules.rules.base import Context, Rule
from lint_rules.usage.views import text_of, text_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.agreement.ambient import Ambient
    from lint_rules.agreement.keys import KeyedStore, Missing
    from lint_rules.agreement.scope import Agreement
    from lint_rules.agreement.warmups import UnequalKeys
    from lint_rules.index.model import FunctionInfo

__all__ = ["RULE", "ambient_finding", "cached_reads", "key_finding", "missing_values", "unequal_finding"]

CODE = "OWN009"

#: Kinds of fields that are no facts, so that a key has nothing to say of them.
_NO_FACTS = frozenset({"Transferable", "Derived", "Borrowed", "Ephemeral"})


def run(context: Context) -> Iterator[Finding]:
    agreement = context.agreement()
    names: dict[FunctionInfo, str] = {}
    for function in agreement.functions():
        for info in agreement.look(function.info, agreement.reached, function):
            names.setdefault(info, function.plan.cls.full_name)
    for info, class_name in names.items():
        yield from agreement.look(info, _findings, agreement, info, class_name)
    for unequal in unequal_keys(agreement, names):
        yield unequal_finding(unequal, names[unequal.short.function])


def _findings(agreement: Agreement, info: FunctionInfo, class_name: str) -> Iterator[Finding]:
    for store, missing in missing_values(agreement, info):
        owner = next((each.owner.full_name for each in missing if each.owner is not None), class_name)
        yield key_finding(store, missing, owner)
    reads = cached_reads(agreement, info)
    if reads:
        yield ambient_finding(info, reads, class_name)


def missing_values(
    agreement: Agreement, info: FunctionInfo, *, sure: bool = True
) -> Iterator[tuple[KeyedStore, list[Missing]]]:
    """The stores of a function whose key lacks facts; unless `sure`, parameters of unknown type count too."""
    for store in keyed_stores(info, agreement.bodies.of(info)):
        missing = [
            each
            for each in missing_facts(agreement.project, agreement.bodies, store)
            if _is_fact(agreement, info, each, sure=sure)
        ]
        if missing:
            yield store, missing


def _is_fact(agreement: Agreement, info: FunctionInfo, missing: Missing, *, sure: bool) -> bool:
    if missing.owner is not None:
        plan = agreement.plans.of(missing.owner)
        field = agreement.project.fields(missing.owner).get(missing.name)
        if plan is not None:
            return plan.kind(missing.name) not in _NO_FACTS
        owner = agreement.project.field_owner(missing.owner, missing.name) or missing.owner
        return field is not None and is_value(agreement.project, owner.module, field.annotation)
    if "." in missing.expression:
        return not sure
    if missing.parameter.annotation is None:
        return not sure or is_value_default(info.node, missing.name)
    return is_value(agreement.project, info.module, missing.parameter.annotation)


def cached_reads(agreement: Agreement, info: FunctionInfo) -> list[Ambient]:
    """What a cached function reads beside its arguments. One without any reads the environment once, on purpose."""
    if not is_cached(info):
        return []
    has_key = bool(own_parameters(info.node, skip_first=False)) or info.node.args.vararg is not None
    reads = [
        each
        for each in agreement.ambient.of(info)
        if each.kind != "environment" or (has_key and not steers_nothing(each.name))
    ]
    return list({each.name: each for each in reversed(reads)}.values())[::-1]


def key_finding(store: KeyedStore, missing: list[Missing], class_name: str) -> Finding:
    """The finding for one store; `class_name` is the class that it is reported for."""
    info = store.function
    names = tuple(each.name for each in missing)
    places = tuple(_declared(info, each) for each in missing)
    readers = list(dict.fromkeys(each.reader.qualname for each in missing if each.reader is not None))
    by = f"{quoted(readers)} {'reads' if len(readers) == 1 else 'read'}" if readers else "what is stored is made from"
    lacks = quoted([each.expression for each in missing])
    where = ", ".join(dict.fromkeys(map(str, places)))
    them = "it" if len(names) == 1 else "them"
    message = (
        f"the key `{ast.unparse(store.key)}` of `{ast.unparse(store.cache)}` lacks {lacks} (declared at {where}), which"
        f" {by}: `{info.qualname}` serves the first value to every caller that differs in {them} alone."
        f" Add {lacks} to the key."
    )
    return Finding(CODE, info.module.place(store.node), class_name, names, message, places, (_key_fix(store, missing),))


def _declared(info: FunctionInfo, missing: Missing) -> Place:
    field = missing.owner.fields.get(missing.name) if missing.owner is not None else None
    if field is not None:
        return field.place
    return Place(info.module.path, missing.parameter.lineno, missing.parameter.col_offset + 1)


def _key_fix(store: KeyedStore, missing: list[Missing]) -> Fix:
    more = ", ".join(each.expression for each in missing)
    last = store.key.elts[-1] if isinstance(store.key, ast.Tuple) else None
    module = store.function.module
    text = text_of(module, last) if last is not None else ""
    if last is None or not text:
        return Fix(f"add to the key: {more}", "display")
    edit = Edit(text_place(module, last), "", f"{text}, {more}", old=text)
    return Fix(f"add to the key: {more}", "unsafe", (edit,))


def ambient_finding(info: FunctionInfo, reads: list[Ambient], class_name: str) -> Finding:
    """The finding for a cached function that reads what is no argument."""
    first = reads[0]
    what = listed([each.text for each in reads])
    via = f" in `{first.function.qualname}`" if first.function is not info else ""
    one = len(reads) == 1
    them, argument = ("it", "an argument") if one else ("them", "arguments")
    place = Place(first.function.module.path, first.node.lineno, first.node.col_offset + 1)
    message = (
        f"`{info.qualname}` is cached by its arguments, but reads {what}{via} ({place}): after a change of {them},"
        f" callers still get what was made before. Pass {them} as {argument}, so that the key has {them}."
    )
    fix = Fix(f"pass {them} as {argument}", "display")
    site = info.module.place(first.site)
    return Finding(CODE, site, class_name, tuple(each.name for each in reads), message, (place,), (fix,))


def unequal_finding(unequal: UnequalKeys, class_name: str) -> Finding:
    """The finding for a key that another place's key is longer than."""
    short, long = unequal.short, unequal.long
    there = long.function.module.place(long.node)
    does, finds = ("stores", "looks up") if short.stores else ("looks up", "stores")
    message = (
        f"`{short.function.qualname}` {does} `{short.cache}` under `{ast.unparse(short.key)}`, while"
        f" `{long.function.qualname}` {finds} `{ast.unparse(long.key)}` ({there}): the key lacks"
        f" {quoted(unequal.missing)}, so one never finds what the other stores. Make both keys in one function."
    )
    fix = Fix("make both keys in one function", "display")
    place = short.function.module.place(short.node)
    return Finding(CODE, place, class_name, unequal.missing, message, (there,), (fix,))


_HEAD = """\
from dataclasses import dataclass
from functools import lru_cache

from ownership import Absent, Fact, Transferable, plan


class Kernel:
    def __init__(self, source: str) -> None:
        self.source = source


@plan
@dataclass(frozen=True)
class BandPlan:
    heads: Fact[int]
    band: Fact[int]
    softcap: Fact[float]
    attend: Transferable[Kernel | Absent]


def build(declared: BandPlan) -> Kernel:
    return Kernel(f"attend {declared.heads} {declared.band} cap={declared.softcap}")


KERNELS: dict[tuple[float, ...], Kernel] = {}
"""

RULE = Rule(
    code=CODE,
    name="incomplete-key",
    summary="a cache key lacks a fact that the cached value was built from",
    explanation=__doc__ or "",
    bad=(
        _HEAD
        + """

def kernel(declared: BandPlan) -> Kernel:
    key = (declared.heads, declared.band)
    if key not in KERNELS:
        KERNELS[key] = build(declared)
    return KERNELS[key]
""",
        _HEAD
        + """

@dataclass
class Options:
    unroll: int = 1


options = Options()


def configure(unroll: int) -> None:
    options.unroll = unroll


@lru_cache(maxsize=None)
def source(heads: int) -> str:
    return f"loop {heads} unroll {options.unroll}"


def attend(declared: BandPlan) -> str:
    return source(declared.heads)
""",
        _HEAD
        + """

def warm_up(declared: BandPlan) -> None:
    KERNELS[declared.heads, declared.band] = build(declared)


def find(declared: BandPlan) -> Kernel:
    return KERNELS[declared.heads, declared.band, declared.softcap]
""",
    ),
    good=(
        _HEAD
        + """

def kernel(declared: BandPlan) -> Kernel:
    key = (declared.heads, declared.band, declared.softcap)
    if key not in KERNELS:
        KERNELS[key] = build(declared)
    return KERNELS[key]
""",
        _HEAD
        + """

@lru_cache(maxsize=None)
def source(heads: int, unroll: int) -> str:
    return f"loop {heads} unroll {unroll}"


def attend(declared: BandPlan, unroll: int) -> str:
    return source(declared.heads, unroll)
""",
    ),
    fix="Unsafe: what the key lacks is added behind its last entry. Other places that make the key are not changed.",
    run=run,
)
