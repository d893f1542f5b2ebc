"""What a gyrotropic or a noisy pole adds to a step of Meep, beside a Lorentzian one: the factors of evenly's costs.

``/usr/bin/python3 benchmarks/meep_poles.py [--sides 16 24 36] [--rounds 15]`` needs a Python that has Meep, and no
evenly. Cubes of so many points a side are filled with a medium, or half of each. All kinds step in turns, so that the
machine's pace is the same for all. A row shows the median CPU time per step in vacuum, and what each kind adds to it,
in ns per point of the medium.
"""

from __future__ import annotations

import argparse
import time
from statistics import median
from typing import Any

RESOLUTION = 10
BATCH_S = 0.02


def kinds() -> dict[str, Any]:
    """Return a susceptibility of each kind, by its name; None is vacuum."""
    import meep as mp

    usual = {"frequency": 1.1, "gamma": 0.01, "sigma": 0.5}
    bias = mp.Vector3(0, 0, 0.2)
    return {
        "vacuum": None,
        "Lorentzian": mp.LorentzianSusceptibility(**usual),
        "gyrotropic": mp.GyrotropicLorentzianSusceptibility(bias=bias, **usual),
        "saturated": mp.GyrotropicSaturatedSusceptibility(alpha=0.01, bias=bias, **usual),
        "noisy": mp.NoisyLorentzianSusceptibility(noise_amp=0.01, **usual),
    }


def cell(susceptibility: Any, side: int, share: float) -> Any:
    """Return a simulation of a cube that is filled to a share along z, initialised."""
    import meep as mp

    length = side / RESOLUTION
    medium = mp.Medium(epsilon=2, E_susceptibilities=[] if susceptibility is None else [susceptibility])
    source = mp.Source(mp.GaussianSource(1.0, fwidth=0.5), component=mp.Ex, center=mp.Vector3())
    sim = mp.Simulation(
        cell_size=mp.Vector3(length, length, length), resolution=RESOLUTION, k_point=mp.Vector3(), sources=[source],
        geometry=[mp.Block(mp.Vector3(mp.inf, mp.inf, share * length), material=medium)],
    )  # fmt: skip
    sim.init_sim()
    return sim


def seconds(sim: Any, steps: int) -> float:
    """Return the CPU seconds per step of a batch."""
    began = time.process_time()
    for _ in range(steps):
        sim.fields.step()
    return (time.process_time() - began) / steps


def main() -> None:
    """Print the table."""
    import meep as mp

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sides", nargs="+", type=int, default=[16, 24, 36])
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    mp.verbosity(0)
    print("points a side  filled  vacuum, µs  " + "  ".join(list(kinds())[1:]))
    for side in given.sides:
        for share in (1.0, 0.5):
            sims = {name: cell(one, side, share) for name, one in kinds().items()}
            steps = {name: max(1, round(BATCH_S / seconds(sim, 5))) for name, sim in sims.items()}
            found: dict[str, list[float]] = {name: [] for name in sims}
            for _ in range(given.rounds):
                for name, sim in sims.items():
                    found[name].append(seconds(sim, steps[name]))
            took = {name: median(its) for name, its in found.items()}
            vacuum = took.pop("vacuum")
            added = {name: 1e9 * (its - vacuum) / (share * side**3) for name, its in took.items()}
            shown = "".join(f"{ns:{len(name) + 2}.1f}" for name, ns in added.items())
            print(f"{side:13}{share:8.0%}{1e6 * vacuum:12.0f}{shown}", flush=True)


if __name__ == "__main__":
    main()
