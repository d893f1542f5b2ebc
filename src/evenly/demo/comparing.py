"""Comparison of predictions with measurements, in sentences, tables and pictures."""

from __future__ import annotations

from statistics import median

import numpy as np

from evenly.demo.findings import BALANCED, EVEN, ONE, SHARED, Compared, Findings, Speedup
from evenly.demo.pictures import plot_ranks, plot_steps
from evenly.report.formatting import common_prefix, compact, percent, quantity
from evenly.report.html_page import Part, Picture, Remark, Table, Text

__all__ = ["comparison", "gain_sentence", "ranks_sentence", "steps_sentence"]

#: A ratio that differs from 1 by less is reported as equal.
_ALIKE = 0.01


_MEANING = (
    "time per step; measured: the median of the runs, as on cores of their own (wall time times the share of it in "
    "which ranks had their cores), at the pace of the calibration; ratio: measured over predicted; agrees: the runs "
    "and the interval have times in common"
)


def comparison(found: Findings) -> list[Part]:
    """Return the parts of the page's last section: times per step, the gain of the cut, times of each rank."""
    ran = {name: one for name, one in found.compared.items() if one.runs}
    asked = Text("Were the predictions right, and is the cut worth it?")
    if not ran:
        return [asked, Remark("Nothing ran, so nothing can be compared.", "failure")]
    inside = all(one.side == "inside" for one in ran.values())
    parts: list[Part] = [
        asked,
        _steps_table(ran),
        Picture(plot_steps(ran, _headline(ran)), "Predicted intervals and measured times per step of each layout"),
        Remark("\n".join(steps_sentence(name, one) for name, one in ran.items()), "finding" if inside else "warning"),
    ]
    several = {name: one for name, one in ran.items() if one.seen.ranks > 1}
    if EVEN in several and BALANCED in several:
        even, balanced = several[EVEN], several[BALANCED]
        faster = balanced.speedup_over(even).low > 1
        parts.append(Remark(gain_sentence(even, balanced), "finding" if faster else "warning"))
    if several and ONE in ran:
        best = min(several.values(), key=lambda each: median(each.paced_s))
        faster = best.speedup_over(ran[ONE]).low > 1
        parts.append(Remark(ranks_sentence(ran[ONE], best), "finding" if faster else "warning"))
    parts += [
        Text("Rank by rank: what it was predicted to compute, and its own work and waiting as its clocks say."),
        _ranks_table(ran),
        Picture(plot_ranks(ran, _balance(several)), "Per rank: predicted work, CPU time, wall time and waiting"),
    ]
    return [*parts, *(Remark(text, "warning") for text in _reasons(found, ran))]


def steps_sentence(name: str, one: Compared) -> str:
    """Return a sentence that compares a layout's runs with its prediction, at the pace of the calibration."""
    paced = median(one.paced_s)
    said = f"{compact(one.ratio, 3)} times the prediction" if abs(one.ratio - 1) >= _ALIKE else "as predicted"
    differs = abs(one.measured_s / paced - 1) >= _ALIKE
    alone = f", {quantity(paced, digits=3)} at the pace of the calibration on cores of its own" if differs else ""
    where = {
        "inside": "the runs and the predicted interval agree",
        "above": "every run was slower than the predicted interval",
        "below": "every run was faster than the predicted interval",
    }[one.side]
    return (
        f"{name.capitalize()}: predicted {quantity(one.predicted['step_s'], digits=3)}, measured "
        f"{quantity(one.measured_s, digits=3)}{alone}: {said}; {where}."
    )


def ranks_sentence(one: Compared, several: Compared) -> str:
    """Return sentences on the predicted and measured speedup of several ranks over one."""
    measured = several.speedup_over(one)
    text = _speedup(f"{several.seen.ranks} ranks were", _predicted(several, one), "one", "they were", measured)
    if measured.high < 1:
        return f"{text} So one rank is faster here: ranks that share memory and messages cost more than they bring."
    return text if measured.low > 1 or measured.pairs < 2 else f"{text} So these runs can't tell which is faster."


def gain_sentence(even: Compared, balanced: Compared) -> str:
    """Return sentences on the predicted and measured speedup of the balanced cut over equal volumes."""
    predicted, measured = _predicted(balanced, even), balanced.speedup_over(even)
    text = _speedup("The balanced cut was", predicted, "equal volumes", "it was", measured)
    if measured.pairs < 2:
        return text
    agrees = measured.low <= predicted <= measured.high
    if measured.low > 1:
        how = "as much as" if agrees else "more than" if measured.low > predicted else "less than"
        return f"{text} So the cut pays here, {how} predicted."
    if measured.high < 1:
        return f"{text} So the cut did not pay here."
    pairs = measured.pairs_for(predicted) if predicted > 1 else 0
    more = f": for a gain as predicted, it takes about {pairs} pairs" if pairs > measured.pairs else ""
    within = "What was predicted is possible, too." if agrees else "What was predicted lies outside of these 90 %."
    return f"{text} So these runs can't tell which cut is faster{more}. {within}"


