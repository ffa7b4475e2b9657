"""Run the `effect.py` of a case with the real package: `python run_effect.py CASE/effect.py`.

Where the package refuses the side `before`, it prints the name of the error and goes on at the first statement about `after`.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from ownership import OwnershipError


def main(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    statements = ast.parse(source).body
    names: dict[str, object] = {"__file__": str(path)}
    skipping = refused = False
    for statement in statements:
        text = ast.get_source_segment(source, statement) or ""
        skipping = skipping and '"after"' not in text
        if skipping:
            continue
        try:
            exec(compile(ast.Module([statement], []), str(path), "exec"), names)
        except OwnershipError as error:
            if refused or '"before"' not in text:
                raise
            skipping = refused = True
            print(type(error).__name__)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
