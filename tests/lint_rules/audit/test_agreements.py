"""The rules of agreement without plans: what is said, how sure, and in which order."""

from __future__ import annotations

from lint_rules.config import Config, PlanDeclaration
from tests.lint_rules.audit.suggesting import suggested, suggestions

FORWARD = """\
def low(rows: int, *, wide: bool = False, tile: int = 8) -> int:
    return rows * tile if wide else rows


def high(rows: int, *, wide: bool = False, tile: int = 8) -> int:
    return low(rows, tile=tile)
"""


def test_a_parameter_that_is_not_passed_on_is_sure_unless_it_is_looked_at_or_of_another_type() -> None:
    (found,) = suggestions(FORWARD)
    assert (found.finding.code, found.finding.fields, found.confidence) == ("OWN008", ("wide",), "high")
    assert found.reason == "`wide` is not read in `high`, and the same call passes on `rows` and `tile`"
    (checked,) = suggestions(FORWARD.replace("    return low(", "    assert not (wide and tile > 8)\n    return low("))
    assert checked.confidence == "medium"
    (other,) = suggestions(FORWARD.replace("def high(rows: int, *, wide: bool", "def high(rows: int, *, wide: int"))
    assert other.confidence == "low"


MEMO = """\
PROGRAMS = {}


def build(*facts: object) -> object:
    return facts


def program(rows: int, dtype: str, out) -> object:
    key = (rows, 1)
    if key not in PROGRAMS:
        PROGRAMS[key] = build(rows, GIVEN)
    return PROGRAMS[key]
"""


def test_a_key_that_lacks_a_plain_value_is_suggested_and_one_that_may_lack_something_is_hidden() -> None:
    (found,) = suggestions(MEMO.replace("GIVEN", "dtype"))
    assert (found.finding.code, found.finding.fields, found.confidence) == ("OWN009", ("dtype",), "medium")
    (unsure,) = suggestions(MEMO.replace("GIVEN", "out"))
    assert (unsure.finding.fields, unsure.confidence) == (("out",), "low")
    assert "cannot be told" in unsure.reason


def test_a_mapping_that_stores_into_itself_is_no_memo() -> None:
    text = """\
    class Headers(dict):
        def put(self, name: str, value: str) -> None:
            if name not in self:
                self[name] = str(value)
    """
    assert suggested(text) == []
    assert suggested(text.replace("self[name]", "self.kept[name]").replace("in self:", "in self.kept:")) == [
        ("OWN009", ("value",))
    ]


OPTION = """\
import os
from functools import lru_cache

PREPARED_FOR = "plan_rows"


def flag() -> bool:
    return os.environ.get("ORDERED") == "1"


def _launch(rows: list[int]) -> list[int]:
    return sorted(rows) if flag() else rows


def run(rows: list[int]) -> list[int]:
    return _launch(rows)


def declare() -> bool:
    return flag()
"""


def test_an_option_is_suggested_once_for_the_function_that_is_nearest_to_the_read() -> None:
    (found,) = suggestions(OPTION)
    assert (found.finding.code, found.finding.fields, found.finding.place.line) == ("OWN010", ("ORDERED",), 12)
    assert found.reason == "by its name, `_launch` works for something that was declared before"
    assert "after the plan was declared" in found.finding.message


def test_a_runner_in_a_module_without_plans_may_read_what_it_likes() -> None:
    assert suggested(OPTION.replace("plan_rows", "rows")) == []


def test_a_cached_function_that_reads_the_environment_is_suggested_at_the_read() -> None:
    cached = OPTION.replace("def declare() -> bool:", "@lru_cache\ndef source(rows: int) -> bool:")
    assert ("OWN009", ("ORDERED",)) in suggested(cached)


def test_functions_about_plans_are_left_to_the_check() -> None:
    text = FORWARD.replace("rows: int", "rows: Plan") + "\n\nclass Plan:\n    pack: object\n"
    assert suggested(text) == [("OWN008", ("wide",))]
    assert suggested(text, PlanDeclaration("a.Plan", ("pack",))) == []


def test_the_surest_come_first_and_codes_can_be_chosen() -> None:
    text = FORWARD + MEMO.replace("GIVEN", "dtype") + OPTION.replace("import os\nfrom functools import lru_cache\n", "")
    found = suggestions("import os\n" + text)
    assert [each.finding.code for each in found] == ["OWN008", "OWN009", "OWN010"]
    assert [each.confidence for each in found] == ["high", "medium", "medium"]
    assert Config(ignore=("OWN009",)).chooses("OWN008")


def test_a_file_without_a_function_says_nothing() -> None:
    assert suggested("ROWS = 8\n") == []
