"""What runs of preCICE, its configuration and its logs tell together: the coupling, and the steps in a time window."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evenly.readers.precice.coupling import find_coupling
from evenly.readers.precice.doubts import other_scheme, runs_that_iterated, settled
from evenly.readers.precice.iteration_logs import iterations_in_window, read_logs
from evenly.readers.precice.paired_runs import incomplete_runs, steps_made
from evenly.readers.precice.schemes import Coupling
from evenly.readers.precice.window_steps import own_work, steps_per_window, substeps
from evenly.readers.registry import Skipped
from evenly.runs.runs import Runs

__all__ = ["CoupledRuns", "coupled_runs"]


@dataclass(frozen=True)
class CoupledRuns:
    """The coupling of measured participants; fields are those of `evenly.readers.scanning.Measurements`.

    Parameters
    ----------
    coupling, window_steps, iterations, substeps, notes, skipped
        As there.
    doubt : str
        What to ask where the runs contradict the configuration; it is also among the notes.
    used : tuple of Path
        Configurations and logs.
    """

    coupling: Coupling | None = None
    window_steps: Mapping[str, float] = field(default_factory=dict)
    iterations: float | None = None
    substeps: Mapping[str, float] = field(default_factory=dict)
    doubt: str = ""
    used: tuple[Path, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()


def coupled_runs(
    steps: Mapping[str, Runs], xml: Iterable[Path], unknown: Sequence[Path], cut: Sequence[Path]
) -> CoupledRuns:
    """Return what is known of the coupling of runs.

    Parameters
    ----------
    steps : mapping of str to Runs
        Of participants whose files tell their steps.
    xml : iterable of Path
        XML files, of which some may be configurations.
    unknown : sequence of Path
        Files in no format of runs, of which some may be preCICE's logs.
    cut : sequence of Path
        The files of runs that didn't come to their end.

    Examples
    --------
    >>> coupled_runs({}, [], [], []).coupling is None
    True
    """
    coupling, strays = find_coupling(xml)
    logged, logs, damaged = read_logs(unknown) if steps else ([], [], [])
    if coupling is None and strays.couplings:
        coupling, said = settled(strays.couplings, steps, logged)
        strays.notes = [said] if coupling is not None else strays.notes
    counts: Mapping[str, float] = {}
    told: list[str] = []
    doubt = ""
    if coupling is not None:
        written = {p: count for p, count in strays.windows.items() if strays.couplings.get(p, coupling) == coupling}
        window = steps_per_window(coupling, steps, logged, cut=cut, written=written)
        doubt, unused = runs_that_iterated(coupling, steps, window.counts, logged)
        doubt = doubt or other_scheme(coupling, steps, window.counts)
        counts, told = window.counts, [*coupling.notes, "" if doubt else window.note, unused, doubt]
    own = [f"{name}: {said}" for name, one in steps.items() if (said := own_work(one))]
    files = {name: [path for path, _ in steps_made(one)] for name, one in steps.items()}
    return CoupledRuns(
        coupling=coupling,
        window_steps=counts,
        iterations=iterations_in_window(steps, logged),
        substeps=substeps(steps, cut),
        doubt=doubt,
        used=(*strays.used, *logs),
        skipped=(*strays.skipped, *damaged),
        notes=tuple(filter(None, (*own, *strays.notes, *told, incomplete_runs(files)))),
    )
