"""Real media as pole fits from the literature; the unit of length is 1 µm (`scaled` changes it).

>>> index = medium("silicon").index_at(1 / 0.6)
>>> round(index.real, 2), round(index.imag, 3)
(3.95, 0.02)

A pole far above the frequencies of interest shortens the stable time step as one within them does; the media named
after an index have none. `valid_um` holds the wavelengths that each fit is meant for.

Sources
-------
- c-Si: A. Deinega, S. Belousov, I. Valuev, J. Opt. Soc. Am. A 28, 770 (2011), fitted to M. A. Green, M. J. Keevers,
  Prog. Photovolt. 3, 189 (1995). One of its terms is negative: beyond 1.03 µm it amplifies slightly (Im ε = -0.04 at
  3 µm), which shows in very long runs. "passive silicon" is refitted to it from 0.4 to 1.02 µm with positive terms: n
  within 0.003, k within 0.006 above 0.45 µm (too large by 0.003 to 0.005 from 0.8 µm on), stable for any run.
- a-Si, a-Si:H, ITO, Al2O3: Horiba Technical Note 08, Lorentz dispersion model.
- Al, Ag, Au, Cu: A. D. Rakić, A. B. Djurišić, J. M. Elazar, M. L. Majewski, Appl. Opt. 37, 5271 (1998), Table 2
  (Lorentz-Drude).
- SiO2: I. H. Malitson, J. Opt. Soc. Am. 55, 1205 (1965). BK7: Schott's Sellmeier coefficients.
- Si3N4: H. R. Philipp, J. Electrochem. Soc. 120, 295 (1973).
- Organic layers of light-emitting diodes: index 1.7 to 1.8 over the visible; 1.75 is taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from evenly.errors import InputError
from evenly.fdtd.media.materials import DrudePole, LorentzPole, Medium, Pole

__all__ = ["medium", "names", "scaled", "valid_um"]

# 1 eV as a frequency in c/µm: 1 / (hc in eV µm).
PER_EV = 1 / 1.239841984

# Lorentz-Drude metals: plasma energy; then (oscillator strength, energy, width) in eV, free charges first.
METALS: dict[str, tuple[float, tuple[tuple[float, float, float], ...]]] = {
    "aluminium": (
        14.98,
        (
            (0.523, 0.0, 0.047),
            (0.227, 0.162, 0.333),
            (0.050, 1.544, 0.312),
            (0.166, 1.808, 1.351),
            (0.030, 3.473, 3.382),
        ),
    ),
    "silver": (
        9.01,
        (
            (0.845, 0.0, 0.048),
            (0.065, 0.816, 3.886),
            (0.124, 4.481, 0.452),
            (0.011, 8.185, 0.065),
            (0.840, 9.083, 0.916),
        ),
    ),
    "gold": (
        9.03,
        (
            (0.760, 0.0, 0.053),
            (0.024, 0.415, 0.241),
            (0.010, 0.830, 0.345),
            (0.071, 2.969, 0.870),
            (0.601, 4.304, 2.494),
            (4.384, 13.32, 2.214),
        ),
    ),
    "copper": (
        10.83,
        (
            (0.575, 0.0, 0.030),
            (0.061, 0.291, 0.378),
            (0.104, 2.957, 1.056),
            (0.723, 5.300, 3.213),
            (0.638, 11.18, 4.305),
        ),
    ),
}

# Sellmeier media: (strength, wavelength of the resonance in µm).
SELLMEIER: dict[str, tuple[tuple[float, float], ...]] = {
    "fused silica": ((0.6961663, 0.0684043), (0.4079426, 0.1162414), (0.8974794, 9.896161)),
    "BK7": ((1.03961212, 0.07746417669), (0.231792344, 0.141484679), (1.01046945, 10.17647547)),
    "silicon nitride": ((2.8939, 0.13967),),
    "alumina": ((1.52, 0.101476668),),
}

# ε∞ and one resonance: (strength, energy, width) in eV.
ONE_RESONANCE: dict[str, tuple[float, tuple[float, float, float]]] = {
    "amorphous silicon": (3.109, (14.571, 3.93, 1.92)),
    "hydrogenated amorphous silicon": (3.22, (12.31, 3.71, 2.14)),
    "indium tin oxide": (1.0, (2.5, 6.8, 0.637)),
}

# Index alone, for the visible (around 0.55 µm) unless the name says otherwise.
INDICES: dict[str, float] = {
    "silica index": 1.46,
    "glass index": 1.52,
    "indium tin oxide index": 1.9,
    "organic index": 1.75,
    "silicon nitride index": 2.03,
    "zinc oxide index": 2.0,
    "silicon index 1.55 um": 3.476,
}

_RANGES: dict[str, tuple[float, float]] = {
    "silicon": (0.4, 1.0),
    "passive silicon": (0.4, 1.0),
    "amorphous silicon": (0.21, 0.83),
    "hydrogenated amorphous silicon": (0.21, 0.83),
    "indium tin oxide": (0.21, 0.83),
    "fused silica": (0.21, 6.7),
    "BK7": (0.3, 2.5),
    "silicon nitride": (0.207, 1.24),
    "alumina": (0.21, 2.07),
    "silicon index 1.55 um": (1.5, 1.6),
} | dict.fromkeys(METALS, (0.2, 12.4))


def names() -> list[str]:
    """Return the names of all media.

    Examples
    --------
    >>> "aluminium" in names()
    True
    """
    return sorted({"silicon", "passive silicon", *METALS, *SELLMEIER, *ONE_RESONANCE, *INDICES})


def valid_um(name: str) -> tuple[float, float]:
    """Return the shortest and longest wavelength, in µm, that a medium's fit is meant for.

    Examples
    --------
    >>> valid_um("silicon")
    (0.4, 1.0)
    """
    _makers(name)
    return _RANGES.get(name, (0.4, 0.8))


@cache
def medium(name: str) -> Medium:
    """Return a medium of the library, in units of 1 µm.

    Parameters
    ----------
    name : str
        One of `names()`.

    Raises
    ------
    InputError
        If there is none of that name.

    Examples
    --------
    >>> round(medium("BK7").index_at(1 / 0.5876).real, 4)
    1.5168
    """
    return _makers(name)(name)


def scaled(material: Medium, unit_um: float) -> Medium:
    """Return a medium for a unit of length of `unit_um` µm: frequencies in c/a grow with it.

    Examples
    --------
    >>> silicon = medium("silicon")
    >>> scaled(silicon, 0.5).epsilon_at(0.5) == silicon.epsilon_at(1.0)
    array([[ True,  True,  True],
           [ True,  True,  True],
           [ True,  True,  True]])
    """
    if not 0 < unit_um < math.inf:
        raise InputError(f"`unit_um` must be a positive length in µm, but got {unit_um!r}.")

    def moved(poles: Sequence[Pole]) -> tuple[Pole, ...]:
        return tuple(replace(p, frequency=p.frequency * unit_um, gamma=p.gamma * unit_um) for p in poles)

    return replace(
        material,
        electric_poles=moved(material.electric_poles),
        magnetic_poles=moved(material.magnetic_poles),
        electric_conductivity=_times(material.electric_conductivity, unit_um),
        magnetic_conductivity=_times(material.magnetic_conductivity, unit_um),
    )


def _times(value: object, factor: float) -> tuple[float, float, float]:
    x, y, z = (v * factor for v in value)  # type: ignore[attr-defined]
    return x, y, z


def _makers(name: str) -> Callable[[str], Medium]:
    if name in ("silicon", "passive silicon"):
        return _silicon
    makers = ((METALS, _metal), (SELLMEIER, _sellmeier), (ONE_RESONANCE, _one_resonance), (INDICES, _index))
    for table, make in makers:
        if name in table:
            return make
    raise InputError(f"The library has no medium {name!r}; it has {', '.join(names())}.")


def _silicon(name: str) -> Medium:
    if name == "passive silicon":
        passive = (LorentzPole(3.34174, 0.0, 8.44097), LorentzPole(2.67916, 10**-0.82261, 1.52024))
        return Medium(epsilon=1.88425, electric_poles=passive, name=name)
    # The third term is negative: it takes away from the tails of the others. Widths are half their γ.
    poles = (LorentzPole(3.64, 0.0, 8.0), LorentzPole(2.76, 2 * 0.063, 2.85), LorentzPole(1.73, 2 * 2.5, -0.107))
    return Medium(electric_poles=poles, name=name)


def _metal(name: str) -> Medium:
    plasma, oscillators = METALS[name]
    poles: list[Pole] = []
    for strength, energy, width in oscillators:
        gamma = width * PER_EV
        if energy == 0:
            poles.append(DrudePole(plasma * math.sqrt(strength) * PER_EV, gamma))
        else:
            poles.append(LorentzPole(energy * PER_EV, gamma, strength * (plasma / energy) ** 2))
    return Medium(electric_poles=poles, name=name)


def _sellmeier(name: str) -> Medium:
    poles = [LorentzPole(1 / wavelength, 0.0, strength) for strength, wavelength in SELLMEIER[name]]
    return Medium(electric_poles=poles, name=name)


def _one_resonance(name: str) -> Medium:
    epsilon, (strength, energy, width) = ONE_RESONANCE[name]
    return Medium(epsilon=epsilon, electric_poles=[LorentzPole(energy * PER_EV, width * PER_EV, strength)], name=name)


def _index(name: str) -> Medium:
    return Medium(index=INDICES[name], name=name)
