"""Allocation of cores to coupled solvers.

`allocate` takes models (or functions, or tables) of the solvers' times, the number of cores and the layout, which says
how the solvers wait for each other. It returns a `Plan`.

Source: thesis, section 1.3, equation 1.6.
"""

from __future__ import annotations

import dataclasses
import shlex
import warnings
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from evenly.allocation.assigning import assign
from evenly.allocation.plan import Plan
from evenly.allocation.problem.base import Balancer, Problem, check_names
from evenly.allocation.problem.coupled_runs import SCATTER, CoupledRuns, learn_inside
from evenly.allocation.problem.curves import SolverCurve, Table, call, cores_of, cores_parameter, failed_on
from evenly.allocation.problem.days_of_solvers import factors_of_one_step
from evenly.allocation.problem.layout import Layout, parse_layout
from evenly.allocation.problem.limits import Limits, possible_counts
from evenly.allocation.problem.noise import Compare, Noise
from evenly.allocation.problem.objective import Objective
from evenly.allocation.problem.step_jitter import patterns
from evenly.allocation.problem.whole_runs import WholeRunCurve
from evenly.allocation.scaling import best_total
from evenly.arguments import explained
from evenly.core_counts.by_cores import ByCores
from evenly.core_counts.failures import told_counts
from evenly.core_counts.fastest_way import FastestWay
from evenly.errors import ExtrapolationWarning, InfeasibleError, InputError
from evenly.machine.machine import Machine
from evenly.models.base import Model
from evenly.plugins import installed, load
from evenly.readers.tables.lone_work import days_in
from evenly.runs.cores import constants
from evenly.runs.runs import Runs
from evenly.runs.units import step_name
from evenly.space.parameters import Categorical
from evenly.space.ranges import ends

__all__ = ["allocate", "balancers", "values_at"]

_GROUP = "evenly.balancers"

#: More cores than any machine will have; counts up to here are exact in floating point.
_MOST_CORES = 2**40


