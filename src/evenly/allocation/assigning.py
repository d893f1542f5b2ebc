"""The assignment of a balancer, refined by the time that a plan shows.

Balancers minimise the step in which each solver takes its predicted time. Two times of a step are longer than that: the
mean of steps that vary, and the median over the errors of solvers that are unsure inside coupled runs. Both grow where
several solvers are equally slow, so their best assignment is another one, near by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evenly.allocation.balancers.optimal import OptimalBalancer
from evenly.allocation.problem.base import Balancer, Problem
from evenly.allocation.problem.limits import index_at_most
from evenly.allocation.problem.noise import Draws, Noise
from evenly.allocation.problem.step_jitter import jitter_of, patterns

__all__ = ["assign"]

#: A step that is longer by less than this share is as good.
_FREE = 1e-3


def assign(problem: Problem, balancer: Balancer, noise: Noise) -> dict[str, int]:
    """Return the assignment of a balancer; that of the optimal one is best by the time that a plan shows."""
    found = balancer.assign(problem)
    if not (noise.optimise or isinstance(balancer, OptimalBalancer)):
        return found
    return _on_measured(problem, _refined(problem, found, noise), noise)


def _on_measured(problem: Problem, cores: dict[str, int], noise: Noise) -> dict[str, int]:
    """Return an assignment in which solvers with fewer cores than measured get the fewest measured ones, if free.

    Beside a solver on the same cores, more of them cost nothing. A flat curve tells little of one core, which may lack
    memory.
    """
    best = dict(cores)
    seconds = _shown(problem, cores, noise) or (lambda trial: float(problem.layout.seconds(problem.times(trial))))
    for name, curve in problem.curves.items():
        trial = {**best, name: max(best[name], curve.fewest_measured)}
        free = trial != best and problem.used(trial) <= problem.used(best)
        if free and seconds(trial) <= seconds(best) * (1 + _FREE):
            best = trial
    return best


def _refined(problem: Problem, cores: Mapping[str, int], noise: Noise) -> dict[str, int]:
    """Return an assignment with a shorter step, as a plan shows its time, found by local search from `cores`.

    A move changes the count of one solver, or the counts of two solvers in opposite directions. The search starts with
    large moves and halves their size when none improves the time. At the end, no move to a neighbouring count improves
    the time. The assignment is returned as it is where the time shown is what the layout makes of the predicted times.
    """
    best = dict(cores)
    if (seconds := _shown(problem, best, noise)) is None:
        return best
    best_seconds = seconds(best)
    stride = max(len(problem.curves[name].counts) for name in problem.names) // 4 + 1
    while stride:
        moved = False
        for trial in _moves(problem, best, stride):
            trial_seconds = seconds(trial)
            if trial_seconds < best_seconds * (1 - 1e-12):
                best, best_seconds, moved = trial, trial_seconds, True
                break
        stride = stride if moved else stride // 2
    return best


def _shown(problem: Problem, cores: Mapping[str, int], noise: Noise) -> Callable[[Mapping[str, int]], float] | None:
    """Return the function from an assignment to its seconds; None where balancers minimise these already."""
    if noise.optimise:
        steps = patterns(noise, problem.layout)
        return lambda trial: jitter_of(problem, trial, steps).expected_seconds
    draws = Draws(problem, cores, noise)
    return (lambda trial: draws.likely(problem.times(trial))) if draws.unsure_together else None


def _moves(problem: Problem, cores: dict[str, int], stride: int) -> list[dict[str, int]]:
    shifted = {name: {s: _shift(problem, name, cores[name], s * stride) for s in (-1, 1)} for name in cores}
    singles = [{name: count} for name in cores for count in shifted[name].values()]
    pairs = [{one: shifted[one][1], other: shifted[other][-1]} for one in cores for other in cores if one != other]
    trials = [{**cores, **change} for change in singles + pairs]
    return [trial for trial in trials if trial != cores and problem.used(trial) <= problem.cores]


def _shift(problem: Problem, name: str, count: int, places: int) -> int:
    counts = problem.curves[name].counts
    return int(counts[min(max(index_at_most(counts, count) + places, 0), len(counts) - 1)])
