"""Conversion of Meep's media to evenly's, for counting work only: which terms a medium has, not their strength.

evenly's own simulation would refuse some values (a negative ε∞, a perfect conductor). They are replaced by values that
need the same work.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.adapters.meep.grid import numbers
from evenly.decomposition.costs.meep import POLE_WORK
from evenly.fdtd.cell.grid import Vector
from evenly.fdtd.media.materials import DrudePole, LorentzPole, Medium, Pole

__all__ = [
    "METAL", "bare", "couples_z", "is_medium", "medium_of", "mixture", "poles_of", "rough_costs", "susceptibilities",
    "without_costs",
]  # fmt: skip

#: The name of media with an ε below 0 for Meep, which doesn't average them with others.
METAL = "metal"


@dataclass(frozen=True)
class GyrotropicPole(LorentzPole):
    """A pole whose polarisation turns about a bias: costs know it by its name, as those of `evenly.fdtd` have none."""


@dataclass(frozen=True)
class NoisyPole(LorentzPole):
    """A pole with a random current at each of its points; Meep draws its numbers in each step."""


# This value replaces infinity: a perfect conductor has ε = -∞ in Meep.
_LARGE = 1e6


def is_medium(material: Any) -> bool:
    """Return whether a material is one of Meep's homogeneous media."""
    return hasattr(material, "epsilon_diag") and hasattr(material, "E_susceptibilities")


def medium_of(material: Any) -> Medium:
    """Return a medium of evenly that needs the same work as a medium of Meep."""
    nonlinear = _any_of(material, "H_chi2_diag", "H_chi3_diag")
    chi3 = _magnitudes(material.E_chi3_diag)
    epsilon, mu = (_response(material, name) for name in ("epsilon", "mu"))
    return Medium(
        epsilon=epsilon[0],
        epsilon_off_diagonal=epsilon[1],
        mu=mu[0],
        mu_off_diagonal=mu[1],
        electric_poles=[_pole(s) for s in material.E_susceptibilities],
        magnetic_poles=[_pole(s) for s in material.H_susceptibilities],
        electric_conductivity=_conductivity(material, "D"),
        magnetic_conductivity=_conductivity(material, "B"),
        chi2=_magnitudes(material.E_chi2_diag),
        chi3=(1.0, 1.0, 1.0) if nonlinear and not any(chi3) else chi3,
        name=METAL if min(numbers(material.epsilon_diag)) < 0 else "",
    )


def mixture(first: Medium, second: Medium, *, lossy: bool) -> Medium:
    """Return a medium that needs the same work as a mixture of two media. `lossy` adds a conductivity."""
    loss = tuple(max(a, b, float(lossy)) for a, b in zip(*_both(first, second, "electric_conductivity"), strict=True))
    middle = [
        tuple((a + b) / 2 for a, b in zip(*_both(first, second, name), strict=True)) for name in ("epsilon", "mu")
    ]
    poles = [
        tuple({pole.unit(): pole for pole in (*getattr(first, side), *getattr(second, side))}.values())
        for side in ("electric_poles", "magnetic_poles")
    ]
    return Medium(
        epsilon=middle[0],  # type: ignore[arg-type]
        mu=middle[1],  # type: ignore[arg-type]
        electric_poles=poles[0],
        magnetic_poles=poles[1],
        electric_conductivity=loss,  # type: ignore[arg-type]
        chi2=first.chi2 if any(_vector(first.chi2)) else second.chi2,
        chi3=first.chi3 if any(_vector(first.chi3)) else second.chi3,
    )


def poles_of(materials: Iterable[Medium]) -> tuple[int, int]:
    """Return the numbers of different electric and magnetic poles of some media. Meep stores each pole everywhere."""
    sides: tuple[set[Pole], set[Pole]] = (set(), set())
    for material in materials:
        sides[0].update(pole.unit() for pole in material.electric_poles)
        sides[1].update(pole.unit() for pole in material.magnetic_poles)
    return len(sides[0]), len(sides[1])


def couples_z(sim: Any, materials: Iterable[Medium]) -> bool:
    """Return whether one of a simulation's media couples fields along z with fields along x or y.

    Parameters
    ----------
    sim : meep.Simulation
        Its susceptibilities are looked at.
    materials : iterable of Medium
        Its media, as evenly's.
    """
    off = [side for one in materials for side in (one.epsilon_off_diagonal, one.mu_off_diagonal)]
    return any(xz or yz for _, xz, yz in off) or any(any(_magnitudes(one.sigma_offdiag)[1:]) for one in _all(sim))


