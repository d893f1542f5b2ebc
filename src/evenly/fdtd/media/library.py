"""Real media, as fits with poles from the literature; the unit of length is 1 µm (`scaled` changes it).

>>> index = medium("silicon").index_at(1 / 0.6)
>>> round(index.real, 2), round(index.imag, 3)
(3.95, 0.02)

Every pole reduces the stable time step, also one far above the frequencies of interest. The media that are given by a
refractive index have no poles. `valid_um` returns the range of wavelengths of each fit.

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
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from evenly.errors import InputError
from evenly.fdtd.media.materials import DrudePole, LorentzPole, Medium, Pole

__all__ = ["medium", "names", "scaled", "valid_um"]

# 1 eV as a frequency in c/µm: 1 / (hc in eV µm).
PER_EV = 1 / 1.239841984

# Tables of library.toml; each describes its media in its own way.
_TABLES = ("lorentz", "metals", "sellmeier", "one_resonance", "index")


@cache
def _data() -> dict[str, dict[str, Any]]:
    """Return the tables of media by name."""
    return tomllib.loads(Path(__file__).with_name("library.toml").read_text(encoding="utf-8"))


def names() -> list[str]:
    """Return the names of all media.

    Examples
    --------
    >>> "aluminium" in names()
    True
    """
    return sorted(name for table in _TABLES for name in _data()[table])


def valid_um(name: str) -> tuple[float, float]:
    """Return the shortest and longest wavelength, in µm, of the range of a medium's fit.

    Examples
    --------
    >>> valid_um("silicon")
    (0.4, 1.0)
    """
    _table(name)
    low, high = _data()["valid_um"].get(name, (0.4, 0.8))
    return low, high


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
        If the library has no medium of that name.

    Examples
    --------
    >>> round(medium("BK7").index_at(1 / 0.5876).real, 4)
    1.5168
    """
    table = _table(name)
    told = _data()[table][name]
    match table:
        case "index":
            return Medium(index=told, name=name)
        case "lorentz":
            return Medium(epsilon=told["epsilon"], electric_poles=[LorentzPole(*p) for p in told["poles"]], name=name)
        case "sellmeier":
            return Medium(
                electric_poles=[LorentzPole(1 / length, 0.0, strength) for strength, length in told], name=name
            )
        case "one_resonance":
            strength, energy, width = told["resonance"]
            pole = LorentzPole(energy * PER_EV, width * PER_EV, strength)
            return Medium(epsilon=told["epsilon"], electric_poles=[pole], name=name)
    plasma = told["plasma"]
    poles = [
        LorentzPole(energy * PER_EV, width * PER_EV, strength * (plasma / energy) ** 2)
        if energy
        else DrudePole(plasma * math.sqrt(strength) * PER_EV, width * PER_EV)
        for strength, energy, width in told["oscillators"]
    ]
    return Medium(electric_poles=poles, name=name)


def scaled(material: Medium, unit_um: float) -> Medium:
    """Return a medium converted from a = 1 µm to a = `unit_um` µm: its frequencies in c/a are multiplied by `unit_um`.

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


def _table(name: str) -> str:
    for table in _TABLES:
        if name in _data()[table]:
            return table
    raise InputError(f"The library has no medium {name!r}; it has {', '.join(names())}.")
