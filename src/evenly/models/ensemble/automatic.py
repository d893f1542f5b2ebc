"""The automatic model: methods are compared on left-out runs, and the best ones are blended.

Inside the measured range it predicts the weighted mean of the models' log times (`evenly.models.ensemble.stacking`).
Outside, the weight moves to a method that extrapolates, within a distance of a tenth of a half-range.

With a prior, a model of another machine, version or resolution, methods that learn the ratio of the times to its
predictions race beside the others (`evenly.models.ensemble.prior`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, final

import numpy as np
import pandas as pd

from evenly.errors import EvenlyWarning, InputError
from evenly.models.array_types import Flags, Floats, Ints
from evenly.models.base import Model, check_effort
from evenly.models.ensemble.learning_curves import learning_curve
from evenly.models.ensemble.prior import Prior, is_like
from evenly.models.ensemble.race import Entry, MethodCandidate, Table, candidates, race
from evenly.models.ensemble.residual_correction import Correction
from evenly.models.ensemble.screening import WIDE, that_matter
from evenly.models.ensemble.stacking import blend_weights, cross_fitted, lean_blend
from evenly.models.ensemble.steady_ratio import FEW, SteadyRatio
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.model_state import nested_state, restored
from evenly.models.registry import method_names, model_class
from evenly.models.regression_model import RegressionModel, canonical_order, fold_numbers
from evenly.models.uncertainty.local_conformal import LocalConformal
from evenly.models.uncertainty.unseen_labels import bounds_over_labels, logs_over_labels, unseen_rows
from evenly.space.expressions import Expression
from evenly.space.space import Space

__all__ = ["Automatic"]

#: Methods that may extrapolate beyond the measured range, the best first.
_EXTRAPOLATES = ("beyond", "pmnf", "log-quadratic", "power-law")
#: The same for ratios to what a prior predicts: a Gaussian process returns to its trend, which is nearly constant.
_EXTRAPOLATES_RATIOS = ("beyond", "gp", "power-law")
#: Distance from the measured range, in half-ranges, at which the extrapolating method has the whole weight.
_HANDOVER = 0.1
#: Maximum number of runs from which "beyond" learns, where it wasn't in the race.
_TRENDS = 2_048
#: Pairs (maximum number of runs, number of folds). With many runs, few folds still leave many runs to learn from.
_FOLDS = ((40, 10), (2_000, 5), (10**12, 3))
#: So many configurations are predicted at once: what is computed on the way fits into the cache.
_BLOCK = 16_384
#: With so many runs, errors on left-out runs tell which members of a blend add nothing.
_MANY = 2_000
#: Of few runs, at least so many tell that models without the ratio are better, if their error is at most this share.
_TELLING, _CLEARLY = 4, 0.5
#: Models whose error exceeds the least error by more than this factor get no weight.
_HOPELESS = 3.0


@final
@dataclass(kw_only=True, eq=False, repr=False)
class Automatic(Model):
    """Compares methods on left-out runs and blends the best ones.

    Parameters
    ----------
    effort : {"quick", "normal", "thorough"}
        How many methods are tried, and how thoroughly each is fitted. With "normal", dear methods are tried where they
        can win (`evenly.models.ensemble.race`). Fitting to a thousand runs takes seconds, some ten seconds, or minutes.
    methods : sequence of str, optional
        Names of the methods to try. By default, all that suit the runs.
    offset : str, optional
        A known formula for the time, up to a constant factor: an expression of the parameters, such as
        ``"m * n * k / cores"``. The model learns the time divided by this formula, so that predictions follow the
        formula where there are no runs.
    prior : Model or Prior, optional
        A fitted model of another machine, version or resolution. It has the weight that left-out runs give it; if it
        doesn't lower their error, it has none.
    progress : callable, optional
        Called with the name of the step that begins, and what the steps so far have brought.

    Attributes
    ----------
    choice_ : DataFrame
        One row per method tried: ``method``, ``error`` (MLogQ on left-out runs), ``fit_seconds`` (CPU), ``bytes``
        (learned numbers), ``weight``, ``note``.
    error_ : float
        MLogQ of the blend on left-out runs, with blending weights learned from the other folds; NaN where no run could
        be left out.
    correction_ : float
        Share by which trees fitted to the blend's residuals lower `error_`; 0 where no trees are used.
    beyond_ : str
        The method that predicts beyond the measured range.
    prior_ : dict
        Of the prior: ``name``; ``weight``, its share in the blend; ``error`` and ``error_without``, those of the blends
        with and without it on left-out runs; ``ratio``, the least and largest predicted times at measured
        configurations, divided by those that it predicts. Empty without a prior.
    learned_space_ : Space
        The parameters that were learned from. Of a table with many, those that matter
        (`evenly.models.ensemble.screening`); ``training_["without_effect"]`` names the others.
    learning_curve_ : DataFrame
        ``runs``, ``error`` and ``measured``: the error as a function of the number of runs, measured and extrapolated
        (`evenly.models.ensemble.learning_curves`).

    Examples
    --------
    >>> cores, size = np.meshgrid([1, 2, 4, 8, 16], [100, 200, 400])
    >>> table = {"cores": cores.ravel(), "size": size.ravel()}
    >>> model = Automatic(effort="quick").fit(table, (size / cores).ravel())
    >>> model.predict({"cores": [4], "size": [300]}).round(1)
    array([75.])
    """

    method: ClassVar[str] = "auto"
    summary: ClassVar[str] = "the methods that suit the runs, raced on left-out runs and blended"
    rough: ClassVar[Mapping[str, Any]] = {**Model.rough, "methods": ("power-law", "log-quadratic", "gp")}

    effort: str = "normal"
    methods: Sequence[str] | None = None
    offset: str | None = None
    prior: Model | Prior | None = None
    progress: Callable[[str], None] | None = None

    def __sklearn_clone__(self) -> Automatic:
        """Return an unfitted copy with the same prior, which scikit-learn's `clone` would unfit, too."""
        return Automatic(**self.get_params())

    # ---- learning -------------------------------------------------------------------------------------------

    def _learn(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        check_effort(self.effort)
        counted = np.flatnonzero(weights > 0)
        rows = len(weights)
        table, values, weights = table.iloc[counted].reset_index(drop=True), values[counted], weights[counted]
        self._offset = None if self.offset is None else Expression(self.offset)
        self._prior = _checked_prior(self.prior, self.space_)
        self._steady: SteadyRatio | None = None
        known, expected = self._known(table), self._expected(table)
        logs = np.log(values) - known
        table = self._that_matter(table, logs, weights, self._is_measured[counted])
        self._coding = Coding.learn(table, self.learned_space_)
        inputs = self._coding.inputs(table)
        order = canonical_order(inputs, logs)
        table, weights = table.iloc[order].reset_index(drop=True), weights[order] / weights.mean()
        measured = self._is_measured[counted][order]
        expected = None if expected is None else expected[order]
        runs, inputs = Table(table, logs[order], weights, self.learned_space_, measured, expected), inputs.rows(order)
        folds = fold_numbers(inputs, next(count for most, count in _FOLDS if len(runs) <= most))
        if expected is not None and not is_like(runs.logs, expected):
            runs = replace(runs, expected=None)
        entrants = candidates(runs, self.effort, among=self.methods)
        entries = (
            []
            if folds is None
            else race(
                runs,
                entrants,
                folds,
                self.effort,
                self.progress,
                staged=self.methods is None and self.effort == "normal",
            )
        )
        if folds is None or not any(np.isfinite(e.error) for e in entries):
            self._learn_alone(runs, inputs, entrants, entries)
            return
        without = self._blend(runs, inputs, folds, entries)
        self.left_out_predictions_ = np.full(rows, np.nan)
        self.left_out_predictions_[counted[order]] = np.exp(without + known[order])

    def _that_matter(self, table: pd.DataFrame, logs: Floats, weights: Floats, measured: Flags) -> pd.DataFrame:
        """Return the columns to learn from; keep which these are."""
        names = list(map(str, table.columns))
        if self.methods is None:
            runs = Table(table, logs, weights / weights.mean(), self.space_, measured)
            needed = set() if self._offset is None else set(self._offset.names)
            needed |= set() if self._prior is None else set(self._prior.model.space_.names)
            matter = {*that_matter(runs, self.progress or (lambda _: None)), *needed}
            names = [name for name in names if name in matter]
        self.learned_space_ = self.space_
        if len(names) < len(table.columns):
            self.learned_space_ = Space.from_data(table[names], like=self.space_)
            self.training_["without_effect"] = [name for name in map(str, table.columns) if name not in names]
        return table[names]

    def _learn_alone(
        self, runs: Table, inputs: Inputs, entrants: Sequence[MethodCandidate], entries: list[Entry]
    ) -> None:
        """Learn by the first method that can, where no configuration can be predicted from the others.

        `entries` are the results of the race; there was none if all runs are of one configuration.
        """
        able = [(e.candidate, e.model) for e in entries if e.model is not None]
        if entries and not able:
            reasons = "; ".join(f"{e.candidate.name}: {e.note}" for e in entries)
            raise InputError(f"no method could learn from these runs ({reasons})")
        if not able:
            able = [(entrants[0], runs.seen_by(entrants[0]).teach(entrants[0].model(self.effort)))]
        taken, only = able[0]
        warnings.warn(
            "methods can't be compared, since no configuration can be predicted from the others: so "
            f"{taken.name} was taken, and its intervals assume a usual error. Measure more configurations, each label "
            "in at least two of them",
            EvenlyWarning,
            stacklevel=4,
        )
        self._members, self._shares, self.error_ = [only], np.ones(1), float("nan")
        self._of_ratio = np.array([taken.ratio])
        self._correction = Correction()
        self._beyond, self.beyond_, self._beyond_of_ratio = only, taken.name, taken.ratio
        self._conformal = LocalConformal.learn(
            inputs, np.full(len(runs), np.nan), freedom=float(runs.measured.sum() - 1)
        )
        self.choice_ = _choice(entries, {taken.name: 1.0})
        self.prior_ = self._told_of_prior(runs, float("nan"), float("nan"))
        self.learning_curve_ = pd.DataFrame({"runs": [], "error": [], "measured": []})

    def _blend(self, runs: Table, inputs: Inputs, folds: Ints, entries: list[Entry]) -> Floats:
        """Blend the models of the race; return each run's left-out prediction by the blend, (n,) logs."""
        able = [(e, e.model) for e in entries if e.model is not None and np.isfinite(e.error)]
        best = min(e.error for e, _ in able)
        best_without = min((e.error for e, _ in able if not e.candidate.ratio), default=float("nan"))
        few = len(runs) < FEW  # so few errors don't tell that a factor is hopeless
        able = [(e, m) for e, m in able if e.error <= _HOPELESS * best + 1e-9 or (few and e.candidate.ratio)]
        # Weights are learned from the runs for which all models have a left-out prediction.
        predicted = np.column_stack([e.left_out for e, _ in able])
        known = np.flatnonzero(np.isfinite(predicted).all(axis=1))
        predicted, logs, weights = predicted[known], runs.logs[known], runs.weights[known]
        of_ratio = np.array([e.candidate.ratio for e, _ in able])
        blended = _one_or_the_other if few else _blended
        shares, honest, errors = blended(predicted, logs, weights, folds[known], of_ratio)
        if len(known) >= _MANY and not of_ratio.any():
            shares, honest = lean_blend(predicted, logs, weights, folds[known], shares, honest)
        # Trees are fitted to the blend's residuals. Left-out residuals then give the blend's error and its intervals.
        say = self.progress or (lambda _: None)
        say("what is left")
        self._correction = Correction()
        # Measured runs near the limit were lucky: trees that learn from these alone would bring that bias back.
        if self.methods is None and self.effort != "quick" and runs.measured.all():
            self._correction, added = Correction.learn(
                self._coding, inputs.rows(known), logs - honest, weights, folds[known]
            )
            honest = honest + added
        self.error_ = float(np.average(np.abs(honest - logs), weights=weights))
        freedom = max(float(runs.measured.sum() - len(shares)), 0.0)
        self._conformal = LocalConformal.learn(inputs.rows(known), logs - honest, freedom=freedom)
        self._members = [model for (_, model), share in zip(able, shares, strict=True) if share > 0]
        self._shares, self._of_ratio = shares[shares > 0], of_ratio[shares > 0]
        say("beyond the range")
        self._extrapolate(runs, able)
        self.prior_ = self._told_of_prior(runs, errors[0], best_without if np.isnan(errors[1]) else errors[1])
        by_method = {e.candidate.name: float(share) for (e, _), share in zip(able, shares, strict=True)}
        self.choice_ = _choice(entries, by_method)
        # The curve of the method with the largest share, scaled to the error of the blend.
        say("what more runs would bring")
        first, count = able[int(np.argmax(shares))][0], int(folds.max()) + 1
        make = partial(first.candidate.model, "quick", folds=0)
        learned_from = round(len(runs) * (count - 1) / count)
        curve = learning_curve(runs.seen_by(first.candidate), make, first.error, learned_from, effort=self.effort)
        self.learning_curve_ = curve.assign(error=curve["error"] * (self.error_ / max(first.error, 1e-300)))
        without = np.full(len(runs), np.nan)
        without[known] = honest
        return without

    def _extrapolate(self, runs: Table, able: Sequence[tuple[Entry, Model]]) -> None:
        """Choose the model that predicts beyond the range: of the times, or of their ratio to those of the prior.

        Where both can be compared at the edge of the range, the one of the smaller error there is taken; else the ratio
        is, if it has more than half of the weight inside.
        """
        most = float(self._shares[self._of_ratio].sum())
        alone = self._extrapolating(runs, {e.candidate.method: m for e, m in able if not e.candidate.ratio})
        self._beyond, self._beyond_of_ratio = alone, False
        if most > 0:
            laws = {e.candidate.method: m for e, m in able if e.candidate.ratio}
            methods = _EXTRAPOLATES_RATIOS if len(runs) >= FEW else ("gp",)
            of_ratio = self._extrapolating(runs.seen_by(MethodCandidate("", ratio=True)), laws, methods)
            errors = [_error_at_edge(model) for model in (of_ratio, alone)]
            better = errors[0] < errors[1] if np.isfinite(errors).all() else most > 0.5
            if better:
                self._beyond, self._beyond_of_ratio = of_ratio, True
        self.beyond_ = MethodCandidate(self._beyond.method, ratio=self._beyond_of_ratio).name

    def _extrapolating(
        self, runs: Table, learned: Mapping[str, Model], methods: Sequence[str] = _EXTRAPOLATES
    ) -> Model:
        """Return the model that predicts beyond the range: one from the race if possible, else one fitted here."""
        for name in methods:
            if name in learned:
                return learned[name]
            narrow = len(runs.frame.columns) <= WIDE  # its shells have two sides for each parameter
            if (
                name == "beyond"
                and narrow
                and self.methods is None
                and self.effort != "quick"
                and name in method_names()
            ):
                if len(runs) > _TRENDS:
                    runs = runs.rows(np.sort(np.random.default_rng(0).permutation(len(runs))[:_TRENDS]))
                model = MethodCandidate(name).model(self.effort)
                return runs.teach(model)
        return runs.teach(model_class("power-law")())

    def _told_of_prior(self, runs: Table, error: float, error_without: float) -> dict[str, Any]:
        """Return what `prior_` says, given errors on left-out runs with and without the prior; forget it if unused."""
        if self._prior is None:
            return {}
        name = self._prior.name
        if runs.expected is None:
            self._prior = None
            return {"name": name, "weight": 0.0, "error": float("nan"), "error_without": self.error_, "ratio": []}
        weight = float(self._shares[self._of_ratio].sum())
        parts = zip(self._members, self._shares, self._of_ratio, strict=True)
        of_ratio = [share / max(weight, 1e-9) * np.log(m._predict(runs.frame)) for m, share, its in parts if its]
        ratio = np.exp(np.sum(of_ratio, axis=0)) if of_ratio else np.exp(runs.logs - runs.expected)
        told = {"name": name, "weight": weight, "error": error, "error_without": error_without}
        if not weight:
            self._prior = None
        elif len(runs) < FEW:
            self._steady = self._prior.steady_ratio(runs.frame, runs.logs - runs.expected, self.space_)
        return {**told, "ratio": [float(ratio.min()), float(ratio.max())]}

    @property
    def correction_(self) -> float:
        return self._correction.gain

    # ---- asking ---------------------------------------------------------------------------------------------

    def _known(self, table: pd.DataFrame) -> Floats:
        """Return the logarithm of the offset at each configuration, (n,)."""
        if self._offset is None:
            return np.zeros(len(table))
        values = np.asarray(self._offset(table), dtype=np.float64)
        if not np.all(np.isfinite(values) & (values > 0)):
            row = int(np.flatnonzero(~(np.isfinite(values) & (values > 0)))[0])
            raise InputError(f"the offset {self.offset!r} must be above zero, but row {row} gives {values[row]}")
        return np.log(values)

    def _expected(self, table: pd.DataFrame) -> Floats | None:
        """Return the logs that the prior expects, without the offset, (n,); None without a prior."""
        return None if self._prior is None else self._prior.logs(table) - self._known(table)

    def _base(self, table: pd.DataFrame) -> Floats:
        """Return what is added to the logs of ratios, (n,)."""
        needed = self._of_ratio.any() or self._beyond_of_ratio
        expected = self._expected(table) if needed else None
        return np.zeros(len(table)) if expected is None else expected

    def _logs(self, table: pd.DataFrame, inputs: Inputs) -> tuple[Floats, Floats]:
        """Return the predicted logs without the offset, and the weight of the extrapolating method, (n,) each."""
        base = self._base(table)
        table = table[self.learned_space_.names]
        logs = self._correction.predict(inputs) + float(self._shares[self._of_ratio].sum()) * base
        for member, share in zip(self._members, self._shares, strict=True):
            coded = isinstance(member, RegressionModel)
            logs += share * (member._logs(table, self._coding, inputs) if coded else np.log(member._predict(table)))
        # The extrapolating method's weight rises linearly from 0 at the edge of the measured range to 1.
        outside = np.clip(inputs.beyond / _HANDOVER, 0.0, 1.0)
        far = np.flatnonzero(outside > 0)
        if len(far):
            there = np.log(self._beyond._predict(table.iloc[far])) + self._beyond_of_ratio * base[far]
            logs[far] += outside[far] * (there - logs[far])
        return logs, outside

    def _predict(self, table: pd.DataFrame) -> Floats:
        logs = np.empty(len(table))
        new = self._new_to_runs(table)
        known = np.flatnonzero(~new)
        for rows in np.array_split(known, -(-len(known) // _BLOCK)) if len(known) else ():
            there = table.iloc[rows]
            logs[rows] = self._logs(there, self._coding.inputs(there))[0]
        if new.any():
            logs[new] = self._base(table[new]) + logs_over_labels(self._ratios, self._labels_of_runs(), table[new])
        return np.asarray(np.exp(np.clip(logs + self._known(table), -700, 700)), dtype=np.float64)

    def _labels(self) -> dict[str, Sequence[Any]]:
        known = super()._labels()
        if self._prior is None or not self._of_ratio.any():
            return known
        more = self._prior.model._labels()
        return {name: tuple(dict.fromkeys([*its, *more.get(name, ())])) for name, its in known.items()}

    def _labels_of_runs(self) -> dict[str, Sequence[Any]]:
        kinds = zip(self._coding.names, self._coding.kinds, self._coding.labels, strict=True)
        return {name: labels for name, kind, labels in kinds if kind == "label"}

    def _new_to_runs(self, table: pd.DataFrame) -> Flags:
        """Return which configurations have labels that the prior may know, but no run has, (n,)."""
        new = np.zeros(len(table), dtype=np.bool_)
        if self._of_ratio.any():
            for missing in unseen_rows(self._labels_of_runs(), table).values():
                new |= missing
        return new

    def _ratios(self, table: pd.DataFrame) -> Floats:
        """Return the times of configurations (n, d) with measured labels by those that the prior predicts, (n,)."""
        shares = self._shares * self._of_ratio / self._shares[self._of_ratio].sum()
        known = table[self.learned_space_.names]
        parts = [s * np.log(m._predict(known)) for s, m in zip(shares, self._members, strict=True) if s > 0]
        return np.asarray(np.exp(np.sum(parts, axis=0)))

    def _interval_of_new(self, table: pd.DataFrame, level: float) -> tuple[Floats, Floats]:
        """Return bounds of log times, (n,) each, for labels that the prior may know, but no run has.

        They are what the prior predicts, times the mean ratio of the labels of the runs.
        """

        def ratios(known: pd.DataFrame) -> tuple[Floats, Floats]:
            middle, half = self._ratios(known), self._half_width(known, self._coding.inputs(known), level)
            return middle * np.exp(-half), middle * np.exp(half)

        low, high = np.log(bounds_over_labels(self._ratios, ratios, self._labels_of_runs(), table, level))
        half = (high - low) / 2
        if self._prior is not None:  # no run here shows its errors for these labels
            half = np.hypot(half, self._prior.half_width(table, level))
        centre = (low + high) / 2 + self._base(table) + self._known(table)
        return centre - half, centre + half

    def _doubt(self, table: pd.DataFrame) -> str:
        return self._beyond._doubt(table[self.learned_space_.names]) if self._offset is None else ""

    def _interval(self, table: pd.DataFrame, level: float) -> tuple[Floats, Floats]:
        if not (new := self._new_to_runs(table)).any():
            return self._interval_of_known(table, level)
        low, high = np.empty((2, len(table)))
        if not new.all():
            low[~new], high[~new] = self._interval_of_known(table[~new], level)
        low[new], high[new] = np.exp(np.clip(self._interval_of_new(table[new], level), -700, 700))
        return low, high

    def _half_width(self, table: pd.DataFrame, inputs: Inputs, level: float) -> Floats:
        """Return the half-widths of intervals of log times, or of their ratios, inside the measured range, (n,)."""
        if self._steady is not None:
            return self._steady.half_width(table, level)
        return self._conformal.half_width(inputs, level)

    def _interval_of_known(self, table: pd.DataFrame, level: float) -> tuple[Floats, Floats]:
        inputs = self._coding.inputs(table)
        (logs, outside), half = self._logs(table, inputs), self._half_width(table, inputs, level)
        if self._steady is not None and self._prior is not None:
            # So few runs don't show the errors of the prior; the drift of the ratio is the same beyond these runs.
            half, outside = np.hypot(half, self._prior.half_width(table, level)), np.zeros(len(table))
        low, high = logs - half, logs + half
        # Outside the measured range the extrapolating method's interval may widen these bounds, but not narrow them.
        far = np.flatnonzero(outside > 0)
        if len(far):
            bounds = np.log(self._beyond._interval(table[self.learned_space_.names].iloc[far], level))
            if self._beyond_of_ratio and self._prior is not None:
                # Inside, left-out runs show the errors of the prior, too; here, its own interval tells of them.
                asked = table.iloc[far]
                bounds = bounds + self._base(asked) + np.outer([-1, 1], self._prior.half_width(asked, level))
            low[far] = np.minimum(low[far], logs[far] + outside[far] * (bounds[0] - logs[far]))
            high[far] = np.maximum(high[far], logs[far] + outside[far] * (bounds[1] - logs[far]))
        known = self._known(table)
        return np.exp(np.clip(low + known, -700, 700)), np.exp(np.clip(high + known, -700, 700))

    # ---- storing --------------------------------------------------------------------------------------------

    def _get_state(self) -> dict[str, Any]:
        choice = self.choice_.to_dict(orient="list")
        fewer = {} if self.learned_space_ is self.space_ else {"learned_space": self.learned_space_.to_dict()}
        prior = {} if self._prior is None else {"prior": self._prior.to_state()}
        prior |= {"prior_told": self.prior_} if self.prior_ else {}
        prior |= {"steady": self._steady.to_state()} if self._steady is not None else {}
        return {
            **fewer,
            **prior,
            "of_ratio": [bool(one) for one in self._of_ratio],
            "beyond_of_ratio": self._beyond_of_ratio,
            "coding": self._coding.to_state(),
            "shares": self._shares,
            "members": [_without_intervals(_member_state(member)) for member in self._members],
            "beyond": _member_state(self._beyond),
            "correction": self._correction.to_state(),
            "conformal": self._conformal.to_state(),
            "error": self.error_,
            "choice": {str(name): list(values) for name, values in choice.items()},
            "learning_curve": {str(k): list(v) for k, v in self.learning_curve_.to_dict(orient="list").items()},
        }

    def _set_state(self, state: Mapping[str, Any]) -> None:
        self._offset = None if self.offset is None else Expression(self.offset)
        self._prior = Prior.from_state(state["prior"]) if "prior" in state else None
        self.prior_ = dict(state.get("prior_told", {}))
        self._steady = SteadyRatio.from_state(state["steady"]) if "steady" in state else None
        self._coding = Coding.from_state(state["coding"])
        self._shares = np.asarray(state["shares"], dtype=np.float64)
        self._of_ratio = np.asarray(state.get("of_ratio", [False] * len(self._shares)), dtype=np.bool_)
        self._beyond_of_ratio = bool(state.get("beyond_of_ratio", False))
        fewer = state.get("learned_space")
        self.learned_space_ = self.space_ if fewer is None else Space.from_dict(fewer)
        space = {"space": self.learned_space_.to_dict()}
        self._members = [restored({**member, **space}) for member in state["members"]]
        self._beyond = restored({**state["beyond"], **space})
        self.beyond_ = MethodCandidate(self._beyond.method, ratio=self._beyond_of_ratio).name
        self._correction = Correction.from_state(state.get("correction"), self._coding)
        self._conformal = LocalConformal.from_state(state["conformal"])
        self.error_ = float(state["error"])
        self.choice_ = pd.DataFrame(state["choice"])
        self.learning_curve_ = pd.DataFrame(state["learning_curve"])


def _checked_prior(prior: Model | Prior | None, space: Space) -> Prior | None:
    """Return the prior by its name, if new runs with these parameters can be compared with it."""
    if prior is None:
        return None
    named = Prior.of(prior)
    named.check(space)
    return named


def _blended(
    predicted: Floats, logs: Floats, weights: Floats, folds: Ints, of_ratio: Flags
) -> tuple[Floats, Floats, tuple[float, float]]:
    """Blend left-out predictions (n, n_models); models of the ratio get weight only if they lower the error clearly.

    That is by more than the standard error of the difference, so that chance among few runs isn't taken for a gain
    [Breiman, Friedman, Olshen and Stone, Classification and Regression Trees, 1984, section 3.4.3].

    Returns
    -------
    shares : array (n_models,)
    honest : array (n,)
        Left-out predictions, each with weights that were learned without its fold.
    errors : float, float
        Errors of the blends with and without models of the ratio; the second is NaN if there is no other model.
    """
    shares, honest = blend_weights(predicted, logs, weights), cross_fitted(predicted, logs, weights, folds)
    off = np.abs(honest - logs)
    error = float(np.average(off, weights=weights))
    if not of_ratio.any() or of_ratio.all():
        return shares, honest, (error, float("nan"))
    rest = predicted[:, ~of_ratio]
    alone = cross_fitted(rest, logs, weights, folds)
    gains = np.abs(alone - logs) - off
    without = float(np.average(off + gains, weights=weights))
    if without - error > float(np.std(gains)) / np.sqrt(len(gains)):
        return shares, honest, (error, without)
    shares = np.zeros(len(of_ratio))
    shares[~of_ratio] = blend_weights(rest, logs, weights)
    return shares, alone, (error, without)


def _one_or_the_other(
    predicted: Floats, logs: Floats, weights: Floats, folds: Ints, of_ratio: Flags
) -> tuple[Floats, Floats, tuple[float, float]]:
    """Take models of the ratio alone, or the others alone; as `_blended`, for few runs, which don't tell shares.

    A ratio that hardly varies is one number, and the others were chosen to fit. So these are taken only if they are
    clearly less off; of two or three runs, each left-out run is predicted from too few to tell.
    """
    shares, honest, errors = np.zeros((2, len(of_ratio))), [np.zeros(0)] * 2, [float("nan")] * 2
    for kind, which in enumerate((of_ratio, ~of_ratio)):
        if which.any():
            some = predicted[:, which]
            shares[kind, which] = blend_weights(some, logs, weights)
            honest[kind] = cross_fitted(some, logs, weights, folds)
            errors[kind] = float(np.average(np.abs(honest[kind] - logs), weights=weights))
    others = len(logs) >= _TELLING and errors[1] < _CLEARLY * errors[0]
    better = 1 if others or not of_ratio.any() else 0
    return shares[better], honest[better], (errors[0], errors[1])


def _error_at_edge(model: Model) -> float:
    """Return the mean error of a model on runs at the edges of the range, left out; NaN if that isn't known."""
    choices = getattr(model, "choices_", None)
    if not isinstance(choices, pd.DataFrame) or "error" not in choices:
        return float("nan")
    return float(choices["error"].mean())


def _member_state(model: Model) -> dict[str, Any]:
    """Return the state of a member without its space, which the blend stores once for all members."""
    return {name: value for name, value in nested_state(model).items() if name != "space"}


def _without_intervals(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a member without what its own intervals need: those of the blend are learned for it."""
    kept = {name: value for name, value in state["state"].items() if name != "conformal"}
    return {**state, "state": kept} if issubclass(model_class(state["method"]), RegressionModel) else state


def state_bytes(state: Any) -> int:
    """Return the size of a model's state, in bytes of its numbers and strings."""
    if isinstance(state, np.ndarray):
        return int(state.nbytes)
    if isinstance(state, Mapping):
        return sum(state_bytes(value) for value in state.values())
    if isinstance(state, list | tuple):
        return sum(state_bytes(value) for value in state)
    return len(state) if isinstance(state, str) else 8


def _choice(entries: list[Entry], weights: Mapping[str, float]) -> pd.DataFrame:
    """Return the table of the methods tried, the largest weight first."""
    rows = [
        {
            "method": e.candidate.name,
            "error": e.error,
            "fit_seconds": e.fit_seconds,
            "bytes": 0 if e.model is None else state_bytes(e.model._get_state()),
            "weight": weights.get(e.candidate.name, 0.0),
            "note": e.note,
        }
        for e in entries
    ]
    columns = ["method", "error", "fit_seconds", "bytes", "weight", "note"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values(["weight", "error"], ascending=[False, True], ignore_index=True)
