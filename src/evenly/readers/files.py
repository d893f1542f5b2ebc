"""Safe reading of measurement files: encodings, compression, and files that are not text.

Measurement folders contain all sorts of files: core dumps, broken links, files without read permission. `head` serves
to recognise a format and never raises. `text` and `lines` serve to read a file, and raise `ReadError`, or `InputError`
where the memory is too small; `stream` serves to read one line after the other.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from evenly.errors import ReadError
from evenly.memory import TEXT_MIB, check_file, check_room, check_unpacked, unpacked_limit

__all__ = [
    "TEXT_TO_TABLE",
    "UNENDED",
    "count",
    "head",
    "is_file",
    "is_unended",
    "lines",
    "number",
    "plain_suffix",
    "stem_of",
    "stream",
    "text",
]

#: What to say of a file whose last line is whole otherwise.
UNENDED = "the last line has no line end: if the file was cut off there, its last value is not whole"

_HEAD_BYTES = 4096
_LONGEST_LINE = 10_000
#: A table takes about so many times the memory of its text.
TEXT_TO_TABLE = 10
_OPENERS: dict[bytes, Callable[..., IO[Any]]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"BZh": bz2.open,
}
#: A dot, unless digits stand on both sides.
_DOT = re.compile(r"(?<!\d)\.|\.(?!\d)")
_BROKEN = (OSError, EOFError, lzma.LZMAError, zlib.error)


def head(path: Path, most: int = _HEAD_BYTES) -> str:
    """Return the first `most` bytes of a file as text; "" for a folder, a binary file or an unreadable file.

    Examples
    --------
    >>> head(Path("no/such/file"))
    ''
    """
    try:
        status = path.stat()
        if not path.is_file():
            return ""
        return _head(str(path), most, status.st_mtime_ns, status.st_size)
    except (OSError, ValueError):
        return ""


@lru_cache(maxsize=256)
def _head(path: str, most: int, modified_ns: int, size: int) -> str:  # noqa: ARG001 - keys of the cache
    try:
        raw = _read_bytes(Path(path), most)
    except _BROKEN:
        return ""
    return "" if _is_binary(raw) else _decode(raw)


def text(path: Path) -> str:
    """Return the whole file as text, decompressed if it is compressed.

    Raises
    ------
    ReadError
        If it can't be opened, is empty, or isn't text.
    """
    try:
        check_file(path)
        most = unpacked_limit(path, TEXT_MIB)
        check_room(f"reading {path}", TEXT_TO_TABLE * path.stat().st_size, "give a smaller part of it")
        raw = _read_bytes(path, most + 1)
    except ReadError:
        raise
    except _BROKEN as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ReadError(path, f"the file can't be read: {reason}") from None
    check_unpacked(path, len(raw), TEXT_MIB)
    if not raw.strip():
        raise ReadError(path, "the file is empty")
    if _is_binary(raw[:_HEAD_BYTES]):
        raise ReadError(path, "the file is binary, but text was expected")
    return _decode(raw)


def lines(path: Path) -> list[str]:
    """Return the lines of a file without line ends; raises the same errors as `text`."""
    return text(path).replace("\r\n", "\n").replace("\r", "\n").split("\n")


def stream(path: Path) -> Iterator[str]:
    r"""Yield the lines of a text file of any size, each with its line end as ``"\n"``, decompressed if compressed.

    The last line has no line end if the file has none there. Of a line above 10 000 characters, the rest is left out.

    Raises
    ------
    ReadError
        If the file can't be read to its end.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.log"
    >>> _ = path.write_bytes(b"start\r\n12.5 s")
    >>> list(stream(path))
    ['start\n', '12.5 s']
    """
    try:
        check_file(path)
        with path.open("rb") as raw:
            start = raw.read(6)
        opener = next((o for magic, o in _OPENERS.items() if start.startswith(magic)), open)
        encoding = "utf-16" if start.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
        with (
            opener(path, "rb") as plain,
            io.TextIOWrapper(plain, encoding=encoding, errors="replace", newline=None) as opened,
        ):
            while line := opened.readline(_LONGEST_LINE):
                rest = line
                while rest and not rest.endswith("\n"):
                    rest = opened.readline(_LONGEST_LINE)
                yield line if line.endswith("\n") or not rest else f"{line}\n"
    except ReadError:
        raise
    except _BROKEN as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ReadError(path, f"the file can't be read: {reason}") from None


def is_unended(content: Sequence[str]) -> bool:
    r"""Return whether the last of the `lines` of a file has no line end, so that the file may have been cut off there.

    Many programs leave out the last line end, so this alone is no error: say `UNENDED`.

    Examples
    --------
    >>> is_unended("cores,seconds\n8,1.".split("\n")), is_unended("cores,seconds\n8,1.5\n".split("\n"))
    (True, False)
    """
    return bool(content) and content[-1] != ""


def plain_suffix(path: Path) -> str:
    """Return the suffix in lower case, ignoring a final ``.gz``, ``.xz`` or ``.bz2``.

    Examples
    --------
    >>> plain_suffix(Path("runs.CSV")), plain_suffix(Path("runs.csv.gz"))
    ('.csv', '.csv')
    """
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in (".gz", ".xz", ".bz2") else suffix


def stem_of(path: Path) -> str:
    """Return a file's name up to its first dot that stands between no digits, as those of a version do.

    Examples
    --------
    >>> stem_of(Path("runs/ocean.csv.gz")), stem_of(Path("7.4.1-lumi.csv"))
    ('ocean', '7.4.1-lumi')
    """
    return _DOT.split(path.name)[0] or path.stem


def is_file(path: Path) -> bool:
    """Return whether `path` is a regular file; False instead of an error if the path can't be accessed.

    Examples
    --------
    >>> is_file(Path("no/such/file")), is_file(Path("."))
    (False, False)
    """
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def number(path: Path, rule: str, text: str, line: int) -> float:
    """Parse a text as a finite, non-negative number.

    Parameters
    ----------
    path : Path
        The file, for the error message.
    rule : str
        The start of the error message, as ``"simLoop must be a number, zero or more, but"``.
    text : str
        The text to parse.
    line : int
        The line number, counted from 1, for the error message.

    Raises
    ------
    ReadError
        If the text is not such a number.

    Examples
    --------
    >>> number(Path("timing.res"), "a number was expected,", "2.5E+01", 3)
    25.0
    """
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ReadError(path, f"{rule} got {text!r}", line=line)
    return value


def count(path: Path, name: str, text: str, line: int) -> int:
    """Parse a text as a positive whole number.

    Raises
    ------
    ReadError
        If the text is not such a number; the message calls it `name`.

    Examples
    --------
    >>> count(Path("timing.res"), "nProcs", "32", 3)
    32
    """
    if not (text.isdecimal() and text.isascii() and 0 < int(text[:19]) < 10**18):
        raise ReadError(path, f"{name} must be a positive whole number, but got {text!r}", line=line)
    return int(text)


def _is_binary(raw: bytes) -> bool:
    """Return whether bytes are not text: they contain a zero byte, but don't start as UTF-16 text."""
    return b"\x00" in raw and not raw.startswith((b"\xff\xfe", b"\xfe\xff"))


def _read_bytes(path: Path, limit: int) -> bytes:
    with path.open("rb") as stream:
        start = stream.read(6)
    opener = next((o for magic, o in _OPENERS.items() if start.startswith(magic)), open)
    with opener(path, "rb") as stream:
        raw: bytes = stream.read(limit)
    return raw


def _decode(raw: bytes) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", errors="replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # A truncated start of a file may end inside a character. Any other error means an older single-byte encoding.
        if error.start >= len(raw) - 3:
            return raw[: error.start].decode("utf-8-sig", errors="replace")
        return raw.decode("latin-1")
