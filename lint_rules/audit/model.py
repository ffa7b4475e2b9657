"""What the audit says: a suggestion, with its reason and how sure it is."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lint_rules.findings import Finding
    from lint_rules.index.model import ClassInfo

__all__ = ["Confidence", "Suggestion", "declaration_of", "marks_of"]

Confidence = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A place where something seems to be lost, why it seems so, and how to have it checked from now on.

    `declaration` is a table for `pyproject.toml`, `marks` the class with its fields marked; both are empty where no
    class is concerned.
    """

    finding: Finding
    reason: str
    confidence: Confidence
    declaration: str = ""
    marks: str = ""


def declaration_of(cls: ClassInfo, fields: Sequence[str]) -> str:
    """The declaration of a class by which `carryall check` would see to these fields."""
    names = ", ".join(f'"{name}"' for name in fields)
    return f'[[tool.carryall.plan]]\nclass = "{cls.full_name}"\ntransferable = [{names}]\n'


def marks_of(cls: ClassInfo, fields: Sequence[str]) -> str:
    """The class with every field marked: these as `Transferable`, the rest as `Fact` to begin with."""
    if cls.flavor not in {"dataclass", "attrs"}:
        return ""
    lines = ["from ownership import Fact, Transferable, plan", "", "", "@plan"]
    lines += [f"@{ast.unparse(decorator)}" for decorator in cls.node.decorator_list]
    lines.append(f"class {cls.node.name}:")
    for name, info in cls.fields.items():
        kind = "Transferable" if name in fields else "Fact"
        annotation = ast.unparse(info.annotation) if info.annotation is not None else "object"
        default = ""
        if kind == "Fact" and info.default is not None:
            default = f" = {ast.unparse(info.default)}"
        lines.append(f"    {name}: {kind}[{annotation}]{default}")
    return "\n".join(lines) + "\n"
