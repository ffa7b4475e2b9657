"""The two hooks, as another repository uses them: installed by pre-commit, run by it and by `git commit`.

pre-commit builds an environment for the hooks from the package registry. `pre-commit try-repo` builds a new one each
time, so it is used for the tests that are about it; the others share one environment.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from demo.wheel import registry_unreachable

ONE_CARRIER = """\
from __future__ import annotations

from dataclasses import dataclass

from ownership import Absent, Fact, Transferable, plan


@plan
@dataclass(frozen=True)
class ScratchPlan:
    rows: Fact[int]
    fold: Transferable[object | Absent]


def blank(rows: int) -> ScratchPlan:
    pending = Absent("nothing is compiled yet")
    return ScratchPlan(
        rows=rows,
        fold=pending,
    )
"""
TWO_CARRIERS = ONE_CARRIER.replace(
    "    fold: Transferable[object | Absent]\n",
    "    fold: Transferable[object | Absent]\n    pack: Transferable[object | Absent]\n",
).replace("        fold=pending,\n", "        fold=pending,\n        pack=pending,\n")

CARRIES_ONE = """\
from __future__ import annotations

from dataclasses import replace

from ownership import materializer

from plans import ScratchPlan, blank


@materializer
def materialize(prepared: ScratchPlan) -> ScratchPlan:
    return replace(
        blank(prepared.rows),
        fold=prepared.fold,
    )
"""
CARRIES_TWO = CARRIES_ONE.replace(
    "        fold=prepared.fold,\n", "        fold=prepared.fold,\n        pack=prepared.pack,\n"
)


@dataclass(frozen=True)
class Repository:
    """A git repository in a temporary folder, and the environment for the commands in it."""

    folder: Path
    env: dict[str, str]

    def run(self, *command: str) -> tuple[int, str]:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    def git(self, *arguments: str) -> str:
        status, output = self.run("git", *arguments)
        assert status == 0, output
        return output

    def write(self, **files: str) -> None:
        """Write and stage files; `plans=...` is `plans.py`, other suffixes are written `name_toml=...`."""
        for key, text in files.items():
            stem, _, suffix = key.partition("_")
            name = f"{stem}.{suffix or 'py'}"
            (self.folder / name).write_text(text, encoding="utf-8")
            self.git("add", name)

    def commit(self, *arguments: str) -> tuple[int, str]:
        return self.run("git", "commit", "--message", "A change", *arguments)


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Nothing of the user's git and pre-commit settings, one store of hook environments for the whole run."""
    home = tmp_path_factory.mktemp("home")
    (home / "gitconfig").write_text(
        "[user]\n\tname = A Tester\n\temail = tester@example.invalid\n[init]\n\tdefaultBranch = main\n",
        encoding="utf-8",
    )
    env = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PRE_COMMIT"))}
    return {
        **env,
        "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "PRE_COMMIT_HOME": str(home / "pre-commit"),
    }


def new_repository(folder: Path, env: dict[str, str]) -> Repository:
    folder.mkdir(parents=True, exist_ok=True)
    repository = Repository(folder, env)
    repository.git("init", "--quiet")
    return repository


