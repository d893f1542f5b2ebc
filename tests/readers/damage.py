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


def check_reads_or_refuses(reader: Reader, path: Path, content: bytes, *, may_lack_times: bool = False) -> None:
    """Check that a reader gives runs with times above zero, or raises `ReadError`, and nothing else.

    Of a profile, a region may have other quantities and no time: it is NaN then.
    """
    path.write_bytes(content)
    reader.recognises(path)
    try:
        found = reader.read(path)
    except ReadError:
        event("refused")
        return
    event("read")
    assert found
    for runs in found.values():
        times = runs.ok.values
        assert len(runs)
        assert np.all((times > 0) | (np.isnan(times) if may_lack_times else False))
