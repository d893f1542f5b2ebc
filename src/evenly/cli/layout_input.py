"""How coupled solvers wait for each other: what the user says, what measurements tell, or what must be asked."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from evenly.cli.console import note
from evenly.errors import InputError
from evenly.readers.cesm_layout import Placement, cores_kept

if TYPE_CHECKING:
    from evenly.cli.run_input import Learned
    from evenly.readers import Measurements
    from evenly.runs.runs import Runs

__all__ = ["check_layout", "kept_beside_own", "layout_of", "threads_of"]


def layout_of(layout: str | None, learned: Learned) -> str:
    """Return how the solvers wait for each other, and say what was assumed."""
    found = learned.found
    if layout is not None:
        if found is not None and "*" not in layout:
            _tell_substeps(found.substeps)
        return layout
    if found is not None and found.coupling is not None and set(found.coupling.participants) == set(learned.models):
        if found.other_scheme:
            told = " and ".join(map(str, found.coupling.participants))
            raise InputError(f"the layout of {told} is open (see the note above): say it with --layout")
        note(f"layout {found.layout}, from the preCICE configuration found")
        return str(found.layout)
    if found is not None and found.coupling is not None and set(learned.models) < set(found.coupling.participants):
        lacking = ", ".join(name for name in found.coupling.participants if name not in learned.models)
        raise InputError(
            f"the preCICE configuration couples {', '.join(found.coupling.participants)}, but nothing was measured of "
            f"{lacking}: measure all, or say how the others wait for each other, as --layout parallel"
        )
    if found is not None and found.coupling is not None and (own := _in_own_words(found, list(learned.models))):
        note(f"layout {own}, from the preCICE configuration found, whose names differ in capitals only")
        return own
    if found is not None and found.placed and len(learned.models) > 1:
        return _of_timing_files(found, list(learned.models))
    if found is not None and len(learned.models) > 1:
        _ask_precice(found, list(learned.models))
        _tell_substeps(found.substeps)
    if len(learned.models) > 1:
        note(f"the solvers are taken to run side by side, max({', '.join(learned.models)}): --layout says otherwise")
    return "parallel"


def _in_own_words(found: Measurements, solvers: list[str]) -> str:
    """Return the layout of a configuration whose participants are the solvers but for capitals; "" otherwise."""
    names = {} if found.coupling is None else {name.lower(): name for name in map(str, found.coupling.participants)}
    own = {names[solver.lower()]: solver for solver in solvers if solver.lower() in names}
    plain = all(re.fullmatch(r"[^\W\d]\w*", name) for name in (*own, *own.values()))
    if not plain or not len(own) == len(names) == len(solvers):
        return ""
    return re.sub(r"[^\W\d]\w*", lambda word: own.get(word[0], word[0]), str(found.layout))


def _of_timing_files(found: Measurements, solvers: list[str]) -> str:
    """Return the layout that the timing files of CESM or E3SM have, or ask for it."""
    from evenly.allocation.problem.layout import parse_layout

    if found.layout is None:
        raise InputError(
            "how the components wait for each other is open (see the note above): say it with --layout, as in "
            "--layout 'max(max(lnd, ice) + atm + cpl, ocn)', where + is one after the other on the same cores"
        )
    if set(parse_layout(found.layout).names) != set(solvers):
        raise InputError(
            f"the timing files have the layout {found.layout}, but the solvers are {', '.join(solvers)}: say with "
            "--layout how these wait for each other, or leave out --only"
        )
    note(f"layout {found.layout}, from root_pe in the timing files")
    return found.layout


def threads_of(learned: Learned) -> dict[str, int]:
    """Return the cores that each task of components of CESM or E3SM keeps, where there are several, and say so."""
    found = {} if learned.found is None else learned.found.cores_per_task
    several = {name: count for name, count in found.items() if count > 1 and name in learned.models}
    if several:
        told = ", ".join(f"{name} {count}" for name, count in several.items())
        note(f"cores are multiples of those that each task kept for threads in the timing files: {told}")
    return several


def kept_beside_own(learned: Learned) -> dict[str, Fraction]:
    """Return how many times its own cores a component keeps, where others have more threads; say it.

    The timing files of CESM and E3SM count a component's own cores: its tasks times its own threads.

    Raises
    ------
    InputError
        If threads differ between components and between files, so that no number of times holds for all files.
    """
    found = learned.found
    if found is None or not found.placed:
        return {}
    kept, placement = cores_kept(found.placed)
    own = {name: count for name, count in found.threads.items() if name in learned.models}
    if varied := [name for name in learned.models if name not in own or name not in kept]:
        if any(set(one.threads.values()) != {one.most_threads} for one in found.placed):
            raise InputError(
                f"components have different threads, and so have the timing files ({', '.join(varied)}), so that the "
                "cores that their tasks keep are open: give the files of one number of threads for each component"
            )
        note(f"the timing files have different threads ({', '.join(varied)}): the plan's time is that of any of them")
    times = {name: Fraction(kept[name], count) for name, count in own.items() if name in kept}
    several = {name: factor for name, factor in times.items() if factor > 1}
    if several and placement is Placement.PACKED:
        told = ", ".join(f"{name} {factor}" for name, factor in several.items())
        note(f"components keep this many times their own cores, for the threads of others on the same tasks: {told}")
    elif several:
        why = (
            "'pe count for cost estimate' tells it"
            if placement is Placement.EVEN
            else "'pe count for cost estimate' doesn't tell otherwise"
        )
        note(
            f"each task keeps {max(kept.values())} cores, the most threads of any component, as CIME puts the same "
            f"number of tasks on every node ({why}): all cores, also of --current and limits, are those that tasks keep"
        )
    return several


def _ask_precice(found: Measurements, solvers: list[str]) -> None:
    """Ask for the layout of runs of preCICE whose coupling scheme isn't known."""
    from evenly.readers.precice.window_steps import holds_steps

    formats = {name for _, name in found.sources}
    if found.coupling is None and not all(
        name.startswith("precice") or all(holds_steps(name, one) for one in found.runs.values()) for name in formats
    ):
        return
    _check_one_naming({name: found.runs[name] for name in solvers})
    listed = ", ".join(solvers)
    steps = found.substeps if set(found.substeps) == set(solvers) else dict.fromkeys(solvers, 1.0)
    in_turn = ", ".join(f"{count:g} * {name}" if count != 1 else name for name, count in steps.items())
    times = f"{found.iterations:g} * " if found.iterations is not None and found.iterations != 1 else ""
    told = (
        f"--layout '{times}max({in_turn})' where they run side by side, --layout '{times}sum({in_turn})' where they "
        "take turns"
        + (
            f" ({found.iterations:g} iterations of a time window were logged)"
            if times
            else ", with the iterations of a time window before it, as in '3 * …'"
        )
    )
    if found.coupling is not None:
        raise InputError(
            f"the preCICE configuration is for {', '.join(found.coupling.participants)}, but the runs are of {listed}: "
            f"say how these wait for each other, {told}"
        )
    raise InputError(
        f"no preCICE configuration tells how {listed} wait for each other: give its folder, too, or {told}"
    )


