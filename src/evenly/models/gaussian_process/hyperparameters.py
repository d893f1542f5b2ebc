"""Covariance of the Gaussian process as a function of its hyper-parameters: trend, wide and local variation, noise.

Standardised log times are modelled as a sum of

* a trend: constant, linear and quadratic in the inputs, and an effect of each label, with Gaussian coefficients;
* wide variation: a Matérn covariance of smoothness 5/2 or 3/2 with the distance ``|(x - x') D (I + S)|``. D holds the
  inverse length-scales. S is symmetric with zero diagonal, so that products and ratios of parameters (total size,
  ranks × threads) can have their own length-scales;
* local variation: a Matérn covariance with other length-scales, which are shorter by their prior, for switches of
  algorithm and block sizes;
* noise.

If two configurations have different labels of a parameter, ``1/ℓ²`` of this parameter is added to their squared
distance (Hamming distance). For wide variation, each label also has a learned coordinate on an axis of its parameter,
so that similar labels may lie close together.

All hyper-parameters (their logarithms, if they must be positive) have Gaussian priors. Where the runs give no evidence
of a part, the priors keep its variance small or its length-scales long.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from evenly.models.array_types import Floats, Ints
from evenly.models.gaussian_process.kernels import MATERN_32, MATERN_52
from evenly.models.inputs.coding import Inputs

__all__ = ["Component", "RegressionPart", "Shape"]

_CONSTANT_VARIANCE = 25.0
#: First coordinates of labels, relative to their mean values; number of pseudo-runs of value 0 added to each label.
_FIRST_PLACES, _ADDED = 0.3, 4.0
#: Prior of each group of hyper-parameters: (mean, standard deviation).
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


@lru_cache(maxsize=64)
def _pairs(size: int, beyond: int) -> tuple[Ints, Ints]:
    """Return the indices of the upper triangle of a matrix, which are needed at each of thousands of steps."""
    return np.triu_indices(size, beyond)


@dataclass(frozen=True)
class Shape:
    """The layout of the vector of hyper-parameters, and their priors.

    Attributes
    ----------
    numbers : int
        Number of numeric parameters.
    sizes : tuple of int
        Number of labels of each categorical parameter.
    placed : int
        Number of categorical parameters, the first ones, whose labels have learned coordinates.
    smoothness : {2.5, 1.5}
        Smoothness of the Matérn covariances.
    parts : tuple of str
        Which of "wide" and "local" there are.
    known_noise : (float, float), optional
        Mean and standard deviation of the prior of the log variance of the noise, if repetitions tell it.
    """

    numbers: int
    sizes: tuple[int, ...]
    placed: int = 0
    smoothness: float = 2.5
    parts: tuple[str, ...] = ("wide", "local")
    known_noise: tuple[float, float] | None = None

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Slice of each group in the vector of hyper-parameters."""
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
        """Means of the priors, (len(self),)."""
        return np.concatenate([np.full(s.stop - s.start, self._prior(name)[0]) for name, s in self.slices.items()])

    @cached_property
    def spreads(self) -> Floats:
        """Standard deviations of the priors, (len(self),)."""
        return np.concatenate([np.full(s.stop - s.start, self._prior(name)[1]) for name, s in self.slices.items()])

    def _prior(self, name: str) -> tuple[float, float]:
        known = self.known_noise if name == "noise" else None
        return _PRIORS[name] if known is None else known

    def starts(self, inputs: Inputs, values: Floats) -> list[Floats]:
        """Return two starts for the search of hyper-parameters: the priors' means, and shorter length-scales.

        The coordinate of each label starts at a multiple of its mean value. If all labels started at the same place,
        the gradients by their coordinates would be zero.
        """
        usual = self.means.copy()
        if "wide.place" in self.slices:
            # Mean value of each label, shrunk to 0 where it has few runs.
            hot = inputs.one_hot
            means = hot.T @ (values - values.mean()) / (hot.sum(axis=0) + _ADDED)
            usual[self.slices["wide.place"]] = _FIRST_PLACES * means[: sum(self.sizes[: self.placed])]
        short = usual.copy()
        if "wide.length" in self.slices:
            short[self.slices["wide.length"]] -= 0.7
        short[self.slices["quadratic"]] -= 1.0
        return [usual, short]

    def noise(self, theta: Floats) -> float:
        """Return the noise variance of a run of weight 1."""
        return float(np.exp(theta[0]))

    def components(self, theta: Floats) -> list[Component]:
        """Return the parts of the covariance that depend on distances, for hyper-parameters theta (len(self),)."""
        found = []
        for part in self.parts:
            # The map D (I + S). S is symmetric, so only its upper triangle is stored.
            inverse = np.exp(-theta[self.slices[f"{part}.length"]])
            mixing = np.eye(self.numbers)
            places: list[Floats] = []
            if part == "wide":
                upper = _pairs(self.numbers, 1)
                mixing[upper] = theta[self.slices["wide.shear"]]
                mixing.T[upper] = mixing[upper]
                places = np.split(theta[self.slices["wide.place"]], np.cumsum(self.sizes[: self.placed]))[:-1]
            steps = np.exp(-2 * theta[self.slices[f"{part}.label"]])
            variance = float(np.exp(theta[self.slices[f"{part}.variance"]][0]))
            found.append(
                Component(variance, inverse[:, None] * mixing, inverse, steps, places, _KINDS[self.smoothness])
            )
        return found

    def trend(self, theta: Floats) -> RegressionPart:
        """Return the part of the covariance that is a Bayesian linear regression."""
        linear, quadratic = (float(theta[self.slices[name]][0]) for name in ("linear", "quadratic"))
        return RegressionPart(linear, quadratic, theta[self.slices["effect"]])


