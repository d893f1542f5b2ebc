"""What a Gaussian process of run times may vary in: trend, wide and local variation, noise.

Standardised logarithms of times are a sum of

* a trend: constant, linear and quadratic in the inputs, and an effect of each label, with Gaussian coefficients;
* wide variation: Matérn 5/2 or 3/2 of the distance ``|(x - x') D (I + S)|``, D the inverse length-scales and S
  symmetric with zero diagonal, so that products and ratios of parameters (total size, ranks × threads) are directions
  like any other;
* local variation: Matérn with length-scales of its own, shorter by prior, for switches of algorithm and block sizes;
* noise.

Labels that differ add ``1/ℓ²`` of their parameter to the squared distance (Hamming distance); for wide variation each
label also has a place on an axis of its parameter, so that labels that behave alike may lie close. All hyper-parameters
have Gaussian priors, logarithms where they are positive; a part that the runs don't ask for is small or long.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenly.models.gaussian_process.kernels import MATERN_32, MATERN_52
from evenly.models.inputs.coding import Inputs

__all__ = ["Component", "Shape", "Trend"]

Floats = NDArray[np.float64]
_CONSTANT_VARIANCE = 25.0
#: Places of labels to start from, relative to their mean values; and runs of mean 0 added to each label's.
_FIRST_PLACES, _ADDED = 0.3, 4.0
#: Name of a group of hyper-parameters: (prior mean, prior standard deviation).
_PRIORS = {
    "noise": (np.log(1e-3), 3.0),
    "linear": (-1.0, 1.5),
    "quadratic": (-3.0, 1.5),
    "effect": (-1.0, 1.5),
    "wide.variance": (-1.0, 1.5),
    "wide.length": (np.log(1.5), 1.0),
    "wide.label": (np.log(2.0), 1.0),
    "wide.shear": (0.0, 0.5),
    "wide.place": (0.0, 0.5),
    "local.variance": (-4.0, 1.5),
    "local.length": (np.log(0.3), 1.0),
    "local.label": (np.log(2.0), 1.0),
}
_KINDS = {2.5: MATERN_52, 1.5: MATERN_32}


@dataclass(frozen=True)
class Shape:
    """How many hyper-parameters of each kind there are, and their priors.

    Attributes
    ----------
    numbers : int
        Numeric parameters.
    sizes : tuple of int
        Labels of each categorical parameter.
    placed : int
        How many of these, the first ones, have places for labels.
    smoothness : {2.5, 1.5}
        Of the Matérn covariances.
    parts : tuple of str
        Of "wide", "local".
    """

    numbers: int
    sizes: tuple[int, ...]
    placed: int = 0
    smoothness: float = 2.5
    parts: tuple[str, ...] = ("wide", "local")

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Where each group lies in the vector of hyper-parameters."""
        d, labels = self.numbers, len(self.sizes)
        counts = {"noise": 1, "linear": 1, "quadratic": 1, "effect": labels}
        for part in self.parts:
            counts |= {f"{part}.variance": 1, f"{part}.length": d, f"{part}.label": labels}
        if "wide" in self.parts:
            counts |= {"wide.shear": d * (d - 1) // 2, "wide.place": sum(self.sizes[: self.placed])}
        ends = np.cumsum(list(counts.values()))
        return {name: slice(int(end) - k, int(end)) for (name, k), end in zip(counts.items(), ends, strict=True)}

    def __len__(self) -> int:
        return int(max(where.stop for where in self.slices.values()))

    @cached_property
    def means(self) -> Floats:
        """Means of the priors."""
        return self._filled(0)

    @cached_property
    def spreads(self) -> Floats:
        """Standard deviations of the priors."""
        return self._filled(1)

    def _filled(self, which: int) -> Floats:
        made = np.zeros(len(self))
        for name, where in self.slices.items():
            made[where] = _PRIORS[name][which]
        return made

    def starts(self, inputs: Inputs, values: Floats) -> list[Floats]:
        """Where to look for the best hyper-parameters from: the priors' means, and a process of shorter scales.

        Labels start at places by their mean value, since from one place for all nothing tells where to go.
        """
        usual = self.means.copy()
        if "wide.place" in self.slices:
            usual[self.slices["wide.place"]] = (
                _FIRST_PLACES * _label_means(inputs, values)[: sum(self.sizes[: self.placed])]
            )
        short = usual.copy()
        if "wide.length" in self.slices:
            short[self.slices["wide.length"]] -= 0.7
        short[self.slices["quadratic"]] -= 1.0
        return [usual, short]

    def noise(self, theta: Floats) -> float:
        """Variance of a run of weight 1."""
        return float(np.exp(theta[0]))

    def components(self, theta: Floats) -> list[Component]:
        """Parts of the covariance that depend on distance."""
        return [Component.of(self, part, theta) for part in self.parts]

    def trend(self, theta: Floats) -> Trend:
        """Return the part of the covariance that is a regression."""
        linear, quadratic = (float(theta[self.slices[name]][0]) for name in ("linear", "quadratic"))
        return Trend(linear, quadratic, theta[self.slices["effect"]])


@dataclass(frozen=True)
class Component:
    """A Matérn covariance of sheared, scaled numbers and of labels.

    Attributes
    ----------
    variance : float
    map : array (d, d)
        Numbers times this are coordinates: ``D (I + S)``.
    inverse : array (d,)
        Inverse length-scales, the diagonal of D.
    steps : array (n_categorical,)
        What two labels add to the squared distance.
    label_places : list of arrays
        Coordinates of the labels of the first parameters.
    """

    variance: float
    map: Floats
    inverse: Floats
    steps: Floats
    label_places: list[Floats]
    kind: tuple[float, float]

    @classmethod
    def of(cls, shape: Shape, part: str, theta: Floats) -> Component:
        """Read one from hyper-parameters."""
        inverse = np.exp(-theta[shape.slices[f"{part}.length"]])
        mixing = np.eye(shape.numbers)
        places: list[Floats] = []
        if part == "wide":
            upper = np.triu_indices(shape.numbers, 1)
            mixing[upper] = theta[shape.slices["wide.shear"]]
            mixing.T[upper] = mixing[upper]
            places = np.split(theta[shape.slices["wide.place"]], np.cumsum(shape.sizes[: shape.placed]))[:-1]
        steps = np.exp(-2 * theta[shape.slices[f"{part}.label"]])
        variance = float(np.exp(theta[shape.slices[f"{part}.variance"]][0]))
        return cls(variance, inverse[:, None] * mixing, inverse, steps, places, _KINDS[shape.smoothness])

    def places(self, inputs: Inputs) -> Floats:
        """Coordinates of numbers, then of labels, (n, d + placed): all of the distance but what labels add."""
        columns = [places[inputs.labels[:, [k]]] for k, places in enumerate(self.label_places)]
        return np.hstack([inputs.numbers @ self.map, *columns])

    def coordinates(self, inputs: Inputs) -> Floats:
        """Points whose Euclidean distance is the component's, (n, d + placed + sum of sizes)."""
        widths = np.repeat(np.sqrt(self.steps / 2), inputs.sizes)
        return np.hstack([self.places(inputs), inputs.one_hot * widths])

    def add_gradient(
        self, shape: Shape, part: str, inputs: Inputs, coordinates: Floats, pull: Floats, gradient: Floats
    ) -> None:
        """Add the derivatives by the hyper-parameters, given those by the coordinates, `pull` (n, …)."""
        d, marks = shape.numbers, shape.numbers + len(self.label_places)
        by_map = inputs.numbers.T @ pull[:, :d]
        gradient[shape.slices[f"{part}.length"]] -= np.sum(by_map * self.map, axis=1)
        if part == "wide":
            by_mixing = self.inverse[:, None] * by_map
            gradient[shape.slices["wide.shear"]] += (by_mixing + by_mixing.T)[np.triu_indices(d, 1)]
            by_place = [np.bincount(inputs.labels[:, k], pull[:, d + k], shape.sizes[k]) for k in range(marks - d)]
            gradient[shape.slices["wide.place"]] += np.concatenate([np.zeros(0), *by_place])
        if shape.sizes:
            by_column = np.sum(pull[:, marks:] * coordinates[:, marks:], axis=0)
            starts = np.cumsum((0, *shape.sizes[:-1]))
            gradient[shape.slices[f"{part}.label"]] -= np.add.reduceat(by_column, starts)


def _label_means(inputs: Inputs, values: Floats) -> Floats:
    """Mean value of each label, drawn to 0 where there are few runs, (sum of sizes,)."""
    hot = inputs.one_hot
    return np.asarray(hot.T @ (values - values.mean()) / (hot.sum(axis=0) + _ADDED))


@dataclass(frozen=True)
class Trend:
    """Regression terms with Gaussian coefficients of mean zero; logarithms of their variances."""

    linear: float
    quadratic: float
    effects: Floats

    def features(self, inputs: Inputs) -> Floats:
        """Terms times the standard deviation of their coefficient, (n, 1 + d + d (d + 1) / 2 + sum of sizes)."""
        x = inputs.numbers
        left, right = np.triu_indices(x.shape[1])
        return np.hstack([
            np.full((len(x), 1), np.sqrt(_CONSTANT_VARIANCE)),
            x * np.exp(self.linear / 2),
            x[:, left] * x[:, right] * np.exp(self.quadratic / 2),
            inputs.one_hot * np.repeat(np.exp(self.effects / 2), inputs.sizes),
        ])  # fmt: skip

    @staticmethod
    def add_gradient(shape: Shape, by_feature: Floats, gradient: Floats) -> None:
        """Add the derivatives by logarithms of variances, given those by the logarithm of each term's own."""
        d = shape.numbers
        ends = np.cumsum((1, d, d * (d + 1) // 2))
        gradient[shape.slices["linear"]] += by_feature[1 : ends[1]].sum()
        gradient[shape.slices["quadratic"]] += by_feature[ends[1] : ends[2]].sum()
        if shape.sizes:
            gradient[shape.slices["effect"]] += np.add.reduceat(
                by_feature[ends[2] :], np.cumsum((0, *shape.sizes[:-1]))
            )
