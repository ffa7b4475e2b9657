"""The error codes of the plugin: `# type: ignore[ownership-drop]`, `disable_error_code` and their like know them."""

from __future__ import annotations

from mypy.errorcodes import ErrorCode

__all__ = ["CODES", "COPY", "DEFAULT", "DROP", "IDENTITY", "LEAK", "REBIND", "RETURN", "UNCHECKED", "UNMARKED"]

_CATEGORY = "Ownership"

#: A copy of a plan leaves a transferable field behind (OWN001).
DROP = ErrorCode("ownership-drop", "A copy of a plan leaves a transferable field behind", _CATEGORY)
#: A plan leaves the function without a carrier, on some path or on all (OWN001).
RETURN = ErrorCode("ownership-return", "A plan is returned without a carrier that its source has", _CATEGORY)
#: A whole plan is copied deeply, carriers included (OWN004).
COPY = ErrorCode("ownership-copy", "A plan is copied deeply, so that its carriers are other objects", _CATEGORY)
#: A carrier of a plan that the function was given is replaced in place.
REBIND = ErrorCode("ownership-rebind", "A carrier of a finished plan is replaced in place", _CATEGORY)
#: A carrier is made again instead of carried (OWN004).
IDENTITY = ErrorCode("ownership-identity", "A carrier is made again instead of carried", _CATEGORY)
#: A field of a plan has no kind (OWN002).
UNMARKED = ErrorCode("ownership-unmarked", "A field of a plan has no kind", _CATEGORY)
#: A transferable field has a default (OWN003).
DEFAULT = ErrorCode("ownership-default", "A transferable field has a default value", _CATEGORY)
#: A borrowed, ephemeral or stale derived field is carried over (OWN012).
LEAK = ErrorCode("ownership-leak", "A field that must not travel is carried over", _CATEGORY)
#: A function could not be looked at, so that its silence means nothing. No mistake of the code, so not one of `CODES`.
UNCHECKED = ErrorCode("ownership-unchecked", "A function could not be looked at", _CATEGORY)

#: The mistakes.
CODES = (DROP, RETURN, COPY, REBIND, IDENTITY, UNMARKED, DEFAULT, LEAK)
