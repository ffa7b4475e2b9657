"""Configuration beyond one table: `extend`, per-path tables, options of rules."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lint_rules.config import Config, ConfigError, PathRules, UnknownKeyError, load_config, read_config
from lint_rules.config.globs import belongs
from lint_rules.findings import Place

PLAN = '[[tool.carryall.plan]]\nclass = "{}"\ntransferable = ["{}"]\n'


def load(folder: Path, **texts: str) -> Config:
    for name, text in texts.items():
        write(folder, name, text)
    return load_config(folder, None)


def write(folder: Path, name: str, text: str) -> None:
    path = folder / f"{name.replace('__', '/')}.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def error_of(folder: Path, **texts: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(folder, **texts)
    assert "\n" not in str(caught.value)
    return caught.value


# extend


def test_what_only_the_base_says_counts_and_what_both_say_is_the_own(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        base="[tool.carryall]\nselect = ['OWN001']\nignore = ['OWN9']\nexclude = ['gen']\nparse-all = true\n"
        "baseline = 'known.json'\n",
        pyproject="[tool.carryall]\nextend = 'base.toml'\nignore = ['OWN012']\n",
    )
    assert (config.select, config.ignore, config.exclude, config.parse_all) == (
        ("OWN001",),
        ("OWN012",),
        ("gen",),
        True,
    )
    assert config.baseline == tmp_path / "known.json"
    assert (config.path, config.extends) == (tmp_path / "pyproject.toml", (tmp_path / "base.toml",))
    assert (config.origins["select"], config.origins["ignore"]) == (Place("base.toml", 2), Place("pyproject.toml", 3))


def test_plans_materializers_options_and_per_path_tables_are_united(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        base="[tool.carryall]\nmaterializers = ['a.f']\n[tool.carryall.options.ABC001]\nx = 1\ny = 1\n"
        + PLAN.format("a.B", "old")
        + PLAN.format("a.C", "c")
        + "[[tool.carryall.per-path]]\npaths = ['a']\nignore = ['OWN001']\n",
        pyproject="[tool.carryall]\nextend = 'base.toml'\nmaterializers = ['a.g']\n"
        "[tool.carryall.options.ABC001]\ny = 2\n"
        + PLAN.format("a.B", "new")
        + "[[tool.carryall.per-path]]\npaths = ['b']\nignore = ['OWN002']\n",
    )
    assert {plan.class_name: plan.transferable for plan in config.plans} == {"a.B": ("new",), "a.C": ("c",)}
    assert config.materializers == ("a.f", "a.g")
    assert [each.paths for each in config.per_path] == [("a",), ("b",)]
    assert {each.name: each.value for each in config.options} == {"x": 1, "y": 2}


def test_of_several_bases_the_last_is_the_nearest_and_bases_have_bases(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        far="[tool.carryall]\nselect = ['OWN003']\nexclude = ['far']\nignore = ['OWN003']\n",
        near="[tool.carryall]\nselect = ['OWN002']\nexclude = ['near']\n",
        root="[tool.carryall]\nbaseline = 'root.json'\n",
        shared__one="[tool.carryall]\nextend = '../root.toml'\nexclude = ['shared']\n",
        pyproject="[tool.carryall]\nextend = ['far.toml', 'near.toml', 'shared/one.toml']\n",
    )
    assert (config.select, config.exclude, config.ignore) == (("OWN002",), ("shared",), ("OWN003",))
    assert config.baseline is not None
    assert config.baseline.resolve() == tmp_path / "root.json"


def test_mistakes_in_a_base_are_told_with_its_name(tmp_path: Path) -> None:
    error = error_of(
        tmp_path, shared__base="[tool.carryall]\nselct = 1\n", pyproject="[tool.carryall]\nextend='shared/base.toml'\n"
    )
    assert isinstance(error, UnknownKeyError)
    assert str(error.place) == "shared/base.toml:2"


@pytest.mark.parametrize(
    ("base", "told"),
    [
        ("extend = 'gone.toml'", "gone.toml:1: no such configuration file; check 'extend' in pyproject.toml"),
        ("extend = 1", "pyproject.toml:2: 'extend' must be the path of a TOML file, or a list of them"),
        ("extend = ['']", "'extend' must be the path"),
        (
            "extend = 'pyproject.toml'",
            "pyproject.toml:2: 'extend' leads in a circle: pyproject.toml -> pyproject.toml; take one of them out",
        ),
        ("extend = 'other.toml'", "other.toml:1: has no [tool.carryall]"),
        ("baseline = 1", "'baseline' must be the path of a file"),
    ],
)
def test_a_base_that_cannot_be_used_is_an_error(tmp_path: Path, base: str, told: str) -> None:
    assert told in str(error_of(tmp_path, other="[tool.x]\n", pyproject=f"[tool.carryall]\n{base}\n"))


def test_a_longer_circle_is_found_too_and_the_rest_is_used(tmp_path: Path) -> None:
    write(tmp_path, "pyproject", "[tool.carryall]\nextend = 'b.toml'\n")
    write(tmp_path, "b", "[tool.carryall]\nextend = 'pyproject.toml'\nexclude = ['x']\n")
    config, errors = read_config(tmp_path, None)
    assert [str(error) for error in errors] == [
        "b.toml:2: 'extend' leads in a circle: pyproject.toml -> b.toml -> pyproject.toml; take one of them out"
    ]
    assert config.exclude == ("x",)


# Per path


@pytest.mark.parametrize(
    ("pattern", "names", "others"),
    [
        ("tests", ["tests/a.py", "x/tests/b/c.py"], ["a.py", "tests.py"]),
        ("tests/**", ["tests/a.py", "tests/b/c.py"], ["x/tests/a.py"]),
        ("engine/*.py", ["engine/a.py"], ["engine/b/c.py"]),
        ("*_test.py", ["a_test.py", "b/c_test.py"], ["a.py"]),
        ("!engine", ["a.py"], ["engine/a.py"]),
    ],
)
def test_patterns_are_those_of_exclude(pattern: str, names: list[str], others: list[str]) -> None:
    assert [belongs(name, (pattern,)) for name in (*names, *others)] == [True] * len(names) + [False] * len(others)


@given(st.text(alphabet="ab/*?!.", max_size=8), st.text(alphabet="ab/.", max_size=8))
def test_a_pattern_and_its_negation_never_agree(pattern: str, name: str) -> None:
    assert belongs(name, (f"!{pattern}",)) is not belongs(name, (pattern,)) or pattern.startswith("!")


def test_a_table_changes_the_rules_of_its_files_only() -> None:
    tables = (PathRules(("tests",), ignore=("OWN001",)), PathRules(("engine",), select=("OWN00",)))
    config = Config(ignore=("OWN012",), per_path=tables)
    chosen = {
        name: [code for code in ("OWN001", "OWN004", "OWN012", "OWN900") if config.chooses(code, name)]
        for name in ("a.py", "tests/a.py", "engine/a.py", "tests/engine/a.py")
    }
    assert chosen == {
        "a.py": ["OWN001", "OWN004", "OWN900"],
        "tests/a.py": ["OWN004", "OWN900"],
        "engine/a.py": ["OWN001", "OWN004"],
        "tests/engine/a.py": ["OWN004"],
    }


def test_tables_are_read_with_their_lines(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        pyproject="[[tool.carryall.per-path]]\npaths = ['a']\nselect = ['OWN0']\n\n"
        "[[tool.carryall.per-path]]\npaths = ['b', 'c']\nignore = ['OWN1']\noptions = {ABC001 = {x = ['y']}}\n",
    )
    first, second = config.per_path
    assert (first.paths, first.select, first.ignore, first.origin) == (
        ("a",),
        ("OWN0",),
        (),
        Place("pyproject.toml", 1),
    )
    assert (second.paths, second.select, second.ignore, second.origin.line) == (("b", "c"), None, ("OWN1",), 5)
    assert [(each.code, each.name, each.value) for each in second.options] == [("ABC001", "x", ("y",))]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("per-path = 1", "'per-path' must be an array of tables"),
        (
            "[[tool.carryall.per-path]]\nignore = ['OWN001']",
            "pyproject.toml:2: [[tool.carryall.per-path]] without 'paths'",
        ),
        ("[[tool.carryall.per-path]]\npaths = ['a']", "changes nothing; add 'ignore', 'select' or 'options'"),
        ("[[tool.carryall.per-path]]\npaths = ['a']\nignor = ['x']", "pyproject.toml:4: unknown key 'ignor'"),
        ("[[tool.carryall.per-path]]\npaths = 'a'\nignore = ['OWN001']", "'paths' must be a list of glob patterns"),
        ("[[tool.carryall.per-path]]\npaths = ['a']\nselect = []", "'select' must be a list of rule codes"),
        ("[[tool.carryall.per-path]]\npaths = ['a']\nignore = ['own']", "'ignore' must be a list of rule codes"),
        ("options = 1", "'options' must be a table for each rule"),
        ("options = {x = {}}", "[tool.carryall.options] has 'x'; each of its keys is a rule code"),
        ("[tool.carryall.options.ABC001]\n\nx = 1979-01-01", "pyproject.toml:4: 'x' must be a number, a text"),
    ],
)
def test_a_wrong_table_is_an_error_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    assert told in str(error_of(tmp_path, pyproject=f"[tool.carryall]\n{text}\n"))


# Options


def test_an_option_of_a_per_path_table_wins_in_its_files(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        pyproject="[tool.carryall.options.ABC001]\nmost = 3\n"
        "[[tool.carryall.per-path]]\npaths = ['engine']\noptions = {ABC001 = {most = 5}}\n",
    )
    values = [config.option("ABC001", "most", path) for path in (None, "a.py", "engine/a.py")]
    assert [each.value if each is not None else None for each in values] == [3, 3, 5]
    assert config.option("ABC001", "least", "a.py") is None
    assert config.options[0].origin == Place("pyproject.toml", 2)


def test_the_digest_changes_with_what_changes_results(tmp_path: Path) -> None:
    texts = ["", "[tool.carryall.options.ABC001]\nx = 1\n", "[tool.carryall.options.ABC001]\nx = 2\n"]
    table = "[[tool.carryall.per-path]]\npaths = ['a']\n"
    texts += [
        f"{table}ignore = ['OWN001']\n",
        f"{table}select = ['OWN001']\n",
        f"{table}options = {{ABC001 = {{x = 1}}}}\n",
    ]
    assert len({load(tmp_path, pyproject=f"[tool.carryall]\n{text}").digest() for text in texts}) == len(texts)
    assert load(tmp_path, pyproject="[tool.carryall]\nbaseline = 'x'\n").digest() == Config().digest()
