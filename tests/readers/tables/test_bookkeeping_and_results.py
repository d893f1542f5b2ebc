"""What keeps the books, what came out of runs, and what counts the cores: never taken for each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.errors import InputError
from evenly.readers.needless import without_needless
from evenly.readers.scanning import Measurements, scan
from evenly.runs.cores import find_cores


def _read(folder: Path, text: str, **options: str) -> Measurements:
    path = folder / "runs.csv"
    path.write_text(text)
    return scan(path, **options)


@pytest.mark.parametrize(
    ("ranks", "threads"),
    [
        ("MPI processes", "OpenMP threads per process"),
        ("Anzahl Prozesse", "Anzahl Threads"),
        ("Prozesse", "Threads pro Prozess"),
    ],
)
def test_threads_of_each_process_make_cores_and_no_work(tmp_path: Path, ranks: str, threads: str) -> None:
    found = _read(tmp_path, f"{ranks},{threads},time_s\n4,4,54.4\n8,4,28.8\n16,4,16.5\n64,4,7.2\n").runs[""]
    with pytest.raises(InputError, match=r"which of .* are the cores is open: say it with --cores-are"):
        find_cores(found.space, measured=found.configurations)


@pytest.mark.parametrize(("job", "user"), [("Auftrag", "Benutzer"), ("Trabajo", "Usuario"), ("Job-Nr", "Nutzer")])
def test_jobs_and_users_are_no_parameters(tmp_path: Path, job: str, user: str) -> None:
    rows = [
        f"44{n % 4}02,{('ada', 'bob', 'eve')[n % 3]},{8 * 2 ** (n % 5)},{100 / 2 ** (n % 5) + n:.1f}" for n in range(12)
    ]
    assert _read(tmp_path, "\n".join([f"{job},{user},Kerne,Laufzeit (s)", *rows])).runs[""].parameters == ["Kerne"]


def test_cycles_came_out_of_the_runs_of_a_case(tmp_path: Path) -> None:
    cases = {"slab100": 22, "slab400": 28, "slab1600": 52}
    rows = [
        f"{case},{np},{cycles * 40 / np + 1:.1f},{cycles}" for np in (4, 8, 16, 64) for case, cycles in cases.items()
    ]
    found = _read(tmp_path, "\n".join(["calculation,np,walltime(s),SCF cycles", *rows]))
    kept = without_needless(found.runs, found.columns)[0][""]
    assert kept.parameters == ["calculation", "np"]


def test_a_speed_up_s_is_no_time(tmp_path: Path) -> None:
    text = '"Processes","Mean time in seconds","Parallel speed-up, S"\n1,50.8,1\n2,26.1,1.95\n4,13.7,3.71\n8,7.8,6.51\n'
    assert set(_read(tmp_path, text).runs[""].quantities) == {"seconds"}


def test_an_ideal_time_is_no_parameter(tmp_path: Path) -> None:
    text = "cores,time_s,ideal_s\n16,53.44,53.60\n32,28.96,26.80\n64,16.05,13.40\n256,7.21,3.35\n"
    assert _read(tmp_path, text).runs[""].parameters == ["cores"]


def test_remarks_under_any_heading_are_known_beside_ok(tmp_path: Path) -> None:
    said = ["ok", "ok", "restarted from a wrong file", "ok, waited 9 h", "ok"]
    rows = [f"{n},{900 / n},{text.replace(',', ' -')}" for n, text in zip((8, 16, 32, 64, 128), said, strict=True)]
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(["cores,time_s,what was", *rows]))
    found = scan(path)
    assert found.runs[""].parameters == ["cores"]
    assert any("restarted from a wrong file" in note for note in found.notes)


@pytest.mark.parametrize(
    ("count", "time", "name", "rows"),
    [
        ("Nodes", "time (h/year)", "NH/Year", "10,1.42,14.2\n20,0.73,14.6\n40,0.39,15.6\n80,0.22,17.6\n"),
        ("p", "t [s]", "E [%]", "1,100.0,100\n2,52.1,96\n4,27.3,92\n8,15.0,83\n16,9.1,69\n"),
        ("p", "t [s]", "S", "1,100.0,1.00\n2,52.1,1.92\n4,27.3,3.66\n8,15.0,6.67\n"),
        ("Knoten", "Laufzeit [min]", "KNh", "1,100.0,1.67\n2,52.1,1.74\n4,27.3,1.82\n8,15.0,2.00\n"),
    ],
)
def test_what_is_computed_from_the_time_to_the_last_digit_is_no_parameter(
    tmp_path: Path, count: str, time: str, name: str, rows: str
) -> None:
    assert _read(tmp_path, f"{count},{time},{name}\n{rows}").runs[""].parameters == [count]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("Gitter", "1,10.0,12\n2,10.1,24\n4,10.0,48\n8,10.1,96\n"),  # weak scaling
        ("lanes", "1,100,3\n2,50.0,6\n4,25.0,12\n8,12.5,24\n"),  # it scales perfectly
        ("GHz", "4,10.0,1.0\n4,8.3,1.2\n4,4.2,2.4\n4,2.8,3.6\n"),
        ("alpha", "1,100.0,1.01\n2,52.1,1.93\n4,27.3,1.22\n8,15.0,1.57\n"),
        ("limbs", "4,1.2,137\n4,2.4,274\n8,2.4,548\n8,1.2,274\n"),
    ],
)
def test_what_was_chosen_is_a_parameter_though_the_time_is_proportional_to_it(
    tmp_path: Path, name: str, rows: str
) -> None:
    found = _read(tmp_path, f"cores,time_s,{name}\n{rows}")
    assert {one.role for one in found.columns if one.name == name} <= {"parameter", "left out"}


@pytest.mark.parametrize("head", ["cores,1,2,4", "run,a,b,c\ncores,1,2,4"])
def test_a_table_on_its_side_is_refused(tmp_path: Path, head: str) -> None:
    with pytest.raises(InputError, match=r"stands on its side: its first column holds names \('cores', 'time_s'\)"):
        _read(tmp_path, f"{head}\ntime_s,100,52.1,27.3\n")
