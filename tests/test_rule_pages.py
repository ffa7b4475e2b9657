"""The pages of `docs/rules` say what the rules say."""

from __future__ import annotations

from docs.build_rules import FOLDER, pages


def test_every_page_is_what_the_rules_say() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    stale = [name for name, text in pages().items() if written.get(name) != text]
    assert not stale, f"run `make docs`: {stale} are not what the rules say"
    assert written.keys() == pages().keys()
