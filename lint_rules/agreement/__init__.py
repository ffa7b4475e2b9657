"""Places that must agree: what a function accepts and what it passes on, a key and what it stands for, two siblings."""

from __future__ import annotations
