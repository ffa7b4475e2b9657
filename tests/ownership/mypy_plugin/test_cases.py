"""Each case says at the end of its lines what is expected there; everywhere else there is silence."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.ownership.mypy_plugin.checking import Message, check, configured, expected, found

HERE = Path(__file__).resolve().parent
CASES = sorted((HERE / "cases").glob("*.py"))


@pytest.fixture(scope="module")
def messages(tmp_path_factory: pytest.TempPathFactory) -> Counter[Message]:
    folder = tmp_path_factory.mktemp("mypy")
    config = configured(folder, f"cache_dir = {folder / 'cache'}")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(HERE)
        return found(check(config, "cases"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_messages_are_where_the_comments_say_and_nowhere_else(path: Path, messages: Counter[Message]) -> None:
    name = path.relative_to(HERE).as_posix()
    wanted = expected(HERE, [path])
    got = Counter({message: count for message, count in messages.items() if message[0] == name})
    assert sorted((wanted - got).elements()) == [], "missing"
    assert sorted((got - wanted).elements()) == [], "unexpected"


def test_every_code_is_expected_somewhere() -> None:
    codes = {message[2] for message in expected(HERE, CASES)}
    assert codes == {"drop", "return", "copy", "rebind", "identity", "unmarked", "default", "leak"}
