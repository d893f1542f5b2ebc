"""The three structures of `evenly.fdtd.structures` for Meep, scaled down; it runs in Meep's Python.

`build` gives a simulation with its monitors, before any step; what else it is given goes to `meep.Simulation`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import meep as mp
import numpy as np

from evenly.fdtd.media.library import medium as known
from evenly.fdtd.media.materials import DrudePole

__all__ = ["NAMES", "build"]

PER_EV = 1 / 1.239841984
# (strength, eV, width in eV), those of `evenly.fdtd.structures.tandem`, which needs numba.
UPPER_POLES = (
    (0.7150, 2.8104, 0.2694),
    (0.3822, 2.4929, 0.2658),
    (0.9747, 3.0538, 0.2347),
    (4.0123, 3.4432, 0.0500),
)
Keywords = dict[str, Any]


def medium(name: str) -> Any:
    """Return a medium of evenly's library as one of Meep."""
    found = known(name)
    poles = [
        (mp.DrudeSusceptibility if isinstance(pole, DrudePole) else mp.LorentzianSusceptibility)(
            frequency=pole.frequency, gamma=pole.gamma, sigma=pole.strength[0]
        )
        for pole in found.electric_poles
    ]
    return mp.Medium(epsilon=found.epsilon_matrix[0, 0], E_susceptibilities=poles)


def _amorphous() -> Any:
    poles = [
        mp.LorentzianSusceptibility(frequency=energy * PER_EV, gamma=width * PER_EV, sigma=strength)
        for strength, energy, width in UPPER_POLES
    ]
    return mp.Medium(epsilon=6.0, E_susceptibilities=poles)


def _films(films: list[tuple[float, Any]]) -> tuple[list[Any], list[float], float]:
    """Return blocks, the heights of their upper faces, and the height of all."""
    height = math.fsum(thickness for thickness, _ in films)
    top, blocks, tops = height / 2, [], []
    for thickness, material in films:
        tops.append(top)
        blocks.append(mp.Block(mp.Vector3(mp.inf, mp.inf, thickness), center=(0, 0, top - thickness / 2)))
        blocks[-1].material = material
        top -= thickness
    return blocks, tops, height


def _flux(sim: Any, frequencies: Any, *planes: tuple[Any, Any], **options: Any) -> Any:
    return sim.add_flux(frequencies, *(mp.FluxRegion(center=c, size=s) for c, s in planes), **options)


def _light(shortest: float, longest: float, component: int, center: Any, size: Any = (0, 0, 0)) -> Any:
    low, high = 1 / longest, 1 / shortest
    middle = (low + high) / 2
    pulse = mp.GaussianSource(middle, fwidth=max(math.pi * (high - low) / 2, middle / 2))
    return mp.Source(pulse, component=component, center=center, size=mp.Vector3(*size))


def oled(resolution: float = 20, size: float = 1.0, frequencies: int = 21, **more: Any) -> Any:
    """Return the light-emitting diode: absorbers at the sides, a PML above, a metal below."""
    absorber, pml = 0.5, 0.4
    glass, ito, organic = (mp.Medium(index=n) for n in (1.52, 1.9, 1.75))
    films = [(0.4 + pml, glass), (0.1, ito), (0.2, organic), (0.2, medium("aluminium"))]
    blocks, tops, height = _films(films)
    wide = size + 2 * absorber
    emitter = mp.Vector3(0, 0, tops[2] - 0.1)
    options: Keywords = {
        "cell_size": mp.Vector3(wide, wide, height),
        "resolution": resolution,
        "Courant": 0.3,  # at 0.5 the aluminium is unstable on so coarse a grid
        "geometry": blocks,
        "sources": [_light(0.4, 0.8, c, emitter) for c in (mp.Ex, mp.Ey, mp.Ez)],
        "boundary_layers": [
            mp.PML(pml, direction=mp.Z, side=mp.High),
            mp.Absorber(absorber, direction=mp.X),
            mp.Absorber(absorber, direction=mp.Y),
        ],
    }
    sim = mp.Simulation(**{**options, **more})
    dx, band = 1 / resolution, np.linspace(1 / 0.8, 1 / 0.4, frequencies)
    low, high = tops[3] + dx, height / 2 - pml - dx
    middle, inner = (low + high) / 2, size - 2 * dx
    for z in (low, high):
        _flux(sim, band, ((0, 0, z), (inner, inner, 0)))
    for side in (-inner / 2, inner / 2):
        _flux(sim, band, ((side, 0, middle), (0, inner, high - low)))
        _flux(sim, band, ((0, side, middle), (inner, 0, high - low)))
    return sim


