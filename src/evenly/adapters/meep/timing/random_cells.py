"""Random Meep cells as training data: those of `evenly.fdtd.structures.random_cells`, for `simulation_builder`.

Fractions of the points are drawn as for evenly's own simulation. Meep stores each pole in every chunk, and updates it
only where it occurs. To vary both numbers, the silicon has one to six poles, and the dielectric has up to six poles in
half of the cells. Monitors transform once in up to ten steps, like Meep's own choice.

>>> setting = random_settings(1, seed=3)[0]
>>> setting.ranks in RANKS, sorted(design_of(setting.parameters))
(True, ['layers', 'monitors', 'objects', 'periodic', 'points', 'source'])
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evenly.decomposition.forecasting.rehearsal import Setting
from evenly.decomposition.forecasting.training_data import log_uniform, random_parameters
from evenly.errors import InputError
from evenly.fdtd.cell.boundaries import PML
from evenly.fdtd.cell.box import AXES
from evenly.fdtd.structures.random_cells import RandomCell

__all__ = ["POINTS", "RANKS", "design_of", "random_settings"]

#: Range of a cell's number of grid points, and the numbers of ranks.
POINTS, RANKS = (1e5, 10**6.3), (1, 2, 4, 8)
MOST_POLES = 6
#: Permittivities of silicon without its poles, and of the dielectric.
SILICON, DIELECTRIC = 2.0, 12.25
#: Parameters that `RandomCell` doesn't have.
_OWN = ("silicon_poles", "dielectric_poles", "every", "periodic")


def random_settings(
    count: int,
    *,
    seed: int = 0,
    first: int = 0,
    points: tuple[float, float] = POINTS,
    ranks: Sequence[int] = RANKS,
) -> list[Setting]:
    """Return random cells with random numbers of ranks. Each draw is independent of all others.

    Parameters
    ----------
    count : int
    seed : int
    first : int
        The number of the first draw, to continue after earlier draws of the same seed.
    points : pair of floats
        The range of the number of grid points, whose logarithm is drawn uniformly.
    ranks : sequence of int
        The numbers of ranks to draw from.
    """
    return [_drawn(np.random.default_rng([seed, n]), points, ranks) for n in range(first, first + count)]


def design_of(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of `simulation_builder.simulation` for the parameters of a random cell."""
    told = {name: value for name, value in parameters.items() if name not in _OWN}
    example = RandomCell(**told).example()
    scale = float(example.simulation["resolution"])
    blocks = example.simulation["geometry"]
    monitor = example.monitors["monitor"]
    media = (
        {"epsilon": SILICON, "poles": parameters["silicon_poles"]},
        {"epsilon": DIELECTRIC, "poles": parameters["dielectric_poles"], "first_pole": MOST_POLES},
    )
    return {
        "points": [round(side * scale) for side in example.simulation["cell"]],
        "objects": [
            {"medium": medium, **_place(block, scale)} for medium, block in zip(media, blocks, strict=True)
        ],
        "layers": [layer for one in example.simulation["boundaries"][:2] for layer in _layers(one, scale)],
        "periodic": bool(parameters["periodic"]),
        "source": [float(x) * scale / 10 for x in blocks[1].center],
        "monitors": [
            {
                "kind": "flux", **_place(monitor, scale), "frequencies": parameters["frequencies"],
                "every": parameters["every"],
            }
        ],
    }  # fmt: skip


def _drawn(random: np.random.Generator, points: tuple[float, float], ranks: Sequence[int]) -> Setting:
    while True:
        setting = _any(random, points, ranks)
        # In a few of the smallest cells, the interior is too small for all objects and the space around them.
        with contextlib.suppress(InputError):
            design_of(setting.parameters)
            return setting


def _any(random: np.random.Generator, points: tuple[float, float], ranks: Sequence[int]) -> Setting:
    found = random_parameters(random, log_uniform(random, *points))
    del found["material"]
    most = MOST_POLES + 0.99
    found |= {
        "silicon_poles": int(log_uniform(random, 1, most)),
        "dielectric_poles": int(log_uniform(random, 1, most)) if random.random() < 0.5 else 0,
        "every": round(log_uniform(random, 1, 10)),
        "periodic": bool(random.random() < 0.7),
        # These are drawn as in the source: in vacuum, and outside the absorber.
        "surroundings": 1.0,
        "reach": "interior",
    }
    return Setting("random", found, int(random.choice(list(ranks))))


def _place(thing: Any, scale: float) -> dict[str, list[float]]:
    """Return size and centre in grid points."""
    return {name: [float(x) * scale for x in getattr(thing, name)] for name in ("size", "center")}


def _layers(layer: Any, scale: float) -> list[dict[str, Any]]:
    kind, points = "pml" if isinstance(layer, PML) else "absorber", round(layer.thickness * scale)
    return [{"kind": kind, "axis": AXES[layer.axis], "points": points, "side": side} for side in ("low", "high")]
