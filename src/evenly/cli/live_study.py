"""Shared code of commands that run a study: the progress display, and what is saved after an interruption."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenly.cli.console import live, note
from evenly.cli.interruptions import INTERRUPTED
from evenly.cli.option_groups import panel
from evenly.cli.options import check_writable
from evenly.errors import EvenlyError, InputError, ReadError
from evenly.runs.files import check_own

if TYPE_CHECKING:
    from evenly.campaign import Campaign, Study
    from evenly.campaign.planning import Progress
    from evenly.campaign.record import Record

__all__ = ["Where", "make_again", "table_of_runs", "watched"]

#: Rows of the table that is shown while runs are made.
_SHOWN = 12
#: Seconds between two lines with the counts of runs, in a pipe.
_COUNTED_S = 60.0


_where = panel("Where runs go")


@dataclass(frozen=True)
class Where:
    """Where the runs of a study go."""

    machine: Annotated[
        str | None, _where("--machine", help="A machine file, whose launcher table says how runs are started there.")
    ] = None
    launcher: Annotated[
        str | None, _where("--launcher", help="local, mpi, slurm, pbs, … instead of the study's own.")
    ] = None
    concurrent: Annotated[int | None, _where("--concurrent", min=1, help="Most runs at once.")] = None

    def placed(self, study: Study) -> Study:
        """Return the study with its runs where the user wants them."""
        program = study.program
        if self.machine is not None:
            from evenly.machine.machine import Machine

            machine = Machine.load(self.machine)
            if machine.launcher is None:
                raise InputError(
                    f"{self.machine} doesn't say how runs are started there: add a table [launcher] with name = 'slurm'"
                )
            program = program.placed(machine.launcher, whose=self.machine)
        if self.launcher is not None:
            program = program.with_launcher(self.launcher)
        if self.concurrent is not None:
            program = replace(program, placement=replace(program.placement, concurrent=self.concurrent))
        return replace(study, program=program)


def table_of_runs(save: Path | None, place: Path) -> Path:
    """Return where the table of all runs is saved: beside the store, unless the user says where.

    Raises
    ------
    InputError
        If it is the store itself, can't be written, or would replace a file that nobody named and evenly didn't write.
    """
    target = save or place.with_suffix(".runs.csv")
    if target.suffix not in (".csv", ".parquet"):
        raise InputError(f"the table of runs is saved as .csv or .parquet, but --save names {target}")
    if target.resolve() == place.resolve():
        raise InputError(f"--save and the store are the same file, {target}: name another table")
    if save is None:
        try:
            check_own(target)
        except ReadError as error:
            raise InputError(f"{error}: move it away, or name another table with --save") from None
    check_writable(target, "table of runs")
    return target


def make_again(campaign: Campaign) -> None:
    """Delete the bad runs of a campaign, so that they are made again, and say how many are."""
    before = sum(campaign.missing.values())
    if not (bad := campaign.retry()):
        note("no run failed or is marked as bad, so none is made again")
        return
    again = sum(campaign.missing.values()) - before
    enough = "" if again >= bad else ": there are enough others of the same configurations"
    note(f"runs that failed or were marked as bad: {bad} deleted, {again} made in their place{enough}")


@contextmanager
def watched(campaign: Campaign, target: Path) -> Iterator[Callable[[Record, Progress], None]]:
    """Show runs as they are made; at an interruption, save to `target` what there is before going."""
    if kept := campaign.store.count():
        failed = campaign.store.count("failed")
        again = f"; {failed} of them failed: --retry makes them again" if failed else ""
        note(f"{kept} runs are kept in {campaign.store.path} from before{again}")
    try:
        with _shown(campaign) as show:
            yield show
    except KeyboardInterrupt:
        _leave(campaign, target)
        raise typer.Exit(INTERRUPTED) from None
    except SystemExit:
        _leave(campaign, target)
        raise


def _leave(campaign: Campaign, target: Path) -> None:
    """Save what there is before going."""
    kept = campaign.store.count()
    try:
        campaign.runs().save(target)
    except EvenlyError:
        target = campaign.store.path
    count = "1 run is" if kept == 1 else f"{kept} runs are"
    note(f"interrupted: {count} kept in {target}; the same command goes on from there")


@contextmanager
def _shown(campaign: Campaign) -> Iterator[Callable[[Record, Progress], None]]:
    """Show a table and a bar on a terminal, and a line per run elsewhere."""
    from evenly.report.tables.campaign import campaign_table

    with live(f"measuring {campaign.study.name}") as update:
        told, again_at = time.monotonic(), -math.inf

        def show(record: Record, progress: Progress) -> None:
            nonlocal told, again_at
            if update is None:
                note(_line(campaign, record, progress))
                if time.monotonic() - told > _COUNTED_S:
                    told = time.monotonic()
                    note(str(campaign.counts))
                return
            began = time.monotonic()
            if began < again_at:
                return
            known = campaign.configurations
            table = campaign_table(known, campaign.store.records(), most=_SHOWN, title=str(campaign.counts))
            update(table, progress.done, progress.done + progress.left, progress.seconds_left)
            # Of many runs and jobs, a table takes long: it gets a tenth of the time at most.
            again_at = began + 10 * (time.monotonic() - began)

        yield show


def _line(campaign: Campaign, record: Record, progress: Progress) -> str:
    from evenly.report.formatting import quantity, value_text

    configuration = campaign.configuration(record.configuration)
    told = ", ".join(f"{k}={value_text(v) if isinstance(v, bool) else v}" for k, v in configuration.items())
    took = quantity(record.quantities["seconds"]) if record.status == "ok" else f"{record.status}, {record.message}"
    of = progress.done + progress.left
    return f"run {progress.done} of about {of}: {told}: {took}; {quantity(progress.seconds_left, digits=2)} left"
