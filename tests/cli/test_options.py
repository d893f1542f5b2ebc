"""What single options do: several paths, choosing solvers, shares, memory, names with blanks, notes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from evenly.cli.options import Reading
from evenly.errors import InputError
from evenly.runs.runs import Runs
from tests.cli.conftest import Evenly

LAW = ("--method", "power-law")


def table(path: str, work: float, counts: tuple[int, ...] = (1, 2, 4, 8, 16, 32), **more: float) -> None:
    rows = [{"cores": n, "seconds": work / n, **more} for n in counts]
    pd.DataFrame(rows).to_csv(path, index=False)


def coupled(path: str, **works: float) -> None:
    rows = [{"solver": s, "cores": n, "seconds": w / n} for s, w in works.items() for n in (1, 2, 4, 8, 16, 32)]
    pd.DataFrame(rows).to_csv(path, index=False)


def test_several_paths(evenly: Evenly) -> None:
    table("a.csv", 100)
    table("b.csv", 50)
    shown = evenly("allocate", "a.csv", "b.csv", "--cores", "48", *LAW, "--json")
    assert shown.code == 0, shown.err
    assert shown.json["cores"] == {"a": 32, "b": 16}
    assert evenly("fit", "a.csv", "b.csv", *LAW, "--save", "both.evenly").code == 0
    assert evenly("predict", "both.evenly", "a.csv", "--at", "cores=3").code == 2


def test_only_and_without_choose_solvers(evenly: Evenly) -> None:
    coupled("runs.csv", ice=10.0, ocn=100.0, cpl=1.0)
    layout = ("--cores", "44", "--layout", "max(ice, ocn)", *LAW)
    refused = evenly("allocate", "runs.csv", *layout)
    assert refused.code == 2
    assert "--only ice,ocn" in refused.err
    for choice in (["--only", "ice,ocn"], ["--only", "ice", "--only", "ocn"], ["--without", "cpl"]):
        shown = evenly("allocate", "runs.csv", *layout, *choice, "--json")
        assert shown.code == 0, shown.err
        assert shown.json["cores"] == {"ice": 4, "ocn": 40}
    assert set(evenly("read", "runs.csv", "--only", "ice", "--json").json["solvers"]) == {"ice"}
    assert evenly("fit", "runs.csv", *LAW, "--save", "m.evenly").code == 0
    assert set(evenly("allocate", "m.evenly", "--cores", "9", "--without", "cpl", "--json").json["cores"]) == {
        "ice", "ocn",
    }  # fmt: skip
    strange = evenly("read", "runs.csv", "--only", "ocm")
    assert strange.code == 2
    assert "did you mean 'ocn'?" in strange.err
    assert "ice, ocn, cpl" in strange.err
    assert evenly("read", "runs.csv", "--without", "ice,ocn,cpl").code == 2


def test_a_share_needs_its_sign_from_one_on(evenly: Evenly, pulse: Path) -> None:
    shown = evenly("allocate", pulse, "--cores", "560", *LAW, "--within", "10")
    assert shown.code == 2
    assert "write 10%" in shown.err


def test_a_level_in_percent(evenly: Evenly) -> None:
    table("a.csv", 100)
    found = [
        evenly("predict", "a.csv", *LAW, "--at", "cores=3", "--level", t, "--json").json for t in ("0.8", "80", "80%")
    ]
    assert found[0] == found[1] == found[2]
    assert found[0]["level"] == 0.8
    for wrong in ("0", "100", "high", "1"):
        shown = evenly("predict", "a.csv", "--at", "cores=3", "--level", wrong)
        assert shown.code == 2
        assert "90%" in shown.err


@pytest.mark.parametrize(
    ("measured", "memory", "fewest"),
    [
        # One rank needs 64 GiB / cores, and a node has 4 ranks: 8 GiB from 32 cores on.
        ("per-rank", lambda n: 64 / n, 32),
        # A full node holds 4 of n ranks: 64 GiB · 4 / n.
        ("total", lambda n: 64.0, 32),
        ("per-node", lambda n: 64 / n, 8),
    ],
)
def test_what_measured_memory_is_that_of(evenly: Evenly, measured: str, memory: object, fewest: int) -> None:
    assert callable(memory)
    rows = [(n, 100 / n, memory(n)) for n in (1, 2, 4, 8, 16, 32, 64)]
    pd.DataFrame(rows, columns=["cores", "seconds", "peak_memory_GiB"]).to_csv("a.csv", index=False)
    asked = ("allocate", "a.csv", *LAW, "--memory", "8.001GiB", "--cores-per-node", "4", "--memory-is", measured)
    enough = evenly(*asked, "--cores", str(fewest), "--json")
    assert enough.code == 0, enough.err
    assert "--memory-is" in enough.err
    few = evenly(*asked, "--cores", str(fewest - 1))
    assert few.code == 1, few.out
    assert "memory per node" in few.err


def test_memory_needs_to_know_the_node(evenly: Evenly) -> None:
    table("a.csv", 100, peak_memory_GiB=1.0)
    shown = evenly("allocate", "a.csv", "--cores", "8", *LAW, "--memory", "8GiB")
    assert shown.code == 2
    assert "--cores-per-node" in shown.err


def test_names_with_blanks(evenly: Evenly) -> None:
    rows = [(n, s, s / n) for n in (1, 2, 4, 8) for s in (1000, 2000, 4000)]
    pd.DataFrame(rows, columns=["cores", "mesh size", "seconds"]).to_csv("grid.csv", index=False)
    for at in (["--at", "mesh size=3000 cores=2"], ["--at", "mesh size=3000", "--at", "cores=2"]):
        shown = evenly("predict", "grid.csv", *LAW, *at, "--json")
        assert shown.code == 0, shown.err
        assert shown.json["predictions"][0]["value"] == pytest.approx(1500, rel=1e-6)
    assert evenly("allocate", "grid.csv", *LAW, "--cores", "8", "--at", "mesh size=2000", "--json").code == 0
    assert evenly("fit", "grid.csv", *LAW, "--scale", "mesh size=2000").code == 0
    table("plain.csv", 10)
    assert evenly("predict", "plain.csv", *LAW, "--constant", "mesh size=5", "--at", "mesh size=5 cores=2").code == 0
    open_ = evenly("allocate", "grid.csv", *LAW, "--cores", "8")
    assert open_.code == 2
    assert "--at 'mesh size=…'" in open_.err


@pytest.mark.parametrize("command", ["allocate", "fit", "predict", "plot"])
def test_notes_of_reading_are_shown_when_learning(evenly: Evenly, command: str) -> None:
    Path("runs.csv").write_text("cores,wall,status\n1,8,ok\n2,4,ok\n4,2,ok\n8,,failed\n16,,failed\n")
    more = {"allocate": ["--cores", "4"], "predict": ["--at", "cores=3"]}.get(command, [])
    shown = evenly(command, "runs.csv", *LAW, *more)
    assert shown.code == 0, shown.err
    assert "parameters: cores" in shown.err
    assert "assumed" in shown.err
    assert "2 of 5 runs of runs failed and are left out" in shown.err
    assert "''" not in shown.err
    assert evenly(command, "runs.csv", *LAW, *more, "-q").err == ""


def test_a_solver_without_a_name_is_called_by_its_file(evenly: Evenly) -> None:
    table("ocean.csv", 100)
    assert evenly("allocate", "ocean.csv", *LAW, "--cores", "64", "--json").json["cores"] == {"ocean": 64}
    assert set(evenly("read", "ocean.csv", "--json").json["solvers"]) == {"ocean"}
    assert evenly("fit", "ocean.csv", *LAW, "--save", "kept.evenly").code == 0
    assert set(evenly("fit", "kept.evenly", "--json").json) == {"kept"}


def test_rows_of_a_file_are_asked_of_the_solver_that_they_name(evenly: Evenly) -> None:
    coupled("runs.csv", ice=10.0, ocn=100.0)
    Path("asked.csv").write_text("solver,cores\nocn,4\nice,2\nocn,10\n")
    shown = evenly("predict", "runs.csv", *LAW, "--file", "asked.csv", "--json")
    assert shown.code == 0, shown.err
    assert [(row["solver"], round(row["value"], 6)) for row in shown.json["predictions"]] == [
        ("ocn", 25.0), ("ice", 5.0), ("ocn", 10.0),
    ]  # fmt: skip
    assert "ice" in evenly("predict", "runs.csv", *LAW, "--file", "asked.csv", "--save", "p.csv").out
    assert len(pd.read_csv("p.csv")) == 3
    chosen = evenly("predict", "runs.csv", *LAW, "--file", "asked.csv", "--only", "ice", "--json").json
    assert [row["solver"] for row in chosen["predictions"]] == ["ice"]
    Path("asked.csv").write_text("solver,cores\nocn,4\n")
    assert evenly("predict", "runs.csv", *LAW, "--file", "asked.csv", "--only", "ice").code == 2
    Path("asked.csv").write_text("solver,cores\nocn,4\nicy,2\n")
    strange = evenly("predict", "runs.csv", *LAW, "--file", "asked.csv")
    assert strange.code == 2
    assert "did you mean 'ice'?" in strange.err


def test_the_table_marks_extrapolation_and_no_note_repeats_it(evenly: Evenly) -> None:
    table("a.csv", 100)
    shown = evenly("predict", "a.csv", "--at", "cores=1000")
    assert "outside what was measured" in shown.out
    assert "outside" not in shown.err
    assert "extrapol" not in shown.err
    assert "asked outside" not in evenly("allocate", "a.csv", "--cores", "1000").err


REFUSED = [
    (["allocate", "a.csv", "--cores=-5"], "--cores"),
    (["allocate", "a.csv", "--cores", "8", "--dof", "a=x"], "--dof a"),
    (["allocate", "a.csv", "--cores", "8", "--min", "b=2"], "--min"),
    (["allocate", "a.csv", "a.csv", "pair.csv", "--cores", "8", "--dof", "a=2"], "--dof must name every solver"),
    (["allocate", "a.csv", "--cores", "8", "--at", "level=2"], "--at"),
    (["predict", "a.csv", "--at", "coers=2"], "did you mean 'cores'?"),
    (["plot", "a.csv", "--at", "level=2"], "--at"),
    (["measure", "study.toml", "--store", "--json"], "--store needs a value, but is followed by --json"),
    (["predict", "a.csv", "--at", "--json"], "--at needs a value, but is followed by --json"),
    (["allocate", "a.csv", "--cores", "128", "--cores", "64"], "--cores may be given once, but is given 2 times"),
    (["read", "a.csv", "--where", "cores > 1", "--where", "cores < 9"], 'join conditions with and, as --where "'),
    (["fit", "a.csv", "--learn", "secondes"], "did you mean 'seconds'?"),
    (["read", "a.csv", "-O", "warmup=2"], "did you mean 'warm_up'?"),
    (["fit", "a.csv", "--method", "pmfn"], "did you mean 'pmnf'?"),
    (["read", "a.csv", "--format", "tabel"], "did you mean 'table'?"),
    (["fit", "a.csv", "--time", "secnods"], "did you mean 'seconds'?"),
    (["fit", "broken.csv", "--effort", "hi"], "--effort"),
    (["fit", "broken.csv", "--statistic", "avg"], "--statistic"),
    (["plot", "broken.csv", "--plot-format", "jpg"], "--plot-format"),
    (["fit", "broken.csv", "--save", "a.csv/models.evenly"], "models can't be saved"),
    (["fit", "broken.csv", "--plot", "a.csv/plots"], "pictures can't be saved"),
    (["predict", "broken.csv", "--at", "cores=2", "--save", "."], "predictions can't be saved"),
    (["predict", "a.evenly", "--at", "cores=2", "--time", "wall"], "--time can't change them"),
    (["allocate", "a.evenly", "--cores", "2", "--train", "cores < 3", "--unit", "ms"], "--unit, --train"),
    (["fit", "a.evenly", "--terms", "2"], "--terms"),
    (["read", "a.evenly"], "models, not measurements"),
    (["allocate", "notzip.evenly", "--cores", "2"], "not a model"),
]


@pytest.mark.parametrize(
    ("arguments", "said"), REFUSED, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_what_is_wrong_is_named_before_anything_is_read(evenly: Evenly, arguments: list[str], said: str) -> None:
    table("a.csv", 100)
    Path("broken.csv").write_text("no table")
    table("pair.csv", 50)
    Path("notzip.evenly").write_text("nothing")
    assert evenly("fit", "a.csv", *LAW, "--save", "a.evenly").code == 0
    shown = evenly(*arguments)
    assert shown.code == 2
    assert said in " ".join(shown.err.replace("│", " ").split())
    assert "BadZipFile" not in shown.err
    assert "broken.csv" not in shown.err


def test_headings_fit_a_narrow_terminal(evenly: Evenly, samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = evenly("read", samples / "cesm").out
    headings = next(line.split() for line in shown.splitlines() if "repeats" in line)
    assert headings == ["solver", "runs", "configs", "measured", "repeats", "spread"]
    assert "3 of cores 2 … 3456" in shown
    assert "and 1 more quantity" in shown
    assert "run_seconds 3.85 … 5.42 min" in evenly("read", samples / "cesm", "--details").out


def test_runs_that_hit_their_limit_are_learned_as_bounds_and_counted(evenly: Evenly) -> None:
    seconds, status = [60.0, 41.0, 20.0, 10.0], ["timed out", "ok", "ok", "ok"]
    table = pd.DataFrame({"cores": [1, 2, 4, 8], "seconds": seconds, "status": status})
    Runs.from_frame(table, ["cores"]).save("limited.csv")
    shown = evenly("fit", "limited.csv", *LAW)
    assert shown.code == 0, shown.err
    assert "1 run of limited hit the limit, so it takes longer than that" in shown.err
    assert "1 run that hit the limit counts as a bound" in " ".join(shown.out.split())
    assert "failed" not in shown.err


def test_a_level_between_one_and_ten_is_refused(evenly: Evenly) -> None:
    for level, code in (("1.5", 2), ("0.9", 0), ("90", 0), ("1.5%", 0)):
        Path("few.csv").write_text("cores,seconds\n1,8\n2,4\n4,2\n")
        assert evenly("predict", "few.csv", *LAW, "--at", "cores=3", "--level", level).code == code


@pytest.mark.parametrize("given", [["--args", "--res 10"], ["--args=--fast"]])
def test_a_value_may_hold_options_of_a_program(evenly: Evenly, given: list[str]) -> None:
    shown = evenly("predict", "--simulation", "missing.py", *given)
    assert shown.code == 2
    assert "--simulation needs --machine" in shown.err


@pytest.mark.parametrize(("only", "left"), [("atm,ocn", ["atm", "ocn"]), ("a,b", ["a,b"]), ("ocn, a,b", [])])
def test_commas_part_the_solvers_but_those_in_a_name(only: str, left: list[str]) -> None:
    reading = Reading(only=[only])
    if left:
        assert reading.chosen(["atm", "ocn", "a,b"]) == left
        return
    with pytest.raises(InputError, match="--only must be one of atm, ocn, a,b, but got 'a'"):
        reading.chosen(["atm", "ocn", "a,b"])
