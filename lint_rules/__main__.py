"""`python -m lint_rules` is `carryall`."""

from __future__ import annotations

from lint_rules.cli import main

if __name__ == "__main__":
    main(prog_name="carryall")
