"""Compiles what the demo's calibration needs, while something else goes on: ``python -m evenly.demo.kernels``."""

from __future__ import annotations

from evenly.decomposition.calibration.fdtd_calibration import warm_up
from evenly.decomposition.calibration.fdtd_designs import fdtd_designs

__all__: list[str] = []

if __name__ == "__main__":
    warm_up(fdtd_designs())
