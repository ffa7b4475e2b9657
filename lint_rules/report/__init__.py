"""How findings and problems are written down: text for people, JSON lines for programs."""

from __future__ import annotations

__all__: list[str] = []