def _check_one_naming(runs: Mapping[str, Runs]) -> None:
    """Refuse runs of which some are of other participants than others, as if participants had been renamed."""
    files = {name: {Path(str(source)).resolve() for source in one.to_frame()["source"]} for name, one in runs.items()}
    inside: dict[Path, set[str]] = {}
    for name, paths in files.items():
        for folder in {folder for path in paths for folder in path.parents}:
            inside.setdefault(folder, set()).add(name)
    groups = {folder: names for folder, names in inside.items() if len(names) > 1}
    nearest = {folder: names for folder, names in groups.items() if not any(folder in one.parents for one in groups)}
    kinds = {frozenset(names): folder for folder, names in sorted(nearest.items(), reverse=True)}
    if len(kinds) > 1 and set(runs) not in map(set, kinds):
        named = sorted((", ".join(sorted(names)), folder.name) for names, folder in kinds.items())
        told = "; ".join(f"{names} in {folder}" for names, folder in named)
        raise InputError(
            f"no folder holds a run of all of {', '.join(runs)}: they are of {told}. If participants were renamed, "
            f"give the folders of one naming; or leave the others out, as --only {named[0][0].replace(', ', ',')}"
        )


def _tell_substeps(substeps: Mapping[str, float]) -> None:
    """Say that participants make different numbers of steps, where the layout counts one of each."""
    if not substeps:
        return
    slowest = min(substeps, key=substeps.__getitem__)
    told = " and ".join(f"{count:g} of {name}" for name, count in substeps.items() if name != slowest)
    factors = ", ".join(f"{count:g} * {name}" for name, count in substeps.items() if count != 1)
    counted = f"the layout counts one of each, unless it has {factors}"
    note(f"in all runs, one step of {slowest} stands beside {told}: {counted}")


def check_layout(layout: str, solvers: list[str]) -> None:
    """Refuse a layout that leaves solvers out, or names others, or has some run beside themselves."""
    from evenly.allocation.problem.core_usage import footprint_of
    from evenly.allocation.problem.layout import parse_layout

    named = parse_layout(layout).names
    missing = [name for name in solvers if name not in named]
    if missing and set(named) < set(solvers):
        raise InputError(
            f"the layout names {', '.join(named)}, but {', '.join(missing)} {'was' if len(missing) == 1 else 'were'} "
            f"measured too: leave the rest out with --only {shlex.quote(','.join(named))}, or add it to --layout"
        )
    footprint_of(parse_layout(layout, solvers))
