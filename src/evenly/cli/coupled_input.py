"""Whether measured runs are those of coupled solvers: one step for all, without waiting, and nobody missing.

Whole coupled runs (``--coupled``) are a table with the cores of each solver, ``ifs_cores``, and the time of a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evenly.cli.console import note
from evenly.errors import InputError, ReadError
from evenly.readers.tables.states import name_key
from evenly.runs.count_names import kind_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evenly.allocation.problem.coupled_runs import CoupledRuns
    from evenly.allocation.problem.whole_runs import WholeRuns
    from evenly.cli.run_input import Learned
    from evenly.readers import Measurements
    from evenly.readers.tables.values import Values

__all__ = ["check_coupled", "from_tables", "read_coupled", "whole_runs"]

#: Suffixes of tables, of which each usually holds a solver.
_TABLES = frozenset({".csv", ".tsv", ".xlsx", ".parquet"})
#: Names of what is the whole of a coupled run.
_WHOLES = frozenset({"total", "tot", "all", "coupled", "whole", "sum"})
#: Words of counts of the work of a run: times of different amounts of work can't be compared.
_WORK = frozenset({
    "steps", "nsteps", "timesteps", "windows", "iterations", "days", "months", "years", "nts", "ndays", "nyears",
    "cycles",
})  # fmt: skip
#: Rates of which one unit of work is another one's many.
_OF_SIMULATED_TIME = frozenset({"SYPD", "SDPD"})
#: So many equal times can't be chance.
_FEWEST = 3


class _OtherWorkError(InputError):
    """A table of coupled runs has no single time of the work that was asked for; it may have one of other work."""


def check_coupled(learned: Learned, *, chosen: bool) -> None:
    """Refuse runs whose times can't be compared between solvers, and ask for what settles it.

    Parameters
    ----------
    learned : Learned
        The solvers' models, and what was read.
    chosen : bool
        Whether the user named the parameters: then other columns don't count.

    Raises
    ------
    InputError
        If the table of a solver can't be read, or the whole run would be a solver. If steps are of different work, or
        times contain the waiting.
    """
    found = learned.found
    if found is None:
        return
    _check_nobody_missing(found, learned)
    if len(learned.models) < 2:
        return
    if wholes := [name for name in learned.models if name.lower() in _WHOLES and len(learned.models) > 2]:
        raise InputError(
            f"{wholes[0]!r} seems to be the whole of the coupled run, and no solver: leave it out with --without "
            f"{wholes[0]}; if it is a solver, give it another name"
        )
    _check_same_work(found)
    if not chosen:
        _check_counts_of_work(learned)
    _check_waiting(learned)


def from_tables(learned: Learned) -> bool:
    """Tell whether the times may be those of solvers alone: tables and saved models don't say it.

    Files of preCICE and CESM are those of coupled runs.
    """
    if len(learned.models) < 2:
        return False
    return learned.found is None or all(name == "table" for _, name in learned.found.sources)


def whole_runs(coupled: Path, time: str | None, layout: str | None) -> tuple[WholeRuns, bool]:
    """Return what whole coupled runs alone tell of the solvers of a layout, and whether a step is a simulated year.

    Raises
    ------
    InputError
        If the layout doesn't name the solvers, or as `read_coupled`.
    """
    from evenly.allocation.problem.layout import parse_layout
    from evenly.allocation.problem.whole_runs import learn_whole_runs

    if layout is None or layout.strip() in ("parallel", "serial"):
        raise InputError(
            "whole coupled runs alone don't tell who waits for whom: name the solvers with --layout, as in --layout "
            "'max(ice + atm, ocn)', or give PATH, the times of each solver"
        )
    tree = parse_layout(layout)
    solvers = list(tree.names)
    try:
        runs, years = read_coupled(coupled, time, solvers, simulated_years=False), False
    except _OtherWorkError:
        runs, years = read_coupled(coupled, time, solvers, simulated_years=True), True
    found = learn_whole_runs(tree, runs)
    note(f"curves are learned from {len(runs.seconds)} whole runs alone, as a · cores^-b with one b for all solvers")
    if unsure := [name for name, told in found.told.items() if not told]:
        note(
            f"these runs don't tell the times of {', '.join(unsure)} apart from the others': their cores may be far "
            "from the best. Measure them, or vary their share of the cores"
        )
    return found, years


def read_coupled(path: Path, time: str | None, solvers: Sequence[str], *, simulated_years: bool) -> CoupledRuns:
    """Return the whole coupled runs of a table.

    Parameters
    ----------
    path : Path
    time : str, optional
        The column of the time; by default the only one, or SYPD where the solvers' times are of that.
    solvers : sequence of str
    simulated_years : bool
        Whether a step of the solvers is a simulated year.

    Raises
    ------
    InputError
        If a solver has no column of cores, or the time isn't known.
    """
    from evenly.allocation.problem.coupled_runs import CoupledRuns
    from evenly.readers.files import lines
    from evenly.readers.tables.columns import measured, time_candidates, unit_of_time
    from evenly.readers.tables.delimited import parse
    from evenly.readers.tables.options import TableOptions
    from evenly.readers.tables.values import Values

    try:
        table = parse(path, lines(path))
        values = Values(TableOptions(), path, table.frame, table.lines)
        names = [str(name) for name in table.frame]
        cores = {solver: _column_of_cores(solver, names) for solver in solvers}
        if lacking := [solver for solver, column in cores.items() if column is None]:
            raise InputError(
                f"--coupled needs the cores of each solver in a column, as {lacking[0]}_cores, but {path} has "
                f"{', '.join(names)}"
            )
        own = [name for name in names if any(name_key(name).startswith(name_key(solver)) for solver in solvers)]
        timed = [name for name in names if name not in own]
        found = [m.column for m in time_candidates(timed)]
        if time is None and simulated_years:
            found = [name for name in timed if (m := measured(name)) is not None and m.unit == "SYPD"]
        if time is not None and time not in names:
            raise InputError(f"--coupled-time names {time!r}, but {path} has {', '.join(names)}")
        if time is None and len(found) != 1:
            raise _OtherWorkError(
                f"which column of {path} is the time of a step of the coupled run is open "
                f"({', '.join(found or timed)}): say it with --coupled-time"
            )
        column = time or found[0]
        known = measured(column)
        unit = (known.unit if known else "") or unit_of_time(column) or "s"
        if (unit == "SYPD") != simulated_years:
            raise _OtherWorkError(
                f"{column!r} of --coupled and the times of the solvers are of different work: give both as SYPD, or "
                "both as the time of a step"
            )
        counts = {solver: _whole_counts(values, str(name)) for solver, name in cores.items()}
        return CoupledRuns(counts, values.seconds(column, unit))
    except ReadError as error:
        raise InputError(f"--coupled: {error}") from None


def _whole_counts(values: Values, name: str) -> NDArray[np.int64]:
    """Return a column of cores, (n_runs,); each run must tell its own."""
    import numpy as np

    found = values.numbers(name)
    wrong = np.flatnonzero(~(np.isfinite(found) & (found >= 1) & (found == np.round(found))))
    if len(wrong):
        row = int(wrong[0])
        raise values.at(row, f"{name!r} must be a whole number above zero, but got {values.cells[name].iloc[row]!r}")
    return found.astype(np.int64)


def _column_of_cores(solver: str, names: Sequence[str]) -> str | None:
    """Return the column with the cores of a solver: its name, and a word for cores or ranks before or behind it."""
    key = name_key(solver)
    for name in names:
        its = name_key(name)
        rest = its.removeprefix(f"{key}_") if its.startswith(f"{key}_") else its.removesuffix(f"_{key}")
        if rest != its and kind_of(rest) in ("cores", "ranks"):
            return name
    return None


def _check_nobody_missing(found: Measurements, learned: Learned) -> None:
    """Refuse an assignment without the solver whose table couldn't be read."""
    if learned.left_out:
        return
    read = {path for path, _ in found.sources}
    lost = [one for one in found.lost if one.path not in read and one.path.suffix.lower() in _TABLES]
    if lost:
        raise InputError(
            f"{lost[0].path} was left out ({lost[0].reason}), so that a solver may be missing: correct it, or give the "
            "files of all solvers by their names"
        )


