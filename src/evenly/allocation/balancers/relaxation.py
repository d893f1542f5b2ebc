"""Lagrange multipliers of an allocation problem: weights of the solvers' times, and a price per core.

The multipliers give a lower bound on every assignment's time. A maximum is at least any weighted mean of its parts. So,
with weights at each ``max`` of the layout, the step's time is at least ``sum_i w_i t_i``. In the same way, the cores in
use are at least ``sum_i v_i p_i``. With a price m per core,

    time >= sum_i (w_i t_i(p_i) + m v_i p_i) - m P

for every assignment p within P cores, with times t in seconds. Any such weights and price m ≥ 0 give a valid bound. The
dual solution of a linear program over the curves' convex hulls gives the best multipliers for the hulls.

Source: M. L. Fisher, "The Lagrangian relaxation method for solving integer programming problems", Management Science 27
(1981) 1-18.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenly.allocation.balancers import kernels
from evenly.allocation.problem.core_usage import Footprint
from evenly.allocation.problem.curves import Front
from evenly.allocation.problem.layout import Layout, Repeated, SideBySide, Solver

__all__ = ["Weights", "bound_weights"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_HULL_POINTS = 64
_NEAR = 0.2


class Weights(NamedTuple):
    """For each solver, the weight of its time in the step's time and the weight of its cores in the total."""

    time: dict[str, float]
    cores: dict[str, float]


@dataclass
class _Program:
    """A linear program under construction; an expression is a mapping from variables to coefficients."""

    objective: dict[int, float] = field(default_factory=dict)
    lower: list[float] = field(default_factory=list)
    rows: list[dict[int, float]] = field(default_factory=list)
    right: list[float] = field(default_factory=list)

    def variable(self, lower: float = 0.0) -> int:
        self.lower.append(lower)
        return len(self.lower) - 1

    def at_most(self, row: dict[int, float], right: float) -> int:
        self.rows.append(row)
        self.right.append(right)
        return len(self.rows) - 1

    def largest(self, parts: list[dict[int, float]]) -> tuple[dict[int, float], list[int]]:
        """Return a new variable that is at least as large as all `parts`, and the rows of these constraints."""
        top = self.variable()
        return {top: 1.0}, [self.at_most({**part, top: -1.0}, 0.0) for part in parts]


def bound_weights(layout: Layout, footprint: Footprint, fronts: list[Front], limit: int) -> tuple[Weights, float, Ints]:
    """Return weights, the price per core, and indices in the fronts (n_solvers,) of a feasible assignment."""
    coarse = [_few_hull_points(front, 0, limit) for front in fronts]
    wanted = _relaxed(layout, footprint, coarse, limit)[2]
    # A second program with finer hulls near the first solution: its bound is tighter and leaves fewer counts to search.
    fine = [_few_hull_points(f, (1 - _NEAR) * w, (1 + _NEAR) * w) for f, w in zip(fronts, wanted, strict=True)]
    weights, price, wanted = _relaxed(layout, footprint, fine, limit)
    return weights, price, _fitting(footprint, layout.names, fronts, wanted, limit)


def _relaxed(
    layout: Layout, footprint: Footprint, hulls: list[tuple[Floats, Floats]], limit: int
) -> tuple[Weights, float, list[float]]:
    """Return weights, price and the solvers' cores from the linear program over hulls."""
    # The program minimises the step's time, with each solver's (cores, time) on or above its hull. It is scaled, so
    # that cores and times are near one.
    program, names = _Program(), layout.names
    scale = max(float(y[0]) for _, y in hulls)
    cores, times = _curve_variables(program, dict(zip(names, hulls, strict=True)), scale, limit)
    time_rows: dict[int, list[int]] = {}
    core_rows: dict[int, list[int]] = {}
    program.objective = _time(program, layout, times, time_rows)
    budget = program.at_most(_cores(program, footprint, cores, core_rows), 1.0)
    # The dual values of a maximum's rows are the weights of its parts; that of the budget's row is the price per core.
    solution, duals = _solved(program)
    weights = Weights(dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0))
    _weigh_time(layout, 1.0, time_rows, duals, weights.time)
    _weigh_cores(footprint, 1.0, core_rows, duals, weights.cores)
    return weights, float(duals[budget]) * scale / limit, [float(solution[cores[name]]) * limit for name in names]


def _curve_variables(
    program: _Program, hulls: dict[str, tuple[Floats, Floats]], scale: float, limit: int
) -> tuple[dict[str, int], dict[str, int]]:
    """Add cores (in units of the limit) and time (in units of `scale`) of each solver, above its convex hull."""
    cores, times = {}, {}
    for name, (x, y) in hulls.items():
        x, y = x / limit, y / scale
        cores[name], times[name] = program.variable(float(x[0])), program.variable(float(y[-1]))
        for k in range(len(x) - 1):
            slope = (y[k + 1] - y[k]) / (x[k + 1] - x[k])
            program.at_most({times[name]: -1.0, cores[name]: slope}, slope * x[k] - y[k])
    return cores, times


