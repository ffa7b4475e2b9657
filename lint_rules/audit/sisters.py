"""Two functions of one family that construct a class, of which one leaves out what the other passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lint_rules.audit.model import Confidence, Suggestion, declaration_of, marks_of
from lint_rules.rules._wording import quoted
from lint_rules.rules.own001_dropped import sibling_finding

if TYPE_CHECKING:
    from lint_rules.agreement.siblings import Disagreement

__all__ = ["sibling_suggestion"]

#: Arguments that both have in common from which on a suggestion counts as sure.
_MANY = 4


def sibling_suggestion(found: Disagreement) -> Suggestion:
    """The suggestion for a construction that lacks what its sibling has."""
    cls = found.lacking.cls
    reason = (
        f"`{found.giving.function.qualname}` and `{found.lacking.function.qualname}` both take {quoted(found.shared)}"
        f" from `{found.source}`"
    )
    fields = [*found.field_names(found.shared), *found.field_names(found.names)]
    confidence: Confidence = "high" if len(found.shared) >= _MANY else "medium"
    return Suggestion(sibling_finding(found), reason, confidence, declaration_of(cls, fields), marks_of(cls, fields))
