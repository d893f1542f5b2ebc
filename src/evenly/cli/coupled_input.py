"""Whether measured runs are those of coupled solvers: one step for all, without waiting, and nobody missing."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from evenly.cli.console import note
from evenly.cli.input_paths import why_unread
from evenly.cli.same_work import check_same_work
from evenly.errors import InputError, option_text
from evenly.readers.tables.columns import is_part, measured, unit_of_time
from evenly.readers.tables.states import name_key
from evenly.runs.units import base_unit
from evenly.space.expressions import quoted

if TYPE_CHECKING:
    from evenly.cli.run_input import Learned
    from evenly.readers import Measurements

__all__ = ["check_coupled", "check_inputs", "check_no_whole_runs", "check_one_program", "from_tables"]

#: Suffixes of tables, of which each usually holds a solver.
_TABLES = frozenset({".csv", ".tsv", ".xlsx", ".parquet"})
#: Suffixes of files that may hold times, of which none could be read.
_OF_TIMES = frozenset({
    ".csv", ".tsv", ".json", ".log", ".out", ".dat", ".nc", ".zip", ".zst", ".xz", ".bz2", ".gz", ".7z", ".tgz",
})  # fmt: skip
#: Names of what is the whole of a coupled run.
_WHOLES = frozenset({"total", "tot", "all", "coupled", "whole", "sum"})
#: Words of a time that no solver alone has.
_WHOLE_RUNS = _WHOLES | {
    "wall", "walltime", "elapsed", "run", "runtime", "real", "step", "mean", "median", "min", "max",
}  # fmt: skip
#: So many equal times can't be chance.
_FEWEST = 3
_WITHOUT_WAITING = "give the time of each without its waiting; if they are that, evenly allocate --no-waiting says so"
#: Timers of one wait differ by less than this share, and times of several runs by so many times more.
_TIMERS, _VARIED = 0.06, 10


def check_coupled(learned: Learned, *, chosen: bool, no_waiting: bool = False, step_days: float | None = None) -> None:
    """Refuse runs whose times can't be compared between solvers, and ask for what settles it.

    Parameters
    ----------
    learned : Learned
        The solvers' models, and what was read.
    chosen : bool
        Whether the user named the parameters: then other columns don't count.
    no_waiting : bool
        Whether the user says that the times are without the waiting.
    step_days : float, optional
        The days that a step simulates, as the user says.

    Raises
    ------
    InputError
        If the table of a solver can't be read, or the whole run would be a solver. If steps are of different work, or
        times contain the waiting. If a row
        seems to be wrong.
    """
    if unsure := [name for name, model in learned.models.items() if model.training_.get("outliers", {}).get("few")]:
        raise InputError(
            f"a row of {unsure[0] or 'the runs'} is far off the others (see the note above), and the plan would follow "
            "it: correct it, or leave it out; if it is right, --outliers keep says so"
        )
    found = learned.found
    if found is None:
        return
    check_inputs(found, [*learned.models])
    _check_nobody_missing(found, learned)
    if len(learned.models) < 2:
        return
    if wholes := [name for name in learned.models if name.lower() in _WHOLES and len(learned.models) > 2]:
        raise InputError(
            f"{wholes[0]!r} seems to be the whole of the coupled run, and no solver: leave it out with --without "
            f"{wholes[0]}; if it is a solver, give it another name"
        )
    _check_no_sum(learned)
    check_same_work(learned.runs, found, chosen=chosen, step_days=step_days)
    _check_waiting(learned, no_waiting=no_waiting)
    if not (no_waiting or found.placed):  # CESM's times are those of each component
        _check_balance(learned)


def from_tables(learned: Learned) -> bool:
    """Tell whether the times may be those of solvers alone: tables and saved models don't say it.

    Files of preCICE and CESM are those of coupled runs.
    """
    if len(learned.models) < 2:
        return False
    return learned.found is None or all(name == "table" for _, name in learned.found.sources)


def check_inputs(found: Measurements, solvers: Sequence[str]) -> None:
    """Refuse an input of which nothing was read, and names of solvers that may be one."""
    if found.unread:
        path = found.unread[0]
        raise InputError(
            f"nothing was read from {path} ({why_unread(path, found)}), so that a solver would be missing: correct it; "
            "or, if it holds no solver's times, leave it out"
        )
    _check_spelling(solvers)


def check_no_whole_runs(paths: Sequence[Path], found: Measurements, fixed: Collection[str]) -> None:
    """Refuse a table of whole coupled runs, with the cores of several solvers, as the runs of one program."""
    from evenly.readers.tables.wide import with_cores

    names = next(iter(found.runs.values())).parameters
    cores = {name: column for name, column in with_cores(names).items() if column not in fixed}
    if len(found.runs) > 1 or len(cores) < 2:
        return
    layout = shlex.quote(f"max({', '.join(map(quoted, cores))})")
    file = shlex.quote(str(paths[0])) if len(paths) == 1 and paths[0].is_file() else "FILE"
    raise InputError(
        f"{', '.join(cores.values())} may be the cores of solvers in whole coupled runs: --coupled {file} --layout "
        f"{layout}, without PATH, learns from these; or give the times of each solver in columns as {next(iter(cores))}"
        f"_time_s. If it is one program, give values of the others, as in --at {next(iter(cores.values()))}=…"
    )


def check_one_program(found: Measurements) -> None:
    """Ask whether the times of a single solver are those of one of several: others beside it have names like its own.

    No name is asked about that is the time of a whole run.
    """
    from evenly.readers.tables.side_by_side import shared_pattern

    times = [one.name for one in found.columns if one.role == "time"]
    asked = any("--time" in one.why for one in found.columns if one.role == "time")
    others = [one.name for one in found.columns if one.role == "quantity" and base_unit(one.unit) == "s"]
    pattern = shared_pattern([*times, *others]) if others else ""
    if len(found.runs) > 1 or len(times) != 1:
        return
    _check_units_of_solvers(times[0], others, asked=asked)
    if not pattern:
        return
    before, after = pattern.split("*")
    own = times[0].removeprefix(before).removesuffix(after)
    if len(others) > 1 and name_key(own) in _WHOLES and not asked:
        raise InputError(
            f"whether {', '.join(map(repr, others))} are the times of solvers, and {times[0]!r} that of all, is open: "
            f"if so, --time {shlex.quote(pattern)} --solver '*' --without {shlex.quote(own)} reads them; if it is the "
            f"time of one program, say so with --only {shlex.quote(next(iter(found.runs)))}"
        )
    if set(name_key(own).split("_")) & _WHOLE_RUNS:
        return
    raise InputError(
        f"whether {times[0]!r} is the time of one solver, and {', '.join(map(repr, others))} of others, is open: if "
        f"so, --time {shlex.quote(pattern)} --solver '*' reads them all; if it is the time of one program, say so with "
        f"--only {shlex.quote(next(iter(found.runs)))}"
    )


def _check_units_of_solvers(time: str, others: Sequence[str], *, asked: bool) -> None:
    """Ask whether times in other units are those of other solvers: ``atm_ms`` beside ``ocn_s``."""
    unit = unit_of_time(time)
    bases = {name: known.base for name in (time, *others) if (known := measured(name)) is not None}
    own = set(name_key(bases.get(time, time)).split("_"))
    rest = [name for name in others if unit_of_time(name) not in ("", unit) and not is_part(bases.get(name, name))]
    if not asked and rest and unit and not own & _WHOLE_RUNS and own != {"time"}:
        raise InputError(
            f"whether {time!r} is the time of one solver, and {', '.join(map(repr, rest))} of others, is open: if so, "
            f"give all in one unit, as s; if it is the time of one program, say so with {option_text('--time', time)}"
        )


def _check_spelling(solvers: Sequence[str]) -> None:
    """Ask about names of solvers that differ only in capitals or the marks between words."""
    by_key: dict[str, list[str]] = {}
    for name in solvers:
        by_key.setdefault(name_key(name), []).append(name)
    if alike := next((names for names in by_key.values() if len(names) > 1), None):
        raise InputError(
            f"whether {', '.join(map(repr, alike))} are one solver is open: if so, write its name alike everywhere; if "
            "not, give them names that differ in more than capitals and marks"
        )


def _check_nobody_missing(found: Measurements, learned: Learned) -> None:
    """Refuse an assignment without the solver whose table couldn't be read."""
    if learned.left_out:
        return
    read = {path for path, _ in found.sources}
    lost = [one for one in found.lost if one.path not in read and _TABLES & {s.lower() for s in one.path.suffixes}]
    if strange := [path for path in found.unknown if path.suffix.lower() in _OF_TIMES]:
        note(
            f"left out, since in no known format: {', '.join(map(str, strange[:5]))}{' …' if len(strange) > 5 else ''}"
        )
    if lost:
        raise InputError(
            f"{lost[0].path} was left out ({lost[0].reason}), so that a solver may be missing: correct it, or give the "
            "files of all solvers by their names"
        )


