"""Marks as programs spell them: each program is imported from a file, once with and once without lazy annotations."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from ownership import AliasedMarkError, Kind, UnmarkedFieldError, plan_fields

Load = Callable[..., ModuleType]

#: In its second form an annotation is evaluated by the class body (from Python 3.14 on, when it is asked for).
FORMS = ["from __future__ import annotations\n", ""]

HEAD = """
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeAlias, TypeVar
import ownership
from ownership import Absent, Fact, Kind, Transferable, plan

T = TypeVar("T")
class Launcher: ...
"""


def declared(load: Load, form: str, body: str) -> dict[str, Kind]:
    module = load(form + HEAD + body)
    return {spec.name: spec.kind for spec in plan_fields(module.Plan)}


@pytest.fixture(params=FORMS, ids=["strings", "evaluated"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize(
    "annotation",
    [
        "Transferable[Launcher]",
        "Transferable[Launcher | Absent]",
        "ownership.Transferable[Launcher]",
        "Transferable['Unknown']",
        "'Transferable[Launcher]'",
        "Annotated[Launcher, Kind.TRANSFERABLE]",
        "Annotated[Launcher, MARK]",
        "Annotated[Transferable[Launcher], 'a note']",
        "Launches[Launcher]",
        "Renamed[Launcher]",
        "Transferable[Inner]",
        "Transferable",
    ],
)
def test_a_mark_is_seen(load: Load, form: str, annotation: str) -> None:
    body = f"""
MARK = Kind.TRANSFERABLE
Launches = Transferable[dict[int, T]]
Renamed = Transferable
Inner = Launcher | Absent
@plan
@dataclass
class Plan:
    launch: {annotation}
"""
    assert declared(load, form, body) == {"launch": Kind.TRANSFERABLE}


@pytest.mark.parametrize(
    "alias", ["Launch = Transferable[Launcher]", "Launch: TypeAlias = Annotated[Launcher, Kind.TRANSFERABLE]"]
)
def test_a_mark_behind_a_plain_alias_is_refused(load: Load, form: str, alias: str) -> None:
    with pytest.raises(AliasedMarkError, match=r"marked through Launch.*Write Transferable\[\.\.\.\]") as caught:
        declared(load, form, f"{alias}\n@plan\n@dataclass\nclass Plan:\n    rows: Fact[int]\n    launch: Launch\n")
    assert (caught.value.field, caught.value.alias, caught.value.kind) == ("launch", "Launch", Kind.TRANSFERABLE)


def test_a_mark_behind_an_alias_of_another_module_is_refused(load: Load, form: str) -> None:
    load("from ownership import Transferable\nLaunch = Transferable[int]\n", name="ownership_test_aliases")
    body = "import ownership_test_aliases as al\n@plan\n@dataclass\nclass Plan:\n    launch: al.Launch\n"
    with pytest.raises(AliasedMarkError) as caught:
        declared(load, form, body)
    assert caught.value.alias == "al.Launch"


def test_a_local_alias_is_refused(load: Load, form: str) -> None:
    body = """
def make():
    Launch = Transferable[Launcher]
    @plan
    @dataclass
    class Plan:
        launch: Launch
make()
"""
    with pytest.raises(AliasedMarkError):
        declared(load, form, body)


def test_a_mark_written_out_beside_an_equal_alias_is_taken(load: Load, form: str) -> None:
    # `typing` makes one object of both, so an evaluated annotation alone cannot tell them apart.
    body = """
Launch = Transferable[Launcher]
@plan
@dataclass(frozen=True, slots=True)
class Plan:
    launch: Transferable[Launcher]
"""
    assert declared(load, form, body) == {"launch": Kind.TRANSFERABLE}


def test_without_the_source_the_field_gets_the_benefit_of_the_doubt() -> None:
    text = HEAD + "Launch = Transferable[Launcher]\n@plan\n@dataclass\nclass Plan:\n    launch: Launch\n"
    space: dict[str, Any] = {"__name__": "ownership_no_such_module"}
    exec(compile(text, "<nowhere>", "exec", dont_inherit=True), space)
    assert plan_fields(space["Plan"])[0].kind is Kind.TRANSFERABLE


def test_an_inherited_alias_is_refused_too(load: Load, form: str) -> None:
    body = """
