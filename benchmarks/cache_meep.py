"""From how many bytes on Meep's chunks fall out of the caches: how well calibrated times are explained, by threshold.

    python benchmarks/cache_meep.py                    # the costs that came with evenly
    python benchmarks/cache_meep.py --cost costs.json

Amounts of all terms but the last are those that were calibrated. Bytes held and moved are put together from them again:
points, points in PML and poles times what the cost model says of each. Residuals are logs of predicted over measured
seconds; *large* are cells that hold more than 6 MB.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.calibration.nonnegative_regression import regress
from evenly.decomposition.costs import meep
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.costs.locations import find_cost

Array = NDArray[np.float64]
THRESHOLDS = (1, 2, 3, 4, 6, 8, 12, 16)
LARGE = 6e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cost", type=Path, help="a cost model (default: this machine's, or the shipped one)")
    found = find_cost("meep", parser.parse_args().cost)
    print(found.note, "\n")
    names, amounts, seconds = measured(found.cost)
    held, moved = traffic(names, amounts)
    print("from MB     rms   large cells: mean   ns per byte")
    for threshold in (None, *THRESHOLDS):
        beyond = np.zeros(len(held)) if threshold is None else np.maximum(0, 1 - threshold * 1e6 / held)
        amounts[:, names.index("memory bytes")] = moved * beyond
        fit = regress(amounts, seconds)
        missed = np.log1p(fit.residuals)
        cost = fit.coefficients[names.index("memory bytes")] * 1e9
        print(f"{threshold or 'none':>7}  {missed.std():6.1%}  {missed[held > LARGE].mean():+17.1%}  {cost:12.4f}")


def measured(cost: CostModel) -> tuple[list[str], Array, Array]:
    """Return the terms, the amounts (rows, terms) of them and the seconds (rows,) of a calibration."""
    rows = cost.measured
    names = sorted({name for row in rows for name in row["amounts"]} | {"memory bytes"})
    amounts = np.array([[row["amounts"].get(name, 0.0) for name in names] for row in rows])
    return names, amounts, np.array([row["seconds"] for row in rows])


def traffic(names: list[str], amounts: Array) -> tuple[Array, Array]:
    """Return the bytes that each row's cell holds, and those that a step moves."""
    of = dict(zip(names, amounts.T, strict=True))
    points = of["points"] + of["points of planes"]
    in_pml = sum((of[f"PML {axes}d points"] for axes in (1, 2, 3)), np.zeros(len(points)))
    poles = of["poles kept"]
    held = meep.HELD * points + meep.HELD_IN_PML * in_pml + meep.HELD_BY_POLE * poles
    moved = meep.MOVED * points + meep.MOVED_IN_PML * in_pml + meep.MOVED_BY_POLE * poles
    return 8 * held, 8 * moved


if __name__ == "__main__":
    main()
