"""Parts of what was found: findings about some files, and findings about some of their fields."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from lint_rules.findings import Finding, Fix

__all__ = ["concerns", "part_of"]


def concerns(finding: Finding, names: Collection[str]) -> bool:
    """Whether the finding stands in one of these files, or is about something that one of them declares."""
    return finding.place.path in names or any(place.path in names for place in finding.declared_at)


def part_of(finding: Finding, fields: Collection[str], note: str = "") -> Finding:
    """The finding as far as it is about these fields, in their order; `note` says why the others are left out."""
    indices = [at for at, name in enumerate(finding.fields) if name in fields]
    kept = tuple(finding.fields[at] for at in indices)
    gone = {name for name in finding.fields if name not in kept}
    others = ", ".join(name for name in finding.fields if name in gone)
    gone |= {name.lstrip("_") for name in gone} - set(kept)  # attrs strips the underscores of keywords
    declared = finding.declared_at
    return replace(
        finding,
        fields=kept,
        message=f"{finding.message} ({note}: {others})" if note else finding.message,
        declared_at=tuple(declared[at] for at in indices) if len(declared) == len(finding.fields) else declared,
        fixes=tuple(_without(fix, gone) for fix in finding.fixes if not fix.edits or _without(fix, gone).edits),
    )


def _without(fix: Fix, keywords: set[str]) -> Fix:
    return replace(fix, edits=tuple(edit for edit in fix.edits if edit.keyword not in keywords))
