"""The stages of the demo; each adds its results to the findings."""

from __future__ import annotations

import dataclasses
import importlib.util
import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

from evenly.allocation.allocate import allocate
from evenly.decomposition.calibration.designs import Design
from evenly.decomposition.calibration.fdtd_calibration import calibrate_fdtd
from evenly.decomposition.calibration.fdtd_designs import fdtd_designs
from evenly.decomposition.calibration.fdtd_runs import ReferenceWork
from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.fdtd.cell import cell_of
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.costs.locations import shipped_file, store_file
from evenly.decomposition.forecasting.features import workload_of
from evenly.decomposition.forecasting.forecast import forecast, forecast_step
from evenly.decomposition.partitioning.partition import partition
from evenly.decomposition.partitioning.predict import predict as predict_layout
from evenly.demo.extent import QUICK
from evenly.demo.findings import BALANCED, EVEN, ONE, SHARED, Compared, Findings, wall_over_cpu
from evenly.errors import EvenlyError, EvenlyWarning, ExtrapolationWarning, InputError, RunFailed
from evenly.examples import copy
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.measurement.measurement import Measurement
from evenly.fdtd.ranks.launching import check_root, find_launcher
from evenly.fdtd.scaling.rank import run_task
from evenly.fdtd.scaling.runs import run_once
from evenly.fdtd.scaling.study import file_name
from evenly.fdtd.structures.programs import load
from evenly.machine.machine import Machine
from evenly.machine.measuring.measuring import default_name, measure_machine
from evenly.models.fitting import fit
from evenly.readers import read

__all__ = ["CLOUD", "CORES", "STAGES", "Told", "costs", "why_no_ranks"]

#: Called with the fraction of a stage that is done.
Told = Callable[[float], None]
#: The cluster to predict for; only its description is needed.
CLOUD = "cloud-16-10g"
#: Shipped machine whose values replace those that couldn't be measured.
_SUBSTITUTE = "two-cores"
#: Cores that the coupled solvers get.
CORES = 560


def why_no_ranks(cores: int) -> str:
    """Return the reason why several ranks can't run side by side on this machine; "" where they can.

    Examples
    --------
    >>> why_no_ranks(1)
    'this process may use one core only, and ranks on one core would take turns'
    """
    if cores < 2:
        return "this process may use one core only, and ranks on one core would take turns"
    try:
        check_root(find_launcher())
    except EvenlyError as error:
        return str(error)
    if importlib.util.find_spec("mpi4py") is None:
        return "mpi4py is not installed: pip install 'evenly[mpi]'"
    return ""


def assign(found: Findings, told: Told) -> None:
    """Assign cores to the coupled solvers of the shipped example."""
    folder = copy("gaussian-pulse", found.folder, force=True)
    runs = read(folder)
    if not isinstance(runs, dict):
        raise InputError(f"{folder} must hold runs of several solvers")
    told(0.2)
    models = {name: fit(one) for name, one in runs.items()}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EvenlyWarning)
        warnings.simplefilter("ignore", ExtrapolationWarning)  # the table of the plan says it
        found.coupled = allocate(models, cores=CORES)
    for warning in caught:
        found.note("assign", str(warning.message))


def calibrate(found: Findings, told: Told) -> None:
    """Measure the costs of points, chunks and borders on this machine."""
    store = found.home / "costs" / store_file("fdtd").name
    store.unlink(missing_ok=True)
    cost = calibrate_fdtd(
        found.extent.calibrate_s, store=store, designs=_designs(found), progress=lambda now: told(now.fraction)
    )
    cost.save(found.cost_path)
    store.unlink(missing_ok=True)
    found.cost = cost


def _designs(found: Findings) -> list[Design]:
    """Return the designs to time: a few small runs in a test, else all for which there is time."""
    if found.extent is not QUICK:
        return fdtd_designs()
    return [one for one in fdtd_designs() if one.group == "vacuum"][:4]


def measure(found: Findings, told: Told) -> None:
    """Measure cores, memory and messages."""
    seen = measure_machine(
        default_name(), seconds=found.extent.machine_s, progress=lambda _text, fraction: told(fraction)
    )
    seen.machine.save(found.machine_path)
    found.machine = seen.machine
    for remark in seen.remarks:
        found.note("machine", remark)


def cut(found: Findings, _told: Told) -> None:
    """Cut the structure into one part per rank."""
    cell, cost = _cell(found), costs(found)
    found.plan = partition(cell, found.ranks, cost)
    found.serial_s = predict_layout(cell, BinaryPartition(0), 1, cost).step_s
    found.plan.save(found.layout_path)


