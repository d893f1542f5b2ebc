"""What coupled runs take beside what is known of their solvers: layouts of CESM, whole runs of IFS and NEMO, steps.

    python benchmarks/coupled_runs.py CESM_FOLDERS… --earth FOLDER

CESM_FOLDERS hold timing files of CESM and E3SM. FOLDER holds the curves (``ATMIFS_scalability_CMIP6.csv``,
``oceanx_scalability_CMIP6.csv``), the steps (``ATMIFS_ts_CMIP6_384.csv``, ``oceanx_ts_CMIP6_229.csv``) and the coupled
runs (``ifs_nemo_coupled_runs.csv``) of EC-Earth.

Three tables. How much of a run's time the layout by root_pe makes of its components' times. How far off whole coupled
runs are predicted, from the curves alone and with some other runs known, drawn at random, without and with steps that
vary; how far the predictions lean (above 0: too long), and how many runs lie in 90 % intervals. How far off the mean
step is with steps that vary, scaled to their mean and to their median.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import evenly
from evenly.allocation.problem.coupled_runs import SCATTER, CoupledRuns
from evenly.allocation.problem.noise import Noise, Statistic
from evenly.errors import EvenlyError
from evenly.readers.cesm_timing import CesmTimingReader

DRAWS = 12
CURVES = {"ifs": "ATMIFS_scalability_CMIP6.csv", "nemo": "oceanx_scalability_CMIP6.csv"}
STEPS = {"ifs": "ATMIFS_ts_CMIP6_384.csv", "nemo": "oceanx_ts_CMIP6_229.csv"}
DAY_S = 86400.0


def layouts(folders: Sequence[Path]) -> None:
    """Print the layout of each timing file, and its share of the run's time."""
    print(f"{'timing file':44}  {'of TOT Run Time':>15}  layout by root_pe")
    for path in sorted(path for folder in folders for path in folder.iterdir() if path.is_file()):
        reader = CesmTimingReader()
        try:
            reader.read(path)
        except EvenlyError:
            continue
        for placed in reader.placed:
            share = "–" if placed.share is None else f"{placed.share:.1%}"
            print(f"{path.name[:44]:44}  {share:>15}  {placed.layout}")


