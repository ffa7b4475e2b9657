from __future__ import annotations

import copy
import pickle
from typing import Annotated, get_type_hints

import pytest

from ownership import Borrowed, Derived, Ephemeral, Fact, Kind, Transferable

ALIASES = {
    "Transferable": Transferable,
    "Fact": Fact,
    "Derived": Derived,
    "Borrowed": Borrowed,
    "Ephemeral": Ephemeral,
}


class Everything:
    carrier: Transferable[list[int]]
    rows: Fact[int]


def test_only_the_transferable_kind_is_transferable() -> None:
    assert [kind.name for kind in Kind if kind.transferable] == ["TRANSFERABLE"]


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_an_alias_that_marks_with_it(kind: Kind) -> None:
    assert ALIASES[kind.alias] == Annotated[ALIASES[kind.alias].__origin__, kind]


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_states_its_contract_in_a_sentence(kind: Kind) -> None:
    assert kind.contract.endswith(".")
    assert len(kind.contract.split()) > 5


def test_contracts_differ() -> None:
    assert len({kind.contract for kind in Kind}) == len(Kind)


@pytest.mark.parametrize("kind", Kind)
def test_copies_and_pickles_of_a_kind_are_the_kind(kind: Kind) -> None:
    assert copy.copy(kind) is kind
    assert copy.deepcopy(kind) is kind
    assert all(pickle.loads(pickle.dumps(kind, protocol)) is kind for protocol in range(pickle.HIGHEST_PROTOCOL + 1))


def test_the_running_program_sees_the_plain_type() -> None:
    assert get_type_hints(Everything) == {"carrier": list[int], "rows": int}


def test_a_subscripted_alias_survives_a_pickle() -> None:
    assert pickle.loads(pickle.dumps(Transferable[int])) == Transferable[int]