def _lit(films: list[tuple[float, Any]], width: float, resolution: float, light: tuple[float, float]) -> Keywords:
    blocks, _, height = _films(films)
    height = max(1, round(height * resolution)) / resolution
    lamp = _light(*light, mp.Ex, (0, 0, height / 2 - 0.5), (width, width, 0))
    return {
        "cell_size": mp.Vector3(width, width, height),
        "resolution": resolution,
        "geometry": blocks,
        "Courant": 0.3,
        "sources": [lamp],
        "k_point": mp.Vector3(),
    }


def cmos(resolution: float = 24, size: float = 0.8, frequencies: int = 11, **more: Any) -> Any:
    """Return the pixel of an image sensor: pyramids and trenches in silicon, an absorber below, a PML above."""
    silica = medium("silica index")
    size, trench = round(size * resolution) / resolution, 0.15
    films = [(1.0, mp.Medium()), (0.3, mp.Medium(index=1.55)), (0.15, silica), (1.5, medium("silicon"))]
    options = _lit(films, size, resolution, (0.85, 0.94))
    _, tops, height = _films(films)
    surface, foot = tops[3], tops[2]
    lens = mp.Sphere(radius=(0.16 + 0.04) / 0.4, center=(0, 0, tops[1] + 0.2 - 0.5), material=mp.Medium(index=1.55))
    options["geometry"] = [options["geometry"][0], lens, *options["geometry"][1:]]
    pit = (size - trench) / 2
    for x, y in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        # A cone for each pyramid: Meep takes half a minute to average leaning walls of a prism.
        depth = pit / math.sqrt(2)
        cone = mp.Cone(0, radius2=pit / 2, height=depth, center=(x * pit / 2, y * pit / 2, surface - depth / 2))
        cone.material = silica
        options["geometry"].append(cone)
    for side in (-1, 1):
        for low, high, material in ((foot - 0.3, foot, medium("aluminium")), (surface - 1.0, surface, silica)):
            center, tall = (low + high) / 2 + (0.15 if material is not silica else 0), high - low
            for turned in (False, True):
                across = mp.Vector3(mp.inf, trench, tall) if turned else mp.Vector3(trench, mp.inf, tall)
                at = mp.Vector3(0, side * size / 2, center) if turned else mp.Vector3(side * size / 2, 0, center)
                options["geometry"].append(mp.Block(across, center=at, material=material))
    layers = [mp.PML(0.4, direction=mp.Z, side=mp.High), mp.Absorber(0.4, direction=mp.Z, side=mp.Low)]
    sim = mp.Simulation(**{**options, "boundary_layers": layers, **more})
    band, wide = np.linspace(1 / 0.94, 1 / 0.85, frequencies), (size, size, 0)
    for z in (height / 2 - 0.45, tops[1] + 0.3, surface + 1 / resolution, -height / 2 + 0.4 + 1 / resolution):
        _flux(sim, band, ((0, 0, z), wide))
    return sim


def tandem(resolution: float = 40, size: float = 0.5, frequencies: int = 21, **more: Any) -> Any:
    """Return the solar cell: films with many poles, gratings, silver that reaches into an absorber."""
    size = round(size * resolution) / resolution
    oxide, silver, upper = medium("zinc oxide index"), medium("silver"), _amorphous()
    films = [
        (0.8, medium("glass index")),
        (0.3, oxide),
        (0.2, upper),
        (0.1, oxide),
        (0.6, medium("passive silicon")),
        (0.15, oxide),
        (0.3, silver),
    ]
    options = _lit(films, size, resolution, (0.4, 0.8))
    _, tops, height = _films(films)
    for foot, tall, material in ((tops[2], 0.1, upper), (tops[6], 0.05, silver)):
        ridge = mp.Block(mp.Vector3(size / 2, size / 2, tall), center=(0, 0, foot + tall / 2), material=material)
        options["geometry"].append(ridge)
    layers = [mp.PML(0.3, direction=mp.Z, side=mp.High), mp.Absorber(0.2, direction=mp.Z, side=mp.Low)]
    sim = mp.Simulation(**{**options, "boundary_layers": layers, **more})
    band, wide = np.linspace(1 / 0.8, 1 / 0.4, frequencies), (size, size, 0)
    for z in (height / 2 - 0.4, tops[1] + 0.1, tops[3] - 0.05, tops[5] - 0.05):
        _flux(sim, band, ((0, 0, z), wide))
    return sim


NAMES: dict[str, Callable[..., Any]] = {"oled": oled, "cmos": cmos, "tandem": tandem}


def build(name: str, **options: Any) -> Any:
    """Return one of the structures, ``"oled"``, ``"cmos"`` or ``"tandem"``; options go to it or to Meep."""
    return NAMES[name](**options)