@explained
def allocate(
    solvers: Mapping[str, Any],
    cores: int | None = None,
    *,
    layout: str | Layout = "parallel",
    limits: Limits | Mapping[str, Any] | None = None,
    at: Mapping[str, Any] | None = None,
    objective: Objective | str = "time",
    compare: Compare | None = None,
    noise: Noise | None = None,
    machine: Machine | None = None,
    balancer: str | Balancer = "optimal",
    step_days: float | None = None,
    coupled: CoupledRuns | None = None,
) -> Plan:
    """Return the best plan: how many cores each coupled solver gets.

    Parameters
    ----------
    solvers : mapping of str to Model, callable or table
        Time per step of each solver: a fitted model, a function from core counts (n,) to seconds (n,), or a mapping
        from core counts to seconds. With a mapping, the solver gets one of the mapping's counts.
    cores : int, optional
        Total number of available cores; by default those of `machine`.
    layout : str or Layout
        How solvers wait for each other, see `evenly.allocation.problem.layout`. ``"max(a, b)"``: side by side.
        ``"sum(a, b)"``: one after the other, each on its own cores. ``"a + b"``: one after the other on the same cores.
        ``"3 * a"``: three iterations. ``"parallel"`` and ``"serial"`` are max and sum over all solvers.
    limits : Limits, or mapping of str to Limits or dict, optional
        Core counts that solvers may get, for all solvers or by solver.
    at : mapping, optional
        Values of the models' other parameters, ``{"level": 8}``, or by solver, ``{"inner": {"level": 8}}``.
    objective : {"time", "cost", "cores"} or Objective
        Quantity to minimise, with constraints if an `Objective` is given.
    compare : Compare, optional
        The present assignment and the solvers' sizes; the plan is compared with the assignments that they give.
    noise : Noise, optional
        Level of the intervals, and times per step, from which the waiting by jitter is predicted.
    machine : Machine, optional
        Cores, memory and price.
    balancer : str or Balancer
        ``"optimal"``, ``"proportional"`` or the name of a plug-in's balancer.
    step_days : float, optional
        Days that a step simulates: 1 or 365 in climate models. The plan tells simulated years per day then. A model
        knows the days of its times if its runs tell them (365 with SYPD). If the models' days differ, or some don't
        know theirs, all times are made those of `step_days`. If all have the same, `step_days` can't be another.
    coupled : CoupledRuns, optional
        Whole coupled runs (`evenly.allocation.CoupledRuns`), from which it is learned how much longer the solvers take
        in them than alone.

    Returns
    -------
    Plan
        Cores per solver, the time of a step, its uncertainty, cost and alternatives.

    Raises
    ------
    InputError
        If an argument is invalid. If models are of different simulated days, and `step_days` isn't given.
    InfeasibleError
        If no assignment keeps to the limits; `constraint` names the limit.

    Examples
    --------
    >>> plan = allocate({"inner": lambda p: 60 / p, "outer": lambda p: 30 / p}, cores=90, layout="max(inner, outer)")
    >>> plan.cores, plan.seconds
    ({'inner': 60, 'outer': 30}, 1.0)
    """
    _check_solvers(solvers)
    _check_regions(solvers, layout)
    if step_days is not None and not 0 < step_days < np.inf:
        raise InputError(f"step_days must be a number of days above 0, but got {step_days!r}")
    machine, noise, compare = machine or Machine(), noise or Noise(), compare or Compare()
    _check_days_at(at or {}, step_days)
    factors, step_days = factors_of_one_step(solvers, step_days)
    problem = _problem(solvers, cores, layout, limits, at or {}, compare, machine, factors)
    noise = noise.knowing(solvers)
    if coupled is not None:
        steps = patterns(noise, problem.layout) if noise.samples else None
        inside = learn_inside(problem.layout, problem.curves, coupled, steps)
        slower = {
            name: dataclasses.replace(curve, factor=factors[name] * inside.factors[name])
            for name, curve in problem.curves.items()
        }
        problem = dataclasses.replace(problem, curves=slower)
        noise = dataclasses.replace(noise, inside=inside)
    elif noise.scatter is None:
        alone = len(solvers) > 1 and any(isinstance(one, Model | ByCores | FastestWay) for one in solvers.values())
        noise = dataclasses.replace(noise, scatter=SCATTER if alone else 0.0)
    chosen = load(_GROUP, balancer, "the balancer")() if isinstance(balancer, str) else balancer
    goal = Objective.of(objective)
    made = partial(
        Plan,
        problem,
        balancer=chosen,
        machine=machine,
        noise=noise,
        compare=compare,
        objective=goal,
        step_days=step_days,
    )
    plan, most, aim = made(_assigned(problem, chosen, goal, machine, noise)), goal.max_seconds, goal
    while most is not None and plan.seconds > most * (1 + 1e-9):
        # Totals are chosen by the times of the solvers, and the likely step is longer: the solvers get less time.
        aim = dataclasses.replace(aim, max_seconds=min(0.999, most / plan.seconds) * (aim.max_seconds or most))
        try:
            plan = made(_assigned(problem, chosen, aim, machine, noise))
        except InfeasibleError as error:
            fastest = dataclasses.replace(goal, minimise="time", within=None, max_seconds=None)
            plan = made(_assigned(problem, chosen, fastest, machine, noise))
            if plan.seconds > most * (1 + 1e-9):
                raise InfeasibleError(
                    f"a step must keep to max_seconds = {most:g}, but by the coupled runs, the fastest likely takes "
                    f"{plan.seconds:.6g} s on {plan.used} cores: raise it, or raise --cores.",
                    constraint=error.constraint,
                ) from None
    if most is not None and plan.expected_seconds > most >= plan.seconds:
        raise InfeasibleError(
            f"with steps that vary, the mean {step_name(step_days)} takes {plan.expected_seconds:.4g} s, above the "
            f"{most:g} s allowed: "
            "give more cores or a longer step",
            constraint="max_seconds",
        )
    if plan.extrapolated:
        warnings.warn("; ".join(plan.extrapolated), ExtrapolationWarning, stacklevel=3)
    return plan


def _assigned(problem: Problem, balancer: Balancer, goal: Objective, machine: Machine, noise: Noise) -> dict[str, int]:
    """Return the assignment that is best for a goal.

    Any goal other than the fastest step first chooses a total; the fastest assignment of this total is the answer.
    """
    budget = problem if goal.is_fastest else problem.with_cores(best_total(problem, balancer, goal, machine))
    return assign(budget, balancer, noise)


def _check_regions(solvers: Mapping[str, Any], layout: str | Layout) -> None:
    """Refuse to take the regions of one program for coupled solvers that wait for each other."""
    each = next((each for one in solvers.values() if (each := getattr(one, "training_", {}).get("each"))), None)
    if each is not None and layout == "parallel":
        raise InputError(
            f"these are laws of each {each!r}, not of coupled solvers that run side by side: fit the whole program's "
            "time, or name how they wait for each other with layout= (--layout)"
        )


def balancers() -> dict[str, type[Balancer]]:
    """Return all balancers by name: evenly's own and those of plug-ins.

    Examples
    --------
    >>> sorted(balancers())[:2]
    ['optimal', 'proportional']
    """
    return {name: point.load() for name, point in installed(_GROUP).items()}


