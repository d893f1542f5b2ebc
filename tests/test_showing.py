"""Progress bars in notebooks, in a stand-in of the notebook."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

import evenly
from evenly import Integer, RunFailed, Space
from evenly.fdtd.running.progress import progress
from evenly.showing import notebook_bar


class Cell:
    """What a notebook shows below a cell: the pages of HTML, one after the other."""

    def __init__(self) -> None:
        self.pages: list[str] = []

    def display(self, html: str, *, display_id: bool) -> SimpleNamespace:
        assert display_id
        self.pages.append(html)
        return SimpleNamespace(update=self.pages.append)


@pytest.fixture
def cell(monkeypatch: pytest.MonkeyPatch) -> Cell:
    found = Cell()
    shell: Any = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    shown: Any = SimpleNamespace(HTML=str, display=found.display)
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    return found


def test_a_search_shows_how_many_runs_were_made_and_takes_the_bar_away(cell: Cell) -> None:
    evenly.tune(Space(n=Integer(1, 4)), lambda one: float(one["n"]), budget=2, seed=0)
    assert ["1 of 2 runs" in page for page in cell.pages] == [True, False, False]
    assert 'value="0.500"' in cell.pages[0]
    assert cell.pages[-1] == ""


def test_the_bar_goes_away_if_the_work_fails(cell: Cell) -> None:
    def broken(one: dict[str, Any]) -> float:
        if one["n"]:
            raise RunFailed("no memory <left>")
        return 1.0

    with pytest.raises(evenly.EvenlyError):
        evenly.tune(Space(n=Integer(1, 4)), broken, budget=2, seed=0)
    assert cell.pages[-1] == ""


def test_whoever_shows_progress_gets_no_second_bar(cell: Cell) -> None:
    evenly.tune(Space(n=Integer(1, 4)), lambda one: float(one["n"]), budget=2, seed=0, progress=lambda _: None)
    assert cell.pages == []


def test_a_simulation_shows_a_bar(cell: Cell) -> None:
    shown = progress("auto", 1000)
    shown.show(0.25, 1.0)
    assert 'value="0.250"' in cell.pages[0]
    assert "steps/s" in cell.pages[0]


def test_a_terminal_of_ipython_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    for shell in (None, SimpleNamespace()):
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda one=shell: one))
        assert notebook_bar("working") is None
