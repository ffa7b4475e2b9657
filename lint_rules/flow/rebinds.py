"""Plans that a function was given, and carriers of them that it replaces in place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lint_rules.flow.values import AbsentMark, Attr, Node, bare, is_blank

if TYPE_CHECKING:
    from lint_rules.findings import Place
    from lint_rules.flow.state import State
    from lint_rules.flow.values import Val
    from lint_rules.index.model import FunctionInfo
    from lint_rules.index.plans import PlanInfo

__all__ = ["INITIALIZERS", "Rebinding", "Rebindings", "has_nothing_to_lose", "is_stated"]

#: Methods that finish the object they are given: what they set was not there before.
INITIALIZERS = frozenset({
    "__init__", "__new__", "__post_init__", "__attrs_post_init__", "__setstate__", "model_post_init",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rebinding:
    """A transferable field of a plan is set to another object; `emptied` says that it is set to nothing at all."""

    plan: PlanInfo
    field: str
    place: Place
    target: str
    emptied: bool


class Rebindings:
    """Collects them over a project; a helper that was seen to complete a plan made in sight is not held to them."""

    def __init__(self) -> None:
        self._found: dict[tuple[Place, str], tuple[Rebinding, FunctionInfo | None]] = {}
        self._completing: set[FunctionInfo] = set()

    def add(self, found: Rebinding, info: FunctionInfo | None) -> None:
        self._found.setdefault((found.place, found.field), (found, info))

    def note_completing(self, info: FunctionInfo) -> None:
        """A caller gave this function a plan that it had made itself, and that had no carrier there yet."""
        self._completing.add(info)

    def results(self) -> list[Rebinding]:
        return [found for found, info in self._found.values() if info not in self._completing]


def is_stated(value: Val) -> bool:
    """Whether a value says that the field is given up, or not there."""
    return any(isinstance(bare(part), AbsentMark) for part in value)


def has_nothing_to_lose(target: Node, name: str, state: State) -> bool:
    """Whether this path knows that the field is empty, or that it was set here before."""
    known = any(isinstance(node, Attr) and node.name == name and bare(node.owner) is target for node in state.absent)
    before = state.read(target, name)
    return known or (before is not None and all(map(is_blank, before)))
