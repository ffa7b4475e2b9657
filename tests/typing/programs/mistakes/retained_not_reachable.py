"""A program is kept alive, and no published plan reaches it."""

from __future__ import annotations

from scratch import ScratchPlan, compile_launcher

from ownership import Absent, Ledger


def wrong() -> None:
    ledger = Ledger("engine")
    fold = ledger.retain(compile_launcher("fold"), at="fold")
    ledger.retain(compile_launcher("pack"), at="pack")
    ledger.publish(ScratchPlan(rows=8, fold=fold, pack=Absent("not compiled yet")))  # wrong


def right() -> None:
    ledger = Ledger("engine")
    fold = ledger.retain(compile_launcher("fold"), at="fold")
    pack = ledger.retain(compile_launcher("pack"), at="pack")
    ledger.publish(ScratchPlan(rows=8, fold=fold, pack=pack))
