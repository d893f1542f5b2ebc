"""Repeated runs side by side: ``run1_s, run2_s``."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from evenly.errors import ReadError
from evenly.readers.scanning import Measurements, scan


def _read(folder: Path, text: str) -> Measurements:
    path = folder / "runs.csv"
    path.write_text(text)
    return scan(path)


@pytest.mark.parametrize(
    "names",
    [
        "run1_s,run2_s",
        "attempt 1 (s),attempt 2 (s)",
        "run 1 (s),run 2 (s)",
        "time1,time2",
        "trial_0_s,trial_1_s",
        "t1_s,t2_s",
        "Lauf 1,Lauf 2",
        "Messung1 [s],Messung2 [s]",
        "essai 1,essai 2",
        "Prueba 1 (s),Prueba 2 (s)",
        "misura_1,misura_2",
    ],
)
def test_numbered_times_of_a_configuration_are_its_runs(tmp_path: Path, names: str) -> None:
    found = _read(tmp_path, f"cores,{names}\n1,100,101\n2,52,51\n4,26,\n")
    runs = found.runs[""]
    assert runs.parameters == ["cores"]
    assert sorted(runs.values) == [26, 51, 52, 100, 101]
    assert any("are taken for repeated runs of each row's configuration" in note for note in found.notes)
    assert [column.why for column in found.columns if column.role == "time"] == ["repeated runs side by side"]


@pytest.mark.parametrize(
    "text",
    [
        "cores,time1_s,time2_s\n1,100,10\n2,52,5\n4,26,3\n",  # two parts of a run
        "cores,run1,run3\n1,100,101\n2,52,51\n",
        "cores,t1,t2\n1,300,310\n2,300,310\n",  # temperatures
        "cores,run1_s,run2_s\n1,100,broken\n2,52,51\n",
    ],
)
def test_other_numbered_columns_are_asked_for(tmp_path: Path, text: str) -> None:
    with pytest.raises(ReadError, match="pass time="):
        _read(tmp_path, text)


def test_a_total_beside_them_is_the_time(tmp_path: Path) -> None:
    runs = _read(tmp_path, "cores,run1_s,run2_s,time_s\n1,100,101,201\n2,52,51,103\n4,26,27,53\n").runs[""]
    assert sorted(runs.values) == [53, 103, 201]


def test_a_mean_with_a_unit_is_a_time(tmp_path: Path) -> None:
    runs = _read(tmp_path, "cores,mean_s,std_s,min_s,max_s\n1,100,1,99,102\n2,52,1,50.5,54\n4,26,.5,25.7,27\n").runs[""]
    assert runs.parameters == ["cores"]
    assert list(runs.values) == [100, 52, 26]


@pytest.mark.parametrize(
    ("names", "pattern"), [("Try A,Try B", "Try *"), ("wall_s_seed11,wall_s_seed12", "wall_s_seed*")]
)
def test_a_pattern_names_repeated_runs_and_is_proposed(tmp_path: Path, names: str, pattern: str) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(f"cores,{names}\n8,90,91\n16,46,47\n32,24,\n")
    with pytest.raises(ReadError, match=f"several columns are times: --time '{re.escape(pattern)}'"):
        scan(path)
    found = scan(path, time=pattern)
    assert found.runs[""].values.tolist() == [90, 91, 46, 47, 24]
    assert "repeated runs" in found.notes[0]


@pytest.mark.parametrize("names", ["16 cores,32 cores,64 cores", "16 cores [s],32 cores [s],64 cores [s]"])
def test_a_pattern_names_times_on_several_counts(tmp_path: Path, names: str) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(f"mesh,{names}\ncoarse,110.1,60.2,35.3\nfine,220.1,120.5,70.4\n")
    pattern = "* cores [s]" if "[" in names else "* cores"
    runs = scan(path, time=pattern).runs[""]
    assert runs.parameters == ["mesh", "cores"]
    assert runs.to_frame().sort_values(["mesh", "cores"])["seconds"].tolist() == [110.1, 60.2, 35.3, 220.1, 120.5, 70.4]


def test_a_pattern_that_fits_too_little_or_what_may_be_anything(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("mesh,t16,t32\n1,110.1,60.2\n2,220.1,120.5\n")
    with pytest.raises(ReadError, match="must fit several columns, but 'x\\*' fits 0"):
        scan(path, time="x*")
    with pytest.raises(ReadError, match="say in their names what their numbers are, as in '16 cores'"):
        scan(path, time="t*")


@pytest.mark.parametrize(("names", "parameter"), [("1 K ligands,10 K ligands", "K ligands"), ("C++ 1,C++ 9", "C++")])
def test_a_pattern_names_what_was_varied(tmp_path: Path, names: str, parameter: str) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(f"cores,{names}\n1,110.1,1060.2\n2,60.1,520.5\n")
    with pytest.raises(ReadError) as asked:
        scan(path)
    pattern = shlex.split(str(asked.value).split("several columns are times: ")[1])[1]
    found = scan(path, time=pattern)
    assert found.runs[""].parameters == ["cores", parameter]
    assert f"are taken for the times at the values of {parameter!r} in their names" in found.notes[0]


@pytest.mark.parametrize(
    ("text", "seconds", "left_out"),
    [
        (
            "np,Run 1,Run 2,Run 3,Avg (s)\n2,11.5,11.3,12.3,11.7\n4,7.4,7.5,7.6,7.5\n8,5.1,5.4,5.1,5.2\n",
            [11.5, 11.3, 12.3, 7.4, 7.5, 7.6, 5.1, 5.4, 5.1], "'Avg (s)'",
        ),
        (
            "np,Run 1,Run 2,Mean,Min\n2,1.50s,1.70s,1.60s,1.50s\n4,900ms,800ms,850ms,800ms\n8,0.5s,0.4s,0.45s,0.4s\n",
            [1.5, 1.7, 0.9, 0.8, 0.5, 0.4], "'Mean', 'Min'",
        ),
    ],
)  # fmt: skip
def test_what_is_computed_from_repeated_runs_is_no_parameter(
    tmp_path: Path, text: str, seconds: list[float], left_out: str
) -> None:
    found = _read(tmp_path, text)
    assert found.runs[""].parameters == ["np"]
    assert found.runs[""].values.tolist() == pytest.approx(seconds)
    assert f"left out: {left_out} (computed from them)" in " ".join(found.notes)


def test_a_parameter_beside_repeated_runs_stays(tmp_path: Path) -> None:
    found = _read(tmp_path, "np,dt,Run 1,Run 2\n2,0.1,1.5,1.7\n4,0.2,0.9,0.8\n8,0.3,0.5,0.4\n")
    assert found.runs[""].parameters == ["np", "dt"]


@pytest.mark.parametrize("statistics", ["Mittel (ms),Stabw.", "moyenne [ms],écart-type", "media (ms),σ"])
def test_a_rounded_mean_and_deviation_in_another_language_are_computed(tmp_path: Path, statistics: str) -> None:
    rows = "1,100.1,101.2,99.8,100.4,0.7\n2,52.1,51.9,52.6,52.2,0.4\n4,27.3,27.0,27.5,27.3,0.3\n"
    runs = _read(tmp_path, f"Kerne,Lauf 1,Lauf 2,Lauf 3,{statistics}\n{rows}").runs[""]
    assert runs.parameters == ["Kerne"]
    assert runs.values.max() == pytest.approx(0.1012)


def test_sizes_as_powers_side_by_side(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("Cores,64^3,128^3\n1,10.2,81.4\n2,5.4,41.9\n")
    with pytest.raises(ReadError, match=re.escape("--time '*^3'")):
        scan(path)
    assert scan(path, time="*^3").runs[""].configurations["size"].tolist() == [64, 128, 64, 128]


def test_labels_in_a_corner_without_a_name_are_a_parameter(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(",1 node,2 nodes,4 nodes\nsmall,10.1,5.4,3.0\nlarge,80.2,41.0,21.5\n")
    found = scan(path, time="* nodes")
    assert found.runs[""].parameters == ["label", "nodes"]
    assert any("the column without a name is called 'label'" in note for note in found.notes)
    path.write_text(",cores,time_s\nfine,1,80\nfine,2,41\ncoarse,1,10\ncoarse,2,5.4\n")
    assert scan(path).runs[""].parameters == ["label", "cores"]


def test_times_of_two_tools_are_no_repeated_runs(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("cores,tool A,tool B\n1,100,80\n2,52,41\n")
    runs = scan(path, time="tool *").runs[""]
    assert runs.configurations["tool"].tolist() == ["A", "B", "A", "B"]


def test_times_beside_a_column_of_solvers_are_those_of_no_solvers(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(
        "component,cores,a_time,b_time\n" + "".join(f"{s},{p},{90 / p},{9 / p}\n" for s in "xy" for p in (8, 9))
    )
    with pytest.raises(ReadError, match="'a_time' and 'b_time' may each be the time") as asked:
        scan(path)
    assert "--solver" not in str(asked.value)
    assert "each solver" not in str(asked.value)
