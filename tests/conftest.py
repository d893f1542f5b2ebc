"""Where tests find real measurement files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def _folder(variable: str, default: Path) -> Path:
    folder = Path(os.environ.get(variable, default))
    if not folder.is_dir():
        pytest.fail(f"the folder {folder} is missing: set {variable} to where it is", pytrace=False)
    return folder


@pytest.fixture(scope="session")
def samples() -> Path:
    """Real log files of real programs."""
    return _folder("EVENLY_SAMPLES", ROOT.parent / "shared" / "samples")


@pytest.fixture(scope="session")
def data() -> Path:
    """Measured run times for benchmarks."""
    return _folder("EVENLY_DATA", ROOT.parent / "shared" / "data")
