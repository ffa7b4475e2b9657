"""The configuration: `[tool.carryall]` in `pyproject.toml`, or in a file named with `--config`."""

from __future__ import annotations

from lint_rules.config.errors import (
    ConfigError,
    ConfigSyntaxError,
    UnknownKeyError,
    UnreadableConfigError,
    WrongValueError,
)
from lint_rules.config.load import find_config, load_config, read_config
from lint_rules.config.model import Config, Option, PathRules, PlanDeclaration

__all__ = [
    "Config",
    "ConfigError",
    "ConfigSyntaxError",
    "Option",
    "PathRules",
    "PlanDeclaration",
    "UnknownKeyError",
    "UnreadableConfigError",
    "WrongValueError",
    "find_config",
    "load_config",
    "read_config",
]
