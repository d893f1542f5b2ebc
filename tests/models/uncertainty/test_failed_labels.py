"""Labels of which no run ended well."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import evenly
from evenly.errors import InputError
from evenly.models.fitting import fit
from evenly.models.storage import load, save


def test_a_label_of_which_all_runs_failed_was_measured_and_that_is_said(tmp_path: Path) -> None:
    rows = [(name, p, 64 / p if name != "lu" else None) for name in ("cg", "gmres", "lu") for p in (1, 2, 4, 8)]
    table = pd.DataFrame(rows, columns=["method", "cores", "seconds"])
    table["status"] = ["failed" if method == "lu" else "ok" for method in table["method"]]
    model = fit(evenly.Runs.from_frame(table, ["method", "cores"]), method="log-quadratic")
    save(model, tmp_path / "m.evenly")
    for one in (model, load(tmp_path / "m.evenly")):
        assert isinstance(one, evenly.Model)
        with pytest.raises(InputError, match=r"no run with method = lu ended well, .* ask for one of cg, gmres"):
            one.predict({"method": ["lu"], "cores": [4]})
        with pytest.raises(InputError, match="must be one of cg, gmres, which were measured, but got 'qr'"):
            one.predict({"method": ["qr"], "cores": [4]})
