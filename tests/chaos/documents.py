"""Small valid files that are no measurements: studies, machines, costs, layouts, cells, models, checkpoints, fields."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from evenly import fdtd
from evenly.allocation.allocate import allocate
from evenly.campaign.study import Study
from evenly.decomposition.calibration.designs import Design, Timing
from evenly.decomposition.calibration.timing_store import TimingStore
from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.costs.cost_model import Coefficient, CostModel
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.measurement.measurement import Measurement, RankRecord
from evenly.fdtd.media.custom import ArrayMaterial
from evenly.fdtd.monitors.files import MonitorData, Region, read_data, write_data
from evenly.fdtd.structures.views import Area, View
from evenly.machine.machine import Machine
from evenly.models.fitting import fit
from evenly.models.storage import load, save
from evenly.readers.files import text
from evenly.readers.precice.config import read_coupling, read_iterations
from evenly.runs.runs import Runs
from evenly.space.expressions import Expression
from tests.chaos.originals import CONFIGURATION, ITERATIONS, Format, Maker, evenly
from tests.decomposition.planted import cell

__all__ = ["FORMATS"]

STUDY = """\
constraints = ["ranks * threads <= 16"]

[program]
command = "./solve --cells {size} --threads {threads} --with {solver}"
launcher = "mpi"
ranks = "{ranks}"
timeout_s = 600

[parameters]
size = { low = 1000, high = 1000000, scale = "log" }
ranks = [1, 2, 4]
threads = [1, 2]
solver = ["cg", "gmres"]

[time]
pattern = 'time per step: (\\S+)'
unit = "ms"

[repetitions]
least = 2
most = 8
within = 0.05

[plan]
runs = 4
design = "sobol"

[conditions]
threads = "ranks < 4"

[factors]
work = "size / (ranks * threads)"
"""
MACHINE = """\
name = "here"
nodes = 4
cores_per_node = 16
memory_bytes_per_node = 64e9
memory_bytes_per_s_per_core = 1e10
jitter = 0.01

[within_node]
latency_s = 1e-6
bytes_per_s = 1e10
message_bytes = [8, 4096, 1048576]
message_s = [1e-6, 2e-6, 2e-4]

