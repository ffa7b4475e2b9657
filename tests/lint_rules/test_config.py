from __future__ import annotations

from pathlib import Path

import pytest

from lint_rules.config import (
    Config,
    ConfigError,
    ConfigSyntaxError,
    UnknownKeyError,
    UnreadableConfigError,
    WrongValueError,
    find_config,
    load_config,
    read_config,
)
from lint_rules.findings import Place

PLAN = '[[tool.carryall.plan]]\nclass = "a.B"\ntransferable = ["x", "y"]\n'


def load(folder: Path, text: str) -> Config:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    return load_config(folder, None)


def error_of(folder: Path, text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(folder, text)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("pyproject.toml:")
    return caught.value


def test_a_project_that_says_nothing_has_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    assert load_config(tmp_path, None) == Config()


def test_everything_can_be_said(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        '[tool.carryall]\nselect = ["OWN001"]\nignore = ["OWN9"]\nexclude = ["gen/**"]\n'
        'materializers = ["a.make", "b/c.py::D.make"]\nparse-all = true\n'
        + PLAN
        + '[[tool.carryall.plan]]\nclass = "b/c.py::D.E"\ntransferable = ["t"]\nfact = ["f"]\nderived = ["d"]\n'
        'borrowed = ["b"]\nephemeral = ["e"]\n',
    )
    assert config.select == ("OWN001",)
    assert config.ignore == ("OWN9",)
    assert config.exclude == ("gen/**",)
    assert config.materializers == ("a.make", "b/c.py::D.make")
    assert config.parse_all is True
    assert config.path == tmp_path / "pyproject.toml"
    first, second = config.plans
    assert (first.class_name, first.transferable, first.fact) == ("a.B", ("x", "y"), ())
    assert (second.class_name, second.transferable, second.fact) == ("b/c.py::D.E", ("t",), ("f",))
    assert (second.derived, second.borrowed, second.ephemeral) == (("d",), ("b",), ("e",))


def test_parse_all_is_auto_unless_it_is_said(tmp_path: Path) -> None:
    assert load(tmp_path, PLAN).parse_all is None
    assert load(tmp_path, '[tool.carryall]\nparse-all = "auto"\n').parse_all is None
    assert load(tmp_path, "[tool.carryall]\nparse-all = false\n").parse_all is False


def test_each_declaration_knows_its_line(tmp_path: Path) -> None:
    text = (
        '# first\n[project]\nabout = """\n[[tool.carryall.plan]]\n"""\n'
        + PLAN
        + '\n[[ tool . "carryall".plan ]]  # second\nclass = "a.C"\ntransferable = ["x"]\n'
    )
    assert [plan.origin for plan in load(tmp_path, text).plans] == [
        Place("pyproject.toml", 6),
        Place("pyproject.toml", 10),
    ]


def test_a_declaration_written_inline_points_to_its_key(tmp_path: Path) -> None:
    text = '[tool.carryall]\n\nplan = [{class = "a.B", transferable = ["x"]}]\n'
    assert load(tmp_path, text).plans[0].origin == Place("pyproject.toml", 3)


# Where it is looked for


def test_the_nearest_file_that_is_about_carryall_counts(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(PLAN, encoding="utf-8")
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\ndependencies = ['carryall']\n", encoding="utf-8")
    assert find_config(inner) == tmp_path / "pyproject.toml"
    assert load_config(inner, None).path == tmp_path / "pyproject.toml"


def test_a_broken_file_elsewhere_is_none_of_our_business(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[broken\n", encoding="utf-8")
    assert find_config(tmp_path) is None


def test_a_file_named_on_the_command_line_wins(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.carryall]\nselect = ['OWN002']\n", encoding="utf-8")
    own = tmp_path / "own.toml"
    own.write_text(PLAN, encoding="utf-8")
    config = load_config(tmp_path, own)
    assert (config.path, config.select) == (own, None)
    assert config.plans[0].origin == Place(own.as_posix(), 1)


def test_a_file_that_is_there_and_cannot_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").touch()

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(UnreadableConfigError, match="cannot be read: Permission denied"):
        load_config(tmp_path, None)


# Mistakes


def test_an_unknown_key_is_named_with_the_nearest_known_one(tmp_path: Path) -> None:
    error = error_of(tmp_path, '[tool.carryall]\nignore = []\nexlude = ["a"]\n')
    assert isinstance(error, UnknownKeyError)
    assert (error.key, error.place.line) == ("exlude", 3)
    assert "did you mean 'exclude'?" in str(error)


def test_an_unknown_key_without_a_near_one_gets_the_list(tmp_path: Path) -> None:
    assert "known keys: plan, select" in str(error_of(tmp_path, "[tool.carryall]\nzzz = 1\n"))


def test_an_unknown_key_in_a_declaration_is_named(tmp_path: Path) -> None:
    error = error_of(tmp_path, PLAN + PLAN.replace("a.B", "a.C") + 'borowed = ["z"]\n')
    assert (error.place.line, "did you mean 'borrowed'?" in str(error)) == (7, True)


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ('[tool]\ncarryall = "yes"\n', "tool.carryall", 1),
        ('[tool.carryall]\nselect = "OWN001"\n', "select", 2),
        ("[tool.carryall]\nselect = [1]\n", "select", 2),
        ("[tool.carryall]\nselect = []\n", "select", 2),
        ('[tool.carryall]\nignore = ["own001"]\n', "ignore", 2),
        ("[tool.carryall]\nexclude = 'a'\n", "exclude", 2),
        ("[tool.carryall]\nmaterializers = ['make']\n", "materializers", 2),
        ("[tool.carryall]\nparse-all = 'yes'\n", "parse-all", 2),
        ("[tool.carryall]\nparse-all = 1\n", "parse-all", 2),
        ("[tool.carryall.plan]\nclass = 'a.B'\n", "plan", 1),
        ("[[tool.carryall.plan]]\nclass = 1\ntransferable = ['x']\n", "class", 2),
        ("[[tool.carryall.plan]]\nclass = 'B'\ntransferable = ['x']\n", "class", 2),
        ("[[tool.carryall.plan]]\nclass = 'a..B'\ntransferable = ['x']\n", "class", 2),
        ("[[tool.carryall.plan]]\nclass = 'a.txt::B'\ntransferable = ['x']\n", "class", 2),
        ("[[tool.carryall.plan]]\nclass = 'a.B'\ntransferable = 'x'\n", "transferable", 3),
        ("[[tool.carryall.plan]]\nclass = 'a.B'\ntransferable = ['x y']\n", "transferable", 3),
        ("[[tool.carryall.plan]]\nclass = 'a.B'\ntransferable = [['x']]\n", "transferable", 3),
    ],
)
def test_a_value_of_the_wrong_kind_is_named_with_what_is_accepted(
    tmp_path: Path, text: str, key: str, line: int
) -> None:
    error = error_of(tmp_path, text)
    assert isinstance(error, WrongValueError)
    assert (error.key, error.place.line) == (key, line)
    assert f"{key!r} must be " in str(error)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[tool.carryall.plan]]\ntransferable = ['x']\n", "without a 'class'"),
        ("[[tool.carryall.plan]]\nclass = 'a.B'\n", "names no field"),
        (PLAN + "fact = ['y']\n", "'y' of 'a.B' is declared both transferable and fact"),
        ("[[tool.carryall.plan]]\nclass = 'a.B'\ntransferable = ['x', 'x']\n", "declared twice as transferable"),
        (PLAN + PLAN, "declared twice, first in line 1"),
    ],
)
def test_a_declaration_that_contradicts_itself_is_an_error(tmp_path: Path, text: str, told: str) -> None:
    assert told in str(error_of(tmp_path, text))


