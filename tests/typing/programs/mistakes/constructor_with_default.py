"""A constructor forgets a carrier that has a default; the class is declared in `pyproject.toml`, not marked."""

from __future__ import annotations

from dataclasses import dataclass

from scratch import Launcher


@dataclass(frozen=True)
class DeclaredPlan:
    rows: int
    fold: Launcher | None = None
    pack: Launcher | None = None


def lossy(prepared: DeclaredPlan) -> DeclaredPlan:
    return DeclaredPlan(rows=prepared.rows, fold=prepared.fold)  # wrong


def whole(prepared: DeclaredPlan) -> DeclaredPlan:
    return DeclaredPlan(rows=prepared.rows, fold=prepared.fold, pack=prepared.pack)


def wrong() -> None:
    lossy(DeclaredPlan(8, Launcher("fold"), Launcher("pack")))


def right() -> None:
    whole(DeclaredPlan(8, Launcher("fold"), Launcher("pack")))
