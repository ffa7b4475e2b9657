"""The comparison behind `publish()`: what the plans reach against what is retained for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ownership._launchables import Known
from ownership._retained import Kept, Place, owes
from ownership._survey import Standing, Survey
from ownership._walk import MISSING
from ownership.errors import OwnershipError
from ownership.ledger_errors import UnreachableProgramError, program_name

__all__ = ["Audit"]


class Audit:
    """One comparison: `wrong` is what differs, `found` tells which program is at which place of which plan (by id)."""

    def __init__(
        self,
        surveys: Sequence[Survey],
        *,
        kept: Iterable[Kept],
        groups: Mapping[Place, Sequence[Kept]],
        old: Iterable[Survey],
        known: Known,
        ledger: str,
        strict: bool,
    ) -> None:
        self.found: list[tuple[Kept, Place, int]] = []
        self.wrong: list[OwnershipError] = []
        self._ledger = ledger
        self._known = known
        self._surveys = surveys
        self._again = {id(survey.plan) for survey in surveys}
        self._old = [survey for survey in old if id(survey.plan) not in self._again]
        #: By program, the first paths at which the plans reach it.
        self._paths: dict[int, list[str]] = {}
        for survey in surveys:
            survey.open(known)
            for program, path in survey.reached():
                self._paths.setdefault(id(program), []).append(path)
            self.wrong.extend(survey.mistakes(known, ledger))
        self._check_places(groups)
        self._check_kept(kept, strict=strict)

    def _check_places(self, groups: Mapping[Place, Sequence[Kept]]) -> None:
        """Find the plans that have nothing of what they owe at a registered path."""
        for place, group in groups.items():
            members = {id(kept.program): kept for kept in group}
            for survey in self._surveys:
                if not owes(survey.plan, place):
                    continue
                standing = survey.standing(place[1])
                there = {id(value) for value in standing.carriers} & members.keys()
                self.found.extend((members[key], place, id(survey.plan)) for key in there)
                # Without a path, one of the plans of the class is to have it; with one, each is to have what is there.
                if not there and not standing.exempt and place[1]:
                    kept = next((kept for kept in group if not kept.found[place]), group[0])
                    self._complain(kept, type(survey.plan), place[1], standing)

    def _check_kept(self, all_kept: Iterable[Kept], *, strict: bool) -> None:
        """Find the programs that are in none of the plans, though each of these may have all that it owes."""
        named = {id(one.program) for one in self.wrong if isinstance(one, UnreachableProgramError)}
        at_place = {(id(kept), place) for kept, place, _ in self.found}
        for kept in all_kept:
            if id(kept.program) in named:
                continue
            if not kept.found:
                if not (kept.own - self._again or id(kept.program) in self._paths or self._in_old(kept, None)):
                    cls = type(self._surveys[0].plan) if self._surveys else object
                    self._complain(kept, cls, "", None)
                continue
            for place, plans in kept.found.items():
                if (id(kept), place) in at_place or plans - self._again or self._in_old(kept, place):
                    continue
                owing = next((survey for survey in self._surveys if owes(survey.plan, place)), None)
                if owing is not None:
                    self._complain(kept, type(owing.plan), place[1], owing.standing(place[1]))
                elif strict or place[0] is None:
                    self._complain(kept, place[0] or object, place[1], None)
                else:
                    continue  # a plan of that class is still to come
                break

    def _in_old(self, kept: Kept, place: Place | None) -> bool:
        """Whether a plan that was published before the program was retained has it all the same."""
        for survey in self._old:
            if place is not None and not owes(survey.plan, place):
                continue
            survey.open(self._known)
            held = survey.standing(place[1]).carriers if place else [program for program, _ in survey.reached()]
            if any(value is kept.program for value in held):
                return True
        return False

    def _complain(self, kept: Kept, plan: type, path: str, standing: Standing | None) -> None:
        if standing is not None:
            text, value = standing.text, standing.value
        else:
            text, value = "no published plan reaches it", None
        other = next((one for one in self._paths.get(id(kept.program), ()) if one != path), None)
        if other is not None:
            text = f"{text} (the program stands at {other} instead)"
        elif standing is not None and any(map(self._known, standing.carriers)):
            text = f"{text}, retained as well (plans that share a path are published in one call, or each in a section)"
        elif _looks_like(value, kept.program):
            text = f"{text}, another object of that name: it was built again"
        self.wrong.append(
            UnreachableProgramError(
                program=kept.program,
                plan=plan,
                path=path or None,
                found=text,
                ledger=self._ledger,
                standing=None if value is MISSING else value,
            )
        )


def _looks_like(one: object, other: object) -> bool:
    return one is not other and type(one) is type(other) and program_name(one) == program_name(other)
