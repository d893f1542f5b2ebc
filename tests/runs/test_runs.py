"""Runs: what goes in, comes out; aggregation against pandas by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evenly.errors import InputError, ReadError
from evenly.runs.runs import BOOKKEEPING, Runs
from evenly.space.parameters import Categorical, Integer, Ordinal, Real
from evenly.space.space import Space

FRAME = pd.DataFrame(
    {
        "cores": [4, 4, 8, 8, 8, 16],
        "solver": pd.Series(["cg", "cg", None, None, "1", 1], dtype=object),
        "ms": [80.0, 90.0, 41.0, "crashed", 43.0, 21.0],
        "memory": [1.0, 2.0, np.nan, 3.0, 4.0, 0.0],
        "status": ["ok", "ok", "ok", "failed", "ok", "ok"],
        "machine": ["a,b", 'c"d', "e\nf", "", None, "µ\r\n\0;"],
    }
)
RUNS = Runs.from_frame(FRAME, ["cores", "solver"], "ms", unit="ms", quantities={"memory": "GiB"})


def test_columns_and_values() -> None:
    table = RUNS.to_frame()
    assert list(table) == ["cores", "solver", "seconds", "memory", *BOOKKEEPING]
    np.testing.assert_allclose(RUNS.values, [0.08, 0.09, 0.041, np.nan, 0.043, 0.021], rtol=1e-15)
    assert table["memory"].iloc[1] == 2 * 2**30
    assert table["repetition"].tolist() == [0, 1, 0, 1, 0, 0]
    assert table["run"].tolist() == list("012345")
    assert table["machine"].tolist() == ["a,b", 'c"d', "e\nf", "", "", "µ\r\n\0;"]
    assert (len(RUNS.ok), len(RUNS.failed)) == (5, 1)
    assert repr(RUNS) == "Runs(6 rows, 4 configurations of cores, solver, 1 failed; seconds 0.021 to 0.09 s)"
    assert RUNS.quantities == {"seconds": "s", "memory": "B"}


def test_a_failed_run_has_no_value_even_if_its_time_was_noted() -> None:
    frame = pd.DataFrame({"n": [1, 2], "seconds": [5.0, np.inf], "status": ["timed out", "failed"]})
    runs = Runs.from_frame(frame, ["n"])
    assert np.isnan(runs.values).all()
    assert runs.to_frame()["seconds"].tolist()[0] == 5.0
    assert len(runs.aggregate()) == 0


def test_aggregation_equals_pandas_by_hand() -> None:
    got = RUNS.aggregate("median")
    assert got["cores"].tolist() == [4, 8, 8, 16]
    assert got["solver"].tolist() == ["cg", "1", None, 1]
    assert got["count"].tolist() == [2, 1, 1, 1]
    np.testing.assert_allclose(got["seconds"], [0.085, 0.043, 0.041, 0.021], rtol=1e-14)
    np.testing.assert_allclose(got["spread"], [0.01 / np.sqrt(2), 0, 0, 0], rtol=1e-12)
    np.testing.assert_allclose(got["memory"] / 2**30, [1.5, 4.0, np.nan, 0.0])
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(1, 4, 200), "b": rng.choice(["x", "y"], 200), "seconds": rng.random(200)})
    for statistic in ("median", "min", "mean"):
        groups = frame.groupby(["a", "b"])["seconds"]
        mine = Runs.from_frame(frame, ["a", "b"]).aggregate(statistic)
        np.testing.assert_allclose(mine["seconds"], getattr(groups, statistic)().to_numpy())
        np.testing.assert_allclose(mine["spread"], groups.std().to_numpy())
        assert mine["count"].tolist() == groups.size().tolist()
    with pytest.raises(InputError, match="statistic must be one of"):
        RUNS.aggregate("max")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["runs.csv", "runs.parquet"])
def test_files_come_back_exactly(name: str, tmp_path: Path) -> None:
    RUNS.save(tmp_path / name)
    back = Runs.load(tmp_path / name)
    assert back == RUNS
    pd.testing.assert_frame_equal(back.to_frame(), RUNS.to_frame())
    assert [type(x) for x in back.to_frame()["solver"]] == [type(x) for x in RUNS.to_frame()["solver"]]
    nothing = RUNS.where("cores > 99")
    nothing.save(tmp_path / name)
    assert Runs.load(tmp_path / name) == nothing
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]  # no partial file stays
    with pytest.raises(InputError, match="can't be written"):
        RUNS.save(tmp_path / "no" / name)
    with pytest.raises(InputError, match=r"\.csv or \.parquet"):
        RUNS.save(tmp_path / "runs.xlsx")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "not a runs file"), ("cores,seconds\n1,2\n", "not a runs file"), ("# evenly runs 9 {}\na\n", "version 9"),
        ("# evenly runs 1 {}\na\n1\n", "damaged"), ("# evenly runs 1 {\na\n1\n", "damaged"),
        ("# evenly runs 1 []\na\n1\n", "header is damaged"), ("# evenly runs 1 {}\na,b\n1\n", "line 3: 2 cells"),
        ("# evenly runs 1 {}\na\n1", "cut off"), ("# evenly runs 1 {}", "cut off"),
    ],
)  # fmt: skip
def test_damaged_csv(content: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(content, encoding="utf-8")
    with pytest.raises(ReadError, match=reason):
        Runs.load(tmp_path / "x.csv")


@pytest.mark.parametrize("name", ["runs.csv", "runs.parquet"])
def test_truncated_anywhere_is_one_clear_error(name: str, tmp_path: Path) -> None:
    RUNS.save(tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    lines = {i + 1 for i, byte in enumerate(whole) if byte == 10}
    for end in range(0, len(whole), max(1, len(whole) // 60)):
        if name == "runs.csv" and end in lines:
            continue  # a CSV file that lacks whole rows at the end is a valid one
        (tmp_path / name).write_bytes(whole[:end])
        with pytest.raises(ReadError):
            Runs.load(tmp_path / name)
    with pytest.raises(ReadError, match="no such file"):
        Runs.load(tmp_path / f"other{name}")


def test_wrong_tables() -> None:
    good = pd.DataFrame({"cores": [1, 2], "seconds": [8.0, 4.0]})
    cases: list[tuple[str, pd.DataFrame, dict[str, Any]]] = [
        ("there is no column 'n'", good, {"parameters": ["n"]}),
        ("at least one column", good, {"parameters": []}),
        ("must be a list", good, {"parameters": "cores"}),
        ("named twice", good, {"parameters": ["cores", "cores"]}),
        ("named twice", good, {"parameters": ["cores", "seconds"]}),
        ("may not be called 'machine'", good.assign(machine="a"), {"parameters": ["machine"]}),
        ("may not be called 'count'", good.assign(count=1), {"quantities": {"count": "1"}}),
        ("there twice", pd.concat([good, good], axis=1), {}),
        ("no rows", good.iloc[:0], {}),
        ("unit must be a time", good, {"unit": "GiB"}),
        ("row 1 holds 0", good.assign(seconds=[1, 0]), {}),
        ("row 1 holds 'x'", good.assign(seconds=[1, "x"]), {}),
        ("row 0 holds", good.assign(seconds=pd.to_timedelta([1, 2], unit="s")), {"unit": "ms"}),
        ("row 1 holds -1", good.assign(memory=[1, -1]), {"quantities": {"memory": "B"}}),
        ("row 0 holds 'lost'", good.assign(status=["lost", "ok"]), {}),
        ("'repetition' must be a whole", good.assign(repetition=[0, 0.5]), {}),
        ("must be finite|finite number", good.assign(cores=[1, np.nan]), {}),
        ("response must be one of", good, {"response": "memory"}),
        ("space must have", good, {"space": Space(n=Integer(1, 2))}),
    ]
    for reason, frame, options in cases:
        with pytest.raises(InputError, match=reason):
            Runs.from_frame(frame, **{"parameters": ["cores"], **options})
    with pytest.raises(InputError, match=r"Runs\.from_frame"):
        Runs(good, space=Space(cores=Integer(1, 2)), quantities={"seconds": "s"})
    with pytest.raises(InputError, match="unit of 'seconds'"):
        Runs(RUNS.to_frame(), space=RUNS.space, quantities={"seconds": "ms"})


def test_choosing() -> None:
    assert len(RUNS.where("cores < 16 and status == 'ok'")) == 4
    train, test = RUNS.split("cores < 8")
    assert (len(train), len(test)) == (2, 4)
    assert RUNS.repetitions({"cores": 8, "solver": None}).tolist() == [0.041]
    assert RUNS.learning("memory").values[0] == 2**30
    masks: list[Any] = [np.ones(2, dtype=bool), np.ones(6)]
    for wrong in masks:
        with pytest.raises(InputError, match="a mask must hold 6 truth values"):
            RUNS.where(wrong)
    with pytest.raises(InputError, match="not a condition"):
        RUNS.where("cores")
    with pytest.raises(InputError, match="needs 'nodes'"):
        RUNS.split("nodes > 1")


def test_tables_are_put_together_with_their_kinds() -> None:
    def part(values: list[Any], kind: Any, **more: Any) -> Runs:
        frame = pd.DataFrame({"p": values, "seconds": 1.0, **more})
        return Runs.from_frame(frame, ["p"], space=Space(p=kind), quantities=dict.fromkeys(more, "J"))

    both = Runs.concat([part([1], Integer(1, 8, unit="t"), energy=[2.0]), part([16], Integer(2, 16))])
    assert both.space == Space(p=Integer(1, 16, unit="t"))
    assert both.to_frame()["energy"].tolist()[0] == 2.0
    assert np.isnan(both.to_frame()["energy"].tolist()[1])
    assert Runs.concat([part([1], Ordinal(1, 2)), part([4], Ordinal(4))]).space == Space(p=Ordinal(1, 2, 4))
    assert Runs.concat([part([1], Integer(1, 1)), part([1.5], Real(0, 2))]).space == Space(p=Real(0, 2))
    mixed = Runs.concat([part(["a"], Categorical("a")), part([3], Integer(1, 4))])
    assert mixed.space == Space(p=Categorical(3, "a"))
    assert len(Runs.concat([both, both.where("p > 99")])) == 2
    with pytest.raises(InputError, match="no runs"):
        Runs.concat([])
    with pytest.raises(InputError, match="same parameters"):
        Runs.concat([both, RUNS])
    other = Runs.from_frame(
        pd.DataFrame({"p": [1], "seconds": [1.0], "energy": [1.0]}), ["p"], quantities={"energy": "B"}
    )
    with pytest.raises(InputError, match="'energy' is in J in one table and in B"):
        Runs.concat([both, other])


def test_columns_named_by_numbers_and_tables_from_tables() -> None:
    runs = Runs.from_frame(pd.DataFrame([[1, 2.0], [2, 1.0]]), ["0"], "1")
    assert runs.parameters == ["0"]
    assert Runs.from_frame(runs.to_frame(), ["0"]) == runs
    assert runs != 3


def test_large_tables() -> None:
    # Takes 0.2 s; a quadratic step over 65,536 rows would take minutes.
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"p{i}": rng.integers(1, 5, 65_536) for i in range(9)}).assign(s="label", seconds=1.0)
    table = Runs.from_frame(frame, [*(f"p{i}" for i in range(9)), "s"]).aggregate()
    assert table["count"].sum() == 65_536
