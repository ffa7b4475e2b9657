from __future__ import annotations

import pickle

import pytest

import ownership
from ownership import Absent, Dropped, Kind, OwnershipError, errors
from ownership.errors import shown


class Source: ...


class Target: ...


STEP = {"field": "pack", "source": Source, "target": Target, "function": "layer.materialize"}
DECLARED = {"field": "pack", "owner": Source, "plan": Target}

#: One of each, made the way the package makes it.
SAMPLES: list[OwnershipError] = [
    errors.AbsentTruthError(value=Absent("x")),
    errors.AliasedMarkError(**DECLARED, alias="Launch", kind=Kind.FACT),  # type: ignore[arg-type]
    errors.ConflictingKindError(**DECLARED, kinds=[Kind.FACT, Kind.DERIVED]),  # type: ignore[arg-type]
    errors.DefaultedTransferableError(**DECLARED),  # type: ignore[arg-type]
    errors.DroppedFieldError(**STEP, value=1, found="which never set it"),  # type: ignore[arg-type]
    errors.EmptyReasonError(given="", owner=Absent),
    errors.KindChangedError(**STEP, kind=Kind.FACT),  # type: ignore[arg-type]
    errors.LeakedFieldError(**STEP, kind=Kind.BORROWED, target_field="other", value=1),  # type: ignore[arg-type]
    errors.MisnamedDropError(field="pack", dropped=Dropped("fold", "x"), target=Target, function="f"),
    errors.MissingInitVarError(name="reverse", target=Target),
    errors.MissingSourceFieldError(field="pack", source=Source),
    errors.NotAMaterializerError(given=1, problem="is not a function"),
    errors.NotAPlanError(given=1, wanted="a plan", function="carriers()"),
    errors.NotARecordError(given=Source),
    errors.RebuiltFieldError(**STEP, value=1, found=2),  # type: ignore[arg-type]
    errors.UnknownFieldError(name="pakc", target=Target, known=["pack"]),
    errors.UnmarkedFieldError(**DECLARED, annotation="Launcher"),  # type: ignore[arg-type]
]


def test_the_samples_are_all_the_mistakes_there_are() -> None:
    assert {type(sample).__name__ for sample in SAMPLES} | {"OwnershipError"} == set(errors.__all__)


def test_every_error_is_public() -> None:
    assert set(errors.__all__) <= set(ownership.__all__)


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
    "error", [sample for sample in SAMPLES if hasattr(sample, "source") and hasattr(sample, "target")], ids=repr
)
def test_a_broken_step_names_field_function_and_both_classes(error: OwnershipError) -> None:
    for part in ("pack", "layer.materialize", "test_errors.Source", "test_errors.Target"):
        assert part in str(error)


def test_a_declaration_error_says_when_the_field_is_inherited() -> None:
    assert "inherited by the plan" in str(SAMPLES[3])
    assert "inherited" not in str(errors.DefaultedTransferableError(field="pack", owner=Source, plan=Source))


def test_values_are_shown_without_calling_the_repr_of_a_carrier() -> None:
    class Loud:
        def __repr__(self) -> str:
            raise AssertionError("a tensor would synchronize here")

    assert "Loud object at" in shown(Loud())
    assert shown(Absent("x")) == "Absent('x')"
    assert shown(None) == "None"
    assert shown(abs) == "<builtin_function_or_method abs>"
    assert len(shown("a" * 1000)) == 100
