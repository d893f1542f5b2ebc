"""Outputs of Slurm's seff."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evenly.errors import ReadError
from evenly.readers import scan
from evenly.readers.jobs.job_files import read_jobs

ONE = """\
Job ID: {id}
Cluster: here
User/Group: ada/phys
State: {state}
Nodes: 2
Cores per node: 16
CPU Utilized: 00:10:00
CPU Efficiency: 31.25% of 00:32:00 core-walltime
Job Wall-clock time: 00:01:00
Memory Utilized: {memory}
Memory Efficiency: 1.00% of 4.00 GB
"""


def one(number: str = "7", state: str = "COMPLETED (exit code 0)", memory: str = "1.50 GB") -> str:
    return ONE.format(id=number, state=state, memory=memory)


def test_a_page_with_an_output(strangers: Path) -> None:
    found = scan(strangers / "1-slurm" / "seff-score-doc" / "efficiency_using_seff.md")
    row = found.runs[""].to_frame().iloc[0]
    assert len(found.runs[""]) == 1
    assert (row["run"], row["cores"], row["seconds"]) == ("12696175", 160, 1066)
    assert row["peak_memory"] == pytest.approx(4.35 * 1024**3)


def test_many_outputs(tmp_path: Path) -> None:
    path = tmp_path / "seff.txt"
    quoted = "".join(f"> {line}\n" for line in one("9", memory="1012.00 EB").splitlines())
    array = one("8", "TIMEOUT (exit code 0)").replace("Cluster", "Array Job ID: 5_3\nCluster")
    path.write_text(one() + array + quoted + one("10", "RUNNING") + one())
    table = read_jobs(path).table
    assert table["id"].tolist() == ["7", "5_3", "9", "10"]
    assert table["state"].tolist() == ["COMPLETED", "TIMEOUT", "COMPLETED", "RUNNING"]
    assert table["cores"].tolist() == [32] * 4
    np.testing.assert_array_equal(np.isnan(table["peak_memory"]), [False, False, True, False])
    assert len(scan(path).runs[""]) == 3


def test_one_core(tmp_path: Path) -> None:
    path = tmp_path / "seff.txt"
    path.write_text(one().replace("Nodes: 2\nCores per node: 16", "Cores: 1").replace("00:32:00", "00:01:00"))
    assert read_jobs(path).table["cores"].tolist() == [1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (one().split("Job Wall-clock")[0], "cut off: 'Job Wall-clock time:' should follow"),
        (one().replace("00:32:00", "00:33:00"), "32 cores for 60 s are not the 1980 s of core-walltime"),
        (one().replace(" 00:01:00", " soon"), "line 9: a duration such as"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "seff.txt"
    path.write_text(text)
    with pytest.raises(ReadError, match=message):
        scan(path)
