"""Calibration of `evenly.fdtd` on this machine: times its designs and fits a cost model to the times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from evenly.decomposition.calibration.calibration import Progress, calibrate
from evenly.decomposition.calibration.designs import Design
from evenly.decomposition.calibration.fdtd_designs import fdtd_designs
from evenly.decomposition.calibration.fdtd_runs import built, lone_ranks, run_design
from evenly.decomposition.calibration.fitting import learn
from evenly.decomposition.calibration.timing_store import TimingStore
from evenly.decomposition.costs.cost_model import CostModel, program_named
from evenly.decomposition.costs.locations import machine_name, shipped_file, store_file, versions

__all__ = ["calibrate_fdtd", "open_store", "warm_up"]


def calibrate_fdtd(
    budget_s: float = 180.0,
    *,
    store: Path | None = None,
    designs: Sequence[Design] | None = None,
    progress: Callable[[Progress], object] = lambda _: None,
) -> CostModel:
    """Return the cost model of `evenly.fdtd` on this machine, fitted to timed designs.

    Parameters
    ----------
    budget_s : float
        Wall seconds for all runs together; an interrupted calibration is resumed.
    store : Path, optional
        File of the timings until the calibration is done; by default in the user's data folder.
    designs : sequence of Design, optional
        The designs to time; by default `fdtd_designs`.
    progress : callable
        Called with the progress before every run and at the end.

    Raises
    ------
    InputError
        If the budget isn't above 0, or the store was made by another machine or version.
    """
    kept, given = open_store(store or store_file("fdtd")), list(designs or fdtd_designs())
    warm_up(given, progress)
    timed = calibrate(given, run_design, kept, budget_s=budget_s, progress=progress)
    shipped = shipped_file("fdtd")
    prior = CostModel.load(shipped) if shipped.exists() else None
    about = {"machine": machine_name(), "versions": kept.about["versions"]}
    return learn("fdtd", timed, prior=prior, pace_s=kept.pace, pace_spread=kept.pace_spread, **about)


def open_store(path: Path) -> TimingStore:
    """Return the store of timings in a file, for this machine and these versions."""
    about = {"program": "fdtd", "machine": machine_name(), "versions": versions("evenly", "numpy", "numba")}
    return TimingStore(path, {**about, "terms": [term.name for term in program_named("fdtd").all_terms]})


def warm_up(designs: Sequence[Design], progress: Callable[[Progress], object] = lambda _: None) -> None:
    """Step one design of each feature, so that all loops are compiled before the first timing."""
    first = {design.group: design for design in reversed(designs) if design.purpose == "feature"}
    for design in first.values():
        progress(Progress(0.0, 1.0, 0, len(designs), 0, f"compiling for {design.group}"))
        keywords, monitors = built(design.settings)
        for sim in lone_ranks(keywords, int(design.settings.get("ranks", 1)), monitors)[:1]:
            for _ in range(2):
                sim.step()
            for monitor in sim.monitors:
                monitor.flush()