def without_costs(sim: Any) -> list[str]:
    """Return the kinds of a simulation's susceptibilities that take longer than the poles as which they are counted.

    Meep steps the populations of a multilevel atom.
    """
    return sorted({type(s).__name__ for s in _all(sim) if hasattr(s, "transitions")})


def rough_costs(sim: Any) -> dict[str, float]:
    """Return how many times a Lorentzian one's work each kind of a simulation's susceptibilities counts, if not once.

    These factors are no part of a calibration.
    """
    found = {type(s).__name__: POLE_WORK.get(_kind(s).__name__.removesuffix("Pole"), 1.0) for s in _all(sim)}
    return {name: found[name] for name in sorted(found) if found[name] != 1}


def susceptibilities(materials: Sequence[Any]) -> list[Any]:
    """Return the susceptibilities of some of Meep's materials, also of the two media of material grids."""
    media: list[Any] = [getattr(m, name, None) for m in materials for name in ("medium1", "medium2")]
    return [s for m in (*materials, *media) if is_medium(m) for s in (*m.E_susceptibilities, *m.H_susceptibilities)]


def bare(material: Any) -> Any:
    """Return one of Meep's materials without susceptibilities."""
    found = copy.copy(material)
    for name in ("E_susceptibilities", "H_susceptibilities"):
        if hasattr(found, name):
            setattr(found, name, [])
    for name in ("medium1", "medium2"):
        if hasattr(found, name):
            setattr(found, name, bare(getattr(found, name)))
    return found


def _all(sim: Any) -> list[Any]:
    return susceptibilities(_named(sim))


def _named(sim: Any) -> list[Any]:
    """Return the materials that a simulation names."""
    return [*(thing.material for thing in sim.geometry), sim.default_material, *sim.extra_materials]


def _vector(value: Any) -> Vector:
    return value  # type: ignore[no-any-return]  # `Medium` keeps three floats


def _both(first: Medium, second: Medium, name: str) -> tuple[Vector, Vector]:
    return _vector(getattr(first, name)), _vector(getattr(second, name))


def _magnitudes(vector: Any) -> Vector:
    x, y, z = (min(abs(v), _LARGE) if math.isfinite(abs(v)) else _LARGE for v in (vector.x, vector.y, vector.z))
    return x, y, z


def _any_of(material: Any, *names: str) -> bool:
    return any(any(_magnitudes(getattr(material, name))) for name in names if hasattr(material, name))


def _response(material: Any, name: str) -> tuple[Vector, Vector]:
    """Return a diagonal and off-diagonal elements of ε or μ that make a positive definite matrix."""
    given = _magnitudes(getattr(material, f"{name}_diag"))
    real = numbers(getattr(material, f"{name}_diag"))
    diagonal = [g if r > 0 else max(2.0, g) for g, r in zip(given, real, strict=True)]
    present = _magnitudes(getattr(material, f"{name}_offdiag"))
    small = 0.1 * min(diagonal)
    off = [small if value else 0.0 for value in present]
    return (diagonal[0], diagonal[1], diagonal[2]), (off[0], off[1], off[2])


def _conductivity(material: Any, side: str) -> Vector:
    diagonal = _magnitudes(getattr(material, f"{side}_conductivity_diag"))
    off = _magnitudes(getattr(material, f"{side}_conductivity_offdiag"))
    return _joined(diagonal, off)


def _joined(diagonal: Vector, off: Vector) -> Vector:
    """Return the diagonal without zeros along the axes that the elements xy, xz, yz couple."""
    xy, xz, yz = off
    x, y, z = (d or float(bool(a or b)) for d, a, b in zip(diagonal, (xy, xy, xz), (xz, yz, yz), strict=True))
    return x, y, z


def _pole(susceptibility: Any) -> Pole:
    frequency = abs(float(getattr(susceptibility, "frequency", 0.0) or _first_transition(susceptibility)))
    gamma = abs(float(getattr(susceptibility, "gamma", 0.0)))
    sigma = _joined(_magnitudes(susceptibility.sigma_diag), _magnitudes(susceptibility.sigma_offdiag))
    # Meep allows 0, but evenly doesn't.
    return _kind(susceptibility)(frequency=max(frequency, 1e-12), gamma=gamma, sigma=sigma if any(sigma) else 1.0)


def _kind(susceptibility: Any) -> type[Pole]:
    if hasattr(susceptibility, "bias"):
        return GyrotropicPole
    if hasattr(susceptibility, "noise_amp"):
        return NoisyPole
    return DrudePole if "Drude" in type(susceptibility).__name__ else LorentzPole


def _first_transition(susceptibility: Any) -> float:
    transitions: Sequence[Any] = getattr(susceptibility, "transitions", ())
    return float(np.real(transitions[0].frequency)) if transitions else 0.0
