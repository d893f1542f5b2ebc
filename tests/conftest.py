"""Where tests find real measurement files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A timing is never a test, and the first example of a property may compile something.
settings.register_profile("evenly", deadline=None)
settings.load_profile("evenly")

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
