"""Plans built the second way: the carriers in one value, the plan generic in it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

import pytest

import ownership
from ownership import (
    Absent,
    Dropped,
    DroppedFieldError,
    Fact,
    RebuiltFieldError,
    Transferable,
    carriers,
    materializer,
    plan,
    transfer,
)

C = TypeVar("C")


class Launcher: ...


@plan
@dataclass(frozen=True)
class Carriers:
    fold: Transferable[Launcher]
    pack: Transferable[Launcher | Absent]


@dataclass(frozen=True)
class PlainCarriers:
    fold: Launcher
    pack: Launcher


@plan
@dataclass(frozen=True)
class Plan(Generic[C]):
    rows: Fact[int]
    carriers: Transferable[C]


Bundle = Carriers | PlainCarriers


def unprepared(rows: int) -> Plan[None]:
    return Plan(rows=rows, carriers=None)


@pytest.fixture(params=[Carriers, PlainCarriers])
def prepared(request: pytest.FixtureRequest) -> Plan[Bundle]:
    return Plan(rows=8, carriers=request.param(Launcher(), Launcher()))


def materialized(source: Plan[Bundle], make: Callable[[Plan[Bundle]], object]) -> object:
    return materializer(make)(source)


def test_the_bundle_arrives_by_identity(prepared: Plan[Bundle]) -> None:
    assert materialized(prepared, lambda source: Plan(rows=9, carriers=source.carriers)) == replace(prepared, rows=9)
    assert transfer(prepared, into=unprepared(9)).carriers is prepared.carriers
    assert materialized(prepared, lambda source: transfer(source, into=unprepared(9))) == replace(prepared, rows=9)


def test_a_bundle_that_turns_into_none_is_a_drop(prepared: Plan[Bundle]) -> None:
    with pytest.raises(DroppedFieldError, match="which has None there"):
        materialized(prepared, lambda source: unprepared(9))


def test_an_equal_bundle_made_again_is_a_rebuild(prepared: Plan[Bundle]) -> None:
    with pytest.raises(RebuiltFieldError):
        materialized(prepared, lambda source: Plan(9, replace(source.carriers)))


def test_a_plan_that_was_never_prepared_has_nothing_to_lose(prepared: Plan[Bundle]) -> None:
    @materializer
    def grow(source: Plan[None]) -> Plan[None]:
        return unprepared(source.rows + 1)

    assert grow(unprepared(1)).rows == 2
    assert transfer(unprepared(1), into=prepared).carriers is prepared.carriers
    assert transfer(unprepared(1), into=unprepared(2)).carriers is None


def test_a_bundle_can_be_given_up(prepared: Plan[Bundle]) -> None:
    drop = Dropped("carriers", "to be compared with another declaration")
    assert transfer(prepared, into=unprepared(9), carriers=drop).carriers == drop


def test_carriers_of_a_bundle_have_their_paths(prepared: Plan[Bundle]) -> None:
    assert carriers(prepared) == {"carriers.fold": prepared.carriers.fold, "carriers.pack": prepared.carriers.pack}
    assert carriers(unprepared(1)) == {}


def test_a_bundle_is_a_source_of_its_own() -> None:
    bundle = Carriers(Launcher(), Launcher())

    @materializer
    def without_pack(source: Carriers) -> Plan[Carriers]:
        return Plan(1, Carriers(source.fold, Absent("forgotten")))

    with pytest.raises(DroppedFieldError) as caught:
        without_pack(bundle)
    assert caught.value.field == "pack"


PROGRAM = """
from __future__ import annotations
from dataclasses import dataclass, replace
from typing import Generic, TypeVar
from ownership import Absent, Fact, Transferable, carriers, materializer, plan, plan_fields, transfer

class Launcher: ...
C = TypeVar("C")

@plan
@dataclass(frozen=True)
class Carriers:
    fold: Transferable[Launcher]
    pack: Transferable[Launcher]

@plan
@dataclass(frozen=True)
class Plan(Generic[C]):
    rows: Fact[int]
    carriers: Transferable[C]

def plan_scratch(rows: int) -> Plan[None]:
    return Plan(rows=rows, carriers=None)

@materializer
def materialize(prepared: Plan[Carriers], rows: int) -> Plan[Carriers]:
    return Plan(rows=rows, carriers=prepared.carriers)

def run(plan: Plan[Carriers]) -> None: ...

done = Plan(rows=1, carriers=Carriers(fold=Launcher(), pack=Launcher()))
run(done)
run(materialize(done, rows=2))
run(transfer(done, into=done, rows=3))
run(replace(done, rows=4))
reveal_type(done.carriers.fold)  # note: Revealed type is "program.Launcher"
reveal_type(materialize)  # note: def (prepared: program.Plan[program.Carriers], rows: int) -> program.Plan
Carriers(fold=Launcher())  # error: Missing named argument "pack"
run(plan_scratch(1))  # error: incompatible type "Plan[None]"; expected "Plan[Carriers]"
run(replace(plan_scratch(1), rows=2))  # error: incompatible type "Plan[None]"; expected "Plan[Carriers]"
materialize(plan_scratch(1), 2)  # error: incompatible type "Plan[None]"; expected "Plan[Carriers]"
done.carriers.fold = Launcher()  # error: Property "fold" defined in "Carriers" is read-only
Plan(rows="1", carriers=None)  # error: incompatible type "str"; expected "int"
"""


def test_a_type_checker_without_a_plugin_rejects_what_is_unprepared_or_incomplete(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "mypy.ini").write_text(
        f"[mypy]\nstrict = True\nmypy_path = {Path(ownership.__file__).resolve().parent.parent}\n", encoding="utf-8"
    )
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", str(tmp_path / "cache"), "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.stderr == ""
    said: dict[int, str] = {}
    for line in done.stdout.splitlines():
        _, place, message = line.split(":", 2)
        said[int(place)] = said.get(int(place), "") + message
    wanted = {
        number: line.partition("  # ")[2].partition(": ")[2]
        for number, line in enumerate(PROGRAM.splitlines(), start=1)
        if "  # " in line
    }
    assert said.keys() == wanted.keys(), done.stdout
    for number, words in wanted.items():
        # mypy's versions differ in how they write an argument and qualify a builtin.
        plain = said[number].replace("builtins.", "").replace("Missing positional argument", "Missing named argument")
        assert words in plain, done.stdout
