"""One run of a campaign, as it is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenly.runs.columns import Status

__all__ = ["Record", "record_of", "row_of"]


@dataclass(frozen=True)
class Record:
    """One run of a configuration.

    Parameters
    ----------
    configuration : int
        Its number in the store, from 1.
    repetition : int
        From 0.
    status : {"ok", "failed", "timed out"}
    quantities : mapping of str to float
        Measured quantities in base units; empty if nothing was measured.
    purpose : {"plan", "anchor"}
        Reason for the run: a planned repetition, or a repetition of the anchor.
    exit_code : int or None
    message, output : str
        The reason why the run failed, and the end of its output; both empty for a successful run.
    started : float
        Start time, in seconds since the epoch.
    took : float
        Wall seconds from start to end.
    other_load : float or None
        Mean number of cores that other processes kept busy during the run; None where the system doesn't report it.
    machine : str
    """

    configuration: int
    repetition: int
    status: Status
    quantities: Mapping[str, float]
    purpose: str = "plan"
    exit_code: int | None = None
    message: str = ""
    output: str = ""
    started: float = 0.0
    took: float = 0.0
    other_load: float | None = None
    machine: str = ""

    @property
    def last_words(self) -> str:
        """The last line of the output that isn't empty; "" if there is none."""
        return next((line.strip() for line in reversed(self.output.splitlines()) if line.strip()), "")

    @property
    def identity(self) -> tuple[int, str, float, float]:
        """What no other run of its store shares."""
        return self.configuration, self.machine, self.started, self.took


def record_of(values: Sequence[Any]) -> Record:
    """Return the run of a row of the table of records."""
    number, repetition, status, found, *rest = values
    return Record(number, repetition, status, json.loads(found), *rest)


def row_of(record: Record) -> tuple[Any, ...]:
    """Return the row of a run. The columns of the table are the fields of a record, in the same order."""
    return tuple((vars(record) | {"quantities": json.dumps(dict(record.quantities))}).values())
