"""Evenly's public functions and classes, each with arguments that it accepts.

The tests of wrong arguments replace one of these arguments at a time by nonsense.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import evenly
from evenly import allocation, fdtd, metrics, readers
from evenly.models.scaling_laws.power_law import PowerLaw
from evenly.space import Categorical, Constraint, Integer, Ordinal, Real, Space

__all__ = ["Door", "doors"]

CORES = [8, 12, 16, 24, 32, 48, 64, 96, 128, 192]
MIDDLE, UNIT = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
STUDY = """
[program]
command = "true {cores}"
[parameters]
cores = [1, 2]
"""
BAND = [0.9, 1.0, 1.1]


@dataclass(frozen=True)
class Door:
    """A public callable with arguments that it accepts; `costs` is its time over a cheap one's."""

    name: str
    call: Callable[..., Any]
    arguments: dict[str, Any] = field(default_factory=dict)
    costs: int = 1


@cache
def some_runs() -> evenly.Runs:
    """Return runs of a program on 8 to 128 cores."""
    table = pd.DataFrame({"cores": CORES, "seconds": [1000.0 / p + 2.0 for p in CORES]})
    return evenly.Runs.from_frame(table, parameters=["cores"])


@cache
def some_model() -> Any:
    """Return a model of those runs."""
    return evenly.fit(some_runs(), method="power-law")


@cache
def some_space() -> Space:
    """Return a space of 12 configurations."""
    return Space(cores=Ordinal(8, 16, 32, 64), solver=Categorical("cg", "gmres", "direct"))


def some_cell(**more: Any) -> fdtd.Simulation:
    """Return a small simulation."""
    return fdtd.Simulation(cell=(2.0, 2.0, 2.0), resolution=5, **more)


