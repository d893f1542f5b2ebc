"""Tables of a search's result, for the terminal and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table

from evenly.report.formatting import common_prefix, compact, in_unit, interval, percent, quantity, value_text
from evenly.report.tables.run import add_numbers, add_row, new_table

if TYPE_CHECKING:
    import pandas as pd

    from evenly.tuning.result import Gain, Result
    from evenly.tuning.sensitivity import Sensitivity
    from evenly.tuning.strategy_comparison import StrategyComparison

__all__ = [
    "advice_table",
    "alike_table",
    "comparison_as_dict",
    "comparison_table",
    "comparison_text",
    "configuration_text",
    "found_text",
    "result_as_dict",
    "sensitivity_table",
    "tasks_table",
    "tasks_text",
]

#: Tables of the fastest configurations have at most this many rows, or more if so many may be as fast.
_MOST, _MOST_ALIKE = 10, 30
#: Numbers of runs after which strategies are compared, and how probable a difference by luck may be.
_AFTER, _LUCK = (5, 10, 20, 40, 80, 160), 0.05
_TESTS = "t-tests with Holm's correction"
#: What the chances of a table of tasks are those of.
_OF_TASK = "chance: that it is the fastest of all that were run of its task"
#: A larger probability isn't told exactly: it was drawn.
_CERTAIN = 0.995


def configuration_text(configuration: Mapping[str, Any]) -> str:
    """Return a configuration as one line of text."""
    return ", ".join(f"{name} = {value_text(value)}" for name, value in configuration.items())


def found_text(result: Result) -> str:
    """Return the fastest configuration, how sure that is, and what it saves of today's time."""
    sure = f", within {interval(*result.interval)}" if result.interval is not None else ""
    lines = [f"fastest: {configuration_text(result.best)}: {quantity(result.seconds)}{sure}"]
    if result.interval is None:
        lines[0] += " (run once, so nothing tells how sure that is)"
    else:
        lines.append(f"with a chance of {_chance(result.chance)}, it is the fastest of all that were run")
        if (most := float(result.alike["chance"].max())) > result.chance:
            lines[-1] += f"; another has {percent(most)}, but its time is less sure"
    if others := len(result.alike) - 1:
        lines.append(f"{others} other{'s' * (others != 1)} may be as fast: the difference is within noise")
    return "\n".join([*lines, *_lines_about_all(result)])


def tasks_text(result: Result) -> str:
    """Return what is to be said below a table of tasks; "" if there is nothing."""
    lines = [_OF_TASK] if np.isfinite(result.tasks["chance"]).any() else []
    if silent := result.tasks_without:
        shown = "; ".join(map(configuration_text, silent[:5])) + "; …" * (len(silent) > 5)
        every = len(silent) + len(result.tasks)
        lines.append(f"{len(silent)} of {every} tasks have no result, since no run went well or none was made: {shown}")
    return "\n".join([*lines, *_lines_about_all(result)])


def _chance(chance: float) -> str:
    return percent(chance) if chance < _CERTAIN else f"more than {percent(_CERTAIN)}"


def _lines_about_all(result: Result) -> list[str]:
    """Return what was saved, what went wrong, and whether the machine's speed changed."""
    lines = [] if result.gain is None else [_gain_text(result, result.gain)]
    if result.no_gain:
        lines.append(f"nothing is known of a gain over today's configuration: {result.no_gain}")
    if bad := [f"{count} {status}" for status, count in _bad(result).items()]:
        lines.append(f"of {len(result.history)} configurations, {' and '.join(bad)}")
    if result.resolution:
        lines.append(f"times are rounded to {quantity(result.resolution)}: they tell no smaller differences")
    if result.drift:
        lines.append(
            f"the machine's speed changed during the search ({100 * result.drift:+.1f} % in time); this is taken out"
        )
    return lines


def _bad(result: Result) -> dict[str, int]:
    """Return how many configurations failed, and how many were ended early, in words."""
    counts = result.history["status"].value_counts()
    told = {"failed": "failed", "timed out": "ended early, as too slow"}
    return {words: int(counts[status]) for status, words in told.items() if status in counts}


def _gain_text(result: Result, gain: Gain) -> str:
    """Return what the fastest configuration saves of the time of the one in use today, which is of the same task."""
    task = configuration_text({name: gain.baseline[name] for name in result.task_names})
    today = f"today's configuration ({configuration_text(gain.baseline)}: {quantity(gain.seconds)}"
    today += f"; {gain.bad} of its {gain.well + gain.bad} runs failed)" if gain.bad else ")"
    if gain.saved == 0:
        of_task = f" of {task}" if task else ""
        if len(result.alike) > 1 and all(result.best[name] == gain.baseline[name] for name in result.task_names):
            return f"{today} is taken for the fastest{of_task}, but others may be as fast"
        return f"{today} is the fastest{of_task}"
    sure = "" if gain.interval is None else f", within {' to '.join(map(percent, gain.interval))}"
    doubt = ": it may be as fast" if gain.interval is not None and gain.interval[0] <= 0 else ""
    return (
        f"{f'the fastest of {task}' if task else 'it'} saves {percent(gain.saved)} of the time of {today}{sure}{doubt}"
    )


