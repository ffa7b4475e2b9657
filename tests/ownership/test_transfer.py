from __future__ import annotations

import pickle
from dataclasses import InitVar, dataclass, field, replace
from typing import Any, NamedTuple

import attrs
import pytest

from ownership import (
    Absent,
    Borrowed,
    Derived,
    Dropped,
    DroppedFieldError,
    Ephemeral,
    Fact,
    KindChangedError,
    LeakedFieldError,
    MisnamedDropError,
    MissingInitVarError,
    MissingSourceFieldError,
    NotAPlanError,
    RebuiltFieldError,
    Transferable,
    UnknownFieldError,
    materializer,
    plan,
    transfer,
)


class Launcher: ...


FRESH = Absent("fresh")


@plan
@dataclass(frozen=True, slots=True)
class Plan:
    rows: Fact[int]
    fold: Transferable[Launcher | Absent]
    pack: Transferable[Launcher | Absent]
    tiles: Derived[int] = field(init=False)
    seen: Ephemeral[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tiles", self.rows // 4)


def prepared(**changes: Any) -> Plan:
    return Plan(**{"rows": 8, "fold": Launcher(), "pack": Launcher(), "seen": [1], **changes})


def fresh(rows: int = 16) -> Plan:
    return Plan(rows, FRESH, FRESH)


def test_every_carrier_arrives_as_the_same_object() -> None:
    source = prepared()
    moved = transfer(source, into=fresh())
    assert type(moved) is Plan
    assert moved.fold is source.fold
    assert moved.pack is source.pack


def test_all_else_is_the_targets() -> None:
    source, into = prepared(), fresh()
    moved = transfer(source, into=into)
    assert (moved.rows, moved.tiles) == (16, 4)
    assert moved.seen is into.seen


def test_neither_argument_is_changed() -> None:
    source, into = prepared(), fresh()
    before = pickle.dumps(into)
    assert transfer(source, into=into) is not into
    assert pickle.dumps(into) == before
    assert into.fold is FRESH


def test_facts_override_and_derived_fields_follow_them() -> None:
    moved = transfer(prepared(), into=fresh(), rows=40, seen=[7])
    assert (moved.rows, moved.tiles, moved.seen) == (40, 10, [7])


def test_a_carrier_can_be_given_up_with_a_reason() -> None:
    drop = Dropped("pack", "one row is never packed")
    assert transfer(prepared(), into=fresh(), pack=drop).pack is drop


def test_an_absent_given_for_a_carrier_is_recorded_as_a_drop() -> None:
    assert transfer(prepared(), into=fresh(), pack=Absent("one row")).pack == Dropped("pack", "one row")


def test_a_drop_must_name_its_field() -> None:
    with pytest.raises(MisnamedDropError, match=r"Dropped\('pack', reason\)"):
        transfer(prepared(), into=fresh(), pack=Dropped("fold", "one row"))


def test_the_very_object_may_be_named() -> None:
    source = prepared()
    assert transfer(source, into=fresh(), pack=source.pack).pack is source.pack


@pytest.mark.parametrize("given", [Launcher(), None], ids=repr)
def test_another_object_for_a_carrier_is_refused(given: object) -> None:
    source = prepared()
    with pytest.raises(RebuiltFieldError) as caught:
        transfer(source, into=fresh(), pack=given)
    assert (caught.value.field, caught.value.value, caught.value.found) == ("pack", source.pack, given)


def test_a_reason_for_absence_travels() -> None:
    why = Absent("sm_80 has no such kernel")
    assert transfer(prepared(pack=why), into=fresh()).pack is why


def test_a_carrier_of_the_target_is_not_lost_to_a_source_without_one() -> None:
    into = prepared()
    assert transfer(prepared(pack=Absent("not here")), into=into).pack is into.pack


def test_a_carrier_that_the_source_lacks_may_be_supplied() -> None:
    late = Launcher()
    assert transfer(prepared(pack=FRESH), into=fresh(), pack=late).pack is late


def test_a_keyword_that_is_no_field_is_refused() -> None:
    with pytest.raises(UnknownFieldError, match="rows, fold, pack, tiles, seen") as caught:
        transfer(prepared(), into=fresh(), pakc=1)
    assert (caught.value.name, caught.value.target) == ("pakc", Plan)


@pytest.mark.parametrize("given", [Launcher(), Plan, None], ids=repr)
def test_only_instances_of_plans_are_taken(given: Any) -> None:
    with pytest.raises(NotAPlanError, match="`source`"):
        transfer(given, into=fresh())
    with pytest.raises(NotAPlanError, match="`into`"):
        transfer(prepared(), into=given)


@plan
@dataclass(frozen=True)
class Binding:
    fold: Transferable[Launcher | Absent]
    scratch: Borrowed[bytearray]
    seen: Ephemeral[list[int]]


def binding() -> Binding:
    return Binding(FRESH, bytearray(4), [])


def test_a_field_that_the_target_lacks_is_a_drop_unless_given_up() -> None:
    source = prepared()
    with pytest.raises(DroppedFieldError, match="no such field") as caught:
        transfer(source, into=binding())
    assert (caught.value.field, caught.value.source, caught.value.target) == ("pack", Plan, Binding)
    moved = transfer(source, into=binding(), pack=Dropped("pack", "bound for one row"))
    assert moved.fold is source.fold
    assert not hasattr(moved, "pack")


def test_a_field_that_the_target_lacks_is_no_loss_where_the_source_has_nothing() -> None:
    assert transfer(prepared(pack=FRESH), into=binding()).scratch == bytearray(4)


def test_a_field_of_another_kind_in_the_target_is_refused() -> None:
    @plan
    @dataclass
    class Loose:
        fold: Transferable[Launcher | Absent]
        pack: Ephemeral[object]

    with pytest.raises(KindChangedError, match="transferable there and ephemeral"):
        transfer(prepared(), into=Loose(FRESH, None))


def test_borrowed_and_ephemeral_objects_stay_behind() -> None:
    source, into = Binding(Launcher(), bytearray(4), [1]), binding()
    moved = transfer(source, into=into)
    assert moved.scratch is into.scratch
    assert moved.seen is into.seen


@pytest.mark.parametrize("name", ["scratch", "seen"])
def test_handing_on_a_borrowed_or_ephemeral_object_is_refused(name: str) -> None:
    source = Binding(Launcher(), bytearray(4), [1])
    with pytest.raises(LeakedFieldError) as caught:
        transfer(source, into=binding(), **{name: getattr(source, name)})
    assert caught.value.field == name


@plan
@dataclass
class Late:
    rows: Fact[int]
    launch: Transferable[object] = field(init=False)
    slot: Borrowed[object] = field(init=False)
    tiles: Derived[int] = field(init=False)

    def __post_init__(self) -> None:
        self.launch = FRESH
        self.tiles = self.rows // 4


def test_fields_outside_the_constructor_are_carried_although_replace_resets_them() -> None:
    source, into = Late(8), Late(16)
    source.launch, into.slot = Launcher(), object()
    assert replace(source, rows=9).launch is FRESH
    moved = transfer(source, into=into, rows=40)
    assert moved.launch is source.launch
    assert moved.slot is into.slot
    assert moved.tiles == 10
    assert not hasattr(transfer(source, into=Late(1)), "slot")
    assert transfer(source, into=Late(1), slot=3).slot == 3


def test_a_carrier_that_was_never_set_is_an_error_with_advice() -> None:
    source = Late(8)
    del source.launch
    with pytest.raises(MissingSourceFieldError, match="never set it") as caught:
        transfer(source, into=Late(1))
    assert caught.value.field == "launch"
    assert transfer(source, into=Late(1), launch=Dropped("launch", "never prepared")).rows == 1


def test_a_constructor_that_changes_a_carrier_does_not_have_its_way() -> None:
    @plan
    @dataclass
    class Copying:
        launches: Transferable[dict[int, Launcher]]

        def __post_init__(self) -> None:
            self.launches = dict(self.launches)

    source = Copying({1: Launcher()})
    assert transfer(source, into=Copying({})).launches is source.launches


@plan
@dataclass
class Needy:
    rows: Fact[int]
    reverse: InitVar[bool]
    pack: Transferable[Launcher | Absent]
    loud: InitVar[bool] = False
    order: Derived[str] = field(init=False)

    def __post_init__(self, reverse: bool, loud: bool) -> None:
        self.order = f"{reverse} {loud}"


def test_init_vars_are_taken_as_keywords() -> None:
    source = Needy(1, True, Launcher())
    assert transfer(source, into=Needy(2, True, FRESH), reverse=False).order == "False False"
    assert transfer(source, into=Needy(2, True, FRESH), reverse=True, loud=True).order == "True True"


def test_an_init_var_that_nobody_remembers_is_asked_for() -> None:
    with pytest.raises(MissingInitVarError, match=r"Pass reverse=\.\.\. to transfer") as caught:
        transfer(Needy(1, True, Launcher()), into=Needy(2, True, FRESH))
    assert (caught.value.name, caught.value.target) == ("reverse", Needy)


def copied(value: Any) -> Any:
    return dict(value) if isinstance(value, dict) else value


def test_attrs_classes_with_private_names_converters_and_slots() -> None:
    @plan
    @attrs.frozen
    class Private:
        rows: Fact[int]
        _pack: Transferable[dict[str, int]] = attrs.field(converter=copied)
        _late: Transferable[object] = attrs.field(init=False)

    source, into = Private(1, {"a": 1}), Private(2, {})
    object.__setattr__(source, "_late", Launcher())
    moved = transfer(source, into=into)
    assert moved._pack is source._pack
    assert moved._late is source._late
    assert moved.rows == 2
    for name in ("pack", "_pack"):
        assert transfer(source, into=into, **{name: Dropped("_pack", "x")})._pack == Dropped("_pack", "x")
    with pytest.raises(UnknownFieldError):
        transfer(source, into=into, pack=1, _pack=2)


def test_named_tuples() -> None:
    @plan
    class Pair(NamedTuple):
        pack: Transferable[Launcher | Absent]
        rows: Fact[int] = 1

    source = Pair(Launcher())
    assert transfer(source, into=Pair(FRESH, 3)) == Pair(source.pack, 3)


def test_two_sources_one_after_the_other() -> None:
    left, right = prepared(pack=FRESH), prepared(fold=FRESH)
    both = transfer(right, into=transfer(left, into=fresh()))
    assert both.fold is left.fold
    assert both.pack is right.pack


def test_its_result_satisfies_the_materializer() -> None:
    @materializer
    def materialize(source: Plan, rows: int) -> Plan:
        return transfer(source, into=fresh(rows), pack=Absent("not needed"))

    assert materialize(prepared(), 3).rows == 3
