"""One run of a command: the configuration, the files, and the analysis of them, from the cache if it is there."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lint_rules.cache import FOLDER, Cache, Outcome
from lint_rules.collector import without_collector
from lint_rules.config import Config, read_config
from lint_rules.files import SourceTree, load_tree
from lint_rules.findings import Problem
from lint_rules.parts import concerns
from lint_rules.valid import load_valid, store_valid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lint_rules.baseline import Baseline
    from lint_rules.rules import Rule
    from lint_rules.unsaved import Unsaved

__all__ = ["Session", "baseline_name", "open_session", "with_baseline"]


@dataclass(frozen=True, slots=True)
class Session:
    """What a command works on. `config_problems` says what of the configuration could not be used.

    `only` names the file that an editor asks about; nothing is reported of others then.
    """

    config: Config
    tree: SourceTree
    config_problems: tuple[Problem, ...]
    baseline: Baseline | None = None
    only: str | None = None

    def analyze(self, tree: SourceTree, progress: Callable[[int, int], None], *, use_cache: bool) -> Outcome:
        """The analysis of this tree, the session's own or a changed one."""
        cache = Cache(tree, self.config) if use_cache else None
        known = cache.load() if cache is not None else None
        if known is None and cache is not None and tree.selected != tree.files.keys():
            known = _part_of_whole(tree, self.config)
        if known is not None:
            return known
        folder = tree.root / FOLDER
        valid = load_valid(folder) if use_cache else set()
        before = len(valid)
        # Around the engine's own guard: what it made is let go before the collector could walk it once more.
        with without_collector():
            outcome = run_rules(tree, self.config, progress, valid)
        if cache is not None and outcome.lasting:
            cache.store(outcome)
        if use_cache and len(valid) > before:
            store_valid(folder, valid, {file.digest for file in tree.files.values()})
        return outcome


def _part_of_whole(tree: SourceTree, config: Config) -> Outcome | None:
    """What a run on the whole project said of the files that are selected; None where it was not made, or had problems.

    A problem may be one of a file that this run would not have looked at.
    """
    whole = Cache(replace(tree, selected=frozenset(tree.files)), config).load()
    if whole is None or whole.problems:
        return None
    return replace(whole, findings=tuple(each for each in whole.findings if concerns(each, tree.selected)))


def open_session(
    paths: Sequence[Path],
    config_path: Path | None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    *,
    baseline: Path | None = None,
    unsaved: Unsaved | None = None,
) -> Session:
    """Read the configuration and the files. What cannot be read is a problem of the session, never an exception.

    A `baseline` is used in place of the configured one. With `unsaved`, that text is what is asked about.
    """
    asked = [unsaved.path] if unsaved is not None else paths
    start = Path(asked[0]).absolute() if asked else Path.cwd()
    config, errors = read_config(start if start.is_dir() else start.parent, config_path)
    if select:
        config = replace(config, select=tuple(select))
    if ignore:
        config = replace(config, ignore=(*config.ignore, *ignore))
    if baseline is not None:
        config = replace(config, baseline=baseline)
    problems = tuple(Problem(error.message, error.place) for error in errors)
    if unsaved is not None:
        from lint_rules.unsaved import load_with

        tree, name = load_with(unsaved, config)
        return Session(config, tree, problems, only=name)
    return Session(config, load_tree(paths, config=config), problems)


def with_baseline(session: Session) -> Session:
    """The session with the baseline that it names, if it does. One that cannot be read is a problem."""
    if session.config.baseline is None:
        return session
    from lint_rules.baseline import BaselineError, read_baseline

    path = session.config.baseline
    try:
        return replace(session, baseline=read_baseline(path, baseline_name(path)))
    except BaselineError as error:
        return replace(session, config_problems=(*session.config_problems, Problem(error.message, error.place)))


def baseline_name(path: Path) -> str:
    """The file as a reader in the current folder would name it."""
    return os.path.relpath(path).replace(os.sep, "/") if path.is_relative_to(Path.cwd()) else path.as_posix()


def run_rules(
    tree: SourceTree, config: Config, progress: Callable[[int, int], None], valid: set[str] | None = None
) -> Outcome:
    """Load the chosen rules and run them; a rule that cannot be loaded is a problem, and the others go on."""
    from lint_rules.engine import analyze
    from lint_rules.plugins import load_all
    from lint_rules.suppress import HYGIENE

    rules, failed = load_all()
    problems = [*(Problem(str(error)) for error in failed), *_unknown(config, rules, HYGIENE, complete=not failed)]
    analysis = analyze(tree, config, rules=rules, progress=progress, valid=valid)
    problems += [each for each in dict.fromkeys(analysis.problems) if each not in tree.problems]
    # What keeps a rule from loading lies outside of what the cache's key knows.
    return Outcome(tuple(analysis.findings), tuple(problems), analysis.plans, analysis.files, lasting=not failed)


def _unknown(config: Config, rules: Sequence[Rule], others: Iterable[str], *, complete: bool) -> Iterator[Problem]:
    """Codes and options of the configuration that no rule has. A rule that was not loaded may have had the option."""
    known = [*dict.fromkeys([*(rule.code for rule in rules), *others])]
    told = ", ".join(known)
    named = [("select", config.select or ()), ("ignore", config.ignore)]
    for table in config.per_path:
        named += [
            (f"{key} of {table.origin}", codes)
            for key, codes in (("select", table.select), ("ignore", table.ignore))
            if codes
        ]
    for key, codes in named:
        for code in codes:
            if not any(each.startswith(code) for each in known):
                yield Problem(f"unknown rule code {code!r} in {key}; known: {told}")
    by_code = {rule.code: rule for rule in rules}
    for option in (*config.options, *(each for table in config.per_path for each in table.options)):
        rule = by_code.get(option.code)
        if rule is None:
            if complete:
                yield Problem(f"options for an unknown rule {option.code!r}; known: {told}", option.origin)
            continue
        accepted: Mapping[str, object] = getattr(rule, "options", {})
        if option.name not in accepted:
            has = f"its options are {', '.join(accepted)}" if accepted else "it has none"
            yield Problem(f"{option.code} has no option {option.name!r}; {has}", option.origin)
        elif type(option.value) is not type(accepted[option.name]):
            wanted = type(accepted[option.name]).__name__
            yield Problem(
                f"option {option.name!r} of {option.code} must be {wanted}, not {option.value!r}", option.origin
            )
