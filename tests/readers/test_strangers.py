"""Real files that no reader was built with: what they hold is read, and what they don't hold is not invented.

Logs, profiles and tables of jobs have such tests of their own; here are coupled runs, curves and benchmark tools.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.errors import ReadError
from evenly.readers.scanning import scan

#: Files without a time per configuration, and a part of the reason with which they are refused.
REFUSED = {
    "2-coupled/bsc-auto-lb/comp1_ts_240.csv": "pass time=",
    "2-coupled/bsc-auto-lb/config.yaml": "none of the formats",
    "2-coupled/cesm-das4-jungle/CONFIGURATION": "none of the formats",
    "2-coupled/cesm-das4-jungle/table1": "none of the formats",
    "2-coupled/ufs-regression/RegressionTests_derecho.log": "none of the formats",
    "5-benchtools/hyperfine-delta/hyperfine.json": "measured without an error",
    "5-benchtools/jube-tests/iterations.result.dat": "none of the formats",
    "5-benchtools/jube-tests/result_creation.result.dat": "none of the formats",
    "5-benchtools/jube-tests/scripting_pattern.result.dat": "none of the formats",
    "5-benchtools/jube-tests/statistic.result.dat": "none of the formats",
    "5-benchtools/osu-polaris/n2.g4.nodes.dat": "none of the formats",
    "5-benchtools/reframe-sombrero/SombreroBenchmark.log": "no times",
    "cesm/acme_edison_wiki_timing.txt": "none of the formats",
    "cesm/e3sm_layouts_with_sypd.csv": "has no value in this row",
    "ec-earth/ATMIFS_ts_CMIP6.csv": "pass time=",
    "ec-earth/oceanx_ts_CMIP6_229.csv": "pass time=",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_file_does_not_hold_is_not_invented(strangers: Path, name: str) -> None:
    with pytest.raises(ReadError, match=REFUSED[name]):
        scan(strangers / name)


@pytest.mark.parametrize(
    ("name", "sypd"),
    [
        ("2-coupled/bsc-auto-lb/comp1.csv", {48: 3.27, 240: 12.96, 1008: 26.27}),
        ("2-coupled/bsc-auto-lb/comp2.csv", {48: 3.53, 757: 48.73, 905: 47.59}),
    ],
)
def test_simulated_years_per_day_become_seconds_of_one_year(strangers: Path, name: str, sypd: dict[int, float]) -> None:
    runs = scan(strangers / name).runs[""]
    measured = dict(zip(runs.to_frame()["nproc"], runs.values, strict=True))
    assert {cores: measured[cores] for cores in sypd} == pytest.approx({c: 86_400 / rate for c, rate in sypd.items()})


def test_a_coupled_run_is_not_learned_from_its_own_outcomes(strangers: Path) -> None:
    found = scan(strangers / "ec-earth/ifs_nemo_coupled_runs.csv", time="coupled_s")
    assert found.runs[""].parameters == ["ifs_nproc", "nemo_nproc", "n_ts"]


#: Seconds of each component for the simulated days of the file, as INDEX.md has them.
CESM = {
    "single.8": {"lnd": 94.751, "ice": 144.849, "atm": 581.950, "ocn": 665.570, "cpl": 88.305},
    "single.64": {"lnd": 11.491, "ice": 26.805, "atm": 98.818, "ocn": 139.930, "cpl": 13.947},
    "dual.16": {"lnd": 61.366, "ice": 168.814, "atm": 366.795, "ocn": 423.043, "cpl": 71.205},
}


@pytest.mark.parametrize("name", CESM)
def test_timing_files_of_cesm(strangers: Path, name: str) -> None:
    found = scan(strangers / "2-coupled/cesm-das4-jungle" / name).runs
    seconds = {component: float(runs.values[0]) for component, runs in found.items()}
    assert {component: 5 * value for component, value in seconds.items()} == pytest.approx(CESM[name], rel=1e-3)


def test_google_benchmark_has_its_own_unit(strangers: Path) -> None:
    table = scan(strangers / "5-benchtools/google-benchmark-inputs/test1_run1.json").runs["google-benchmark"].to_frame()
    assert dict(zip(table["benchmark"], table["seconds"], strict=True))["BM_SameTimes"] == pytest.approx(10e-9)


def test_pytest_benchmark_files_are_one_table(strangers: Path) -> None:
    runs = scan(strangers / "5-benchtools/pytest-benchmark").runs["pytest-benchmark"]
    assert sorted(runs.values) == pytest.approx([2.45716e-07, 2.54059e-07, 2.62241e-07], rel=1e-5)
    assert len(runs.configurations.drop_duplicates()) == 1
