"""The static checker: finds plans that lose, rebuild or leak what they own."""

from __future__ import annotations

__all__: list[str] = []
