"""File of the timings of a calibration: one line of JSON for each, written as soon as it is measured.

A killed process loses at most its present run. Its file can be read again; an incomplete last line is removed.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy.stats import norm

from evenly.decomposition.calibration.designs import Design, Timed, Timing
from evenly.errors import InputError, ReadError
from evenly.memory import check_file

__all__ = ["TimingStore"]

FORMAT = "evenly calibration 1"


class TimingStore:
    """A file of timings.

    Parameters
    ----------
    path : Path
        The file; it is made when the first timing is added.
    about : mapping
        Plain values that make timings comparable (program, machine, versions). A file with other values is refused.
    pace : float, optional
        The pace to which times are scaled; by default the median of all timings' paces.

    Raises
    ------
    ReadError
        If the file is damaged or holds no timings.
    InputError
        If the file was made by another machine or version.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> store = TimingStore(folder / "timings.jsonl", {"program": "fdtd"})
    >>> store.add(Design("vacuum", "small"), Timing((1e-3,), ({"points": 10.0},)), wall_s=0.5)
    >>> again = TimingStore(folder / "timings.jsonl", {"program": "fdtd"})
    >>> again.spent_s, again.timed(Design("vacuum", "small")).repeats
    (0.5, 1)
    """

    def __init__(self, path: Path, about: Mapping[str, Any], *, pace: float | None = None) -> None:
        self.path, self.about = Path(path), json.loads(json.dumps(dict(about)))
        self.spent_s = 0.0
        self._amounts: dict[str, tuple[Mapping[str, float], ...]] = {}
        self._runs: dict[str, list[tuple[tuple[float, ...], float | None]]] = {}
        self._given_pace, self._paces = pace, list[float]()
        if self.path.exists():
            self._read()

    @property
    def pace(self) -> float:
        """CPU seconds of the reference workload to which times are scaled; nan if no timing has a pace."""
        if self._given_pace is not None:
            return self._given_pace
        return median(self._paces) if self._paces else math.nan

    @property
    def pace_spread(self) -> float:
        """Robust standard deviation of the logarithm of the pace between timings; nan with fewer than three paces."""
        if len(self._paces) < 3:
            return math.nan
        # Half the distance between the 16 % and 84 % quantiles, so that a single disturbed timing has no effect.
        low, high = np.quantile(np.log(self._paces), norm.cdf([-1.0, 1.0]))
        return float(high - low) / 2

    def timed(self, design: Design) -> Timed | None:
        """Return all timings of a design, scaled to one pace; None if there are none."""
        if design.key not in self._runs:
            return None
        runs = [(seconds, self.pace / pace if pace else 1.0) for seconds, pace in self._runs[design.key]]
        scaled = tuple(tuple(s * factor for s in seconds) for seconds, factor in runs)
        return Timed(design, self._amounts[design.key], scaled)

    def add(self, design: Design, timing: Timing, wall_s: float) -> None:
        """Store a timing that took `wall_s` seconds to measure; it is on disk when this returns.

        Raises
        ------
        InputError
            If the file can't be written.
        """
        lines = [] if self.path.exists() else [json.dumps({"format": FORMAT, "about": self.about})]
        row = {"design": design.key, "seconds": timing.seconds, "amounts": timing.amounts, "wall_s": wall_s}
        row |= {"pace": timing.pace}
        lines.append(json.dumps(row))
        before = self.path.stat().st_size if self.path.exists() else 0
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write("".join(line + "\n" for line in lines))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            with suppress(OSError):
                # A part of the line would damage the file when the next line follows.
                os.truncate(self.path, before)
            raise InputError(f"Timings can't be kept in {self.path}: {error.strerror or error}.") from error
        self._take(row)

    def remove(self) -> None:
        """Delete the file when it is no longer needed."""
        self.path.unlink(missing_ok=True)

    def _read(self) -> None:
        try:
            raw = check_file(self.path).read_bytes()
        except OSError as error:
            raise ReadError(self.path, f"it can't be read: {error.strerror or error}") from None
        whole = raw[: raw.rfind(b"\n") + 1]
        if len(whole) < len(raw):
            # A process was killed while it wrote the last line; this incomplete line is cut off.
            os.truncate(self.path, len(whole))
        lines = whole.decode("utf-8", errors="replace").splitlines()
        if not lines:
            self.path.unlink()
            return
        for number, line in enumerate(lines, start=1):
            try:
                row = json.loads(line)
                if number == 1:
                    self._check(row)
                else:
                    self._take(row)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                if isinstance(error, InputError):
                    raise
                wrong = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else error
                reason = f"timings of a calibration were expected ({wrong}): delete the file to begin anew"
                raise ReadError(self.path, reason, line=number) from error

    def _check(self, header: Mapping[str, Any]) -> None:
        if header["format"] != FORMAT:
            raise ValueError(f"format {header['format']!r}")
        if header["about"] != self.about:
            differ = [k for k in {*self.about, *header["about"]} if self.about.get(k) != header["about"].get(k)]
            raise InputError(
                f"the timings in {self.path} were made with another {', '.join(sorted(differ))}: delete the file to "
                "begin anew."
            )

    def _take(self, row: Mapping[str, Any]) -> None:
        key, seconds = row["design"], tuple(float(s) for s in row["seconds"])
        amounts = tuple({str(k): float(v) for k, v in rank.items()} for rank in row["amounts"])
        if len(seconds) != len(amounts) or not seconds or not min(seconds) > 0:
            raise ValueError("every rank must have a time above 0 and its amounts")
        pace = row.get("pace")
        if pace is not None:
            self._paces.append(float(pace))
        self._amounts[key] = amounts
        self._runs.setdefault(key, []).append((seconds, pace))
        self.spent_s += float(row["wall_s"])
