"""What `evenly.fit` makes of runs: a fitted model with the runs that it learned from, and what it keeps of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evenly.models.array_types import Floats
from evenly.models.base import Model
from evenly.models.censoring import rough_copy
from evenly.models.ensemble.race import OF_RATIO
from evenly.models.factorized import Factorized
from evenly.models.registry import model_class
from evenly.models.uncertainty.between_levels import between_levels
from evenly.models.uncertainty.conformal import LogConformal
from evenly.models.uncertainty.corners import corners_of
from evenly.models.uncertainty.floors import floors_of
from evenly.models.uncertainty.repeated_noise import RepeatedNoise
from evenly.models.uncertainty.single_runs import ENOUGH, SingleRuns
from evenly.runs.node_filling import filling
from evenly.runs.outcomes import Outcomes
from evenly.runs.runs import Runs, Statistic
from evenly.runs.weak_scaling import bands, weak_scaling
from evenly.space.parameters import Categorical
from evenly.space.space import Space

__all__ = ["Learned", "summarise", "told_at_edge", "told_missed", "weights_of"]

#: Of parameters with more labels, the ranges of their runs aren't kept.
_MOST_LABELS = 100
#: A model that is so far off one of the few runs that it learned from doesn't fit them; of many, noise may do that.
_MISSED, _FEW = 1.5, 50
#: Where the noise is known, so many times of it are too much, and at least so much (log).
_SURE, _LEAST = 5.0, 0.2
#: A prediction that is so near to an end of its interval, as a share of it (log), stands at the end.
_EDGE = 0.03
#: Methods that compare others, of which none follows the runs if they don't.
_RACES = ("auto", "pmnf")
#: Repetition doesn't remove this share of the variance of one run, nor this standard deviation of log times.
_SHARE_KEPT, _NEVER_REMOVED = 0.1, 0.05


@dataclass(frozen=True)
class Learned:
    """A fitted model, and what it learned from.

    Attributes
    ----------
    model : Model
    runs : Runs
    statistic : str
        Statistic that aggregates repeated runs.
    evidence : DataFrame (n_configurations, …)
        What the model was fitted to: rows of `Runs.evidence`.
    left_out : array (n_configurations,)
        What the model predicts of each row without it; NaN where it doesn't tell.
    new : callable
        Returns an unfitted model like this one.
    parts : bool
        Whether the model learned from measured values of all parts of the time, too.
    """

    model: Model
    runs: Runs
    statistic: Statistic
    evidence: pd.DataFrame
    left_out: Floats
    new: Callable[[], Model]
    parts: bool

    @classmethod
    def of(cls, new: Callable[[], Model], runs: Runs, statistic: Statistic) -> Learned:
        """Fit a new model to runs."""
        table, model = runs.evidence(statistic), new()
        more: dict[str, Any] = {}
        if isinstance(model, Factorized) and model.factors:
            # If the runs hold measured values of all parts, each part's coefficient gets its own model.
            measured = set(runs.quantities) - {runs.response}
            whole = ~table["censored"]
            if measured.issuperset(model.factors) and table.loc[whole, list(model.factors)].notna().all(axis=None):
                table = table[whole]
                more["parts"] = table[list(model.factors)].to_dict("series")
        censored = table["censored"].to_numpy(dtype=np.bool_)
        if (weights := weights_of(runs, table["count"].to_numpy(dtype=np.float64), statistic)) is not None:
            more["sample_weight"] = weights
        model.fit(table[runs.parameters], table[runs.response], space=runs.space, censored=censored, **more)
        known = model.left_out_predictions_
        left_out = np.full(len(table), np.nan) if known is None else known
        return cls(model, runs, statistic, table, left_out, new, bool(more))

    def again(self, runs: Runs) -> Learned:
        """Fit a new model like this one to other runs."""
        return Learned.of(self.new, runs, self.statistic)

    @property
    def space(self) -> Space:
        """The parameters that the model learned from."""
        space: Space = getattr(self.model, "learned_space_", self.model.space_)
        return space

    @property
    def values(self) -> Floats:
        """The values learned from, (n_configurations,); NaN for bounds."""
        values = self.evidence[self.runs.response].to_numpy(dtype=np.float64)
        return np.where(self.evidence["censored"].to_numpy(dtype=np.bool_), np.nan, values)


def weights_of(runs: Runs, counts: Floats, statistic: Statistic) -> Floats | None:
    """Return the weights of configurations that ran unequally often, (n,); None if noise, or a difference, isn't known.

    The variance of a mean or median of k runs is that of one by k. To it comes what repetition doesn't remove: a tenth
    of the variance of one run, and the usual error of a method, `_NEVER_REMOVED`, which outweighs little noise.

    Examples
    --------
    >>> table = pd.DataFrame({"cores": [1] * 20 + [2], "seconds": [*np.geomspace(8, 12, 20), 5.0]})
    >>> weights_of(Runs.from_frame(table, ["cores"]), np.array([20.0, 1.0]), "median").round(1)
    array([3.3, 0.8])
    """
    if statistic == "min" or np.ptp(counts) == 0 or (single := SingleRuns.of(runs, statistic)) is None:
        return None
    if single.freedom < ENOUGH or single.spread == 0:
        return None
    return np.asarray(1 / (1 / counts + _SHARE_KEPT + (_NEVER_REMOVED / single.spread) ** 2))


def summarise(learned: Learned) -> None:
    """Keep with the model what else the runs tell: for the stored file, for people, and for its intervals."""
    model, runs, table, statistic = learned.model, learned.runs, learned.evidence, learned.statistic
    model.response_ = {"name": runs.response, "unit": runs.quantities[runs.response]}
    good, bounds = runs.ok, 0 if learned.parts else int(np.isfinite(runs.bounds).sum())
    model.training_ |= {
        "rows": len(good),
        "bounds": bounds,
        "failed": len(runs) - len(good) - bounds,
        "statistic": statistic,
        # The time of a whole run is that of its mean step.
        "of_steps": statistic if good.to_frame().duplicated([*good.parameters, "run"]).any() else "mean",
        "smallest": float(np.nanmin(good.values)),
        "largest": float(np.nanmax(good.values)),
        "machines": sorted({m for m in good.to_frame()["machine"] if m}),
    }
    if single := SingleRuns.of(runs, statistic):
        model.training_["single_runs"] = single.to_state()
        conformal = getattr(model, "_conformal", None)
        if (noise := single.noise()) is not None and isinstance(conformal, LogConformal):
            vars(model)["_conformal"] = conformal.knowing(noise)
        if uneven := RepeatedNoise.of(runs, statistic):
            model.training_["repeated_noise"] = uneven.to_state()
    found: dict[str, Any] = {
        "days": runs.days,
        "outcomes": Outcomes.of(runs).to_state(),
        "label_ranges": _label_ranges(good),
        "between": _between(learned),
        "corners": corners_of(table, model.space_),
        "floors": floors_of(table, runs.parameters, runs.response),
        "weak_scaling": weak_scaling(good.configurations),
        "bands": bands(good.configurations),
        "filling": filling(good.configurations),
        "missed": _missed(learned, None if single is None else single.noise()),
    }
    model.training_ |= {name: value for name, value in found.items() if value}


def told_missed(model: Model) -> str:
    """Return a sentence on the run that a model misses most, if it does by much; else ""."""
    if not (missed := model.training_.get("missed", "")):
        return ""
    if model.method in _RACES:
        return f"the runs follow none of the laws closely, so the times are unsure: {missed}"
    return f"this method doesn't follow the runs closely, the default may (leave --method out): {missed}"


def told_at_edge(model: Model, predicted: Any, lower: Any, upper: Any) -> str:
    """Return a sentence on predictions (n,) of one law at the end of their intervals, if these are wide; else ""."""
    if model.method in _RACES:
        return ""
    low, high = np.log(np.divide(predicted, lower)), np.log(np.divide(upper, predicted))
    at_edge = (np.minimum(low, high) < _EDGE * (low + high)) & (low + high > _LEAST)
    if not at_edge.any():
        return ""
    end = "shortest" if (low < high)[at_edge].all() else "longest" if (low > high)[at_edge].all() else "outermost"
    return (
        f"the predicted time is the {end} of its interval, since other laws that follow the runs tell other times: the "
        "default method weighs them all (leave --method out)"
    )


def _missed(learned: Learned, noise: float | None) -> str:
    """Return which of few runs the model misses most, where it does by much; else ""."""
    model, runs, table = learned.model, learned.runs, learned.evidence
    if runs.response != "seconds" or learned.parts or len(table) > _FEW:
        return ""
    predicted = model._predict(model.space_.frame(table[learned.runs.parameters]))
    apart = np.nan_to_num(np.log(learned.values / predicted))
    worst = int(np.argmax(np.abs(apart)))
    if abs(apart[worst]) < (np.log(_MISSED) if noise is None else max(_LEAST, _SURE * noise)):
        return ""
    told = ", ".join(f"{name} = {table[name].iloc[worst]}" for name in runs.parameters)
    return f"the run with {told} took {np.exp(apart[worst]):.2g} times as long as the model says"


def _between(learned: Learned) -> dict[str, Any]:
    """Return how far off the model's method, or that which leads its blend, is at values that it didn't learn from."""
    model, runs = learned.model, learned.runs
    if runs.response != "seconds" or len(runs.parameters) < 2:
        return {}
    choice = getattr(model, "choice_", None)
    leading = str(choice["method"].iloc[0]) if choice is not None and len(choice) else None
    prior = model._prior if leading is not None and leading.endswith(OF_RATIO) else None

    def predict_without(known: pd.DataFrame, values: Floats, asked: pd.DataFrame) -> Floats:
        rough = rough_copy(model) if leading is None else _quick(leading.removesuffix(OF_RATIO))
        base = (1.0, 1.0) if prior is None else (np.exp(prior.logs(known)), np.exp(prior.logs(asked)))
        rough.fit(known, values / base[0], space=runs.space)
        return np.asarray(rough._predict(rough.space_.frame(asked)) * base[1])

    measured = np.isfinite(learned.values)
    space = learned.space
    rows = learned.evidence.loc[measured, space.names].reset_index(drop=True)
    return between_levels(
        predict_without,
        space,
        rows,
        learned.values[measured],
        learned.left_out[measured],
    )


def _quick(method: str) -> Model:
    kind: Any = model_class(method)
    made: Model = kind(effort="quick") if "effort" in kind.default_arguments() else kind()
    return made


def _label_ranges(runs: Runs) -> dict[str, dict[str, dict[str, list[float]]]]:
    """Return the range of each number in the runs with each label: by parameter, by label as text, by number."""
    table = runs.configurations
    kinds = runs.space.parameters
    numbers = [name for name, kind in kinds.items() if not isinstance(kind, Categorical)]
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    for name, kind in kinds.items():
        if not (numbers and isinstance(kind, Categorical)) or table[name].astype(str).nunique() > _MOST_LABELS:
            continue
        groups = table.groupby(table[name].astype(str))
        found[name] = {
            str(label): {number: [float(group[number].min()), float(group[number].max())] for number in numbers}
            for label, group in groups
        }
    return found
