"""The cells that the benchmarks of Meep cut, run in Meep's own Python by `evenly.adapters.meep.timing.ranks`.

The three structures are those of the tests; the tall cell is one third metal, and the rings are cylindrical. In the
cells named foil and in the backed one, metal touches a periodic side, or nearly.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import meep as mp

_STRUCTURES = runpy.run_path(str(Path(__file__).parents[1] / "tests" / "adapters" / "meep" / "structures.py"))
oled, cmos, tandem = (_STRUCTURES[name] for name in ("oled", "cmos", "tandem"))


def tall(resolution: float = 20, width: float = 1.0, height: float = 9.0, **more: Any) -> Any:
    """Return a tall cell between PMLs, its lower third of a metal with five poles."""
    metal = _STRUCTURES["medium"]("aluminium")
    third = height / 3
    block = mp.Block(mp.Vector3(mp.inf, mp.inf, third), center=mp.Vector3(0, 0, third / 2 - height / 2), material=metal)
    pulse = mp.GaussianSource(1.5, fwidth=1.0)
    options = {
        "cell_size": mp.Vector3(width, width, height),
        "resolution": resolution,
        "Courant": 0.3,
        "geometry": [block],
        "sources": [mp.Source(pulse, component=mp.Ex, center=mp.Vector3(0, 0, 1), size=mp.Vector3(width, width, 0))],
        "boundary_layers": [mp.PML(0.5, direction=mp.Z)],
        "k_point": mp.Vector3(),
    }
    return mp.Simulation(**{**options, **more})


def plane(
    component: str = "Ez", gap: float = 0.0, points: tuple[int, int] = (240, 200), resolution: float = 20, **more: Any
) -> Any:
    """Return a plane with periodic sides, without a PML. Silver covers its lowest third, `gap` away from the side."""
    width, height = (n / resolution for n in points)
    third = height / 3
    foil = mp.Block(mp.Vector3(mp.inf, third), center=mp.Vector3(0, third / 2 - height / 2 + gap))
    foil.material = _STRUCTURES["medium"]("silver")
    lamp = mp.Source(mp.GaussianSource(1.5, fwidth=1.0), component=getattr(mp, component), center=mp.Vector3(0.1, 0.1))
    options = {
        "cell_size": mp.Vector3(width, height),
        "resolution": resolution,
        "Courant": 0.3,
        "geometry": [foil],
        "sources": [lamp],
        "k_point": mp.Vector3(),
    }
    return mp.Simulation(**{**options, **more})


def ring(m: int = 0, resolution: float = 30, **more: Any) -> Any:
    """Return a cylindrical cell: a ring of a dielectric between PMLs, with fields that go around `m` times."""
    block = mp.Block(mp.Vector3(1, mp.inf, 0.5), center=mp.Vector3(3), material=mp.Medium(epsilon=12))
    source = mp.Source(mp.GaussianSource(0.3, fwidth=0.1), component=mp.Er, center=mp.Vector3(3))
    options = {
        "cell_size": mp.Vector3(8, 0, 6),
        "dimensions": mp.CYLINDRICAL,
        "m": m,
        "resolution": resolution,
        "Courant": 0.3,
        "geometry": [block],
        "sources": [source],
        "boundary_layers": [mp.PML(1)],
    }
    return mp.Simulation(**{**options, **more})


def ring_around(**more: Any) -> Any:
    """Return the ring with complex fields that go around three times."""
    return ring(3, **more)


def foil_across(**more: Any) -> Any:
    """Return the plane with light of Ez."""
    return plane("Ez", **more)


def foil_within(**more: Any) -> Any:
    """Return the plane with light of Hz, which has two components of E."""
    return plane("Hz", **more)


def foil_apart(**more: Any) -> Any:
    """Return the plane with light of Ez, and silver that does not touch the periodic side."""
    return plane("Ez", gap=0.1, **more)


def backed(resolution: float = 20, width: float = 1.6, height: float = 3.2, **more: Any) -> Any:
    """Return a solar cell: glass and a polymer on aluminium, which touches the low side of a periodic cell."""
    films = (("aluminium", 0.6), (3.2, 0.8), (2.25, 1.0))
    blocks, low = [], -height / 2
    for material, thick in films:
        known = _STRUCTURES["medium"](material) if isinstance(material, str) else mp.Medium(epsilon=material)
        center = mp.Vector3(0, 0, low + thick / 2)
        blocks.append(mp.Block(mp.Vector3(mp.inf, mp.inf, thick), center=center, material=known))
        low += thick
    pulse = mp.GaussianSource(1.5, fwidth=1.0)
    options = {
        "cell_size": mp.Vector3(width, width, height),
        "resolution": resolution,
        "Courant": 0.3,
        "geometry": blocks,
        "sources": [mp.Source(pulse, component=mp.Ex, center=mp.Vector3(0, 0, 1.2), size=mp.Vector3(width, width, 0))],
        "k_point": mp.Vector3(),
    }
    return mp.Simulation(**{**options, **more})
