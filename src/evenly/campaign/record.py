"""One run of a campaign, as it is stored."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from evenly.campaign.rows import batches, parsed
from evenly.runs.columns import Status

__all__ = ["DETAILS", "Record", "own_name", "records_of", "row_of"]

#: What may be told of a run beside its times, in bytes and seconds: its largest process, the model of its processor,
#: its job's number, how long it waited in the queue, the limit that its job had where a model chose it, and the wall
#: time of a first job that reached this limit and was made again.
DETAILS = ("peak_memory", "cpu", "job", "queued_s", "limit_s", "cut_s")
#: Fields that are stored as JSON.
_MAPPINGS = ("quantities", "details")


class Record(NamedTuple):
    """One run of a configuration. Its fields are the columns of the table of records.

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
    details : mapping of str to str or float
        What else is known: some of `DETAILS`.
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
    details: Mapping[str, str | float] = MappingProxyType({})

    @property
    def last_words(self) -> str:
        """The last line of the output that isn't empty; "" if there is none.

        What ``srun`` adds at the end counts only if the program wrote nothing.
        """
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        own = [line for line in lines if not line.startswith("srun: ")]
        return ((own or lines)[-1:] or [""])[0]

    @property
    def spent_s(self) -> float:
        """Wall seconds that the run cost: its own, and those of a first job that reached its limit."""
        return self.took + float(self.details.get("cut_s", 0.0))

    @property
    def identity(self) -> tuple[int, str, float, float]:
        """What no other run of its store shares."""
        return self.configuration, self.machine, self.started, self.took


def own_name(name: str, taken: Collection[str]) -> str:
    """Return the column of what evenly itself tells of a run, beside parameters and quantities with these names.

    Examples
    --------
    >>> own_name("cpu", ["n"]), own_name("cpu", ["cpu"])
    ('cpu', 'run_cpu')
    """
    while name in taken:
        name = f"run_{name}"
    return name


def records_of(rows: Iterable[Sequence[Any]]) -> Iterator[Record]:
    """Yield the runs of rows of the table of records."""
    for some in batches(rows):
        columns: list[Iterable[Any]] = list(zip(*some, strict=True))
        for at in map(Record._fields.index, _MAPPINGS):
            columns[at] = parsed(columns[at])
        yield from map(Record._make, zip(*columns, strict=True))


def row_of(record: Record) -> tuple[Any, ...]:
    """Return the row of a run. The columns of the table are the fields of a record, in the same order."""
    told = {name: json.dumps(dict(getattr(record, name))) for name in _MAPPINGS}
    return tuple((record._asdict() | told).values())