def added(monitor: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes a monitor and adds it to a simulation."""
    return lambda **arguments: some_cell().add(monitor(**arguments))


def placed(solid: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes a solid and puts it into a simulation."""
    return lambda **arguments: some_cell(geometry=[solid(**arguments)]).step()


def doors(folder: Path) -> list[Door]:
    """Return all doors; `folder` is for the files that they read and write."""
    table = folder / "table.csv"
    some_runs().to_frame().to_csv(table, index=False)
    evenly.save(some_model(), folder / "model.json")
    some_runs().save(folder / "runs.csv")
    (folder / "study.toml").write_text(STUDY)
    model, runs, space = some_model(), some_runs(), some_space()
    solvers = {"flow": lambda p: 100.0 / p, "structure": lambda p: 40.0 / p}
    plan = evenly.allocate(solvers, 64)
    some_cell().save(folder / "saved")
    return [
        # Spaces
        Door("Integer", Integer, {"low": 1, "high": 8, "scale": "linear", "step": 1, "unit": ""}),
        Door("Real", Real, {"low": 0.5, "high": 8.0, "scale": "log", "unit": "m"}),
        Door("Ordinal", lambda option, **more: Ordinal(1, option, **more), {"option": 2, "scale": "log", "unit": ""}),
        Door("Categorical", lambda option, **more: Categorical("a", option, **more), {"option": "b", "unit": ""}),
        Door("Constraint", Constraint, {"rule": "cores > 8", "name": "large"}),
        Door(
            "Space",
            Space,
            {"constraints": ["cores <= 32"], "conditions": None, "listed": None, "cores": Integer(1, 64)},
        ),
        # Runs and models
        Door(
            "Runs.from_frame",
            evenly.Runs.from_frame,
            {"frame": runs.to_frame(), "parameters": ["cores"], "time": "seconds", "unit": "s"},
        ),
        Door("Runs.concat", evenly.Runs.concat, {"parts": [runs, runs]}),
        Door("Runs.where", runs.where, {"condition": "cores > 8"}),
        Door("Runs.aggregate", runs.aggregate, {"statistic": "median"}),
        Door("Runs.repetitions", runs.repetitions, {"configuration": {"cores": 8}}),
        Door("Runs.save", runs.save, {"path": folder / "runs.csv"}),
        Door("Runs.load", evenly.Runs.load, {"path": folder / "runs.csv"}),
        Door("read", evenly.read, {"path": table, "format": None}, 3),
        Door("readers.scan", readers.scan, {"path": [table], "format": None}, 3),
        Door(
            "fit",
            evenly.fit,
            {"runs": runs, "method": "power-law", "effort": "normal", "statistic": "median", "response": None},
            3,
        ),
        Door("save", evenly.save, {"model": model, "path": folder / "model.json"}),
        Door("load", evenly.load, {"path": folder / "model.json"}),
        Door(
            "Model.fit",
            lambda **more: PowerLaw().fit(**more),
            {"X": [[8.0], [16.0], [32.0]], "y": [1.0, 2.0, 3.0], "sample_weight": None},
        ),
        Door("Model.predict", model.predict, {"X": [{"cores": 8}]}),
        Door("Model.interval", model.interval, {"X": [{"cores": 8}], "level": 0.9}),
        *(
            Door(f"metrics.{name}", getattr(metrics, name), {"true": [1.0, 2.0], "predicted": [1.1, 2.2]})
            for name in ("mlogq", "mape", "r2")
        ),
        # Core counts
        Door(
            "recommend",
            evenly.recommend,
            {
                "model": model,
                "cores": [8, 16, 64],
                "cores_are": "cores",
                "at": None,
                "measured": None,
                "goal": None,
                "steps": 10,
                "machine": None,
                "level": 0.9,
            },
            2,
        ),
        Door("by_cores", evenly.by_cores, {"model": model, "cores_are": "cores", "at": None}),
        # Allocation
        Door(
            "allocate",
            evenly.allocate,
            {
                "solvers": solvers,
                "cores": 64,
                "layout": "max(flow, structure)",
                "limits": None,
                "at": None,
                "objective": "time",
                "compare": None,
                "noise": None,
                "machine": None,
                "balancer": "optimal",
            },
            2,
        ),
        Door("Plan.at", lambda **more: plan.at(**more), {"cores": 32}),
        Door("Plan.cheapest", lambda **more: plan.cheapest(**more), {"within": 0.1}),
        Door("Limits", evenly.Limits, {"minimum": 1, "maximum": 64, "multiple": 2, "allowed": None, "bounds": ()}),
        Door("Bound", evenly.Bound, {"quantity": lambda p: 1.0 / p, "at_most": 2.0, "per": "rank", "name": "memory"}),
        Door("Compare", evenly.Compare, {"current": {"flow": 8}, "degrees_of_freedom": {"flow": 1000.0}}),
        Door("Noise", evenly.Noise, {"level": 0.9, "samples": None, "optimise": False, "draws": 100, "seed": 0}),
        Door(
            "Objective",
            evenly.Objective,
            {"minimise": "time", "within": None, "max_seconds": 2.0, "max_core_hours": None},
        ),
        Door("parse_layout", allocation.parse_layout, {"text": "max(a, b)", "solvers": ["a", "b"]}),
        # Machines
        Door(
            "Machine",
            evenly.Machine,
            {
                "name": "m",
                "nodes": 2,
                "cores_per_node": 8,
                "memory_bytes_per_node": 2.0**30,
                "price_per_core_hour": 0.1,
                "watts_per_core": 5.0,
                "currency": "EUR",
                "whole_nodes": True,
                "core_speed": 1.0,
                "jitter": 0.1,
                "within_node": evenly.Link(1e-6, 1e9),
                "between_nodes": None,
            },
        ),
        Door(
            "Link",
            evenly.Link,
            {"latency_s": 1e-6, "bytes_per_s": 1e9, "message_bytes": (1.0, 2.0), "message_s": (1e-6, 2e-6)},
        ),
        # Search
        Door(
            "Search",
            evenly.Search,
            {"space": space, "strategy": "random", "first": 2, "seed": 0, "known": None, "tasks": ()},
        ),
        Door(
            "tune",
            evenly.tune,
            {
                "space": space,
                "run": lambda configuration, *limit: 1.0,
                "budget": 3,
                "seed": 0,
                "repeats": 1,
                "limit": None,
                "production": None,
                "workers": 1,
                "strategy": "random",
            },
            5,
        ),
        Door(
            "Search.tell",
            lambda **more: evenly.Search(space, strategy="random").tell(**more),
            {"configuration": {"cores": 8, "solver": "cg"}, "seconds": 1.0, "at_least": None},
        ),
        Door(
            "sensitivity",
            evenly.sensitivity,
            {"runs": runs, "task": None, "repeats": 2, "seed": 0, "method": "power-law"},
            20,
        ),
        Door("measure", evenly.measure, {"study": folder / "study.toml", "store": None, "keep_going": False}, 2),
        # Decomposition
        Door(
            "partition",
            evenly.partition,
            {"cell": some_cell(), "ranks": 2, "cost": None, "leaves_per_rank": 1, "method": "auto", "speeds": None},
            20,
        ),
        Door("Goal", evenly.Goal, {"efficiency": 0.7, "deadline_s": 10.0, "core_hours": None, "money": None}),
        # The simulation
        Door(
            "Simulation",
            fdtd.Simulation,
            {
                "cell": (2.0, 2.0, 2.0),
                "resolution": 5,
                "geometry": [],
                "material": fdtd.vacuum,
                "sources": [],
                "boundaries": [fdtd.PML(0.4)],
                "layout": None,
                "options": None,
            },
            3,
        ),
        Door(
            "Options",
            fdtd.Options,
            {"courant": 0.5, "precision": "float64", "threads": 1, "subpixel": True, "decimation": 2},
        ),
        Door(
            "Medium",
            fdtd.Medium,
            {
                "epsilon": 2.0,
                "mu": (1.0, 1.0, 1.0),
                "electric_poles": (),
                "electric_conductivity": 0.1,
                "chi3": 0.0,
                "index": None,
                "name": "glass",
            },
        ),
        Door("LorentzPole", fdtd.LorentzPole, {"frequency": 1.0, "gamma": 0.1, "sigma": 1.0}),
        Door("Sphere", placed(fdtd.Sphere), {"radius": 1.0, "center": MIDDLE, "material": fdtd.vacuum, "name": ""}),
        Door("Block", placed(fdtd.Block), {"size": UNIT, "center": MIDDLE, "axes": ((1, 0, 0), (0, 1, 0), (0, 0, 1))}),
        Door("Cylinder", placed(fdtd.Cylinder), {"radius": 1.0, "height": 2.0, "center": MIDDLE, "axis": "z"}),
        Door(
            "Prism",
            placed(fdtd.Prism),
            {"vertices": [(0, 0), (1, 0), (0, 1)], "height": 1.0, "axis": "z", "base": None},
        ),
        Door(
            "ArrayMaterial",
            fdtd.ArrayMaterial,
            {
                "values": np.ones((2, 2, 2)),
                "size": UNIT,
                "center": MIDDLE,
                "quantity": "epsilon",
                "smallest": 1.0,
                "name": "",
            },
        ),
        Door(
            "FunctionMaterial",
            fdtd.FunctionMaterial,
            {"function": lambda x, y, z: 1.0 + 0.0 * x, "quantity": "epsilon", "smallest": 1.0},
        ),
        Door(
            "PML",
            fdtd.PML,
            {
                "thickness": 0.4,
                "axis": "x",
                "side": "low",
                "order": 3.0,
                "reflection": 1e-8,
                "kappa": 1.0,
                "alpha": 0.0,
            },
        ),
        Door(
            "Absorber", fdtd.Absorber, {"thickness": 0.4, "axis": "x", "side": "low", "order": 3.0, "reflection": 1e-8}
        ),
        Door("Bloch", fdtd.Bloch, {"axes": "x", "k": (0.1, 0.0, 0.0)}),
        Door("Periodic", fdtd.Periodic, {"axes": "xy"}),
        Door("Metal", fdtd.Metal, {"axes": "xy"}),
        Door("GaussianPulse", fdtd.GaussianPulse, {"frequency": 1.0, "fwidth": 0.2, "start": 0.0, "cutoff": 5.0}),
        Door("ContinuousWave", fdtd.ContinuousWave, {"frequency": 1.0, "start": 0.0, "width": 0.0, "end": 10.0}),
        Door(
            "CustomPulse",
            fdtd.CustomPulse,
            {"function": lambda t: 1.0, "start": 0.0, "end": 1.0, "frequency": 1.0, "fwidth": 0.2},
        ),
        Door(
            "Source",
            lambda **more: some_cell(sources=[fdtd.Source(**more)]),
            {
                "pulse": fdtd.ContinuousWave(1.0),
                "component": "Ez",
                "center": MIDDLE,
                "size": MIDDLE,
                "amplitude": 1.0,
                "name": "",
            },
        ),
        Door(
            "Flux",
            added(fdtd.Flux),
            {
                "center": MIDDLE,
                "size": (1, 1, 0),
                "frequencies": BAND,
                "direction": "z",
                "weight": 1.0,
                "every": None,
                "name": "",
            },
        ),
        Door("Energy", added(fdtd.Energy), {"center": MIDDLE, "size": UNIT, "frequencies": BAND, "every": 1}),
        Door(
            "Absorption",
            added(fdtd.Absorption),
            {"center": MIDDLE, "size": UNIT, "frequencies": BAND, "magnetic": False},
        ),
        Door(
            "DftFields",
            added(fdtd.DftFields),
            {"components": ["Ez"], "center": MIDDLE, "size": UNIT, "frequencies": BAND},
        ),
        Door(
            "NearToFar",
            added(fdtd.NearToFar),
            {"center": MIDDLE, "size": (1, 1, 0), "frequencies": BAND, "epsilon": 1.0, "mu": 1.0, "direction": "z"},
        ),
        Door("FieldRecorder", added(fdtd.FieldRecorder), {"component": "Ez", "point": MIDDLE, "every": 1, "name": ""}),
        Door("directions", fdtd.directions, {"theta": [0.1], "phi": 0.0}),
        Door(
            "resonances",
            fdtd.resonances,
            {
                "signal": np.exp(-0.01 * np.arange(200)) * np.cos(np.arange(200)),
                "dt": 0.1,
                "band": (1.0, 2.0),
                "density": 1.1,
                "weakest": 1e-7,
                "worst": 0.1,
                "start": 0.0,
            },
            3,
        ),
        Door("UntilTime", fdtd.UntilTime, {"time": 1.0}),
        Door("WallTime", fdtd.WallTime, {"seconds": 1.0}),
        Door("SourcesEnded", fdtd.SourcesEnded, {"after": 1.0}),
        Door("FieldsDecayed", fdtd.FieldsDecayed, {"component": "Ez", "point": MIDDLE, "by": 1e-3, "window": 1.0}),
        Door("EnergyDecayed", fdtd.EnergyDecayed, {"by": 1e-3, "window": 1.0}),
        Door("DftDecayed", fdtd.DftDecayed, {"tolerance": 1e-3, "window": 1.0}),
        Door("at_every", fdtd.at_every, {"action": print, "steps": 2, "time": None}),
        Door("at_time", fdtd.at_time, {"action": print, "time": 2.0}),
        Door("Checkpoints", fdtd.Checkpoints, {"path": folder / "saved", "steps": 10, "time": None, "seconds": None}),
        Door("BinaryPartition", fdtd.BinaryPartition, {"data": [("x", 0.5), 0, 1]}),
        Door("Grid", fdtd.Grid, {"size": UNIT, "resolution": 10.0, "courant": 0.5}),
        Door("check_writable", fdtd.check_writable, {"path": folder / "out.h5", "bytes": 10.0}),
        Door("Simulation.run", lambda **more: some_cell().run(**more), {"until": 0.2}, 3),
        Door(
            "Simulation.add",
            lambda monitor: some_cell().add(monitor),
            {"monitor": fdtd.Flux(MIDDLE, (1, 1, 0), BAND)},
            3,
        ),
        Door(
            "Simulation.get_field_point",
            lambda **more: some_cell().get_field_point(**more),
            {"component": "Ez", "point": MIDDLE},
            3,
        ),
        Door(
            "Simulation.integrate",
            lambda **more: some_cell().integrate(**more),
            {"function": lambda x, y, z, *f: f[0] if f else 0.0, "components": ["Ez"], "center": MIDDLE, "size": UNIT},
            3,
        ),
        Door(
            "Simulation.max_abs_field",
            lambda **more: some_cell().max_abs_field(**more),
            {"component": "Ez", "center": MIDDLE, "size": UNIT},
            3,
        ),
        Door("Simulation.field", lambda **more: some_cell().field(**more), {"component": "Ez", "box": None}, 3),
        Door(
            "Simulation.write",
            lambda **more: some_cell().write(**more),
            {"path": folder / "out.h5", "components": ["Ez"]},
            3,
        ),
        Door("Simulation.relayout", lambda **more: some_cell().relayout(**more), {"layout": [("x", 0.5), 0, 0]}, 3),
        Door("Simulation.load", lambda **more: some_cell().load(**more), {"path": folder / "saved"}, 3),
        Door("Simulation.save", lambda **more: some_cell().save(**more), {"path": folder / "saved"}, 3),
    ]
