"""What a model is: from configurations to seconds, with an interval.

Every model is a scikit-learn estimator. It learns from a table of configurations and positive measured values, predicts
values, gives intervals, knows the range it was learned on, and can be stored without pickle.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from evenly.errors import ExtrapolationWarning, InputError
from evenly.space.configurations import as_table
from evenly.space.ranges import outside
from evenly.space.space import Configurations, Space

__all__ = ["EFFORTS", "Effort", "Model", "check_effort", "checked_runs", "digest"]

Floats = NDArray[np.float64]
#: How hard a method tries.
Effort = Literal["quick", "normal", "thorough"]
#: From the least to the most.
EFFORTS: tuple[str, ...] = get_args(Effort)


class Estimator:
    """What scikit-learn expects of a regressor: parameters by name, a score, tags.

    It stands for ``sklearn.base.BaseEstimator`` and ``RegressorMixin``, whose import takes longer than a prediction.
    Arguments of ``__init__`` are the parameters; each is kept in an attribute of its name.
    """

    #: For scikit-learn before 1.6, which asks no tags.
    _estimator_type = "regressor"

    if TYPE_CHECKING:  # what a fit leaves differs from method to method

        def __getattr__(self, name: str) -> Any: ...

    @classmethod
    def default_arguments(cls) -> dict[str, Any]:
        """Return the arguments of ``__init__`` by name, in alphabetical order, with their defaults."""
        if cls.__init__ is object.__init__:
            return {}
        arguments = list(inspect.signature(cls.__init__).parameters.values())[1:]
        return {argument.name: argument.default for argument in sorted(arguments, key=lambda one: one.name)}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments of ``__init__`` by name; `deep` has nothing to add, since none is an estimator."""
        del deep
        return {name: getattr(self, name) for name in self.default_arguments()}

    def set_params(self, **params: Any) -> Self:
        """Replace arguments of ``__init__``; those left out stay as they are.

        Raises
        ------
        InputError
            If there is no argument of that name.
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
        told = [f"{name}={value!r}" for name, value in self.get_params().items() if repr(value) != repr(defaults[name])]
        return f"{type(self).__name__}({', '.join(told)})"


@functools.cache
def _not_fitted() -> type[InputError]:
    """Return an error that is scikit-learn's and evenly's word for a model that has learned nothing yet."""
    from sklearn.exceptions import NotFittedError

    return type("NotFittedError", (NotFittedError, InputError), {})


class Model(Estimator, ABC):
    """Learns how long configurations take.

    Subclasses are final, take keyword-only arguments, set `method`, and fill in the five hooks below. Arguments to
    ``__init__`` are stored as they are and checked in `_learn`.

    Laws, checked for every model by ``tests/models/contract.py``:

    * predictions are finite and above zero wherever the configuration lies inside the learned range;
    * ``lower <= prediction <= upper``, and intervals of a higher level contain those of a lower one;
    * if all learned values are multiplied by c, so are predictions and intervals;
    * the order of the rows does not matter; the tables given are not changed;
    * a saved and loaded model gives the same predictions and intervals.

    Attributes
    ----------
    space_ : Space
        The parameters, with the range learned on as bounds.
    feature_names_in_ : array of str (n_parameters,)
        Names of the parameters.
    n_features_in_ : int
        Number of parameters.
    n_runs_ : int
        Number of rows learned from.
    response_ : dict
        Name and unit of what is predicted, ``{"name": "seconds", "unit": "s"}`` unless fitted to something else.
    training_ : dict
        What it was learned from, in a few numbers; filled in by `evenly.fit`.
    left_out_ : array (n_runs,) or None
        What each row learned from was predicted to take by a fit without it (or without its fold), NaN where the
        others tell nothing; None where the method doesn't know. Methods set it in `_learn`.
    learned_ : str
        Digest of the values learned from, row by row: tells whether `left_out_` is about given runs.
    """

    #: Name by which ``evenly.fit(runs, method=…)`` and stored files call it.
    method: ClassVar[str]
    #: One line for lists of methods.
    summary: ClassVar[str]

    # ---- the public face, final -----------------------------------------------------------------------------

    def fit(
        self,
        X: Configurations,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        space: Space | None = None,
    ) -> Self:
        """Learn from measurements.

        Parameters
        ----------
        X : DataFrame, dict of columns, list of dicts or array (n_runs, n_parameters)
            Configurations.
        y : array_like (n_runs,)
            Measured values, above zero: seconds, unless something else is learned.
        sample_weight : array_like (n_runs,), optional
            How much each row counts, relative to the others.
        space : Space, optional
            Kinds, scales and units of the parameters; by default they are told from the values
            (`evenly.Space.from_data`). The bounds are always those of `X`.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a value is not a positive finite number (the row is named), or the table is unfit for the method.
        """
        table = as_table(X)
        values, weights = checked_runs(y, sample_weight, len(table))
        self.space_ = Space.from_data(table, like=space)
        self.feature_names_in_ = np.array(self.space_.names, dtype=object)
        self.n_features_in_ = len(self.space_)
        self.n_runs_ = len(table)
        self.response_ = {"name": "seconds", "unit": "s"}
        self.training_: dict[str, Any] = {}
        self._warned = False
        self.left_out_: Floats | None = None
        self.learned_ = digest(values)
        self._learn(self.space_.frame(table), values, weights)
        return self

    def predict(self, X: Configurations) -> Floats:
        """Predict.

        Parameters
        ----------
        X : DataFrame, dict of columns or array (n, n_parameters)
            Configurations; more columns than the parameters are ignored.

        Returns
        -------
        array (n,)
            Seconds (or the unit in `response_`). Warns once per fitted model when asked outside the learned range.
        """
        return self._predict(self._asked(X))

    def interval(self, X: Configurations, level: float = 0.9) -> tuple[Floats, Floats]:
        """Return bounds between which a new measurement falls with probability `level`.

        What is meant is a measurement like those learned from: where medians of repetitions were, a median of as many.

        Returns
        -------
        lower, upper : array (n,)
            In the unit of `predict`.
        """
        if not 0 < level < 1:
            raise InputError(f"level must lie between 0 and 1, but got {level}")
        return self._interval(self._asked(X), level)

    # ---- what a method fills in -----------------------------------------------------------------------------

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
        """Return all that was learned: numbers, strings, lists, dicts, and numeric arrays as values."""

    @abstractmethod
    def _set_state(self, state: Mapping[str, Any]) -> None:
        """Restore what `_get_state` returned."""

    # ---- shared ---------------------------------------------------------------------------------------------

    def _asked(self, X: Configurations) -> pd.DataFrame:
        if not hasattr(self, "space_"):
            raise _not_fitted()(f"this {type(self).__name__} has not learned anything yet: call fit first")
        table = self.space_.frame(X)
        beyond = {} if self._warned else outside(self.space_.parameters, table)
        if beyond:
            self._warned = True
            reasons = []
            for name, rows in beyond.items():
                asked = table.loc[rows, name]
                several = pd.api.types.is_numeric_dtype(asked.dtype) and asked.nunique() > 1
                shown = f"{asked.min()} … {asked.max()}" if several else f"{asked.iloc[0]}"
                reasons.append(f"{name} = {shown}, learned on {self.space_.parameters[name].describe()}")
            warnings.warn(
                f"asked outside the range learned on ({'; '.join(reasons)}): predictions there are extrapolations",
                ExtrapolationWarning,
                stacklevel=3,
            )
        return table


def check_effort(effort: str) -> None:
    """Raise `InputError` unless it is an effort.

    Examples
    --------
    >>> check_effort("much")
    Traceback (most recent call last):
    evenly.errors.InputError: effort must be one of quick, normal, thorough, but got 'much'
    """
    if effort not in EFFORTS:
        raise InputError(f"effort must be one of {', '.join(EFFORTS)}, but got {effort!r}")


def digest(values: ArrayLike) -> str:
    """Return a few letters that stand for values and their order, to 9 significant digits.

    Examples
    --------
    >>> digest([1.0, 2.0]) == digest([1.0, 2.0 + 1e-14]), digest([1.0, 2.0]) == digest([2.0, 1.0])
    (True, False)
    """
    text = ",".join(f"{value:.8e}" for value in np.asarray(values, dtype=np.float64).ravel())
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def checked_runs(y: ArrayLike, sample_weight: ArrayLike | None, n: int) -> tuple[Floats, Floats]:
    """Return measured values and weights of mean 1 of n configurations, each (n,); say what is wrong with them."""
    try:
        values = np.array(y, dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        raise InputError(f"measured values must be numbers: {error}") from None
    if len(values) != n:
        raise InputError(f"there must be one value per configuration ({n}), but got {len(values)}")
    if not n:
        raise InputError("there are no runs to learn from")
    bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if len(bad):
        raise InputError(f"measured values must be finite and above zero, but row {bad[0]} holds {values[bad[0]]}")
    if sample_weight is None:
        return values, np.ones(n)
    try:
        weights = np.array(sample_weight, dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        raise InputError(f"sample_weight must be numbers: {error}") from None
    if len(weights) != n or not np.all(np.isfinite(weights) & (weights >= 0)) or not weights.sum() > 0:
        raise InputError(f"sample_weight must hold {n} finite numbers, none negative and not all zero")
    return values, np.asarray(weights * (n / weights.sum()))
