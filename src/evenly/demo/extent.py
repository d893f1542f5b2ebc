"""The size of the demo: a few minutes for users, less than one minute for tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["NORMAL", "QUICK", "Extent"]


@dataclass(frozen=True)
class Extent:
    """Time limits of the demo's stages, and the simulation that the demo runs.

    Parameters
    ----------
    calibrate_s : float
        Wall seconds of the calibration, without compilation.
    machine_s : float
        Wall seconds of each measurement of the machine.
    structure : str
        Name of the structure that is cut and run.
    parameters : mapping
        Parameters of the structure.
    steps : int
        Time steps of each run.
    repeats : int
        Runs of each layout.
    cloud_ranks : sequence of int
        Numbers of ranks for the prediction on a cluster.
    runs_s : float
        Wall seconds of all runs after which no further repetition starts, from the third one on.
    run_timeout_s : float
        Wall seconds after which a run is ended.
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
        """The structure's parameters as command-line options, as a user types them."""
        own = ("resolution", "size", "frequencies")
        words = [
            f"--{name} {value:g}" if name in own else f"--set {name}={value:g}"
            for name, value in self.parameters.items()
        ]
        return " ".join(words)


NORMAL = Extent(calibrate_s=30.0, machine_s=1.0, parameters={"resolution": 40, "lens": 0.9}, steps=96, repeats=5)
QUICK = Extent(
    calibrate_s=2.0, machine_s=0.05, parameters={"resolution": 20, "lens": 0.9}, steps=10, repeats=2,
    cloud_ranks=(1, 4, 32),
)  # fmt: skip
