"""The examples of README.md: find them, run them, and write down what they print: `make docs`.

The blocks are used in the order in which they stand, in one folder. A block whose first line is a comment with a file
name is written to that file; each `$ carryall ...` of a `console` block is run. A test fails when the page shows other
output than what is printed.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Block", "blocks", "main", "refreshed"]

README = Path(__file__).resolve().parent.parent / "README.md"
FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# (?P<name>[\w./-]+\.(?:py|toml))\n")
COMMAND = re.compile(r"^\$ (.*)\n", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    body: str

    @property
    def file_name(self) -> str | None:
        """The file that the block is the content of, if it names one."""
        match = FILE_NAME.match(self.body)
        return match["name"] if match else None


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    return [Block(match["language"], match["body"]) for match in FENCE.finditer(page)]


def refreshed(page: str) -> str:
    """The page with every command's output as it is now.

    Raises `ValueError` when a `console` block does not start with a command, or has one that is not `carryall`.
    """
    with tempfile.TemporaryDirectory() as folder:

        def again(match: re.Match[str]) -> str:
            block = Block(match["language"], match["body"])
            if block.file_name is not None:
                (Path(folder) / block.file_name).write_text(block.body, encoding="utf-8")
            if block.language != "console":
                return match[0]
            if not block.body.startswith("$ "):
                raise ValueError(f"a console block starts with a command, not with {block.body[:40]!r}")
            printed = [f"$ {command}\n{_run(command, Path(folder))}" for command in COMMAND.findall(block.body)]
            return f"```console\n{''.join(printed)}```"

        return FENCE.sub(again, page)


def _run(command: str, folder: Path) -> str:
    program, *arguments = shlex.split(command)
    if program != "carryall":
        raise ValueError(f"only `carryall` is run here, not {command!r}")
    done = subprocess.run(
        [sys.executable, "-m", "lint_rules", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    status = f"(exit status {done.returncode})\n" if done.returncode else ""
    return done.stdout + done.stderr + status


def main() -> int:
    """Write the outputs of README.md anew."""
    README.write_text(refreshed(README.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