class Earth:
    """The curves, steps and coupled runs of EC-Earth."""

    def __init__(self, folder: Path) -> None:
        self.models = {}
        for name, file in CURVES.items():
            curve = pd.read_csv(folder / file)
            curve["seconds"] = DAY_S / curve["SYPD"]
            self.models[name] = evenly.fit(evenly.Runs.from_frame(curve, ["nproc"]))
        runs = pd.read_csv(folder / "ifs_nemo_coupled_runs.csv")
        self.seconds = (DAY_S / runs["SYPD"]).to_numpy()
        per_step = {name: runs[f"{name}_exec_s"] / runs["n_ts"] for name in CURVES}
        #: The components' times inside each run, and those of the runs; seconds per step.
        self.inside = {name: values.to_numpy() for name, values in per_step.items()}
        self.steps_took = (runs["coupled_s"] / runs["n_ts"]).to_numpy()
        self.cores = {name: runs[f"{name}_nproc"].to_numpy(dtype=np.int64) for name in CURVES}
        steps = {name: pd.read_csv(folder / file)["Component"].dropna() for name, file in STEPS.items()}
        self.steps = {name: values.to_numpy() for name, values in steps.items()}

    def plan(self, run: int, **more: object) -> evenly.Plan:
        """Return the plan that has the cores of a run."""
        counts = {name: int(cores[run]) for name, cores in self.cores.items()}
        fixed = {name: {"allowed": [count]} for name, count in counts.items()}
        return evenly.allocate(self.models, sum(counts.values()), limits=fixed, **more)  # type: ignore[arg-type]

    def judged(self, known: Sequence[int], *, steps: bool = False) -> tuple[float, float, float]:
        """Return the mean error of runs that aren't known, how far they lean, and the share in 90 % intervals."""
        runs = (
            CoupledRuns({name: cores[known] for name, cores in self.cores.items()}, self.seconds[known])
            if known
            else None
        )
        errors, held = [], []
        for run in sorted(set(range(len(self.seconds))) - set(known)):
            noise = Noise(scatter=SCATTER, samples=self.steps if steps else None)
            plan = self.plan(run, noise=noise, **({} if runs is None else {"coupled": runs}))
            low, high = plan.expected_interval or (0.0, np.inf)
            errors.append(plan.expected_seconds / self.seconds[run] - 1)
            held.append(low <= self.seconds[run] <= high)
        return float(np.mean(np.abs(errors))), float(np.mean(errors)), float(np.mean(held))

    def mean_step(self, statistic: Statistic | None) -> float:
        """Return the mean error of the mean step; None leaves the variation of steps out."""
        noise = Noise() if statistic is None else Noise(samples=self.steps, statistic=statistic)
        found = [self.plan(run, noise=noise).expected_seconds for run in range(len(self.seconds))]
        return float(np.mean(np.abs(np.array(found) / self.seconds - 1)))

    def mean_step_inside(self, statistic: Statistic | None) -> float:
        """Return the mean error of the mean step where the components' times inside each run are known."""
        noise = Noise() if statistic is None else Noise(samples=self.steps, statistic=statistic)
        found = []
        for run in range(len(self.seconds)):
            counts = {name: int(cores[run]) for name, cores in self.cores.items()}
            solvers = {name: partial(_always, float(values[run])) for name, values in self.inside.items()}
            fixed = {name: {"allowed": [count]} for name, count in counts.items()}
            plan = evenly.allocate(solvers, sum(counts.values()), limits=fixed, noise=noise)  # type: ignore[arg-type]
            found.append(plan.expected_seconds)
        return float(np.mean(np.abs(np.array(found) / self.steps_took - 1)))

    def inside_over_alone(self, name: str) -> float:
        """Return the mean ratio of a component's time inside the runs to that of its curve."""
        step_s = self.steps_took / self.seconds  # seconds per step over those of a simulated year, by the runs
        alone = self.models[name].predict({"nproc": self.cores[name]}) * step_s
        return float(np.mean(self.inside[name] / alone))


def _always(seconds: float, _: object) -> float:
    return seconds


def coupled(earth: Earth) -> None:
    """Print errors and coverage by the number of coupled runs that are known."""
    random, total = np.random.default_rng(0), len(earth.seconds)
    print(f"{'':18}  {'no steps':^31}   {'with steps':^31}")
    heads = f"{'error':>6}  {'lean':>6}  in 90 % interval"
    print(f"{'coupled runs known':>18}  {heads}   {heads}")
    for number in (0, 1, 2, 3, 5, 8):
        draws = DRAWS if number else 1
        chosen = [sorted(random.choice(total, number, replace=False).tolist()) for _ in range(draws)]
        told = [np.mean([earth.judged(one, steps=steps) for one in chosen], axis=0) for steps in (False, True)]
        each = [f"{error:6.1%}  {lean:+6.1%}  {held:16.0%}" for error, lean, held in told]
        print(f"{number:18}  {'   '.join(each)}")
    apart = np.log(earth.seconds / [earth.plan(run).seconds for run in range(total)])
    print(f"scatter of the runs around the curves (standard deviation of logarithms): {apart.std():.1%}")
    print()
    for told, statistic in (
        ("each takes its mean", None),
        ("scaled to the mean", "mean"),
        ("scaled to the median", "median"),
    ):
        alone, inside = earth.mean_step(statistic), earth.mean_step_inside(statistic)  # type: ignore[arg-type]
        print(f"{'steps: ' + told:30}  {alone:6.1%}  {inside:6.1%} with the components' times inside each run")
    for name in CURVES:
        print(f"{name} takes {earth.inside_over_alone(name):.2f} of its curve's time inside the runs")


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--earth", type=Path)
    asked = parser.parse_args()
    layouts(asked.folders)
    if asked.earth is not None:
        print()
        coupled(Earth(asked.earth))


if __name__ == "__main__":
    main()