def _problem(
    solvers: Mapping[str, Any],
    cores: int | None,
    layout: str | Layout,
    limits: Limits | Mapping[str, Any] | None,
    at: Mapping[str, Any],
    compare: Compare,
    machine: Machine,
    factors: Mapping[str, float],
) -> Problem:
    tree = parse_layout(str(layout), solvers)
    total = _total(cores, machine)
    by_solver = _by_solver(limits, solvers)
    fixed = values_at(at, solvers)
    curves = {
        name: dataclasses.replace(
            _curve(name, source, by_solver[name], fixed[name], total, machine), factor=factors[name]
        )
        for name, source in solvers.items()
    }
    _check_learned(curves)
    problem = Problem(tree, curves, total, compare.degrees_of_freedom or {})
    _check_others(problem, compare)
    return problem


def _check_solvers(solvers: Any) -> None:
    if isinstance(solvers, Runs) or (
        isinstance(solvers, Mapping) and any(isinstance(s, Runs) for s in solvers.values())
    ):
        raise InputError(
            "solvers must be models, functions or tables of their times, but got measured runs: fit them first: "
            "evenly.allocate(evenly.fit(runs), …)"
        )
    if not isinstance(solvers, Mapping):
        raise InputError(
            f"solvers must be a mapping of names to models, but got {type(solvers).__name__}: give each solver a name, "
            "as in {'inner': model, 'outer': other}"
        )
    if not solvers:
        raise InputError("allocate needs at least one solver, but got none")


def _check_others(problem: Problem, compare: Compare) -> None:
    """Raise `InputError` for a comparison that lacks a solver or has a count without a time."""
    for what, given in (("current", compare.current), ("degrees_of_freedom", compare.degrees_of_freedom)):
        check_names(what, given or {}, problem.curves)
        missing = [name for name in problem.names if given and name not in given]
        if missing:
            raise InputError(
                f"{what} must name every solver ({', '.join(problem.names)}), but {', '.join(map(repr, missing))} is "
                f"missing: give its {'cores' if what == 'current' else 'size'} too"
            )
    if compare.current:
        problem.times(compare.current)


def _total(cores: Any, machine: Machine) -> int:
    total: Any = machine.cores if cores is None else cores
    if total is None:
        raise InputError("how many cores are there? give cores, or a machine with nodes and cores_per_node")
    if isinstance(total, Iterable) and not isinstance(total, str | bytes | Mapping):
        raise InputError(
            f"cores must be one whole number, but got {total!r}: allocate for the most, then ask plan.at(cores) for "
            "fewer, or plan.curve for all"
        )
    whole = isinstance(total, int | float | np.number) and not isinstance(total, bool) and float(total).is_integer()
    if not whole or total < 1:
        raise InputError(f"cores must be a whole number of at least 1, but got {total!r}: give all cores there are")
    if total > _MOST_CORES:
        raise InputError(f"cores must be at most {_MOST_CORES:,}, but got {total!r}")
    if machine.cores is not None and total > machine.cores:
        raise InputError(
            f"the machine {machine.name} has {machine.cores} cores, but got {total!r}: give at most so many"
        )
    return int(total)


def _by_solver(limits: Limits | Mapping[str, Any] | None, solvers: Mapping[str, Any]) -> dict[str, Limits]:
    if limits is None or isinstance(limits, Limits):
        return dict.fromkeys(solvers, limits or Limits())
    check_names("limits", limits, solvers)
    return {name: Limits.of(limits.get(name, Limits())) for name in solvers}


