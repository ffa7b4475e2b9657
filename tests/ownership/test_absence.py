from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from ownership import Absent, AbsentTruthError, Dropped, EmptyReasonError
from ownership.absence import is_absent

BOTH: list[Absent] = [Absent("sm_80 has no such kernel"), Dropped("pack", "one row is never packed")]


def test_absence_says_why() -> None:
    assert Absent("no kernel").reason == "no kernel"
    assert (Dropped("pack", "one row").field, Dropped("pack", "one row").reason) == ("pack", "one row")


def test_arguments_can_be_given_by_name() -> None:
    assert Dropped(field="pack", reason="one row") == Dropped("pack", "one row")
    assert Absent(reason="x") == Absent("x")


@pytest.mark.parametrize("reason", ["", "  \n", None, 3])
def test_a_reason_without_words_is_refused(reason: Any) -> None:
    with pytest.raises(EmptyReasonError, match="Say why") as caught:
        Absent(reason)
    assert caught.value.given == reason
    with pytest.raises(EmptyReasonError):
        Dropped("pack", reason)


def test_a_drop_must_name_a_field() -> None:
    with pytest.raises(EmptyReasonError, match="Name the field"):
        Dropped("", "one row")


def test_equal_by_value_and_not_across_classes() -> None:
    assert Absent("x") == Absent("x")
    assert Absent("x") != Absent("y")
    assert Dropped("x", "x") != Absent("x")
    assert Absent("x") != Dropped("x", "x")
    assert Dropped("a", "x") != Dropped("b", "x")
    assert Absent("x") != "x"
    assert len({Absent("x"), Absent("x"), Dropped("x", "x"), Dropped("x", "x")}) == 2


def test_a_drop_is_a_kind_of_absence() -> None:
    assert isinstance(Dropped("pack", "one row"), Absent)


@pytest.mark.parametrize("value", BOTH, ids=repr)
def test_neither_true_nor_false(value: Absent) -> None:
    with pytest.raises(AbsentTruthError, match="isinstance") as caught:
        bool(value)
    assert caught.value.value is value
    with pytest.raises(TypeError):
        value or print("a fallback that resolves")


@pytest.mark.parametrize("value", BOTH, ids=repr)
def test_immutable_and_slotted(value: Absent) -> None:
    with pytest.raises(AttributeError, match="immutable"):
        value.reason = "another"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="immutable"):
        value.anything = 1  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="immutable"):
        del value.reason
    assert not hasattr(value, "__dict__")


@pytest.mark.parametrize("value", BOTH, ids=repr)
def test_survives_pickling_copying_and_repr(value: Absent) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(value, protocol)) == value
    assert copy.deepcopy(value) == value
    assert eval(repr(value), {"Absent": Absent, "Dropped": Dropped}) == value


def test_matches_by_position() -> None:
    match BOTH[1]:
        case Dropped(field, reason):
            assert (field, reason) == ("pack", "one row is never packed")
        case _:
            pytest.fail("did not match")


def test_none_counts_as_absent_and_falsy_carriers_do_not() -> None:
    assert all(map(is_absent, [None, *BOTH]))
    assert not any(map(is_absent, [{}, (), 0, ""]))