def _check_no_sum(learned: Learned) -> None:
    """Ask about a solver whose times are the sums of the others' in all runs: that of the whole, by another name."""
    import numpy as np

    times = {name: runs.values for name, runs in learned.runs.items()}
    lengths = {len(values) for values in times.values()}
    if len(times) < 3 or len(lengths) > 1 or lengths.pop() < _FEWEST:
        return
    everything = np.sum(list(times.values()), axis=0)
    for name, values in times.items():
        if np.allclose(values, everything - values, rtol=_TIMERS / 3, atol=0):
            raise InputError(
                f"the times of {name!r} are the sums of those of the others, as those of the whole coupled run are: "
                f"leave it out with --without {name}; if it is a solver, give its times apart"
            )


def _check_waiting(learned: Learned, *, no_waiting: bool) -> None:
    """Refuse times of one table that are the same for all solvers: each contains the waiting for the others."""
    import numpy as np

    times = [np.sort(runs.values) for runs in learned.runs.values()]
    sources = {source for runs in learned.runs.values() for source in runs.to_frame()["source"]}
    alike = len(sources) == 1 and len({len(one) for one in times}) == 1 and len(times) > 1 and len(times[0]) >= _FEWEST
    if (
        alike
        and not no_waiting
        and all(np.allclose(one, times[0], rtol=1e-6, atol=0) for one in times[1:])
        and np.ptp(times[0]) > 0
    ):
        raise InputError(
            f"the times of {', '.join(learned.runs)} are the same, as times are that contain the waiting for each "
            f"other: {_WITHOUT_WAITING}"
        )
    waits = {name for runs in learned.runs.values() for name in runs.quantities if "wait" in name.lower()}
    own = {name for runs in learned.runs.values() for name in ("coupling", "solving") if name in runs.quantities}
    if waits and not own:
        note(f"{', '.join(sorted(waits))} isn't subtracted from the times: they must be those without the waiting")


