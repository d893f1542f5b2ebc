"""Messages of a layout are those that ranks of the simulation really send, byte for byte."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evenly
from evenly.decomposition.calibration.fdtd_runs import LoneRank
from evenly.decomposition.cells.fdtd.cell import cell_of
from evenly.decomposition.forecasting.messages import messages_of
from evenly.fdtd import Bloch, Block, Medium, Periodic, Simulation
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.structures import build

GLASS = Block(size=(1, 1, 1), material=Medium(index=1.5))
SCENES: dict[str, dict[str, Any]] = {
    "walls": {"cell": (3, 2, 2), "resolution": 8, "geometry": [GLASS]},
    "periodic": {"cell": (3, 2, 2), "resolution": 8, "boundaries": [Periodic("xyz")]},
    "bloch": {"cell": (2, 2, 3), "resolution": 6, "boundaries": [Bloch("x", (0.2, 0, 0))]},
    "flat": {"cell": (4, 3, 0), "resolution": 10, "boundaries": [Periodic("x")]},
    "random": {**build("random", seed=4, points=2e4).simulation, "sources": ()},
}


@pytest.mark.parametrize("ranks", [1, 2, 3, 8])
@pytest.mark.parametrize("scene", list(SCENES))
def test_they_are_what_ranks_send(scene: str, ranks: int) -> None:
    keywords = SCENES[scene]
    cell = cell_of(Simulation(**keywords))
    plan = evenly.partition(cell, ranks)
    found = messages_of(cell, plan.layout, ranks)
    np.testing.assert_array_equal(found.faces, plan.prediction.faces)
    for rank in range(ranks):
        sim = Simulation(**keywords, layout=plan.layout, communicator=LoneRank(rank, ranks))
        for exchange, name in enumerate("EH"):
            here = found.exchange == exchange
            sent, received = here & (found.sender == rank), here & (found.receiver == rank)
            assert found.size[sent].sum() == sim.stepper.halos[name].bytes_sent
            others = {*found.receiver[sent].tolist(), *found.sender[received].tolist()}
            assert len(others) == sim.stepper.halos[name].neighbours


def test_two_ranks_around_a_periodic_cell_send_both_ways_in_both_exchanges() -> None:
    cell = cell_of(Simulation(**SCENES["periodic"]))
    found = messages_of(cell, BinaryPartition([("x", 0.0), 0, 1]), 2)
    # 16 x 16 faces inside and as many around the ends.
    assert found.faces.tolist() == [512, 512]
    assert found.size.tolist() == [256 * 2 * 8] * 4
    assert found.surface == 512


def test_leaves_of_one_rank_send_nothing_to_each_other() -> None:
    cell = cell_of(Simulation(**SCENES["walls"]))
    found = messages_of(cell, BinaryPartition([("x", 0.0), 0, 0]), 1)
    assert not len(found.size)
    assert found.surface == 0
