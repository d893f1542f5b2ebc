"""Sliders on a page: each moves a parameter, and with it the predicted time, its interval, and what it costs.

All predictions are made beforehand, for every combination of the values at which sliders stop. So what the page shows
is what the model says, for any model, and the page needs neither the model nor a network.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup
from numpy.typing import NDArray

from evenly.core_counts.failures import outcomes_of
from evenly.errors import InputError
from evenly.machine.machine import Machine
from evenly.models.base import Model
from evenly.report.formatting import compact, percent, value_text
from evenly.report.html_page import Part
from evenly.report.plots.trend_words import quantity_name
from evenly.report.slices import bounds, choose_parameter, fixed_at, never_ended, quietly
from evenly.runs.cores import Cores, find_cores
from evenly.runs.count_names import kind_of
from evenly.runs.runs import Runs
from evenly.space.parameters import Categorical, Integer, Ordinal, Parameter

__all__ = ["Explorer"]

#: Predictions on a page: with their intervals, 30 bytes each.
_MOST_PREDICTIONS = 16_000
#: Most values at which one slider stops, and fewest where there may be more.
_MOST_VALUES, _FEWEST_VALUES = 160, 5
#: Counts of cores go up to so many times the largest measured.
_BEYOND = 4
#: Between measured values, sliders don't stop so near one of them, as a share of it.
_NEAR = 0.03
_MOST_POINTS = 400


@dataclass(frozen=True)
class Explorer(Part):
    """The predictions of a model for every combination of the values at which sliders stop.

    Parameters
    ----------
    name : str
        The name of the solver.
    parameters : mapping of str to sequence
        The values of each parameter.
    table : DataFrame (n, …)
        A row for each combination, the last parameter varying fastest. Columns: the parameters; ``value``, ``lower``,
        ``upper`` in the base unit; ``beyond``, outside what was measured; ``failed``, where no run ended well;
        ``cores``, where it is certain what they are.
    quantity : str
        What is predicted.
    start : mapping of str to value
        Where the sliders stand first.
    along : str
        The parameter on the axis of the curve.
    fixed : mapping of str to value
        The value of each parameter without a slider.
    unit : str
        The base unit of the predictions.
    level : float
        The probability of the intervals.
    points : sequence of sequence
        Measured configurations: the values of `parameters`, and what was measured.
    price : float, optional
        Price of a core for an hour, in `currency`.
    currency : str
    assumed : str
        What was assumed of the cores.
    written : str
        The unit of the text beside the explorer; by default what suits the curve on which the sliders stand first.
    few : tuple of str
        Parameters with few measured values, between which intervals are wider.

    Examples
    --------
    >>> import evenly
    >>> runs = evenly.Runs.from_frame(pd.DataFrame({"cores": [1, 2, 4], "seconds": [8.0, 4.0, 2.0]}), ["cores"])
    >>> page = Explorer.of("ocean", evenly.fit(runs, method="power-law"), runs)
    >>> page.parameters["cores"]
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
    >>> round(float(page.table["value"].iloc[1]), 6), bool(page.table["beyond"].iloc[-1])
    (4.0, True)
    """

    name: str
    parameters: Mapping[str, Sequence[Any]]
    table: pd.DataFrame
    quantity: str
    start: Mapping[str, Any]
    along: str
    fixed: Mapping[str, Any]
    unit: str
    level: float
    points: Sequence[Sequence[Any]] = ()
    price: float | None = None
    currency: str = "EUR"
    assumed: str = ""
    written: str = ""
    few: tuple[str, ...] = ()

    @property
    def moves(self) -> bool:
        return True

    @classmethod
    def of(
        cls,
        name: str,
        model: Model,
        runs: Runs | None = None,
        *,
        at: Mapping[str, Any] | None = None,
        level: float = 0.9,
        machine: Machine | None = None,
        cores_are: str | None = None,
        written: str = "",
        stops: Mapping[str, Sequence[float]] = MappingProxyType({}),
    ) -> Explorer:
        """Predict for all combinations of values.

        Parameters
        ----------
        name : str
            The name of the solver.
        model : Model
            Fitted.
        runs : Runs, optional
            What it was learned from.
        at : mapping of str to value, optional
            Where the sliders stand first; by default at the most frequently measured combination.
        level : float
            The probability of the intervals.
        machine : Machine, optional
            For its price.
        cores_are : str, optional
            What the cores are, as an expression of the parameters.
        written : str
            The unit of the text beside it.
        stops : mapping of str to sequence of float
            Further values at which the sliders stop, as those of a table beside it.
        """
        along = choose_parameter(model, None)
        if runs is not None:  # what failed can be looked at, too
            never = never_ended(runs).select_dtypes("number")
            more = {str(name): [*stops.get(str(name), ()), *never[name].tolist()] for name in never}
            stops = {**stops, **more}
        start = {along: None, **fixed_at(model, runs, (along,), {k: v for k, v in (at or {}).items() if k != along})}
        values = {
            name: _values(kind, runs, name, stops.get(name, ()), beyond=bool(kind_of(name)))
            for name, kind in model.space_.parameters.items()
        }
        start[along] = (at or {}).get(along, _measured_middle(model, runs, along, start, values[along]))
        quietly(model).predict(model.space_.frame([start]))  # refuses values that the model can't take
        values = {
            name: some if isinstance(start[name], str) or start[name] in some else sorted([*some, start[name]])
            for name, some in values.items()
        }
        known = pd.DataFrame() if runs is None else runs.ok.configurations
        wanted = {name: {*known[name], *stops.get(name, ())} for name in known if name in values}
        values = _affordable(values, along, start, wanted)
        fixed = {name: start[name] for name in values if len(values[name]) == 1}
        table = pd.DataFrame(list(itertools.product(*values.values())), columns=list(values))
        silent = quietly(model)
        lower, upper = silent.interval(table, level)
        cores = _cores(model, runs, cores_are)
        made = {} if cores is None else {"cores": cores.of({n: table[n].to_numpy() for n in cores.names}, len(table))}
        table = table.assign(
            value=silent.predict(table), lower=lower, upper=upper, beyond=silent.extrapolates(table),
            failed=outcomes_of(model, runs).fail(table), **made,
        )  # fmt: skip
        machine = machine or Machine()
        return cls(
            name, values, table, quantity_name(model.response_), start, along, fixed, model.response_["unit"], level,
            _points(model, runs, values), machine.price_per_core_hour, machine.currency,
            "" if cores is None else cores.said, written, tuple(model.training_.get("between", {})),
        )  # fmt: skip

    @property
    def free(self) -> list[str]:
        """The parameters with sliders."""
        return [name for name in self.parameters if name not in self.fixed]

    @property
    def has_labels(self) -> bool:
        """Whether the curve may go along labels, which have dots and bars instead of a line and a band."""
        return any(isinstance(self.parameters[name][0], str) for name in self.free)

    @property
    def key(self) -> str:
        """What begins the names of this explorer's elements on the page."""
        return re.sub(r"\W+", "-", self.name) or "model"

    @property
    def percent(self) -> str:
        """The probability of the intervals, as text."""
        return percent(self.level)

    def place(self, name: str) -> int:
        """Return where the slider of a parameter stands first."""
        return _nearest(self.parameters[name], self.start[name])

    @property
    def data(self) -> Markup:
        """All that the page's script needs, as JSON that can stand in a page."""
        table = self.table
        hours = table["cores"] if "cores" in table and self.unit == "s" else None
        content = {
            "quantity": self.quantity, "unit": self.unit, "level": self.level,
            "parameters": [{"name": name, "values": list(map(_plain, self.parameters[name]))} for name in self.free],
            "value": _written(table["value"]), "lower": _written(table["lower"]), "upper": _written(table["upper"]),
            "beyond": "".join("1" if one else "0" for one in table["beyond"]),
            "failed": "".join("1" if one else "0" for one in table["failed"]) if table["failed"].any() else "",
            "cores": None if hours is None else _written(hours),
            "points": [[_plain(value) for value in point] for point in self.points],
            "price": self.price, "currency": self.currency, "written": self.written,
        }  # fmt: skip
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))  # noqa: S704

    @property
    def told(self) -> str:
        """What can't be moved, and what was assumed."""
        held = ", ".join(f"{name} = {_plain(value)}" for name, value in self.fixed.items())
        few = f"The band is wider between the few measured values of {', '.join(self.few)}." if self.few else ""
        assumed = f"{self.assumed[:1].upper()}{self.assumed[1:]}." if self.assumed else ""
        return " ".join(filter(None, (f"{held} in all of it." if held else "", few, assumed)))

    def markdown(self) -> str:
        rows = self.table
        for name, value in self.start.items():
            if name != self.along and name in self.parameters:
                rows = rows[rows[name] == self.parameters[name][_nearest(self.parameters[name], value)]]
        step = max(1, len(rows) // 12)
        shown = rows.iloc[::step][[self.along, "value", "lower", "upper", "beyond", "failed"]]
        others = ", ".join(f"{name} = {value_text(value)}" for name, value in self.start.items() if name != self.along)
        lines = [
            *([f"At {others}:", ""] if others else []),
            f"| {self.along} | predicted {self.unit} | {percent(self.level)} from | to |",
        ]
        lines.append("|---:|---:|---:|---:|")
        for *values, beyond, failed in shown.itertuples(index=False):
            cells = [value if isinstance(value, str) else compact(value) for value in values]
            lines.append(f"| {' | '.join(cells)}{'*' * bool(beyond)}{' ✗' * bool(failed)} |")
        if shown["beyond"].any():
            lines += ["", "\\* outside what was measured"]
        if shown["failed"].any():
            lines += ["", "✗ all runs there, or at the nearest values that were run, failed"]
        return "\n".join(lines)


def _values(kind: Parameter, runs: Runs | None, name: str, also: Sequence[float], *, beyond: bool) -> list[Any]:
    """Return all values at which a slider may stop, `also` among them."""
    if isinstance(kind, Categorical):
        return list(kind.options)
    ends = bounds(kind) or (0.0, 0.0)
    measured = sorted(set(runs.ok.configurations[name])) if runs is not None and len(runs.ok) else list(ends)
    whole = isinstance(kind, Integer) or (isinstance(kind, Ordinal) and all(float(v).is_integer() for v in measured))
    low, high = float(measured[0]), float(measured[-1])
    if low == high and not beyond:
        return [_as(low, whole)]
    end = max([high * _BEYOND if beyond and high > 0 else high, *also])
    if whole and end - low < _MOST_VALUES:
        return list(range(int(low), int(end) + 1))
    even = np.geomspace(low, end, _MOST_VALUES) if low > 0 and end > 8 * low else np.linspace(low, end, _MOST_VALUES)
    filled = {_as(float(f"{value:.3g}"), whole) for value in even.tolist()}
    kept = {_as(float(value), whole) for value in (*measured, end, *also)}
    if isinstance(kind, Ordinal):
        return sorted({_as(float(value), whole) for value in kind.options})
    there = np.array(sorted(kept), dtype=np.float64)
    between = {v for v in filled if low <= v <= end and np.abs(there - v).min() > _NEAR * abs(v)}
    return sorted(between | kept)


def _as(value: float, whole: bool) -> Any:
    return round(value) if whole else value


def _measured_middle(
    model: Model, runs: Runs | None, along: str, start: Mapping[str, Any], values: Sequence[Any]
) -> Any:
    """Return the middle one of the values that were measured with the others as they start; else of those learned."""
    low, high = bounds(model.space_.parameters[along]) or (-math.inf, math.inf)
    found = [value for value in values if isinstance(value, str) or low <= value <= high]
    if runs is not None and len(runs.ok):
        table = runs.ok.configurations
        for name, value in start.items():
            if name != along and name in table:
                table = table[(table[name] == value).to_numpy()]
        found = sorted(set(table[along])) or found
    return found[len(found) // 2]


def _affordable(
    values: dict[str, list[Any]], along: str, start: Mapping[str, Any], measured: Mapping[str, set[Any]]
) -> dict[str, list[Any]]:
    """Return fewer values where all combinations would be too many: a parameter may keep only the one it starts at."""
    held: list[str] = []
    # The parameter on the axis goes last, and those with the most values lose first.
    while True:
        free = [name for name in values if name not in held]
        labels = math.prod(len(values[n]) for n in free if isinstance(values[n][0], str))
        numeric = [n for n in free if not isinstance(values[n][0], str)]
        each = _share([len(values[n]) for n in numeric], _MOST_PREDICTIONS // max(labels, 1))
        if each >= _FEWEST_VALUES or len(free) <= 1:
            break
        held.append([n for n in free if n != along][-1])
    found = {}
    for name in values:
        if name in held:
            found[name] = [values[name][_nearest(values[name], start[name])]]
        elif isinstance(values[name][0], str):
            found[name] = values[name]
        else:
            found[name] = _thinned(values[name], each, start[name], measured.get(name, set()))
    return found


def _share(lengths: Sequence[int], most: int) -> int:
    """Return how many values each parameter may have, so that all combinations are at most `most`."""
    each = _MOST_VALUES * 2
    while each > 1 and math.prod(min(length, each) for length in lengths) > most:
        each -= 1
    return each if lengths else _FEWEST_VALUES


def _thinned(values: list[Any], most: int, start: Any, wanted: set[Any]) -> list[Any]:
    """Return at most so many values: where the slider stands first, those wanted, if few enough, then even ones."""
    if len(values) <= most:
        return values
    first = _nearest(values, start)
    kept = {_nearest(values, value) for value in sorted(wanted)}
    if len(kept) > most - 3:
        kept = {sorted(kept)[round(i)] for i in np.linspace(0, len(kept) - 1, most - 3).tolist()}
    kept.add(first)
    for count in range(most, 1, -1):
        places = kept | {round(place) for place in np.linspace(0, len(values) - 1, count).tolist()}
        if len(places) <= most:
            break
    return [values[place] for place in sorted(places)]


def _nearest(values: Sequence[Any], wanted: Any) -> int:
    """Return the place of a value, or of the one next to it."""
    if wanted in values or isinstance(values[0], str):
        return list(values).index(wanted) if wanted in values else 0
    return int(np.argmin(np.abs(np.array(values, dtype=np.float64) - float(wanted))))


def _cores(model: Model, runs: Runs | None, cores_are: str | None) -> Cores | None:
    try:
        return find_cores(model.space_, cores_are, measured=None if runs is None else runs.configurations)
    except InputError:
        if cores_are is not None:
            raise
        return None  # open: then nothing is said about core-hours


def _points(model: Model, runs: Runs | None, values: Mapping[str, Sequence[Any]]) -> list[list[Any]]:
    """Return measured configurations that have the values of parameters without a slider."""
    name = model.response_["name"]
    if runs is None or name not in runs.quantities:
        return []
    table = runs.learning(name).aggregate()
    for parameter, options in values.items():
        if len(options) == 1:
            table = table[(table[parameter] == options[0]).to_numpy()]
    shown = [parameter for parameter, options in values.items() if len(options) > 1]
    step = max(1, math.ceil(len(table) / _MOST_POINTS))
    return [list(row) for row in table[[*shown, name]].iloc[::step].itertuples(index=False, name=None)]


def _plain(value: Any) -> Any:
    """Return a value as JSON knows it; numbers with nine digits."""
    if isinstance(value, str):
        return value
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 2**53 else float(f"{number:.9g}")


def _written(column: pd.Series[Any]) -> list[Any]:
    values: NDArray[np.float64] = column.to_numpy(dtype=np.float64)
    return [_plain(value) if math.isfinite(value) else None for value in values.tolist()]
