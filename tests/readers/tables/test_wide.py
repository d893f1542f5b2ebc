"""Tables with columns for each solver: what stands beside a word for cores names it, in any language and capitals."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.errors import ReadError
from evenly.readers import scan
from evenly.readers.tables.table import TableReader
from evenly.runs.runs import Runs

COUNTS = ((96, 48), (192, 64), (256, 128), (384, 160))


def written(path: Path, header: str, *, first: tuple[str, ...] = (), last: bool = False, minutes: float = 1) -> None:
    """Write a table with the cores and times of two solvers, 6000 / p and 2400 / p."""
    rows = []
    for k, (one, other) in enumerate(COUNTS):
        times = [6000 / one / minutes, 2400 / other]
        cells = [f"{one}", f"{times[0]:.3f}", f"{other}", f"{times[1]:.3f}"]
        rows.append(",".join([*first[k : k + 1], *cells, *([f"{max(times) + 1.5:.2f}"] if last else [])]))
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")


def read(path: Path) -> tuple[dict[str, Runs], str]:
    """Return the runs of each solver, and what was said."""
    reader = TableReader()
    return reader.read(path), " ".join(reader.notes)


@pytest.mark.parametrize(
    ("header", "solvers", "cores"),
    [
        ("ATM_cores,Atm_s,OCN_cores,Ocn_s", ["ATM", "OCN"], "cores"),
        ("ATM_Kerne,ATM_Zeit_s,OZE_Kerne,OZE_Zeit_s", ["ATM", "OZE"], "Kerne"),
        ("atm_coeurs,atm_temps_s,oce_coeurs,oce_temps_s", ["atm", "oce"], "coeurs"),
        ("nucleos_atm,tiempo_atm_s,nucleos_oce,tiempo_oce_s", ["atm", "oce"], "nucleos"),
        ("atm_nuclei,atm_tempo_s,oce_nuclei,oce_tempo_s", ["atm", "oce"], "nuclei"),
        ("atm_nodes,atm_s,ocn_nodes,ocn_s", ["atm", "ocn"], "nodes"),
        ("atm_cores,atm_calc_s,ocn_cores,ocn_calc_s", ["atm", "ocn"], "cores"),
    ],
)
def test_solvers_have_columns_of_their_own(tmp_path: Path, header: str, solvers: list[str], cores: str) -> None:
    written(tmp_path / "runs.csv", header)
    runs, _ = read(tmp_path / "runs.csv")
    assert [*runs] == solvers
    assert [one.parameters for one in runs.values()] == [[cores]] * 2
    assert runs[solvers[1]].values[0] == pytest.approx(50)


def test_a_time_without_the_waiting_stands_beside_the_waiting(tmp_path: Path) -> None:
    header = "atm_cores,atm_calc_s,atm_wait_s,ocn_cores,ocn_calc_s,ocn_wait_s"
    rows = [f"{a},{6000 / a:.2f},{k + 0.3},{o},{2400 / o:.2f},{k + 1.2}" for k, (a, o) in enumerate(COUNTS)]
    (tmp_path / "runs.csv").write_text("\n".join([header, *rows]) + "\n")
    runs, said = read(tmp_path / "runs.csv")
    assert (runs["atm"].values[0], [*runs["atm"].quantities]) == (pytest.approx(62.5), ["seconds", "wait"])
    assert "'calc_s' is the time in s" in said


def test_solvers_may_have_units_of_their_own(tmp_path: Path) -> None:
    written(tmp_path / "runs.csv", "atm_cores,atm_min,ocn_cores,ocn_s", minutes=60)
    runs, _ = read(tmp_path / "runs.csv")
    assert (runs["atm"].values[0], runs["ocn"].values[0]) == (pytest.approx(62.5, rel=1e-3), pytest.approx(50))


@pytest.mark.parametrize("labels", [("5", "10", "XS", "S"), ("1", "2", "3", "4"), ("L1", "L2", "L3", "L4")])
@pytest.mark.parametrize("name", ["layout", "pelayout", "case", "config"])
def test_names_of_layouts_are_no_parameter(tmp_path: Path, name: str, labels: tuple[str, ...]) -> None:
    written(tmp_path / "runs.csv", f"{name},atm_cores,atm_s,ocn_cores,ocn_s", first=labels)
    runs, said = read(tmp_path / "runs.csv")
    assert (runs["atm"].parameters, f"left out: '{name}'" in said) == (["cores"], True)


def test_numbers_of_another_name_stay_a_parameter(tmp_path: Path) -> None:
    written(tmp_path / "runs.csv", "mesh,atm_cores,atm_s,ocn_cores,ocn_s", first=("1", "2", "3", "4"))
    assert read(tmp_path / "runs.csv")[0]["atm"].parameters == ["cores", "mesh"]


def test_a_total_without_a_unit_is_the_time_of_the_whole(tmp_path: Path) -> None:
    written(tmp_path / "runs.csv", "atm_cores,atm_s,ocn_cores,ocn_s,total", last=True)
    runs, said = read(tmp_path / "runs.csv")
    assert (runs["atm"].parameters, "left out: 'total'" in said) == (["cores"], True)


def test_parameters_may_be_those_of_each_solver(tmp_path: Path) -> None:
    """A question about two machines names `cores`, which no column is called."""
    written(tmp_path / "runs.csv", "machine,atm_cores,atm_s,ocn_cores,ocn_s", first=("A", "A", "B", "B"))
    runs = TableReader(parameters=["cores", "machine"]).read(tmp_path / "runs.csv")
    assert [one.parameters for one in runs.values()] == [["cores", "machine_"]] * 2


def _costs(path: Path, header: str) -> None:
    """Write simulated years per day, or core-hours for a simulated year, of times 6000 / p and 2400 / p hours."""
    names, rows = header.split(","), []
    for one, other in COUNTS:
        hours = {"atm": 6000 / one, "ocn": 2400 / other}
        cores = {"atm": one, "ocn": other}
        told: dict[str, dict[str, float]] = {
            "cores": {s: cores[s] for s in cores},
            "CHSY": {s: hours[s] * cores[s] for s in hours},
            "SYPD": {s: 24 / hours[s] for s in hours},
        }
        rows.append(",".join(repr(told[name[4:]][name[:3]]) for name in names))
    path.write_text("\n".join([header, *rows]) + "\n")


@pytest.mark.parametrize(
    "header",
    [
        "atm_cores,atm_CHSY,ocn_cores,ocn_CHSY",
        "atm_cores,atm_SYPD,ocn_cores,ocn_CHSY",
        "atm_cores,atm_SYPD,ocn_cores,ocn_SYPD",
    ],
)
def test_core_hours_stand_beside_the_cores_of_each_solver(tmp_path: Path, header: str) -> None:
    _costs(tmp_path / "runs.csv", header)
    runs, said = read(tmp_path / "runs.csv")
    assert [*runs] == ["atm", "ocn"]
    assert runs["atm"].values == pytest.approx([3600 * 6000 / one for one, _ in COUNTS])
    assert runs["ocn"].values == pytest.approx([3600 * 2400 / other for _, other in COUNTS])
    assert ("core-hours" in said) == ("CHSY" in header)


def test_core_hours_beside_nodes_are_refused(tmp_path: Path) -> None:
    _costs(tmp_path / "runs.csv", "atm_cores,atm_SYPD,ocn_cores,ocn_CHSY")
    path = tmp_path / "runs.csv"
    path.write_text(path.read_text().replace("_cores", "_nodes"))
    with pytest.raises(ReadError, match="CHSY"):
        read(path)


def test_simulated_days_per_day_beside_years_per_day_are_made_years(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("atm_cores,atm_SYPD,ocn_cores,ocn_SDPD\n8,1,4,730\n16,2,8,1460\n")
    found = scan(path)
    assert [one.values.tolist() for one in found.runs.values()] == [[86400, 43200], [43200, 21600]]
    assert {one.days for one in found.runs.values()} == {365.0}
    assert any("'ocn_SDPD': simulated days per day, taken as so many / 365" in note for note in found.notes)
