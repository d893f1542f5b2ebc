"""evenly installs beside Debian's Meep, where it sees the system's packages, and leaves its numpy alone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.adapters.meep.conftest import AS_ROOT

ROOT = Path(__file__).resolve().parents[3]
CHECK = """
import meep, numpy, evenly.adapters.meep
from evenly.adapters.meep import cell_of
assert evenly.__file__.startswith(SITE), evenly.__file__
assert meep.__file__.startswith("/usr/lib"), meep.__file__
meep.verbosity(0)
sim = meep.Simulation(meep.Vector3(4, 2), 10, geometry=[meep.Sphere(0.5, material=meep.Medium(index=2))])
print(numpy.__version__, cell_of(sim).grid.shape)
"""
SYSTEM = Path("/usr/bin/python3")


def _run(*command: str, cwd: Path) -> str:
    left_out = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    clean = {name: value for name, value in os.environ.items() if name not in left_out} | AS_ROOT
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_evenly_installs_beside_the_systems_meep(meep_python: Path, tmp_path: Path) -> None:
    if meep_python != SYSTEM:
        text = f"Meep is that of {meep_python}, not of {SYSTEM}: whether evenly installs beside Debian's isn't tested"
        if os.environ.get("EVENLY_NEEDS_MEEP") == "1":
            pytest.fail(text, pytrace=False)
        pytest.skip(text)
    theirs = _run(str(SYSTEM), "-c", "import numpy; print(numpy.__version__)", cwd=tmp_path).split()[-1]
    _run(str(SYSTEM), "-m", "venv", "--system-site-packages", "own", cwd=tmp_path)
    python = str(tmp_path / "own" / "bin" / "python")
    _run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(ROOT), cwd=tmp_path)
    told = _run(python, "-c", CHECK.replace("SITE", repr(str(tmp_path))), cwd=tmp_path)
    assert f"{theirs} (40, 20, 1)" in told
    # The commands run there too, with the oldest scipy and matplotlib that evenly allows.
    assert "fit" in _run(python, "-m", "evenly", "--help", cwd=tmp_path)