def test_text_that_is_no_toml_is_an_error_with_its_place(tmp_path: Path) -> None:
    error = error_of(tmp_path, PLAN + "oops\n")
    assert isinstance(error, ConfigSyntaxError)
    assert error.place.line == 4


def test_a_file_that_is_not_utf_8_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_bytes(b"# \xff\n")
    with pytest.raises(ConfigSyntaxError, match="not UTF-8"):
        load_config(tmp_path, tmp_path / "own.toml")


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(UnreadableConfigError, match=r"gone\.toml"):
        load_config(tmp_path, tmp_path / "gone.toml")


def test_a_folder_in_place_of_a_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableConfigError, match="cannot be read"):
        load_config(tmp_path, tmp_path)


def test_a_file_named_with_config_must_be_about_carryall(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text("[tool.other]\n", encoding="utf-8")
    with pytest.raises(UnreadableConfigError, match=r"no \[tool\.carryall\]"):
        load_config(tmp_path, tmp_path / "own.toml")


def test_all_mistakes_are_found_at_once_and_the_rest_is_used(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text("[tool.carryall]\nselect = 1\nexclude = ['x']\nfoo = 1\n" + PLAN + "bar = 1\n", encoding="utf-8")
    config, errors = read_config(tmp_path, own)
    assert [error.place.line for error in errors] == [2, 4, 8]
    assert (config.exclude, [plan.class_name for plan in config.plans]) == (("x",), ["a.B"])


# The digest


def test_the_digest_changes_with_every_setting_and_not_with_the_place(tmp_path: Path) -> None:
    here, there = tmp_path / "a", tmp_path / "b"
    here.mkdir()
    there.mkdir()
    texts = [PLAN, PLAN.replace("x", "z"), "[tool.carryall]\n" + PLAN, "[tool.carryall]\nselect = ['OWN2']\n"]
    texts += ["[tool.carryall]\nignore = ['OWN1']\n", "[tool.carryall]\nexclude = ['a']\n"]
    texts += ["[tool.carryall]\nparse-all = true\n", "[tool.carryall]\nmaterializers = ['a.b']\n"]
    assert len({load(here, text).digest() for text in texts}) == len(texts)
    assert [load(here, text).digest() for text in texts] == [load(there, text).digest() for text in texts]
