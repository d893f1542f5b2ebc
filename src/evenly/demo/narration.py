"""The page of the demo: for each stage the question, the command to type, the result and its meaning.

All sentences are derived from the numbers of this run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evenly.decomposition.costs.locations import unmeasured_terms
from evenly.demo.comparing import comparison
from evenly.demo.findings import BALANCED, EVEN, Findings, wall_over_cpu
from evenly.demo.stages import CLOUD, CORES, costs
from evenly.report.formatting import compact, interval, percent, quantity, ranks_text
from evenly.report.html_page import Command, Fold, Page, Part, Picture, Remark, Section, Table, Text
from evenly.report.plots.allocation import plot_plan as plot_coupled
from evenly.report.plots.cost import plot_predictions
from evenly.report.plots.forecast import plot_time
from evenly.report.plots.partition import plot_chunks, plot_where
from evenly.report.tables.cost import cost_table, errors_line
from evenly.report.tables.forecast import forecast_table
from evenly.report.tables.machine import machine_table, messages_table
from evenly.report.tables.partition import cuts_headline, cuts_table, shares_table, within
from evenly.report.tables.plan import plan_table

__all__ = ["page_of"]

#: The heading of each stage, in order.
_TITLES = {
    "assign": "Assign cores to coupled solvers",
    "calibrate": "Measure what grid points take here",
    "machine": "Measure this machine's messages",
    "cut": "Cut a structure",
    "predict": "Predict, before anything runs",
    "run": "Run it",
}


def page_of(found: Findings) -> Page:
    """Return the page of a demo, finished or not."""
    tell = (_assigned, _calibrated, _measured, _cut, _predicted, _ran)
    sections = [_section(found, stage, one) for stage, one in zip(_TITLES, tell, strict=True)]
    sections.append(Section("Compare", comparison(found)))
    total = sum(found.seconds.values())
    names = " and ".join(f'"{_TITLES[name]}"' for name in found.failures)
    failed = f" Not all went well: {names} failed and says why." if found.failures else ""
    return Page(
        "evenly on this machine",
        "Measure, learn, decide, run, compare: the whole loop, as it went here a moment ago, with the commands that do "
        f"the same for your own programs.{failed}",
        _numbers(found),
        sections,
        f"Made by `evenly demo` in {compact(total, 3)} s, stages: "
        + ", ".join(f"{name} {compact(seconds, 2)} s" for name, seconds in found.seconds.items())
        + ".",
    )


def _numbers(found: Findings) -> dict[str, str]:
    numbers: dict[str, str] = {}
    main = found.compared.get(BALANCED) or next(iter(found.compared.values()), None)
    if main is not None:
        numbers[f"predicted per step, {ranks_text(main.seen.ranks)}"] = quantity(main.predicted["step_s"], digits=3)
        if main.runs:
            numbers["measured per step, median"] = quantity(main.measured_s, digits=3)
            numbers["measured over predicted, at the pace of the calibration"] = compact(main.ratio, 3)
    if found.cloud is not None:
        best = found.cloud.best
        numbers[f"predicted per step, {found.cloud.ranks} ranks of {CLOUD}"] = quantity(best["step_s"], digits=3)
    return numbers


def _section(found: Findings, stage: str, tell: Callable[[Findings], Sequence[Part]]) -> Section:
    parts = list(tell(found))
    if stage in found.failures:
        parts.append(Remark(f"This stage failed: {found.failures[stage]}", "failure"))
    parts += [Remark(text, "warning") for text in found.notes.get(stage, [])]
    return Section(_TITLES[stage], parts)


# ---- stages -------------------------------------------------------------------------------------------------


def _assigned(found: Findings) -> list[Part]:
    parts: list[Part] = [
        Text(
            f"Two solvers are coupled and wait for each other. They were measured in seven short runs each, on other "
            f"numbers of cores. How should {CORES} cores be divided between them?"
        ),
        Command(
            f"evenly example gaussian-pulse {found.folder}\n"
            f"evenly allocate {found.folder}/gaussian-pulse --cores {CORES}"
        ),
    ]
    plan = found.coupled
    if plan is None:
        return parts
    shares = " and ".join(f"{cores} cores for {name}" for name, cores in plan.cores.items())
    within = interval(*plan.interval) if plan.interval is not None else ""
    return [
        *parts,
        Table.of(plan_table(plan)),
        Picture(plot_coupled(plan), "A few coupled steps with equal shares of the cores and with the plan"),
        Remark(
            f"The answer is {shares}: {quantity(plan.seconds, digits=3)} per step"
            + (f", within {within}." if within else ".")
        ),
    ]


def _calibrated(found: Findings) -> list[Part]:
    parts: list[Part] = [
        Text(
            "A grid point of vacuum takes less than one of metal, or one in an absorbing layer. How much does each "
            "kind take on this machine? Small runs of every feature tell, on one core."
        ),
        Command(
            "# kept apart, so that a calibration of your own stays as it is\n"
            f"export EVENLY_HOME={'' if found.home.is_absolute() else '$PWD/'}{found.home}\n"
            f"evenly calibrate fdtd --wall-time {found.extent.calibrate_s:g}s"
        ),
    ]
    cost = found.cost
    if cost is None:
        return [*parts, Text("What follows uses the costs that came with evenly.")]
    others = unmeasured_terms(cost)
    measured = f"{len(cost.coefficients) - len(others)} of {len(cost.coefficients)} terms were measured here"
    if others:
        measured += f"; the other {len(others)} are those that came with evenly, at this machine's speed"
    errors = errors_line(cost)
    parts.append(Remark(f"{measured}." + (f" On its own runs: {errors}." if errors else "")))
    if any(row.get("purpose") == "cell" for row in cost.measured):
        parts.append(Picture(plot_predictions(cost), "Predicted against measured time of the calibration's runs"))
    return [*parts, Fold("What each term takes", [Table.of(cost_table(cost))])]


def _measured(found: Findings) -> list[Part]:
    parts: list[Part] = [
        Text(
            "Ranks send each other their borders in every step. How long do messages take here, and how much do "
            "steps vary?"
        ),
        Command(f"evenly machine measure --seconds {found.extent.machine_s:g} --save {found.machine_path}"),
    ]
    machine = found.machine
    if machine is None:
        return parts
    parts.append(Table.of(machine_table(machine)))
    if machine.within_node is None:
        return [*parts, Remark(f"Messages weren't measured: {found.mpi or 'see above'}", "warning")]
    link = machine.within_node
    said = (
        f"A short message takes {quantity(link.latency_s, digits=3)} between two ranks, long ones travel at "
        f"{quantity(link.bytes_per_s, 'B', digits=3)} per second; a rank's step varies by {percent(machine.jitter, 2)}."
    )
    return [*parts, Remark(said), Fold("Messages by size", [Table.of(messages_table(machine))])]


def _cut(found: Findings) -> list[Part]:
    parts: list[Part] = [
        Text(
            f"A pixel of an image sensor, `{found.extent.structure}`: air, a lens, a filter, oxide, silicon, absorbing "
            f"layers. How should it be cut into {found.ranks}, so that all ranks finish a step together?"
        ),
        Command(
            f"evenly partition {_what(found)} --ranks {found.ranks} --save {found.layout_path} "
            f"--plot {found.folder}/plots"
        ),
    ]
    plan = found.plan
    if plan is None:
        return parts
    return [
        *parts,
        Text(f"{cuts_headline(plan)}\n{within(plan, costs(found))}"),
        Picture(plot_chunks(plan, unit="µm"), "The chunks by rank, and by their predicted load, beside equal volumes"),
        Table.of(cuts_table(plan)),
        Remark(f"The answer is {'the balanced cut' if plan.chosen == 'balanced' else 'equal volumes'}: {plan.why}."),
        Fold(
            "Where the work is, and what each rank gets",
            [
                Picture(
                    plot_where(plan, costs(found), unit="µm"),
                    "Predicted nanoseconds per point in slices, with the cuts",
                ),
                Table.of(shares_table(plan)),
            ],
        ),
    ]


def _predicted(found: Findings) -> list[Part]:
    most = found.ranks if not found.mpi else 1
    parts: list[Part] = [
        Text("How long will a step take here, and on a cluster that isn't here? Nothing has run yet."),
        Command(
            f"evenly predict --simulation {_what(found)} --ranks 1..{most} "
            f"--machine {found.machine_path} --steps 1000\n"
            f"evenly predict --simulation {_what(found)} "
            f"--ranks {','.join(map(str, found.extent.cloud_ranks))} --machine {CLOUD} --steps 1000"
        ),
    ]
    if found.here is not None:
        parts += [Text("On this machine:"), Table.of(forecast_table(found.here))]
    if found.cloud is None:
        return parts
    best = found.cloud.best
    return [
        *parts,
        Text(f"On `{CLOUD}`: {found.cloud.machine.about}"),
        Table.of(forecast_table(found.cloud)),
        Picture(plot_time(found.cloud), "Predicted time per step against the number of ranks, with its interval"),
        Remark(
            f"Recommended on `{CLOUD}` for 1000 steps: {ranks_text(found.cloud.ranks)}, {found.cloud.why}.\n"
            f"A step takes {quantity(best['step_s'], digits=3)} then, {percent(best['communication_share'], 2)} of it "
            "for messages and waiting. Cores are taken to be as fast as this machine's; nothing was run there."
        ),
    ]


def _ran(found: Findings) -> list[Part]:
    steps = f"--steps {found.extent.steps}"
    lines = [f"evenly fdtd run {_what(found)} {steps}"]
    if not found.mpi:
        lines.append(f"evenly fdtd run {_what(found)} {steps} --ranks {found.ranks}")
    if not found.mpi and found.plan is not None and found.plan.chosen == "balanced":
        lines.append(f"evenly fdtd run {_what(found)} {steps} --ranks {found.ranks} --chunks {found.layout_path}")
    asked = "Now it runs" + (" on real ranks, cut in equal volumes and balanced" if not found.mpi else " on one rank")
    made = max((len(one.runs) for one in found.compared.values()), default=0)
    turns = f": {made} run{'s' * (made != 1)} of each in turns, so that a slow minute of the machine hits all alike."
    parts: list[Part] = [Text(asked + turns), Command("\n".join(lines))]
    if found.mpi:
        parts.append(Remark(f"Several ranks can't run here: {found.mpi}. One rank runs instead.", "warning"))
    rows = [
        [name, str(one.seen.ranks), *(quantity(seconds, digits=3) for seconds in sorted(one.steps_s))]
        for name, one in found.compared.items()
        if one.runs
    ]
    if rows:
        most = max(map(len, rows))
        heads = ["layout", "ranks", "fastest", *[""] * (most - 4), "slowest"][:most]
        padded = [[*row, *[""] * (most - len(row))] for row in rows]
        parts.append(Table(heads, padded, "wall time per step of the slowest rank, one column for each run"))
    if found.disturbed_runs:
        parts.append(Remark(_disturbed(found), "warning"))
    failed = [f"A run on {ranks_text(run.size)} {run.status}: {run.message}" for run in found.failed_runs]
    parts += [Remark(text, "warning") for text in failed]
    if EVEN in found.compared and found.plan is not None and found.plan.chosen == "even":
        parts.append(Text("The balanced cut wasn't the answer, but runs all the same, to be compared."))
    return parts


def _disturbed(found: Findings) -> str:
    number = len(found.disturbed_runs)
    times = ", ".join(f"{compact(wall_over_cpu(run), 3)} times" for run in found.disturbed_runs)
    return (
        f"Other processes used the cores during {number} run{'s' * (number != 1)}, whose own work took {times} as much "
        "wall time as CPU time. Of each and the run that was made again, the less disturbed one counts."
    )


def _what(found: Findings) -> str:
    return f"{found.extent.structure} {found.extent.typed}".strip()
