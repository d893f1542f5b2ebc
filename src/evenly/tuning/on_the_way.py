"""Runs between the measured range and what is asked beyond it: they tell whether times go on like this beyond it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from evenly.core_counts.goal import counts_like
from evenly.errors import EvenlyError
from evenly.models.extrapolation.beyond import Beyond
from evenly.runs.count_names import kind_of_parameter
from evenly.runs.runs import Runs
from evenly.space.parameters import Categorical, Integer, Parameter
from evenly.space.ranges import ends, extent
from evenly.space.space import Space

__all__ = ["Halfway", "settling"]


@dataclass(frozen=True)
class Halfway:
    """What is asked farthest beyond the measured range, and a run half the way there.

    Attributes
    ----------
    told : str
        How far it is.
    run : DataFrame (1, n_parameters)
    measured : Space
    """

    told: str
    run: pd.DataFrame
    measured: Space

    @classmethod
    def to(cls, asked: pd.DataFrame, runs: Runs) -> Halfway | None:
        """Return the run half the way to what is asked (n, n_parameters); None if that was measured around.

        Examples
        --------
        >>> table = pd.DataFrame({"cores": [8, 16, 32, 64], "seconds": [8.0, 4.0, 2.0, 1.0]})
        >>> found = Halfway.to(pd.DataFrame({"cores": [16, 256]}), Runs.from_frame(table, ["cores"]))
        >>> found.told, found.run.to_dict("records")
        ('cores = 256 is beyond what was measured (8 … 64), by a factor of 4', [{'cores': 128}])
        """
        measured = _measured(runs)
        far = {name: _distances(kind, asked[name]) for name, kind in _numbers(measured).items()}
        total = np.sum(list(far.values()), axis=0)
        if not np.any(total):
            return None
        row = int(np.argmax(total))
        one, told = {name: asked[name].iloc[row] for name in runs.space.names}, []
        for name, kind in _numbers(measured).items():
            if not far[name][row]:
                continue
            (low, high), value = ends(kind), float(asked[name].iloc[row])
            edge = high if value > high else low
            told.append(f"{name} = {value:.6g} is beyond what was measured ({extent(kind)}){_times(value, edge)}")
            one[name] = _middle(runs, name, edge, value)
        return cls(" and ".join(told), runs.space.frame({name: [value] for name, value in one.items()}), measured)

    def is_beyond(self, table: pd.DataFrame) -> bool:
        """Tell whether some of the configurations lie beyond the range that was measured."""
        return any(name in self.measured.outside(table) for name in _numbers(self.measured))


def settling(runs: Runs, asked: pd.DataFrame) -> list[tuple[pd.DataFrame, str]]:
    """Return the run (1, n_parameters) that tells laws apart on the way to what is asked, and why; [] without one."""
    known = runs.aggregate()
    if not _measured(runs).outside(asked):
        return []
    try:
        model = Beyond().fit(known[runs.space.names], known["seconds"], space=runs.space)
        run = model.settling(asked)
    except EvenlyError:  # too few runs, or a label that no run has
        return []
    if run is None:
        return []
    edges = {}
    for name in model.space_.outside({key: [value] for key, value in run.items()}):
        low, high = ends(model.space_.parameters[name])
        edges[name] = high if run[name] > high else low
        farthest = float(asked[name].max() if run[name] > high else asked[name].min())
        run[name] = usual_count(runs, name, run[name], edges[name], farthest)
    beyond = ", ".join(f"{name} = {edge:g}" for name, edge in edges.items())
    return [(runs.space.frame({name: [value] for name, value in run.items()}), f"tells the laws apart beyond {beyond}")]


def usual_count(runs: Runs, name: str, value: float, edge: float, asked: float) -> float:
    """Return the count next to a value, away from the edge of the range, as `counts_like` has them."""
    if not _is_count(runs, name):
        return value
    measured = runs.ok.configurations[name].to_numpy(dtype=np.int64).tolist()
    usual = counts_like(measured, int(min(edge, asked)), int(max(edge, asked)))
    farther = [count for count in usual if abs(count - edge) >= abs(value - edge)]
    return min(farther, key=lambda count: abs(count - value), default=value)


def _is_count(runs: Runs, name: str) -> bool:
    return isinstance(runs.space.parameters[name], Integer) and bool(kind_of_parameter(name))


def _measured(runs: Runs) -> Space:
    return Space.from_data(runs.aggregate()[runs.space.names], like=runs.space)


def _numbers(space: Space) -> dict[str, Parameter]:
    return {name: kind for name, kind in space.parameters.items() if not isinstance(kind, Categorical)}


def _is_log(*values: float) -> bool:
    return min(values) > 0


def _distances(kind: Parameter, column: pd.Series[float]) -> np.ndarray:
    """Return how far numbers (n,) are beyond a range: in logs, if all are above zero, else in widths of the range."""
    values, (low, high) = column.to_numpy(dtype=np.float64), ends(kind)
    if _is_log(low, float(values.min())):
        return np.abs(np.log(values / np.clip(values, low, high)))
    return np.abs(values - np.clip(values, low, high)) / ((high - low) or 1.0)


def _times(value: float, edge: float) -> str:
    if not _is_log(value, edge):
        return ""
    return f", by a factor of {max(value / edge, edge / value):.3g}"


def _middle(runs: Runs, name: str, edge: float, value: float) -> float:
    """Return a usual or round number half the way from the edge of a range to a value; the value if there is none."""
    middle = float(np.sqrt(edge * value)) if _is_log(edge, value) else (edge + value) / 2
    found = usual_count(runs, name, middle, edge, value) if _is_count(runs, name) else float(f"{middle:.2g}")
    if isinstance(runs.space.parameters[name], Integer):
        found = round(found)
    return found if min(edge, value) < found < max(edge, value) else value