Launch = Transferable[Launcher]
@dataclass
class Mixin:
    launch: Launch
@plan
@dataclass
class Plan(Mixin):
    rows: Fact[int]
"""
    with pytest.raises(AliasedMarkError, match="inherited by the plan"):
        declared(load, form, body)


@pytest.mark.parametrize(
    "annotation", ["Launcher", "Any", "Launcher | Absent", "list[Transferable[int]]", "Annotated[int, 'note']", "'1 +'"]
)
def test_no_mark_is_no_mark(load: Load, form: str, annotation: str) -> None:
    with pytest.raises(UnmarkedFieldError):
        declared(load, form, f"@plan\n@dataclass\nclass Plan:\n    launch: {annotation}\n")


def test_a_name_for_type_checkers_alone_is_taken_by_its_spelling(load: Load) -> None:
    module = load(
        """
        from __future__ import annotations
        from dataclasses import dataclass
        from typing import TYPE_CHECKING
        from ownership import plan
        if TYPE_CHECKING:
            import ownership as own
            from typing import Annotated
            from ownership import Kind, Transferable

        @plan
        @dataclass
        class Plan:
            one: Transferable[int]
            two: own.Fact[int]
            three: Annotated[int, Kind.DERIVED]
        """
    )
    assert [spec.kind for spec in plan_fields(module.Plan)] == [Kind.TRANSFERABLE, Kind.FACT, Kind.DERIVED]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters are new in Python 3.12")
class TestTypeParameters:
    def test_a_generic_plan(self, load: Load, form: str) -> None:
        body = (
            "@plan\n@dataclass(slots=True)\nclass Plan[L]:\n    launch: Transferable[L | Absent]\n    rows: Fact[int]\n"
        )
        assert list(declared(load, form, body).values()) == [Kind.TRANSFERABLE, Kind.FACT]

    def test_a_type_alias_without_parameters_is_refused(self, load: Load, form: str) -> None:
        body = "type Launch = Transferable[Launcher]\n@plan\n@dataclass\nclass Plan:\n    launch: Launch\n"
        with pytest.raises(AliasedMarkError) as caught:
            declared(load, form, body)
        assert caught.value.alias == "Launch"

    def test_a_type_alias_with_parameters_is_followed(self, load: Load, form: str) -> None:
        body = "type Many[X] = Transferable[dict[int, X]]\n@plan\n@dataclass\nclass Plan:\n    launch: Many[Launcher]\n"
        assert declared(load, form, body) == {"launch": Kind.TRANSFERABLE}

    def test_a_type_alias_that_cannot_be_evaluated_is_no_mark(self, load: Load, form: str) -> None:
        body = "type Launch = Transferable[Missing]\n@plan\n@dataclass\nclass Plan:\n    launch: Launch\n"
        with pytest.raises(UnmarkedFieldError):
            declared(load, form, body)


@pytest.mark.skipif(sys.version_info < (3, 14), reason="annotations are evaluated late from Python 3.14 on")
class TestLateAnnotations:
    def test_names_that_do_not_exist_are_no_obstacle(self, load: Load) -> None:
        body = """
@plan
@dataclass
class Plan:
    one: Transferable[Missing]
    two: Transferable[Missing | Absent]
    three: Transferable[dict[int, Missing.Inner]]
    four: Fact[Later]
class Later: ...
"""
        assert list(declared(load, "", body).values()) == [Kind.TRANSFERABLE] * 3 + [Kind.FACT]

    def test_a_mark_that_exists_for_type_checkers_alone_is_taken_by_its_spelling(self, load: Load) -> None:
        body = "@plan\n@dataclass\nclass Plan:\n    one: missing.Transferable[Missing]\n    two: Fact[Missing]\n"
        assert list(declared(load, "", body).values()) == [Kind.TRANSFERABLE, Kind.FACT]
