"""Factorised models: a run time is a sum of parts, and each part is a known factor times a learned coefficient.

The parts are, for example, computation and communication. For each part the user knows roughly how it scales, such as
points · steps / ranks or the surface of a chunk. This expression is the part's factor. The coefficient (the part
divided by its factor) varies much less than the time, so any method learns its logarithm from few runs. With neural
nets for two parts the model is T = W(p) · N / P + C(p) · S.

If the parts were measured, each coefficient has its own model. If only the total was measured, power laws for all
coefficients are fitted to the total together. One more model then learns the ratio of the measured total to theirs.

Source: A. Oskooi et al., "Factorized machine learning for performance modeling of massively parallel heterogeneous
physical simulations" (2020), equation (1) and section 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from evenly.errors import InputError
from evenly.models.array_types import Floats
from evenly.models.base import Effort, Model, check_effort
from evenly.models.inputs.coding import Coding
from evenly.models.model_state import nested_state, restored
from evenly.models.registry import model_class
from evenly.models.regression_model import canonical_order
from evenly.models.scaling_laws.coefficient_laws import CoefficientLaws
from evenly.models.uncertainty.local_conformal import LocalConformal
from evenly.space.expressions import Expression
from evenly.space.space import Configurations, Space

__all__ = ["Factorized"]

#: A measured part is at least this share of the total. The logarithm of a smaller part would be noise.
_LEAST = 1e-6


@final
@dataclass(kw_only=True, eq=False, repr=False)
class Factorized(Model):
    """A sum of parts, each a known factor times a learned coefficient.

    Parameters
    ----------
    factors : mapping of str to str
        For each part, an expression of the columns to which the part is roughly proportional: ``{"computation":
        "cells * steps / ranks", "communication": "surface"}``. By default there is one part of factor 1.
    inputs : mapping of str to sequence of str, optional
        Columns on which each part's coefficient depends; all columns by default.
    learner : str
        Method that learns the coefficients, such as ``"gp"`` or ``"neural-net"``.
    effort : {"quick", "normal", "thorough"}
        Effort of the learner.

    Examples
    --------
    >>> ranks, cells = np.meshgrid([1.0, 2, 4, 8, 16], [1e5, 1e6, 1e7])
    >>> table = pd.DataFrame({"cells": cells.ravel(), "ranks": ranks.ravel()})
    >>> computation = 3e-9 * table["cells"] / table["ranks"]
    >>> communication = 1e-9 * (table["cells"] / table["ranks"]) ** (2 / 3)
    >>> factors = {"computation": "cells / ranks", "communication": "(cells / ranks) ** (2 / 3)"}
    >>> model = Factorized(factors=factors, learner="log-quadratic")
    >>> parts = {"computation": computation, "communication": communication}
    >>> _ = model.fit(table, computation + communication, parts=parts)
    >>> found = model.predict_parts({"cells": [3e6], "ranks": [6]})
    >>> {name: float((values[0] * 1e6).round(2)) for name, values in found.items()}
    {'computation': 1500.0, 'communication': 6.3}
    """

    method: ClassVar[str] = "factorized"
    summary: ClassVar[str] = "sum of parts, each a known law times a learned coefficient"

    factors: Mapping[str, str] | None = None
    inputs: Mapping[str, Sequence[str]] | None = None
    learner: str = "gp"
    effort: Effort = "normal"

    def fit(
        self,
        X: Configurations,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        space: Space | None = None,
        censored: ArrayLike | None = None,
        parts: Mapping[str, ArrayLike] | None = None,
    ) -> Self:
        """Fit the model to measured totals and, if given, to the measured parts.

        Parameters
        ----------
        X, y, sample_weight, space, censored
            See `Model.fit`.
        parts : mapping of str to array_like (n_runs,), optional
            Measured values of each part, at least 0, in the unit of `y`. Either all parts are given or none.

        Raises
        ------
        InputError
            In the cases of `Model.fit`; if a factor can't be evaluated or is negative; if all factors of a run are
            zero; if some parts were measured and others weren't; if parts are given, and some totals are bounds.
        """
        if parts is not None and censored is not None and np.any(censored):
            raise InputError("parts of a run that was ended early aren't whole: leave such runs out, or the parts")
        self._given = None if parts is None else {name: np.asarray(v, dtype=np.float64) for name, v in parts.items()}
        try:
            return super().fit(X, y, sample_weight, space=space, censored=censored)
        finally:
            del self._given

    def predict_parts(self, X: Configurations) -> dict[str, Floats]:
        """Predict each part, (n,), in the unit of `predict`; the parts add up to the result of `predict`."""
        return self._parts(self._asked(X))

    # ---- the abstract methods of Model ----------------------------------------------------------------------

    def _learn(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        check_effort(self.effort)
        self._compile()
        for name, columns in self._columns.items():
            strange = [column for column in columns if column not in table.columns]
            if strange:
                raise InputError(
                    f"`inputs` of {name!r} must be columns of the runs ({', '.join(map(str, table.columns))}), but got "
                    f"{strange[0]!r}."
                )
        measured = self._measured(len(table))
        counted = weights > 0
        is_total = self._is_measured[counted]
        table, values, weights = table[counted].reset_index(drop=True), values[counted], weights[counted]
        factors = self._evaluated(table)
        self._coding = Coding.learn(table, self.space_)
        self._models: dict[str, Model] = {}
        self._laws: CoefficientLaws | None = None
        self._shared: Model | None = None
        if measured is None:
            left_out = self._learn_together(table, factors, values, weights)
        else:
            measured = {name: part[counted] for name, part in measured.items()}
            left_out = self._learn_apart(table, factors, values, weights, measured)
        # Conformal intervals of the total, from its leave-out residuals.
        inputs = self._coding.inputs(table)
        residuals = np.where(is_total, np.log(values) - np.log(left_out), np.nan)
        order = canonical_order(inputs, np.log(values))
        self._conformal = LocalConformal.learn(
            inputs.rows(order), residuals[order], freedom=max(is_total.sum() - float(len(factors)), 0.0)
        )
        self.left_out_predictions_ = np.full(len(counted), np.nan)
        self.left_out_predictions_[counted] = left_out

    def _predict(self, table: pd.DataFrame) -> Floats:
        return np.asarray(sum(self._parts(table).values()), dtype=np.float64)

    def _interval(self, table: pd.DataFrame, level: float) -> tuple[Floats, Floats]:
        half = self._conformal.half_width(self._coding.inputs(table), level)
        predicted = self._predict(table)
        return predicted * np.exp(-half), predicted * np.exp(half)

    def _get_state(self) -> dict[str, Any]:
        return {
            "coding": self._coding.to_state(),
            "conformal": self._conformal.to_state(),
            "models": {name: nested_state(model) for name, model in self._models.items()},
            "shared": None if self._shared is None else nested_state(self._shared),
            "laws": None if self._laws is None else self._laws.to_state(),
        }

    def _set_state(self, state: Mapping[str, Any]) -> None:
        self._compile()
        self._coding = Coding.from_state(state["coding"])
        self._conformal = LocalConformal.from_state(state["conformal"])
        self._models = {name: restored(one) for name, one in state["models"].items()}
        self._shared = None if state["shared"] is None else restored(state["shared"])
        self._laws = None if state["laws"] is None else CoefficientLaws.from_state(state["laws"])

    # ---- learning -------------------------------------------------------------------------------------------

    def _learn_apart(
        self, table: pd.DataFrame, factors: dict[str, Floats], values: Floats, weights: Floats,
        measured: dict[str, Floats],
    ) -> Floats:  # fmt: skip
        """Fit a model of each part's coefficient to the runs where its factor is above zero.

        Returns the leave-out predictions of the total, (n,).
        """
        total = np.zeros(len(table))
        for name, factor in factors.items():
            there = factor > 0
            if not there.any():
                continue
            # The target is the coefficient: measured part / factor, for the runs where the factor is above zero.
            seen = np.maximum(measured[name][there], _LEAST * values[there])
            inputs = table.loc[there, self._columns[name]].reset_index(drop=True)
            model = self._models[name] = self._learned(inputs, seen / factor[there], weights[there])
            total[there] += factor[there] * _left_out(model, table.loc[there, self._columns[name]])
        return np.maximum(total, 1e-300)

    def _learn_together(
        self, table: pd.DataFrame, factors: dict[str, Floats], values: Floats, weights: Floats
    ) -> Floats:
        """Learn all coefficients from the total alone; return the leave-out predictions of the total, (n,)."""
        z = self._coding.inputs(table).matrix
        # First fit power laws for all coefficients. Then one model learns the measured total over their total.
        laws = self._laws = CoefficientLaws.learn(z, factors, values, weights)
        whole = sum(laws.parts(z, factors).values())
        columns = [name for name in table.columns if any(name in some for some in self._columns.values())]
        shared = self._shared = self._learned(table[columns], values / whole, weights)
        return np.asarray(whole * _left_out(shared, table[columns]))

    def _learned(self, table: pd.DataFrame, values: Floats, weights: Floats) -> Model:
        """Return a model of the learner's method, fitted to the table's columns.

        It doesn't warn of extrapolation, because the `Factorized` model already does.
        """
        kind = model_class(self.learner)
        effort = {"effort": self.effort} if "effort" in kind.default_arguments() else {}
        space = Space.of({name: self.space_.parameters[name] for name in map(str, table.columns)})
        model = kind(**effort).fit(table, values, weights, space=space)
        model._warned = True
        return model

    def _compile(self) -> None:
        given = self.factors or {"total": "1"}
        self._factors = {name: Expression(str(text)) for name, text in given.items()}
        unknown = sorted(set(self.inputs or {}) - set(given))
        if unknown:
            raise InputError(f"`inputs` must name parts of `factors` ({', '.join(given)}), but got {unknown[0]!r}.")
        every = self.space_.names
        self._columns = {name: list((self.inputs or {}).get(name, every)) for name in given}

    def _measured(self, n: int) -> dict[str, Floats] | None:
        given = getattr(self, "_given", None)
        if not given:
            return None
        missing = sorted(set(self._factors) - set(given))
        strange = sorted(set(given) - set(self._factors))
        if missing or strange:
            what = f"{missing[0]!r} is missing" if missing else f"there is no factor for {strange[0]!r}"
            raise InputError(
                f"`parts` must be measured for all of {', '.join(self._factors)}, or for none, but {what}."
            )
        for name, part in given.items():
            if part.shape != (n,) or not np.all(np.isfinite(part) & (part >= 0)):
                raise InputError(f"the part {name!r} must be {n} finite numbers of at least 0, one per run.")
        return dict(given)

    # ---- predicting -----------------------------------------------------------------------------------------

    def _evaluated(self, table: pd.DataFrame) -> dict[str, Floats]:
        found = {}
        for name, expression in self._factors.items():
            factor = np.broadcast_to(np.asarray(expression(table), dtype=np.float64), (len(table),)).copy()
            bad = np.flatnonzero(~(np.isfinite(factor) & (factor >= 0)))
            if len(bad):
                raise InputError(
                    f"the factor of {name!r}, {expression.text}, must be a number of at least 0 in every run, but is "
                    f"{factor[bad[0]]} in row {bad[0]}."
                )
            found[name] = factor
        nothing = np.flatnonzero(sum(found.values()) == 0)
        if len(nothing):
            raise InputError(f"some factor must be above 0 in every run, but all are 0 in row {nothing[0]}.")
        return found

    def _parts(self, table: pd.DataFrame) -> dict[str, Floats]:
        factors = self._evaluated(table)
        if self._laws is not None:
            found = self._laws.parts(self._coding.inputs(table).matrix, factors)
            assert self._shared is not None  # noqa: S101 - learned together with the laws
            share = self._shared.predict(table[self._shared.space_.names])
            return {name: part * share for name, part in found.items()}
        found = {}
        for name, factor in factors.items():
            found[name] = np.zeros(len(table))
            there = factor > 0
            if there.any() and name in self._models:
                model = self._models[name]
                found[name][there] = factor[there] * model.predict(table.loc[there, model.space_.names])
        return found


def _left_out(model: Model, table: pd.DataFrame) -> Floats:
    """Return the leave-out prediction of each training run, or the ordinary prediction where there is none, (n,)."""
    known = model.left_out_predictions_
    predicted = model.predict(table)
    return predicted if known is None else np.where(np.isfinite(known), known, predicted)
