"""Values of ``--at`` of coupled solvers, whose grids are their own."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import evenly as package
from tests.cli.conftest import Evenly

CORES = [8, 16, 32, 64]


def _table(folder: Path, *, grids: tuple[str, ...] = ("coarse", "fine"), of_ocean: str = "tripolar") -> None:
    rows = [("atm", p, k * (400 / p + 1.5), grid) for k, grid in enumerate(grids, 1) for p in CORES]
    rows += [("ocn", p, 150 / p + 0.8, of_ocean) for p in CORES]
    pd.DataFrame(rows, columns=["component", "cores", "seconds", "grid"]).to_csv(folder / "runs.csv", index=False)


def _plan(evenly: Evenly, *options: str) -> dict[str, int]:
    shown = evenly("allocate", "runs.csv", "--cores", "100", "--json", *options)
    assert shown.code == 0, shown.err
    return dict(shown.json["cores"])


def test_one_solver_has_a_value_of_its_own(evenly: Evenly, tmp_path: Path) -> None:
    _table(tmp_path)
    coarse, fine = (_plan(evenly, "--at", f"atm.grid={grid}") for grid in ("coarse", "fine"))
    assert fine["atm"] > coarse["atm"] + 5


def test_a_label_of_another_solver_is_refused_with_the_way_out(evenly: Evenly, tmp_path: Path) -> None:
    _table(tmp_path)
    shown = evenly("allocate", "runs.csv", "--cores", "100", "--at", "grid=fine")
    assert shown.code == 2
    assert "grid is tripolar in all runs of ocn, not fine: --at atm.grid=fine sets it for atm alone" in shown.err


def test_what_is_open_is_asked_of_the_solver(evenly: Evenly, tmp_path: Path) -> None:
    _table(tmp_path, of_ocean="fine")
    shown = evenly("allocate", "runs.csv", "--cores", "100")
    assert shown.code == 2
    assert "--at grid=…" in shown.err.replace("'", "")
    assert "--solver" not in shown.err
    assert evenly("allocate", "runs.csv", "--cores", "100", "--at", "grid=fine").code == 0
    assert evenly("allocate", "runs.csv", "--cores", "100", "--at", "atm.gird=fine").code == 2


def test_a_label_that_never_changes_changes_nothing(evenly: Evenly, tmp_path: Path) -> None:
    _table(tmp_path, grids=("fine",))
    with_grids = _plan(evenly)
    pd.read_csv(tmp_path / "runs.csv").drop(columns="grid").to_csv(tmp_path / "runs.csv", index=False)
    assert _plan(evenly) == with_grids


@pytest.mark.filterwarnings("ignore::evenly.errors.ExtrapolationWarning")
@pytest.mark.parametrize("label", ["fine", 512])
def test_a_constant_column_leaves_the_law_as_it_is(label: str | int) -> None:
    table = pd.DataFrame({"cores": CORES, "seconds": [400 / p + 1.5 for p in CORES]})
    bare = package.fit(table, parameters=["cores"])
    more = package.fit(table.assign(grid=label), parameters=["cores", "grid"])
    assert more.predict({"cores": [24], "grid": [label]})[0] == pytest.approx(bare.predict({"cores": [24]})[0])
    if label == "fine":
        with pytest.raises(package.InputError, match="must be one of fine"):
            more.predict({"cores": [24], "grid": ["coarse"]})