[between_nodes]
latency_s = 2e-6
bytes_per_s = 5e9
"""
LAYOUT = "sum(max(3 * inner, 2.5 * (outer + ice)), ocean)"
RULE = "min(px, py) * 2 ** pz <= ranks and not (px % 2 == 1 or py > 3) and mesh in ('a', 'b')"


def _text(name: str, content: str) -> Maker:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_text(content)
        return path

    return make


def _saved(name: str, thing: Callable[[], Any]) -> Maker:
    def make(folder: Path) -> Path:
        thing().save(folder / name)
        return folder / name

    return make


def _model(method: str) -> Maker:
    import pandas as pd

    def make(folder: Path) -> Path:
        cores = np.repeat([4, 8, 16, 32, 64, 128], 2)
        table = pd.DataFrame({"cores": cores, "seconds": 100 / cores + 0.1 + 0.01 * (np.arange(12) % 3)})
        save(fit(Runs.from_frame(table, ["cores"]), method=method), folder / "model.evenly")
        return folder / "model.evenly"

    return make


def _predict(path: Path) -> None:
    model = load(path)
    for one in model.values() if isinstance(model, dict) else [model]:
        one.predict({"cores": [4, 24]})


def _cell() -> Cell:
    return cell((6, 5, 4), [((1, 1, 1), (3, 3, 3))], pml=1)


def _costs() -> CostModel:
    return CostModel("fdtd", {"points": Coefficient(1e-9), "chunks": Coefficient(1e-6)}, share_error=0.05)


def _simulation() -> fdtd.Simulation:
    sim = fdtd.Simulation(cell=(1.0, 1.0, 1.0), resolution=5)
    sim.add(fdtd.Flux((0, 0, 0), (0.5, 0.5, 0), [0.5, 1.0]))
    return sim


def _checkpoint(file: str) -> Maker:
    def make(folder: Path) -> Path:
        sim = _simulation()
        sim.step()
        sim.save(folder / "kept")
        found = sorted(path for path in (folder / "kept").rglob(file) if path.is_file())
        return found[0]

    return make


def _load_checkpoint(path: Path) -> None:
    place = next(parent for parent in path.parents if parent.name == "kept")
    _simulation().load(place)


def _monitor(folder: Path) -> Path:
    path = folder / "flux.npz"
    values = {"a": np.ones((2, 2, 2, 1), dtype=np.complex128)}
    write_data(
        path, MonitorData(np.array([0.5, 1.0]), (Region("a", "Ex", Box((0, 0, 0), (2, 2, 1)), None),), values, path)
    )
    return path


def _view(folder: Path) -> Path:
    view = View(
        "box", ("x", "y"), "z", 0.0, (0.0, 1.0, 0.0, 1.0), np.ones((4, 4), np.complex128), 1.0, np.ones((4, 4)), "Ex",
        chunks=[Area("0", (0.0, 0.5, 0.0, 1.0))],
    )  # fmt: skip
    return view.save(folder / "view.npz")


def _timings(folder: Path) -> Path:
    store = TimingStore(folder / "timings.jsonl", {"program": "fdtd"})
    for side in ("small", "large"):
        store.add(Design("vacuum", side), Timing((1e-3,), ({"points": 10.0},)), wall_s=0.5)
    return folder / "timings.jsonl"


def _epsilon(folder: Path) -> Path:
    import h5py

    with h5py.File(folder / "cell.h5", "w") as file:
        file["eps"] = np.ones((4, 3, 2))
    return folder / "cell.h5"


def _allocate(path: Path) -> None:
    solvers = {name: {2: 2.0, 4: 1.0, 8: 0.6} for name in ("inner", "outer", "ice", "ocean")}
    allocate(solvers, 24, layout=text(path))


def _rule(path: Path) -> None:
    numbers = {name: np.array([1.0, 2.0]) for name in ("px", "py", "pz", "ranks")}
    Expression(text(path))({**numbers, "mesh": np.array(["a", "c"], dtype=object)})


def _study(path: Path) -> None:
    study = Study.load(path)
    study.space.sample(3, seed=1)
    evenly("measure", path, "--plan")


def _ask(path: Path) -> None:
    model = path.parent / "model.evenly"
    evenly("predict", model, "--file", path)


def _table_and_model(folder: Path) -> Path:
    _model("power-law")(folder)
    return _text("ask.csv", "cores\n4\n8\n16\n")(folder)


def _layout() -> BinaryPartition:
    return BinaryPartition.equal(Grid((2.0, 1.0, 1.0), 10), 4)


def _measurement() -> Measurement:
    rank = RankRecord(0, wall={"fused": 2.0, "waiting": 1.0}, cpu={"fused": 1.8, "waiting": 0.9}, points=1000)
    return Measurement("box", {"resolution": 20}, steps=10, size=1, ranks=(rank,), cores=2, cell=(1.0, 1.0, 0.0))


FORMATS: tuple[Format, ...] = (
    Format("precice config", _text("precice-config.xml", CONFIGURATION), read_coupling),
    Format("iterations", _text("precice-Fluid-iterations.log", ITERATIONS), read_iterations),
    Format("study", _text("study.toml", STUDY), _study),
    Format("machine toml", _text("machine.toml", MACHINE), lambda path: evenly("machine", "show", path)),
    Format("machine json", _text("machine.json", json.dumps({"cores_per_node": 4, "nodes": 2})), Machine.load),
    Format("costs", _saved("costs.json", _costs), CostModel.load),
    Format("layout", _saved("layout.json", _layout), BinaryPartition.load),
    Format("cell", _saved("cell.npz", _cell), Cell.load),
    Format("power law", _model("power-law"), _predict),
    Format("gaussian process", _model("gp"), _predict),
    Format("forest", _model("extra-trees"), _predict),
    Format("blend", _model("pmnf"), lambda path: evenly("fit", path)),
    Format("monitor data", _monitor, read_data),
    Format("view", _view, View.load),
    Format("timings", _timings, lambda path: TimingStore(path, {"program": "fdtd"})),
    Format("checkpoint manifest", _checkpoint("*.json"), _load_checkpoint),
    Format("checkpoint arrays", _checkpoint("*.np[yz]"), _load_checkpoint),
    Format("epsilon", _epsilon, lambda path: ArrayMaterial(path, size=(2, 1, 1), dataset="eps")),
    Format("fdtd result", _saved("box.fdtd.json", _measurement), Measurement.load),
    Format("layout expression", _text("layout.txt", LAYOUT), _allocate),
    Format("rule", _text("rule.txt", RULE), _rule),
    Format("asked", _table_and_model, _ask),
)
