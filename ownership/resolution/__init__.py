"""The resolution freeze: once serving has begun, no kernel may be compiled, loaded or resolved.

    with watch():
        warm_up()
    freeze("serving")

From then on whatever is resolved raises `ResolutionFrozenError`, which names the kernel, the argument that differs from
what was prepared, the freeze, and the plan field that should have carried the program. `ownership.resolution.guard`
says how guards work together, `docs/resolution.md` how to use them in a serving engine.
"""

from __future__ import annotations

from ownership.resolution import manifest
from ownership.resolution._observe import Observation, judge, observe, subscribe
from ownership.resolution.errors import (
    BlankReasonError,
    CannotWatchError,
    ManifestError,
    NotFreezableError,
    NotResolvableError,
    ResolutionFrozenError,
    ResolutionWarning,
    UnknownModeError,
)
from ownership.resolution.events import Action, Difference, FreezeInfo, Mode, Resolution, Verdict
from ownership.resolution.guard import Freeze, Watch, freeze, freezes, labelled, owned_by, permit, watch
from ownership.resolution.report import Report, report
from ownership.resolution.resolver import resolver

__all__ = [
    "Action",
    "BlankReasonError",
    "CannotWatchError",
    "Difference",
    "Freeze",
    "FreezeInfo",
    "ManifestError",
    "Mode",
    "NotFreezableError",
    "NotResolvableError",
    "Observation",
    "Report",
    "Resolution",
    "ResolutionFrozenError",
    "ResolutionWarning",
    "UnknownModeError",
    "Verdict",
    "Watch",
    "freeze",
    "freezes",
    "judge",
    "labelled",
    "manifest",
    "observe",
    "owned_by",
    "permit",
    "report",
    "resolver",
    "subscribe",
    "watch",
]
