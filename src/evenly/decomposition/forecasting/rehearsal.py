"""Rehearsals: measured training data for the step model, kept in a file.

A rehearsal is a cell cut for a number of ranks, some of which were timed. It holds everything that a replay on any
machine needs, so the same timings serve for all machines. Rehearsals lie in one SQLite file, one transaction each. If
the process is killed, the file stays valid, and a second start makes the missing rehearsals.
"""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.forecasting.features import LayoutWorkload, inputs_on, shares_of, workload_of
from evenly.decomposition.forecasting.lone_rank_timing import RankLoads, time_alone
from evenly.decomposition.forecasting.messages import Messages
from evenly.decomposition.forecasting.parallel_rank_timing import time_together
from evenly.decomposition.forecasting.replay import Replay, replay
from evenly.errors import ReadError
from evenly.machine.machine import Machine

__all__ = ["Rehearsal", "RehearsalStore", "Setting", "rehearse"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
FORMAT_VERSION = 2


@dataclass(frozen=True)
class Setting:
    """The configuration of a rehearsal: structure, parameters and number of ranks.

    Parameters
    ----------
    structure : str
        One of `evenly.fdtd.structures`.
    parameters : mapping
        Parameters of the structure.
    ranks : int
    source : {"alone", "mpi"}
        Whether ranks are timed alone, one after the other, or as real MPI ranks.
    """

    structure: str
    parameters: Mapping[str, Any]
    ranks: int
    source: Literal["alone", "mpi"] = "alone"

    @property
    def key(self) -> str:
        """A text that identifies the setting."""
        how = [] if self.source == "alone" else [self.source]
        return json.dumps([self.structure, dict(self.parameters), self.ranks, *how], sort_keys=True)


@dataclass(frozen=True)
class Rehearsal:
    """A cut cell with the measured computing times of its ranks.

    Parameters
    ----------
    setting : Setting
    traits : mapping of str to float
        Points and shares of kinds; see `evenly.decomposition.forecasting.features.shares_of`.
    load : RankLoads
        Predicted work of each rank.
    messages : Messages
    seconds : (ranks,)
        Computing seconds per step of each rank, at the core speed at which the cost model was measured.
    timed : (timed,)
        Indices of the ranks that were timed; the others are estimated from the most similar timed rank.
    """

    setting: Setting
    traits: Mapping[str, float]
    load: RankLoads
    messages: Messages
    seconds: Array
    timed: Ints

    def inputs(self, machine: Machine) -> dict[str, float]:
        """Return the features on a machine, by name; see `evenly.decomposition.forecasting.features.inputs_on`."""
        return inputs_on(machine, self.traits, self.load, self.messages)

    def replay(self, machine: Machine, seed: int = 0) -> Replay:
        """Return the replayed time of a step on a machine."""
        return replay(
            self.seconds, self.messages, machine, memory_bytes=self.load.memory_bytes, late=self.load.late,
            fed=self.load.fed, seed=seed,
        )  # fmt: skip


def rehearse(setting: Setting, cost: CostModel, *, most: int = 6, rounds: int = 1, seed: int = 0) -> Rehearsal:
    """Cut a structure by a cost model, time some of its ranks, and return the rehearsal.

    Parameters
    ----------
    setting : Setting
    cost : CostModel
    most : int
        Most ranks that are timed alone; real MPI ranks are all timed.
    rounds : int
        Number of times that each is timed.
    seed : int
        Seed for drawing the timed ranks that aren't among the slowest.
    """
    from evenly.decomposition.cells.fdtd.cell import cell_of
    from evenly.fdtd.ranks.communicators import SerialCommunicator
    from evenly.fdtd.simulation import Simulation
    from evenly.fdtd.structures import build

    def made() -> Any:
        return build(setting.structure, **setting.parameters)

    keywords = {**made().simulation, "sources": ()}
    sim = Simulation(**{**keywords, "communicator": SerialCommunicator()})
    cell = cell_of(sim, list(made().monitors.values()))
    known: LayoutWorkload = workload_of(cell, setting.ranks, cost)
    if setting.source == "mpi":
        alone = time_together(setting.structure, setting.parameters, known.layout, setting.ranks, rounds=rounds)
    else:
        alone = time_alone(
            keywords, lambda: list(made().monitors.values()), known.layout, known.load, most=most, rounds=rounds,
            seed=seed,
        )  # fmt: skip
    pace = cost.pace_s if np.isfinite(cost.pace_s) else alone.pace_s
    traits = {"points": float(cell.grid.box.volume), **shares_of(cell)}
    return Rehearsal(setting, traits, known.load, known.messages, alone.seconds * (pace / alone.pace_s), alone.timed)


class RehearsalStore:
    """Rehearsals in a SQLite file.

    Parameters
    ----------
    path : Path or str
        The file; it is made if it doesn't exist.
    cost : CostModel
        The cost model by which cells are cut. Rehearsals with other cost models stay in the file, but aren't read.

    Raises
    ------
    ReadError
        If the file isn't a file of rehearsals.
    """

    def __init__(self, path: Path | str, cost: CostModel) -> None:
        self.path = Path(path)
        self._cost = f"{cost.program} {cost.machine} {cost.when}"
        try:
            self._base = sqlite3.connect(self.path, timeout=60)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute(
                "CREATE TABLE IF NOT EXISTS rehearsals (key TEXT, cost TEXT, version INT, data BLOB, "
                "PRIMARY KEY (key, cost))"
            )
        except sqlite3.Error as error:
            raise ReadError(path, f"a file of rehearsals was expected: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._base.close()

    def __len__(self) -> int:
        found = self._base.execute("SELECT COUNT(*) FROM rehearsals WHERE cost = ?", (self._cost,))
        return int(found.fetchone()[0])

    def __contains__(self, setting: Setting) -> bool:
        asked = "SELECT 1 FROM rehearsals WHERE key = ? AND cost = ?"
        return self._base.execute(asked, (setting.key, self._cost)).fetchone() is not None

    def __iter__(self) -> Iterator[Rehearsal]:
        asked = "SELECT version, data FROM rehearsals WHERE cost = ? ORDER BY key"
        for version, data in self._base.execute(asked, (self._cost,)):
            if version != FORMAT_VERSION:
                raise ReadError(self.path, f"this evenly reads version {FORMAT_VERSION}, got version {version}")
            yield _unpacked(data)

    def add(self, rehearsal: Rehearsal) -> None:
        """Store a rehearsal; an earlier one with the same setting is replaced."""
        row = (rehearsal.setting.key, self._cost, FORMAT_VERSION, _packed(rehearsal))
        with self._base:
            self._base.execute("INSERT OR REPLACE INTO rehearsals VALUES (?, ?, ?, ?)", row)


def _packed(one: Rehearsal) -> bytes:
    setting = one.setting
    about = {
        "structure": setting.structure, "parameters": dict(setting.parameters), "ranks": setting.ranks,
        "traits": dict(one.traits), "source": setting.source,
    }  # fmt: skip
    messages, load = one.messages, one.load
    file = io.BytesIO()
    np.savez_compressed(
        file,
        about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8),
        load=np.stack([load.seconds, load.late, load.fed, load.memory_bytes, load.far_bytes]),
        profile=load.profile.astype(np.float32),
        pairs=np.stack([messages.exchange, messages.sender, messages.receiver]).astype(np.int32),
        size=messages.size,
        faces=messages.faces,
        seconds=one.seconds,
        timed=one.timed,
    )
    return file.getvalue()


def _unpacked(data: bytes) -> Rehearsal:
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        about = json.loads(bytes(stored["about"]).decode())
        seconds, late, fed, memory, far = stored["load"]
        exchange, sender, receiver = stored["pairs"].astype(np.int64)
        setting = Setting(about["structure"], about["parameters"], about["ranks"], about.get("source", "alone"))
        messages = Messages(setting.ranks, exchange, sender, receiver, stored["size"], stored["faces"])
        load = RankLoads(seconds, stored["profile"].astype(np.float64), late, fed, memory, far)
        return Rehearsal(setting, about["traits"], load, messages, stored["seconds"], stored["timed"])
