"""The cases of `tests/corpus` as programs: the fields are lost at run time, and `ownership` refuses what it can see.

Each `effect.py` runs both sides of its case and asserts that the field is lost before and kept after. The marked ones
that pass through `@materializer`, or that are no proper plans, do not get that far: the real package stops them.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

CORPUS = Path(__file__).resolve().parent.parent / "corpus"
EFFECTS = sorted(CORPUS.glob("*/effect.py"))

#: Cases whose side `before` is refused at run time. The others make their plan in a function without `@materializer`.
REFUSED = {
    "001-replace-subset-fresh",
    "022-inherited-field-other-file",
    "029-async-materialize",
    "031-slots-name-loop",
    "034-one-branch-completion",
    "037-transfer-result-discarded",
    "038-copy-replace",
    "039-helpers-two-calls-deep",
    "043-initvar-and-replace",
    "050-unmarked-field",
    "051-unmarked-mixin-field",
    "055-default-none",
    "056-default-factory",
    "060-compiled-again",
    "061-map-remade",
    "100-ephemeral-carried",
}
ERRORS = {
    "OWN001": "DroppedFieldError",
    "OWN002": "UnmarkedFieldError",
    "OWN003": "DefaultedTransferableError",
    "OWN004": "RebuiltFieldError",
    "OWN012": "LeakedFieldError",
}


def test_every_case_that_is_refused_is_there() -> None:
    assert {path.parent.name for path in EFFECTS} >= REFUSED


@pytest.mark.parametrize("effect", EFFECTS, ids=[path.parent.name for path in EFFECTS])
def test_before_loses_or_is_refused_and_after_keeps(effect: Path) -> None:
    case = tomllib.loads((effect.parent / "case.toml").read_text(encoding="utf-8"))
    wanted = tuple(int(part) for part in case.get("min_python", "3.11").split("."))
    if sys.version_info < wanted:
        pytest.skip(f"the case needs Python {case['min_python']}")
    command = [sys.executable, str(CORPUS / "_sides" / "run_effect.py"), str(effect)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    refused = effect.parent.name in REFUSED
    assert done.stdout.split() == ([ERRORS[case["rule"]]] if refused else [])