def _check_same_work(found: Measurements) -> None:
    units = {column.name: column.unit for column in found.columns if column.role == "time"}
    kinds = {unit if unit in _OF_SIMULATED_TIME else "" for unit in units.values()}
    if len(kinds) > 1:
        told = ", ".join(f"{name!r}" for name in units)
        raise InputError(
            f"the times of the solvers ({told}) are of different work: with SYPD, a step is a simulated year, with "
            "SDPD a simulated day, and what it is with another time isn't known: give all in one unit"
        )


def _check_counts_of_work(learned: Learned) -> None:
    """Refuse counts of steps or days that are one number for each solver, but not the same for all."""
    values: dict[str, dict[str, float]] = {}
    for solver, runs in learned.runs.items():
        for name in runs.parameters:
            column = runs.configurations[name]
            if column.nunique() == 1 and column.dtype != object and set(name.lower().split("_")) & _WORK:
                values.setdefault(name, {})[solver] = float(column.iloc[0])
    for name, of_solvers in values.items():
        if len(of_solvers) > 1 and len(set(of_solvers.values())) > 1:
            told = ", ".join(f"{count:g} for {solver}" for solver, count in of_solvers.items())
            raise InputError(
                f"{name} is {told}, so that their times are of different work: give the time of one step of the "
                f"coupled run for each; or, if the times are those already, leave {name} out with --parameters"
            )


def _check_waiting(learned: Learned) -> None:
    """Refuse times of one table that are the same for all solvers: each contains the waiting for the others."""
    import numpy as np

    times = [np.sort(runs.values) for runs in learned.runs.values()]
    sources = {source for runs in learned.runs.values() for source in runs.to_frame()["source"]}
    alike = len(sources) == 1 and len({len(one) for one in times}) == 1 and len(times) > 1 and len(times[0]) >= _FEWEST
    if alike and all(np.allclose(one, times[0], rtol=1e-6, atol=0) for one in times[1:]) and np.ptp(times[0]) > 0:
        raise InputError(
            f"the times of {', '.join(learned.runs)} are the same, as times are that contain the waiting for each "
            "other: give the time of each without its waiting"
        )
    waits = {name for runs in learned.runs.values() for name in runs.quantities if "wait" in name.lower()}
    own = {name for runs in learned.runs.values() for name in ("coupling", "solving") if name in runs.quantities}
    if waits and not own:
        note(f"{', '.join(sorted(waits))} isn't subtracted from the times: they must be those without the waiting")