def predict(found: Findings, told: Told) -> None:
    """Predict a step on this machine, for the balanced cut and for equal volumes, and on a described cluster."""
    plan = _cut(found)
    cost, machine = costs(found), _machine(found)
    layouts = {ONE: (BinaryPartition(0), 1)}
    if not found.mpi:
        layouts |= {EVEN: (plan.even.layout, found.ranks), BALANCED: (plan.balanced.layout, found.ranks)}
    for name, (layout, ranks) in layouts.items():
        seen = workload_of(plan.cell, ranks, cost, layout)
        found.compared[name] = Compared(seen, forecast_step(seen, cost, machine))
    told(0.2)
    most = 1 if found.mpi else found.ranks
    found.here = forecast(plan.cell, range(1, most + 1), machine, model=cost, steps=1000)
    told(0.4)
    found.cloud = forecast(
        plan.cell, found.extent.cloud_ranks, Machine.load(CLOUD), model=cost, steps=1000,
        told=lambda done, of: told(0.4 + 0.6 * done / of),
    )  # fmt: skip


def run(found: Findings, told: Told) -> None:
    """Run all layouts on real ranks, in turns, so that a slow phase of the machine affects all of them alike."""
    if not found.compared:
        raise InputError("nothing was predicted, so there is nothing to run")
    pace, done, begin = ReferenceWork(), 0, perf_counter()
    for repetition in range(found.extent.repeats):
        if repetition > 1 and perf_counter() - begin > found.extent.runs_s:
            found.note(
                "run",
                f"The machine is slow or busy: {repetition} runs of each were made instead of {found.extent.repeats}.",
            )
            break
        for name, one in list(found.compared.items()):
            before = pace.seconds()
            measured = _run_undisturbed(found, one, repetition, again=perf_counter() - begin < found.extent.runs_s)
            found.paces += [before, after := pace.seconds()]
            if measured.status == "ok":
                measured.save(found.folder / "runs" / f"{name.replace(' ', '-')}-{file_name(measured)}")
                found.compared[name] = dataclasses.replace(
                    one, runs=(*one.runs, measured), paces=(*one.paces, found.pace((before + after) / 2))
                )
            else:
                found.failed_runs.append(measured)
            done += 1
            told(done / (found.extent.repeats * len(found.compared)))
    if not any(one.runs for one in found.compared.values()):
        raise RunFailed(f"no run went well; the first: {found.failed_runs[0].message}")


def _run_undisturbed(found: Findings, one: Compared, repetition: int, *, again: bool) -> Measurement:
    """Run a layout, and once again if other processes used its cores; the run that they disturbed less is counted."""
    first = _run(found, one.seen.layout, one.seen.ranks, repetition)
    if not again or first.status != "ok" or wall_over_cpu(first) <= SHARED:
        return first
    second = _run(found, one.seen.layout, one.seen.ranks, repetition)
    if second.status != "ok":
        found.failed_runs.append(second)
        return first
    counted, other = sorted((first, second), key=wall_over_cpu)
    found.disturbed_runs.append(other)
    other.save(found.folder / "runs" / f"disturbed-{len(found.disturbed_runs)}-{file_name(other)}")
    return counted


def _run(found: Findings, layout: BinaryPartition, ranks: int, repetition: int) -> Measurement:
    task: dict[str, Any] = {
        "program": found.extent.structure, "parameters": dict(found.extent.parameters), "options": {},
        "layout": layout.to_list() if ranks > 1 else None, "steps": found.extent.steps, "warm_up": 5,
        "repetition": repetition,
    }  # fmt: skip
    if found.mpi:
        return run_task(task)
    return run_once(task, ranks, timeout_s=found.extent.run_timeout_s)


#: In order: name, description for the progress bar, function.
STAGES: dict[str, tuple[str, Callable[[Findings, Told], None]]] = {
    "assign": ("assigning cores to two coupled solvers", assign),
    "calibrate": ("measuring what grid points take", calibrate),
    "machine": ("measuring this machine's memory and messages", measure),
    "cut": ("cutting the structure", cut),
    "predict": ("predicting its step", predict),
    "run": ("running it", run),
}


def _cell(found: Findings) -> Cell:
    program = load(found.extent.structure, found.extent.parameters)
    return cell_of(program.simulation, program.monitors.values(), name=program.name)


def _cut(found: Findings) -> Any:
    if found.plan is None:
        raise InputError("the structure wasn't cut, so its step can't be predicted")
    return found.plan


def costs(found: Findings) -> CostModel:
    """Return this machine's costs, or those that come with evenly where the measurement failed."""
    return CostModel.load(shipped_file("fdtd")) if found.cost is None else found.cost


def _machine(found: Findings) -> Machine:
    """Return the measured machine; values that couldn't be measured come from a shipped machine, with a remark."""
    other = Machine.load(_SUBSTITUTE)
    if found.machine is None:
        found.note("predict", f"This machine wasn't measured: predictions are for the shipped `{_SUBSTITUTE}`.")
        return dataclasses.replace(other, cores_per_node=max(found.ranks, other.cores_per_node or 1))
    if found.machine.within_node is None and found.ranks > 1 and not found.mpi:
        found.note("predict", f"Messages couldn't be measured: their times are those of the shipped `{_SUBSTITUTE}`.")
        return dataclasses.replace(found.machine, within_node=other.within_node)
    return found.machine