def _check_balance(learned: Learned) -> None:
    """Ask whether times contain the waiting where two solvers take nearly the same in each run, on other cores.

    So do solvers whose cores were balanced well in all runs. If times agree run by run, they do so in their order.
    """
    import numpy as np

    ordered = {name: runs.ok.to_frame().sort_values(runs.response) for name, runs in learned.runs.items()}
    for first, second in combinations(learned.runs, 2):
        one, other = ordered[first], ordered[second]
        if len(one) != len(other) or len(one) < _FEWEST or "solving" in learned.runs[first].quantities:
            continue  # preCICE tells solving from waiting
        logs = [np.log(ordered[name][learned.runs[name].response].to_numpy()) for name in (first, second)]
        apart = float(np.sqrt(np.mean((logs[0] - logs[1]) ** 2)))
        counts = [ordered[name][list(learned.runs[name].parameters)].to_numpy() for name in (first, second)]
        moved = np.mean([tuple(a) != tuple(b) for a, b in zip(*counts, strict=True)])
        if apart < _TIMERS and np.ptp(logs[0]) > _VARIED * apart and moved > 0.5:
            raise InputError(
                f"in {len(one)} runs, {first} and {second} take the same time, to {max(100 * apart, 0.01):.1g} %, "
                f"although their cores differ, as times do that contain the waiting for each other: {_WITHOUT_WAITING}"
            )
