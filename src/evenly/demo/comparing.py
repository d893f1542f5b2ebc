"""Comparison of predictions with measurements, in sentences, tables and pictures."""

from __future__ import annotations

import numpy as np

from evenly.demo.findings import BALANCED, EVEN, ONE, SHARED, Compared, Findings
from evenly.demo.pictures import plot_ranks, plot_steps
from evenly.report.formatting import common_prefix, compact, percent, quantity
from evenly.report.html_page import Part, Picture, Remark, Table, Text

__all__ = ["agreement", "comparison", "gain_sentence", "ranks_sentence", "steps_sentence"]

#: A ratio that differs from 1 by less is reported as equal.
_ALIKE = 0.01


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
    if ONE in ran and several:
        fastest = min(several.values(), key=lambda one: one.measured_s)
        paid = max(fastest.steps_s) < min(ran[ONE].steps_s)
        parts.append(Remark(ranks_sentence(ran[ONE], fastest), "finding" if paid else "warning"))
    parts += [
        Text("Rank by rank: what it was predicted to compute, and its own work and waiting as its clocks say."),
        _ranks_table(ran),
        Picture(plot_ranks(ran, _balance(several)), "Per rank: predicted work, CPU time, wall time and waiting"),
    ]
    return [*parts, *(Remark(text, "warning") for text in _reasons(found, ran))]


def steps_sentence(name: str, one: Compared) -> str:
    """Return a sentence that compares a layout's measured median with its prediction."""
    ratio = one.measured_s / one.predicted["step_s"]
    where = {
        "inside": "inside the predicted interval",
        "above": "above the predicted interval: slower than predicted",
        "below": "below the predicted interval: faster than predicted",
    }[one.side]
    said = f"{compact(ratio, 3)} times the prediction" if abs(ratio - 1) >= _ALIKE else "as predicted"
    return (
        f"{name.capitalize()}: predicted {quantity(one.predicted['step_s'], digits=3)}, measured "
        f"{quantity(one.measured_s, digits=3)}, {said}, {where}."
    )


def gain_sentence(even: Compared, balanced: Compared) -> str:
    """Return a sentence on the predicted and measured speedup of the balanced cut over equal volumes."""
    predicted = even.predicted["step_s"] / balanced.predicted["step_s"]
    measured = even.measured_s / balanced.measured_s
    text = (
        f"The balanced cut was predicted to be {compact(predicted, 3)} times as fast as equal volumes; in the medians "
        f"of the runs it is {compact(measured, 3)} times as fast."
    )
    return f"{text} " + _how_sure(
        even, balanced,
        "Every balanced run was faster than every run with equal volumes.",
        "Every balanced run was slower than every run with equal volumes: the cut did not pay here.",
        "The runs of the two overlap, so these few can't tell which cut is faster.",
    )  # fmt: skip


def ranks_sentence(one: Compared, several: Compared) -> str:
    """Return a sentence on the predicted and measured speedup of several ranks over one."""
    ranks = several.seen.ranks
    predicted = one.predicted["step_s"] / several.predicted["step_s"]
    measured = one.measured_s / several.measured_s
    text = (
        f"{ranks} ranks were predicted to be {compact(predicted, 3)} times as fast as one; in the medians of the runs, "
        f"with the faster cut, they are {compact(measured, 3)} times as fast."
    )
    return f"{text} " + _how_sure(
        one, several,
        f"Every run on {ranks} ranks was faster than every run on one.",
        f"Every run on one rank was faster: {ranks} ranks did not pay here.",
        f"The runs overlap, so these few can't tell whether {ranks} ranks pay.",
    )  # fmt: skip


def _how_sure(old: Compared, new: Compared, faster: str, slower: str, unsure: str) -> str:
    """Return the sentence that the runs of two layouts allow."""
    if len(old.runs) < 2 or len(new.runs) < 2:
        return "One run each can't tell how sure that is."
    if max(new.steps_s) < min(old.steps_s):
        return faster
    return slower if min(new.steps_s) > max(old.steps_s) else unsure


