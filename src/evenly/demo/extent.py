"""The size of the demo: a few minutes for people, less than one for tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["NORMAL", "QUICK", "Extent"]


@dataclass(frozen=True)
class Extent:
    """How long each stage of the demo may take, and what it runs.

    Parameters
    ----------
    calibrate_s : float
        Wall seconds of calibration, compiling not counted.
    machine_s : float
        How long each thing about the machine is repeated.
    structure : str
    parameters : mapping
        Of the structure.
    steps : int
        Of each run.
    repeats : int
        Runs of each layout.
    cloud_ranks : sequence of int
        Numbers of ranks to predict for on a cluster.
    runs_s : float
        After which no more repetitions are begun, from the third on.
    run_timeout_s : float
        After which a run is given up.
    """

    calibrate_s: float
    machine_s: float
    structure: str = "cmos"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    steps: int = 100
    repeats: int = 3
    cloud_ranks: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)
    runs_s: float = 60.0
    run_timeout_s: float = 60.0

    @property
    def typed(self) -> str:
        """The structure and its parameters as a user types them."""
        own = ("resolution", "size", "frequencies")
        words = [
            f"--{name} {value:g}" if name in own else f"--set {name}={value:g}"
            for name, value in self.parameters.items()
        ]
        return " ".join(words)


NORMAL = Extent(calibrate_s=60.0, machine_s=1.0, parameters={"resolution": 40, "lens": 0.9}, steps=96, repeats=5)
QUICK = Extent(
    calibrate_s=2.0, machine_s=0.05, parameters={"resolution": 20, "lens": 0.9}, steps=10, repeats=2,
    cloud_ranks=(1, 4, 32),
)  # fmt: skip
