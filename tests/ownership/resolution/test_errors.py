from __future__ import annotations

import pickle

import pytest

from ownership import OwnershipError
from ownership.resolution import Difference, FreezeInfo, Resolution, ResolutionFrozenError, errors

FREEZE = FreezeInfo(reason="serving", place="engine.py:12", owner="engine-a", mode="error")
MILD = FreezeInfo(reason="mild", place="engine.py:13", owner=None, mode="record")


def frozen(**given: object) -> ResolutionFrozenError:
    facts = {
        "program": "engine.kernels.fold",
        "resolver": "triton",
        "action": "compile",
        "specialization": {"n_rows": "16 (i32, divisible by 16)"},
        "nearest": {"n_rows": "3 (i32)"},
        "differences": [Difference("n_rows", "16 (i32, divisible by 16)", "3 (i32)")],
        "freezes": [FREEZE],
        "plan_field": "engine.ScratchPlan.fold",
    }
    return ResolutionFrozenError(**{**facts, **given})  # type: ignore[arg-type]


#: One of each, made the way the package makes it.
SAMPLES: list[OwnershipError] = [
    frozen(),
    errors.BlankReasonError(given="", function="freeze", argument="reason"),
    errors.CannotWatchError(library="triton", problem="is too old"),
    errors.ManifestError(path="programs.json", problem="it is not JSON"),
    errors.NotFreezableError(given=int, problem="is not a function"),
    errors.NotResolvableError(given=3, problem="is not a function"),
    errors.UnknownModeError(given="strict", modes=["error", "warn"]),
]


def test_the_samples_are_all_the_mistakes_there_are() -> None:
    assert {type(sample).__name__ for sample in SAMPLES} | {"ResolutionWarning"} == set(errors.__all__)


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


def test_a_refusal_says_what_was_asked_for_what_is_prepared_why_and_what_to_do() -> None:
    assert str(frozen()) == (
        "engine.kernels.fold (triton) was to be compiled under the freeze of engine-a 'serving' at engine.py:12. "
        "It differs from the nearest prepared one in n_rows: 16 (i32, divisible by 16) where prepared: 3 (i32). "
        "Prepare this specialization before the freeze (launch it once, or warm it up and load it) and carry the "
        "program in the plan; it should have come from engine.ScratchPlan.fold. "
        "permit(reason) allows it in spite of the freeze."
    )


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"nearest": None, "differences": []}, "nothing is prepared for it"),
        ({"differences": []}, "the same was resolved before, for another object"),
        ({"action": "load"}, "It is compiled but was never loaded"),
        ({"action": "resolve", "specialization": {}, "nearest": None}, "Asked for: no arguments"),
        ({"plan_field": None}, "carry the program in the plan. permit"),
        ({"differences": [Difference(f"a{i}", "1", "2") for i in range(9)]}, "a5: 1 where prepared: 2 and 3 more."),
    ],
)
def test_it_says_what_the_case_is(given: dict[str, object], part: str) -> None:
    assert part in str(frozen(**given))


def test_only_the_freezes_that_refuse_are_blamed() -> None:
    resolution = Resolution(
        resolver="test",
        program="p",
        specialization={},
        action="resolve",
        owner=None,
        thread="MainThread",
        caller="engine.py:40",
        started=0.0,
        verdict="refused",
        freezes=(MILD, FREEZE),
    )
    assert ResolutionFrozenError.of(resolution).freezes == (FREEZE,)


def test_a_freeze_that_only_warns_names_the_freezes_that_warn() -> None:
    warning = FreezeInfo(reason="soft", place="engine.py:14", owner=None, mode="warn")
    resolution = Resolution(
        resolver="test",
        program="p",
        specialization={},
        action="resolve",
        owner=None,
        thread="MainThread",
        caller="engine.py:40",
        started=0.0,
        verdict="warned",
        freezes=(MILD, warning),
    )
    assert ResolutionFrozenError.of(resolution).freezes == (warning,)
