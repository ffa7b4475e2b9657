from __future__ import annotations

import ast
import codecs
import sys
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lint_rules.index.source import SourceError, decode, has_valid_syntax, parse


def calls(text: str) -> list[tuple[int, int]]:
    return sorted((n.lineno, n.col_offset) for n in ast.walk(parse(text, "a.py")) if isinstance(n, ast.Call))


def error_of(data: bytes) -> SourceError:
    with pytest.raises(SourceError) as caught:
        decode(data)
    assert "\n" not in caught.value.message
    return caught.value


def syntax_error_of(text: str) -> SourceError:
    with pytest.raises(SourceError) as caught:
        parse(text, "a.py")
    assert "\n" not in caught.value.message
    return caught.value


# Encodings


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("", "utf-8"),
        ("# -*- coding: latin-1 -*-\n", "latin-1"),
        ("#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n", "cp1252"),
        ("\n# coding=koi8-r\n", "koi8-r"),
        ("#!/usr/bin/python\r\n# coding: latin-1\r\n", "latin-1"),
    ],
)
def test_the_coding_comment_decides_as_in_pep_263(head: str, encoding: str) -> None:
    text = head + ("x = 'привет'\n" if encoding == "koi8-r" else "x = 'é'\n")
    assert decode(text.encode(encoding)) == text


def test_a_coding_comment_below_code_is_only_a_comment() -> None:
    text = "x = 1\n# coding: latin-1\ny = 'é'\n"
    assert decode(text.encode()) == text


def test_a_coding_comment_in_the_third_line_is_only_a_comment() -> None:
    text = "\n\n# coding: latin-1\ny = 'é'\n"
    assert decode(text.encode()) == text


def test_the_byte_order_mark_is_no_part_of_the_text() -> None:
    assert decode(codecs.BOM_UTF8 + "x = 'é'\n".encode()) == "x = 'é'\n"
    assert decode(codecs.BOM_UTF8 + b"# coding: utf-8\n") == "# coding: utf-8\n"


def test_line_ends_stay_as_they_are() -> None:
    assert decode(b"a = 1\r\nb = 2\rc = 3\n") == "a = 1\r\nb = 2\rc = 3\n"


def test_a_byte_that_is_not_utf_8_is_named_with_its_line() -> None:
    error = error_of(b"x = 1\ny = '\xe9'\n")
    assert (error.line, "not UTF-8" in error.message, "byte 11" in error.message) == (2, True, True)


def test_a_byte_behind_a_mark_is_counted_from_the_start_of_the_file() -> None:
    assert "byte 4;" in error_of(codecs.BOM_UTF8 + b"'\xff'").message


def test_an_encoding_that_contradicts_the_mark_is_an_error() -> None:
    assert "latin-1" in error_of(codecs.BOM_UTF8 + b"# coding: latin-1\n").message


@pytest.mark.parametrize("name", ["klingon", "hex", "rot13"])
def test_an_encoding_that_makes_no_text_is_an_error(name: str) -> None:
    error = error_of(f"# coding: {name}\n".encode())
    assert (error.line, name in error.message) == (1, True)


def test_a_null_byte_is_named_with_its_place() -> None:
    error = error_of(b"x = 1\ny\0= 2\n")
    assert (error.line, "null byte at byte 7" in error.message) == (2, True)


def test_utf_16_is_recognised() -> None:
    assert "UTF-16" in error_of("x = 1\n".encode("utf-16")).message


@given(st.binary(max_size=60))
def test_decode_gives_text_or_one_line_for_any_bytes(data: bytes) -> None:
    try:
        decode(data)
    except SourceError as error:
        told = error.message
    else:
        told = ""
    assert "\n" not in told


@given(
    st.text(st.characters(codec="latin-1", exclude_characters="\0"), max_size=60), st.sampled_from(["latin-1", "utf-8"])
)
def test_decode_gives_back_what_was_encoded(body: str, encoding: str) -> None:
    text = f"# coding: {encoding}\n{body}"
    assert decode(text.encode(encoding)) == text


# Parsing


def test_a_syntax_error_says_what_and_where() -> None:
    error = syntax_error_of("x = 1\nreplace(a, b=\n")
    assert (error.line, error.message) == (2, "syntax error: '(' was never closed, line 2")


def test_a_mistake_behind_newer_syntax_is_blamed_on_its_own_line() -> None:
    assert syntax_error_of("def f[T](x: T): ...\n\nx = = 2\n").line == 3


def test_newer_syntax_behind_a_mistake_does_not_hide_it() -> None:
    assert syntax_error_of("x = = 2\ndef f[T](x: T): ...\n").line == 1


