"""Seconds per step of simulations that nobody has run: OLED, image sensor and tandem cell, predicted from random cells.

    python benchmarks/factorized.py [--store FILE] [--cells 400] [--workers 2] [--machines NAMES] [--real]

Random cells and the three structures are cut for 1 to 4,096 ranks, some ranks of each are timed alone, in random
order, the structures' twice, and steps are replayed on the machines. Then times of the structures, which no model has
seen, are predicted in the forms below; each line says what is learned. "computing" is the slowest rank's, without a
machine; a machine's column is the whole step there. What was timed is kept in the store; a second start goes on.

With --real instead: real ranks over MPI beside predictions, CPU seconds per rank on 1 to 8 ranks and wall time where
there are as many cores.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import evenly
from evenly.decomposition.cells.fdtd.cell import cell_of
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.costs.locations import find_cost
from evenly.decomposition.forecasting.features import SHARES, workload_of
from evenly.decomposition.forecasting.rehearsal import Rehearsal, RehearsalStore, Setting, rehearse
from evenly.decomposition.forecasting.replay import replay
from evenly.decomposition.forecasting.step_model import StepModel
from evenly.decomposition.forecasting.training_data import gather, training_settings
from evenly.errors import ExtrapolationWarning
from evenly.fdtd.simulation import Simulation
from evenly.fdtd.structures import build
from evenly.machine.machine import Machine
from evenly.models.factorized import Factorized

Array = NDArray[np.float64]
STRUCTURES: dict[str, list[dict[str, float]]] = {
    "oled": [
        {"resolution": 20, "size": 2}, {"resolution": 40, "size": 2}, {"resolution": 40, "size": 4},
        {"resolution": 60, "size": 6}, {"resolution": 30, "size": 3, "frequencies": 50, "pml": 0.3},
    ],
    "cmos": [
        {"resolution": 27}, {"resolution": 60}, {"resolution": 100}, {"resolution": 160},
        {"resolution": 45, "frequencies": 8, "size": 1.6},
    ],
    "tandem": [
        {"resolution": 50, "size": 0.6}, {"resolution": 60, "size": 1.2}, {"resolution": 100, "size": 1.2},
        {"resolution": 150, "size": 1.5}, {"resolution": 50, "size": 1.0, "frequencies": 50, "pml": 0.3},
    ],
}  # fmt: skip
RANKS = tuple(2**k for k in range(13))
#: Points of a rank, as of the random cells.
FEWEST, MOST = 1.5e3, 1e6
CONTENT = [*(f"share of {name}" for name in SHARES), "frequencies", "points", "ranks"]
EXTRA = ["imbalance", "latency share", "waiting share", "outside share", "messages over work"]
FORMS: dict[str, tuple[dict[str, str], dict[str, list[str]]]] = {
    "one net for T": ({"total": "1"}, {"total": CONTENT}),
    "W N/P + C S, S = (N/P)^(2/3)": (
        {"computation": "points / ranks", "communication": "guessed"},
        {"computation": CONTENT, "communication": CONTENT},
    ),
    "W N/P + C S, S of the cut": (
        {"computation": "points / ranks", "communication": "surface"},
        {"computation": CONTENT, "communication": CONTENT},
    ),
    "W cost + C S": (
        {"computation": "work_s", "communication": "surface"},
        {"computation": [*CONTENT, "imbalance"], "communication": CONTENT},
    ),
    "W cost + C (latency + bytes/rate)": (
        {"computation": "work_s", "communication": "message_s"},
        {"computation": [*CONTENT, "imbalance"], "communication": ["ranks", *EXTRA]},
    ),
}


def structure_settings() -> list[Setting]:
    """Return the structures in all sizes on all numbers of ranks that leave a rank as many points as random cells'."""
    found = []
    for name, sizes in STRUCTURES.items():
        for parameters in sizes:
            points = Simulation(**{**build(name, **parameters).simulation, "sources": ()}).grid.box.volume
            found += [Setting(name, parameters, n) for n in RANKS if FEWEST <= points / n <= MOST]
    return found


def rows(rehearsals: Sequence[Rehearsal], machine: Machine) -> pd.DataFrame:
    """Return inputs, parts and times of the step on a machine."""
    found = []
    for one in rehearsals:
        step = one.replay(machine)
        inputs = one.inputs(machine)
        guessed = (inputs["points"] / inputs["ranks"]) ** (2 / 3) * (inputs["ranks"] > 1)
        found.append(
            {**inputs, "guessed": guessed, "computation": step.computation_s,
             "communication": max(0.0, step.communication_s), "total": step.step_s}
        )  # fmt: skip
    return pd.DataFrame(found)


def told(measured: Array, predicted: Array) -> str:
    """Return mean, 95th percentile and worst factor of errors."""
    off = np.abs(predicted / measured - 1)
    worst = float(np.maximum(predicted / measured, measured / predicted).max())
    return f"{off.mean():6.1%} {np.quantile(off, 0.95):6.1%} {worst:5.2f}"


