"""The base class of all models: a model predicts the run time of configurations, with prediction intervals.

Every model is a scikit-learn estimator. It is fitted to a table of configurations and their measured values, all above
zero. It predicts values and prediction intervals, remembers the range of its training data, and is stored without
pickle.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from decimal import Decimal
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evenly.arguments import explained
from evenly.errors import EvenlyWarning, ExtrapolationWarning, InputError
from evenly.models.array_types import Flags, Floats
from evenly.models.arrays import as_features, one_column
from evenly.models.uncertainty.between_levels import spread_between
from evenly.models.uncertainty.corners import GROWTH, reach_into
from evenly.models.uncertainty.floors import floors_at
from evenly.models.uncertainty.unseen_labels import bounds_over_labels, check_unseen, logs_over_labels, unseen_rows
from evenly.runs.node_filling import beyond_filling
from evenly.runs.outcomes import Outcomes
from evenly.runs.weak_scaling import distance_from_bands, distance_from_line
from evenly.showing import Shown
from evenly.space.configurations import as_table
from evenly.space.parameters import Categorical
from evenly.space.ranges import ends, learned_on, outside
from evenly.space.space import Configurations, Space

__all__ = ["EFFORTS", "Effort", "Model", "Unseen", "check_effort", "checked_runs", "digest"]

#: How much computing time a method may spend on its search or training.
Effort = Literal["quick", "normal", "thorough"]
#: All efforts, from the least to the most.
EFFORTS: tuple[str, ...] = get_args(Effort)
#: What is done about labels that no run has; see `Model.unseen`.
Unseen = Literal["ask", "mean", "refuse"]

#: A formula of a larger weight stands for the whole model.
_ALONE = 0.995
#: Larger numbers, and those below its inverse, are mistakes; a model's formulas would overflow.
_LARGEST = 1e60


class Estimator:
    """The interface that scikit-learn expects of a regressor: parameters by name, a score, tags.

    It replaces ``sklearn.base.BaseEstimator`` and ``RegressorMixin``, because importing those takes longer than a
    prediction. The arguments of ``__init__`` are the estimator's parameters. Each is stored in an attribute of the same
    name.
    """

    #: Read by scikit-learn before 1.6, which doesn't call `__sklearn_tags__`.
    _estimator_type = "regressor"

    if TYPE_CHECKING:  # the attributes that a fit sets differ from method to method

        def __getattr__(self, name: str) -> Any: ...

    @classmethod
    def default_arguments(cls) -> dict[str, Any]:
        """Return the arguments of ``__init__`` by name, in alphabetical order, with their defaults."""
        if cls.__init__ is object.__init__:
            return {}
        arguments = list(inspect.signature(cls.__init__).parameters.values())[1:]
        return {argument.name: argument.default for argument in sorted(arguments, key=lambda one: one.name)}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments of ``__init__`` by name; `deep` changes nothing, since no argument is an estimator."""
        del deep
        return {name: getattr(self, name) for name in self.default_arguments()}

    def set_params(self, **params: Any) -> Self:
        """Replace some arguments of ``__init__``; arguments that aren't given keep their values.

        Raises
        ------
        InputError
            If ``__init__`` has no argument of that name.
        """
        for name, value in params.items():
            if name not in self.default_arguments():
                known = ", ".join(self.default_arguments()) or "none"
                raise InputError(f"the arguments of {type(self).__name__} are {known}, but got {name!r}")
            setattr(self, name, value)
        return self

    def score(self, X: Configurations, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the coefficient of determination R² of the predictions, as scikit-learn's regressors do."""
        from sklearn.metrics import r2_score

        return float(r2_score(y, self.predict(X), sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags

        return Tags(
            estimator_type="regressor",
            target_tags=TargetTags(required=True, positive_only=True),
            regressor_tags=RegressorTags(),
            input_tags=InputTags(),
        )

    def __repr__(self) -> str:
        defaults = self.default_arguments()
        changed = [
            f"{name}={value!r}" for name, value in self.get_params().items() if repr(value) != repr(defaults[name])
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


@functools.cache
def _not_fitted() -> type[InputError]:
    """Return the error class for models that aren't fitted yet: a subclass of scikit-learn's and of evenly's error."""
    from sklearn.exceptions import NotFittedError

    return type("NotFittedError", (NotFittedError, InputError), {})


class Model(Shown, Estimator, ABC):
    """Base class of all models: learns from measured runs how long configurations take.

    A subclass is final, takes keyword-only arguments, sets `method`, and implements the five abstract methods below.
    Arguments of ``__init__`` are stored unchanged and checked in `_learn`.

    Every model has these properties; ``tests/models/contract.py`` checks them:

    * Predictions are finite and above zero for all configurations inside the range of the training data.
    * ``lower <= prediction <= upper``, and an interval of a higher level contains the interval of a lower level.
    * If all training values are multiplied by c, predictions and intervals are multiplied by c.
    * The order of the rows does not matter. Tables passed in are not changed.
    * A model that was saved and loaded gives the same predictions and intervals.

    Attributes
    ----------
    space_ : Space
        The parameters; their bounds are the range of the training data.
    feature_names_in_ : array of str (n_parameters,)
        Names of the parameters.
    n_features_in_ : int
        Number of parameters.
    n_runs_ : int
        Number of training rows.
    response_ : dict
        Name and unit of the predicted quantity, ``{"name": "seconds", "unit": "s"}`` unless fitted to another one.
    training_ : dict
        Summary of the training data in a few numbers; filled in by `evenly.fit`. ``"statistic"`` aggregated repeated
        runs. ``"of_steps"`` is what the model tells of single steps: the mean, where it learned from whole runs.
    left_out_predictions_ : array (n_runs,) or None
        Leave-one-out or k-fold prediction of each training row, by a fit without the row or without its fold. NaN where
        the other rows don't determine the prediction, and for bounds. None where the method computes no such
        predictions. Methods set it in `_learn`.
    training_digest_ : str
        Digest of the training values in the order of the rows, NaN for bounds. It tells whether
        `left_out_predictions_` belongs to given runs.
    """

    #: Name of the method in ``evenly.fit(runs, method=…)`` and in stored files.
    method: ClassVar[str]
    #: One line for lists of methods.
    summary: ClassVar[str]
    #: Whether it has few coefficients and continues beyond the runs; bounds are then used differently.
    is_law: ClassVar[bool] = False
    #: Arguments of the copies that are fitted on the way to working values of bounds (`evenly.models.censoring`).
    rough: ClassVar[Mapping[str, Any]] = {"effort": "quick", "progress": None}

    #: While the model learns: whether each row was measured, (n_runs,). Errors and intervals are learned from these
    #: rows; the values of the others are bounds, replaced by working values.
    _is_measured: Flags
    left_out_predictions_: Floats | None

    # ---- the public interface, final ------------------------------------------------------------------------

    def __str__(self) -> str:
        """Return what was learned, in a line: the method, the response, the parameters' ranges, the leading formula."""
        if not hasattr(self, "space_"):
            return f"{self!r}, not fitted"
        ranges = ", ".join(
            f"{name} ({kind.describe()})"
            if isinstance(kind, Categorical)
            else f"{name} {' … '.join(f'{end:g}' for end in ends(kind))}"
            for name, kind in self.space_.parameters.items()
        )
        formula = getattr(self, "leading_", None) or getattr(self, "formula_", None)
        share = self.members_[0].weight if formula is not None and getattr(self, "members_", None) else 1.0
        blended = f" ({100 * share:.0f} % of the weights of a blend)" if share < _ALONE else ""
        law = f": {formula}{blended}" if formula is not None else ""
        return f"{self.method}: {self.response_['name']} of {ranges}, from {self.n_runs_} rows{law}"

    @explained
    def fit(
        self,
        X: Configurations,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        space: Space | None = None,
        censored: ArrayLike | None = None,
    ) -> Self:
        """Fit the model to measured values of configurations.

        Parameters
        ----------
        X : DataFrame, dict of columns, list of dicts or array (n_runs, n_parameters)
            Configurations.
        y : array_like (n_runs,)
            Measured values, above zero: seconds, unless another quantity is learned.
        sample_weight : array_like (n_runs,), optional
            Weight of each row, relative to the others.
        space : Space, optional
            Kinds, scales and units of the parameters. By default they are derived from the values
            (`evenly.Space.from_data`). The bounds are always those of `X`.
        censored : array_like of bool (n_runs,), optional
            Whether a row's value is a lower bound: the run was ended then, and would have taken longer. Bounds are
            used as `evenly.models.censoring` says. By default, all values are measured.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a value is not a finite number above zero (the message names the row), if all values are bounds, or if
            the method can't handle the table.
        """
        table = as_table(as_features(X))
        values, weights = checked_runs(y, sample_weight, len(table))
        _check_sizes(table)
        measured = ~checked_flags(censored, len(table))
        if not weights[measured].any():
            raise InputError("all values are lower bounds of runs that were ended early: at least one must be measured")
        space = Space.from_data(table, like=space)
        if measured.all():
            return self._fit_rows(space, table, values, weights)
        from evenly.models.censoring import working_values

        working, informing, odd = working_values(self, space, table, values, weights, measured)
        # Where only bounds lie that say nothing, nothing is known: predictions there are extrapolations.
        kept = measured | (informing > 0)
        known = table[kept].reset_index(drop=True)
        self._fit_rows(Space.from_data(known, like=space), known, working[kept], informing[kept], measured[kept])
        if (left_out := self.left_out_predictions_) is not None:
            self.left_out_predictions_ = np.full(len(table), np.nan)
            self.left_out_predictions_[kept] = left_out
        self.training_digest_ = digest(np.where(measured, values, np.nan))
        if odd:
            self.training_["hung"] = [odd]
            warnings.warn(odd, EvenlyWarning, stacklevel=3)
        return self

    @explained
    def predict(self, X: Configurations) -> Floats:
        """Predict the value of each configuration.

        Warns once per fitted model if a configuration lies outside the range of the training data.

        Parameters
        ----------
        X : DataFrame, dict of columns or array (n, n_parameters)
            Configurations; columns that are no parameters are ignored.

        Returns
        -------
        array (n,)
            Predicted values in seconds (or in the unit in `response_`).

        Raises
        ------
        InputError
            If a value isn't finite, is too large or small to compute with, or is not above zero where all measured
            runs were.
        """
        table = self._asked(X)
        return np.maximum(self._times(table), self._floors(table))

    def _floors(self, table: pd.DataFrame) -> Floats:
        """Return what runs of these configurations took at least, (n,): all were stopped then."""
        return floors_at(getattr(self, "training_", {}).get("floors", {}), table)

    def _into_corners(self, table: pd.DataFrame) -> Floats:
        """Return how far configurations are where every run was stopped at its limit, (n,), in half-ranges."""
        return reach_into(getattr(self, "training_", {}).get("corners", {}), self.space_, table)

    @explained
    def interval(self, X: Configurations, level: float = 0.9) -> tuple[Floats, Floats]:
        """Return a prediction interval: a new measurement lies between the bounds with probability `level`.

        The new measurement must be of the same kind as the training values. If these are medians of repeated runs, it
        is a median of as many runs.

        Returns
        -------
        lower, upper : array (n,)
            In the unit of `predict`.
        """
        if not 0 < level < 1:
            raise InputError(f"level must lie between 0 and 1, but got {level}")
        table = self._asked(X)
        lower, upper = self._bounds(table, level)
        # Parameters that only changed together: the time may follow either, so it is known to this factor only.
        away = np.exp(self._off_the_line(table))
        lower, upper = lower / away, upper * away
        training, predicted = getattr(self, "training_", {}), self._times(table)
        between = spread_between(training.get("between", {}), self.space_, table)
        if (more := np.hypot(between, self._noise_beyond_usual(table))).any():
            far = NormalDist().inv_cdf((1 + level) / 2) * more
            lower = predicted * np.exp(-np.hypot(np.log(predicted / lower), far))
            upper = predicted * np.exp(np.hypot(np.log(upper / predicted), far))
        if (far := self._into_corners(table)).any():
            grown = 1 + GROWTH * far
            lower, upper = predicted * (lower / predicted) ** grown, predicted * (upper / predicted) ** grown
        if (floors := self._floors(table)).any():
            raised = np.maximum(1.0, floors / predicted)
            lower, upper = np.maximum(lower * raised, floors), upper * raised
        # Measured values are rounded: no new one is known better than to half a unit in their last place.
        if half := training.get("rounding", 0.0) / 2:
            predicted = np.maximum(predicted, floors)
            lower = np.minimum(lower, predicted / (1 + half / predicted))
            upper = np.maximum(upper, predicted + half)
        return lower, upper

    @explained
    def upper(self, X: Configurations, probability: float = 0.95) -> Floats:
        """Return what a single new run stays below with a probability, shape (n,): a time limit to ask for.

        `interval` holds for values like those learned from, such as medians of repeated runs. Single runs scatter more
        widely, so this limit is learned from the runs themselves (`evenly.models.uncertainty.single_runs`).

        Parameters
        ----------
        X : DataFrame, dict of columns or array (n, n_parameters)
            Configurations.
        probability : float
            Above 0.5 and below 1.

        Returns
        -------
        array (n,)
            In the unit of `predict`. Infinite where so many runs were stopped at their limit that it isn't known.
        """
        if not 0.5 < probability < 1:
            raise InputError(f"probability must lie between 0.5 and 1, but got {probability}")
        table = self._asked(X)
        above = self.interval(table, 2 * probability - 1)[1]
        if "single_runs" not in self.training_:
            return above
        from evenly.models.uncertainty.single_runs import SingleRuns

        single = SingleRuns.from_state(self.training_["single_runs"])
        return single.upper(table, self._times(table), above, probability)

    @property
    def unseen(self) -> Unseen:
        """What is done if a configuration has a label that no run has, such as a new case or machine.

        * ``"ask"``: the mean over the known labels stands for it, with an interval as wide as labels differ, and a
          warning (`evenly.models.uncertainty.unseen_labels`). A label that is written nearly like a known one is
          refused, since it may be a slip.
        * ``"mean"``: the same, but no label is taken for a slip.
        * ``"refuse"``: it is refused.

        Where fewer than three labels are known, it is always refused. The choice is stored with the model.

        Examples
        --------
        >>> import evenly
        >>> table = {"case": list("abc") * 2, "cores": [1, 1, 1, 8, 8, 8]}
        >>> model = evenly.models.LogQuadratic().fit(table, [8.0, 16, 32, 1, 2, 4])
        >>> model.unseen = "refuse"
        >>> model.predict({"case": "new", "cores": 1})
        Traceback (most recent call last):
        evenly.errors.InputError: 'case' must be one of a, b, c, which were measured, but got 'new'
        """
        return cast("Unseen", getattr(self, "training_", {}).get("unseen", "ask"))

    @unseen.setter
    def unseen(self, what: Unseen) -> None:
        if what not in get_args(Unseen):
            raise InputError(f"unseen must be one of {', '.join(get_args(Unseen))}, but got {what!r}")
        self.training_["unseen"] = what

    # ---- abstract methods of each model ---------------------------------------------------------------------

    @abstractmethod
    def _learn(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        """Fit to checked data: `table` (n, d) in the order of `space_`, `values` (n,) > 0, `weights` (n,), mean 1."""

    @abstractmethod
    def _predict(self, table: pd.DataFrame) -> Floats:
        """Predict for a checked table (n, d)."""

    @abstractmethod
    def _interval(self, table: pd.DataFrame, level: float) -> tuple[Floats, Floats]:
        """Return lower and upper bounds, each (n,), for a checked table (n, d)."""

    @abstractmethod
    def _get_state(self) -> dict[str, Any]:
        """Return the fitted state as a dict of numbers, strings, lists, dicts and numeric arrays."""

    @abstractmethod
    def _set_state(self, state: Mapping[str, Any]) -> None:
        """Restore the state from the result of `_get_state`."""

    # ---- shared ---------------------------------------------------------------------------------------------

    def _labels(self) -> dict[str, Sequence[Any]]:
        """Return the labels of each parameter that are known, but for parameters without effect."""
        idle = getattr(self, "training_", {}).get("without_effect", ())
        kinds = self.space_.parameters.items()
        return {name: kind.options for name, kind in kinds if isinstance(kind, Categorical) and name not in idle}

    def _unseen_labels(self, table: pd.DataFrame) -> dict[str, list[Any]]:
        """Return the labels of each parameter that no run has; refuse those for which nothing shall stand."""
        labels = self._labels()
        found = {name: pd.unique(table[name][rows]).tolist() for name, rows in unseen_rows(labels, table).items()}
        failed = Outcomes.from_state(getattr(self, "training_", {}).get("outcomes", {})) if found else Outcomes()
        for name, new in found.items():
            for label in new:
                check_unseen(name, label, labels[name], self.unseen, failed.labels(name))
        return found

    def _times(self, table: pd.DataFrame) -> Floats:
        """Predict for a checked table (n, d), which may have unseen labels."""
        if not unseen_rows(labels := self._labels(), table):
            return self._predict(table)
        return np.exp(logs_over_labels(self._predict, labels, table))

    def _bounds(self, table: pd.DataFrame, level: float) -> tuple[Floats, Floats]:
        """Return lower and upper bounds, each (n,), for a checked table (n, d), which may have unseen labels."""
        if not unseen_rows(labels := self._labels(), table):
            return self._interval(table, level)
        return bounds_over_labels(self._predict, lambda known: self._interval(known, level), labels, table, level)

    def _fit_rows(
        self, space: Space, table: pd.DataFrame, values: Floats, weights: Floats, measured: Flags | None = None
    ) -> Self:
        """Fit to checked values (n,); those of rows that weren't `measured` (n,) are working values of bounds."""
        self.space_ = space
        self.feature_names_in_ = np.array(space.names, dtype=object)
        self.n_features_in_ = len(space)
        self.n_runs_ = len(table)
        self.response_ = {"name": "seconds", "unit": "s"}
        self.training_: dict[str, Any] = {"rounding": last_place(values[weights > 0])}
        self._warned = False
        self.left_out_predictions_ = None
        self._is_measured = np.ones(len(table), dtype=np.bool_) if measured is None else measured
        self.training_digest_ = digest(np.where(self._is_measured, values, np.nan))
        try:
            self._learn(space.frame(table), values, weights)
            if self.left_out_predictions_ is not None:
                self.left_out_predictions_[~self._is_measured] = np.nan
        finally:
            del self._is_measured
        return self

    def extrapolates(self, X: Configurations) -> Flags:
        """Tell which configurations lie outside what was measured, shape (n,).

        Outside the range of a parameter, or, for a model that `evenly.fit` learned from runs with labels, outside the
        range in which the runs with this label lie: eight cores of a serial variant, say. Where a size grew with
        the ranks in all runs (weak scaling), other sizes for these ranks lie outside, too; with
        several such series, sizes far from all. So do nodes that are
        emptier, or fuller, than those of any run, and configurations of which every run was stopped at its limit.

        Examples
        --------
        >>> import evenly
        >>> table = pd.DataFrame({"mode": ["serial", "mpi", "mpi"], "cores": [1, 1, 8], "seconds": [9.0, 8.0, 2.0]})
        >>> runs = evenly.Runs.from_frame(table, ["mode", "cores"])
        >>> model = evenly.fit(runs, method="nearest")
        >>> model.extrapolates({"mode": ["serial", "mpi"], "cores": [8, 4]})
        array([ True, False])
        """
        table = self.space_.frame(X)
        beyond = np.zeros(len(table), dtype=np.bool_)
        for mask in outside(self.space_.parameters, table).values():
            beyond |= np.asarray(mask)
        for name, ranges in self.training_.get("label_ranges", {}).items():
            for label, bounds in ranges.items():
                of_label = table[name].astype(str) == label
                for number, (low, high) in bounds.items():
                    beyond |= np.asarray(of_label & ((table[number] < low) | (table[number] > high)))
        beyond |= beyond_filling(self.training_.get("filling", {}), table) | (self._floors(table) > 0)
        beyond |= self._into_corners(table) > 0
        return beyond | (self._off_the_line(table) > 0)

    def stand_ins(self, X: Configurations) -> list[str]:
        """Say what stands for labels that no run has, in a sentence for each parameter; see `unseen`.

        Examples
        --------
        >>> import evenly
        >>> table = {"case": list("abc") * 2, "cores": [1, 1, 1, 8, 8, 8]}
        >>> model = evenly.models.LogQuadratic().fit(table, [8.0, 16, 32, 1, 2, 4])
        >>> print(*model.stand_ins({"case": ["a", "new"], "cores": 1}))
        no run has case = new: the mean over the 3 labels stands for it, and the interval is as wide as they differ
        """
        labels, said = self._labels(), []
        for name, new in self._unseen_labels(self.space_.frame(X)).items():
            listed = ", ".join(map(str, new[:3])) + (f" and {len(new) - 3} more" if len(new) > 3 else "")
            it, interval = ("it", "interval is") if len(new) == 1 else ("them", "intervals are")
            said.append(
                f"no run has {name} = {listed}: the mean over the {len(labels[name])} labels stands for {it}, and the "
                f"{interval} as wide as they differ"
            )
        return said

    def _doubt(self, table: pd.DataFrame) -> str:
        """Return why predictions outside the range (n, d) are hardly known, and which run would tell, or nothing."""
        del table
        return ""

    def _noise_beyond_usual(self, table: pd.DataFrame) -> Floats:
        """Return the standard deviation (n,), in logs, that few repeated runs show beyond the usual one."""
        if "repeated_noise" not in getattr(self, "training_", {}):
            return np.zeros(len(table))
        from evenly.models.uncertainty.repeated_noise import RepeatedNoise

        return RepeatedNoise.from_state(self.training_["repeated_noise"]).more(table)

    def _off_the_line(self, table: pd.DataFrame) -> Floats:
        """Return the logarithms (n,) of how far configurations are from the line, or band, on which all runs lie."""
        training = getattr(self, "training_", {})
        off = distance_from_line(training.get("weak_scaling", {}), table)
        return off + distance_from_bands(training.get("bands", {}), table)

    def _asked(self, X: Configurations) -> pd.DataFrame:
        if not hasattr(self, "space_"):
            raise _not_fitted()(f"this {type(self).__name__} has not learned anything yet: call fit first")
        table = self.space_.frame(as_features(X, self))
        _check_sizes(table)
        for name, parameter in self.space_.parameters.items():
            if getattr(parameter, "low", 0) > 0 and not table[name].min() > 0:
                raise InputError(
                    f"{name!r} was above zero in all measured runs and must stay so, but got {table[name].min()}"
                )
        new = self._unseen_labels(table)
        beyond = {} if self._warned else outside(self.space_.parameters, table)
        if beyond:
            self._warned = True
            reasons = []
            for name, rows in beyond.items():
                asked = table.loc[rows, name]
                several = pd.api.types.is_numeric_dtype(asked.dtype) and asked.nunique() > 1
                shown = f"{asked.min()} … {asked.max()}" if several else f"{asked.iloc[0]}"
                reasons.append(f"{name} = {shown}, {learned_on(self.space_.parameters[name])}")
            far = [rows for name, rows in beyond.items() if name not in new]  # laws tell nothing of unseen labels
            known = ~np.any([beyond[name] for name in new], axis=0) if new else np.ones(len(table), dtype=np.bool_)
            there = table[np.any(far, axis=0) & known] if far else table[:0]
            doubt = self._doubt(there) if len(there) else ""
            warnings.warn(
                f"asked outside the range learned on ({'; '.join(reasons)}): predictions there are extrapolations"
                + (f". {doubt}" if doubt else ""),
                ExtrapolationWarning,
                stacklevel=4,
            )
        return table


def _check_sizes(columns: Mapping[str, Any] | pd.DataFrame) -> None:
    """Refuse numbers whose powers or products floating-point numbers can't hold."""
    for name, column in columns.items():
        if not pd.api.types.is_numeric_dtype(getattr(column, "dtype", object)):
            continue
        sizes = np.abs(np.asarray(column, dtype=np.float64))
        bad = np.flatnonzero((sizes > _LARGEST) | ((sizes < 1 / _LARGEST) & (sizes > 0)))
        if len(bad):
            raise InputError(
                f"{name!r} is {np.asarray(column)[bad[0]]:g} in configuration {bad[0]}, but numbers must be 0 or "
                f"between {1 / _LARGEST:g} and {_LARGEST:g} in size, to compute with: correct it, or use another unit"
            )


def check_effort(effort: str) -> None:
    """Raise `InputError` unless `effort` is one of `EFFORTS`.

    Examples
    --------
    >>> check_effort("much")
    Traceback (most recent call last):
    evenly.errors.InputError: effort must be one of quick, normal, thorough, but got 'much'
    """
    if effort not in EFFORTS:
        raise InputError(f"effort must be one of {', '.join(EFFORTS)}, but got {effort!r}")


def digest(values: ArrayLike) -> str:
    """Return a hash of values (16 hexadecimal digits) that depends on their order and on 9 significant digits of each.

    Examples
    --------
    >>> digest([1.0, 2.0]) == digest([1.0, 2.0 + 1e-14]), digest([1.0, 2.0]) == digest([2.0, 1.0])
    (True, False)
    """
    text = ",".join(f"{value:.8e}" for value in np.asarray(values, dtype=np.float64).ravel())
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def last_place(values: Floats) -> float:
    """Return the unit of the last decimal place in which any of the values is given, at most 0.1.

    Examples
    --------
    >>> last_place(np.array([80.0, 2.25])), last_place(np.array([80.0, 40.0]))
    (0.01, 0.1)
    """
    # A hundred values show the last place that all of them have.
    some = values[:: max(len(values) // 100, 1)]
    return float(10.0 ** min(-1, *(int(Decimal(repr(float(value))).as_tuple().exponent) for value in some)))


def checked_flags(censored: ArrayLike | None, n: int) -> Flags:
    """Check which of n values are bounds; return truth values (n,).

    Examples
    --------
    >>> checked_flags([False, True], 2)
    array([False,  True])
    """
    if censored is None:
        return np.zeros(n, dtype=np.bool_)
    flags: Flags = np.asarray(censored)
    if flags.shape != (n,) or flags.dtype != np.bool_:
        raise InputError(
            f"censored must hold {n} truth values, one per run, but got shape {flags.shape} of {flags.dtype}"
        )
    return flags


def checked_runs(y: ArrayLike, sample_weight: ArrayLike | None, n: int) -> tuple[Floats, Floats]:
    """Check the measured values and weights of n runs; return values (n,) and weights (n,), scaled to mean 1."""
    try:
        values = np.array(one_column(y), dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        raise InputError(f"measured values must be numbers: {error}") from None
    if len(values) != n:
        raise InputError(f"there must be one value per configuration ({n}), but got {len(values)}")
    if not n:
        raise InputError("there are no runs to learn from")
    bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if len(bad):
        raise InputError(f"measured values must be finite and above zero, but row {bad[0]} holds {values[bad[0]]}")
    bad = np.flatnonzero((values < 1 / _LARGEST) | (values > _LARGEST))
    if len(bad):
        raise InputError(
            f"measured values must lie between {1 / _LARGEST:g} and {_LARGEST:g}, but row {bad[0]} holds "
            f"{values[bad[0]]:g}: use another unit, or correct it"
        )
    if sample_weight is None:
        return values, np.ones(n)
    try:
        weights = np.array(sample_weight, dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        raise InputError(f"sample_weight must be numbers: {error}") from None
    if len(weights) != n or not np.all(weights >= 0) or not 0 < weights.sum() < np.inf:
        raise InputError(f"sample_weight must hold {n} finite numbers, none negative and not all zero")
    return values, np.asarray(weights * (n / weights.sum()))