def _headline(ran: dict[str, Compared]) -> str:
    inside = sum(one.side == "inside" for one in ran.values())
    return f"{inside} of {len(ran)} measured medians lie inside the predicted interval"


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
                compact(one.measured_s / one.predicted["step_s"], 3), one.side,
            ]
        )  # fmt: skip
    header = ["layout", "ranks", f"predicted {unit}", "interval", f"measured {unit}", "all runs", "ratio", "lies"]
    return Table(header, rows, "wall time per step; measured: the median of the runs", (0, 7))


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


def agreement(found: Findings, ran: dict[str, Compared]) -> str:
    """Return sentences on each layout's CPU time at the pace of the moment: where it agrees with the prediction."""
    pace = found.slowdown if np.isfinite(found.slowdown) else 1.0
    lines = ["By CPU time, which runs on only while a rank has a core, and at the pace that the cores had then:"]
    for name, one in ran.items():
        busy = [sum(rank.busy("cpu") for rank in run.ranks) / run.steps for run in one.runs]
        ratios = np.array(busy) / float(one.seen.load.seconds.sum()) / pace
        low, high = (one.predicted[key] / one.predicted["step_s"] for key in ("lower_s", "upper_s"))
        if low <= np.median(ratios) <= high:
            verdict = "agrees with the prediction"
        elif ratios.min() <= high and ratios.max() >= low:
            verdict = "can't be told from the prediction, so much do the runs differ"
        else:
            verdict = "doesn't agree with the prediction: the clocks don't explain the difference"
        lines.append(
            f"{name.capitalize()}: all ranks' work {compact(float(np.median(ratios)), 3)} times the predicted (runs "
            f"{_between(ratios.min(), ratios.max())}, predicted within {_between(low, high)}); it {verdict}."
        )
    return "\n".join(lines)


def _balance(several: dict[str, Compared]) -> str:
    if not several:
        return "what one rank computes"
    shares = [f"{name} {_imbalance(one):.2f}" for name, one in several.items()]
    return f"slowest rank over the mean, by CPU time: {', '.join(shares)}"


def _imbalance(one: Compared) -> float:
    cpu = one.busy_s("cpu")
    return float(cpu.max() / cpu.mean())


def _at_that_speed(found: Findings, ran: dict[str, Compared]) -> str:
    """Return measured over predicted times, corrected for the cores' own change of speed."""
    ratios = [one.measured_s / one.predicted["step_s"] / found.slowdown for one in ran.values()]
    ratios_text = ", ".join(f"{name} {compact(ratio, 3)}" for name, ratio in zip(ran, ratios, strict=True))
    return f"Times over predictions without that: {ratios_text}."


def _reasons(found: Findings, ran: dict[str, Compared]) -> list[str]:
    """Return known reasons why measured times differ from predictions."""
    reasons = [agreement(found, ran)]
    wall, cpu = (sum(float(np.sum(one.busy_s(clock))) for one in ran.values()) for clock in ("wall", "cpu"))
    if wall > SHARED * cpu:
        reasons.append(
            f"Ranks' own work took {compact(wall / cpu, 3)} times as much wall time as CPU time: something else used "
            "the cores meanwhile, which no prediction knows of."
        )
    if found.slowdown > SHARED:
        reasons.append(
            f"Between the runs, a fixed piece of work took {compact(found.slowdown, 3)} times the CPU time that it "
            f"took while costs were measured: the cores themselves were slower then. {_at_that_speed(found, ran)}"
        )
    if found.slowdown < 1 / SHARED:
        reasons.append(
            f"Between the runs, a fixed piece of work took {percent(found.slowdown)} of the CPU time that it took "
            f"while costs were measured: the cores themselves were faster then. {_at_that_speed(found, ran)}"
        )
    return reasons
