"""Tables of replays of time limits, and what the next job should ask for."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from rich.table import Table

from evenly.report.formatting import compact, percent, plain, time_limit
from evenly.report.tables.run import add_numbers, add_row, add_texts, new_table
from evenly.time_limits.next_job import Advice
from evenly.time_limits.replay import Replay

__all__ = ["advice_as_dict", "advice_text", "limits_table", "replay_as_dict"]

#: More killed jobs than asked for are said from this factor on.
_MORE = 1.25


def limits_table(replay: Replay) -> Table:
    """Return what each way of choosing time limits would have cost."""
    hours = "core-h" if replay.has_cores else "job-h"
    lost = f"{compact(replay.stopped_hours)} {hours}"
    stopped = (
        f"; {replay.stopped} more were stopped at their limit, which lost {lost} as asked" if replay.stopped else ""
    )
    first = f"; {replay.unjudged} had no earlier job to learn from" if replay.unjudged else ""
    own = max(one.killed for one in replay.outcomes if one.name.startswith("evenly"))
    more = (
        f"; evenly killed more than the {percent(replay.kill)} that may be: it learns with each job, and these are few"
        if own > _MORE * replay.kill
        else ""
    )
    table = new_table(
        f"{replay.judged} jobs replayed, each limit from earlier jobs only",
        f"× factor: chosen afterwards, so that it kills as many jobs as evenly{more}{stopped}{first}",
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
    """Return what to ask for and what it is learned from, in one line, and what speaks against it."""
    count = f"the latest {advice.earlier} jobs" if advice.earlier > 1 else f"{advice.earlier or 'no'} job"
    told = f"{count} {advice.whose}"
    if advice.stopped:
        were = "was" if advice.stopped == 1 else "were"
        told += f", {advice.stopped} of which {were} stopped at {'its' if advice.stopped == 1 else 'their'} limit"
    if advice.at_limit:
        told += (
            f"; {advice.at_limit} of them ended just at their limit: if the program stops itself there, its work takes "
            "longer than that"
        )
    if math.isinf(advice.seconds):
        return (
            f"more than {time_limit(advice.longest)}  no limit is known to be enough with a probability of "
            f"{percent(1 - advice.kill)}, from {told}"
        )
    if advice.others:
        told += f", and from how widely {advice.others} others scatter around those on their cores"
    sure = percent(1 - advice.kill)
    if advice.guess:
        return f"{time_limit(advice.seconds)}  a guess: {_doubt(advice, sure)}. It is learned from {told}"
    return f"{time_limit(advice.seconds)}  enough with a probability of {sure}, from {told}"


def _doubt(advice: Advice, sure: str) -> str:
    if advice.capped:
        return f"none of them asked for more, but that it is enough with a probability of {sure} isn't known"
    if advice.rising:
        return "their times rise from job to job, so the next one may take longer than all before"
    jobs = f"{advice.earlier} job{'' if advice.earlier == 1 else 's'}"
    jobs += "" if advice.named else " of no name or several"
    return f"{jobs} can't show that it is enough with a probability of {sure} ({advice.needed} can)"


def advice_as_dict(advice: Advice) -> dict[str, Any]:
    """Return advice as plain values, with the limit as it is given to ``sbatch --time``; None if it isn't known."""
    known = math.isfinite(advice.seconds)
    limit = time_limit(advice.seconds) if known else None
    return {"limit": limit, **plain(asdict(advice)), "guess": advice.guess}
