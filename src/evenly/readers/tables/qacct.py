"""What Grid Engine's ``qacct -j`` prints: a block of lines for each job, a key and its value in each, below a rule."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["is_qacct", "jobs_of_qacct"]

_RULE = re.compile(r"={20,}\s*")
_ENTRY = re.compile(r"(?P<key>[a-z_]+)\s+(?P<value>.*\S)\s*")
#: The options that a job was submitted with: other lines tell what it got.
_ASKED = "category"
#: ``100 : assumedly after job``, ``137 (Killed)``, ``2565s``.
_WITH_WORDS = re.compile(r"(-?\d+(?:\.\d+)?)(?:s|\s+[:(].*)")


def is_qacct(text: str) -> bool:
    r"""Tell whether a text begins as what ``qacct -j`` prints.

    Examples
    --------
    >>> is_qacct("=" * 62 + "\nqname        all.q\nhostname     node1\n"), is_qacct("=" * 62 + "\nScaling\n")
    (True, False)
    """
    rule, _, rest = text.lstrip().partition("\n")
    return _RULE.fullmatch(rule) is not None and re.match(r"qname\s+\S", rest) is not None


def jobs_of_qacct(lines: Sequence[str]) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Return a table with a row for each job, as text, and the line on which each begins.

    Examples
    --------
    >>> rule = "=" * 62
    >>> found, at = jobs_of_qacct([rule, "slots        8", "failed       100 : killed", rule, "slots        16"])
    >>> found.to_dict("list"), at.tolist()
    ({'slots': ['8', '16'], 'failed': ['100', '']}, [1, 4])
    """
    jobs: list[dict[str, str]] = []
    begin: list[int] = []
    for number, line in enumerate(lines, start=1):
        if _RULE.fullmatch(line):
            jobs.append({})
            begin.append(number)
        elif jobs and (entry := _ENTRY.fullmatch(line)) is not None and entry["key"] != _ASKED:
            jobs[-1].setdefault(entry["key"], _WITH_WORDS.sub(r"\1", entry["value"]))
    kept = [place for place, job in enumerate(jobs) if job]
    frame = pd.DataFrame([jobs[place] for place in kept], dtype=object).fillna("")
    return frame, np.array([begin[place] for place in kept], dtype=np.int64)
