"""The ledger of a session: what preparation keeps alive must be what the published plans can reach, no more, no less.

    ledger = Ledger("engine")
    fold = ledger.retain(compile_fold(), at="fold")          # where preparation compiles
    pack = ledger.retain(compile_pack(), at="pack")
    ledger.publish(materialize(prepared, rows))              # before anything is launched

A program that is retained and cannot be reached was lost on the way into the plan: the first call that needs it would
resolve it again. One that can be reached and is not retained dies with whoever happens to hold it. Both are errors when
the plan is published, all of them at once, and then nothing is published.

Where each plan has its own programs (a layer prepared for two capacities), give each its `section`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeVar, cast

from ownership import _published
from ownership._audit import Audit
from ownership._retained import Kept, Place, plan_class, programs
from ownership._survey import Survey, find
from ownership.errors import NotAPlanError
from ownership.ledger_errors import (
    NotACarrierError,
    NotPublishedError,
    PublishError,
    StillReachableError,
    program_name,
)
from ownership.plan import is_plan

__all__ = ["Ledger", "Publication", "publish"]

T = TypeVar("T")


class Publication(NamedTuple):
    """What was published, for a log. Holds names, and keeps no plan and no program alive."""

    #: The plan's class.
    plan: type
    #: The name of the ledger.
    ledger: str
    #: The paths to the carriers, in the order of the fields, and the names of the carriers there.
    paths: tuple[str, ...]
    programs: tuple[str, ...]

    def __str__(self) -> str:
        held = ", ".join(f"{path}={name}" for path, name in zip(self.paths, self.programs, strict=True))
        return f"{self.ledger}: {self.plan.__qualname__} published with {len(self.paths)} carriers ({held})"


class _Session:
    """What the sections of one ledger share."""

    __slots__ = ("index", "ledgers", "lock")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.ledgers: dict[str, Ledger] = {}
        #: By id; the programs themselves are in there, so no id is that of another object.
        self.index: dict[int, list[Kept]] = {}

    def known(self, value: object) -> bool:
        return id(value) in self.index


class Ledger:
    """What a session retains, and which published plans reach it.

    Any number of threads may use a ledger and its sections. A ledger keeps the programs it retains, and the plans it
    published, alive until they are withdrawn or released, or until the ledger itself goes.

    One ledger's account: everything retained in it must be reachable from the plans published in it. What they reach
    must be retained in it or in another section of the same session, so that plans may share programs.
    """

    __slots__ = ("__weakref__", "_groups", "_kept", "_name", "_plans", "_session")

    def __init__(self, name: str = "ledger") -> None:
        self._open(name, _Session())

    def _open(self, name: str, session: _Session) -> None:
        self._name = name
        self._session = session
        self._kept: dict[int, Kept] = {}
        self._groups: dict[Place, list[Kept]] = {}
        self._plans: dict[int, tuple[Survey, Publication]] = {}
        session.ledgers[name] = self

    @property
    def name(self) -> str:
        """The name, in messages; that of a section has the names of those around it before it."""
        return self._name

    @property
    def retained(self) -> tuple[object, ...]:
        """The programs that are kept alive here, in the order in which they were retained."""
        with self._session.lock:
            return tuple(kept.program for kept in self._kept.values())

    @property
    def pending(self) -> tuple[object, ...]:
        """Those of them that no published plan has yet where it should."""
        with self._session.lock:
            return tuple(kept.program for kept in self._kept.values() if not kept.settled())

    @property
    def published(self) -> tuple[Publication, ...]:
        """What is published here, in that order."""
        with self._session.lock:
            return tuple(publication for _, publication in self._plans.values())

    def section(self, name: str) -> Ledger:
        """The part of this ledger with that name, made if there is none: an account of its own for a plan or a few."""
        full = f"{self._name}/{name}"
        with self._session.lock:
            known = self._session.ledgers.get(full)
            if known is not None:
                return known
            made = Ledger.__new__(Ledger)
            made._open(full, self._session)
            return made

    def retain(self, program: T, /, *, at: str | None = None, plan: type | None = None) -> T:
        """Keep a program alive, and say where it is meant to be reachable; returns it.

        `at` is the path from the plan, as `carriers()` spells it (`"fold"`, `"launches[128]"`), or the beginning of
        one: `"launches"` is met by any place below it. `plan` is the class of the plan that owes it there; without, it
        is any plan of this ledger that has the field, and with it, plans of other classes owe nothing. Without a path,
        one of these plans must reach it somehow.

        A bundle (record, tuple, list, mapping) is retained carrier by carrier, each at its path below `at`. A program
        may be retained for several places, by one call for each.

        Raises:
            NotACarrierError: it is nothing that can be launched, compiles when it is launched, or has no carrier in it.
            InvalidPathError: `at` is no path, or the class `plan` has no such transferable field.
            NotAPlanError: `plan` is not a plan class.

        """
        self._keep([(program, at, "retain()")], plan)
        return program

    def retain_all(self, programs: Mapping[str, object] | Iterable[object], /, *, plan: type | None = None) -> None:
        """Retain many programs, all or none: a mapping from path to program, or programs without a path.

        Raises:
            NotACarrierError, InvalidPathError, NotAPlanError: as `retain` does.

        """
        pairs: list[tuple[object, str | None, str]]
        if isinstance(programs, Mapping):
            by_path = cast("Mapping[str, object]", programs)
            pairs = [(program, path, "retain_all()") for path, program in by_path.items()]
        elif isinstance(programs, Iterable):
            pairs = [(program, None, "retain_all()") for program in programs]
        else:
            problem = "which is no collection of programs; retain() takes one"
            raise NotACarrierError(given=programs, function="retain_all()", problem=problem)
        self._keep(pairs, plan)

    def publish(self, *plans: object) -> tuple[Publication, ...]:
        """Check that these plans reach what is retained for them and nothing else; returns what to log, one a plan.

        Nothing is published unless all of them can be. Plans that share an account, such as two capacities whose
        programs were retained under the same path, go into one call. Each plan must have, at every path registered for
        it, one of the programs registered there, and each program must be in one of the plans; `Dropped` gives a place
        up, and so does a `CarrierMap` whose domain leaves the key out.

        To publish a plan again is to check it again; nothing else changes.

        Raises:
            NotAPlanError: one is not an instance of a plan.
            PublishError: a group of all that is wrong. `UnreachableProgramError`: retained, and not where it should
                be. `UnretainedProgramError`: reachable, and not retained. `BareClosureError`: a function that captured
                a launchable. `ResolvingCarrierError`: what compiles when launched. `UndeclaredMapError`: a map of
                carriers that declares no domain.

        """
        if not plans:
            return ()
        # Plans are walked before the lock is taken: that may run code of the plan's classes.
        surveys = [_survey(plan, "publish()") for plan in {id(plan): plan for plan in plans}.values()]
        with self._session.lock:
            made = self._publish(surveys, strict=False)
        return tuple(made[id(plan)] for plan in plans)

    def verify(self) -> None:
        """Check everything that is published here once more, and that nothing retained still waits for its plan.

        For the moment before serving starts: what was retained for the class of a plan that was never published is
        found here, and so is a plan that was changed after it was published.

        Raises:
            PublishError: as `publish` does.

        """
        with self._session.lock:
            self._publish([Survey(survey.plan) for survey, _ in self._plans.values()], strict=True)

    def withdraw(self, *plans: object) -> tuple[object, ...]:
        """Take plans back, and let go of the programs that no other published plan of the session reaches.

        Returns the programs that were released. Programs that were never reached stay.

        Raises:
            NotPublishedError: one of them is not published here; then none is withdrawn.

        """
        with self._session.lock:
            for plan in plans:
                if id(plan) not in self._plans:
                    raise NotPublishedError(given=plan, ledger=self._name)
            released: dict[int, object] = {}
            for plan in {id(plan): plan for plan in plans}.values():
                survey, _ = self._plans.pop(id(plan))
                for kept in self._unlink(survey):
                    if kept.served and not kept.own and not kept.elsewhere:
                        kept.ledger._forget(kept)
                        released[id(kept.program)] = kept.program
            return tuple(program for key, program in released.items() if key not in self._session.index)

    def release(self, program: object, /) -> None:
        """Stop keeping a program alive that no published plan reaches.

        Raises:
            NotACarrierError: it is not retained here.
            StillReachableError: a published plan reaches it, and no other section retains it.

        """
        with self._session.lock:
            kept = self._kept.get(id(program))
            if kept is None:
                raise NotACarrierError(
                    given=program,
                    function=f"release() of the ledger {self._name}",
                    problem="which is not retained there; give it the same object that was retained",
                )
            if len(self._session.index[id(program)]) == 1:
                for survey, _ in (one for ledger in self._session.ledgers.values() for one in ledger._plans.values()):
                    for reached, path in survey.reached():
                        if reached is program:
                            raise StillReachableError(
                                program=program, plan=type(survey.plan), path=path, ledger=self._name
                            )
            self._forget(kept)

    def __repr__(self) -> str:
        with self._session.lock:
            return f"<Ledger {self._name}: {len(self._kept)} retained, {len(self._plans)} plans published>"

    # All but the first of the methods below are called with the lock held.

    def _keep(self, given: Iterable[tuple[object, str | None, str]], plan: type | None) -> None:
        owner = plan_class(plan)
        found = [(program, path) for value, at, call in given for program, path in programs(value, at, owner, call)]
        with self._session.lock:
            for program, path in found:
                kept = self._kept.get(id(program))
                if kept is None:
                    kept = self._kept[id(program)] = Kept(self, program)
                    self._session.index.setdefault(id(program), []).append(kept)
                if path is None and owner is None:
                    continue
                place = (owner, path or "")
                if place not in kept.found:
                    kept.found[place] = set()
                    self._groups.setdefault(place, []).append(kept)

    def _forget(self, kept: Kept) -> None:
        del self._kept[id(kept.program)]
        for place in kept.found:
            self._groups[place].remove(kept)
            if not self._groups[place]:
                del self._groups[place]
        sharing = self._session.index[id(kept.program)]
        sharing.remove(kept)
        if not sharing:
            del self._session.index[id(kept.program)]

    def _publish(self, surveys: list[Survey], *, strict: bool) -> dict[int, Publication]:
        audit = Audit(
            surveys,
            kept=self._kept.values(),
            groups=self._groups,
            old=[survey for survey, _ in self._plans.values()],
            known=self._session.known,
            ledger=self._name,
            strict=strict,
        )
        if audit.wrong:
            raise PublishError.of(audit.wrong, plans=[type(survey.plan) for survey in surveys], ledger=self._name)
        made = {id(survey.plan): self._publication(survey) for survey in surveys}
        # From here on nothing can fail.
        for survey in surveys:
            key = id(survey.plan)
            before = self._plans.get(key)
            if before is not None:
                self._unlink(before[0])
            self._plans[key] = (survey, made[key])
            self._link(survey)
        for kept, place, key in audit.found:
            kept.found[place].add(key)
        return made

    def _publication(self, survey: Survey) -> Publication:
        names = tuple(program_name(leaf.value) for leaf in survey.leaves)
        made = Publication(type(survey.plan), self._name, tuple(leaf.path for leaf in survey.leaves), names)
        before = self._plans.get(id(survey.plan))
        return before[1] if before is not None and before[1] == made else made

    def _link(self, survey: Survey) -> None:
        cls, key = type(survey.plan), id(survey.plan)
        for program, _ in survey.reached():
            for kept in self._session.index.get(id(program), ()):
                if kept.ledger is self:
                    kept.own.add(key)
                    kept.served = True
                else:
                    kept.elsewhere.add(key)
        for leaf in survey.leaves:
            _published.note(leaf.value, plan=cls, path=leaf.path, holder=survey.plan, find=find)

    def _unlink(self, survey: Survey) -> list[Kept]:
        cls, key = type(survey.plan), id(survey.plan)
        for leaf in survey.leaves:
            _published.retract(leaf.value, plan=cls, path=leaf.path, holder=survey.plan)
        touched: dict[int, Kept] = {}
        for program, _ in survey.reached():
            for kept in self._session.index.get(id(program), ()):
                touched[id(kept)] = kept
        for kept in touched.values():
            kept.own.discard(key)
            kept.elsewhere.discard(key)
            for plans in kept.found.values():
                plans.discard(key)
        return list(touched.values())


def publish(plan: object, /, *more: object, retained: Mapping[str, object] | Iterable[object] | Ledger) -> Publication:
    """Check one plan (or several that share their programs) against what is retained, without keeping a ledger.

    `retained` is a mapping from path to program, or a collection of programs, that the caller keeps alive; or a ledger,
    and then this is its `publish`. Returns what to log of the first plan.

    Raises:
        NotAPlanError, NotACarrierError, InvalidPathError, PublishError: as the methods of `Ledger` do.

    """
    if isinstance(retained, Ledger):
        return retained.publish(plan, *more)[0]
    ledger = Ledger("publish()")
    ledger.retain_all(retained)
    return ledger.publish(plan, *more)[0]


def _survey(plan: object, function: str) -> Survey:
    if not is_plan(plan):
        raise NotAPlanError(given=plan, wanted="an instance of a plan", function=function)
    return Survey(plan)
