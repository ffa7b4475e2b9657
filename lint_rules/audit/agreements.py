"""The rules of agreement on code without plans: the same findings, with a reason and a confidence each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lint_rules.agreement.ambient import is_cached, steers_nothing
from lint_rules.agreement.forwarding import unforwarded
from lint_rules.agreement.warmups import unequal_keys
from lint_rules.audit.model import Confidence, Suggestion
from lint_rules.rules import own008_unforwarded, own009_incomplete_key, own010_late_option
from lint_rules.rules._wording import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lint_rules.agreement.ambient import Ambient
    from lint_rules.agreement.scope import Agreement
    from lint_rules.index.model import FunctionInfo, ModuleInfo

__all__ = ["Agreements"]

#: First words of functions that work for something that was declared before.
_LATE = frozenset({"bind", "run", "launch", "replay", "materialize", "materialise"})

#: What a module has that works with something prepared: a name that speaks of plans, bindings or preparation.
_PLANS = re.compile(r"\b\w*(?:Plan|Binding|plan_|_plan|binding|prepared)\w*\b")


class Agreements:
    """Suggestions of OWN008, OWN009 and OWN010 for functions that are not about plans, which the check looks at."""

    def __init__(self, agreement: Agreement) -> None:
        self.agreement = agreement
        self._late: dict[tuple[str, int, str], tuple[FunctionInfo, Ambient]] = {}

    def in_function(self, info: FunctionInfo) -> Iterator[Suggestion]:
        """What one function says."""
        yield from self._forwarding(info)
        yield from self._keys(info)
        self._look_at_options(info)

    def in_module(self, module: ModuleInfo) -> Iterator[Suggestion]:
        """What only several functions of a module say together."""
        for unequal in unequal_keys(self.agreement, module.functions):
            finding = own009_incomplete_key.unequal_finding(unequal, _class_of(unequal.short.function))
            yield Suggestion(finding, "one of the two stores what the other one is to find", "medium")

    def _forwarding(self, info: FunctionInfo) -> Iterator[Suggestion]:
        lost = unforwarded(self.agreement.project, self.agreement.bodies, info)
        if lost is not None:
            nothing = "only checked" if lost.checked else "not read"
            verb = "is" if len(lost.names) == 1 else "are"
            reason = (
                f"{quoted(lost.names)} {verb} {nothing} in `{info.qualname}`, and the same call passes on"
                f" {quoted(lost.neighbours[:3])}"
            )
            confidence: Confidence = "low" if not lost.same_types else "medium" if lost.checked else "high"
            yield Suggestion(own008_unforwarded.finding(lost, _class_of(info)), reason, confidence)

    def _keys(self, info: FunctionInfo) -> Iterator[Suggestion]:
        possible = list(own009_incomplete_key.missing_values(self.agreement, info, sure=False))
        known = own009_incomplete_key.missing_values(self.agreement, info) if possible else ()
        sure = {store.node for store, _ in known}
        for store, missing in possible:
            finding = own009_incomplete_key.key_finding(store, missing, _class_of(info))
            reason = "the value is stored behind a look-up of the same key, for callers with other arguments"
            if store.node not in sure:
                reason += "; whether what is missing is a plain value cannot be told"
            yield Suggestion(finding, reason, "medium" if store.node in sure else "low")
        reads = own009_incomplete_key.cached_reads(self.agreement, info)
        if reads:
            first = reads[0]
            reason = f"{first.text} can change between two calls with the same arguments"
            finding = own009_incomplete_key.ambient_finding(info, reads, _class_of(info))
            yield Suggestion(finding, reason, "high" if first.kind == "option" else "medium")

    def _look_at_options(self, info: FunctionInfo) -> None:
        """Note each read once, for the function that is nearest to it."""
        if own010_late_option.first_word(info) not in _LATE or is_cached(info):
            return
        if not _PLANS.search(info.module.text):
            return  # a runner of tests or of processes: nothing was prepared that an option could contradict
        for read in self.agreement.ambient.of(info):
            if not steers_nothing(read.name):
                key = (read.function.module.path, read.node.lineno, read.name)
                known = self._late.get(key)
                if known is None or len(read.path) < len(known[1].path):
                    self._late[key] = info, read

    def late_options(self) -> Iterator[Suggestion]:
        """The options that functions read that work for something declared before; asked for at the end."""
        for info, read in self._late.values():
            reason = f"by its name, `{info.qualname}` works for something that was declared before"
            yield Suggestion(own010_late_option.finding(info, read, _class_of(info)), reason, "medium")


def _class_of(info: FunctionInfo) -> str:
    return info.owner.full_name if info.owner is not None else ""
