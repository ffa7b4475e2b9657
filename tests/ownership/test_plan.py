from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable
from dataclasses import KW_ONLY, InitVar, dataclass, field, make_dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, NamedTuple, TypeVar

import attr
import attrs
import pytest

from ownership import (
    Absent,
    Borrowed,
    ConflictingKindError,
    DefaultedTransferableError,
    Derived,
    Ephemeral,
    Fact,
    FieldSpec,
    Kind,
    NotAPlanError,
    NotARecordError,
    Transferable,
    UnmarkedFieldError,
    is_plan,
    plan,
    plan_fields,
)

if TYPE_CHECKING:
    from nowhere import Kernel  # type: ignore[import-not-found]

    from ownership import Transferable as Carried

Load = Callable[..., ModuleType]
L = TypeVar("L")


@plan
@dataclass(frozen=True)
class Base:
    rows: Fact[int]
    fold: Transferable[Kernel | Absent]


@plan
@dataclass(frozen=True, slots=True, kw_only=True)
class Full(Base, Generic[L]):
    LIMIT: ClassVar[int] = 8
    tiles: Derived[int] = field(init=False)
    launch: Transferable[L]
    scratch: Borrowed[bytearray]
    seen: Ephemeral[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tiles", self.rows // 4)

    @property
    def label(self) -> str:
        return str(self.rows)


def kinds(cls: object) -> dict[str, Kind]:
    return {spec.name: spec.kind for spec in plan_fields(cls)}


def test_the_table_has_every_field_with_kind_owner_and_default() -> None:
    assert plan_fields(Full) == (
        FieldSpec("rows", Kind.FACT, Base, "Fact[int]", True, False, "rows"),
        FieldSpec("fold", Kind.TRANSFERABLE, Base, "Transferable[Kernel | Absent]", True, False, "fold"),
        FieldSpec("tiles", Kind.DERIVED, Full, "Derived[int]", False, False, "tiles"),
        FieldSpec("launch", Kind.TRANSFERABLE, Full, "Transferable[L]", True, False, "launch"),
        FieldSpec("scratch", Kind.BORROWED, Full, "Borrowed[bytearray]", True, False, "scratch"),
        FieldSpec("seen", Kind.EPHEMERAL, Full, "Ephemeral[list[int]]", True, True, "seen"),
    )


def test_the_table_can_be_asked_of_instance_class_and_alias() -> None:
    instance = Base(1, Absent("x"))
    assert plan_fields(instance) is plan_fields(Base)
    assert plan_fields(Full[int]) is plan_fields(Full)
    assert is_plan(instance)
    assert not is_plan(Base)


def test_the_decorator_returns_the_same_class_and_may_be_called() -> None:
    @dataclass
    class One:
        rows: Fact[int]

    assert plan(One) is One
    assert plan()(One) is One


def test_slots_pickling_copying_and_equality_are_as_before() -> None:
    full: Full[int] = Full(rows=8, fold=Absent("x"), launch=3, scratch=bytearray())
    assert not hasattr(full, "__dict__") or not vars(full).keys() - {"rows", "fold"}
    assert pickle.loads(pickle.dumps(full)) == full == copy.deepcopy(full)
    assert pickle.loads(pickle.dumps(Full)) is Full
    assert replace(Base(1, Absent("x")), rows=2) == Base(2, Absent("x"))


@pytest.mark.skipif(sys.version_info < (3, 13), reason="copy.replace is new in Python 3.13")
def test_copy_replace_works_on_a_plan() -> None:
    assert copy.replace(Base(1, Absent("x")), rows=2) == Base(2, Absent("x"))  # type: ignore[attr-defined]


def test_the_field_table_survives_a_pickle() -> None:
    assert pickle.loads(pickle.dumps(plan_fields(Full))) == plan_fields(Full)


def test_a_field_without_a_kind_is_refused() -> None:
    @dataclass
    class Careless:
        rows: Fact[int]
        pack: Absent | None

    with pytest.raises(UnmarkedFieldError, match=r"Careless\.pack .*Absent \| None.*Mark it") as caught:
        plan(Careless)
    assert (caught.value.field, caught.value.owner, caught.value.plan) == ("pack", Careless, Careless)


def test_an_unmarked_field_of_a_plain_base_class_is_refused() -> None:
    @dataclass
    class Mixin:
        probe: int

    @dataclass
    class Careless(Mixin):
        rows: Fact[int]

    with pytest.raises(UnmarkedFieldError, match="inherited by the plan") as caught:
        plan(Careless)
    assert (caught.value.owner, caught.value.plan) == (Mixin, Careless)


def test_a_marked_field_of_a_plain_base_class_is_taken() -> None:
    @dataclass
    class Mixin:
        probe: Ephemeral[int]

    @plan
    @dataclass
    class Careful(Mixin):
        rows: Fact[int]

    assert kinds(Careful) == {"probe": Kind.EPHEMERAL, "rows": Kind.FACT}


def test_a_mark_inside_another_type_marks_nothing() -> None:
    @dataclass
    class Careless:
        pack: Transferable[int] | None

    with pytest.raises(UnmarkedFieldError, match="put it around the whole type"):
        plan(Careless)


@pytest.mark.parametrize("default", [field(default=None), field(default_factory=dict), field(default=0, init=False)])
def test_a_transferable_with_a_default_is_refused(default: Any) -> None:
    made = make_dataclass("Careless", [("rows", Fact[int]), ("pack", Transferable[object], default)])
    with pytest.raises(DefaultedTransferableError, match=r"pack is transferable and has a default") as caught:
        plan(made)
    assert caught.value.field == "pack"


def test_a_default_given_in_a_subclass_is_refused() -> None:
    @dataclass(frozen=True)
    class Careless(Base):
        fold: Transferable[Kernel | Absent] = Absent("default")

    with pytest.raises(DefaultedTransferableError):
        plan(Careless)


def test_a_transferable_outside_the_constructor_needs_no_default() -> None:
    @plan
    @dataclass
    class Late:
        launch: Transferable[int] = field(init=False, repr=False)

    assert plan_fields(Late)[0][4:6] == (False, False)


def test_what_is_no_field_needs_no_kind() -> None:
    @plan
    @dataclass
    class Pseudo:
        LIMIT: ClassVar[int] = 8
        rows: Fact[int]
        _: KW_ONLY
        verbose: InitVar[bool] = False
        steps = 3

        @property
        def label(self) -> str:
            return ""

    assert list(kinds(Pseudo)) == ["rows"]


def test_names_that_exist_for_type_checkers_alone_are_no_obstacle() -> None:
    @plan
    @dataclass
    class Checked:
        one: Transferable[Kernel]
        two: Transferable[tuple[Kernel, Undefined]]  # type: ignore[name-defined]  # noqa: F821
        three: "Transferable['Kernel']"  # noqa: UP037
        four: Annotated[Kernel, Kind.TRANSFERABLE, "for the reader"]

    assert set(kinds(Checked).values()) == {Kind.TRANSFERABLE}


def test_an_alias_imported_for_type_checkers_under_another_name_cannot_be_followed() -> None:
    @dataclass
    class Checked:
        one: Carried[int]

    with pytest.raises(UnmarkedFieldError):
        plan(Checked)


def test_inline_marks_nested_marks_and_final() -> None:
    from typing import Final

    @plan
    @dataclass
    class Inline:
        one: Annotated[int, Kind.FACT]
        two: Annotated[Fact[int], "rows"]
        three: Final[Fact[int]]
        four: Fact[Fact[int]]

    assert set(kinds(Inline).values()) == {Kind.FACT}


@pytest.mark.parametrize(
    "annotation",
    [Fact[Transferable[int]], "Fact[Transferable[int]]", Annotated[int, Kind.TRANSFERABLE, Kind.FACT]],
    ids=repr,
)
def test_two_kinds_on_one_field_are_refused(annotation: Any) -> None:
    made = make_dataclass("Torn", [("pack", annotation)])
    with pytest.raises(ConflictingKindError, match="Fact and Transferable") as caught:
        plan(made)
    assert caught.value.kinds == (Kind.FACT, Kind.TRANSFERABLE)


def test_a_subclass_cannot_change_the_kind_of_a_field() -> None:
    @dataclass(frozen=True)
    class Torn(Base):
        fold: Ephemeral[int]

    with pytest.raises(ConflictingKindError) as caught:
        plan(Torn)
    assert caught.value.kinds == (Kind.TRANSFERABLE, Kind.EPHEMERAL)


def test_a_subclass_may_narrow_the_type_of_a_field() -> None:
    @plan
    @dataclass(frozen=True)
    class Narrow(Base):
        rows: Fact[bool]

    assert plan_fields(Narrow)[0].owner is Narrow


def test_a_local_class_finds_the_names_of_its_function() -> None:
    from ownership import Transferable as Mine

    @plan
    @dataclass
    class Local:
        pack: Mine[int]

    @plan()
    @dataclass
    class Called:
        pack: Mine[int]

    assert kinds(Local) == kinds(Called) == {"pack": Kind.TRANSFERABLE}


def test_a_class_of_the_users_own_with_the_name_of_a_kind_is_no_mark() -> None:
    class Fact(Generic[L]): ...

    @dataclass
    class Careless:
        rows: Fact[int]

    with pytest.raises(UnmarkedFieldError):
        plan(Careless)


def test_an_undecorated_subclass_gets_its_table_when_asked() -> None:
    @dataclass(frozen=True)
    class Good(Base):
        more: Fact[int]

    @dataclass(frozen=True)
    class Bad(Base):
        more: int

    class Plain(Base): ...

    assert list(kinds(Good)) == ["rows", "fold", "more"]
    assert plan_fields(Good) is plan_fields(Good)
    assert plan_fields(Plain) is plan_fields(Base)
    for _ in range(2):
        with pytest.raises(UnmarkedFieldError, match=r"Bad\.more"):
            plan_fields(Bad)


def test_a_class_that_is_no_record_is_refused() -> None:
    class Plain:
        rows: Fact[int]

    with pytest.raises(NotARecordError, match="above @dataclass") as caught:
        plan(Plain)
    assert caught.value.given is Plain
    with pytest.raises(NotARecordError):
        plan(lambda: None)  # type: ignore[call-overload]


def test_decorators_in_the_wrong_order_are_refused_also_under_a_base_that_is_a_dataclass() -> None:
    with pytest.raises(NotARecordError):

        @dataclass(frozen=True)
        @plan
        class Wrong(Base):
            more: Fact[int]


@pytest.mark.parametrize("given", [3, int, None, Absent("x")], ids=repr)
def test_the_table_of_something_else_is_refused(given: object) -> None:
    with pytest.raises(NotAPlanError) as caught:
        plan_fields(given)
    assert caught.value.given is given


def test_attrs_classes_of_every_sort() -> None:
    @plan
    @attrs.define
    class Defined:
        rows: Fact[int]
        _pack: Transferable[Kernel]

    @plan
    @attrs.frozen(kw_only=True)
    class Frozen(Defined):
        seen: Ephemeral[list[int]] = attrs.field(factory=list)

    @plan
    @attr.s(auto_attribs=True)
    class Old:
        rows: Fact[int]
        launch: Transferable[int] = attr.ib(init=False)

    @plan
    @attr.s
    class Typed:
        rows = attr.ib(type=Fact[int])

    assert kinds(Frozen) == {"rows": Kind.FACT, "_pack": Kind.TRANSFERABLE, "seen": Kind.EPHEMERAL}
    assert plan_fields(Frozen)[1].alias == "pack"
    assert plan_fields(Frozen)[1].owner is Defined
    assert [spec.init for spec in plan_fields(Old)] == [True, False]
    assert kinds(Typed) == {"rows": Kind.FACT}


def test_mistakes_on_attrs_classes_are_refused() -> None:
    with pytest.raises(DefaultedTransferableError):

        @plan
        @attrs.define
        class Defaulted:
            pack: Transferable[dict[int, int]] = attrs.field(factory=dict)

    with pytest.raises(UnmarkedFieldError, match="no annotation"):

        @plan
        @attr.s
        class Bare:
            pack = attr.ib()  # type: ignore[var-annotated]


def test_named_tuples() -> None:
    @plan
    class Pair(NamedTuple):
        pack: Transferable[Kernel]
        rows: Fact[int] = 1

    assert kinds(Pair) == {"pack": Kind.TRANSFERABLE, "rows": Kind.FACT}
    assert [spec.has_default for spec in plan_fields(Pair)] == [False, True]


def test_inheritance_across_modules_resolves_names_where_they_were_written(load: Load) -> None:
    load(
        """
        from __future__ import annotations
        from dataclasses import dataclass
        import ownership as own

        @dataclass
        class Mixin:
            fold: own.Transferable[int]

        @own.plan
        @dataclass
        class Base(Mixin):
            rows: own.Fact[int]
        """,
        name="ownership_test_base",
    )
    module = load(
        """
        from __future__ import annotations
        from dataclasses import dataclass
        from ownership import plan, Derived as D
        from ownership_test_base import Base

        @plan
        @dataclass
        class Child(Base):
            tiles: D[int]
        """
    )
    assert kinds(module.Child) == {"fold": Kind.TRANSFERABLE, "rows": Kind.FACT, "tiles": Kind.DERIVED}
    assert [spec.owner.__name__ for spec in plan_fields(module.Child)] == ["Mixin", "Base", "Child"]
