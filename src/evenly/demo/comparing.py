"""Comparison of predictions with measurements, in sentences, tables and pictures."""

from __future__ import annotations

import numpy as np

from evenly.demo.findings import BALANCED, EVEN, ONE, SHARED, Compared, Findings
from evenly.demo.pictures import plot_ranks, plot_steps
from evenly.report.formatting import common_prefix, compact, percent, quantity
from evenly.report.html_page import Part, Picture, Remark, Table, Text

__all__ = ["comparison", "gain_sentence", "ranks_sentence", "steps_sentence"]

#: A ratio that differs from 1 by less is reported as equal.
_ALIKE = 0.01


_MEANING = (
    "wall time per step; measured: the median of the runs; ratio: measured over predicted, at the pace of the "
    "calibration; agrees: the runs and the interval have times in common"
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
        faster = max(balanced.steps_s) < min(even.steps_s)
        parts.append(Remark(gain_sentence(even, balanced), "finding" if faster else "warning"))
    if several and ONE in ran:
        best = min(several.values(), key=lambda each: each.measured_s)
        faster = max(best.steps_s) < min(ran[ONE].steps_s)
        parts.append(Remark(ranks_sentence(ran[ONE], best), "finding" if faster else "warning"))
    parts += [
        Text("Rank by rank: what it was predicted to compute, and its own work and waiting as its clocks say."),
        _ranks_table(ran),
        Picture(plot_ranks(ran, _balance(several)), "Per rank: predicted work, CPU time, wall time and waiting"),
    ]
    return [*parts, *(Remark(text, "warning") for text in _reasons(found, ran))]


def steps_sentence(name: str, one: Compared) -> str:
    """Return a sentence that compares a layout's runs with its prediction, at the pace of the calibration."""
    ratio = one.measured_s / one.pace / one.predicted["step_s"]
    said = f"{compact(ratio, 3)} times the prediction" if abs(ratio - 1) >= _ALIKE else "as predicted"
    slow = f", {quantity(one.measured_s / one.pace, digits=3)} at the pace of the calibration" if one.pace != 1 else ""
    where = {
        "inside": "the runs and the predicted interval agree",
        "above": "every run was slower than the predicted interval",
        "below": "every run was faster than the predicted interval",
    }[one.side]
    return (
        f"{name.capitalize()}: predicted {quantity(one.predicted['step_s'], digits=3)}, measured "
        f"{quantity(one.measured_s, digits=3)}{slow}: {said}; {where}."
    )


def ranks_sentence(one: Compared, several: Compared) -> str:
    """Return a sentence on the predicted and measured speedup of several ranks over one."""
    predicted = one.predicted["step_s"] / several.predicted["step_s"]
    measured = one.measured_s / several.measured_s
    text = (
        f"{several.seen.ranks} ranks were predicted to be {compact(predicted, 3)} times as fast as one; in the medians "
        f"of the runs they are {compact(measured, 3)} times as fast."
    )
    if min(several.steps_s) > max(one.steps_s):
        return f"{text} So one rank is faster here: ranks that share memory and messages cost more than they bring."
    if max(several.steps_s) < min(one.steps_s):
        return text
    return f"{text} The runs of the two overlap, so these few can't tell which is faster."


def gain_sentence(even: Compared, balanced: Compared) -> str:
    """Return a sentence on the predicted and measured speedup of the balanced cut over equal volumes."""
    predicted = even.predicted["step_s"] / balanced.predicted["step_s"]
    measured = even.measured_s / balanced.measured_s
    text = (
        f"The balanced cut was predicted to be {compact(predicted, 3)} times as fast as equal volumes; in the medians "
        f"of the runs it is {compact(measured, 3)} times as fast."
    )
    if len(even.runs) < 2 or len(balanced.runs) < 2:
        return f"{text} One run each can't tell how sure that is."
    if max(balanced.steps_s) < min(even.steps_s):
        return f"{text} Every balanced run was faster than every run with equal volumes."
    if min(balanced.steps_s) > max(even.steps_s):
        return f"{text} Every balanced run was slower than every run with equal volumes: the cut did not pay here."
    return f"{text} The runs of the two overlap, so these few can't tell which cut is faster."


def _headline(ran: dict[str, Compared]) -> str:
    inside = sum(one.side == "inside" for one in ran.values())
    return f"{inside} of {len(ran)} layouts agree with their prediction, at the pace of the moment"


def _steps_table(ran: dict[str, Compared]) -> Table:
    factor, unit = common_prefix([one.measured_s for one in ran.values()])
    rows = []
    for name, one in ran.items():
        low, high = one.predicted["lower_s"], one.predicted["upper_s"]
        rows.append(
            [
                name, str(one.seen.ranks), compact(one.predicted["step_s"] / factor, 3),
                _between(low / factor, high / factor),
                compact(one.measured_s / factor, 3), _between(min(one.steps_s) / factor, max(one.steps_s) / factor),
                compact(one.measured_s / one.pace / one.predicted["step_s"], 3),
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
    predicted = sum(float(one.seen.load.seconds.sum()) for one in ran.values())
    cpu = sum(float(one.busy_s("cpu").sum()) for one in ran.values())
    return (
        f"By CPU time, which runs on only while a rank has a core, the work of all ranks took "
        f"{compact(cpu / predicted, 3)} times what was predicted of them alone on the machine."
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
            "the cores meanwhile, which no prediction knows of."
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
