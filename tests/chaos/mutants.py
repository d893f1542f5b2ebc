"""Damaged copies of a file, each told by its number: the same number gives the same damage."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

__all__ = ["SPECIAL", "mutant", "spoil"]

_NUMBER = re.compile(rb"\d+(\.\d+)?([eE][+-]?\d+)?")
_HUGE = (
    b"1e308", b"1e999", b"-1", b"0", b"9" * 25, b"9" * 5000, b"1e-320", b"nan", b"NaN", b"inf", b"-inf",
    b"Infinity", b"-0.0",
    b"18446744073709551616", b"1000000000000", b"0x10", b"1_000", b"2.5", b"", b"true", b"null",
)  # fmt: skip
_STRANGE = (
    "\u00e9", "\u6f22\u5b57", "\u202e", "\ufeff", "\u2028", "\U0001f600", "\u0663", "\u00a0", "\x1b[31m", "\x7f",
    "\x08",
)  # fmt: skip
_SYNTAX = b"\"'{}[]()<>,;:=|#\\/%-+*. \t\n\r\x00&!@$`~^"


def _cut(chosen: random.Random, data: bytes) -> bytes:
    return data[: chosen.randrange(len(data))]


def _cut_front(chosen: random.Random, data: bytes) -> bytes:
    return data[chosen.randrange(len(data)) :]


def _flip_bits(chosen: random.Random, data: bytes) -> bytes:
    copy = bytearray(data)
    for _ in range(chosen.choice((1, 1, 2, 8, 64))):
        copy[chosen.randrange(len(copy))] ^= 1 << chosen.randrange(8)
    return bytes(copy)


def _overwrite(chosen: random.Random, data: bytes) -> bytes:
    at, length = chosen.randrange(len(data)), chosen.choice((1, 4, 16, 256))
    return data[:at] + chosen.randbytes(length) + data[at + length :]


def _syntax(chosen: random.Random, data: bytes) -> bytes:
    at = chosen.randrange(len(data))
    return data[:at] + bytes([chosen.choice(_SYNTAX)]) + data[at + chosen.randrange(2) :]


def _drop_block(chosen: random.Random, data: bytes) -> bytes:
    begin, end = sorted(chosen.randrange(len(data) + 1) for _ in range(2))
    return data[:begin] + data[end:]


def _double_block(chosen: random.Random, data: bytes) -> bytes:
    begin, end = sorted(chosen.randrange(len(data) + 1) for _ in range(2))
    return data[:end] + data[begin:]


def _lines(change: Callable[[random.Random, list[bytes]], None]) -> Callable[[random.Random, bytes], bytes]:
    def changed(chosen: random.Random, data: bytes) -> bytes:
        lines = data.split(b"\n")
        change(chosen, lines)
        return b"\n".join(lines)

    return changed


def _double_lines(chosen: random.Random, lines: list[bytes]) -> None:
    at = chosen.randrange(len(lines))
    lines[at:at] = lines[at : at + chosen.randrange(1, 5)] * chosen.choice((1, 1, 50))


def _drop_lines(chosen: random.Random, lines: list[bytes]) -> None:
    at = chosen.randrange(len(lines))
    del lines[at : at + chosen.randrange(1, 4)]


def _swap_lines(chosen: random.Random, lines: list[bytes]) -> None:
    a, b = chosen.randrange(len(lines)), chosen.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]


def _long_line(chosen: random.Random, lines: list[bytes]) -> None:
    at = chosen.randrange(len(lines))
    piece = chosen.choice((b"x", b" ", b"[", b"1", b",", lines[at][:40] or b"ab"))
    lines[at] += piece * 100_000


def _number(chosen: random.Random, data: bytes) -> bytes:
    found = list(_NUMBER.finditer(data))
    if not found:
        return _overwrite(chosen, data)
    one = chosen.choice(found)
    return data[: one.start()] + chosen.choice(_HUGE) + data[one.end() :]


def _strange_text(chosen: random.Random, data: bytes) -> bytes:
    at = chosen.randrange(len(data) + 1)
    return data[:at] + (chosen.choice(_STRANGE) * chosen.choice((1, 1, 1000))).encode() + data[at:]


def _line_ends(chosen: random.Random, data: bytes) -> bytes:
    return data.replace(b"\n", chosen.choice((b"\r\n", b"\r", b"\n\n", b"\n\r", b"\x0b", b"\x00")))


def _zeros(chosen: random.Random, data: bytes) -> bytes:
    at, length = chosen.randrange(len(data)), chosen.choice((1, 16, 4096))
    return data[:at] + bytes(length) + data[at + length :]


def _other_encoding(chosen: random.Random, data: bytes) -> bytes:
    return data.decode("latin-1").encode(chosen.choice(("utf-16", "utf-16-le", "utf-8-sig", "utf-32")))


def _deep(chosen: random.Random, data: bytes) -> bytes:
    at = chosen.randrange(len(data) + 1)
    opening, closing = chosen.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"(", b")"), (b"{a=", b"}"), (b"-", b"")))
    depth = chosen.choice((10, 900, 20_000))
    return data[:at] + opening * depth + b"1" + closing * chosen.choice((0, depth)) + data[at:]


_DAMAGES = (
    _cut, _cut_front, _flip_bits, _overwrite, _syntax, _drop_block, _double_block, _lines(_double_lines),
    _lines(_drop_lines), _lines(_swap_lines), _lines(_long_line), _number, _number, _strange_text, _line_ends, _zeros,
    _other_encoding, _deep,
)  # fmt: skip


def mutant(data: bytes, number: int) -> bytes:
    """Return the copy of `data` with the damage of this number; every fourth is damaged twice.

    Examples
    --------
    >>> mutant(b"cores,seconds\\n8,2.5\\n", 3) == mutant(b"cores,seconds\\n8,2.5\\n", 3)
    True
    """
    chosen = random.Random(number)
    damaged = _DAMAGES[number % len(_DAMAGES)](chosen, data)
    return chosen.choice(_DAMAGES)(chosen, damaged) if number % 4 == 3 and damaged else damaged


# ---- other things in the place of a file --------------------------------------------------------------------------


def _bomb(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(16):
            file.write(b"8,2.5\n" * (1 << 20))


def _packed_bomb(path: Path) -> None:
    head = {"name": "A", "rank": 0, "size": 1, "unix_us": "0", "tinit": "", "compression": True}
    path.write_bytes(json.dumps(head).encode() + b"\n" + lzma.compress(bytes(1 << 27), preset=0))


SPECIAL: tuple[Callable[[Path], object], ...] = (
    os.mkfifo,
    lambda path: path.symlink_to(path),
    lambda path: path.symlink_to(path.with_name("nowhere")),
    lambda path: path.symlink_to("/dev/zero"),
    Path.mkdir,
    Path.touch,
    _bomb,
    _packed_bomb,
    lambda path: path.write_bytes(b"a = " + b"[" * 100_000),
    lambda path: path.write_bytes(b'{"a":' * 100_000),
)


def spoil(path: Path, data: bytes, number: int) -> None:
    """Put the mutant of this number in the place of a file, or the thing of `SPECIAL` if the number is negative."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    if number < 0:
        SPECIAL[number](path)
    else:
        path.write_bytes(mutant(data, number))
