"""``evenly fdtd``: run electromagnetic simulations in parallel, count what is in them, study how they scale.

A program is one of the shipped structures or a script of the user's own (see `evenly.fdtd.structures.programs`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenly.cli import options as opt
from evenly.cli import parsing
from evenly.cli.console import note, out, print_json, progress
from evenly.cli.fdtd_jobs import carry_out
from evenly.cli.fdtd_options import How, What, run_on
from evenly.cli.saving_pictures import save_all
from evenly.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from evenly.fdtd.cell.partition import BinaryPartition
    from evenly.fdtd.measurement.measurement import Measurement
    from evenly.fdtd.scaling.study import ScalingStudy
    from evenly.fdtd.structures.jobs import Job
    from evenly.fdtd.structures.programs import Program

__all__ = ["COMMANDS", "counts", "layout", "list_", "run", "scaling"]

ProgramName = Annotated[
    str, typer.Argument(metavar="PROGRAM", help="A structure (`evenly fdtd list`), or your script.py[:function].")
]


def run(
    program: ProgramName,
    what: What = What(),
    how: How = How(),
    steps: Annotated[
        int | None, typer.Option("--steps", help="Time steps to make; the first three are not timed.", min=1)
    ] = None,
    until: Annotated[float | None, typer.Option("--until", help="When to stop, in units of length / c.")] = None,
    output: Annotated[
        Path | None, typer.Option("--save", "-o", help="Folder for measurement, spectra and pictures.")
    ] = None,
    plot: Annotated[bool, typer.Option("--draw", help="Draw geometry, field, spectrum and time per rank.")] = False,
    suffix: Annotated[opt.PictureFormat, typer.Option("--plot-format", help="Format of the pictures.")] = "png",
    at: Annotated[str | None, typer.Option("--slice", help="The slice that pictures show, as y=0.5.")] = None,
    json: opt.Json = False,
) -> None:
    """Run a simulation: points and time of each rank, spectra, pictures."""
    if steps is not None and until is not None:
        raise InputError("--steps and --until both say when to stop: keep one of them")
    folder = output or (Path(f"{_stem(program)}-run") if plot else None)
    if folder is not None:
        opt.check_writable(folder / "measurement.fdtd.json", "results", folder_is_made=True)
    with _folder(folder) as place:
        job = _job(program, place, what, how, steps=steps, until=until, picture=plot, at=at)
        there = Path(job.folder)  # absolute: the script may change the working folder
        before = _measurement_files(there)
        carry_out(job, _ranks(how))
        if _is_master():
            made = _made(there, before)
            _show_run(made, there, kept=folder, json=json)
            if plot:
                save_all(_pictures(made, there), opt.Pictures(place, suffix))


def _ranks(how: How) -> int | None:
    """Return how many ranks to start, and say so where the layout is for another number."""
    from evenly.fdtd.ranks.launchers import UNKNOWN, launched_ranks

    if how.layout is None:
        return how.ranks
    layout = _read_layout(how.layout)
    launched = launched_ranks()
    if how.ranks is None and launched is None:
        if layout.ranks > 1:
            note(f"starting {layout.ranks} ranks, those of {how.layout} (--ranks says otherwise)")
        return layout.ranks
    if launched != UNKNOWN:
        _tell_misfit(layout, how.layout, launched or how.ranks or 1)
    return how.ranks


def _read_layout(path: Path) -> BinaryPartition:
    from evenly.fdtd.cell.partition import BinaryPartition

    return BinaryPartition.load(path)


def _tell_misfit(layout: BinaryPartition, path: Path, ranks: int) -> None:
    misfit = layout.misfit(ranks)
    if misfit and _is_master():
        note(f"{path} isn't for these ranks: {misfit}")


def _job(program: str, folder: Path, what: What, how: How, *, at: str | None, **more: Any) -> Job:
    from evenly.fdtd.structures.jobs import Job

    across, place = _slice(at)
    return Job(
        program,
        str(folder.resolve()),
        what.parameters(),
        how.options(),
        None if how.layout is None else str(how.layout),
        across=across,
        at=place,
        **more,
    )


def _slice(text: str | None) -> tuple[str | None, float]:
    if text is None:
        return None, 0.0
    axis, _, place = text.partition("=")
    try:
        if axis.strip() not in ("x", "y", "z"):
            raise ValueError
        return axis.strip(), float(place)
    except ValueError:
        raise InputError(f"--slice takes an axis and a place, as y=0.5, but got {text!r}") from None


def _stem(program: str) -> str:
    return Path(program.partition(":")[0]).stem


@contextmanager
def _folder(wanted: Path | None) -> Iterator[Path]:
    if wanted is not None:
        yield wanted
        return
    from evenly.processes import scratch_folder

    with scratch_folder() as made:
        yield made


def _is_master() -> bool:
    from evenly.fdtd.ranks.parallel import am_really_master

    return am_really_master()


def _measurement_files(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return the measurements in a folder, each with what changes when it is written again."""
    from evenly.fdtd.measurement.measurement import SUFFIX

    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.glob(f"*{SUFFIX}")}


