"""``evenly calibrate`` and ``evenly cost``: with a few runs of made-up times."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evenly.decomposition.calibration import fdtd_calibration, fdtd_designs
from evenly.decomposition.calibration.designs import Design, Timing
from evenly.decomposition.costs.cost_model import Coefficient, CostModel
from evenly.decomposition.costs.fdtd import Fdtd
from evenly.decomposition.costs.locations import cost_file, store_file
from tests.cli.conftest import Evenly

FEATURES = [Design("vacuum", f"{n}^3", {"n": n}) for n in (10, 20, 30)]
CELLS = [Design(f"cell {n}", "on 2 ranks", {"n": n}, "cell") for n in (12, 17)]


def _made_up(design: Design) -> Timing:
    points = float(design.settings["n"]) ** 3
    ranks = 1 if design.purpose == "feature" else 2
    amounts = tuple({"points": points * (1 + rank), "chunks": 1.0} for rank in range(ranks))
    return Timing(tuple(3e-9 * a["points"] + 2e-5 for a in amounts), amounts)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Make runs cost nothing, and keep costs in an empty folder."""
    monkeypatch.setenv("EVENLY_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(fdtd_calibration, "fdtd_designs", lambda: [*FEATURES, *CELLS])
    monkeypatch.setattr(fdtd_calibration, "run_design", _made_up)
    monkeypatch.setattr(fdtd_calibration, "warm_up", lambda *_: None)
    monkeypatch.setattr(fdtd_calibration, "shipped_file", lambda _: tmp_path / "none.json")


def test_calibrate_saves_costs_that_are_found_again(evenly: Evenly, quick: None) -> None:
    shown = evenly("calibrate", "fdtd")
    assert shown.code == 0
    assert "points" in shown.out
    assert "a rank's share 0 % in the mean" in " ".join(shown.out.split())
    assert shown.err.startswith("note: timing small runs of fdtd, for about 180 s (--wall-time)")
    assert str(cost_file("fdtd")) in shown.err
    assert CostModel.load(cost_file("fdtd")).coefficients["points"].seconds == pytest.approx(3e-9)
    assert not store_file("fdtd").exists()
    told = evenly("cost", "show", "--json").json
    assert told["source"] == "calibrated"
    assert told["coefficients"]["points"]["ns"] == pytest.approx(3.0)
    assert told["coefficients"]["points"]["unit"] == "ns per point and step"
    assert told["typical_shares"]["points"] + told["typical_shares"]["chunks"] == pytest.approx(1)


def test_output_and_plot_go_where_they_are_told(evenly: Evenly, quick: None) -> None:
    told = evenly("calibrate", "fdtd", "--save", "mine/cost.json", "--plot", "pictures", "--json")
    assert told.code == 0
    assert told.json["file"] == "mine/cost.json"
    assert not cost_file("fdtd").exists()
    names = {path.name for path in Path("pictures").iterdir()}
    assert names == {"fdtd-cost-predictions.png", "fdtd-cost-vacuum.png"}
    shown = evenly("cost", "show", "--cost", "mine/cost.json", "--plot", "more")
    assert shown.code == 0
    assert {path.name for path in Path("more").iterdir()} == names
    # A calibration has dozens: the folder is told.
    assert "2 pictures in more" in shown.err
    assert not any(name in shown.err for name in names)


def test_an_interruption_keeps_what_was_timed(evenly: Evenly, quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def interrupted(design: Design) -> Timing:
        if len(ran) == 3:
            raise KeyboardInterrupt
        ran.append(design.key)
        return _made_up(design)

    monkeypatch.setattr(fdtd_calibration, "run_design", interrupted)
    stopped = evenly("calibrate", "fdtd")
    assert stopped.code == 130
    assert "3 of 5 runs" in stopped.err
    assert "continues from there" in stopped.err
    assert len(store_file("fdtd").read_text().splitlines()) == 4
    again: list[str] = []

    def counted(design: Design) -> Timing:
        again.append(design.key)
        return _made_up(design)

    monkeypatch.setattr(fdtd_calibration, "run_design", counted)
    done = evenly("calibrate", "fdtd")
    assert done.code == 0
    assert "going on with" in done.err
    # Three repeats of each of five designs, three of which were there.
    assert len(again) == 12


def test_a_short_budget_says_what_it_missed(evenly: Evenly, quick: None) -> None:
    shown = evenly("calibrate", "fdtd", "--wall-time", "0.000001s")
    assert shown.code == 0
    assert "1 of 5 runs" in shown.err


def test_a_short_budget_says_which_terms_were_measured_and_which_shipped(
    evenly: Evenly, quick: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    CostModel("fdtd", {name: Coefficient(1e-9) for name in ("points", "nodes", "rows")}).save(tmp_path / "shipped.json")
    monkeypatch.setattr(fdtd_calibration, "shipped_file", lambda _: tmp_path / "shipped.json")
    shown = evenly("calibrate", "fdtd", "--wall-time", "0.000001s", "--json")
    assert shown.code == 0
    assert "terms measured here (2): points, chunks;" in shown.err
    assert "terms that came with evenly, scaled to this machine's speed (2): rows, nodes;" in shown.err
    assert f"terms of unknown cost, counted as 0 ({len(Fdtd().all_terms) - 4}): factors" in shown.err
    assert shown.json["taken_over"] == ["rows", "nodes"]
    later = evenly("cost", "show")
    assert "2 of 4 terms came with evenly" in later.err
    assert {
        line.split()[0]: line.split()[-1] for line in later.out.splitlines() if line[:7] in (" points", " nodes ")
    } == {
        "points": "measured",
        "nodes": "shipped",
    }


@pytest.mark.parametrize("budget", ["0", "soon", "-3m", "3y", ""])
def test_budgets_that_are_none_are_refused(evenly: Evenly, quick: None, budget: str) -> None:
    shown = evenly("calibrate", "fdtd", f"--wall-time={budget}")
    assert shown.code == 2
    assert "--wall-time takes a time above 0, as 90s, 90min, 2h or 1:30:00" in shown.err


def test_places_that_cannot_be_written_are_refused_before_any_run(evenly: Evenly, quick: None) -> None:
    Path("file").write_text("")
    for option in ("--save=file/cost.json", "--plot=file/pictures"):
        shown = evenly("calibrate", "fdtd", option)
        assert shown.code == 2
        assert "not a folder" in shown.err
    assert not store_file("fdtd").exists()


def test_cost_show_says_that_costs_were_shipped(
    evenly: Evenly, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EVENLY_HOME", str(tmp_path / "empty"))
    shown = evenly("cost", "show")
    assert shown.code == 0
    assert "came with evenly" in shown.err
    assert "evenly calibrate fdtd" in shown.err


SIGNED = {"format": "evenly cost model", "version": 1}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "there is no such file"),
        (json.dumps({"format": "something else"}), "no cost model can be read from it: version 1"),
        (json.dumps(SIGNED), "no cost model can be read from it, 'coefficients' is missing"),
        (json.dumps(SIGNED)[:20], "no cost model can be read from it, it is no JSON or cut off (Untermin"),
        (json.dumps({**SIGNED, "coefficients": 3, "program": "fdtd"}), "no cost model can be read from it, values"),
        (json.dumps({**SIGNED, "coefficients": {}, "program": "x"}), "no cost model can be read from it: there is no"),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_a_damaged_file_is_named_once_with_what_to_do(
    evenly: Evenly, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: bool, text: str | None, reason: str
) -> None:
    monkeypatch.setenv("EVENLY_HOME", str(tmp_path / "home"))
    place = Path("cost.json") if named else cost_file("fdtd")
    place.parent.mkdir(parents=True, exist_ok=True)
    if text is not None:
        place.write_text(text)
    elif not named:
        place.mkdir()
        reason = "the file can't be read (Is a directory)"
    shown = evenly("cost", "show", *(["--cost", "cost.json"] if named else []))
    assert shown.code == 2
    assert shown.err.startswith(f"error: {place}: {reason}")
    assert shown.err.count(str(place)) == 1
    if named:
        assert "make one with `evenly calibrate fdtd --save FILE`" in shown.err
    else:
        assert "measure anew with `evenly calibrate fdtd`, or delete it" in shown.err


def test_a_file_of_another_program_is_told(evenly: Evenly) -> None:
    CostModel("fdtd", {"points": Coefficient(3e-9)}).save("fdtd.json")
    CostModel("meep", {"points": Coefficient(3e-9)}).save("meep.json")
    wrong = evenly("cost", "show", "--program", "meep", "--cost", "fdtd.json")
    assert wrong.code == 2
    assert "fdtd.json: costs of meep are needed, but the file holds those of fdtd" in wrong.err
    for arguments in (("--program", "meep"), ("meep",), ("meep", "--program", "meep"), ()):
        shown = evenly("cost", "show", "--cost", "meep.json", "--json", *arguments)
        assert shown.json["program"] == "meep"
    both = evenly("cost", "show", "fdtd", "--program", "meep")
    assert both.code == 2
    assert "fdtd and --program meep" in both.err


def test_meep_needs_meep(evenly: Evenly, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVENLY_HOME", str(tmp_path / "empty"))
    shown = evenly("calibrate", "meep", "--python", "no/such/python")
    assert shown.code == 2
    assert "no/such/python" in shown.err


def test_designs_of_the_simulation_take_their_time_from_the_budget() -> None:
    assert 150 < len(fdtd_designs.fdtd_designs()) < 300