@pytest.mark.parametrize("text", ["(" * 500 + ")" * 500, "x = " + "-" * 200_000 + "1", "(" * 150 + "f''" + ")" * 149])
def test_deep_nesting_is_an_error_and_no_crash(text: str) -> None:
    syntax_error_of(text)


def test_doubtful_escapes_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse("x = '\\d'\n", "a.py")
        assert has_valid_syntax("x = '\\d'\n")


@pytest.mark.parametrize(
    "text",
    ["", "x = 1\n", '"""Doc."""\nfrom __future__ import annotations\n', "return\n", "# only\n", "def f(): yield\n"],
)
def test_the_quick_test_accepts_what_parses(text: str) -> None:
    assert has_valid_syntax(text)


@pytest.mark.parametrize("text", ["x = = 1\n", "f(\n", " x = 1\n", "x\0", "'carryall_parse_only' = 1\n"])
def test_the_quick_test_refuses_what_does_not_parse(text: str) -> None:
    assert not has_valid_syntax(text)


def test_a_file_of_five_megabytes_is_parsed() -> None:
    row = "table += ['" + "0123456789abcdef" * 8 + "', 1]\n"
    text = row * (5_000_000 // len(row) + 1)
    assert has_valid_syntax(text)
    assert len(parse(text, "a.py").body) == text.count("\n")


# Newer syntax. On a Python that knows it, these tests say that the answer is the same.


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("def f[T: int = str, *Ts, **P](x: T = g()) -> T: return h(x)\n", [(1, 37), (1, 56)]),
        ("async def f[T](x): await h(x)\n", [(1, 25)]),
        ("class A[T = int](B, meta=m()): x = h()\n", [(1, 25), (1, 35)]),
        ("class A[\n    T,  # why\n    U,\n]:\n    x = h()\n", [(5, 8)]),
        ("class A:\n    def f[\n        T](self): h()\nk()\n", [(3, 18), (4, 0)]),
        ("type X = list[int]; h()\nk()\n", [(1, 20), (2, 0)]),
        ("if 1:\n    type X[T: (int, str) = int] = (\n        h[T]\n    )\n    k()\n", [(5, 4)]),
        ('x = f"{"a" + \'b\'!r:>{w}}", h()\n', [(1, 27)]),
        ('x = f"{f"{f"{1}"}"}", h()\n', [(1, 22)]),
        ('x = f"é{"é"}", h()\n', [(1, 17)]),
        ('x = f"{\n    1  # one\n\n}", h()\nk()\n', [(4, 4), (5, 0)]),
        ("x = f'{\"\\n\".join(y)}', h()\n", None),
        ('x = f"{1}" "and" f"{"2"}", h()\n', [(1, 27)]),
        ("x = t'{a}', h()\n", [(1, 12)]),
        ('x = t"""{\n"a"}""", h()\nk()\n', [(2, 9), (3, 0)]),
        ('x = rt"\\d{"a"}", h()\n', [(1, 17)]),
        ("try: pass\nexcept A, B: h()\nk()\n", [(2, 13), (3, 0)]),
        ("try: pass\nexcept* A, B.c: h()\n", [(2, 16)]),
        ("try: pass\nexcept A, (B, C):\n    h()\n", [(3, 4)]),
    ],
)
def test_newer_syntax_parses_with_lines_and_columns_kept(text: str, places: list[tuple[int, int]] | None) -> None:
    if places is None:
        assert calls(text)
    else:
        found = calls(text)
        # An unparenthesised `except` moves what follows it on its own line by one parenthesis.
        assert [line for line, _ in found] == [line for line, _ in places]
        assert all(abs(got - want) <= 1 for (_, got), (_, want) in zip(found, places, strict=True))


def test_newer_syntax_with_windows_line_ends_keeps_its_lines() -> None:
    assert calls('class A[\r\n    T,\r\n]:\r\n    x = f"{\r\n1}"\r\n    h()\r\n') == [(6, 4)]


def test_a_type_statement_reads_as_an_assignment() -> None:
    first = parse("type Carried[T] = Annotated[T, MARK]\n", "a.py").body[0]
    if sys.version_info < (3, 12):
        assert isinstance(first, ast.Assign)
        assert ast.unparse(first) == "Carried = Annotated[T, MARK]"


def test_the_word_type_stays_an_ordinary_name() -> None:
    text = "type = 1\ntype.x = type(type)\nclass C[T]: pass\n"
    assert calls(text) == [(2, 9)]
    assert ast.unparse(parse(text, "a.py").body[1]) == "type.x = type(type)"


def test_what_is_no_python_in_any_version_stays_an_error() -> None:
    assert syntax_error_of("class A[T]: pass\nf() = 1\n").message
