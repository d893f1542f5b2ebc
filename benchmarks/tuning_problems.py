"""Search problems from measured tables, for `benchmarks/tuning.py`.

Each problem is a table of measured configurations of one program at fixed problem parameters: a search may run any row,
and what failed when it was measured fails again. Problems are divided by program: searches are improved on `CHOOSE`
only, and `REPORT` says how good they are on programs that nobody looked at.

In some tables, each row solves another problem. They become tasks as a user would state them:

* AMG: about the same number of unknowns on one node (within 3 %). The user chooses the shape of each process's block
  (nx, ny, nz), the solver (ct, rt, it: coarsening, relaxation, interpolation), processes and threads. In some, these
  two are given.
* matrices (GEMM) and QR: a kernel works on blocks that need at most a given memory, and at least half of it. The user
  chooses the shape of the block with the least time per floating-point operation.
* broadcast: a long array is sent in pieces to a given number of ranks. The user chooses the size of a piece, and
  processes per node; the time is that of 1 GiB.
* HSMGP (by number of cores), DUNE (by cells), LAMMPS with Voro++ (once as it is, a quarter of it fails), a convolution
  on a graphics processor: knobs as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

__all__ = ["CHOOSE", "REPORT", "Problem", "problems"]

Part = Literal["choose", "report"]
#: Programs on which searches are improved, and those on which they are judged afterwards.
CHOOSE, REPORT = ("AMG", "GEMM", "DUNE", "LAMMPS"), ("broadcast", "QR", "HSMGP", "convolution")
#: At most so many configurations of a program's table are kept, drawn once at random.
_MOST = 1000


@dataclass(frozen=True)
class Problem:
    """One search problem.

    Attributes
    ----------
    program, name : str
    table : DataFrame (n, n_knobs + 1)
        The knobs, and ``seconds``: nan where a run failed.
    """

    program: str
    name: str
    table: pd.DataFrame

    @property
    def knobs(self) -> list[str]:
        """Names of the parameters that are searched."""
        return [name for name in self.table.columns if name != "seconds"]

    @property
    def best(self) -> float:
        """Seconds of the fastest configuration."""
        return float(self.table["seconds"].min())

    @property
    def worst(self) -> float:
        """Seconds of the slowest configuration: a search that has found nothing yet counts as that."""
        return float(self.table["seconds"].max())

    def rank(self, seconds: float) -> float:
        """Return the share of the other configurations that are faster, in percent: 0 is the optimum."""
        return 100 * float((self.table["seconds"] < seconds).sum()) / (len(self.table) - 1)

    def regret(self, seconds: float) -> float:
        """Return by how much a time lies above the optimum's, relative to it."""
        return seconds / self.best - 1


def problems(data: Path, part: Part) -> list[Problem]:
    """Return the problems of one part, from the folder with the measured tables."""
    make = {
        "AMG": _amg, "GEMM": _gemm, "DUNE": _dune, "LAMMPS": _lammps,
        "broadcast": _broadcast, "QR": _qr, "HSMGP": _hsmgp, "convolution": _convolution,
    }  # fmt: skip
    return [
        Problem(program, name, _tidy(table))
        for program in (CHOOSE if part == "choose" else REPORT)
        for name, table in make[program](data)
    ]


Named = Iterator[tuple[str, pd.DataFrame]]


def _tidy(table: pd.DataFrame) -> pd.DataFrame:
    """Return knobs that vary, then seconds; each configuration once, not more of them than `_MOST`."""
    knobs = [name for name in table.columns if name not in ("seconds", "status") and table[name].nunique() > 1]
    table = table[[*knobs, "seconds"]].drop_duplicates(knobs)
    return table.sample(min(_MOST, len(table)), random_state=0).sort_index().reset_index(drop=True)


def _both(data: Path, name: str) -> pd.DataFrame:
    parts = [pd.read_csv(data / f"{name}-{part}.csv") for part in ("train", "test")]
    return pd.concat(parts, ignore_index=True)


def _amg(data: Path) -> Named:
    table = _both(data, "amg")
    for name in ("ct", "rt", "it"):
        table[name] = table[name].map("{:02d}".format)
    unknowns = table["nx"] * table["ny"] * table["nz"] * table["ppn"]
    columns = ["nx", "ny", "nz", "ct", "rt", "it", "tpp", "ppn", "seconds"]
    for many in (200_000, 700_000, 2_500_000, 6_000_000):
        near = np.abs(np.log(unknowns / many)) < np.log(1.03)
        yield f"{many:,} unknowns", table.loc[near, columns]
    for ppn, tpp, many in ((4, 16, 400_000), (16, 8, 2_000_000), (64, 1, 8_000_000)):
        near = (table["ppn"] == ppn) & (table["tpp"] == tpp) & (np.abs(np.log(unknowns / many)) < np.log(1.15))
        yield f"{ppn} x {tpp}, {many:,} unknowns", table.loc[near, columns]


def _gemm(data: Path) -> Named:
    table = _both(data, "gemm")
    m, n, k = (table[name].astype(float) for name in "mnk")
    table["seconds"] *= 1e9 / (2 * m * n * k)
    needed = 8 * (m * k + k * n + m * n)
    for megabytes in (0.5, 4, 32):
        yield f"{megabytes:g} MB", table[(needed <= megabytes * 1e6) & (needed > megabytes * 5e5)]


def _qr(data: Path) -> Named:
    table = _both(data, "geqrf")
    m, n = (table[name].astype(float) for name in "mn")
    long, short = np.maximum(m, n), np.minimum(m, n)
    table["seconds"] *= 1e9 / (2 * long * short**2 - 2 / 3 * short**3)
    for megabytes in (1, 3, 6):
        yield f"{megabytes} MB", table[(8 * m * n <= megabytes * 1e6) & (8 * m * n > megabytes * 5e5)]


def _broadcast(data: Path) -> Named:
    table = _both(data, "bcast")
    table["seconds"] *= 2**30 / table["msg"]
    for ranks in (16, 32, 64, 128, 256, 512):
        yield f"{ranks} ranks", table.loc[table["ppn"] * table["nodes"] == ranks, ["msg", "ppn", "seconds"]]


def _tuned(data: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(data / "tuning" / f"{name}.csv")


def _dune(data: Path) -> Named:
    table = _tuned(data, "dune")
    for cells in (50, 52, 54):  # the others are as these
        yield f"{cells:g} cells", table[table["cells"] == cells]


def _hsmgp(data: Path) -> Named:
    for cores, table in _tuned(data, "hsmgp").groupby("numCore"):
        yield f"{cores:g} cores", table


def _lammps(data: Path) -> Named:
    table = _tuned(data, "lammps-voro")
    yield "with failures", table
    yield "without failures", table[table["status"] == "ok"]


def _convolution(data: Path) -> Named:
    yield "15 x 15", _tuned(data, "convolution-a100")
