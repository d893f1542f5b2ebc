"""What a proposal of `evenly.tune`'s default search costs, in CPU seconds of one thread.

    OPENBLAS_NUM_THREADS=1 python benchmarks/proposals.py [--repeats 5]

Spaces of 5,000 and 10^6 feasible configurations of six parameters, none listed beforehand by the user; runs of a smooth
function with 3 % noise; medians over searches with other seeds, each told as many runs before. The first proposal of
a search in a new process also imports and compiles, and isn't counted.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from evenly.space.parameters import Categorical, Integer
from evenly.space.space import Space
from evenly.tuning.candidates import Candidates
from evenly.tuning.search import Search

RUNS = (20, 50, 99, 217)
#: Of ranks, threads, blocks and tiles; beside them there are two parameters of two labels.
MOST = {"5,000 configurations": (50, 5, 5, 1), "10^6 configurations": (100, 50, 25, 2)}


def space_of(most: tuple[int, ...]) -> Space:
    """Return a space of six parameters."""
    numbers = zip(("ranks", "threads", "block", "tiles"), most, strict=True)
    labels = {"solver": Categorical("cg", "gmres"), "order": Categorical("x", "y")}
    return Space.of({name: Integer(1, high, scale="log") for name, high in numbers} | labels)


def seconds(configuration: dict[str, object], random: np.random.Generator) -> float:
    """Return what a configuration takes."""
    numbers = np.log([float(configuration[name]) for name in ("ranks", "threads", "block")])  # type: ignore[arg-type]
    labels = {"cg": 0.0, "gmres": 0.3, "x": 0.0, "y": 0.1}
    label = labels[str(configuration["solver"])] + labels[str(configuration["order"])]
    return float(np.exp(label + 0.2 * np.sum((numbers - [2.5, 0.7, 1.0]) ** 2) + 0.03 * random.normal()))


def proposal_s(space: Space, candidates: Candidates, runs: int, seed: int) -> float:
    """Return CPU seconds of the proposal after so many runs at random."""
    random = np.random.default_rng(seed)
    search = Search(space, seed=seed, candidates=candidates)
    for configuration in space.sample(runs, design="random", seed=seed).to_dict("records"):
        search.tell(configuration, seconds(configuration, random))
    begin = time.process_time()
    search.choose()
    return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(f"{'CPU seconds of a proposal after':32s}" + "".join(f"{n:6d}" for n in RUNS) + "  runs")
    for name, most in MOST.items():
        space = space_of(most)
        candidates = Candidates(space)
        proposal_s(space, candidates, 20, 99)
        found = [[proposal_s(space, candidates, n, seed) for seed in range(options.repeats)] for n in RUNS]
        print(f"{name:32s}" + "".join(f"{np.median(times):6.2f}" for times in found))


if __name__ == "__main__":
    main()