@dataclass(frozen=True)
class Component:
    """A Matérn covariance of sheared, scaled numbers and of labels.

    Attributes
    ----------
    variance : float
    map : array (d, d)
        Matrix ``D (I + S)`` that maps coded numbers to coordinates.
    inverse : array (d,)
        Inverse length-scales, the diagonal of D.
    steps : array (n_categorical,)
        Amounts that are added to the squared distance if two labels differ.
    label_places : list of arrays
        Learned coordinates of the labels of the first `placed` categorical parameters.
    kind : (float, float)
        Coefficients of the Matérn covariance, see `evenly.models.gaussian_process.kernels`.
    """

    variance: float
    map: Floats
    inverse: Floats
    steps: Floats
    label_places: list[Floats]
    kind: tuple[float, float]

    def places(self, inputs: Inputs) -> Floats:
        """Return coordinates of numbers, then of labels, (n, d + placed); their distances don't include label steps."""
        columns = [places[inputs.labels[:, [k]]] for k, places in enumerate(self.label_places)]
        return np.hstack([inputs.numbers @ self.map, *columns])

    def coordinates(self, inputs: Inputs) -> Floats:
        """Return points whose Euclidean distance is that of the component, (n, d + placed + sum of sizes)."""
        # Different one-hot vectors have the distance √2, so √(step / 2) times them adds `step` to the squared distance.
        widths = np.repeat(np.sqrt(self.steps / 2), inputs.sizes)
        return np.hstack([self.places(inputs), inputs.one_hot * widths])

    def add_gradient(
        self, shape: Shape, part: str, inputs: Inputs, coordinates: Floats, by_coordinate: Floats, gradient: Floats
    ) -> None:
        """Add the derivatives by the hyper-parameters, given those `by_coordinate` (n, n_coordinates)."""
        # Chain rule: ∂/∂map = X' by_coordinate. A log length-scale l multiplies a row of the map by exp(-l).
        d, marks = shape.numbers, shape.numbers + len(self.label_places)
        by_map = inputs.numbers.T @ by_coordinate[:, :d]
        gradient[shape.slices[f"{part}.length"]] -= np.sum(by_map * self.map, axis=1)
        if part == "wide":
            # Each element of S appears twice in the map. The coordinate of a label is shared by all its runs.
            by_mixing = self.inverse[:, None] * by_map
            gradient[shape.slices["wide.shear"]] += (by_mixing + by_mixing.T)[_pairs(d, 1)]
            by_place = [
                np.bincount(inputs.labels[:, k], by_coordinate[:, d + k], shape.sizes[k]) for k in range(marks - d)
            ]
            gradient[shape.slices["wide.place"]] += np.concatenate([np.zeros(0), *by_place])
        if shape.sizes:
            # The step of a parameter, exp(-2 log ℓ), scales the squares of all its indicators' columns.
            by_column = np.sum(by_coordinate[:, marks:] * coordinates[:, marks:], axis=0)
            starts = np.cumsum((0, *shape.sizes[:-1]))
            gradient[shape.slices[f"{part}.label"]] -= np.add.reduceat(by_column, starts)


@dataclass(frozen=True)
class RegressionPart:
    """Bayesian linear regression with zero-mean Gaussian coefficients, given by the logarithms of their variances."""

    linear: float
    quadratic: float
    effects: Floats

    def features(self, inputs: Inputs) -> Floats:
        """Return each term times its coefficient's standard deviation, (n, 1 + d + d (d + 1) / 2 + sum of sizes).

        The inner product of two rows is the trend's covariance [Rasmussen and Williams, section 2.1.2].
        """
        x = inputs.numbers
        left, right = _pairs(x.shape[1], 0)
        return np.hstack([
            np.full((len(x), 1), np.sqrt(_CONSTANT_VARIANCE)),
            x * np.exp(self.linear / 2),
            x[:, left] * x[:, right] * np.exp(self.quadratic / 2),
            inputs.one_hot * np.repeat(np.exp(self.effects / 2), inputs.sizes),
        ])  # fmt: skip

    @staticmethod
    def add_gradient(shape: Shape, by_feature: Floats, gradient: Floats) -> None:
        """Add the derivatives by the log variances of groups, given those by the log variance of each single term."""
        d = shape.numbers
        ends = np.cumsum((1, d, d * (d + 1) // 2))
        gradient[shape.slices["linear"]] += by_feature[1 : ends[1]].sum()
        gradient[shape.slices["quadratic"]] += by_feature[ends[1] : ends[2]].sum()
        if shape.sizes:
            gradient[shape.slices["effect"]] += np.add.reduceat(
                by_feature[ends[2] :], np.cumsum((0, *shape.sizes[:-1]))
            )
