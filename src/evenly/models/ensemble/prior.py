"""What is known from another machine, version or resolution: a fitted model whose predictions new runs are compared to.

The ratio of new times to those that it predicts varies less than the times, so a simpler model learns it from fewer
runs: a Gaussian process, whose prior covariance makes it a constant unless runs show otherwise, and a power law. Models
of the ratio and models of the times alone are compared on the same left-out runs, and blended
(`evenly.models.ensemble.automatic`). If the blend without the ratio predicts left-out runs as well, it is taken
[Kennedy and O'Hagan, Predicting the output from a complex computer code when fast approximations are available, 2000;
Pan and Yang, A survey on transfer learning, 2010, on transfer that hurts].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenly.errors import InputError
from evenly.models.array_types import Floats
from evenly.models.base import Model
from evenly.models.ensemble.steady_ratio import FEW, SteadyRatio
from evenly.models.model_state import nested_state, restored
from evenly.models.uncertainty.unseen_labels import bounds_over_labels, logs_over_labels
from evenly.space.parameters import Categorical, Parameter
from evenly.space.ranges import ends
from evenly.space.space import Space

__all__ = ["Prior", "is_like"]

#: Predicted logs are clipped to plus and minus this, so that times don't overflow.
_FINITE = 300.0
#: Few runs don't tell how a ratio changes: they are like others if it is nearly constant, up to this factor in all.
_STEADY = float(np.log(1.5))
#: Ratios of runs that are alike spread less than times by at least this factor.
_LESS = 0.8


def is_like(logs: Floats, expected: Floats) -> bool:
    """Return whether the ratios of times to expected ones vary less than the times, (n,) logs each.

    Few left-out runs tell by chance that an unlike model helps; whether it is like these runs at all, each run tells.
    Very few tell a factor, and no more.

    Examples
    --------
    >>> n = np.arange(1.0, 9)
    >>> is_like(np.log(n), np.log(2 * n)), is_like(np.log(n), -np.log(n))
    (True, False)
    """
    if len(logs) < FEW:
        return len(logs) == 0 or bool(np.ptp(logs - expected) <= _STEADY)
    ratio, time = (float(np.median(np.abs(one - np.median(one)))) for one in (logs - expected, logs))
    return ratio <= _LESS * time


@dataclass(frozen=True)
class Prior:
    """A fitted model of other runs.

    Attributes
    ----------
    model : Model
    name : str
        What messages call it, such as the name of its file.
    """

    model: Model
    name: str = "the prior"

    @classmethod
    def of(cls, given: Any) -> Prior:
        """Return a model as a `Prior`; a `Prior` as it is.

        Examples
        --------
        >>> Prior.of("old.evenly")
        Traceback (most recent call last):
        evenly.errors.InputError: prior must be a fitted model or runs, but got str: load the file, as in
        prior=evenly.load('old.evenly')
        """
        if isinstance(given, Prior):
            return given
        if not isinstance(given, Model):
            hint = f": load the file, as in prior=evenly.load({str(given)!r})" if isinstance(given, str | Path) else ""
            raise InputError(f"prior must be a fitted model or runs, but got {type(given).__name__}{hint}")
        return cls(given)

    def check(self, space: Space) -> None:
        """Refuse new runs with these parameters where it isn't certain what the model predicts of them.

        Raises
        ------
        InputError
            If the model isn't fitted, if new runs lack one of its parameters that varied, or if a parameter is a label
            in one of them only, or has different units.
        """
        if not hasattr(self.model, "space_"):
            raise InputError(f"{self.name} has not learned anything yet: fit it before learning from it")
        known = self.model.space_.parameters
        if needed := self.missing(space):
            name = needed[0]
            value = "…" if isinstance(known[name], Categorical) else f"{ends(known[name])[1]:g}"
            raise InputError(
                f"{self.name} learned how the time depends on {name!r}, which these runs lack: say what it was in all "
                f"of them, as --constant {name}={value}, or give the column this name if it has another one"
            )
        for name in sorted(set(known) & set(space.parameters)):
            old, new = known[name], space.parameters[name]
            if isinstance(old, Categorical) != isinstance(new, Categorical):
                kinds = ["labels" if isinstance(kind, Categorical) else "numbers" for kind in (old, new)]
                raise InputError(
                    f"values of {name!r} are {kinds[0]} in {self.name}, but {kinds[1]} here: learn both from tables in "
                    "which they are the same"
                )
            units = [getattr(kind, "unit", "") for kind in (old, new)]
            if all(units) and units[0] != units[1]:
                raise InputError(f"{name!r} is in {units[0]} in {self.name}, but in {units[1]} here: convert one")

    def missing(self, space: Space) -> list[str]:
        """Return the parameters of which the model must know a value, and which new runs don't have."""
        known = self.model.space_.parameters.items()
        return [name for name, kind in known if name not in space.parameters and self._varied(name, kind)]

    def check_response(self, name: str, unit: str) -> None:
        """Refuse new runs of another quantity, or in another unit."""
        its = self.model.response_
        if its["name"] != name or its["unit"] != unit:
            raise InputError(
                f"{self.name} predicts {its['name']} in {its['unit']}, but {name} in {unit} is to be learned: give a "
                f"model of {name}, or choose what is learned with --learn"
            )

    def told(self, found: Mapping[str, Any]) -> str:
        """Say in a sentence what weight the model has in a blend, given `Automatic.prior_`."""
        if not found["ratio"]:
            return f"{self.name} isn't used: times vary hardly less if they are divided by those that it predicts"
        low, high = (f"{end:.3g}" for end in found["ratio"])
        times = f"times are {low} … {high} × those that it predicts" if low != high else f"times are {low} × its own"
        without = f"{found['error_without']:.3g}" if np.isfinite(found["error_without"]) else "unknown"
        errors = f"{found['error']:.3g} with it, {without} without"
        if not found["weight"]:
            return f"{self.name} isn't used, since it doesn't help: error on left-out runs {errors}"
        if found["error"] != found["error"]:
            return f"{self.name} is used, though no run could be left out to tell how good it is: {times}"
        return f"{self.name} is used (weight {100 * found['weight']:.0f} %): {times}; error on left-out runs {errors}"

    def differences(self, space: Space, statistic: str) -> list[str]:
        """Say how new runs with these parameters differ from what the model knows, a sentence each."""
        known = self.model.space_.parameters
        said = []
        if (its := self.model.training_.get("statistic", statistic)) != statistic:
            said.append(f"It was learned from the {its} of repeated runs, and this from their {statistic}")
        if new := [name for name in space.names if name not in known]:
            said.append(f"{self.name} knows nothing of {', '.join(new)}: learned from these runs alone")
        for name, kind in space.parameters.items():
            if name not in known:
                continue
            if isinstance(kind, Categorical):
                if unknown := [x for x in kind.options if _same_label(x, self._options(name)) is None]:
                    listed = ", ".join(map(str, unknown[:3])) + (" and others" if len(unknown) > 3 else "")
                    said.append(f"{self.name} has no runs with {name} = {listed}: the mean of its labels stands for it")
                continue
            (low, high), (first, last) = ends(known[name]), ends(kind)
            if low < high and (first > high or last < low):
                said.append(f"{name} was {low:g} … {high:g} in {self.name}, and is {first:g} … {last:g} here: "
                            "check that the unit is the same")  # fmt: skip
        return said

    def logs(self, table: pd.DataFrame) -> Floats:
        """Return the predicted log times of configurations (n, d), (n,); of unknown labels, the mean over the known."""
        return logs_over_labels(self._predicted, self.model._labels(), self._as_known(table))

    def half_width(self, table: pd.DataFrame, level: float) -> Floats:
        """Return half the width of the model's intervals of log times, (n,)."""
        known, labels = self._as_known(table), self.model._labels()
        lower, upper = bounds_over_labels(
            self.model._predict, lambda one: self.model._interval(one, level), labels, known, level
        )
        return np.asarray(np.log(upper / lower) / 2)

    def steady_ratio(self, table: pd.DataFrame, ratios: Floats, space: Space) -> SteadyRatio:
        """Return how far the ratio may be off that few runs (n, d) have, given their log ratios (n,)."""
        known = self.model.space_.parameters
        kinds = {
            name: known[name] if name in known and self._varied(name, known[name]) else kind
            for name, kind in space.parameters.items()
        }
        return SteadyRatio.learn(table, ratios, kinds)

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        its = {"response": self.model.response_, "training": self.model.training_}
        return {"name": self.name, "model": {**nested_state(self.model), **its}}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Prior:
        """Restore what `to_state` returned."""
        return cls(restored(state["model"]), str(state["name"]))

    # ---- parts ----------------------------------------------------------------------------------------------

    def _varied(self, name: str, kind: Parameter) -> bool:
        if name in self.model.training_.get("without_effect", ()):
            return False
        if isinstance(kind, Categorical):
            return len(kind.options) > 1
        low, high = ends(kind)
        return low < high

    def _options(self, name: str) -> Sequence[Any]:
        kind = self.model.space_.parameters[name]
        return kind.options if isinstance(kind, Categorical) else ()

    def _predicted(self, known: pd.DataFrame) -> Floats:
        predicted = np.maximum(self.model._predict(known), self.model._floors(known))
        return np.clip(predicted, np.exp(-_FINITE), np.exp(_FINITE))

    def _as_known(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the configurations (n, d) as the model knows them: all its parameters, labels spelled alike."""
        known = pd.DataFrame(index=range(len(table)))
        for name, kind in self.model.space_.parameters.items():
            if name not in table:  # the only value that it had
                known[name] = kind.options[0] if isinstance(kind, Categorical) else ends(kind)[0]
            elif isinstance(kind, Categorical):
                alike = {x: _same_label(x, kind.options) for x in pd.unique(table[name])}
                spelled = [x if alike[x] is None else alike[x] for x in table[name]]
                known[name] = pd.Series(spelled, dtype=object)
            else:
                known[name] = table[name].to_numpy()
        return self.model.space_.frame(known)


def _same_label(label: Any, options: Sequence[Any]) -> Any:
    """Return the option that is a label, but for capitals; None if there is none, or several.

    Examples
    --------
    >>> _same_label("GCC", ["gcc", "icc"]), _same_label("nvhpc", ["gcc", "icc"])
    ('gcc', None)
    """
    if any(label == option and type(label) is type(option) for option in options):
        return label
    alike = [option for option in options if str(option).lower() == str(label).lower()]
    return alike[0] if len(alike) == 1 else None