def _few_hull_points(front: Front, low: float, high: float) -> tuple[Floats, Floats]:
    """Return some corners of a front's hull, as cores and seconds: the ends, and up to 64 between `low` and `high`."""
    hull = kernels.hull_values(front.cores, front.seconds)
    corners = np.flatnonzero(hull >= front.seconds)
    cores = front.cores[corners]
    start, stop = np.searchsorted(cores, [low, high])
    inside = np.arange(max(int(start) - 1, 0), min(int(stop) + 1, len(corners)))
    spread = (
        inside[np.rint(np.geomspace(1, len(inside), _HULL_POINTS)).astype(np.int64) - 1]
        if low <= 0
        else (inside[np.rint(np.linspace(0, len(inside) - 1, _HULL_POINTS)).astype(np.int64)])
    )
    kept = corners[np.unique(np.concatenate([[0], spread, [len(corners) - 1]]))]
    return front.cores[kept].astype(np.float64), front.seconds[kept]


def _time(program: _Program, layout: Layout, times: dict[str, int], rows: dict[int, list[int]]) -> dict[int, float]:
    if isinstance(layout, Solver):
        return {times[layout.name]: 1.0}
    parts = [_time(program, part, times, rows) for part in layout.children()]
    if isinstance(layout, SideBySide):
        top, rows[id(layout)] = program.largest(parts)
        return top
    factor = layout.count if isinstance(layout, Repeated) else 1.0
    return _added(parts, factor)


def _cores(program: _Program, node: Footprint, cores: dict[str, int], rows: dict[int, list[int]]) -> dict[int, float]:
    if node.kind == "solver":
        return {cores[node.name]: 1.0}
    parts = [_cores(program, part, cores, rows) for part in node.parts]
    if node.kind == "split":
        return _added(parts, 1.0)
    top, rows[id(node)] = program.largest(parts)
    return top


def _added(parts: list[dict[int, float]], factor: float) -> dict[int, float]:
    total: dict[int, float] = {}
    for part in parts:
        for variable, coefficient in part.items():
            total[variable] = total.get(variable, 0.0) + factor * coefficient
    return total


def _solved(program: _Program) -> tuple[Floats, Floats]:
    """Return the solution and the rows' dual values, clipped at zero; if linprog fails, the lower bounds and ones."""
    from scipy import optimize
    from scipy.sparse import coo_matrix

    entries = [(r, c, v) for r, row in enumerate(program.rows) for c, v in row.items()]
    row, column, value = (np.array(part) for part in zip(*entries, strict=True))
    matrix = coo_matrix((value, (row, column)), shape=(len(program.rows), len(program.lower))).tocsr()
    costs = np.zeros(len(program.lower))
    costs[list(program.objective)] = list(program.objective.values())
    bounds = np.column_stack([program.lower, np.full(len(program.lower), np.inf)])
    linprog: Any = optimize.linprog  # its stubs know no sparse matrices
    result = linprog(costs, A_ub=matrix, b_ub=np.array(program.right), bounds=bounds)
    if not result.success:
        return np.array(program.lower), np.ones(len(program.rows))
    return np.asarray(result.x), np.maximum(-np.asarray(result.ineqlin.marginals), 0.0)


def _weigh_time(
    layout: Layout, weight: float, rows: dict[int, list[int]], duals: Floats, out: dict[str, float]
) -> None:
    if isinstance(layout, Solver):
        out[layout.name] += weight
        return
    parts = layout.children()
    factor = layout.count if isinstance(layout, Repeated) else 1.0
    shares = _shares(duals[rows[id(layout)]]) if isinstance(layout, SideBySide) else [factor] * len(parts)
    for part, share in zip(parts, shares, strict=True):
        _weigh_time(part, weight * share, rows, duals, out)


def _weigh_cores(
    node: Footprint, weight: float, rows: dict[int, list[int]], duals: Floats, out: dict[str, float]
) -> None:
    if node.kind == "solver":
        out[node.name] += weight
        return
    shares = _shares(duals[rows[id(node)]]) if node.kind == "share" else [1.0] * len(node.parts)
    for part, share in zip(node.parts, shares, strict=True):
        _weigh_cores(part, weight * share, rows, duals, out)


def _shares(duals: Floats) -> list[float]:
    total = float(duals.sum())
    return [float(d) / total for d in duals] if total > 0 else [1.0 / len(duals)] * len(duals)


def _fitting(
    footprint: Footprint, names: tuple[str, ...], fronts: list[Front], wanted: list[float], limit: int
) -> Ints:
    """Return indices of the largest counts up to `wanted`, or of the smallest counts where these don't fit together."""
    places = np.array(
        [max(int(np.searchsorted(f.cores, w + 1e-6, side="right")) - 1, 0) for f, w in zip(fronts, wanted, strict=True)]
    )
    cores = {name: int(f.cores[k]) for name, f, k in zip(names, fronts, places, strict=True)}
    return places if footprint.cores(cores) <= limit else np.zeros(len(fronts), dtype=np.int64)