def by_form(form: str, train: pd.DataFrame, test: pd.DataFrame, learner: str) -> tuple[Array, dict[str, Array]]:
    """Return predicted totals and parts of the test rows."""
    factors, inputs = FORMS[form]
    columns = sorted({*CONTENT, *EXTRA, "work_s", "message_s", "surface", "guessed"})
    model = Factorized(factors=factors, inputs=inputs, learner=learner)
    model.fit(train[columns], train["total"], parts={name: train[name] for name in factors})
    return model.predict(test[columns]), model.predict_parts(test[columns])


def by_rank(model: StepModel, test: Sequence[Rehearsal], machine: Machine | None) -> Array:
    """Return what rank-by-rank prediction and replay give; without a machine, the slowest rank alone."""
    seconds = model.rank_seconds([one.load for one in test])
    if machine is None:
        return np.array([s.max() for s in seconds])
    return np.array(
        [dataclasses.replace(one, seconds=s).replay(machine).step_s for s, one in zip(seconds, test, strict=True)]
    )


def compare(train: list[Rehearsal], test: list[Rehearsal], cost: CostModel, options: argparse.Namespace) -> None:
    """Print all forms on all machines, learned from 200 and from all random cells."""
    machines = [dataclasses.replace(Machine.load(name), nodes=None) for name in options.machines.split(",")]
    order = np.random.default_rng(0).permutation(len(train))
    alone = np.array([one.seconds.max() for one in test])
    tables = {m.name: (rows(train, m), rows(test, m)) for m in machines}
    columns = ["computing", *tables]
    print(f"{'':44s}" + "".join(f"{name:>22s}" for name in columns) + "   learning")
    print(f"{'form':34s} {'learned from':>9s}" + "".join(f"{'mean   p95  worst':>22s}" for _ in columns) + "   CPU s")
    linear = [told(alone, np.array([one.load.seconds.max() for one in test]))]
    for machine in machines:
        steps = [dataclasses.replace(r, seconds=r.load.seconds).replay(machine).step_s for r in test]
        linear.append(told(tables[machine.name][1]["total"].to_numpy(), np.array(steps)))
    print(f"{'linear cost model, replayed':34s} {0:9d}" + "".join(f"{text:>22s}" for text in linear), flush=True)
    counts = sorted({n for n in (200, len(train)) if n <= len(train)})
    for form in FORMS:
        for count in counts:
            cells, begin = [], time.process_time()
            for name in tables:
                some, asked = tables[name][0].iloc[order[:count]].reset_index(drop=True), tables[name][1]
                cells.append(told(asked["total"].to_numpy(), by_form(form, some, asked, options.learner)[0]))
            spent = (time.process_time() - begin) / len(tables)
            print(f"{form:34s} {count:9d}{'':22s}" + "".join(f"{t:>22s}" for t in cells) + f"{spent:9.1f}", flush=True)
    for learner in options.learners.split(","):
        for count in counts:
            begin = time.process_time()
            model = StepModel.learn([train[i] for i in order[:count]], cost, learner=learner, folds=2)
            spent = time.process_time() - begin
            cells = [told(alone, by_rank(model, test, None))]
            cells += [told(tables[m.name][1]["total"].to_numpy(), by_rank(model, test, m)) for m in machines]
            name = f"rank by rank ({learner}), replayed"
            print(f"{name:34s} {count:9d}" + "".join(f"{t:>22s}" for t in cells) + f"{spent:9.1f}", flush=True)
            if count == counts[-1]:
                by_structure(model, test, machines)
    surfaces(tables)


def by_structure(model: StepModel, test: list[Rehearsal], machines: list[Machine]) -> None:
    """Print the same structure by structure, and how many times the intervals cover."""
    for name in STRUCTURES:
        some = [one for one in test if one.setting.structure == name]
        cells = [told(np.array([one.seconds.max() for one in some]), by_rank(model, some, None))]
        cells += [told(np.array([r.replay(m).step_s for r in some]), by_rank(model, some, m)) for m in machines]
        print(f"  of these {name:25s} {len(some):9d}" + "".join(f"{t:>22s}" for t in cells), flush=True)
    off = np.log(by_rank(model, test, None) / np.array([one.seconds.max() for one in test]))
    print(f"  90 % intervals of computing cover {np.mean(np.abs(off) <= model.half_width(0.9)):.1%}")


def surfaces(tables: dict[str, tuple[pd.DataFrame, pd.DataFrame]]) -> None:
    """Print how far the estimate of the surface is from that of the cut, up to a constant."""
    _, test = next(iter(tables.values()))
    many = test[test["ranks"] > 1]
    off = np.log(many["guessed"] / many["surface"])
    print(
        f"surface: (N/P)^(2/3) scatters by a factor {np.exp(off.std()):.2f} around {np.exp(-off.mean()):.2f} times it"
    )