def _made(folder: Path, before: dict[Path, tuple[int, int]]) -> Measurement:
    """Return the measurement that was written to a folder since `before`: others there are of other runs."""
    from evenly.fdtd.measurement.measurement import Measurement

    made = [path for path, written in _measurement_files(folder).items() if before.get(path) != written]
    if len(made) != 1:
        told = f"{len(made)} measurements were" if made else "no measurement was"
        raise InputError(
            f"{told} written to {folder} by this run: the script ended early, or another job writes there, too"
        )
    return Measurement.load(made[0])


def _show_run(run_: Measurement, folder: Path, *, kept: Path | None, json: bool) -> None:
    from evenly.fdtd.structures.jobs import read_spectra
    from evenly.report.tables import fdtd as tables

    files = [] if kept is None else sorted(str(kept / f.name) for f in folder.iterdir() if f.stem.startswith(run_.name))
    spectra = read_spectra(folder, run_.name)
    if json:
        curves = [{"frequencies": s.frequencies, "what": s.what, "curves": dict(s.curves)} for s in spectra]
        print_json({**tables.run_as_dict(run_), "spectra": curves, "files": files})
        return
    out.print(tables.headline(run_), soft_wrap=True)
    out.print(tables.ranks_table(run_))
    out.print(tables.kinds_table(tables.kinds_of(run_), run_.points))
    for spectrum in spectra:
        out.print(tables.spectrum_table(spectrum))
    if not spectra:
        note("no spectra: the run is shorter than the sources' pulses, or it has no flux monitors")
    if kept is not None:
        note(f"saved {', '.join(Path(file).name for file in files)} in {kept}")


def _pictures(run_: Measurement, folder: Path) -> dict[str, Figure]:
    from evenly.fdtd.structures.jobs import read_spectra
    from evenly.fdtd.structures.views import View
    from evenly.report.plots.fdtd_run import plot_ranks, plot_spectrum
    from evenly.report.plots.fdtd_view import plot_field, plot_geometry

    figures = {f"{run_.name}-ranks": plot_ranks(run_)}
    view_file = folder / f"{run_.name}-view.npz"
    if view_file.exists():
        view = View.load(view_file)
        figures[f"{run_.name}-geometry"] = plot_geometry(view)
        if view.snapshot is not None:
            figures[f"{run_.name}-field"] = plot_field(view)
    for n, spectrum in enumerate(read_spectra(folder, run_.name)):
        figures[f"{run_.name}-spectrum{f'-{n + 1}' if n else ''}"] = plot_spectrum(spectrum, name=run_.name)
    return figures


