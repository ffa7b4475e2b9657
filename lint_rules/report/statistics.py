"""How many findings each rule has."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lint_rules.findings import Finding

__all__ = ["statistics_lines", "statistics_objects"]


def statistics_lines(findings: Iterable[Finding], names: Mapping[str, str]) -> list[str]:
    """A line for each code, the most frequent first: how often, its name, and how many can be mended with --fix."""
    rows = _rows(findings)
    width = len(str(rows[0][1])) if rows else 0
    long = max((len(names.get(code, "")) for code, *_ in rows), default=0)
    lines = []
    for code, number, mendable in rows:
        mend = f"{mendable} with --fix" if mendable else ""
        lines.append(f"{number:{width}}  {code}  {names.get(code, ''):{long}}  {mend}".rstrip())
    return lines


def statistics_objects(findings: Iterable[Finding], names: Mapping[str, str]) -> list[str]:
    """The same, a JSON object a line."""
    return [
        json.dumps({"code": code, "name": names.get(code, ""), "count": number, "fixable": mendable})
        for code, number, mendable in _rows(findings)
    ]


def _rows(findings: Iterable[Finding]) -> list[tuple[str, int, int]]:
    counts: Counter[str] = Counter()
    mendable: Counter[str] = Counter()
    for finding in findings:
        counts[finding.code] += 1
        mendable[finding.code] += any(fix.edits and fix.safety == "safe" for fix in finding.fixes)
    return [(code, counts[code], mendable[code]) for code in sorted(counts, key=lambda code: (-counts[code], code))]
