"""One run of a command: the configuration, the files, and the analysis of them, from the cache if it is there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lint_rules.cache import Cache, Outcome
from lint_rules.collector import without_collector
from lint_rules.config import Config, read_config
from lint_rules.files import SourceTree, load_tree
from lint_rules.findings import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Session", "open_session"]


@dataclass(frozen=True, slots=True)
class Session:
    """What a command works on. `config_problems` says what of the configuration could not be used."""

    config: Config
    tree: SourceTree
    config_problems: tuple[Problem, ...]

    def analyze(self, tree: SourceTree, progress: Callable[[int, int], None], *, use_cache: bool) -> Outcome:
        """The analysis of this tree, the session's own or a changed one."""
        cache = Cache(tree, self.config) if use_cache else None
        known = cache.load() if cache is not None else None
        if known is not None:
            return known
        # Around the engine's own guard: what it made is let go before the collector could walk it once more.
        with without_collector():
            outcome = run_rules(tree, self.config, progress)
        if cache is not None and outcome.lasting:
            cache.store(outcome)
        return outcome


def open_session(
    paths: Sequence[Path], config_path: Path | None, select: Sequence[str] = (), ignore: Sequence[str] = ()
) -> Session:
    """Read the configuration and the files. What cannot be read is a problem of the session, never an exception."""
    start = Path(paths[0]).absolute() if paths else Path.cwd()
    config, errors = read_config(start if start.is_dir() else start.parent, config_path)
    if select:
        config = replace(config, select=tuple(select))
    if ignore:
        config = replace(config, ignore=(*config.ignore, *ignore))
    problems = tuple(Problem(error.message, error.place) for error in errors)
    return Session(config, load_tree(paths, config=config), problems)


def run_rules(tree: SourceTree, config: Config, progress: Callable[[int, int], None]) -> Outcome:
    """Load the chosen rules and run them; a rule that cannot be loaded is a problem, and the others go on."""
    from lint_rules.engine import analyze
    from lint_rules.plugins import load_all
    from lint_rules.suppress import HYGIENE

    rules, failed = load_all()
    known = [*(rule.code for rule in rules), *HYGIENE]
    problems = [Problem(str(error)) for error in failed]
    problems += [
        Problem(f"unknown rule code {code!r} in {key}; known: {', '.join(dict.fromkeys(known))}")
        for key, codes in (("select", config.select or ()), ("ignore", config.ignore))
        for code in codes
        if not any(each.startswith(code) for each in known)
    ]
    analysis = analyze(tree, config, rules=rules, progress=progress)
    problems += [each for each in dict.fromkeys(analysis.problems) if each not in tree.problems]
    # What keeps a rule from loading lies outside of what the cache's key knows.
    return Outcome(tuple(analysis.findings), tuple(problems), analysis.plans, analysis.files, lasting=not failed)
