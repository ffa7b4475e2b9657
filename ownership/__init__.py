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
`ownership.ledger` compares what published plans reach with what a session keeps alive; `ownership.errors` and
`ownership.ledger_errors` have one class for each mistake.
"""

from __future__ import annotations

from ownership.absence import Absent, Dropped
from ownership.carrier_map import CarrierMap
from ownership.carriers import carrier, carriers
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
from ownership.ledger import Ledger, Publication, publish
from ownership.ledger_errors import (
    BareClosureError,
    IncompleteMapError,
    InvalidAxisError,
    InvalidPathError,
    NotACarrierError,
    NotPublishedError,
    OutsideDomainError,
    PublishError,
    ResolvingCarrierError,
    StillReachableError,
    UndeclaredMapError,
    UnreachableProgramError,
    UnretainedProgramError,
)
from ownership.materialize import materializer
from ownership.plan import FieldSpec, is_plan, plan, plan_fields
from ownership.transfer import transfer

__all__ = [
    "Absent",
    "AbsentTruthError",
    "AliasedMarkError",
    "BareClosureError",
    "Borrowed",
    "CarrierMap",
    "ConflictingKindError",
    "DefaultedTransferableError",
    "Derived",
    "Dropped",
    "DroppedFieldError",
    "EmptyReasonError",
    "Ephemeral",
    "Fact",
    "FieldSpec",
    "IncompleteMapError",
    "InvalidAxisError",
    "InvalidPathError",
    "Kind",
    "KindChangedError",
    "LeakedFieldError",
    "Ledger",
    "MisnamedDropError",
    "MissingInitVarError",
    "MissingSourceFieldError",
    "NotACarrierError",
    "NotAMaterializerError",
    "NotAPlanError",
    "NotARecordError",
    "NotPublishedError",
    "OutsideDomainError",
    "OwnershipError",
    "Publication",
    "PublishError",
    "RebuiltFieldError",
    "ResolvingCarrierError",
    "StillReachableError",
    "Transferable",
    "UndeclaredMapError",
    "UnknownFieldError",
    "UnmarkedFieldError",
    "UnreachableProgramError",
    "UnretainedProgramError",
    "carrier",
    "carriers",
    "is_plan",
    "materializer",
    "plan",
    "plan_fields",
    "publish",
    "transfer",
]
