"""The cells that the benchmarks of Meep cut, run in Meep's own Python by `evenly.adapters.meep.timing.ranks`.

The three structures are those of the tests; the tall cell is one third metal.
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
