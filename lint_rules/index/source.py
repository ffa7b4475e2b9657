"""Bytes to text to syntax tree: encodings, and syntax newer than the running Python."""

from __future__ import annotations

import ast
import codecs
import re
import warnings

__all__ = ["SourceError", "decode", "has_valid_syntax", "parse", "source_encoding"]

_PROBE = "carryall_parse_only"
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"^[ \t\f]*(?:#.*)?$")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_TEXT_LINE_END = re.compile(r"\r\n|\r|\n")

# One of these must be there for a file to need more than the running Python offers. A guard for speed and safety:
# LibCST costs ten times as much as `ast`, and its recursive parser is not meant for input nested without bounds.
_NEWER = re.compile(
    r"""^[ \t]*type[ \t\\]+\w            # PEP 695: type X = ...
      | \b(?:def|class)[ \t\\]+\w+[ \t\\]*\[  # PEP 695: def f[T], class C[T]
      | \b(?:[fF][rR]?|[rR][fF])["']    # PEP 701: f-strings without their old limits
      | \b(?:[tT][rR]?|[rR][tT])["']    # PEP 750: template strings
      | \bexcept\b[^:\n#]*,             # PEP 758: except A, B:
    """,
    re.MULTILINE | re.VERBOSE,
)


class SourceError(Exception):
    """The file cannot be read as Python source.

    `message` is one line that says what is wrong and what to do; `line` counts from 1, or is None if unknown.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message: str = message
        self.line: int | None = line


def source_encoding(data: bytes) -> tuple[str, bytes]:
    """The codec that PEP 263 gives this source, and its byte order mark (empty if there is none).

    Raises SourceError for a codec that does not exist and for a cookie that contradicts the mark.
    """
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    if b"coding" not in data[:512]:  # a cookie further right on its line than this is nobody's
        return "utf-8", bom
    start = len(bom)
    for number in (1, 2):
        end = _LINE_END.search(data, start)
        row = data[start : end.start() if end else len(data)]
        cookie = _COOKIE.match(row)
        if cookie:
            return _checked_codec(cookie[1].decode("ascii", "replace"), bom, number), bom
        if end is None or not _BLANK.match(row):
            break
        start = end.end()
    return "utf-8", bom


def _checked_codec(given: str, bom: bytes, line: int) -> str:
    try:
        name = codecs.lookup(given).name
        b"#".decode(name)  # refuses codecs that do not make text, such as "hex"
    except (LookupError, ValueError) as exc:
        raise SourceError(f"unknown source encoding {given!r}; correct the coding comment", line) from exc
    if bom and name != "utf-8":
        raise SourceError(f"the coding comment says {given!r} but the file starts with a UTF-8 mark; remove one", line)
    return name


def decode(data: bytes) -> str:
    """The text of a Python file, without its byte order mark, line ends as they are.

    Raises SourceError when the bytes are not text in the file's encoding, or contain a null byte.
    """
    zero = data.find(b"\0")
    if zero >= 0:
        hint = "; is this UTF-16? save it as UTF-8" if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else ""
        raise SourceError(f"null byte at byte {zero}: not Python source{hint}", _line_at(data, zero))
    encoding, bom = source_encoding(data)
    try:
        return data[len(bom) :].decode(encoding)
    except UnicodeDecodeError as exc:
        at = exc.start + len(bom)
        label = "UTF-8" if encoding == "utf-8" else encoding
        advice = "save the file as UTF-8 or add a coding comment (PEP 263)"
        raise SourceError(f"not {label}: byte 0x{data[at]:02x} at byte {at}; {advice}", _line_at(data, at)) from exc
    except UnicodeError as exc:  # what some rare codecs raise instead
        raise SourceError(f"not {encoding}: {' '.join(str(exc).split())}; save the file as UTF-8") from exc


def _line_at(data: bytes, offset: int) -> int:
    return len(_LINE_END.findall(data, 0, offset)) + 1


def has_valid_syntax(text: str) -> bool:
    """Whether the running Python can parse this, at half the price of `ast.parse`; False means: ask `parse`.

    The unknown future feature stops the compiler right after its parser, before any tree reaches Python.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(f"from __future__ import {_PROBE}\n{text}", "<source>", "exec", dont_inherit=True)
    except SyntaxError as exc:
        return _PROBE in str(exc.msg)
    except (ValueError, RecursionError, MemoryError):
        return False
    return False


def parse(text: str, name: str) -> ast.Module:
    """The syntax tree of `text`, also if it uses syntax newer than the running Python.

    Newer syntax is replaced by older syntax of the same extent: every line number stays, and all columns but those
    behind the name of a `type` statement or an unparenthesised `except`. Raises SourceError with the line.
    """
    try:
        return _parse(text, name)
    except SyntaxError as exc:
        error = exc
    except (RecursionError, MemoryError) as exc:
        raise SourceError("nested too deeply to be parsed; exclude the file if it is generated") from exc
    except ValueError as exc:
        raise SourceError(f"not Python source: {exc}") from exc
    if "too many" in str(error.msg) or not _NEWER.search(text):
        raise _syntax_error(error) from error
    from lint_rules.index.downlevel import NotPythonError, downlevel  # loads LibCST: 0.2 s that few runs need

    try:
        older = downlevel(text)
    except NotPythonError as exc:
        raise _later_error(error, exc, text) from error
    try:
        return _parse(older, name)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _syntax_error(error) from error


def _parse(text: str, name: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, name)


def _syntax_error(error: SyntaxError) -> SourceError:
    at = "" if error.lineno is None else f", line {error.lineno}"
    return SourceError(f"syntax error: {error.msg}{at}", error.lineno)


def _later_error(error: SyntaxError, other: Exception, text: str) -> SourceError:
    """The place of the mistake: CPython's, unless that is only where the newer syntax starts."""
    line = getattr(other, "line", None)
    lines = _TEXT_LINE_END.split(text)
    at = error.lineno
    blamed = lines[at - 1] if at is not None and 0 < at <= len(lines) else ""
    if line is None or line == at or not _NEWER.search(blamed):
        return _syntax_error(error)
    return SourceError(f"syntax error: invalid syntax, line {line}", line)
