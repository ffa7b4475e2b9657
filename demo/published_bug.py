"""The main job on real input: find, audit and mend a dropped carrier in a published wheel.

Run it with `make demo`, or `python -m demo.published_bug` from the root of the repository. It ends with status 1
as soon as a step does not show what it promises, and with status 2 when the wheel cannot be fetched.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from demo.wheel import DECLARATION, REQUIREMENT, FetchError, fetch, unpack

__all__ = ["FIELD", "PLACE", "PLAN", "carryall", "main", "mend"]

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "demo"

#: Where the bug is, and what it is about.
PLACE = "b12x/moe/fused_moe/_preparation.py"
PLAN = "b12x.moe.fused_moe._impl.TPMoEScratchPlan"
FIELD = "_prewarmed_route_pack_launches"

# The mend: text that is there once, and what is put after it. The record that preparation returns has no place for
# the launches either, so the keyword alone would not run: it gets a field, preparation fills it, `replace` hands it on.
MEND = [
    ("    mixed_trellis_launches: tuple\n", "    route_pack_launches: object | None\n"),
    ("            scratch._mixed_trellis_launches, ", "scratch._prewarmed_route_pack_launches, "),
    (
        "                _mixed_trellis_launches=programs.mixed_trellis_launches,\n",
        "                _prewarmed_route_pack_launches=programs.route_pack_launches,\n",
    ),
]


class UnexpectedError(Exception):
    """A step of the demonstration did not show what it promises."""


def carryall(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in the folder, with the Python that runs this."""
    command = [sys.executable, "-m", "lint_rules", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def mend(folder: Path) -> None:
    """Carry the launches over in the unpacked copy: three places in one file.

    Raises `UnexpectedError` when a place is not there exactly once.
    """
    path = folder / PLACE
    text = path.read_text(encoding="utf-8")
    for anchor, addition in MEND:
        if text.count(anchor) != 1:
            raise UnexpectedError(f"{PLACE} has {text.count(anchor)} places that read {anchor!r}, 1 was expected")
        text = text.replace(anchor, anchor + addition)
    path.write_text(text, encoding="utf-8")


def show(folder: Path, *arguments: str, expected: int) -> None:
    """Run the command, print what it prints, and insist on its exit status."""
    print(f"\n$ carryall {' '.join(arguments)}")
    done = carryall(folder, *arguments)
    print(done.stdout + done.stderr, end="")
    print(f"(exit status {done.returncode})")
    if done.returncode != expected:
        raise UnexpectedError(f"`carryall {' '.join(arguments)}` ended with {done.returncode}, {expected} was expected")


def findings(folder: Path) -> list[dict[str, Any]]:
    """What `carryall check` reports, read from its JSON lines."""
    return [json.loads(line) for line in carryall(folder, "check", "--format", "json").stdout.splitlines()]


def demonstrate(folder: Path) -> None:
    """All steps, in the order of a maintainer who meets the tool.

    Raises `UnexpectedError` when a step does not show what it promises.
    """
    settings = folder / "pyproject.toml"
    # Also makes this folder a project of its own, inside this repository's folder as it is.
    settings.write_text("[tool.carryall]\n", encoding="utf-8")

    print("\n1. Nothing is marked or declared: the checker stays silent and says how to start.")
    show(folder, "check", expected=0)

    print("\n2. It can look for likely drops by itself, and says why it thinks so.")
    show(folder, "audit", expected=0)

    print("\n3. Declare the four carriers of one class, which one may not edit.\n")
    shutil.copyfile(DECLARATION, settings)
    print(settings.read_text(encoding="utf-8"), end="")
    show(folder, "check", expected=1)
    got = [(item["code"], item["path"], item["class"], item["fields"]) for item in findings(folder)]
    if got != [("OWN001", PLACE, PLAN, [FIELD])]:
        raise UnexpectedError(f"the findings are {got}, exactly one was expected: OWN001 for {FIELD} in {PLACE}")

    print(f"\n4. Mend it: preparation hands the launches on, and the copy in {PLACE} takes them.")
    mend(folder)
    show(folder, "check", expected=0)


def main() -> int:
    """Fetch, unpack, demonstrate. Returns the exit status."""
    try:
        wheel = fetch()
    except FetchError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2
    shutil.rmtree(BUILD, ignore_errors=True)
    folder = unpack(wheel, BUILD)
    print(f"{REQUIREMENT}, as published, unpacked to {folder.relative_to(ROOT)}")
    try:
        demonstrate(folder)
    except UnexpectedError as error:
        print(f"\ndemo: not as promised: {error}", file=sys.stderr)
        return 1
    print("\nAll as promised.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
