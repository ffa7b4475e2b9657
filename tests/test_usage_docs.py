"""What docs/usage.md and docs/configuration.md say is so."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from lint_rules.cli import main
from lint_rules.config import load_config
from lint_rules.config.reader import _KEYS
from lint_rules.hygiene import HYGIENE
from lint_rules.report.formats import FORMATS
from lint_rules.rules import Rule

DOCS = Path(__file__).resolve().parent.parent / "docs"
USAGE = (DOCS / "usage.md").read_text(encoding="utf-8")
CONFIGURATION = (DOCS / "configuration.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str, language: str) -> list[str]:
    return [body for name, body in BLOCK.findall(page) if name == language]


def test_every_format_and_every_rule_about_comments_is_listed() -> None:
    assert re.findall(r"^\| `(\w+)`", USAGE, re.MULTILINE) == list(FORMATS)
    assert re.findall(r"^\| (OWN9\d\d) ", USAGE, re.MULTILINE) == list(HYGIENE)


def test_every_key_is_listed() -> None:
    assert set(re.findall(r"^\| `([\w-]+)`", CONFIGURATION, re.MULTILINE)) == set(_KEYS)


@pytest.mark.parametrize("page", [USAGE, CONFIGURATION])
def test_every_option_that_is_named_exists(page: str) -> None:
    known = {
        option
        for command in main.commands.values()
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page)) <= known


@pytest.mark.parametrize("text", [each for each in blocks(CONFIGURATION, "toml") if "tool.carryall" in each])
def test_every_configuration_is_valid(text: str, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "carryall.toml").write_text("[tool.carryall]\n", encoding="utf-8")
    (tmp_path / "project" / "pyproject.toml").write_text(text, encoding="utf-8")
    load_config(tmp_path / "project", None)


def test_the_rule_of_another_package_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (source,) = blocks(CONFIGURATION, "python")
    (declaration,) = [each for each in blocks(CONFIGURATION, "toml") if "entry-points" in each]
    value = tomllib.loads(declaration)["project"]["entry-points"]["carryall.rules"]["house"]
    module, _, attribute = value.partition(":")
    namespace: dict[str, object] = {"__name__": module}
    exec(compile(source, "configuration.md", "exec"), namespace)
    listed = namespace[attribute]
    assert isinstance(listed, list)
    (rule,) = listed
    assert isinstance(rule, Rule)
    from lint_rules import plugins
    from lint_rules.rules import load_rules

    monkeypatch.setattr(plugins, "load_all", lambda: ((*load_rules()[0], rule), ()))
    (tmp_path / "a.py").write_text(
        "from dataclasses import dataclass\nfrom ownership import Fact, plan\n\n\n@plan\n@dataclass(frozen=True)\n"
        "class Odd:\n    rows: Fact[int]\n",
        encoding="utf-8",
    )
    done = CliRunner().invoke(main, ["check", "--no-cache", str(tmp_path)])
    assert (done.exit_code, "ABC001 plan Odd is not called a Plan" in done.stdout) == (1, True)