def counts(
    program: ProgramName,
    what: What = What(),
    ranks: Annotated[
        int | None,
        typer.Option("--ranks", "-n", help="Number of ranks to count for (default: those of --chunks, else 1).", min=1),
    ] = None,
    layout: Annotated[
        Path | None, typer.Option("--chunks", help="Chunks as in this file of `evenly partition -o`.")
    ] = None,
    json: opt.Json = False,
) -> None:
    """Count the grid points of each kind, per chunk, and the memory of each rank, without a step."""
    from evenly.fdtd.counting.chunk_counts import chunk_counts
    from evenly.report.tables import fdtd as tables

    cut = None if layout is None else _read_layout(layout)
    if cut is not None and layout is not None and ranks is not None:
        _tell_misfit(cut, layout, ranks)
    ranks = ranks or (1 if cut is None else cut.ranks)
    found = _described(program, what, ranks, cut)
    simulation, monitors = found.simulation, list(found.monitors.values())
    rows = chunk_counts(simulation, ranks=ranks, monitors=monitors)
    memory = simulation.estimated_bytes(ranks=ranks, monitors=monitors)
    points = simulation.layers.kept.volume
    total = {kind: sum(row.get(kind, 0) for row in rows) for kind in tables.KINDS}
    if json:
        print_json({"name": found.name, "points": points, "kinds": total, "chunks": rows, "bytes_per_rank": memory})
        return
    shape = " × ".join(map(str, simulation.layers.kept.shape))
    out.print(f"{found.name}: {shape} = {points} points in {len(rows)} chunks", soft_wrap=True)
    out.print(tables.chunk_table(rows))
    out.print(tables.kinds_table(total, points))
    out.print(tables.memory_line(memory))


def _described(program: str, what: What, ranks: int, layout: BinaryPartition | None) -> Program:
    """Return a program cut for a number of ranks, without starting them."""
    from evenly.fdtd.cell.partition import BinaryPartition
    from evenly.fdtd.structures.programs import load

    found = load(program, what.parameters(), layout=layout)
    if layout is None and len(found.simulation.layout.owners) == 1:
        found.simulation.layout = BinaryPartition.equal(found.simulation.grid, ranks, found.simulation.layers.kept)
    return found


def layout(
    program: ProgramName,
    what: What = What(),
    ranks: Annotated[int, typer.Option("--ranks", "-n", help="Number of ranks.", min=1)] = 1,
    save: Annotated[Path | None, typer.Option("--save", "-o", help="Save the layout as .json, to edit.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Save a picture into this folder.")] = None,
    suffix: Annotated[opt.PictureFormat, typer.Option("--plot-format", help="Format of the picture.")] = "svg",
    at: Annotated[str | None, typer.Option("--slice", help="The slice that the picture shows, as y=0.5.")] = None,
    json: opt.Json = False,
) -> None:
    """Cut the cell into equal volumes: a layout to edit and to run with. `evenly partition` cuts by cost."""
    from evenly.fdtd.structures.example import Look
    from evenly.fdtd.structures.views import take_view
    from evenly.report.plots.fdtd_view import plot_geometry

    if save is not None:
        opt.check_writable(save, "the partition", read=[Path(program.partition(":")[0])])
    where = opt.Pictures(plot, suffix)
    where.check()
    found = _described(program, what, ranks, None)
    partition = found.simulation.layout
    if save is not None:
        saved = partition.for_cell(found.simulation.grid, ranks, whole=found.simulation.layers.kept).save(save)
        note(f"saved {saved}: run on it by `{run_on(program, what, saved, ranks)}`")
    if plot is not None:
        across, place = _slice(at)
        look = found.look or Look()
        look = look if across is None else dataclasses.replace(look, across=across, at=place)
        unit = found.example.unit if found.example is not None else "a"
        view = take_view(found.simulation, found.monitors, look, name=found.name, unit=unit, ranks=ranks)
        save_all({f"{found.name}-geometry": plot_geometry(view)}, where)
    if json:
        print_json({"layout": partition.to_list(), "owners": partition.owners})
        return
    out.print(repr(partition.to_list()), soft_wrap=True)