def measured_twice(store: Path, cost: CostModel, options: argparse.Namespace) -> list[Rehearsal]:
    """Return the structures' cuts with the geometric means of two measurements, and print how far these are apart."""
    again = store.with_suffix(".again.db")
    how = partial(rehearse, most=5, rounds=options.rounds)
    gather(structure_settings(), again, cost, how=how, workers=options.workers)
    found = []
    for path in (store, again):
        with RehearsalStore(path, cost) as kept:
            found.append({one.setting.key: one for one in kept if one.setting.structure != "random"})
    pairs = [(one, found[1][key]) for key, one in found[0].items()]
    slowest = np.array([[one.seconds.max(), other.seconds.max()] for one, other in pairs])
    print(f"the slowest rank of a cut, measured twice, differs by (mean, p95, worst): {told(*slowest.T)}")
    return [dataclasses.replace(one, seconds=np.sqrt(one.seconds * other.seconds)) for one, other in pairs]


def real(cost: CostModel, options: argparse.Namespace) -> None:
    """Print measured and predicted times of real ranks."""
    from evenly.decomposition.calibration.fdtd_runs import ReferenceWork
    from evenly.fdtd.scaling.runs import run_once

    with RehearsalStore(options.store, cost) as kept:
        train = [one for one in kept if one.setting.structure == "random"]
    model = StepModel.learn(train, cost, folds=2)
    machine, cores = Machine.load(options.here), Machine.load(options.here).cores or 1
    print(f"learned from {len(train)} cells; messages as on {machine.name}; {cores} cores")
    print("                  slowest rank, CPU ms/step     wall ms/step          of these messages")
    print("structure  ranks  measured  linear  learned   measured  predicted   measured  predicted   pace")
    off: dict[str, list[float]] = {"linear": [], "learned": [], "wall": []}
    for name in STRUCTURES:
        for parameters in STRUCTURES[name][1:2]:
            example = build(name, **parameters)
            cell = cell_of(Simulation(**{**example.simulation, "sources": ()}), list(example.monitors.values()))
            for ranks in (1, 2, 4, 8):
                seen = workload_of(cell, ranks, cost)
                learned = model.rank_seconds([seen.load])[0]
                cpu, wall, talk, paces = [], [], [], []
                for repetition in range(options.repeats):
                    paces.append(ReferenceWork().seconds())
                    task = {"program": name, "parameters": parameters, "options": {}, "steps": 48, "warm_up": 3,
                            "layout": seen.layout.to_list(), "repetition": repetition}  # fmt: skip
                    run = run_once(task, ranks)
                    cpu.append(max(rank.busy("cpu") / run.steps for rank in run.ranks))
                    wall.append(run.step_s("wall"))
                    talk.append(wall[-1] - max(rank.busy("wall") / run.steps for rank in run.ranks))
                    paces.append(ReferenceWork().seconds())
                speed = float(np.median(paces)) / cost.pace_s
                measured = float(np.median(cpu))
                guess = {"linear": seen.load.seconds.max() * speed, "learned": learned.max() * speed}
                for which, value in guess.items():
                    off[which].append(abs(value / measured - 1))
                line = f"{name:10s} {ranks:5d} {measured * 1e3:9.2f}" + "".join(
                    f"{guess[which] * 1e3:{width}.2f}" for which, width in (("linear", 8), ("learned", 9))
                )
                if ranks <= cores:
                    step = replay(learned * speed, seen.messages, machine, late=seen.load.late, fed=seen.load.fed)
                    took = float(np.median(wall))
                    off["wall"].append(abs(step.step_s / took - 1))
                    shown = (took, step.step_s, float(np.median(talk)), step.communication_s)
                    line += "".join(f"{value * 1e3:11.2f}" for value in shown)
                print(f"{line}   {speed:.2f}", flush=True)
    print("mean error: " + ", ".join(f"{which} {np.mean(values):.1%}" for which, values in off.items() if values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path, default=Path("rehearsals.db"))
    parser.add_argument("--cells", type=int, default=400)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--machines", default="cloud-16-10g,cloud-16-25g,infiniband")
    parser.add_argument("--learner", default="neural-net", help="of the forms for whole steps")
    parser.add_argument("--learners", default="extra-trees,neural-net", help="of rank by rank")
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--here", default="two-cores", help="with --real: the machine this is")
    parser.add_argument("--repeats", type=int, default=3, help="with --real: runs of each")
    parser.add_argument("--save", type=Path, default=None, help="keep the model learned from all random cells")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ExtrapolationWarning)
    cost = find_cost("fdtd").cost
    if options.real:
        real(cost, options)
        return
    begin = time.monotonic()
    tests = structure_settings()
    settings = [*training_settings(options.cells), *tests]
    how = partial(rehearse, most=5, rounds=options.rounds)
    done = gather(settings, options.store, cost, how=how, workers=options.workers)
    with RehearsalStore(options.store, cost) as kept:
        known = list(kept)
    train = [one for one in known if one.setting.structure == "random"]
    test = measured_twice(options.store, cost, options)
    timed = sum(len(one.timed) for one in known)
    print(f"{done} of {len(known)} timed now in {(time.monotonic() - begin) / 60:.1f} min ({timed} ranks in all): "
          f"{len(train)} random cells, {len(test)} cuts of structures; {cost.machine}")  # fmt: skip
    if options.save is not None:
        StepModel.learn(train, cost).save(options.save)
        print(f"saved {evenly.load(options.save).method} to {options.save}")
    compare(train, test, cost, options)


if __name__ == "__main__":
    main()
