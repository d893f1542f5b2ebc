"""``evenly limits``: which time limits jobs need, from a table of jobs that ran."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenly.cli import options as opt
from evenly.cli import parsing
from evenly.cli.console import note, out, print_json
from evenly.errors import InputError


def limits(
    path: Annotated[
        list[Path],
        typer.Argument(metavar="JOBS", help="Tables of jobs: of sacct, PBS, .swf, or your own (CSV, Excel, …)."),
    ],
    kill: Annotated[
        str | None,
        typer.Option("--kill", metavar="SHARE", help="Share of jobs that limits may kill, as 5%, the default."),
    ] = None,
    limit: Annotated[
        str | None, typer.Option("--limit", metavar="SHARE", help="Share of jobs that limits are enough for, as 95%.")
    ] = None,
    user: Annotated[str | None, typer.Option("--user", help="What this user's next job should ask for.")] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="The next job's name; --user is needless if all jobs are of one.")
    ] = None,
    cores: Annotated[float | None, typer.Option("--cores", min=1, help="The next job's cores.")] = None,
    cores_are: opt.CoresAre = None,
    reading: opt.Reading = opt.Reading(),
    json: opt.Json = False,
) -> None:
    """Replay a table of jobs: which time limits would have been enough, and what the next job should ask for.

    The columns of your own tables are told by their names and values. What can't be told is asked.
    Jobs are replayed in the order of their submission, and each limit is learned from the jobs that had ended by then.
    """
    from evenly.readers.jobs.job_files import read_jobs
    from evenly.readers.jobs.job_reader import WANTED
    from evenly.report.tables.time_limits import advice_as_dict, advice_text, limits_table, replay_as_dict
    from evenly.time_limits.history import in_order

    share = _share(kill, limit)
    if reading.only or reading.without:
        raise InputError("--only and --without choose solvers, which jobs haven't: choose jobs with --where")
    if reading.parameters:
        raise InputError("--parameters has no use here: jobs are alike by their user, name and cores")
    every = read_jobs(path, **reading.arguments(), **({} if cores_are is None else {"cores_are": cores_are}))
    left = every.left_out()
    jobs = in_order(every)
    for told in (*jobs.notes, *([f"left out: {left}"] if left else [])):
        note(told)
    if user is not None or name is not None or cores is not None:
        from evenly.time_limits.next_job import next_limit

        advice = next_limit(every, user=user, name=name, cores=cores, kill=share)
        if json:
            print_json(advice_as_dict(advice))
        else:
            out.print(advice_text(advice))
        return
    from evenly.time_limits.replay import replay

    found = replay(jobs, kill=share)
    if not found.has_cores:
        note(f"the cores of some jobs aren't known, so that all count as one: {WANTED} prints them")
    if json:
        print_json(replay_as_dict(found))
    else:
        out.print(limits_table(found))


def _share(kill: str | None, limit: str | None) -> float:
    """Return the share of jobs that may be killed, from one of two options that mean the same."""
    if kill is not None and limit is not None:
        raise InputError("--kill and --limit say the same, 5 % killed is a limit for 95 %: give one of them")
    if limit is not None:
        return round(1 - parsing.probability(limit, "--limit"), 12)  # 5%, not 0.050000000000000044
    share = 0.05 if kill is None else parsing.share(kill, "--kill")
    if not 0 < share < 1:
        raise InputError(f"--kill takes a share between 0 % and 100 %, but got {kill!r}")
    return share