def alike_table(result: Result) -> Table:
    """Return a table of the fastest configurations run. A ``≈`` marks those that may be as fast as the first.

    These come first, in the order of `Result.alike`; the others are ordered by their measured time.
    """
    names = result.space.names
    chances = dict(zip(result.alike[names].itertuples(index=False, name=None), result.alike["chance"], strict=True))
    place = {key: number for number, key in enumerate(chances)}
    well = result.history[result.history["status"] == "ok"].sort_values("seconds", kind="stable").to_dict("records")
    rows = {tuple(row[name] for name in names): row for row in well}
    shown = sorted(rows, key=lambda key: place.get(key, len(place)))
    most = max(_MOST, min(len(place), _MOST_ALIKE))
    is_cut = len(shown) > most
    table = new_table(
        "the fastest" if is_cut else "", f"{most} of {len(result.history)} that were tried" if is_cut else ""
    )
    is_noisy = np.isfinite(result.chance) and len(place) > 1
    _add_columns(table, names, "time", "above", "runs", *(["chance"] if is_noisy else []))
    measured = rows[shown[0]]["seconds"]
    for key in shown[:most]:
        seconds, alike = rows[key]["seconds"], " ≈" if place.get(key) else ""
        add_row(
            table, *map(value_text, key), quantity(seconds), f"{percent(seconds / measured - 1)}{alike}",
            str(rows[key]["repetitions"]), *([percent(chances[key]) if key in chances else ""] if is_noisy else []),
        )  # fmt: skip
    return table


def tasks_table(result: Result) -> Table:
    """Return a table with the fastest configuration of each task that was run."""
    many = len(result.made)
    title, caption = "the fastest of each task", f"{many} runs of {len(result.history)} configurations were made"
    table = new_table(title, caption)
    table.min_width = len(caption) + 2
    is_noisy = bool(np.isfinite(result.tasks["lower"]).all())
    _add_columns(table, result.space.names, "time", *(["95 %", "chance"] if is_noisy else []), "tried")
    for row in result.tasks.to_dict("records"):
        only = row["tried"] == 1
        sure = [interval(row["lower"], row["upper"]), "" if only else _chance(row["chance"])] if is_noisy else []
        add_row(
            table, *(value_text(row[name]) for name in result.space.names), quantity(row["seconds"]), *sure,
            str(row["tried"]),
        )  # fmt: skip
    return table


def _add_columns(table: Table, parameters: Sequence[str], *others: str) -> None:
    """Add columns that are never cut off. In a narrow terminal, the values of parameters use several lines instead."""
    for name in parameters:
        table.add_column(name, justify="right", overflow="fold")
    add_numbers(table, *others)


def result_as_dict(result: Result) -> dict[str, Any]:
    """Return the result as plain values for JSON."""
    names = result.space.names
    history, made = (
        [
            {"configuration": {name: row[name] for name in names}, **{key: row[key] for key in row if key not in names}}
            for row in table.to_dict("records")
        ]
        for table in (result.history, result.made)
    )
    return {
        "best": result.best, "seconds": result.seconds, "interval": result.interval, "chance": result.chance,
        "gain": None if result.gain is None else asdict(result.gain), "no_gain": result.no_gain,
        "drift": result.drift, "resolution": result.resolution, "stopped": result.stopped,
        "alike": result.alike.to_dict("records"), "tasks": result.tasks.to_dict("records"),
        "tasks_without": result.tasks_without, "history": history,
        "made": made,
    }  # fmt: skip


def comparison_table(found: StrategyComparison) -> Table:
    """Return a table of strategies: mean, standard deviation and median of the deviation from the optimum."""
    seeds, after = len(next(iter(found.above.values()))), _after(found)
    table = new_table("per cent above the optimum", f"mean ± standard deviation of {seeds} searches (median)")
    table.add_column("strategy", no_wrap=True)
    add_numbers(table, *(f"{run} runs" for run in after))
    for name, above in found.above.items():
        parts = 100 * above[:, after - 1].T
        add_row(table, name, *(f"{x.mean():.3g} ± {x.std(ddof=1):.3g} ({np.median(x):.3g})" for x in parts))
    return table


