"""One configuration over another: what `extend` means."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lint_rules.config.model import Config, Option

__all__ = ["merged"]


def merged(base: Config, own: Config) -> Config:
    """`own`, completed by what only `base` says.

    A value of `own` stands in place of that of `base`. What is a collection of named things is united: plans by their
    class, options by rule and name, materializers; per-path tables of the base come first, so that those of `own` have
    the last word.
    """
    declared = {plan.class_name for plan in own.plans}
    stated = {_name(option) for option in own.options}
    bases = (base.path,) if base.path is not None else ()
    return replace(
        own,
        plans=(*(plan for plan in base.plans if plan.class_name not in declared), *own.plans),
        select=own.select if "select" in own.origins else base.select,
        ignore=own.ignore if "ignore" in own.origins else base.ignore,
        exclude=own.exclude if "exclude" in own.origins else base.exclude,
        materializers=tuple(dict.fromkeys((*base.materializers, *own.materializers))),
        parse_all=own.parse_all if "parse-all" in own.origins else base.parse_all,
        per_path=(*base.per_path, *own.per_path),
        options=(*(each for each in base.options if _name(each) not in stated), *own.options),
        baseline=own.baseline if "baseline" in own.origins else base.baseline,
        extends=(*own.extends, *bases, *base.extends),
        origins={**base.origins, **own.origins},
    )


def _name(option: Option) -> tuple[str, str]:
    return option.code, option.name
