"""How much less a simulation costs with mirror symmetries, and whether its results are those of the whole cell.

    OMP_NUM_THREADS=1 python benchmarks/fdtd_mirrors.py [--rounds 6] [--steps 40] [--meep /usr/bin/python3]

Cells with absorbing layers around a ball (or a disc) of metal or glass, lit by a dipole or by a plane wave, with a flux
box around it. The whole cell and its parts are built in one process and stepped in turns. Printed are the points that
are stored, the CPU time of building, with the check of the symmetry, the least CPU time per step, the bytes of all
arrays, and how many times less each is than that of the whole cell; what the shipped costs predict of that; and the
largest difference of the flux, relative to the flux. With ``--meep``, the Python that has Meep, the same cells with the
same symmetries are stepped by Meep in a process of its own, in turns: the last column is Meep's time over evenly's.
What is counted is a run of evenly with a flux box, and `fields.step` of Meep with one flux plane, the bare step.
"""

from __future__ import annotations

import argparse
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np

from evenly import fdtd
from evenly.decomposition.cells.fdtd.cell import cell_of
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.costs.locations import shipped_file
from evenly.decomposition.partitioning.predict import predict

PULSE = fdtd.GaussianPulse(1.0, fwidth=0.5)
METAL = fdtd.Medium(epsilon=2, electric_poles=[fdtd.DrudePole(1.5, 0.05)])
GLASS = fdtd.Medium(index=1.5)
X, Y, Z = fdtd.Mirror("x", phase=-1), fdtd.Mirror("y"), fdtd.Mirror("z")
#: Name, arguments, and symmetries to compare with none.
CASES: list[tuple[str, dict[str, Any], list[list[fdtd.Mirror]]]] = [
    (
        "ball of metal, dipole, 96³",
        {
            "cell": (4.8, 4.8, 4.8),
            "geometry": [fdtd.Sphere(radius=0.8, material=METAL)],
            "sources": [fdtd.Source(PULSE, "Ex", center=(0, 0, 0))],
            "boundaries": [fdtd.PML(0.6)],
        },
        [[X], [X, Y], [X, Y, Z]],
    ),
    (
        "balls of glass, plane wave, 96³",
        {
            "cell": (4.8, 4.8, 4.8),
            "geometry": [fdtd.Sphere(radius=1.6, material=GLASS)],
            "sources": [fdtd.Source(PULSE, "Ex", center=(0, 0, -1.7), size=(4.8, 4.8, 0))],
            "boundaries": [fdtd.Periodic("xy"), fdtd.PML(0.6, "z")],
        },
        [[X], [X, Y]],
    ),
    (
        "disc of glass, dipole, 400²",
        {
            "cell": (20, 20, 0),
            "geometry": [fdtd.Cylinder(radius=4, height=np.inf, material=GLASS)],
            "sources": [fdtd.Source(PULSE, "Ez", center=(0, 0, 0))],
            "boundaries": [fdtd.PML(1)],
        },
        [[Y], [fdtd.Mirror("x"), Y]],
    ),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--meep", help="the Python that has Meep")
    given = parser.parse_args()
    cost = CostModel.load(shipped_file("fdtd"))
    print(
        f"{'':33} {'points':>9} {'build s':>8} {'step ms':>8} {'MB':>6}  times less:  step  MB  predicted  off by"
        f"{'  Meep/evenly' if given.meep else ''}"
    )
    meep = Meep(given.meep) if given.meep else None
    for number, (name, arguments, symmetries) in enumerate(CASES):
        show(name, number, arguments, [[], *symmetries], cost, given.rounds, given.steps, meep)


class Meep:
    """A process that steps the cells in Meep."""

    def __init__(self, python: str) -> None:
        script = str(Path(__file__).with_name("fdtd_mirrors_meep.py"))
        self._process = subprocess.Popen(
            [python, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def ms(self, case: int, mirrors: list[fdtd.Mirror], steps: int) -> float:
        """Return the CPU time of a step."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{case}:{','.join(f'{one.axis}{one.phase}' for one in mirrors)}:{steps}\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("seconds"):
                return 1e3 * float(line.split()[1])
        raise SystemExit("Meep's process has ended early")


def show(
    name: str,
    number: int,
    arguments: dict[str, Any],
    symmetries: list[list[fdtd.Mirror]],
    cost: CostModel,
    rounds: int,
    steps: int,
    meep: Meep | None,
) -> None:
    """Build the whole cell and its parts, step them in turns, and print what each took."""
    sims, fluxes, builds = [], [], []
    for mirrors in symmetries:
        begin = time.process_time()
        sim = fdtd.Simulation(**arguments, resolution=20, symmetries=mirrors)
        size = [0.35 * edge for edge in sim.grid.size]
        fluxes.append(sim.add(fdtd.Flux((0, 0, 0), size, [0.8, 1.0, 1.2])))
        builds.append(time.process_time() - begin)
        sim.run(until=steps * sim.grid.dt, progress="off")
        sims.append(sim)
    least, theirs = [np.inf] * len(sims), [np.inf] * len(sims)
    if meep is not None:
        for mirrors in symmetries:
            meep.ms(number, mirrors, steps)
    for _ in range(rounds):
        for n, sim in enumerate(sims):
            begin = time.process_time()
            sim.run(until=sim.time + steps * sim.grid.dt, progress="off")
            least[n] = min(least[n], 1e3 * (time.process_time() - begin) / steps)
            if meep is not None:
                theirs[n] = min(theirs[n], meep.ms(number, symmetries[n], steps))
    predicted = []
    for sim in sims:
        cell = cell_of(sim)
        predicted.append(predict(cell, fdtd.BinaryPartition(0), 1, cost).step_s)
    bytes_ = [sum(chunk.nbytes for chunk in sim.chunks) for sim in sims]
    print(name)
    whole = fluxes[0].flux()
    for n, (sim, mirrors) in enumerate(zip(sims, symmetries, strict=True)):
        letters = ", ".join(f"{one.axis}{'' if one.phase == 1 else ' odd'}" for one in mirrors)
        off = np.max(np.abs(fluxes[n].flux() - whole) / np.abs(whole))
        print(
            f"  {f'mirrors {letters}' if mirrors else 'whole':31} {sim.layers.kept.volume:9} {builds[n]:8.2f} "
            f"{least[n]:8.2f} {bytes_[n] / 1e6:6.1f}  {least[0] / least[n]:17.2f} {bytes_[0] / bytes_[n]:3.1f} "
            f"{predicted[0] / predicted[n]:10.2f}  {off:6.0e}"
            f"{'' if meep is None else f'{theirs[n] / least[n]:13.2f}'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