def comparison_text(found: StrategyComparison) -> str:
    """Return of how many configurations which is the best, and which strategies differ by more than luck."""
    failed = f", of which {found.failed} failed" if found.failed else ""
    lines = [f"{found.configurations} configurations{failed}; the fastest takes {quantity(found.best_s)}"]
    run = found.runs
    means = {name: float(above[:, -1].mean()) for name, above in found.above.items()}
    order = sorted(means, key=lambda name: means[name])
    luck = {
        (one, other): found.chance_of_luck(one, other, run)
        for at, one in enumerate(order) for other in order[at + 1 :]
    }  # fmt: skip
    # Of many pairs, some differ by luck: the least chance must be below 5 % divided by their number, and so on [Holm,
    # A simple sequentially rejective multiple test procedure, 1979].
    ranked = sorted(luck, key=lambda pair: float(np.nan_to_num(luck[pair], nan=1.0)))
    kept = next((at for at, pair in enumerate(ranked) if not luck[pair] < _LUCK / (len(ranked) - at)), len(ranked))
    for one in order:
        worse = [f"{other} (p = {luck[one, other]:.2g})" for first, other in ranked[:kept] if first == one]
        if worse:
            lines.append(f"after {run} runs, {one} is nearer to it than {', '.join(worse)}, by {_TESTS}")
    if len(order) > 1 and len(lines) == 1:
        lines.append(f"after {run} runs, no two strategies differ by more than luck ({_TESTS}, p < {_LUCK})")
    return "\n".join(lines)


def comparison_as_dict(found: StrategyComparison) -> dict[str, Any]:
    """Return a comparison of strategies as plain values for JSON."""
    names = list(found.above)
    return {
        "configurations": found.configurations, "failed": found.failed, "best_s": found.best_s,
        "above": {name: above.tolist() for name, above in found.above.items()},
        "t_tests": [
            {"one": one, "other": other, "after": int(run), "p": found.chance_of_luck(one, other, int(run))}
            for at, one in enumerate(names) for other in names[at + 1 :] for run in _after(found)
        ],
    }  # fmt: skip


def _after(found: StrategyComparison) -> Any:
    return np.array(sorted({run for run in _AFTER if run < found.runs} | {found.runs}))


def sensitivity_table(found: Sensitivity) -> Table:
    """Return a table of the sensitivity to each parameter, the largest first, separately for each task."""
    table = new_table("what matters", "growth of the error if values are permuted; Sobol indices alone, with others")
    task = found.task
    for name in (*([task] if task else []), "parameter", "refitted", "left out", "alone", "with others"):
        table.add_column(name, justify="left" if name == "parameter" else "right")
    for value, part in found.table.groupby("task", sort=False):
        for row in part.sort_values("total", ascending=False).to_dict("records"):
            add_row(
                table, *([value_text(value)] if task else []), row["parameter"],
                _growth(row["refitted"], row["refitted_sd"]), _growth(row["left_out"], row["left_out_sd"]),
                f"{row['first_order']:.2f}", f"{row['total']:.2f}",
            )  # fmt: skip
    return table


def _growth(percent_more: float, deviation: float) -> str:
    return f"{percent_more:+.0f}" + (f" ± {deviation:.0f} %" if np.isfinite(deviation) else " %")


def advice_table(advice: pd.DataFrame, parameters: Sequence[str], *, per_core: bool, errors: bool = True) -> Table:
    """Return a table of proposed runs: the expected time of each, and the model's expected error after it.

    Parameters
    ----------
    advice : DataFrame
        The result of `evenly.tuning.advisor.advise`.
    parameters : sequence of str
    per_core : bool
        Whether hours are those of one core.
    errors : bool
        Whether errors are told. They are those of a model of its own, which tells where runs teach most.
    """
    before = float(advice["error_before"].iloc[0])
    told = f"model off by: what the model that chooses the runs expects after each; {percent(before)} before the first"
    caption = f"{told}. evenly fit tells how far off predictions are" if errors else ""
    table = new_table("worth running next", caption)
    factor, unit = common_prefix(advice["seconds"])
    for name in (*parameters, f"expected {unit}", "hours" if per_core else "core-hours", *["model off by"] * errors):
        table.add_column(name, justify="right")
    with_reasons = any(advice["why"])
    if with_reasons:
        table.add_column("why")
    for row in advice.to_dict("records"):
        add_row(
            table, *(value_text(row[name]) for name in parameters), in_unit(row["seconds"], factor),
            compact(row["core_hours"], 3), *[percent(row["error_after"])] * errors, *[row["why"]] * with_reasons,
        )  # fmt: skip
    return table
