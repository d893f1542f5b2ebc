"""Damaged files: a reader gives runs or says that it can't."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import event
from hypothesis import strategies as st

from evenly.errors import ReadError
from evenly.readers.base import Reader


def damaged(original: bytes, characters: str) -> st.SearchStrategy[bytes]:
    """Return copies of a file that are cut short, and written over at one place with bytes or these characters."""
    junk = st.one_of(st.binary(max_size=6), st.text(characters, max_size=8).map(str.encode))

    def spoil(cut: int, position: int, over: bytes) -> bytes:
        return (original[:position] + over + original[position + len(over) :])[:cut]

    return st.builds(spoil, st.integers(0, len(original)), st.integers(0, len(original) - 1), junk)


def check_reads_or_refuses(reader: Reader, path: Path, content: bytes) -> None:
    """Check that a reader gives runs with times above zero, or raises `ReadError`, and nothing else."""
    path.write_bytes(content)
    reader.recognises(path)
    try:
        found = reader.read(path)
    except ReadError:
        event("refused")
        return
    event("read")
    assert found
    assert all(len(runs) and np.all(runs.ok.values > 0) for runs in found.values())