def scaling(
    program: ProgramName,
    what: What = What(),
    ranks: Annotated[str, typer.Option("--ranks", "-n", help="Numbers of ranks, as 1,2,4,8.")] = "1,2,4,8",
    repeats: Annotated[int, typer.Option("--repeats", help="Runs per number of ranks.", min=1)] = 3,
    steps: Annotated[int, typer.Option("--steps", help="Time steps of each run.", min=1)] = 100,
    threads: Annotated[int, typer.Option("--threads", help="Threads of each rank.", min=1)] = 1,
    timeout_s: Annotated[float | None, typer.Option("--timeout", help="Seconds after which a run is given up.")] = None,
    output: Annotated[Path | None, typer.Option("--save", "-o", help="Folder for measurements and pictures.")] = None,
    plot: Annotated[
        bool, typer.Option("--draw", help="Draw run time, communication, time per rank and rates.")
    ] = False,
    suffix: Annotated[opt.PictureFormat, typer.Option("--plot-format", help="Format of the pictures.")] = "png",
    json: opt.Json = False,
) -> None:
    """Measure how a simulation scales with the number of ranks; a folder of earlier measurements is shown again."""
    from evenly.fdtd import structures
    from evenly.report.tables.fdtd import scaling_table

    folder = output or (Path(f"{_stem(program)}-scaling") if plot else None)
    if folder is not None:
        opt.check_writable(folder / "measurement.fdtd.json", "measurements", folder_is_made=True)
    if program not in structures.names() and Path(program).is_dir():
        from evenly.fdtd.scaling.study import ScalingStudy

        study = ScalingStudy.load(program)
    else:
        options = {"threads": threads} if threads > 1 else {}
        study = _study(program, what, parsing.counts(ranks, "--ranks"), options, steps, repeats, folder, timeout_s)
    for failed in study.failed:
        note(f"a run on {failed.size} ranks {failed.status}: {failed.message}")
    if json:
        print_json({"name": study.name, "clock": study.clock_label, "crossover": study.crossover, "rows": study.rows()})
    else:
        out.print(scaling_table(study, title=study.name))
    if plot and folder is not None:
        from evenly.report.plots.fdtd_scaling import plot_scaling

        save_all(plot_scaling(study), opt.Pictures(folder, suffix))


def _study(
    program: str,
    what: What,
    ranks: list[int],
    options: dict[str, Any],
    steps: int,
    repeats: int,
    folder: Path | None,
    timeout_s: float | None,
) -> ScalingStudy:
    from evenly.fdtd.scaling.runs import run_study
    from evenly.fdtd.structures.programs import is_script, load, refuse_meep

    # What is wrong is said before anything starts.
    if is_script(program):
        refuse_meep(program)
    else:
        load(program, what.parameters())
    with progress("measuring") as tell:
        return run_study(
            program, ranks, parameters=what.parameters(), options=options, steps=steps, repeats=repeats,
            folder=folder, timeout_s=timeout_s, progress=lambda done, runs, _one: tell(done / runs),
        )  # fmt: skip


def list_(json: opt.Json = False) -> None:
    """List the shipped structures and their parameters."""
    from evenly.fdtd import structures
    from evenly.report.tables.fdtd import parameters_table

    found = {name: structures.parameters(name) for name in structures.names()}
    if json:
        print_json(found)
        return
    for name, parameters in found.items():
        out.print(f"{name}: {structures.summary(name)}", soft_wrap=True)
        out.print(parameters_table(parameters))


#: Commands of ``evenly fdtd`` by name.
COMMANDS: dict[str, Callable[..., None]] = {
    "run": run,
    "scaling": scaling,
    "counts": counts,
    "layout": layout,
    "list": list_,
}
