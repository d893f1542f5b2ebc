"""Models of different simulated days: in Python as on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

import evenly
from evenly.errors import EvenlyWarning, InputError

#: A simulated year of each solver takes so many core-seconds.
YEAR = {"atm": 365 * 2000.0, "ocn": 365 * 1000.0}


def _learned(folder: Path, name: str, heading: str, days: float) -> evenly.Model:
    rows = "".join(f"{p},{86_400 * p / YEAR[name] if heading == 'SYPD' else YEAR[name] * days / 365 / p}\n"
                   for p in (8, 16, 32, 64))  # fmt: skip
    (folder / f"{name}.csv").write_text(f"cores,{heading}\n{rows}")
    runs = evenly.read(folder / f"{name}.csv")
    assert isinstance(runs, evenly.Runs)
    return evenly.fit(runs, method="power-law")


def test_models_know_the_days_that_their_times_are_of_and_keep_them(tmp_path: Path) -> None:
    model = _learned(tmp_path, "atm", "SYPD", 365)
    evenly.save(model, tmp_path / "atm.evenly")
    plan = evenly.allocate({"atm": evenly.load(tmp_path / "atm.evenly")}, cores=64)
    assert plan.step_days == 365
    assert plan.sypd == pytest.approx(86_400 * 64 / YEAR["atm"])
    with pytest.raises(InputError, match=r"step_days=1 .* contradicts the measurements, whose times are of 365"):
        evenly.allocate({"atm": model}, cores=64, step_days=1)


@pytest.mark.parametrize(("heading", "days"), [("s/day", 1), ("time_s", 31)])
def test_a_year_beside_a_day_or_beside_what_nothing_tells_is_asked_about_or_scaled(
    tmp_path: Path, heading: str, days: float
) -> None:
    # The ocean's times are a 365th of what a year takes: it got 1 of 96 cores.
    models = {"atm": _learned(tmp_path, "atm", "SYPD", 365), "ocn": _learned(tmp_path, "ocn", heading, days)}
    with pytest.raises(InputError, match=r"of different work \(365 simulated days for atm, .*--step-days"):
        evenly.allocate(models, cores=96)
    with pytest.warns(EvenlyWarning, match="atm: times of 365 simulated days are made those of"):
        plan = evenly.allocate(models, cores=96, step_days=days)
    assert plan.cores == {"atm": 64, "ocn": 32}
    assert plan.seconds == pytest.approx(YEAR["atm"] * days / 365 / 64)


def test_runs_keep_their_days_where_rows_are_chosen_put_together_and_stored(tmp_path: Path) -> None:
    _learned(tmp_path, "atm", "SYPD", 365)
    runs = evenly.read(tmp_path / "atm.csv")
    assert isinstance(runs, evenly.Runs)
    runs.save(tmp_path / "atm.runs.csv")
    some = runs.where("cores > 8")
    both, again = evenly.Runs.concat([some, some]), evenly.read(tmp_path / "atm.runs.csv")
    assert isinstance(again, evenly.Runs)
    assert [one.days for one in (runs, some, both, again)] == [365] * 4
    assert evenly.Runs.concat([some, some.of_days(1)]).days is None
