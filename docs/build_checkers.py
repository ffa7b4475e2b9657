"""Write the tables of `docs/type_checkers.md` from what the checkers say now: `make docs`.

The rows are the programs of `tests/typing/programs`. Every cell is measured: the type checkers and the linter are run
on the programs, and the mistakes are run as programs, too. A test fails when the page is not what this would write.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.typing.checkers import (
    CHECKERS,
    MISTAKES,
    PATTERNS,
    TYPE_CHECKERS,
    Outcome,
    Report,
    all_outcomes,
    all_reports,
    marked_lines,
    mistakes,
)

__all__ = ["PAGE", "UnexpectedReportError", "main", "pattern_rows", "refreshed", "rows"]

PAGE = Path(__file__).resolve().parent / "type_checkers.md"
SECTION = re.compile(
    r"(?P<head><!-- (?P<table>\w+): written by docs/build_checkers.py -->\n\n).*?(?P<end>\n<!-- end -->)", re.DOTALL
)
NOTHING = "-"

#: The published bug comes first, and what is close to it; programs that are not named here follow in order.
_FIRST = (
    "replace_forgets",
    "constructor_with_default",
    "absent_in_constructor",
    "one_branch",
    "stepwise",
    "copy_list",
    "unprepared_returned",
    "recompiled",
    "map_copied",
    "deepcopy",
    "asdict",
    "rebind",
    "object_setattr",
    "unmarked_field",
    "defaulted_carrier",
    "ephemeral_leaks",
    "borrowed_leaks",
    "bundle_forgets",
    "bundle_not_carried",
    "bundle_unprepared",
)


class UnexpectedReportError(Exception):
    """A checker reports something else than the mistake: a line without the mark, or the right twin."""


def rows() -> dict[str, list[str]]:
    """The cells of each row by name of the program, in order: the title, a cell for each checker, and the run time."""
    marks = marked_lines(MISTAKES, "wrong")
    ran = all_outcomes()
    ordered = sorted(mistakes(), key=lambda name: (_FIRST.index(name) if name in _FIRST else len(_FIRST), name))
    reports = all_reports()
    for checker, said in reports.items():
        for report in said:
            if report.file in marks and report.line not in marks[report.file]:
                raise UnexpectedReportError(f"{checker} reports {report}, where nothing is marked as wrong")
    return {
        name: [
            _title(MISTAKES / f"{name}.py"),
            *(_static(name, reports[checker]) for checker in CHECKERS),
            _run_time(name, *ran[name]),
        ]
        for name in ordered
    }


def pattern_rows() -> dict[str, list[str]]:
    """The cells of each row by name of the file: the title, and how many wrong lines each type checker rejects."""
    reports = all_reports()
    cells: dict[str, list[str]] = {}
    incomplete: dict[str, int] = {}
    for file, marks in marked_lines(PATTERNS, "error").items():
        rejected = [{each.line for each in reports[checker] if each.file == file} for checker in TYPE_CHECKERS]
        for checker, lines in zip(TYPE_CHECKERS, rejected, strict=True):
            if not lines <= marks.keys():
                raise UnexpectedReportError(f"{checker} reports {file}, lines {sorted(lines - marks.keys())}")
        cells[file] = [_title(PATTERNS / file), *(f"{len(lines)} of {len(marks)}" for lines in rejected)]
        incomplete[file] = sum(len(marks) - len(lines) for lines in rejected)
    return {file: cells[file] for file in sorted(cells, key=lambda file: (incomplete[file], file))}


def _title(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    if not text:
        raise ValueError(f"{path.name} has no docstring to be the title of its row")
    link = f"../{path.relative_to(PAGE.parents[1]).as_posix()}"
    return f"[{text.splitlines()[0].removesuffix('.')}]({link})"


def _static(name: str, said: Sequence[Report]) -> str:
    return " ".join(dict.fromkeys(f"`{report.code}`" for report in said if report.file == f"{name}.py")) or NOTHING


def _run_time(name: str, wrong: Outcome, right: Outcome) -> str:
    if right.error is not None:
        raise UnexpectedReportError(f"the right step of {name}.py raises {right.error}")
    if wrong.error is None:
        return NOTHING
    return f"`{wrong.error}`" if wrong.own else f"Python's `{wrong.error}`"


def _table(head: Sequence[str], cells: Mapping[str, Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *cells.values()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def refreshed(page: str) -> str:
    """The page with the tables as they are now.

    Raises:
        ValueError: the page does not have one place for each of the tables.
        UnexpectedReportError: a checker, or the running program, objects to what is right.

    """
    found = sorted(match["table"] for match in SECTION.finditer(page))
    if found != ["mistakes", "patterns"]:
        raise ValueError(f"wanted one place for each of two tables in {PAGE.name}, found {found}")
    tables = {
        "mistakes": _table(["mistake", *CHECKERS, "run time"], rows()),
        "patterns": _table(["pattern", *TYPE_CHECKERS], pattern_rows()),
    }
    return SECTION.sub(lambda match: f"{match['head']}{tables[match['table']]}{match['end']}", page)


def main() -> int:
    """Write the tables anew."""
    PAGE.write_text(refreshed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
