"""``--like``: learn what differs from a saved model, or from a table, of another machine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Evenly


def _table(path: Path, factor: float, cores: list[int], sizes: list[int] | None = None) -> Path:
    rows = ["cores,size,seconds"] if sizes else ["cores,seconds"]
    for n, count in enumerate(cores):
        size = sizes[n] if sizes else 100
        seconds = factor * (size / count + 2 * np.log2(count) + 1) * np.exp(0.01 * np.sin(n))
        rows.append(f"{count},{size},{seconds:.6g}" if sizes else f"{count},{seconds:.6g}")
    path.write_text("\n".join(rows) + "\n")
    return path


def _many(path: Path, factor: float = 1.0) -> Path:
    return _table(path, factor, [1, 2, 4, 8, 16, 32, 64, 128])


@pytest.mark.parametrize("saved", [True, False])
def test_few_runs_are_learned_like_many_others(evenly: Evenly, tmp_path: Path, saved: bool) -> None:
    like = _many(tmp_path / "old.csv")
    if saved:
        assert evenly("fit", like, "--save", "old.evenly").code == 0
        like = Path("old.evenly")
    new = _table(tmp_path / "new.csv", 0.5, [4, 32])
    shown = evenly("fit", new, "--like", like, "--effort", "quick", "--save", "new.evenly")
    assert shown.code == 0, shown.err
    assert f"new: {like.name} is used (weight 100 %): times are 0.49" in shown.err
    assert "gp of ratio" in shown.out
    asked = evenly("predict", "new.evenly", "--at", "cores=128", "--json").json
    assert asked["predictions"][0]["value"] == pytest.approx(0.5 * (100 / 128 + 15), rel=0.05)
    told = evenly("fit", new, "--like", like, "--effort", "quick", "--json").json
    assert told["new"]["training"]["prior"]["weight"] == 1


def test_a_parameter_that_has_one_value_here_is_asked_for(evenly: Evenly, tmp_path: Path) -> None:
    sizes = [100, 200, 400, 100, 200, 400, 100, 200, 400, 300, 100, 500]
    old = _table(tmp_path / "old.csv", 1.0, [1, 2, 4, 8, 16, 32, 64, 1, 2, 4, 8, 16], sizes)
    new = _table(tmp_path / "new.csv", 0.5, [16] * 4, [100, 200, 300, 500])
    like = ("--like", old, "--effort", "quick")
    shown = evenly("fit", new, *like)
    assert shown.code == 2
    assert "how the time depends on 'cores', which is the same in all runs here" in shown.err
    assert "--parameters size,cores" in shown.err
    shown = evenly("fit", new, "--parameters", "size,cores", *like)
    assert shown.code == 0, shown.err
    assert "new: old.csv is" in shown.err
    without = tmp_path / "without.csv"
    without.write_text("size,seconds\n" + "".join(f"{n},{n / 32 + 4.5}\n" for n in (100, 200, 300, 500)))
    shown = evenly("fit", without, *like)
    assert shown.code == 2
    assert "--constant cores=64" in shown.err
    assert evenly("fit", without, "--constant", "cores=16", *like).code == 0


def test_what_cannot_be_learned_like_another_is_refused(evenly: Evenly, tmp_path: Path) -> None:
    old = _many(tmp_path / "old.csv")
    assert evenly("fit", old, "--save", "old.evenly").code == 0
    shown = evenly("fit", "old.evenly", "--like", old)
    assert shown.code == 2
    assert "--like can't change them" in shown.err
    two = tmp_path / "two.csv"
    two.write_text("solver,cores,seconds\n" + "".join(f"{s},{n},{9 / n}\n" for s in ("ice", "sea") for n in (1, 2, 4)))
    shown = evenly("fit", two, "--like", "old.evenly")
    assert shown.code == 2
    assert "old.evenly knows old, but ice is to be learned like it" in shown.err
    shown = evenly("fit", old, "--like", "old.evenly", "--factor", "work='1/cores'")
    assert shown.code == 2
    shown = evenly("fit", two, "--each", "solver", "--like", "old.evenly")
    assert shown.code == 2
    assert "leave one of them out" in shown.err