def _predicted(fast: Compared, slow: Compared) -> float:
    return slow.predicted["step_s"] / fast.predicted["step_s"]


def _speedup(subject: str, predicted: float, other: str, it_was: str, measured: Speedup) -> str:
    """Return a sentence on a predicted and a measured speedup over another layout."""
    text = f"{subject} predicted to be {compact(predicted, 3)} times as fast as {other}; {it_was} "
    if measured.pairs < 2:
        return f"{text}{compact(measured.ratio, 3)} times as fast. One run each can't tell how sure that is."
    within = f"90 %: {compact(measured.low, 3)} … {compact(measured.high, 3)}, {measured.pairs} pairs of runs"
    return f"{text}{compact(measured.ratio, 3)} times as fast ({within})."


def _headline(ran: dict[str, Compared]) -> str:
    inside = sum(one.side == "inside" for one in ran.values())
    return f"{inside} of {len(ran)} layouts agree with their prediction, at the pace of the moment"


def _steps_table(ran: dict[str, Compared]) -> Table:
    factor, unit = common_prefix([median(one.paced_s) for one in ran.values()])
    rows = []
    for name, one in ran.items():
        low, high = one.predicted["lower_s"], one.predicted["upper_s"]
        rows.append(
            [
                name, str(one.seen.ranks), compact(one.predicted["step_s"] / factor, 3),
                _between(low / factor, high / factor),
                compact(median(one.paced_s) / factor, 3),
                _between(min(one.paced_s) / factor, max(one.paced_s) / factor),
                compact(one.ratio, 3),
                {"inside": "agrees", "above": "slower", "below": "faster"}[one.side],
            ]
        )  # fmt: skip
    header = ["layout", "ranks", f"predicted {unit}", "interval", f"measured {unit}", "all runs", "ratio", ""]
    return Table(header, rows, _MEANING, (0, 7))


def _between(low: float, high: float) -> str:
    return f"{compact(low, 3)} … {compact(high, 3)}"


def _ranks_table(several: dict[str, Compared]) -> Table:
    factor, unit = common_prefix([one.measured_s for one in several.values()])
    rows = []
    for name, one in several.items():
        columns = (one.seen.load.seconds, one.busy_s("cpu"), one.busy_s("wall"), one.whole_s())
        points = [record.points for record in one.runs[0].ranks]
        for rank in range(one.seen.ranks):
            times = [compact(column[rank] / factor, 3) for column in columns]
            rows.append([name, str(rank), compact(points[rank]), *times])
    header = ["layout", "rank", "points", f"predicted work {unit}", "CPU", "wall", "with waiting"]
    return Table(header, rows, "per step, medians of the runs; CPU and wall: of a rank's own work, without waiting")


def _work_sentence(ran: dict[str, Compared]) -> str:
    """Return how the ranks' own work compares with the prediction: of one rank, and of several side by side."""
    said = []
    for alone in (True, False):
        ones = [one for one in ran.values() if (one.seen.ranks == 1) == alone]
        if ones:
            predicted = sum(float(one.seen.load.seconds.sum()) for one in ones)
            cpu = sum(float(one.busy_s("cpu").sum()) / median(one.paces or (1.0,)) for one in ones)
            said.append(f"{compact(cpu / predicted, 3)} for {'one rank' if alone else 'ranks side by side'}")
    return (
        "CPU time counts only while a rank has a core. At the pace of the calibration, the ranks' work took so many "
        f"times what was predicted of them alone on the machine: {', '.join(said)}."
    )


def _balance(several: dict[str, Compared]) -> str:
    if not several:
        return "what one rank computes"
    shares = [f"{name} {_imbalance(one):.2f}" for name, one in several.items()]
    return f"slowest rank over the mean, by CPU time: {', '.join(shares)}"


def _imbalance(one: Compared) -> float:
    cpu = one.busy_s("cpu")
    return float(cpu.max() / cpu.mean())


def _reasons(found: Findings, ran: dict[str, Compared]) -> list[str]:
    """Return known reasons why measured times differ from predictions."""
    reasons = [_work_sentence(ran)]
    wall, cpu = (sum(float(np.sum(one.busy_s(clock))) for one in ran.values()) for clock in ("wall", "cpu"))
    if wall > SHARED * cpu:
        reasons.append(
            f"Ranks' own work took {compact(wall / cpu, 3)} times as much wall time as CPU time: something else used "
            "the cores meanwhile, which no prediction knows of; the ratios take it into account."
        )
    if found.slowdown > SHARED:
        reasons.append(
            f"Between the runs, a fixed piece of work took {compact(found.slowdown, 3)} times the CPU time that it "
            "took while costs were measured: the cores themselves were slower then, which the ratios take into account."
        )
    if found.slowdown < 1 / SHARED:
        reasons.append(
            f"Between the runs, a fixed piece of work took {percent(found.slowdown)} of the CPU time that it took "
            f"while costs were measured: the cores themselves were faster then, which the ratios take into account."
        )
    return reasons
