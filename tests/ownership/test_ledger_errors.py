from __future__ import annotations

import pickle

import pytest

import ownership
from ownership import Absent, OwnershipError, PublishError, UnreachableProgramError, ledger_errors
from ownership.ledger_errors import key_text, program_name


class Plan: ...


class Program:
    def __init__(self, name: object = "fold") -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:  # so that a copy that went through a pickle can be compared
        return isinstance(other, Program) and self.name == other.name

    __hash__ = None  # type: ignore[assignment]


def launch() -> None: ...


PLACE = {"plan": Plan, "path": "launches[128]"}
UNREACHABLE = UnreachableProgramError(
    program=Program(), plan=Plan, path="pack", found="Absent('x') stands there", ledger="engine", standing=Absent("x")
)

#: One of each, made the way the package makes it.
SAMPLES: list[OwnershipError] = [
    ledger_errors.BareClosureError(**PLACE, function=launch, captured=Program(), via="closure"),  # type: ignore[arg-type]
    ledger_errors.IncompleteMapError(axes={"rows": (1, 8)}, missing=[8], surplus=[9]),
    ledger_errors.InvalidAxisError(axis="rows", problem="has no values"),
    ledger_errors.InvalidPathError(path="rows", problem="begins with no transferable field", plan=Plan),
    ledger_errors.NotACarrierError(given=None, function="retain()", problem="which is absent"),
    ledger_errors.NotPublishedError(given=7, ledger="engine"),
    ledger_errors.OutsideDomainError(key=9, axes={"rows": (1, 8)}),
    PublishError.of([UNREACHABLE, UNREACHABLE], plans=[Plan], ledger="engine"),
    ledger_errors.ResolvingCarrierError(**PLACE, program=Program()),  # type: ignore[arg-type]
    ledger_errors.StillReachableError(**PLACE, program=Program(), ledger="engine"),  # type: ignore[arg-type]
    ledger_errors.UndeclaredMapError(**PLACE, mapping={}),  # type: ignore[arg-type]
    UNREACHABLE,
    ledger_errors.UnretainedProgramError(**PLACE, program=Program(), ledger="engine"),  # type: ignore[arg-type]
]


def test_the_samples_are_all_the_mistakes_there_are() -> None:
    assert [type(sample).__name__ for sample in SAMPLES] == ledger_errors.__all__


def test_every_error_is_public() -> None:
    assert set(ledger_errors.__all__) <= set(ownership.__all__)


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: type(error).__name__)
def test_an_error_survives_the_way_back_from_a_worker_process(error: OwnershipError) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert vars(back) == vars(error)


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: type(error).__name__)
def test_a_message_is_one_line_and_carries_its_objects(error: OwnershipError) -> None:
    assert "\n" not in str(error)
    assert str(error).endswith(".")
    assert vars(error)


@pytest.mark.parametrize(
    "error", [one for one in SAMPLES if hasattr(one, "program")], ids=lambda value: type(value).__name__
)
def test_a_difference_names_the_program_the_plan_and_the_path(error: OwnershipError) -> None:
    for part in ("test_ledger_errors.Plan", getattr(error, "path", "?"), "Program"):
        assert part in str(error)


def test_a_group_says_all_that_is_wrong_up_to_a_limit() -> None:
    many = PublishError.of([UNREACHABLE] * 20, plans=[Plan, Plan], ledger="engine")
    assert len(many.exceptions) == 20
    assert "20 problems" in str(many)
    assert "12 more" in str(many)
    assert str(many).count("is retained by") == 8


@pytest.mark.parametrize(
    ("program", "name"),
    [
        (Program(), "Program 'fold'"),
        (Program(7), "Program object at"),
        (Program(""), "Program object at"),
        (launch, "<function launch>"),
        (Program, "<type Program>"),
        (None, "None"),
    ],
    ids=str,
)
def test_a_program_is_called_by_its_class_and_name(program: object, name: str) -> None:
    assert name in program_name(program)


def test_a_program_whose_name_cannot_be_computed_has_one_all_the_same() -> None:
    class Broken:
        def __getattr__(self, name: str) -> str:
            raise RuntimeError(name)

    assert "Broken object at" in program_name(Broken())


def test_a_key_is_shown_on_one_short_line_whatever_it_is() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError

    assert key_text((1, "a")) == "(1, 'a')"
    assert key_text("a\nb") == r"'a\nb'"
    assert len(key_text("a" * 1000)) == 200
    assert "Broken object at" in key_text(Broken())
