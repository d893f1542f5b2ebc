"""Tables: meaning of columns, units, damaged files."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from evenly.errors import InputError, ReadError
from evenly.readers.tables.columns import measured, time_candidates
from evenly.readers.tables.table import TableReader
from evenly.runs.runs import Runs
from tests.readers.damage import check_reads_or_refuses, damaged


def write(folder: Path, content: str | bytes, name: str = "runs.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read_one(path: Path, **options: Any) -> Runs:
    found = TableReader(**options).read(path)
    assert list(found) == [""]
    return found[""]


# ---- real files -------------------------------------------------------------------------------------------------


def test_a_rate_becomes_the_seconds_of_a_simulated_year(samples: Path) -> None:
    reader = TableReader()
    runs = reader.read(samples / "ec-earth" / "IFS_SR_Reduced_scalability_ece3.csv")[""]
    assert reader.notes[0] == "'SYPD' is a rate in SYPD: seconds are those of a simulated year"
    assert runs.parameters == ["nproc"]
    assert len(runs) == 12
    np.testing.assert_allclose(runs.repetitions({"nproc": 48}), [86_400 / 3.23])


def test_spaces_after_the_comma_do_not_hurt(samples: Path) -> None:
    runs = read_one(samples / "ec-earth" / "IFS_HR_scalability_ece3.csv")
    np.testing.assert_allclose(runs.repetitions({"nproc": 144}), [86_400 / 0.83])


def test_two_times_are_a_question_to_the_user(samples: Path) -> None:
    path = samples / "cice" / "cice_craig2012.csv"
    with pytest.raises(ReadError, match=r"'seconds_before' and 'seconds_after' may each be the time: pass time="):
        TableReader().read(path)
    runs = read_one(path, time="seconds_before", parameters="grid,pes")
    assert runs.parameters == ["grid", "pes"]
    assert runs.quantities == {"seconds": "s", "seconds_after": "s"}
    assert set(runs.to_frame()["machine"]) == {"hopper"}
    assert runs.repetitions({"grid": "gx1v6", "pes": 1280}).tolist() == [19.0]


def test_the_thesis_table_gives_both_domains(samples: Path) -> None:
    path = samples / "thesis" / "table_5_1_5_2_5_3.csv"
    reader = TableReader(time="median_ms_or_P", unit="ms", where="kind == 'measured'")
    found = reader.read(path)
    assert list(found) == ["inner", "outer"]
    assert found["inner"].parameters == ["cores"]
    np.testing.assert_allclose(found["inner"].values, [0.453, 0.379, 0.305, 0.253, 0.269, 0.196, 0.176])
    assert found["outer"].repetitions({"cores": 74}).tolist() == [0.418]
    assert "'domain' names the solvers" in reader.notes


def test_an_unnamed_index_of_times_numbers_the_steps(samples: Path) -> None:
    reader = TableReader(time="Component", constants={"cores": 256})
    runs = reader.read(samples / "ec-earth" / "ATMIFS_ts.csv")[""]
    assert runs.parameters == ["cores"]
    assert set(runs.quantities) == {"seconds", "Waiting", "Interpolation", "Sending"}
    table = runs.to_frame()
    assert len(table) == 255
    assert table["repetition"].iloc[:2].tolist() == [132_300, 135_000]
    assert table["seconds"].iloc[0] == 0.269


def test_steps_without_any_parameter_ask_for_one(samples: Path) -> None:
    with pytest.raises(ReadError, match=r"no column is left to be a parameter.*constants="):
        TableReader(time="Component").read(samples / "ec-earth" / "ATMIFS_ts.csv")


@pytest.mark.parametrize(
    ("name", "rows", "parameters"),
    [
        ("gemm-test.csv", 1_000, ["m", "n", "k"]),
        ("bcast-test.csv", 10_484, ["msg", "ppn", "nodes"]),
        ("amg-test.csv", 21_534, ["nx", "ny", "nz", "ct", "rt", "it", "tpp", "ppn", "P", "Q", "R"]),
    ],
)
def test_benchmark_data_need_no_option(data: Path, name: str, rows: int, parameters: list[str]) -> None:
    runs = read_one(data / name)
    assert (len(runs), runs.parameters) == (rows, parameters)
    expected = pd.read_csv(data / name)
    np.testing.assert_array_equal(runs.values, expected["seconds"].to_numpy())
    np.testing.assert_array_equal(runs.configurations.to_numpy(), expected[parameters].to_numpy())


def test_failed_runs_stay_and_a_linear_solver_is_a_choice(data: Path) -> None:
    lammps = read_one(data / "tuning" / "lammps-voro.csv")
    assert (len(lammps), len(lammps.failed)) == (2000, 356)
    dune = read_one(data / "tuning" / "dune.csv")
    assert dune.parameters == ["precond", "solver", "cells", "pre", "post"]


def test_labels_that_look_like_numbers(data: Path) -> None:
    runs = read_one(data / "amg-test.csv", categories="ct,rt,it", parameters="nx,ct,rt,it,ppn")
    kinds = {name: kind.kind for name, kind in runs.space.parameters.items()}
    assert kinds == {"nx": "integer", "ct": "categorical", "rt": "categorical", "it": "categorical", "ppn": "integer"}


# ---- forms ------------------------------------------------------------------------------------------------------

PLAIN = [(2, 1.5), (4, 0.75), (8, 0.5)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "cores,seconds\n2,1.5\n4,0.75\n8,0.5\n"),
        ("a.csv", "\ufeffcores,seconds\r\n2,1.5\r\n4,0.75\r\n8,0.5\r\n"),
        ("a.csv", "cores;seconds\n2;1,5\n4;0,75\n8;0,5\n"),
        ("a.tsv", "cores\tseconds\n2\t1.5\n4\t0.75\n8\t0.5"),
        ("a.csv", "# measured on Monday\n\ncores,seconds\n2,1.5\n# ----\n4,0.75\n\n8,0.5\n# the last one\n"),
        ("a.csv", "cores, seconds,\n2, 1.5,\n4, 0.75,\n8, 0.5,\n"),
        ("a.csv", '"cores","seconds"\n"2","1.5"\n"4","0.75"\n"8","0.5"\n'),
        ("a.txt", "cores   seconds\n2       1.5\n4      0.75\n8     5e-1\n"),
        ("a.dat", "# cores seconds\n2 1.5\n4 0.75\n8 0.5\n"),
        ("a.csv", ",cores,seconds\n0,2,1.5\n1,4,0.75\n2,8,0.5\n"),
        ("a.csv", "sep=;\ncores;seconds\n2;1.5\n4;0.75\n8;0.5\n"),
        ("a.csv", "cores|time [ms]\n2|1500\n4|750\n8|500\n"),
        ("a.csv", "cores,ticks\n2,3e9\n4,1.5e9\n8,1e9\n"),
    ],
)
def test_every_form_gives_the_same_runs(tmp_path: Path, name: str, content: str) -> None:
    path = write(tmp_path, content, name)
    options: dict[str, Any] = {"time": "ticks", "unit": "ticks@2e9"} if "ticks" in content else {}
    reader = TableReader(**options)
    assert reader.recognises(path) or "ticks" in content
    runs = reader.read(path)[""]
    assert list(zip(runs.configurations["cores"], runs.values, strict=True)) == PLAIN


def test_other_encodings_and_compression(tmp_path: Path) -> None:
    utf16 = write(tmp_path, "cores\tseconds\n2\t1.5\n".encode("utf-16"), "a.tsv")
    latin = write(tmp_path, "Größe,seconds\n2,1.5\n".encode("latin-1"), "b.csv")
    packed = write(tmp_path, gzip.compress(b"cores,seconds\n2,1.5\n"), "c.csv.gz")
    assert [read_one(p).values.tolist() for p in (utf16, latin, packed)] == [[1.5]] * 3
    assert read_one(latin).parameters == ["Größe"]
    assert TableReader().recognises(packed)


def test_thousands_or_decimals_is_asked_not_guessed(tmp_path: Path) -> None:
    path = write(tmp_path, "level;seconds\n1,024;3,5\n")
    with pytest.raises(ReadError, match=r"line 2: '1,024' in column 'level' may be a thousand or a decimal comma"):
        TableReader().read(path)
    assert read_one(path, decimal=",").configurations["level"].tolist() == [1.024]


# ---- meaning ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "unit", "certainty"),
    [
        ("time_ms", "ms", 2), ("wall [s]", "s", 2), ("SYPD", "SYPD", 2), ("Elapsed Time (min)", "min", 2),
        ("time in us", "us", 2), ("seconds_before", "", 1), ("peak_memory_GiB", "GiB", 0), ("energy [kWh]", "kWh", 0),
    ],
)  # fmt: skip
def test_names_of_measured_columns(name: str, unit: str, certainty: int) -> None:
    found = measured(name)
    assert found is not None
    assert (found.unit, found.certainty) == (unit, certainty)


@pytest.mark.parametrize(
    "name", ["cores", "n_s", "block_size_B", "time_step", "end_time", "h", "m", "nodes", "times_two"]
)
def test_names_of_what_is_varied(name: str) -> None:
    found = measured(name)
    assert found is None or name == "times_two"
    assert measured("times_two") is None


def test_the_most_certain_time_wins() -> None:
    assert [m.column for m in time_candidates(["time", "comm_time_s", "n"])] == ["time"]


def test_other_quantities_and_statistics(tmp_path: Path) -> None:
    path = write(tmp_path, "n,time_s,std,comm_time_ms,peak_memory_GiB,host\n8,2,0.1,500,1.5,a\n16,1,0.1,400,1,b\n")
    reader = TableReader()
    runs = reader.read(path)[""]
    assert runs.parameters == ["n"]
    assert runs.quantities == {"seconds": "s", "comm_time": "s", "peak_memory": "B"}
    assert runs.to_frame()["peak_memory"].tolist() == [1.5 * 2**30, 2**30]
    assert runs.to_frame()["machine"].tolist() == ["a", "b"]
    assert "left out: std" in reader.notes


def test_status_words(tmp_path: Path) -> None:
    path = write(tmp_path, "n,time,status\n1,3,OK\n2,,crashed\n3,,timeout\n")
    assert read_one(path).to_frame()["status"].tolist() == ["ok", "failed", "timed out"]
    path = write(tmp_path, "n,time\n1,3\n2,timeout\n3,oom\n4,\n")
    assert read_one(path).to_frame()["status"].tolist() == ["ok", "timed out", "failed", "failed"]


def test_columns_that_concern_one_solver(tmp_path: Path) -> None:
    path = write(tmp_path, "domain,cores,degree,seconds\na,2,,4\na,4,,2\nb,2,3,8\nb,4,3,5\n")
    found = TableReader().read(path)
    assert found["a"].parameters == ["cores"]
    assert found["b"].parameters == ["cores", "degree"]
    assert found["b"].space.parameters["degree"].kind == "integer"


# ---- damage -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("", {}, "the file is empty"),
        ("# nothing\n\n", {}, "holds no table"),
        ("cores,seconds\n", {}, "line 1: the table has a header but no rows"),
        ("1,2\n3,4\n", {}, "line 1: the first line must name the columns"),
        ("cores,cores,seconds\n1,2,3\n", {}, "'cores' occurs more than once"),
        ("cores,seconds\n1,2\n3\n", {}, "line 3: the header has 2 columns, but this row has 1"),
        ("cores,seconds\n1,2\n3,4,5\n", {}, "line 3: the header has 2 columns, but this row has 3"),
        ("# c\ncores,seconds\n1,2\n\n3,-4\n", {}, "line 5: the time in column 'seconds' must be .* got '-4'"),
        ("cores,seconds\n1,2\n3,0\n", {}, "line 3: the time .* got '0'"),
        ("cores,seconds\n1,2\n3,abc\n", {}, "line 3: the time .* got 'abc'"),
        ("cores,seconds\n,2\n3,4\n", {}, "line 2: the parameter 'cores' has no value"),
        ("size,seconds\n1,2\n2,2\n3,2\n4,2\nx,2\n", {}, "line 6: a number was expected in column 'size'"),
        ("size,seconds\n1,2\n2,2\nx,2\n", {}, "line 4: a number was expected in column 'size'"),
        ("cores,seconds,status\n1,2,odd\n", {}, "line 2: the status .* got 'odd'"),
        ("cores,seconds,status\n1,,ok\n", {}, "line 2: the time"),
        ("cores,size\n1,2\n", {}, "no column's name says that it is a time: pass time="),
        ("cores,seconds\n1,2\n", {"time": "wall"}, "time= \\(--time\\) names the column 'wall', but there are only"),
        ("cores,seconds\n1,2\n", {"parameters": ["p"]}, "parameters= \\(--parameters\\) names the column 'p'"),
        ("cores,seconds\n1,2\n", {"unit": "GiB"}, "unit must be a time or a rate"),
        ("cores,seconds\n1,2\n", {"unit": "parsec"}, "the unit must be one of"),
        ("cores,seconds\n1,2\n", {"where": "cores > 1"}, "no row is left"),
        ("cores,seconds\n1,2\n", {"where": "cores >"}, "is not an expression"),
        ("domain,cores,seconds\na,1,2\n,1,2\n", {}, "line 3: the column 'domain' must name the solver"),
        ("run_no,Participant,Rank,Event,Duration\n1,A,0,advance,3\n", {}, "durations are cut to whole numbers"),
    ],
)
def test_a_broken_table_says_where_and_why(tmp_path: Path, content: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ReadError, match=message) as caught:
        TableReader(**options).read(write(tmp_path, content))
    assert caught.value.path == tmp_path / "runs.csv"


def test_missing_binary_and_folder(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="can't be read"):
        TableReader().read(tmp_path / "none.csv")
    with pytest.raises(ReadError, match="binary"):
        TableReader().read(write(tmp_path, b"a,b\n\x00\x01\x02"))
    with pytest.raises(ReadError, match="can't be read"):
        TableReader().read(write(tmp_path, gzip.compress(b"cores,seconds\n2,1.5\n")[:20], "a.csv.gz"))
    assert not TableReader().recognises(tmp_path)


ORIGINAL = b"domain,cores,time_ms,status\ninner,150,453,ok\ninner,170,379,ok\nouter,74,,failed\nouter,110,281,ok\n"


@settings(max_examples=300, deadline=None)
@given(content=damaged(ORIGINAL, "0123456789,;.-eE\n\t\"'#abcNaN "))
def test_damage_gives_runs_or_a_read_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    check_reads_or_refuses(TableReader(), tmp_path_factory.getbasetemp() / "damaged.csv", content)


def test_bookkeeping_columns(tmp_path: Path) -> None:
    content = "job,rep,date,host,cores,seconds\nj1,0,2026-11-20,n1,4,2\nj1,1,2026-11-20,n1,4,2.1\n"
    table = read_one(write(tmp_path, content)).to_frame()
    assert table[["run", "repetition", "when", "machine"]].iloc[1].tolist() == ["j1", 1, "2026-11-20", "n1"]
    with pytest.raises(ReadError, match="'rep' must hold the number of the repetition"):
        TableReader().read(write(tmp_path, content.replace("n1", "n2").replace("j1,1,", "j1,one,")))


def test_several_machines_are_asked_about_and_can_be_told_apart(tmp_path: Path) -> None:
    path = write(tmp_path, "machine,cores,seconds\na,4,2\nb,4,9\n")
    with pytest.raises(ReadError, match=r"several machines \(a, b\): .*--where 'machine == .*--parameters"):
        TableReader().read(path)
    assert read_one(path, where="machine == 'b'").values.tolist() == [9.0]
    assert read_one(path, parameters=["machine", "cores"]).parameters == ["machine_", "cores"]
    reader = TableReader(parameters=["cores"])
    assert reader.read(path)[""].parameters == ["cores"]
    assert "runs of several machines (a, b) are read together: choose one with where= (--where)" in reader.notes


def test_nodes_of_one_machine_are_noted(tmp_path: Path) -> None:
    reader = TableReader()
    assert len(reader.read(write(tmp_path, "host,cores,seconds\nn01,4,2\nn02,4,9\n"))[""]) == 2
    assert "runs of several machines (n01, n02) are read together: choose one with where= (--where)" in reader.notes


def test_a_status_of_another_meaning_is_a_choice_of_rows(tmp_path: Path) -> None:
    path = write(tmp_path, "status,cores,seconds\nmeasured,4,2\nguessed,4,9\n")
    assert read_one(path, where="status == 'measured'").values.tolist() == [2.0]
    with pytest.raises(
        ReadError, match=r"line 2: the status .* got 'measured': correct it, or choose rows with where="
    ):
        TableReader().read(path)


def test_wrong_decimal_mark_option() -> None:
    with pytest.raises(InputError, match=r"decimal must be one of auto, \., ,, but got ';'"):
        TableReader(decimal=";")  # type: ignore[arg-type]


def test_quotes_hold_delimiters(tmp_path: Path) -> None:
    runs = read_one(write(tmp_path, 'kind,cores,seconds\n"a, with comma",4,2\nb,8,1\n'))
    assert runs.configurations["kind"].tolist() == ["a, with comma", "b"]


def test_a_loosely_named_text_that_is_no_table(tmp_path: Path) -> None:
    assert not TableReader().recognises(write(tmp_path, "The time was late\nand all was dark\n", "story.txt"))
    assert not TableReader().recognises(write(tmp_path, "cores size\n1 2\n", "sizes.txt"))