def values_at(at: Mapping[str, Any], solvers: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the fixed parameters of each solver; a mapping in `at` is for one solver, any other entry for all.

    Examples
    --------
    >>> values_at({"level": 8, "atm": {"grid": "fine"}}, {"atm": abs, "ocn": abs})
    {'atm': {'level': 8, 'grid': 'fine'}, 'ocn': {'level': 8}}
    """
    common = {k: v for k, v in at.items() if not isinstance(v, Mapping)}
    own = {k: v for k, v in at.items() if isinstance(v, Mapping)}
    check_names("at", own, solvers)
    return {name: {**common, **own.get(name, {})} for name in solvers}


def _check_days_at(at: Mapping[str, Any], step_days: float | None) -> None:
    """Refuse a step of other days than those of the times that a value in `at` chooses."""
    own = [one for one in at.values() if isinstance(one, Mapping)]
    for name, value in ((name, value) for one in (at, *own) for name, value in one.items()):
        days = None if isinstance(value, Mapping) else days_in(name, value)
        if days is not None and step_days is not None and not np.isclose(days, step_days):
            raise InputError(
                f"{name}={value} (at, --at) chooses times of {days:g} simulated days, but step_days (--step-days) is "
                f"{step_days:g}: give step_days={days:g}"
            )


def _curve(name: str, source: Any, limits: Limits, at: Mapping[str, Any], total: int, machine: Machine) -> SolverCurve:
    asked = limits
    if isinstance(source, pd.Series | Mapping):
        source, limits = _table(name, source, limits)
    if not (hasattr(source, "predict") or callable(source)):
        raise InputError(
            f"solver {name!r} must be a model, a function cores -> seconds or a mapping of cores to seconds, "
            f"but got {type(source).__name__}"
        )
    at = {**_constants(source), **at}
    limits = _makeable(name, source, limits, total)
    counts = possible_counts(name, limits, total, machine, lambda quantity, asked: call(quantity, asked, at))
    failed = failed_on(name, source, counts, at)
    if len(failed) and failed.all():
        raise InfeasibleError(
            f"all runs of {name!r} on the counts that it may get failed, or those nearest to them: allow others, or "
            "leave the failed runs out",
            constraint=f"{name}.failed",
        )
    if not failed.any():
        return SolverCurve(name, source, counts, at, asked)
    every = np.asarray(counts)
    return SolverCurve(name, source, every[~failed], at, asked, failed=told_counts(every, failed))


def _constants(source: Any) -> dict[str, Any]:
    """Return the parameters of a model that never varied, other than the cores, with their values."""
    space = getattr(source, "space_", None)
    return {} if space is None else constants(space, but=[cores_of(source)])


def _makeable(name: str, source: Any, limits: Limits, total: int) -> Limits:
    """Return the limits without counts that the parameters of a model can't make.

    Where ways differ and no counts are named, those are left out, too, that only ways make which weren't measured
    there.
    """
    made = source.counts(total) if isinstance(source, ByCores | FastestWay) else None
    if made is None:
        return limits
    if isinstance(source, FastestWay) and limits.allowed is None:
        near = dataclasses.replace(limits, allowed=[int(count) for count in source.measured_counts(total)] or None)
        if near.allowed and len(near.counts(total)):
            return near
    wanted = made if limits.allowed is None else np.intersect1d(made, np.asarray(limits.allowed, dtype=np.int64))
    if not len(wanted):
        raise InfeasibleError(
            f"{name!r} can't run on {total} cores or fewer, or on those allowed: they are {source.cores_name_} with "
            f"{', '.join(f'{key} = {value}' for key, value in source.fixed.items())}",
            constraint=f"{name}.allowed",
        )
    return dataclasses.replace(limits, allowed=[int(count) for count in wanted])


def _check_learned(curves: Mapping[str, SolverCurve]) -> None:
    """Raise `InputError` for models learned on one core count only.

    Their time is constant in cores, so the allocation would give the solvers as few cores as possible.
    """
    found = {name: _only_count(curve) for name, curve in curves.items()}
    only = {
        n: int(count)
        for n, count in found.items()
        if count is not None and np.any(np.asarray(curves[n].counts) != count)
    }
    if only:
        told = ", ".join(f"{name} on {count}" for name, count in only.items())
        typed = " ".join(f"--allowed {shlex.quote(f'{name}={count}')}" for name, count in only.items())
        allowed = ", ".join(f"{name!r}: {{'allowed': [{count}]}}" for name, count in only.items())
        raise InputError(
            f"only one number of cores was measured ({told}), so how the time depends on cores is not known: measure "
            f"at least one more, or keep to it with {typed} (limits={{{allowed}}})"
        )


def _only_count(curve: SolverCurve) -> float | None:
    """Return the only number of cores that a solver's model was learned on; None if there are several."""
    space = getattr(curve.source, "space_", None)
    kind = None if space is None else space.parameters[cores_parameter(curve.source, curve.at)]
    if kind is None or isinstance(kind, Categorical) or isinstance(curve.source, WholeRunCurve):
        return None  # an exponent of whole runs is known from other solvers, and its interval says how well
    low, high = ends(kind)
    return low if low == high else None


def _table(name: str, source: Any, limits: Limits) -> tuple[Any, Limits]:
    table = {int(count): float(seconds) for count, seconds in source.items()}
    if not table:
        raise InputError(f"the table of solver {name!r} is empty")
    known = np.array(sorted(table), dtype=np.int64)
    seconds = np.array([table[int(count)] for count in known])
    wanted = known if limits.allowed is None else np.intersect1d(known, np.asarray(limits.allowed, dtype=np.int64))
    if not len(wanted):
        raise InfeasibleError(
            f"{name!r} was measured on {', '.join(map(str, known[:8]))} cores, but may only get "
            f"{', '.join(map(str, list(limits.allowed or ())[:8]))}: allow a measured count, or give a model",
            constraint=f"{name}.allowed",
        )
    allowed = [int(count) for count in wanted]
    return Table(name, known, seconds), dataclasses.replace(limits, allowed=allowed)
