"""Tables of replays of time limits, and what the next job should ask for."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.table import Table

from evenly.report.formatting import compact, percent, time_limit
from evenly.report.tables.run import add_numbers, add_row, add_texts, new_table
from evenly.time_limits.next_job import Advice
from evenly.time_limits.replay import Replay

__all__ = ["advice_as_dict", "advice_text", "limits_table", "replay_as_dict"]


def limits_table(replay: Replay) -> Table:
    """Return what each way of choosing time limits would have cost."""
    hours = "core-h" if replay.has_cores else "job-h"
    stopped = f"; {replay.stopped} more were stopped at their limit and would be again" if replay.stopped else ""
    first = f"; {replay.unjudged} had no earlier job to learn from" if replay.unjudged else ""
    table = new_table(
        f"{replay.judged} jobs replayed, each limit from earlier jobs only",
        f"factors are chosen in hindsight, to kill as many jobs as evenly{stopped}{first}",
    )
    add_texts(table, "time limit")
    add_numbers(table, "killed", f"unused {hours}", f"lost {hours}", "limit/time")
    for one in replay.outcomes:
        cells = percent(one.killed), compact(one.unused), compact(one.lost), compact(one.overestimate, 3)
        add_row(table, one.name, *cells)
    return table


def replay_as_dict(replay: Replay) -> dict[str, Any]:
    """Return a replay as plain values."""
    return asdict(replay)


def advice_text(advice: Advice) -> str:
    """Return what to ask for, in one line, and what speaks against it."""
    jobs = f"{advice.earlier} earlier job{'' if advice.earlier == 1 else 's'}"
    told = f"{time_limit(advice.seconds)}  enough with a probability of {percent(1 - advice.kill)}, from {jobs}"
    if advice.stopped:
        told += f", {advice.stopped} of which were stopped at their limit"
    if advice.is_longest:
        told += "; it is the longest limit in the table, and more may be needed"
    return told


def advice_as_dict(advice: Advice) -> dict[str, Any]:
    """Return advice as plain values, with the limit as it is given to ``sbatch --time``."""
    return {"limit": time_limit(advice.seconds), **asdict(advice)}
