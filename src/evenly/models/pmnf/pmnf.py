"""The performance model normal form (PMNF): sums of products of powers and logarithms, found by exact search.

``f(p) = c_0 + Σ_k c_k · Π_l p_l^i_kl · log2(p_l)^j_kl``, equations 2.6 (one parameter, PMNF) and 2.12 (several,
EPMNF) of the thesis on core assignment for coupled simulations, after Calotoiu et al. The exponents come from finite
sets. Each combination of n terms is a candidate. Each candidate is fitted in closed form and ranked by its exact loss
on left-out runs, at millions of candidates a second (``benchmarks/pmnf_speed.py``).

**Model averaging.** With thousands of candidates and few runs, the candidate of the smallest loss often wins by chance.
So the model is a weighted average of the best candidates, a `PowerLaw` and a `LogQuadratic`. The weights are
``exp(-S / 2)`` with

    S = m · log(L) + 2 k + 2 k (k + 1) / (m - k - 1) + 2 log(N).

m is the number of runs and L the mean squared log error on left-out runs. k counts the coefficients, the noise, and a
quarter for exponents that were searched (AICc, Akaike's criterion for small samples). N is the number of searched
candidates with the same number of terms: each has 1/N of the prior weight of one power law. ``benchmarks/extrap.py``
compares the average with a tool that takes one candidate.

Times are averaged, not their logarithms. So the model is again a sum of terms, which can be read, differentiated and
bounded.

**Few runs of one parameter.** AICc allows no model with 4 runs, and no model of three coefficients with 5. So scaling
laws of fixed form take part too, if the parameter can be a core count (`evenly.models.scaling_laws.laws`). For these
laws and for the power law, ``S = m log(L) + 2 k``. Each kind of law has 1/64 of the power law's prior weight. With
equal weights, the laws, which bend only upwards, would bias predictions of curves that are power laws.
``benchmarks/interval_coverage.py`` measures predictions and intervals up to 8 times the largest of 4 to 10 core counts.

**Few runs of several parameters**, 64 at most: the same laws in a count of cores take part, and powers of the others
multiply all their terms or the scaling one only. Runs of two sizes on three counts tell Amdahl's law from a power law
then, which no search of exponents can. ``benchmarks/interval_coverage.py --sizes``
measures it.

**Intervals** account for model uncertainty; see `evenly.models.scaling_laws.credible_bounds`. Half of a member's weight
there is its credibility, the other half its weight in predictions: of 2,000 candidates, one may fit six noisy runs by
chance, and would make the interval narrower than the errors of what is predicted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, final, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.models.array_types import Floats, Ints
from evenly.models.base import Model
from evenly.models.inputs.coding import codes_of
from evenly.models.pmnf import model_averaging, search_space
from evenly.models.pmnf.model_averaging import Member
from evenly.models.pmnf.problem import Loss, Problem, SearchReport
from evenly.models.pmnf.refitting import refit
from evenly.models.scaling_laws.conditions import Conditions
from evenly.models.scaling_laws.credible_bounds import credible_bounds
from evenly.models.scaling_laws.dense_points import spread_points
from evenly.models.scaling_laws.formula import Piece
from evenly.models.scaling_laws.loglinear import Coordinates, LogLinear
from evenly.models.uncertainty.conformal import LogConformal
from evenly.models.uncertainty.noise_trend import NoiseLaw, raced_law
from evenly.space.parameters import Categorical
from evenly.space.ranges import ends
from evenly.space.space import Configurations
from evenly.threads import one_blas_thread

__all__ = ["PMNF"]

Slope = Literal["decreasing", "increasing"]

#: Quarter steps as in equation 2.7 of the thesis, and negative ones, which strong scaling needs.
_EXPONENTS = tuple(k / 4 for k in range(-8, 13))
_LOG_EXPONENTS = (0, 1, 2)
#: The default prediction range reaches from the smallest measured value divided by 2 to the largest times 4.
_BELOW, _ABOVE = 2.0, 4.0
#: Points of the prediction range at which a search checks its candidates.
_POINTS = 256
#: The search uses at most about this many runs: more of them hardly change the ranking of candidates.
_SEARCHED_RUNS = 2048
#: If the search used a sample of the runs, this many of its candidates are fitted to all runs.
_REFITTED = 48
#: The choice among models counts as this many coefficients in the degrees of freedom of the interval.
_CHOSEN = 0.5


@final
@dataclass(kw_only=True, eq=False, repr=False)
class PMNF(Model):
    """Weighted average of the best sums of products of powers and logarithms, a power law and a log-quadratic model.

    Parameters
    ----------
    terms : int
        Number of terms n besides the constant. With few runs it is reduced, so that at least two runs are left to
        judge candidates by; `search_` notes this.
    exponents, log_exponents : sequence of float
        The sets of exponents of parameters (I) and of their logarithms (J); fractions and negative numbers are allowed.
    search : {"auto", "full", "hierarchical", "golden-section"}
        ``"full"`` ranks every combination of terms. ``"hierarchical"`` first finds the best factors of each parameter,
        with the effects of the other parameters divided out by a power law. Then it combines these factors and common
        ones. ``"golden-section"`` finds the factors with fewer fits, by a golden-section search along their growth.
        ``"auto"`` is full if `effort` allows, otherwise hierarchical.
    residuals : {"relative", "absolute", "log"}
        Errors whose squares the fit minimises: relative errors (needed for strong scaling), errors in seconds, or
        errors of logarithms. With ``"log"`` the sum of terms models the logarithm of the response.
    ridge : float
        Penalty on the squared coefficients of terms scaled to unit length.
    validation : "loo" or int
        Leave-one-out, or the number of folds of k-fold cross-validation.
    loss : {"mlogq2", "mlogq", "smape", "se"}
        Loss on left-out runs by which candidates are ranked: mean squared or absolute log ratio, symmetric relative
        error (equation 2.8 of the thesis), or squared error (2.10); see `evenly.metrics`.
    average : bool
        Average near-ties. If not, predictions are those of the one candidate with the smallest loss, as in the thesis;
        intervals stay as wide.
    positive : bool
        Reject candidates that are not above zero on the prediction range. The search checks 256 points and the runs.
        The members of the average are checked again: by a proof with one parameter above zero, otherwise at 100,000
        points.
    monotone : {"decreasing", "increasing"} or dict of str to these, optional
        Reject candidates whose slope has the wrong sign on the prediction range, with the same checks. A dict names the
        parameters to which it applies. In the power law, an exponent of the wrong sign is replaced by 0.
    asked : dict of str to tuple of two floats, optional
        Prediction range of parameters. By default it reaches from half the smallest to four times the largest measured
        value for parameters above zero, and is the measured range for others.
    effort : {"quick", "normal", "thorough"}
        Largest full search that ``"auto"`` allows: 2 million candidates, 50 million (seconds), 1,000 million (minutes).
    progress : callable, optional
        Called during the search with the share that is done, 0 to 1.

    Attributes
    ----------
    formula_ : Formula or None
        The average as one sum of terms; None if it models the logarithm or if a member has no formula.
    leading_ : Formula or None
        The formula of the member with the largest weight, for people to read.
    members_ : list of Member
        The averaged models with their weights and their losses on left-out runs, the largest weight first.
    search_ : SearchReport
        Counts of searched and rejected candidates. Its ``notes`` say if `terms` was reduced and why, if the search used
        a sample of the runs, and if most of the weight is not on searched candidates.
    prediction_range_ : dict of str to tuple of two floats
        The prediction range, on which `positive` and `monotone` are enforced.

    Notes
    -----
    This class has more arguments than other models: each is a standard choice of the method that its users vary.

    Examples
    --------
    >>> cores = np.array([2, 4, 8, 16, 32, 64, 128, 256])
    >>> model = PMNF().fit({"cores": cores}, 120 / cores + 0.25 * np.log2(cores) + 1)
    >>> print(model.leading_)
    120 · cores^-1 + 0.25 · log2(cores) + 1
    >>> model.predict({"cores": [100]}).round(3)
    array([3.861])
    >>> print(model.search_)
    full search: 1,953 of 1,953 candidates (...); scaling-plus-log-plus-constant leads, ...
    """

    method: ClassVar[str] = "pmnf"
    summary: ClassVar[str] = "sums of p^i·log2(p)^j found by exact search, near-ties averaged; any number of parameters"

    is_law: ClassVar[bool] = True

    terms: int = 2
    exponents: Sequence[float] = _EXPONENTS
    log_exponents: Sequence[float] = _LOG_EXPONENTS
    search: Literal["auto", "full", "hierarchical", "golden-section"] = "auto"
    residuals: Literal["relative", "absolute", "log"] = "relative"
    ridge: float = 0.0
    validation: Literal["loo"] | int = "loo"
    loss: Loss = "mlogq2"
    average: bool = True
    positive: bool = True
    monotone: Slope | Mapping[str, Slope] | None = None
    asked: Mapping[str, tuple[float, float]] | None = None
    effort: Literal["quick", "normal", "thorough"] = "normal"
    progress: Callable[[float], None] | None = None

    # ---- learning -----------------------------------------------------------------------------------------------

    def _learn(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        self._check(table)
        # Hundreds of small matrices: the threads of BLAS would cost more than they bring.
        with one_blas_thread():
            self._learn_checked(table, values, weights)

    def _learn_checked(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        table = table[_varied(table)]  # a constant says nothing, and a single parameter is searched more closely
        used = weights > 0
        table, values, weights = table[used].reset_index(drop=True), values[used], weights[used]
        points, order, folds = self._in_order(table, values)
        table, points, weights = table.iloc[order].reset_index(drop=True), points[order], weights[order]
        # Scale values to geometric mean 1, so that the unit of time has no effect.
        unit = float(np.exp(np.log(values[order]).mean()))
        values = values[order] / unit
        self.prediction_range_ = self._prediction_range(table)
        problem = Problem(points, values, weights, self.residuals, self.loss, float(self.ridge), folds)
        factors, poles = search_space.usable_factors(points, self.exponents, self.log_exponents, self.prediction_range_)
        # Search for the sums of terms with the smallest loss on left-out runs.
        sample = problem.some(_SEARCHED_RUNS)
        n, notes = _affordable_terms(int(self.terms), len(np.unique(points, axis=0)), folds)
        conditions = self._conditions(sample.points)
        found, terms, self.search_ = search_space.find(
            sample, factors, poles, n, conditions,
            method=self.search, budget=search_space.BUDGETS[self.effort], progress=self.progress,
        )  # fmt: skip
        # Fit the rivals: power law, log-quadratic model and laws of fixed form.
        rivals = model_averaging.rivals(table, values, weights, conditions, self.search_)
        if sample is not problem:
            found = found[:_REFITTED]
            notes.append(f"searched on {len(sample.values):,} of {len(values):,} rows, fitted and weighed on all")
        # Average all by weights exp(-S / 2); counts[k] is N of the module's docstring for k terms.
        counts = [math.comb(terms.size, k) for k in range(n + 1)]
        members = [*rivals, *refit(problem, terms, found, list(self.prediction_range_))]
        self.members_ = model_averaging.weigh(
            problem, members, counts, conditions, self.search_, unit=unit, average=self.average
        )
        self.search_.notes += notes + model_averaging.who_leads(self.members_)
        # Conformal scores: leave-out residuals, divided by sqrt(1 + the leverage of the run on a power law).
        self._coordinates = Coordinates.from_table(table)
        design = np.column_stack([np.ones(len(table)), self._coordinates.columns(table)[0]])
        self._local = LogLinear.learn(design, np.log(values * unit), weights)
        effective = sum(member.weight * member.coefficients for member in self.members_) + _CHOSEN
        residuals = model_averaging.residuals(self.members_, values * unit)
        residuals[~self._is_measured[used][order]] = np.nan
        self._conformal, self._noise = raced_law(table, residuals, self._local.leverages, coefficients=effective)
        self.left_out_predictions_ = np.full(len(used), np.nan)
        self.left_out_predictions_[np.flatnonzero(used)[order]] = sum(m.weight * m.left_out for m in self.members_)
        self._finish()

    def _check(self, table: pd.DataFrame) -> None:
        for name in _varied(table):
            if not pd.api.types.is_numeric_dtype(table[name]) or pd.api.types.is_bool_dtype(table[name]):
                raise InputError(
                    f"pmnf models need numbers, but {name!r} holds labels such as {table[name].iloc[0]!r}: fit one "
                    "model per label, or use power-law or log-quadratic, which take labels"
                )
        _check_choice("search", self.search, ("auto", "full", "hierarchical", "golden-section"))
        _check_choice("effort", self.effort, tuple(search_space.BUDGETS))
        _check_choice("residuals", self.residuals, ("relative", "absolute", "log"))
        _check_choice("loss", self.loss, get_args(Loss))
        if self.terms < 1 or int(self.terms) != self.terms:
            raise InputError(f"terms must be a whole number, 1 or more, but got {self.terms!r}")
        if not (math.isfinite(self.ridge) and self.ridge >= 0):
            raise InputError(f"ridge must be a finite number, 0 or more, but got {self.ridge!r}")
        for name, numbers in (("exponents", self.exponents), ("log_exponents", self.log_exponents)):
            if not len(numbers) or not np.isfinite(np.asarray(numbers, dtype=np.float64)).all():
                raise InputError(f"{name} must be finite numbers, one or more, but got {numbers!r}")
        folds: Any = self.validation
        if folds != "loo" and not (isinstance(folds, int) and folds >= 2):
            raise InputError(f"validation must be 'loo' or a number of folds, 2 or more, but got {self.validation!r}")
        strange = sorted(set(self.asked or {}) - set(table.columns))
        if strange:
            raise InputError(f"asked names {strange[0]!r}, but the parameters are {', '.join(table.columns)}")

    def _in_order(self, table: pd.DataFrame, values: Floats) -> tuple[Floats, NDArray[Any], Ints | None]:
        """Return the points (n, d), an order of the runs (n,), and the folds (n,) of the ordered runs (None for "loo").

        The order doesn't depend on the order of the runs passed in.
        """
        points = table.to_numpy(dtype=np.float64)
        sorted_rows = np.lexsort((values, *points.T[::-1]))
        if self.validation == "loo" or int(self.validation) >= len(values):
            # Shuffled by a fixed seed, so that the first runs of the order are a sample of all.
            return points, sorted_rows[np.random.default_rng(0).permutation(len(values))], None
        # Every k-th of the sorted runs makes a fold, so that each fold spans the range.
        folds = np.arange(len(values)) % int(self.validation)
        by_fold = np.argsort(folds, kind="stable")
        return points, sorted_rows[by_fold], folds[by_fold].astype(np.int64)

    def _prediction_range(self, table: pd.DataFrame) -> dict[str, tuple[float, float]]:
        ranges = {}
        for name in table.columns:
            x = table[name].to_numpy(dtype=np.float64)
            low, high = float(x.min()), float(x.max())
            # Whole numbers are taken as counts, so the lower end is at least 1.
            if low > 0:
                whole = bool(np.all(x == np.round(x)))
                low, high = max(low / _BELOW, 1.0) if whole else low / _BELOW, high * _ABOVE
            if self.asked is not None and name in self.asked:
                low, high = (float(v) for v in self.asked[name])
                if not (math.isfinite(low) and math.isfinite(high) and low <= high):
                    raise InputError(
                        f"asked[{name!r}] must be two finite numbers, the lower first, but got {self.asked[name]!r}"
                    )
                low, high = min(low, float(x.min())), max(high, float(x.max()))
            ranges[str(name)] = (low, high)
        return ranges

    def _conditions(self, points: Floats) -> Conditions:
        names = list(self.prediction_range_)
        monotone = dict.fromkeys(names, self.monotone) if isinstance(self.monotone, str) else dict(self.monotone or {})
        for name, slope in monotone.items():
            _check_choice("the parameters of monotone", name, self.space_.names)
            _check_choice("monotone", slope, ("decreasing", "increasing"))
        monotone = {name: slope for name, slope in monotone.items() if name in names}
        # The search checks conditions at a low-discrepancy set of points and at the runs; see `Conditions`.
        signs = {names.index(name): 1.0 if slope == "increasing" else -1.0 for name, slope in monotone.items()}
        bounds = tuple(self.prediction_range_.values())
        grid = spread_points(bounds, _POINTS)
        positive = bool(self.positive) and self.residuals != "log"
        return Conditions(np.concatenate([grid, points]), signs, positive, bounds)

    # ---- predicting ---------------------------------------------------------------------------------------------

    def _finish(self) -> None:
        self.formula_ = model_averaging.average_formula(self.members_)
        self.leading_ = self.members_[0].formula if self.residuals != "log" else None

    def _predict(self, table: pd.DataFrame) -> Floats:
        return self._each(self._learned(table))[0]

    def _each(self, table: pd.DataFrame) -> tuple[Floats, Floats]:
        """Return the average (n,) and the logarithms of its members (n_members, n) for the columns that varied."""
        low, high = np.array([ends(self.space_.parameters[str(name)]) for name in table.columns]).T
        return model_averaging.predict(self.members_, table, np.clip(table.to_numpy(dtype=np.float64), low, high))

    def _learned(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the columns that varied; refuse labels of others that weren't measured."""
        for name, kind in self.space_.parameters.items():
            if isinstance(kind, Categorical):
                codes_of(table[name], kind.options)
        return table[list(self.prediction_range_)]

    def _scales(self, table: pd.DataFrame) -> Floats:
        """Return what half-widths are multiplied by where noise isn't even, (n,)."""
        return np.ones(len(table)) if self._noise is None else self._noise.scales(table)

    def _interval(self, table: pd.DataFrame, level: float) -> tuple[Floats, Floats]:
        table = self._learned(table)
        centre, logs = self._each(table)
        leverages = np.array([member.leverage(table) for member in self.members_])
        widths = self._conformal.half_width(level) * np.sqrt(1.0 + leverages) * self._scales(table)
        shares = np.array([member.credibility for member in self.members_])
        return credible_bounds(centre, logs, widths, shares, level)

    def growth(self, start: Configurations, end: Configurations, level: float = 0.9) -> tuple[Floats, Floats]:
        """Return bounds of the factor by which the time grows from configurations `start` to `end`, each (n,).

        The bounds enclose the factors of all credible laws, each with its own uncertainty; noise of single runs is
        left out.
        """
        first, last = (self._learned(self.space_.frame(one)) for one in (start, end))
        (before, logs_before), (after, logs_after) = map(self._each, (first, last))
        # The standard deviation of a difference is at most the sum of both.
        leverages = [np.sqrt(member.leverage(first)) + np.sqrt(member.leverage(last)) for member in self.members_]
        scales = np.maximum(self._scales(first), self._scales(last))
        widths = self._conformal.half_width(level) * np.array(leverages) * scales
        shares = np.array([member.credibility for member in self.members_])
        return credible_bounds(after / before, logs_after - logs_before, widths, shares, level)

    def monotone_pieces(self, low: int, high: int) -> list[Piece]:
        """Split the whole numbers from `low` to `high` into ranges on which predictions are certainly monotone.

        Raises
        ------
        InputError
            If the model has several parameters or no formula; see `Formula.monotone_pieces`.
        """
        if self.formula_ is None:
            raise InputError(
                "this model has no formula to bound: it models the logarithm, or a value is not above zero"
            )
        return self.formula_.monotone_pieces(low, high)

    # ---- storing ------------------------------------------------------------------------------------------------

    def _get_state(self) -> dict[str, Any]:
        return {
            "members": [member.to_state() for member in self.members_],
            "asked": {name: list(bounds) for name, bounds in self.prediction_range_.items()},
            "search": vars(self.search_),
            "residuals": self.residuals,
            "coordinates": self._coordinates.to_state(),
            "local": self._local.to_state(),
            "conformal": self._conformal.to_state(),
            "noise": None if self._noise is None else self._noise.to_state(),
        }

    def _set_state(self, state: Mapping[str, Any]) -> None:
        self.members_ = [Member.from_state(member) for member in state["members"]]
        self.prediction_range_ = {name: (float(low), float(high)) for name, (low, high) in state["asked"].items()}
        self.search_ = SearchReport(**state["search"])
        self.residuals = state["residuals"]
        self._coordinates = Coordinates.from_state(state["coordinates"])
        self._local = LogLinear.from_state(state["local"])
        self._conformal = LogConformal.from_state(state["conformal"])
        # Files of earlier versions hold no law of the noise.
        self._noise = NoiseLaw.from_state(state["noise"]) if state.get("noise") else None
        self._finish()


def _varied(table: pd.DataFrame) -> list[str]:
    """Return the columns with several values; the first if there is none."""
    return [str(name) for name in table.columns if table[name].nunique() > 1] or [str(table.columns[0])]


def _check_choice(name: str, got: Any, allowed: Sequence[str]) -> None:
    if got not in allowed:
        raise InputError(f"{name} must be one of {', '.join(map(repr, allowed))}, but got {got!r}")


def _affordable_terms(wanted: int, distinct: int, folds: Ints | None) -> tuple[int, list[str]]:
    """Return the number of terms that the runs support, at most `wanted`, and notes that explain a smaller number.

    In each fit without a run or fold, there must be two different configurations more than coefficients.
    """
    left_out = 1 if folds is None else int(np.bincount(folds).max())
    n = max(0, min(wanted, distinct - left_out - 3))
    if n == wanted:
        return n, []
    runs = "1 configuration is" if distinct == 1 else f"{distinct} different configurations are"
    return n, [f"sums of {n or 'no'} terms, not {wanted}: {runs} too few for more ({wanted + left_out + 3} needed)"]