@pytest.fixture(scope="session")
def published(root: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """This tree as a repository of its own with one commit: what another repository names under `repo:`."""
    repository = new_repository(tmp_path_factory.mktemp("published"), environment)
    for name in ("backend", "lint_rules", "ownership"):
        shutil.copytree(root / name, repository.folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(root / name, repository.folder)
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--message", "Snapshot")
    return repository


def skip_without_registry(output: str) -> None:
    if registry_unreachable(output):
        pytest.skip("needs the package registry: pre-commit could not install the hook, no answer came")


@pytest.fixture(scope="session")
def hook_config(published: Repository, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A `.pre-commit-config.yaml` that has both hooks, with their environment installed."""
    revision = published.git("rev-parse", "HEAD").strip()
    text = (
        f"repos:\n  - repo: {published.folder}\n    rev: {revision}\n    hooks:\n      - id: carryall\n"
        "      - id: carryall-fix\n        stages: [manual]\n"
    )
    first = new_repository(tmp_path_factory.mktemp("first"), published.env)
    (first.folder / ".pre-commit-config.yaml").write_text(text, encoding="utf-8")
    status, output = first.run(sys.executable, "-m", "pre_commit", "install-hooks")
    if status != 0:
        skip_without_registry(output)
    assert status == 0, output
    return text


@pytest.fixture
def scratch(environment: dict[str, str], tmp_path: Path) -> Repository:
    """A project with one carrier that is carried over, committed."""
    repository = new_repository(tmp_path / "scratch", environment)
    repository.write(plans=ONE_CARRIER, stages=CARRIES_ONE, README_md="A project.\n")
    repository.git("commit", "--quiet", "--message", "Start")
    return repository


@pytest.fixture
def hooked(scratch: Repository, hook_config: str) -> Repository:
    """The same project, with the hook installed into `git commit`."""
    (scratch.folder / ".pre-commit-config.yaml").write_text(hook_config, encoding="utf-8")
    scratch.git("add", ".pre-commit-config.yaml")
    scratch.git("commit", "--quiet", "--message", "Hooks")
    status, output = scratch.run(sys.executable, "-m", "pre_commit", "install")
    assert status == 0, output
    return scratch


def try_repo(project: Repository, published: Repository) -> tuple[int, str]:
    status, output = project.run(sys.executable, "-m", "pre_commit", "try-repo", str(published.folder), "carryall")
    if status != 0:
        skip_without_registry(output)
    return status, output


def test_try_repo_finds_the_drop_with_only_the_class_staged(scratch: Repository, published: Repository) -> None:
    scratch.write(plans=TWO_CARRIERS)
    status, output = try_repo(scratch, published)
    assert status == 1, output
    assert "stages.py:12" in output
    assert "OWN001" in output
    assert "pack" in output


def test_try_repo_passes_when_it_is_mended(scratch: Repository, published: Repository) -> None:
    scratch.write(plans=TWO_CARRIERS, stages=CARRIES_TWO)
    status, output = try_repo(scratch, published)
    assert status == 0, output
    assert "Passed" in output


def test_try_repo_passes_with_nothing_staged(scratch: Repository, published: Repository) -> None:
    status, output = try_repo(scratch, published)
    assert status == 0, output
    assert "Skipped" in output


def test_a_commit_that_drops_is_refused_and_the_mended_one_is_made(hooked: Repository) -> None:
    hooked.write(plans=TWO_CARRIERS, stages=CARRIES_ONE)
    status, output = hooked.commit()
    assert status == 1, output
    assert "OWN001" in output
    hooked.write(stages=CARRIES_TWO)
    status, output = hooked.commit()
    assert status == 0, output


def test_a_commit_of_the_class_alone_is_refused_for_the_copy_elsewhere(hooked: Repository) -> None:
    hooked.write(plans=TWO_CARRIERS)
    assert hooked.git("diff", "--cached", "--name-only").split() == ["plans.py"]
    status, output = hooked.commit()
    assert status == 1, output
    assert "stages.py:12" in output


def test_an_empty_commit_is_made(hooked: Repository) -> None:
    status, output = hooked.commit("--allow-empty")
    assert status == 0, output
    assert "no files to check" in output


def test_a_commit_without_python_is_made(hooked: Repository) -> None:
    hooked.write(README_md="A better description.\n")
    status, output = hooked.commit()
    assert status == 0, output
    assert "no files to check" in output


def test_a_commit_of_a_declaration_is_checked(hooked: Repository) -> None:
    hooked.write(pyproject_toml='[[tool.carryall.plan]]\nclass = "plans.Gone"\ntransferable = ["fold"]\n')
    status, output = hooked.commit()
    assert status == 1, output
    assert "plans.Gone" in output


def test_the_fixing_hook_mends_the_copy_and_then_passes(hooked: Repository) -> None:
    hooked.write(plans=TWO_CARRIERS)
    command = [sys.executable, "-m", "pre_commit", "run", "--hook-stage", "manual", "carryall-fix"]
    status, output = hooked.run(*command)
    assert status == 1, output
    assert "files were modified by this hook" in output
    assert (hooked.folder / "stages.py").read_text(encoding="utf-8") == CARRIES_TWO
    hooked.git("add", "stages.py")
    status, output = hooked.run(*command)
    assert status == 0, output
