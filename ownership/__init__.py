"""Typed ownership for kernel plans: what must survive when one plan is made from another, and a check that it did.

Mark every field of a plan with its kind, make the step from plan to plan with `transfer`, and decorate what builds
plans from prepared ones with `@materializer`:

    @plan
    @dataclass(frozen=True)
    class ScratchPlan:
        rows: Fact[int]
        fold: Transferable[Launcher | Absent]

    @materializer
    def materialize(prepared: ScratchPlan, rows: int) -> ScratchPlan:
        return transfer(prepared, into=plan_scratch(rows))

The module `ownership.plan` explains the declaration, and a second way to make one that needs no plugin;
`ownership.errors` has one class for each mistake.
"""

from __future__ import annotations

from ownership.absence import Absent, Dropped
from ownership.carriers import carriers
from ownership.errors import (
    AbsentTruthError,
    AliasedMarkError,
    ConflictingKindError,
    DefaultedTransferableError,
    DroppedFieldError,
    EmptyReasonError,
    KindChangedError,
    LeakedFieldError,
    MisnamedDropError,
    MissingInitVarError,
    MissingSourceFieldError,
    NotAMaterializerError,
    NotAPlanError,
    NotARecordError,
    OwnershipError,
    RebuiltFieldError,
    UnknownFieldError,
    UnmarkedFieldError,
)
from ownership.kinds import Borrowed, Derived, Ephemeral, Fact, Kind, Transferable
from ownership.materialize import materializer
from ownership.plan import FieldSpec, is_plan, plan, plan_fields
from ownership.transfer import transfer

__all__ = [
    "Absent",
    "AbsentTruthError",
    "AliasedMarkError",
    "Borrowed",
    "ConflictingKindError",
    "DefaultedTransferableError",
    "Derived",
    "Dropped",
    "DroppedFieldError",
    "EmptyReasonError",
    "Ephemeral",
    "Fact",
    "FieldSpec",
    "Kind",
    "KindChangedError",
    "LeakedFieldError",
    "MisnamedDropError",
    "MissingInitVarError",
    "MissingSourceFieldError",
    "NotAMaterializerError",
    "NotAPlanError",
    "NotARecordError",
    "OwnershipError",
    "RebuiltFieldError",
    "Transferable",
    "UnknownFieldError",
    "UnmarkedFieldError",
    "carriers",
    "is_plan",
    "materializer",
    "plan",
    "plan_fields",
    "transfer",
]
