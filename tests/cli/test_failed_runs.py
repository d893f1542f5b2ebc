"""What is said of runs that failed or hit their limit."""

from __future__ import annotations

import pandas as pd

import evenly
from evenly.cli.failed_runs import failed_lines


def _runs(rows: list[tuple[int, str]]) -> evenly.Runs:
    table = pd.DataFrame(rows, columns=["cores", "status"]).assign(seconds=60.0)
    return evenly.Runs.from_frame(table, ["cores"])


def test_runs_that_were_stopped_are_told_apart_from_those_that_failed() -> None:
    runs = _runs([(1, "timed out"), (1, "timed out"), (2, "ok"), (4, "failed"), (4, "failed")])
    assert failed_lines("wave", runs) == [
        "2 runs of wave hit the limit, so they take longer than that; none ended before it with cores = 1",
        "2 of 5 runs of wave failed and are left out; none ended well with cores = 4",
    ]


def test_where_half_of_the_runs_failed_they_are_counted() -> None:
    runs = _runs([(1, "ok"), (1, "ok"), (1, "failed"), (2, "ok"), (2, "failed"), (4, "timed out"), (4, "failed")])
    limit, failed = failed_lines("wave", runs)
    assert limit.endswith("none ended before it with cores = 4")
    assert failed == (
        "3 of 7 runs of wave failed and are left out; of those with cores = 2, 1 of 2 failed; of those with cores = 4, "
        "1 of 2 failed"
    )
    assert failed_lines("wave", _runs([(1, "ok")])) == []


def test_several_runs_of_exactly_the_longest_time_may_have_been_stopped() -> None:
    def told(times: list[float]) -> list[str]:
        table = pd.DataFrame({"cores": range(1, len(times) + 1), "seconds": times})
        return failed_lines("wave", evenly.Runs.from_frame(table, ["cores"]))

    (line,) = told([60.0, 60.0, 60.0, 51.2, 40.1, 33.3, 28.7, 25.2])
    assert line.startswith("runs of wave with 3 configurations took exactly 60 s, the longest time of all")
    assert told([60.0, 60.0, 58.0, 51.2, 40.1, 33.3]) == []
    assert told([4.0, 4.0, 4.0, 3.0, 3.0, 3.0, 2.0, 2.0]) == []
